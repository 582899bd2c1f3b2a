//! Tables as text for observations (SPEC E10), and back. CSV with a typed header: measured, it costs the fewest
//! tokens of the shapes that stay readable to a model and to the offline analyst.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Column {
    pub name: String,
    /// Type name, as the engine calls it; empty when unknown.
    #[serde(rename = "type", default)]
    pub kind: String,
}

impl Column {
    pub fn new(name: impl Into<String>, kind: impl Into<String>) -> Self {
        Self { name: name.into(), kind: kind.into() }
    }
}

/// Header line, then one line a row. Null is an empty field, an empty string is `""`.
pub fn encode(columns: &[Column], rows: &[Vec<Value>]) -> String {
    let mut out = header(columns);
    for row in rows {
        out.push('\n');
        encode_row(&mut out, row);
    }
    out
}

/// The header line alone.
pub fn header(columns: &[Column]) -> String {
    let names: Vec<String> = columns.iter().map(|c| quoted(&c.name)).collect();
    names.join(",")
}

/// Appends one row, without its line break.
pub fn encode_row(out: &mut String, row: &[Value]) {
    for (i, value) in row.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        match value {
            Value::Null => {}
            Value::String(s) => out.push_str(&quoted(s)),
            Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
            Value::Array(_) | Value::Object(_) => out.push_str(&quoted(&value.to_string())),
        }
    }
}

fn quoted(s: &str) -> String {
    let plain = !s.is_empty() && !s.contains([',', '"', '\n', '\r']) && s.trim() == s;
    if plain { s.to_owned() } else { format!("\"{}\"", s.replace('"', "\"\"")) }
}

/// Header names, and rows whose nulls are `None`.
pub type Decoded = (Vec<String>, Vec<Vec<Option<String>>>);

/// Reads what [`encode`] wrote: header names, and rows of `None` for null. `None` when a quote never closes.
pub fn decode(text: &str) -> Option<Decoded> {
    let mut records: Vec<Vec<Option<String>>> = Vec::new();
    let mut record = Vec::new();
    let mut field = String::new();
    let (mut quoted, mut was_quoted) = (false, false);
    let mut chars = text.chars().peekable();
    let end_field = |field: &mut String, was_quoted: &mut bool| {
        let value = std::mem::take(field);
        let quoted = std::mem::take(was_quoted);
        (quoted || !value.is_empty()).then_some(value)
    };
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if field.is_empty() => (quoted, was_quoted) = (true, true),
            ',' if !quoted => record.push(end_field(&mut field, &mut was_quoted)),
            '\n' if !quoted => {
                record.push(end_field(&mut field, &mut was_quoted));
                records.push(std::mem::take(&mut record));
            }
            _ => field.push(c),
        }
    }
    if quoted {
        return None;
    }
    record.push(end_field(&mut field, &mut was_quoted));
    records.push(record);
    let mut records = records.into_iter();
    let names = records.next()?.into_iter().map(Option::unwrap_or_default).collect();
    Some((names, records.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_encoded_is_read_back() {
        let columns = [Column::new("地区", "VARCHAR"), Column::new("a,b", "DOUBLE"), Column::new("n", "")];
        let rows = vec![
            vec![json!("华东"), json!(1.5), Value::Null],
            vec![json!("say \"hi\",\nok"), json!(-2), json!("")],
            vec![json!({"k": 1}), json!(true), json!("x")],
        ];
        let text = encode(&columns, &rows);
        let (names, back) = decode(&text).unwrap();
        assert_eq!(names, ["地区", "a,b", "n"]);
        assert_eq!(back[0], [Some("华东".into()), Some("1.5".into()), None]);
        assert_eq!(back[1], [Some("say \"hi\",\nok".into()), Some("-2".into()), Some(String::new())]);
        assert_eq!(back[2][0], Some("{\"k\":1}".into()));
    }

    #[test]
    fn an_open_quote_is_refused() {
        assert_eq!(decode("a\n\"x"), None);
    }
}
