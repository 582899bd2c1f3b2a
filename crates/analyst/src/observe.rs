//! Reads tool results back into tables and profiles. The one place that knows how observations are written; what it
//! cannot read it says so, and no figure is made of it.

use ba_protocol::file::{ColumnProfile, FileProfile, TableProfile, TopValue};
use ba_protocol::table;
use serde_json::Value;

/// A table as a tool returned it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Grid {
    pub names: Vec<String>,
    pub rows: Vec<Vec<Option<String>>>,
    /// Not all rows were shown.
    pub cut: bool,
}

impl Grid {
    pub fn cell(&self, row: usize, column: usize) -> Option<&str> {
        self.rows.get(row)?.get(column)?.as_deref()
    }

    pub fn number(&self, row: usize, column: usize) -> Option<f64> {
        number(self.cell(row, column)?)
    }

    /// One column as numbers.
    pub fn numbers(&self, column: usize) -> Vec<Option<f64>> {
        (0..self.rows.len()).map(|r| self.number(r, column).map(tidy)).collect()
    }

    pub fn texts(&self, column: usize) -> Vec<String> {
        (0..self.rows.len()).map(|r| self.cell(r, column).unwrap_or("").to_owned()).collect()
    }
}

/// A figure without the noise of binary fractions: what people see has at most six decimals.
pub fn tidy(value: f64) -> f64 {
    if value.abs() < 1e9 { (value * 1e6).round() / 1e6 } else { value.round() }
}

pub fn number(text: &str) -> Option<f64> {
    let plain = text.trim().replace(',', "");
    plain.parse::<f64>().ok().filter(|n| n.is_finite())
}

/// The content between the tags of an observation.
pub fn body(observation: &str) -> &str {
    let inner = match observation.find("<tool_result") {
        Some(at) => observation[at..].split_once('>').map_or("", |(_, rest)| rest),
        None => observation,
    };
    inner.rsplit_once("</tool_result>").map_or(inner, |(b, _)| b).trim_matches('\n')
}

/// Why a call failed, for people: its message and what to do, without the form that models read.
pub fn complaint(observation: &str) -> String {
    let body = body(observation);
    let part = |name: &str| body.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    match (part("Error Message:"), part("Hint:")) {
        (Some(message), Some(hint)) => format!("{message}; {hint}"),
        (Some(message), None) => message.to_owned(),
        _ => body.to_owned(),
    }
}

/// The table in an observation of `query_database`.
pub fn grid(observation: &str) -> Option<Grid> {
    let body = body(observation);
    if let Some(grid) = json_rows(body) {
        return Some(grid);
    }
    let mut text = body;
    // The first line is the call's id and a summary.
    if text.starts_with('[') {
        text = text.split_once('\n').map(|(_, rest)| rest)?;
    }
    let (kept, cut) = without_tail(text);
    if kept.starts_with('|') {
        return markdown(&kept, cut);
    }
    let (names, rows) = table::decode(&kept)?;
    let width = names.len();
    let rows: Vec<Vec<Option<String>>> = rows.into_iter().take_while(|r| r.len() == width).collect();
    (!names.iter().all(String::is_empty)).then_some(Grid { names, rows, cut })
}

/// Drops the lines after the table: notes, file names, the mark of a cut.
fn without_tail(text: &str) -> (String, bool) {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut cut = false;
    while let Some(last) = lines.last() {
        let mark = last.starts_with('…');
        let tail = mark
            || last.starts_with("Note: ")
            || last.starts_with("Files: ")
            || last.starts_with("Data stored in file: ")
            || last.is_empty();
        if !tail || lines.len() == 1 {
            break;
        }
        cut |= mark;
        lines.pop();
    }
    (lines.join("\n"), cut)
}

fn markdown(text: &str, cut: bool) -> Option<Grid> {
    let split = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split('|').map(|c| c.trim().to_owned()).collect()
    };
    let mut lines = text.lines();
    let names = split(lines.next()?);
    let rows = lines
        .filter(|l| !l.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ')))
        .map(|l| split(l).into_iter().map(|c| (!c.is_empty()).then_some(c)).collect())
        .collect();
    Some(Grid { names, rows, cut })
}

fn json_rows(body: &str) -> Option<Grid> {
    let at = body.find("[{")?;
    let values: Vec<serde_json::Map<String, Value>> =
        serde_json::from_str(body[at..].lines().next()?).ok()?;
    let names: Vec<String> = values.first()?.keys().cloned().collect();
    let cell = |v: &Value| match v {
        Value::Null => None,
        Value::String(s) => Some(s.clone()),
        other => Some(other.to_string()),
    };
    let rows = values.iter().map(|row| names.iter().map(|n| row.get(n).and_then(cell)).collect()).collect();
    Some(Grid { names, rows, cut: false })
}

/// The profiles in an observation of `file_reader` with `parse_metadata`.
pub fn profiles(observation: &str) -> Vec<TableProfile> {
    let body = body(observation);
    json_profiles(body).unwrap_or_else(|| listed_profiles(body))
}

/// The numbers of a workbook's other sheets, as an observation of `file_reader` names them.
pub fn other_sheets(observation: &str) -> Vec<usize> {
    const MOST: usize = 9;
    let Some((_, rest)) = observation.rsplit_once("other sheets (sheet_name): ") else { return Vec::new() };
    let line = rest.lines().next().unwrap_or("");
    let numbered = |part: &str| part.split_once(": ").and_then(|(n, _)| n.trim().parse::<usize>().ok());
    let mut found: Vec<usize> =
        line.split(", ").filter_map(numbered).filter(|n| (1..=MOST).contains(n)).collect();
    found.dedup();
    found
}

