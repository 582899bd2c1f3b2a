//! SQL Server's values as the other engines give theirs: decimals and money exact, times as written there, moments with
//! their own offset. What came rounded is an error with a way out, never a figure.

use ba_protocol::table::Column;
use serde_json::Value;
use sqlx::types::chrono::NaiveDate;
use tiberius::numeric::Numeric;
use tiberius::time::{Date, DateTime2, Time};
use tiberius::{ColumnData, ColumnType};

use crate::DataError;
use crate::connections::rows::clip;
use crate::result::{bytes, float, integer};

/// The driver gives money as a float, which is exact up to here (in ten-thousandths).
const EXACT_MONEY: f64 = 9_007_199_254_740_992.0;
const NANOS: u64 = 1_000_000_000;

pub(super) fn columns(told: &[tiberius::Column]) -> Vec<Column> {
    told.iter().map(|c| Column::new(c.name(), kind(c.column_type()))).collect()
}

/// A type's name as SQL Server writes it.
fn kind(told: ColumnType) -> &'static str {
    match told {
        ColumnType::Null => "NULL",
        ColumnType::Bit | ColumnType::Bitn => "BIT",
        ColumnType::Int1 => "TINYINT",
        ColumnType::Int2 => "SMALLINT",
        ColumnType::Int4 | ColumnType::Intn => "INT",
        ColumnType::Int8 => "BIGINT",
        ColumnType::Float4 => "REAL",
        ColumnType::Float8 | ColumnType::Floatn => "FLOAT",
        ColumnType::Money | ColumnType::Money4 => "MONEY",
        ColumnType::Decimaln | ColumnType::Numericn => "DECIMAL",
        ColumnType::Datetime | ColumnType::Datetime4 | ColumnType::Datetimen => "DATETIME",
        ColumnType::Datetime2 => "DATETIME2",
        ColumnType::DatetimeOffsetn => "DATETIMEOFFSET",
        ColumnType::Daten => "DATE",
        ColumnType::Timen => "TIME",
        ColumnType::Guid => "UNIQUEIDENTIFIER",
        ColumnType::Xml => "XML",
        ColumnType::BigVarBin | ColumnType::BigBinary | ColumnType::Image | ColumnType::Udt => "VARBINARY",
        ColumnType::SSVariant => "SQL_VARIANT",
        _ => "NVARCHAR",
    }
}

/// One cell, no longer than shows that it is longer than `limit`.
pub(super) fn cell(kind: &str, data: &ColumnData<'_>, limit: usize) -> Result<Value, DataError> {
    let odd = || DataError::query("BAD_ANSWER", "the server sends a time that does not exist");
    let text = |text: Option<String>| text.map(Value::from).ok_or_else(odd);
    Ok(match data {
        ColumnData::U8(Some(n)) => integer((*n).into()),
        ColumnData::I16(Some(n)) => integer((*n).into()),
        ColumnData::I32(Some(n)) => integer((*n).into()),
        ColumnData::I64(Some(n)) => integer(*n),
        // By its own digits: 0.1 stays 0.1.
        ColumnData::F32(Some(f)) => float(f.to_string().parse().unwrap_or_else(|_| f64::from(*f))),
        ColumnData::F64(Some(f)) if kind == "MONEY" => money(*f)?,
        ColumnData::F64(Some(f)) => float(*f),
        ColumnData::Bit(Some(b)) => Value::Bool(*b),
        ColumnData::String(Some(s)) => Value::from(clip(s, limit)),
        ColumnData::Guid(Some(id)) => Value::from(id.to_string().to_uppercase()),
        // Two digits per byte, and one byte more than fits shows that there are more.
        ColumnData::Binary(Some(raw)) => bytes(&raw[..raw.len().min(limit / 2 + 1)]),
        ColumnData::Numeric(Some(n)) => Value::from(decimal(*n)),
        ColumnData::Xml(Some(xml)) => Value::from(clip(&xml.to_string(), limit)),
        ColumnData::DateTime(Some(t)) => {
            // Three hundred to a second, which SQL Server shows as whole milliseconds.
            let fragments = u64::from(t.seconds_fragments());
            let nanos = fragments / 300 * NANOS + (fragments % 300 * 1_000 + 150) / 300 * 1_000_000;
            text(since_1900(t.days().into()).and_then(|day| at(day, nanos)))?
        }
        ColumnData::SmallDateTime(Some(t)) => {
            let nanos = u64::from(t.seconds_fragments()) * 60 * NANOS;
            text(since_1900(t.days().into()).and_then(|day| at(day, nanos)))?
        }
        ColumnData::Date(Some(day)) => text(date(*day).map(|d| d.to_string()))?,
        ColumnData::Time(Some(time)) => text(nanos(*time).map(clock))?,
        ColumnData::DateTime2(Some(t)) => text(local(*t, 0))?,
        ColumnData::DateTimeOffset(Some(t)) => {
            text(local(t.datetime2(), t.offset()).map(|wall| wall + &offset(t.offset())))?
        }
        _ => Value::Null,
    })
}

