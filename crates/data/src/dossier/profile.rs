//! One table's profile as a model reads it: each fact once, nothing empty, plain numbers.

use std::fmt::Write;

use ba_protocol::file::{ColumnProfile, TableProfile};

use super::columns::{number, value};
use super::{line, names, percent};

const MOST_VALUES: usize = 3;

/// A line for the table and one for each column. Notes on the table are told beside it.
pub fn profile(table: &TableProfile, encoding: Option<&str>) -> String {
    let mut text = format!("{} rows × {} columns", table.rows, table.columns.len());
    if let Some(encoding) = encoding.filter(|e| !e.eq_ignore_ascii_case("utf-8")) {
        let _ = write!(text, ", {encoding}");
    }
    text.push_str(" (numbers: min q1 median q3 max)");
    for key in &table.keys {
        let _ = write!(text, ", unique: {}", names(key, " + "));
    }
    for column in &table.columns {
        let _ = write!(text, "\n{} {}", line(&column.name, 80), column.kind);
        if let Some(unit) = &column.unit {
            let _ = write!(text, " [{}]", line(unit, 12));
        }
        facts(&mut text, column, table.rows);
    }
    text
}

fn facts(text: &mut String, column: &ColumnProfile, rows: u64) {
    if column.nulls > 0 {
        #[expect(clippy::cast_precision_loss, reason = "a share to show")]
        let share = column.nulls as f64 / rows.max(1) as f64;
        let _ = write!(text, "; blank {} ({})", column.nulls, percent(share));
    }
    if column.nulls >= rows {
        return;
    }
    if column.distinct == rows.saturating_sub(column.nulls) && rows > 1 {
        text.push_str("; all distinct");
    } else if column.distinct > 0 {
        let _ = write!(text, "; {} distinct", column.distinct);
    }
    let is_text = column.kind == "VARCHAR" || column.kind == "BOOLEAN";
    if let (Some(low), Some(high)) = (&column.min, &column.max)
        && !is_text
    {
        let _ = write!(text, "; {}", value(low));
        if low != high {
            match (column.q1, column.median, column.q3) {
                (Some(q1), Some(median), Some(q3)) => {
                    let _ = write!(text, " {} {} {} ", number(q1), number(median), number(q3));
                }
                _ => text.push_str(" … "),
            }
            text.push_str(&value(high));
            if let Some(mean) = column.mean {
                let _ = write!(text, "; mean {}", number(mean));
            }
            if let Some(std) = column.std {
                let _ = write!(text, "; std {}", number(std));
            }
        }
        return;
    }
    let top: Vec<String> =
        column.top.iter().take(MOST_VALUES).map(|t| format!("{} {}", line(&t.value, 30), t.count)).collect();
    if !top.is_empty() {
        let _ = write!(text, "; {}", top.join(", "));
    } else if let Some(example) = column.examples.first() {
        let _ = write!(text, "; e.g. {}", line(example, 30));
    }
}
