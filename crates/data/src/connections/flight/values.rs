//! Arrow's columns as values of an answer: decimals and large integers as exact texts, times as the other engines write
//! them. Reads one cell at a time; what it does not know comes as an error, never as a guess.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType, RunEndIndexType,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use serde_json::{Map, Value};
use sqlx::types::chrono::DateTime;

use crate::connections::zone::Zone;
use crate::result::{bytes, float, integer, unsigned};

/// Lists in lists deeper than this are not read.
const MAX_DEPTH: usize = 16;
const DAY: i64 = 86_400;

/// A type's name as people write it in SQL.
pub(super) fn kind(data_type: &DataType) -> String {
    match data_type {
        DataType::Boolean => "BOOLEAN".into(),
        DataType::Int8 => "TINYINT".into(),
        DataType::Int16 => "SMALLINT".into(),
        DataType::Int32 => "INT".into(),
        DataType::Int64 => "BIGINT".into(),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => "UINT".into(),
        DataType::UInt64 => "UBIGINT".into(),
        DataType::Float16 | DataType::Float32 => "FLOAT".into(),
        DataType::Float64 => "DOUBLE".into(),
        DataType::Decimal32(p, s)
        | DataType::Decimal64(p, s)
        | DataType::Decimal128(p, s)
        | DataType::Decimal256(p, s) => format!("DECIMAL({p},{s})"),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "STRING".into(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            "BINARY".into()
        }
        DataType::Date32 | DataType::Date64 => "DATE".into(),
        DataType::Time32(_) | DataType::Time64(_) => "TIME".into(),
        DataType::Timestamp(_, None) => "TIMESTAMP_NTZ".into(),
        DataType::Timestamp(_, Some(_)) => "TIMESTAMP".into(),
        DataType::Duration(_) | DataType::Interval(_) => "INTERVAL".into(),
        DataType::Null => "VOID".into(),
        DataType::Dictionary(_, inner) => kind(inner),
        DataType::RunEndEncoded(_, inner) => kind(inner.data_type()),
        DataType::Struct(_) => "STRUCT".into(),
        DataType::Map(_, _) => "MAP".into(),
        _ => "ARRAY".into(),
    }
}

/// The value in a row of a column. A moment is shown in the session's zone where that is known, else in its own.
pub(super) fn cell(array: &ArrayRef, row: usize, zone: Option<&Zone>) -> Result<Value, String> {
    nested(array, row, zone, 0)
}

fn nested(array: &ArrayRef, row: usize, zone: Option<&Zone>, depth: usize) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err("a value nested too deep".to_owned());
    }
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    if let Some(value) = plain(array, row).or_else(|| time(array, row, zone)) {
        return Ok(value);
    }
    let list = |items: ArrayRef| -> Result<Value, String> {
        (0..items.len()).map(|i| nested(&items, i, zone, depth + 1)).collect()
    };
    match array.data_type() {
        DataType::List(_) => list(array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => list(array.as_list::<i64>().value(row)),
        DataType::ListView(_) => list(array.as_list_view::<i32>().value(row)),
        DataType::LargeListView(_) => list(array.as_list_view::<i64>().value(row)),
        DataType::FixedSizeList(_, _) => list(array.as_fixed_size_list().value(row)),
        DataType::Struct(_) => {
            let of = array.as_struct();
            let part = |(name, column): (&str, &ArrayRef)| {
                nested(column, row, zone, depth + 1).map(|value| (name.to_owned(), value))
            };
            let names = of.column_names();
            Ok(Value::Object(names.into_iter().zip(of.columns()).map(part).collect::<Result<_, String>>()?))
        }
        DataType::Map(_, _) => {
            let entries = array.as_map().value(row);
            let (keys, values) = (entries.column(0), entries.column(1));
            let mut map = Map::new();
            for i in 0..entries.len() {
                let key = match nested(keys, i, zone, depth + 1)? {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                map.insert(key, nested(values, i, zone, depth + 1)?);
            }
            Ok(Value::Object(map))
        }
        DataType::Dictionary(key, _) => dictionary(array, key, row, zone, depth),
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => run::<Int16Type>(array, row, zone, depth),
            DataType::Int64 => run::<Int64Type>(array, row, zone, depth),
            _ => run::<Int32Type>(array, row, zone, depth),
        },
        other => Err(format!("a column of the type {other}")),
    }
}

