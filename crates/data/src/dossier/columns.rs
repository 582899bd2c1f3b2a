//! The columns of a table in a dossier: type, unit, range or frequent values, share of blanks.

use std::fmt::Write;

use ba_protocol::file::{ColumnProfile, TableProfile};
use serde_json::Value;

use super::{Detail, Words, line, percent};

const MOST_COLUMNS: usize = 120;
const NAMED_COLUMNS: usize = 40;

pub(super) fn push(text: &mut String, profile: &TableProfile, detail: Detail, words: Words) {
    let columns = &profile.columns;
    if detail <= Detail::Types {
        let most = if detail == Detail::Types { MOST_COLUMNS } else { NAMED_COLUMNS };
        let one = |c: &ColumnProfile| match detail {
            Detail::Names => line(&c.name, 24),
            _ => format!("{} {}{}", line(&c.name, 40), kind(&c.kind), unit(c)),
        };
        let shown: Vec<String> = columns.iter().take(most).map(one).collect();
        let shown = shown.join(words.between());
        let _ = writeln!(text, "  {}{shown}{}", words.columns(), rest(columns.len(), most, words));
        return;
    }
    for column in columns.iter().take(MOST_COLUMNS) {
        let _ = write!(text, "  - {} {}{}", line(&column.name, 60), kind(&column.kind), unit(column));
        let about = about(column, profile.rows, detail, words);
        if !about.is_empty() {
            let _ = write!(text, " {about}");
        }
        if column.nulls > 0 && profile.rows > 0 {
            #[expect(clippy::cast_precision_loss, reason = "a share to show")]
            let share = column.nulls as f64 / profile.rows as f64;
            text.push_str(&words.blank(percent(share)));
        }
        text.push('\n');
    }
    if columns.len() > MOST_COLUMNS {
        let _ = writeln!(text, "  {}", rest(columns.len(), MOST_COLUMNS, words).trim_start());
    }
}

fn rest(all: usize, most: usize, words: Words) -> String {
    if all > most { words.rest(all - most) } else { String::new() }
}

fn unit(column: &ColumnProfile) -> String {
    column.unit.as_ref().map_or_else(String::new, |unit| format!(" [{}]", line(unit, 12)))
}

/// The type as a word that is short and still SQL's.
fn kind(kind: &str) -> String {
    match kind {
        "VARCHAR" => "text".into(),
        "BIGINT" | "INTEGER" | "SMALLINT" | "TINYINT" | "HUGEINT" | "UBIGINT" | "UINTEGER" => "int".into(),
        "DOUBLE" | "FLOAT" => "num".into(),
        "BOOLEAN" => "bool".into(),
        _ if kind.starts_with("DECIMAL") => "num".into(),
        _ if kind.starts_with("TIMESTAMP") => "datetime".into(),
        other => line(&other.to_lowercase(), 24),
    }
}

fn about(column: &ColumnProfile, rows: u64, detail: Detail, words: Words) -> String {
    let is_text = column.kind == "VARCHAR" || column.kind == "BOOLEAN";
    if is_text && !column.top.is_empty() {
        let most = if detail == Detail::Full { 4 } else { 2 };
        let shown: Vec<String> = column.top.iter().take(most).map(|t| line(&t.value, 20)).collect();
        let more = column.distinct > shown.len() as u64;
        let shown = format!("{}{}", shown.join(words.between()), if more { "…" } else { "" });
        return words.kinds_such_as(column.distinct, shown);
    }
    if is_text {
        let example = column.examples.first().map(|e| words.such_as(line(e, 24))).unwrap_or_default();
        let unique = rows > 1 && column.distinct == rows;
        return if unique {
            format!("{}{example}", words.all_distinct())
        } else {
            format!("{}{example}", words.kinds(column.distinct))
        };
    }
    let (Some(low), Some(high)) = (&column.min, &column.max) else { return String::new() };
    let mut text = if low == high { value(low) } else { format!("{}…{}", value(low), value(high)) };
    if detail == Detail::Full
        && low != high
        && let Some(mean) = column.mean
    {
        text.push_str(&words.mean(number(mean)));
    }
    text
}

pub(super) fn value(value: &Value) -> String {
    match value {
        Value::String(text) => line(text.trim_end_matches(" 00:00:00").trim_end_matches("T00:00:00"), 24),
        Value::Number(n) => n.as_f64().filter(|_| n.is_f64()).map_or_else(|| n.to_string(), number),
        other => line(&other.to_string(), 24),
    }
}

/// Plain, with as many decimals as say something.
pub(super) fn number(figure: f64) -> String {
    let decimals = match figure.abs() {
        size if size >= 1_000.0 => 0,
        size if size >= 1.0 => 2,
        size if size >= 0.001 => 4,
        _ => 6,
    };
    let text = format!("{figure:.decimals$}");
    let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}
