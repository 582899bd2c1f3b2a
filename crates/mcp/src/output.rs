//! What a tool answered, as an output of ours: text, and rows where it gave them structured. Cut to a budget.

use ba_agent::{Body, Column, ToolOutput};
use ba_protocol::Said;
use ba_protocol::text::shorten;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

/// Characters of text; the rest is left out, and said.
const TEXT: usize = 400_000;
const ROWS: usize = 1_000;
const COLUMNS: usize = 200;

pub fn output(name: &str, result: &CallToolResult) -> ToolOutput {
    let mut parts = Vec::new();
    let mut left_out = 0;
    let mut text = String::new();
    for block in &result.content {
        match block {
            ContentBlock::Text(block) => {
                text.push_str(&block.text);
                text.push('\n');
            }
            _ => left_out += 1,
        }
    }
    let cut = text.chars().count() > TEXT;
    let text = if cut { shorten(&text, TEXT) } else { text };
    let table = result.structured_content.as_ref().and_then(table);
    if !text.trim().is_empty() {
        parts.push((String::new(), Body::Text(text.trim_end().to_owned())));
    }
    let summary = match &table {
        Some((_, rows)) => format!("`{name}` answered with {} rows", rows.len()),
        None => format!("`{name}` answered"),
    };
    let said = match &table {
        Some((_, rows)) => Said::new("program_answered_rows").with("rows", rows.len()),
        None => Said::new("program_answered"),
    };
    if let Some((columns, rows)) = table {
        parts.push(("structured".to_owned(), Body::Table { columns, rows, total_rows: None }));
    }
    if parts.is_empty() {
        parts.push((String::new(), Body::Text("(no text)".to_owned())));
    }
    let mut output = ToolOutput::new(summary, Body::Parts(parts)).saying(said.with("tool", name));
    if cut {
        output = output.with_note("the answer was longer; the rest was left out".to_owned());
    }
    if left_out > 0 {
        output = output.with_note(format!("{left_out} parts of the answer are not text and were left out"));
    }
    output
}

/// A list of flat objects, bare or as the only list of an object.
fn table(value: &Value) -> Option<(Vec<Column>, Vec<Vec<Value>>)> {
    let list = match value {
        Value::Array(list) => list,
        Value::Object(fields) => {
            let mut lists = fields.values().filter_map(Value::as_array);
            lists.next().filter(|_| lists.next().is_none())?
        }
        _ => return None,
    };
    let first = list.first()?.as_object()?;
    let names: Vec<&String> = first.keys().take(COLUMNS).collect();
    let row = |item: &Value| -> Option<Vec<Value>> {
        let fields = item.as_object()?;
        Some(names.iter().map(|name| fields.get(*name).cloned().unwrap_or(Value::Null)).collect())
    };
    let rows: Option<Vec<Vec<Value>>> = list.iter().take(ROWS).map(row).collect();
    Some((names.iter().map(|name| Column::new(name.as_str(), "")).collect(), rows?))
}