fn money(value: f64) -> Result<Value, DataError> {
    if (value * 10_000.0).abs() < EXACT_MONEY {
        return Ok(Value::from(format!("{value:.4}")));
    }
    Err(DataError::Query {
        code: "TYPE_UNKNOWN".into(),
        message: "an amount of the type MONEY above 900,000,000,000 would come rounded".into(),
        hint: Some("CAST it AS DECIMAL(19, 4) in the query".into()),
    })
}

fn decimal(number: Numeric) -> String {
    let (sign, scale) = (if number.value() < 0 { "-" } else { "" }, usize::from(number.scale()));
    let digits = format!("{:0>width$}", number.value().unsigned_abs(), width = scale + 1);
    let (whole, rest) = digits.split_at(digits.len() - scale);
    if rest.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") }
}

/// The first of January 1900 and the last day of 9999, counted as the calendar's days are.
const DAY_OF_1900: i64 = 693_596;
const LAST_DAY: i64 = 3_652_059;

fn since_1900(days: i64) -> Option<NaiveDate> {
    calendar(DAY_OF_1900 + days)
}

fn date(day: Date) -> Option<NaiveDate> {
    calendar(i64::from(day.days()) + 1)
}

fn calendar(day: i64) -> Option<NaiveDate> {
    let real = (1..=LAST_DAY).contains(&day);
    real.then(|| NaiveDate::from_num_days_from_ce_opt(i32::try_from(day).ok()?)).flatten()
}

fn nanos(time: Time) -> Option<u64> {
    let nanos = time.increments().checked_mul(10u64.checked_pow(9u32.checked_sub(time.scale().into())?)?)?;
    (nanos < 86_400 * NANOS).then_some(nanos)
}

/// The wall clock of a moment that is kept in UTC, or of a time that has no zone.
fn local(moment: DateTime2, offset_minutes: i16) -> Option<String> {
    const DAY: i64 = 86_400 * NANOS as i64;
    let shifted = i64::try_from(nanos(moment.time())?).ok()? + i64::from(offset_minutes) * 60 * NANOS as i64;
    let day = i64::from(moment.date().days()) + 1 + shifted.div_euclid(DAY);
    at(calendar(day)?, shifted.rem_euclid(DAY).unsigned_abs())
}

fn at(day: NaiveDate, nanos: u64) -> Option<String> {
    (nanos < 86_400 * NANOS).then(|| format!("{day} {}", clock(nanos)))
}

