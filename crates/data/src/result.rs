//! What a query gives back, whichever engine answered. Values are JSON without loss: exact decimals and large
//! integers as text, times as ISO 8601, bytes as `\x…`.

use std::time::Duration;

use ba_protocol::file::Note;
use ba_protocol::table::Column;
use ba_sandbox::Usage;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub struct QueryResult {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Value>>,
    /// There were more rows than asked for.
    pub truncated: bool,
    pub row_count: u64,
    pub elapsed: Duration,
    /// What was cut or changed on the way.
    pub notes: Vec<String>,
    /// What checks found in it (SPEC W3).
    pub checks: Vec<Note>,
    /// What the sandbox used; nothing where a server did the work.
    pub usage: Usage,
}

impl QueryResult {
    pub(crate) fn new(
        columns: Vec<Column>,
        rows: Vec<Vec<Value>>,
        truncated: bool,
        elapsed: Duration,
    ) -> Self {
        let row_count = rows.len() as u64;
        Self {
            columns,
            rows,
            truncated,
            row_count,
            elapsed,
            notes: Vec::new(),
            checks: Vec::new(),
            usage: Usage::default(),
        }
    }
}

/// The largest integer that every JSON reader keeps exactly.
const SAFE_INTEGER: i64 = 1 << 53;

pub(crate) fn integer(n: i64) -> Value {
    if (-SAFE_INTEGER..=SAFE_INTEGER).contains(&n) { Value::from(n) } else { Value::from(n.to_string()) }
}

pub(crate) fn unsigned(n: u64) -> Value {
    i64::try_from(n).map_or_else(|_| Value::from(n.to_string()), integer)
}

pub(crate) fn float(f: f64) -> Value {
    serde_json::Number::from_f64(f).map_or_else(|| Value::from(f.to_string()), Value::Number)
}

pub(crate) fn bytes(b: &[u8]) -> Value {
    use std::fmt::Write;
    let mut text = String::with_capacity(2 + b.len() * 2);
    text.push_str("\\x");
    for byte in b {
        let _ = write!(text, "{byte:02x}");
    }
    Value::from(text)
}

/// Text that came from a server, as the type it declared.
pub(crate) fn typed(text: &str, kind: Kind) -> Value {
    match kind {
        Kind::Integer => text.parse::<i64>().map_or_else(|_| Value::from(text), integer),
        Kind::Float => text.parse::<f64>().map_or_else(|_| Value::from(text), float),
        Kind::Bool => match text {
            "t" | "true" => Value::Bool(true),
            "f" | "false" => Value::Bool(false),
            other => Value::from(other),
        },
        Kind::Json => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
        Kind::Text => Value::from(text),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    Float,
    Bool,
    Json,
    Text,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_rounded() {
        assert_eq!(integer(i64::MAX), Value::from("9223372036854775807"));
        assert_eq!(unsigned(u64::MAX), Value::from("18446744073709551615"));
        assert_eq!(integer(42), Value::from(42));
        assert_eq!(float(f64::NAN), Value::from("NaN"));
        assert_eq!(bytes(&[0, 255]), Value::from("\\x00ff"));
        assert_eq!(typed("1.10", Kind::Text), Value::from("1.10"));
    }
}
