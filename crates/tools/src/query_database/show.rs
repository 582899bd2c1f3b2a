//! How tables and results of `query_database` are shown. Formats what is there; asks nobody.

use std::fmt::Write;

use ba_agent::tool::{Body, StoredData, ToolOutput};
use ba_data::{QueryResult, TableInfo};
use ba_protocol::file::{Note, NoteLevel};
use ba_protocol::table::{self, Column};
use ba_protocol::text::{one_line, shorten};
use ba_protocol::{DataNote, Said};
use serde_json::Value;

use crate::conversation_tables::KnownTable;
use crate::resources::resources;

pub(super) fn describe(known: &[KnownTable], search: Option<&str>) -> ToolOutput {
    let wanted = search.map(str::to_lowercase);
    let fits = |t: &&KnownTable| {
        wanted.as_ref().is_none_or(|w| t.source.names.iter().any(|n| n.to_lowercase().contains(w)))
    };
    let found: Vec<&KnownTable> = known.iter().filter(fits).collect();
    let mut text = String::new();
    for t in &found {
        let names: Vec<String> = t.source.names.iter().map(|n| format!("\"{n}\"")).collect();
        let _ = write!(text, "{}", names.join(" = "));
        match &t.profile {
            None => {
                let _ = writeln!(text, " ({})", t.about);
            }
            Some(profile) => {
                let _ = writeln!(text, " ({} rows, from {})", profile.rows, t.filename);
                for c in profile.columns.iter().take(200) {
                    let _ = write!(text, "  \"{}\" {}", c.name, c.kind);
                    if let Some(unit) = &c.unit {
                        let _ = write!(text, " [{unit}]");
                    }
                    if !c.examples.is_empty() {
                        let examples: Vec<String> = c.examples.iter().map(|e| shorten(e, 24)).collect();
                        let _ = write!(text, " e.g. {}", examples.join(", "));
                    }
                    text.push('\n');
                }
            }
        }
    }
    if found.is_empty() {
        text = "no table; upload a csv, xlsx, json or parquet file first".to_owned();
    }
    let said = Said::new("tables_shown").with("shown", found.len()).with("total", known.len());
    ToolOutput::text(format!("{} of {} tables", found.len(), known.len()), text.trim_end()).saying(said)
}

/// One row a column: what a program reads. The rows are the server's estimate.
pub(super) fn columns_of(tables: &[TableInfo]) -> ToolOutput {
    let header = ["table", "rows", "about", "column", "type", "key", "comment"];
    let columns: Vec<Column> = header.into_iter().map(|name| Column::new(name, "")).collect();
    let text = |t: &str, most| if t.is_empty() { Value::Null } else { shorten(&one_line(t), most).into() };
    let mut rows = Vec::new();
    for table in tables {
        for column in &table.columns {
            rows.push(vec![
                table.name.clone().into(),
                table.rows.map_or(Value::Null, Value::from),
                text(&table.comment, 40),
                column.name.clone().into(),
                column.kind.clone().into(),
                text(&column.key, 80),
                text(&column.comment, 40),
            ]);
        }
    }
    let summary = format!("{} columns of {} tables", rows.len(), tables.len());
    let said = Said::new("columns_of_tables").with("columns", rows.len()).with("tables", tables.len());
    ToolOutput::new(summary, Body::Table { columns, rows, total_rows: None }).saying(said)
}

pub(super) fn output_of(result: QueryResult, max_rows: u64) -> ToolOutput {
    let QueryResult { columns, rows, truncated, row_count, elapsed, notes, mut checks, usage } = result;
    let shown = rows.len();
    let (mut summary, mut said) = match (shown, columns.len()) {
        (1, 1) => {
            let (name, value) = (columns[0].name.clone(), shorten(&plain(&rows[0][0]), 120));
            (
                format!("1 value: {name} = {value}"),
                Said::new("one_value").with("name", name).with("value", value),
            )
        }
        (n, m) => (format!("{n} rows × {m} columns"), Said::new("rows").with("rows", n).with("columns", m)),
    };
    if truncated {
        let code = if row_count > shown as u64 { "rows_cut_of" } else { "rows_cut" };
        said = Said::new(code).with("rows", shown).with("columns", columns.len()).with("total", row_count);
        let more = if row_count > shown as u64 { format!(" of {row_count}") } else { String::new() };
        let _ = write!(summary, " (cut at {shown}{more})");
        checks.insert(0, cut_note(shown, max_rows));
    }
    let csv = table::encode(&columns, &rows);
    let total_rows = truncated.then_some(row_count).filter(|n| *n > shown as u64);
    let mut output = ToolOutput::new(summary, Body::Table { columns, rows, total_rows }).saying(said);
    output.notes = notes;
    output.data_notes = checks.into_iter().map(DataNote::of_result).collect();
    output.resources = resources(&usage);
    output.data = Some(StoredData { bytes: csv.into_bytes(), extension: "csv" });
    output.metrics.insert("rows".to_owned(), f64::from(u32::try_from(shown).unwrap_or(u32::MAX)));
    output.metrics.insert("engine_ms".to_owned(), elapsed.as_secs_f64() * 1000.0);
    output
}

/// A result that is not whole, as a note with a code like every other check's.
fn cut_note(shown: usize, max_rows: u64) -> Note {
    let text = format!(
        "more rows exist than the {shown} returned (max_rows {max_rows}); aggregate, filter, or raise max_rows"
    );
    let values = [("rows".to_owned(), shown.into()), ("max_rows".to_owned(), max_rows.into())];
    Note {
        code: "result_truncated".into(),
        level: NoteLevel::Step,
        text,
        column: None,
        values: values.into_iter().collect(),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}