fn dictionary(
    array: &ArrayRef,
    key: &DataType,
    row: usize,
    zone: Option<&Zone>,
    depth: usize,
) -> Result<Value, String> {
    fn of<K: ArrowDictionaryKeyType>(
        array: &ArrayRef,
        row: usize,
        zone: Option<&Zone>,
        depth: usize,
    ) -> Result<Value, String> {
        let words = array.as_dictionary::<K>();
        words.key(row).map_or(Ok(Value::Null), |at| nested(words.values(), at, zone, depth + 1))
    }
    match key {
        DataType::Int8 => of::<Int8Type>(array, row, zone, depth),
        DataType::Int16 => of::<Int16Type>(array, row, zone, depth),
        DataType::Int64 => of::<Int64Type>(array, row, zone, depth),
        DataType::UInt8 => of::<UInt8Type>(array, row, zone, depth),
        DataType::UInt16 => of::<UInt16Type>(array, row, zone, depth),
        DataType::UInt32 => of::<UInt32Type>(array, row, zone, depth),
        DataType::UInt64 => of::<UInt64Type>(array, row, zone, depth),
        _ => of::<Int32Type>(array, row, zone, depth),
    }
}

fn run<R: RunEndIndexType>(
    array: &ArrayRef,
    row: usize,
    zone: Option<&Zone>,
    depth: usize,
) -> Result<Value, String> {
    let runs = array.as_run_opt::<R>().ok_or("a column of runs")?;
    nested(runs.values(), runs.get_physical_index(row), zone, depth + 1)
}

