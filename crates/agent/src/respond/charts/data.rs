//! The table a chart is drawn from: found in the evidence, its columns by name, its cells as numbers or labels.

use std::collections::HashMap;

use ba_audit::{Body, Evidence, evidence};
use serde_json::{Value, json};

use super::ChartFault;

/// Rows of one chart; more cannot be told apart.
pub(super) const MAX_ROWS: usize = 5_000;
/// Series a column is split into; the rest is left out.
const MAX_SERIES: usize = 12;

#[derive(Debug)]
pub(super) struct Frame<'e> {
    /// As the evidence names it: the id of the call.
    pub call: String,
    pub columns: &'e [String],
    rows: &'e [Vec<Value>],
}

impl<'e> Frame<'e> {
    /// The table of a call that has all these columns, or else its largest.
    pub fn find(evidence: &'e Evidence, call: &str, named: &[&str]) -> Result<Self, ChartFault> {
        let same = |id: &str| id == call || id.rsplit('/').next() == Some(call);
        let mut known: Vec<String> = Vec::new();
        let mut best: Option<Self> = None;
        // The nearest source of this name: a later run may use the name of an earlier one.
        let nearest =
            evidence.sources.iter().find(|source| same(&source.id)).map(|source| source.id.as_str());
        for source in &evidence.sources {
            let Body::Table { columns, rows, .. } = &source.body else { continue };
            let short = source.id.rsplit('/').next().unwrap_or(&source.id);
            if !known.iter().any(|id| id == short) {
                known.push(short.to_owned());
            }
            if Some(source.id.as_str()) != nearest {
                continue;
            }
            let frame = Self { call: short.to_owned(), columns, rows };
            let fits = |frame: &Self| named.iter().filter(|name| frame.column(name).is_ok()).count();
            let better = best.as_ref().is_none_or(|old| {
                (fits(&frame), frame.rows.len().min(2)) > (fits(old), old.rows.len().min(2))
            });
            if better {
                best = Some(frame);
            }
        }
        match (best, nearest) {
            (Some(frame), _) => Ok(frame),
            (None, Some(_)) => Err(ChartFault::NoTable { call: call.to_owned() }),
            (None, None) => Err(ChartFault::UnknownCall { call: call.to_owned(), known }),
        }
    }

    /// A column by name; case, blanks and a unit in brackets are forgiven.
    pub fn column(&self, name: &str) -> Result<usize, ChartFault> {
        let plain = |text: &str| -> String {
            let head = text.split(['(', '（']).next().unwrap_or(text);
            head.chars().filter(|c| !c.is_whitespace() && *c != '_').flat_map(char::to_lowercase).collect()
        };
        let exact = self.columns.iter().position(|column| column == name);
        exact.or_else(|| self.columns.iter().position(|column| plain(column) == plain(name))).ok_or_else(
            || ChartFault::UnknownColumn { column: name.to_owned(), columns: self.columns.to_vec() },
        )
    }

    pub fn numeric(&self, column: usize) -> bool {
        let mut filled =
            self.rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_null()).take(200);
        let (mut some, mut all) = (false, true);
        filled.by_ref().for_each(|cell| {
            some = true;
            all &= evidence::number(cell).is_some();
        });
        some && all
    }

    /// The rows as ECharts reads them, these columns only.
    pub fn source(&self, columns: &[(usize, bool)]) -> Vec<Value> {
        let cell = |row: &'e Vec<Value>, (at, as_number): (usize, bool)| {
            let value = row.get(at).unwrap_or(&Value::Null);
            if as_number { number(value) } else { label(value) }
        };
        self.shown()
            .map(|row| Value::Array(columns.iter().map(|column| cell(row, *column)).collect()))
            .collect()
    }

    /// One measure, spread over the values of a column: the names of the series, and rows `[x, value of each]`.
    pub fn spread(&self, x: usize, series: usize, y: usize) -> (Vec<String>, Vec<Value>) {
        let (mut names, mut keys) = (Vec::<String>::new(), Vec::<Value>::new());
        let mut at_key: HashMap<String, usize> = HashMap::new();
        let mut cells: HashMap<(usize, usize), f64> = HashMap::new();
        for row in self.shown() {
            let get = |at: usize| row.get(at).unwrap_or(&Value::Null);
            let (key, name) = (label(get(x)), text(&label(get(series))));
            let column = names.iter().position(|known| *known == name);
            let Some(column) = column.or_else(|| (names.len() < MAX_SERIES).then_some(names.len())) else {
                continue;
            };
            if column == names.len() {
                names.push(name);
            }
            let line = *at_key.entry(text(&key)).or_insert_with(|| {
                keys.push(key);
                keys.len() - 1
            });
            if let Some(value) = evidence::number(get(y)) {
                *cells.entry((line, column)).or_insert(0.0) += value;
            }
        }
        let line = |(at, key): (usize, Value)| {
            let values =
                (0..names.len()).map(|column| cells.get(&(at, column)).map_or(Value::Null, |v| json!(v)));
            Value::Array(std::iter::once(key).chain(values).collect())
        };
        let rows = keys.into_iter().enumerate().map(line).collect();
        (names, rows)
    }

    pub fn is_cut(&self) -> bool {
        self.rows.len() > MAX_ROWS
    }

    pub fn len(&self) -> usize {
        self.rows.len().min(MAX_ROWS)
    }

    /// Of more rows than fit, the last: in a series over time they are the newest.
    fn shown(&self) -> impl Iterator<Item = &'e Vec<Value>> + use<'e> {
        self.rows[self.rows.len().saturating_sub(MAX_ROWS)..].iter()
    }
}

fn number(value: &Value) -> Value {
    match value {
        Value::Number(_) => value.clone(),
        other => evidence::number(other).map_or(Value::Null, |number| json!(number)),
    }
}

fn label(value: &Value) -> Value {
    match value {
        Value::Null => json!("—"),
        Value::String(text) => {
            json!(text.strip_suffix("T00:00:00").or(text.strip_suffix(" 00:00:00")).unwrap_or(text))
        }
        other => json!(other.to_string()),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