fn json_profiles(body: &str) -> Option<Vec<TableProfile>> {
    let at = body.find('{')?;
    let whole: Option<Value> =
        serde_json::Deserializer::from_str(&body[at..]).into_iter().next().and_then(Result::ok);
    let Some(mut value) = whole else { return cut_profile(&body[at..]) };
    if let Some(table) = value.get_mut("table") {
        value = table.take();
    }
    if value.get("tables").is_some() {
        let file: FileProfile = serde_json::from_value(value).ok()?;
        return (!file.tables.is_empty()).then_some(file.tables);
    }
    let table: TableProfile = serde_json::from_value(value).ok()?;
    (!table.columns.is_empty()).then_some(vec![table])
}

/// A profile that was cut somewhere in its columns: those that are whole.
fn cut_profile(text: &str) -> Option<Vec<TableProfile>> {
    let field = |name: &str| text.find(name).map(|at| &text[at + name.len()..]);
    let mut rest = field("\"columns\":[")?;
    let mut columns = Vec::new();
    loop {
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<ColumnProfile>();
        let Some(Ok(column)) = stream.next() else { break };
        let read = stream.byte_offset();
        columns.push(column);
        rest = rest[read..].trim_start_matches(',');
    }
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let rows = field("\"rows\":").and_then(|t| digits(t).parse().ok()).unwrap_or(0);
    (!columns.is_empty()).then(|| vec![TableProfile { rows, columns, ..TableProfile::default() }])
}

/// Profiles written as a table of columns, each under a line with the table's name and size.
fn listed_profiles(body: &str) -> Vec<TableProfile> {
    let lines: Vec<&str> = body.lines().collect();
    let mut out = Vec::new();
    let mut context = String::new();
    let mut i = 0;
    while i < lines.len() {
        let header: Vec<String> =
            lines[i].split(',').map(|h| h.trim().trim_matches('"').to_lowercase()).collect();
        let is_header = header.iter().any(|h| h == "column" || h == "name" || h == "列")
            && header.iter().any(|h| h == "type" || h == "类型");
        if !is_header {
            context.push_str(lines[i]);
            context.push('\n');
            i += 1;
            continue;
        }
        let end =
            (i + 1..lines.len()).find(|j| lines[*j].is_empty() || is_note(lines[*j])).unwrap_or(lines.len());
        if let Some((_, rows)) = table::decode(&lines[i..end].join("\n")) {
            let columns: Vec<ColumnProfile> =
                rows.iter().filter(|r| r.len() == header.len()).filter_map(|r| column(&header, r)).collect();
            if !columns.is_empty() {
                out.push(TableProfile {
                    name: table_name(&context),
                    rows: row_count(&context),
                    columns,
                    ..TableProfile::default()
                });
            }
        }
        context.clear();
        i = end;
    }
    out
}

fn is_note(line: &str) -> bool {
    ["Note: ", "Files: ", "Data stored in file: ", "…", "- "].iter().any(|p| line.starts_with(p))
}

fn column(header: &[String], row: &[Option<String>]) -> Option<ColumnProfile> {
    let get =
        |names: &[&str]| header.iter().position(|h| names.contains(&h.as_str())).and_then(|i| row[i].clone());
    let count = |names: &[&str]| get(names).and_then(|v| number(&v)).map_or(0, to_count);
    let values = |text: String| -> Vec<TopValue> {
        text.split(['|', ';']).filter(|v| !v.trim().is_empty()).map(|v| top_value(v.trim())).collect()
    };
    Some(ColumnProfile {
        name: get(&["column", "name", "列"])?,
        kind: get(&["type", "类型"]).unwrap_or_default(),
        nulls: count(&["nulls", "null", "missing", "缺失"]),
        distinct: count(&["distinct", "unique", "不同值"]),
        min: get(&["min", "最小"]).map(Value::String),
        max: get(&["max", "最大"]).map(Value::String),
        mean: get(&["mean", "均值"]).and_then(|v| number(&v)),
        top: get(&["top", "top values", "top_values"]).map(values).unwrap_or_default(),
        examples: get(&["examples", "example", "样例"])
            .map(|t| t.split(['|', ';']).map(|v| v.trim().to_owned()).filter(|v| !v.is_empty()).collect())
            .unwrap_or_default(),
        unit: get(&["unit", "单位"]),
        ..ColumnProfile::default()
    })
}

/// `华东 (1200)`, `华东×1200`, `华东`.
fn top_value(text: &str) -> TopValue {
    let counted = text
        .rsplit_once(" (")
        .and_then(|(v, n)| Some((v, number(n.strip_suffix(')')?)?)))
        .or_else(|| text.rsplit_once('×').and_then(|(v, n)| Some((v.trim_end(), number(n)?))));
    match counted {
        Some((value, n)) => TopValue { value: value.to_owned(), count: to_count(n) },
        None => TopValue { value: text.to_owned(), count: 0 },
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are small and not negative"
)]
fn to_count(n: f64) -> u64 {
    n.max(0.0) as u64
}

fn table_name(context: &str) -> String {
    let quoted = context.split(['"', '`']).nth(1).unwrap_or("");
    quoted.to_owned()
}

fn row_count(context: &str) -> u64 {
    let words: Vec<&str> =
        context.split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '×' | '，')).collect();
    let before = |unit: &[&str]| {
        words.windows(2).find(|w| unit.iter().any(|u| w[1].starts_with(u))).and_then(|w| number(w[0]))
    };
    let glued = words.iter().find_map(|w| w.strip_suffix('行').and_then(number));
    before(&["rows", "行"]).or(glued).map_or(0, to_count)
}

#[cfg(test)]
mod tests;