fn plain(array: &ArrayRef, row: usize) -> Option<Value> {
    Some(match array.data_type() {
        DataType::Null => Value::Null,
        DataType::Boolean => Value::Bool(array.as_boolean().value(row)),
        DataType::Int8 => integer(array.as_primitive::<Int8Type>().value(row).into()),
        DataType::Int16 => integer(array.as_primitive::<Int16Type>().value(row).into()),
        DataType::Int32 => integer(array.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int64 => integer(array.as_primitive::<Int64Type>().value(row)),
        DataType::UInt8 => unsigned(array.as_primitive::<UInt8Type>().value(row).into()),
        DataType::UInt16 => unsigned(array.as_primitive::<UInt16Type>().value(row).into()),
        DataType::UInt32 => unsigned(array.as_primitive::<UInt32Type>().value(row).into()),
        DataType::UInt64 => unsigned(array.as_primitive::<UInt64Type>().value(row)),
        DataType::Float16 => float(array.as_primitive::<Float16Type>().value(row).to_f64()),
        // By its own digits: 0.1 stays 0.1.
        DataType::Float32 => {
            let value = array.as_primitive::<Float32Type>().value(row);
            float(value.to_string().parse().unwrap_or_else(|_| f64::from(value)))
        }
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal32(_, _) => Value::from(array.as_primitive::<Decimal32Type>().value_as_string(row)),
        DataType::Decimal64(_, _) => Value::from(array.as_primitive::<Decimal64Type>().value_as_string(row)),
        DataType::Decimal128(_, _) => {
            Value::from(array.as_primitive::<Decimal128Type>().value_as_string(row))
        }
        DataType::Decimal256(_, _) => {
            Value::from(array.as_primitive::<Decimal256Type>().value_as_string(row))
        }
        DataType::Utf8 => Value::from(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Value::from(array.as_string::<i64>().value(row)),
        DataType::Utf8View => Value::from(array.as_string_view().value(row)),
        DataType::Binary => bytes(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => bytes(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => bytes(array.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary().value(row)),
        _ => return None,
    })
}

fn time(array: &ArrayRef, row: usize, zone: Option<&Zone>) -> Option<Value> {
    let nanos = |count: i64, per_second: i64| {
        (count.div_euclid(per_second), count.rem_euclid(per_second) * (1_000_000_000 / per_second))
    };
    Some(Value::from(match array.data_type() {
        DataType::Date32 => date(i64::from(array.as_primitive::<Date32Type>().value(row)))?,
        DataType::Date64 => date(array.as_primitive::<Date64Type>().value(row).div_euclid(DAY * 1000))?,
        DataType::Timestamp(unit, own) => {
            let (count, per) = match unit {
                TimeUnit::Second => (array.as_primitive::<TimestampSecondType>().value(row), 1),
                TimeUnit::Millisecond => (array.as_primitive::<TimestampMillisecondType>().value(row), 1_000),
                TimeUnit::Microsecond => {
                    (array.as_primitive::<TimestampMicrosecondType>().value(row), 1_000_000)
                }
                TimeUnit::Nanosecond => {
                    (array.as_primitive::<TimestampNanosecondType>().value(row), 1_000_000_000)
                }
            };
            let (seconds, rest) = nanos(count, per);
            moment(seconds, rest, own.as_deref(), zone)?
        }
        DataType::Time32(TimeUnit::Second) => {
            clock(nanos(array.as_primitive::<Time32SecondType>().value(row).into(), 1))
        }
        DataType::Time32(_) => {
            clock(nanos(array.as_primitive::<Time32MillisecondType>().value(row).into(), 1_000))
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            clock(nanos(array.as_primitive::<Time64MicrosecondType>().value(row), 1_000_000))
        }
        DataType::Time64(_) => {
            clock(nanos(array.as_primitive::<Time64NanosecondType>().value(row), 1_000_000_000))
        }
        DataType::Duration(unit) => span(match unit {
            TimeUnit::Second => nanos(array.as_primitive::<DurationSecondType>().value(row), 1),
            TimeUnit::Millisecond => nanos(array.as_primitive::<DurationMillisecondType>().value(row), 1_000),
            TimeUnit::Microsecond => {
                nanos(array.as_primitive::<DurationMicrosecondType>().value(row), 1_000_000)
            }
            TimeUnit::Nanosecond => {
                nanos(array.as_primitive::<DurationNanosecondType>().value(row), 1_000_000_000)
            }
        }),
        DataType::Interval(IntervalUnit::YearMonth) => {
            format!("{} months", array.as_primitive::<IntervalYearMonthType>().value(row))
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let value = array.as_primitive::<IntervalDayTimeType>().value(row);
            format!("{} days {}", value.days, span(nanos(i64::from(value.milliseconds), 1_000)))
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let value = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
            let rest = span(nanos(value.nanoseconds, 1_000_000_000));
            format!("{} months {} days {rest}", value.months, value.days)
        }
        _ => return None,
    }))
}

fn date(days: i64) -> Option<String> {
    let moment = DateTime::from_timestamp(days.checked_mul(DAY)?, 0)?;
    Some(moment.format("%Y-%m-%d").to_string())
}

/// A wall clock as it is; a moment in the zone of the session, or of its column, with the offset.
fn moment(seconds: i64, nanos: i64, own: Option<&str>, zone: Option<&Zone>) -> Option<String> {
    let moment = DateTime::from_timestamp(seconds, u32::try_from(nanos).ok()?)?;
    let Some(own) = own else {
        return Some(format!("{}{}", moment.format("%Y-%m-%d %H:%M:%S"), fraction(nanos)));
    };
    let utc = format!("{}{}Z", moment.format("%Y-%m-%dT%H:%M:%S"), fraction(nanos));
    let named;
    let zone = match zone {
        Some(zone) => zone,
        None => {
            named = Zone::named(own);
            &named
        }
    };
    zone.local(&utc).or(Some(utc))
}

fn clock((seconds, nanos): (i64, i64)) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{hours:02}:{minutes:02}:{rest:02}{}", fraction(nanos))
}

/// `1 days 02:00:00`; of a time before it, the whole with one sign.
fn span((seconds, nanos): (i64, i64)) -> String {
    let total = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    let sign = if total < 0 { "-" } else { "" };
    let (whole, rest) = (total.unsigned_abs() / 1_000_000_000, total.unsigned_abs() % 1_000_000_000);
    let whole = i64::try_from(whole).unwrap_or(i64::MAX);
    let rest = i64::try_from(rest).unwrap_or_default();
    let (days, left) = (whole / DAY, whole % DAY);
    let days = if days > 0 { format!("{days} days ") } else { String::new() };
    format!("{sign}{days}{}", clock((left, rest)))
}

fn fraction(nanos: i64) -> String {
    if nanos == 0 {
        return String::new();
    }
    format!(".{nanos:09}").trim_end_matches('0').to_owned()
}
