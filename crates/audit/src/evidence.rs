//! What the tools returned and what the user said, as tables or lines of text. Holds, caps and serialises it; never
//! judges a figure.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Cells kept of one run, over all its sources.
pub const MAX_CELLS: usize = 400_000;
/// Bytes of text kept of one run, over all its sources.
pub const MAX_TEXT_BYTES: usize = 1_000_000;
/// Sources kept of one run.
pub const MAX_SOURCES: usize = 1_000;

/// Everything a report may draw on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub sources: Vec<Source>,
    /// Something did not fit the caps; a figure that stays unproven may have been in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// The tool call's id, `user`, or `earlier:run_x/…`.
    pub id: String,
    pub kind: SourceKind,
    pub body: Body,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// A tool's result of this run.
    Tool,
    /// The user's own words, or the business notes they gave.
    Given,
    /// Proven in an earlier turn of the conversation.
    Earlier,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "lowercase")]
pub enum Body {
    Table {
        columns: Vec<String>,
        rows: Vec<Vec<Value>>,
        /// Rows of the whole result, which may be more than are kept here.
        total_rows: u64,
    },
    Text {
        lines: Vec<String>,
    },
}

impl Evidence {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool's table.
    pub fn table(&mut self, id: &str, columns: Vec<String>, rows: Vec<Vec<Value>>) {
        let total_rows = rows.len() as u64;
        self.push(Source {
            id: id.to_owned(),
            kind: SourceKind::Tool,
            body: Body::Table { columns, rows, total_rows },
        });
    }

    /// Adds a tool's printed output.
    pub fn text(&mut self, id: &str, text: &str) {
        self.push(Source { id: id.to_owned(), kind: SourceKind::Tool, body: Body::lines(text) });
    }

    /// Adds what the user wrote.
    pub fn given(&mut self, id: &str, text: &str) {
        self.push(Source { id: id.to_owned(), kind: SourceKind::Given, body: Body::lines(text) });
    }

    /// Adds a source, cut to what the caps still allow.
    pub fn push(&mut self, mut source: Source) {
        if self.sources.len() >= MAX_SOURCES {
            self.cut = true;
            return;
        }
        let (cells, bytes) = self.size();
        match &mut source.body {
            Body::Table { columns, rows, .. } => {
                let fits = MAX_CELLS.saturating_sub(cells) / columns.len().max(1);
                if rows.len() > fits {
                    rows.truncate(fits);
                    self.cut = true;
                }
            }
            Body::Text { lines } => {
                let mut left = MAX_TEXT_BYTES.saturating_sub(bytes);
                let kept = lines.iter().take_while(|l| take(&mut left, l.len() + 1)).count();
                if kept < lines.len() {
                    lines.truncate(kept);
                    self.cut = true;
                }
            }
        }
        self.sources.push(source);
    }

    /// Adds all that another piece of evidence holds, as far as it fits.
    pub fn extend(&mut self, more: impl IntoIterator<Item = Evidence>) {
        for evidence in more {
            self.cut |= evidence.cut;
            evidence.sources.into_iter().for_each(|source| self.push(source));
        }
    }

    fn size(&self) -> (usize, usize) {
        self.sources.iter().fold((0, 0), |(cells, bytes), source| match &source.body {
            Body::Table { columns, rows, .. } => (cells + columns.len() * rows.len(), bytes),
            Body::Text { lines } => (cells, bytes + lines.iter().map(|l| l.len() + 1).sum::<usize>()),
        })
    }
}

impl Body {
    fn lines(text: &str) -> Self {
        Self::Text { lines: text.lines().map(str::to_owned).collect() }
    }
}

fn take(left: &mut usize, need: usize) -> bool {
    let fits = need <= *left;
    if fits {
        *left -= need;
    }
    fits
}

/// A cell as a number: numbers, and text that is nothing but one (databases hand decimals over as text).
pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64().filter(|f| f.is_finite()),
        Value::String(s)
            if s.len() <= 40
                && s.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) =>
        {
            let plain = s.trim().replace(',', "");
            let (body, scale) = plain.strip_suffix('%').map_or((plain.as_str(), 1.0), |p| (p, 0.01));
            let digits = body.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
            let starts = body.bytes().find(|b| !b"+-.".contains(b)).is_some_and(|b| b.is_ascii_digit());
            let id = body.len() > 1 && body.starts_with('0') && !body.starts_with("0.");
            (digits && starts && !id)
                .then(|| body.parse::<f64>().ok())
                .flatten()
                .map(|v| v * scale)
                .filter(|f| f.is_finite())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cell_is_a_number_only_when_nothing_else_is_in_it() {
        assert_eq!(number(&json!(12.5)), Some(12.5));
        assert_eq!(number(&json!("1,234.50")), Some(1234.5));
        assert_eq!(number(&json!("12.5%")), Some(0.125));
        for other in [json!("2024-01"), json!("007"), json!("12 kg"), json!(null), json!("e5"), json!("")] {
            assert_eq!(number(&other), None, "{other}");
        }
    }

    #[test]
    fn what_does_not_fit_is_cut_and_said() {
        let mut evidence = Evidence::new();
        let line = "x".repeat(MAX_TEXT_BYTES / 2 + 10);
        evidence.text("call_1", &line);
        assert!(!evidence.cut);
        evidence.text("call_2", &line);
        assert!(evidence.cut);
        evidence.table("call_3", vec!["n".to_owned()], vec![vec![json!(1)]; MAX_CELLS + 1]);
        let Body::Table { rows, total_rows, .. } = &evidence.sources[2].body else { panic!("not a table") };
        assert_eq!((rows.len(), *total_rows), (MAX_CELLS, MAX_CELLS as u64 + 1));
    }

    #[test]
    fn evidence_survives_being_kept_with_a_run() {
        let mut evidence = Evidence::new();
        evidence.table("call_1", vec!["地区".to_owned()], vec![vec![json!("华东")]]);
        evidence.given("user", "目标 300 万");
        let kept = serde_json::to_string(&evidence).unwrap();
        assert_eq!(serde_json::from_str::<Evidence>(&kept).unwrap(), evidence);
    }
}