fn clock(nanos: u64) -> String {
    let (seconds, rest) = (nanos / NANOS, nanos % NANOS);
    let fraction = if rest == 0 { String::new() } else { format!(".{rest:09}") };
    let fraction = fraction.trim_end_matches('0');
    format!("{:02}:{:02}:{:02}{fraction}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// `+08`, `-03:30`.
fn offset(minutes: i16) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    match (minutes.unsigned_abs() / 60, minutes.unsigned_abs() % 60) {
        (hours, 0) => format!("{sign}{hours:02}"),
        (hours, rest) => format!("{sign}{hours:02}:{rest:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tiberius::time::{DateTime, DateTimeOffset, SmallDateTime};

    fn shown(kind: &str, data: ColumnData<'_>) -> Value {
        cell(kind, &data, 100).unwrap()
    }

    // SPEC I5
    #[test]
    fn nothing_is_rounded_and_no_time_moved() {
        let clock = |n, scale| Time::new(n, scale);
        let day = Date::new(738_886); // 2024-01-02
        let moment = DateTime2::new(day, clock(700_000_000_000, 7)); // 19:26:40 UTC
        for (kind, data, want) in [
            ("BIGINT", ColumnData::I64(Some(9_007_199_254_740_993)), json!("9007199254740993")),
            ("REAL", ColumnData::F32(Some(0.1)), json!(0.1)),
            ("MONEY", ColumnData::F64(Some(1234.5)), json!("1234.5000")),
            ("MONEY", ColumnData::F64(Some(-0.0001)), json!("-0.0001")),
            ("DECIMAL", ColumnData::Numeric(Some(Numeric::new_with_scale(-5, 3))), json!("-0.005")),
            (
                "DECIMAL",
                ColumnData::Numeric(Some(Numeric::new_with_scale(
                    99_999_999_999_999_999_999_999_999_999_999_999_999,
                    10,
                ))),
                json!("9999999999999999999999999999.9999999999"),
            ),
            ("DECIMAL", ColumnData::Numeric(Some(Numeric::new_with_scale(70, 0))), json!("70")),
            ("DATE", ColumnData::Date(Some(day)), json!("2024-01-02")),
            ("TIME", ColumnData::Time(Some(clock(1_234_567, 7))), json!("00:00:00.1234567")),
            ("DATETIME2", ColumnData::DateTime2(Some(moment)), json!("2024-01-02 19:26:40")),
            (
                "DATETIMEOFFSET",
                ColumnData::DateTimeOffset(Some(DateTimeOffset::new(moment, 480))),
                json!("2024-01-03 03:26:40+08"),
            ),
            (
                "DATETIMEOFFSET",
                ColumnData::DateTimeOffset(Some(DateTimeOffset::new(DateTime2::new(day, clock(0, 0)), -210))),
                json!("2024-01-01 20:30:00-03:30"),
            ),
            ("DATETIME", ColumnData::DateTime(Some(DateTime::new(-1, 2))), json!("1899-12-31 00:00:00.007")),
            (
                "DATETIME",
                ColumnData::SmallDateTime(Some(SmallDateTime::new(366, 61))),
                json!("1901-01-02 01:01:00"),
            ),
            ("VARBINARY", ColumnData::Binary(Some(vec![0, 255].into())), json!("\\x00ff")),
            ("NVARCHAR", ColumnData::String(Some("销'售".into())), json!("销'售")),
            ("NVARCHAR", ColumnData::String(None), Value::Null),
            ("BIT", ColumnData::Bit(Some(true)), json!(true)),
        ] {
            assert_eq!(shown(kind, data), want, "{kind}");
        }
    }

    #[test]
    fn money_that_came_rounded_is_no_figure() {
        let error = cell("MONEY", &ColumnData::F64(Some(922_337_203_685_477.5)), 100).unwrap_err();
        assert!(matches!(&error, DataError::Query { hint: Some(h), .. } if h.contains("DECIMAL(19, 4)")));
        assert_eq!(shown("MONEY", ColumnData::F64(Some(900_719_925_474.099_1))), json!("900719925474.0991"));
    }

    #[test]
    fn a_time_that_does_not_exist_is_an_error() {
        for data in [
            ColumnData::Date(Some(Date::new(u32::MAX >> 8))),
            ColumnData::DateTime(Some(DateTime::new(i32::MAX, 0))),
            ColumnData::DateTime(Some(DateTime::new(0, u32::MAX))),
            ColumnData::Time(Some(Time::new(u64::MAX, 0))),
        ] {
            assert!(cell("TIME", &data, 100).is_err(), "{data:?}");
        }
    }
}
