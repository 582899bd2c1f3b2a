//! What differs between the databases the analyst writes SQL for: quotes, dates, conditions inside aggregates.
//! Knows no question and no table; whoever cannot say a thing here has it computed elsewhere.

use jiff::civil::Date;

use crate::question::{Agg, Grain};

/// The engine that runs a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Uploads.
    #[default]
    DuckDb,
    Postgres,
    /// Also MariaDB and those that speak its protocol.
    MySql,
    Sqlite,
}

/// A step back in time, for `before`.
pub type Step = (u8, &'static str);

impl Dialect {
    /// `"name"`, whatever the name holds.
    pub fn name(self, text: &str) -> String {
        match self {
            Dialect::MySql => format!("`{}`", text.replace('`', "``")),
            _ => format!("\"{}\"", text.replace('"', "\"\"")),
        }
    }

    /// A table, with its schema where the name has one.
    pub fn table(self, text: &str) -> String {
        match self {
            Dialect::Postgres | Dialect::MySql => {
                text.splitn(2, '.').map(|part| self.name(part)).collect::<Vec<_>>().join(".")
            }
            _ => self.name(text),
        }
    }

    /// `'value'`, whatever the value holds.
    pub fn literal(self, text: &str) -> String {
        let text = text.replace('\'', "''");
        // A backslash escapes in MySQL only.
        if self == Dialect::MySql { format!("'{}'", text.replace('\\', "\\\\")) } else { format!("'{text}'") }
    }

    pub fn date(self, day: Date) -> String {
        if self == Dialect::Sqlite { format!("'{day}'") } else { format!("DATE '{day}'") }
    }

    /// So that a division keeps its fraction.
    pub fn double(self, value: &str) -> String {
        match self {
            Dialect::DuckDb => format!("CAST({value} AS DOUBLE)"),
            Dialect::Postgres => format!("CAST({value} AS double precision)"),
            // Older servers cannot cast to DOUBLE.
            Dialect::MySql => format!("(({value}) + 0e0)"),
            Dialect::Sqlite => format!("CAST({value} AS REAL)"),
        }
    }

    /// A mean with all its digits: MySQL rounds that of whole numbers to four.
    pub fn mean(self, value: &str) -> String {
        if self == Dialect::MySql { format!("avg({value} + 0e0)") } else { format!("avg({value})") }
    }

    /// The number one in shares of rows, so that a mean of ones and noughts is no rounded decimal.
    pub fn one(self) -> (&'static str, &'static str) {
        if self == Dialect::MySql { ("1e0", "0e0") } else { ("1.0", "0.0") }
    }

    pub fn knows(self, agg: Agg) -> bool {
        match (self, agg) {
            (Dialect::DuckDb | Dialect::Postgres, _) => true,
            (_, Agg::Median | Agg::Percentile(_)) => false,
            (Dialect::Sqlite, Agg::StdDev | Agg::Variance) => false,
            _ => true,
        }
    }

    /// The value below which a share of the rows lies.
    pub fn quantile(self, column: &str, share: f64) -> String {
        match self {
            Dialect::Postgres => format!("percentile_cont({share}) WITHIN GROUP (ORDER BY {column})"),
            _ if share == 0.5 => format!("median({column})"),
            _ => format!("quantile_cont({column}, {share})"),
        }
    }

    /// `call(value)` over the rows that meet a condition.
    pub fn only(self, call: impl Fn(&str) -> String, value: &str, condition: Option<&str>) -> String {
        match condition {
            None => call(value),
            Some(c) if self == Dialect::MySql => call(&format!("CASE WHEN {c} THEN {value} END")),
            Some(c) => format!("{} FILTER (WHERE {c})", call(value)),
        }
    }

    /// How many rows meet a condition.
    pub fn count(self, condition: Option<&str>) -> String {
        match condition {
            None => "count(*)".to_owned(),
            Some(c) if self == Dialect::MySql => format!("count(CASE WHEN {c} THEN 1 END)"),
            Some(c) => format!("count(*) FILTER (WHERE {c})"),
        }
    }

    /// An ordering by the column at a place, whose value is `value`; nulls come last.
    pub fn nulls_last(self, place: usize, value: &str, direction: &str) -> String {
        match (self, direction) {
            (Dialect::MySql, "ASC") => format!("({value}) IS NULL, {place} ASC"),
            (Dialect::MySql, _) => format!("{place} {direction}"),
            _ => format!("{place} {direction} NULLS LAST"),
        }
    }

    /// Text such as `2024-03` as a date.
    pub fn month_text(self, column: &str) -> String {
        match self {
            Dialect::DuckDb => {
                format!("CAST(strptime(replace({column}, '/', '-') || '-01', '%Y-%m-%d') AS DATE)")
            }
            Dialect::Postgres => format!("to_date(replace({column}, '/', '-') || '-01', 'YYYY-MM-DD')"),
            Dialect::MySql => format!("STR_TO_DATE(CONCAT(REPLACE({column}, '/', '-'), '-01'), '%Y-%m-%d')"),
            Dialect::Sqlite => {
                format!(
                    "date(substr({column}, 1, 4) || '-' || substr('0' || substr({column}, 6), -2) || '-01')"
                )
            }
        }
    }

    /// A number such as 2024 as a date.
    pub fn year_number(self, column: &str) -> String {
        match self {
            Dialect::DuckDb | Dialect::Postgres => format!("make_date(CAST({column} AS INTEGER), 1, 1)"),
            Dialect::MySql => format!("MAKEDATE({column}, 1)"),
            Dialect::Sqlite => format!("printf('%04d-01-01', {column})"),
        }
    }

    /// The start of the period a day falls into.
    pub fn start(self, day: &str, grain: Grain) -> String {
        match self {
            Dialect::DuckDb | Dialect::Postgres => {
                format!("CAST(date_trunc('{}', {day}) AS DATE)", unit(grain))
            }
            Dialect::MySql => match grain {
                Grain::Hour | Grain::Day | Grain::Weekday => format!("DATE({day})"),
                Grain::Week => format!("DATE({day}) - INTERVAL WEEKDAY({day}) DAY"),
                Grain::Month => format!("DATE({day}) - INTERVAL (DAYOFMONTH({day}) - 1) DAY"),
                Grain::Quarter => {
                    format!("MAKEDATE(YEAR({day}), 1) + INTERVAL (QUARTER({day}) - 1) * 3 MONTH")
                }
                Grain::Year => format!("MAKEDATE(YEAR({day}), 1)"),
            },
            Dialect::Sqlite => match grain {
                Grain::Hour | Grain::Day | Grain::Weekday => format!("date({day})"),
                Grain::Week => format!("date({day}, '-6 days', 'weekday 1')"),
                Grain::Month => format!("date({day}, 'start of month')"),
                Grain::Quarter => format!(
                    "date({day}, 'start of month', '-' || ((CAST(strftime('%m', {day}) AS INTEGER) - 1) % 3) || ' months')"
                ),
                Grain::Year => format!("date({day}, 'start of year')"),
            },
        }
    }

    /// Writes a period start the way people do; also sorts in time.
    pub fn label(self, start: &str, grain: Grain) -> String {
        match (self, grain) {
            (Dialect::DuckDb, Grain::Quarter) => {
                format!("strftime({start}, '%Y') || '-Q' || CAST(quarter({start}) AS VARCHAR)")
            }
            (Dialect::DuckDb, _) => format!("strftime({start}, '{}')", format_of(grain)),
            (Dialect::Postgres, Grain::Month) => format!("to_char({start}, 'YYYY-MM')"),
            (Dialect::Postgres, Grain::Year) => format!("to_char({start}, 'YYYY')"),
            (Dialect::Postgres, Grain::Quarter) => format!("to_char({start}, 'YYYY-\"Q\"Q')"),
            (Dialect::Postgres, _) => format!("to_char({start}, 'YYYY-MM-DD')"),
            (Dialect::MySql, Grain::Quarter) => format!("CONCAT(YEAR({start}), '-Q', QUARTER({start}))"),
            (Dialect::MySql, _) => format!("DATE_FORMAT({start}, '{}')", format_of(grain)),
            (Dialect::Sqlite, Grain::Quarter) => format!(
                "strftime('%Y', {start}) || '-Q' || ((CAST(strftime('%m', {start}) AS INTEGER) + 2) / 3)"
            ),
            (Dialect::Sqlite, _) => format!("strftime('{}', {start})", format_of(grain)),
        }
    }

    /// `07` for seven in the morning.
    pub fn hour(self, time: &str) -> String {
        match self {
            Dialect::DuckDb => format!("lpad(CAST(hour({time}) AS VARCHAR), 2, '0')"),
            Dialect::Postgres => format!("to_char({time}, 'HH24')"),
            Dialect::MySql => format!("DATE_FORMAT({time}, '%H')"),
            Dialect::Sqlite => format!("strftime('%H', {time})"),
        }
    }

    /// `1` for Monday.
    pub fn weekday(self, day: &str) -> String {
        match self {
            Dialect::DuckDb => format!("CAST(isodow({day}) AS VARCHAR)"),
            Dialect::Postgres => format!("to_char({day}, 'ID')"),
            Dialect::MySql => format!("CAST(WEEKDAY({day}) + 1 AS CHAR)"),
            Dialect::Sqlite => format!("CAST((CAST(strftime('%w', {day}) AS INTEGER) + 6) % 7 + 1 AS TEXT)"),
        }
    }

    /// A period's start some time before another.
    pub fn before(self, start: &str, (count, unit): Step) -> String {
        match self {
            Dialect::DuckDb => format!("CAST({start} - INTERVAL {count} {unit} AS DATE)"),
            Dialect::Postgres => format!("CAST({start} - INTERVAL '{count} {unit}' AS DATE)"),
            Dialect::MySql => format!("{start} - INTERVAL {count} {unit}"),
            Dialect::Sqlite => format!("date({start}, '-{count} {}')", unit.to_lowercase()),
        }
    }

    /// Whether one text holds another.
    pub fn holds(self, text: &str, part: &str) -> String {
        match self {
            Dialect::DuckDb => format!("contains({text}, {part})"),
            Dialect::Postgres => format!("strpos({text}, {part}) > 0"),
            Dialect::MySql => format!("LOCATE({part}, {text}) > 0"),
            Dialect::Sqlite => format!("instr({text}, {part}) > 0"),
        }
    }

    /// A column whose values are words, as text: PostgreSQL has types of its own for them.
    pub fn text(self, column: &str) -> String {
        if self == Dialect::Postgres { format!("CAST({column} AS text)") } else { column.to_owned() }
    }

    pub fn length(self, text: &str) -> String {
        if self == Dialect::MySql { format!("char_length({text})") } else { format!("length({text})") }
    }
}

fn unit(grain: Grain) -> &'static str {
    match grain {
        Grain::Hour => "hour",
        Grain::Day | Grain::Weekday => "day",
        Grain::Week => "week",
        Grain::Month => "month",
        Grain::Quarter => "quarter",
        Grain::Year => "year",
    }
}

fn format_of(grain: Grain) -> &'static str {
    match grain {
        Grain::Month => "%Y-%m",
        Grain::Year => "%Y",
        _ => "%Y-%m-%d",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_and_values_stay_inside_their_quotes() {
        assert_eq!(Dialect::DuckDb.name("a\"; DROP TABLE t; --"), "\"a\"\"; DROP TABLE t; --\"");
        assert_eq!(Dialect::MySql.name("a`; DROP"), "`a``; DROP`");
        assert_eq!(Dialect::Postgres.literal("x' OR '1'='1"), "'x'' OR ''1''=''1'");
        assert_eq!(Dialect::MySql.literal("x\\' OR 1"), "'x\\\\'' OR 1'");
        assert_eq!(Dialect::Postgres.table("sales.o\"x.y"), "\"sales\".\"o\"\"x.y\"");
        assert_eq!(Dialect::Sqlite.table("a.b"), "\"a.b\"");
    }
}
