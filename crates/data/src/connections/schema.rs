//! What a database holds, small enough to show: all of a small one, names only of a large one, details by search.

use std::fmt::Write;

use ba_protocol::text::{one_line, shorten};
use serde::{Deserialize, Serialize};

use super::scrub;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableInfo {
    /// With its schema where that is not the default one: `sales.orders`.
    pub name: String,
    /// `table` or `view`.
    pub kind: String,
    pub comment: String,
    /// The server's own estimate.
    pub rows: Option<u64>,
    pub columns: Vec<ColumnInfo>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnInfo {
    pub name: String,
    pub kind: String,
    pub comment: String,
    /// `PK`, `→ orders` for a foreign key, `PK → orders` for both.
    pub key: String,
    /// A few values: of the server's statistics, or of the first rows.
    pub samples: Vec<String>,
}

/// `PK`, `→ orders`, or `PK → orders` where a key is both.
pub(super) fn key(primary: bool, foreign: &str) -> String {
    match (primary, foreign) {
        (true, "") => "PK".to_owned(),
        (true, foreign) => format!("PK {foreign}"),
        (false, foreign) => foreign.to_owned(),
    }
}

/// Puts a column to its table. Rows come one per column, those of a table together.
pub(super) fn add_column(tables: &mut Vec<TableInfo>, table: TableInfo, column: ColumnInfo) {
    if tables.last().is_none_or(|last| last.name != table.name) {
        tables.push(table);
    }
    if let Some(last) = tables.last_mut() {
        last.columns.push(column);
    }
}

/// The table as it may be shown: comments of tables on other servers hold their passwords.
pub(super) fn without_secrets(mut table: TableInfo) -> TableInfo {
    table.comment = scrub::secrets(&table.comment);
    for column in &mut table.columns {
        column.comment = scrub::secrets(&column.comment);
        if scrub::is_secret_name(&column.name) {
            column.samples.clear();
        }
        column.samples.iter_mut().for_each(|sample| *sample = scrub::secrets(sample));
    }
    table
}

/// The part of a schema that answers one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaView {
    pub text: String,
    pub shown: usize,
    pub total: usize,
}

/// Tables shown with all their columns.
pub(super) const DETAILED: usize = 12;
/// Names shown when there are more.
const NAMED: usize = 1000;
const COLUMNS: usize = 80;

/// The tables that answer a question, best first; all of them without one.
pub(super) fn pick<'a>(tables: &'a [TableInfo], search: Option<&str>) -> Vec<&'a TableInfo> {
    match words(search) {
        None => tables.iter().collect(),
        Some(text) => ranked(tables, text),
    }
}

/// Tables with a sampled value that has the words.
pub(super) fn with_value<'a>(
    tables: &'a [std::sync::Arc<TableInfo>],
    search: Option<&str>,
) -> Vec<&'a TableInfo> {
    let wanted = search.unwrap_or_default().to_lowercase();
    let words: Vec<&str> = wanted.split_whitespace().collect();
    tables.iter().map(AsRef::as_ref).filter(|t| t.columns.iter().any(|c| has_value(c, &words))).collect()
}

fn has_value(column: &ColumnInfo, words: &[&str]) -> bool {
    column.samples.iter().any(|sample| words.iter().any(|w| sample.to_lowercase().contains(w)))
}

fn words(search: Option<&str>) -> Option<&str> {
    search.map(str::trim).filter(|s| !s.is_empty())
}

impl SchemaView {
    /// Shows the tables picked out of `total`.
    pub(super) fn of(picked: &[&TableInfo], total: usize, search: Option<&str>, zone: Option<&str>) -> Self {
        let text = if picked.is_empty() {
            words(search).map_or_else(
                || "the database holds no table that this account may see".to_owned(),
                |text| {
                    format!("no table matches `{text}`; there are {total}. SHOW TABLES lists their names.")
                },
            )
        } else if picked.len() <= DETAILED {
            picked.iter().map(|t| described(t)).collect::<String>()
        } else {
            listed(picked)
        };
        let zone = zone.map(|zone| format!("session time zone: {zone}\n")).unwrap_or_default();
        Self { text: format!("{zone}{}", text.trim_end()), shown: picked.len(), total }
    }
}

fn listed(tables: &[&TableInfo]) -> String {
    let mut out = format!(
        "{} tables (name, columns, about how many rows); DESCRIBE <table> or SHOW TABLES LIKE '%word%' shows columns:\n",
        tables.len()
    );
    for table in tables.iter().take(NAMED) {
        let _ = write!(out, "{} {}", table.name, table.columns.len());
        if let Some(rows) = table.rows {
            let _ = write!(out, " ~{rows}");
        }
        if !table.comment.is_empty() {
            let _ = write!(out, " {}", shorten(&one_line(&table.comment), 40));
        }
        out.push('\n');
    }
    out
}

fn described(table: &TableInfo) -> String {
    let mut out = format!("{} ({}", table.name, table.kind);
    if let Some(rows) = table.rows {
        let _ = write!(out, ", about {rows} rows");
    }
    out.push(')');
    if !table.comment.is_empty() {
        let _ = write!(out, " — {}", shorten(&one_line(&table.comment), 200));
    }
    out.push('\n');
    for column in table.columns.iter().take(COLUMNS) {
        let _ = write!(out, "  {} {}", column.name, column.kind);
        if !column.key.is_empty() {
            let _ = write!(out, " {}", column.key);
        }
        if !column.comment.is_empty() {
            let _ = write!(out, " — {}", shorten(&one_line(&column.comment), 80));
        }
        if !column.samples.is_empty() {
            let _ = write!(out, " e.g. {}", one_line(&column.samples.join(", ")));
        }
        out.push('\n');
    }
    let rest = table.columns.len().saturating_sub(COLUMNS);
    if rest > 0 {
        let _ = writeln!(out, "  … and {rest} more columns");
    }
    out
}

/// Tables that fit the words, best first: name, then comment, then columns; similar names when nothing fits.
fn ranked<'a>(tables: &'a [TableInfo], search: &str) -> Vec<&'a TableInfo> {
    let wanted = search.to_lowercase().replace(['%', '*', '"', '`'], "");
    let words: Vec<&str> = wanted.split_whitespace().collect();
    let hit = |text: &str| words.iter().any(|w| text.to_lowercase().contains(w));
    let score = |table: &TableInfo| {
        let name = table.name.to_lowercase();
        if name == wanted || name.rsplit('.').next() == Some(wanted.as_str()) {
            return 100;
        }
        let columns = table.columns.iter().any(|c| hit(&c.name) || hit(&c.comment) || has_value(c, &words));
        i32::from(hit(&name)) * 50 + i32::from(hit(&table.comment)) * 20 + i32::from(columns) * 10
    };
    let mut found: Vec<(i32, &TableInfo)> =
        tables.iter().map(|t| (score(t), t)).filter(|(s, _)| *s > 0).collect();
    if found.iter().any(|(s, _)| *s == 100) {
        found.retain(|(s, _)| *s == 100);
    }
    if found.is_empty() {
        let similar = |t: &&TableInfo| strsim::jaro_winkler(&t.name.to_lowercase(), &wanted) > 0.85;
        return tables.iter().filter(similar).take(5).collect();
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
    found.into_iter().map(|(_, t)| t).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(n: usize) -> Vec<TableInfo> {
        let column = ColumnInfo { name: "金额".into(), kind: "numeric".into(), ..ColumnInfo::default() };
        let table = |i| TableInfo {
            name: format!("t_{i}"),
            kind: "table".into(),
            columns: vec![column.clone()],
            ..TableInfo::default()
        };
        let mut all: Vec<TableInfo> = (0..n).map(table).collect();
        all.push(TableInfo { name: "sales.orders".into(), comment: "销售订单".into(), ..table(0) });
        all
    }

    fn view(tables: &[TableInfo], search: Option<&str>) -> SchemaView {
        SchemaView::of(&pick(tables, search), tables.len(), search, None)
    }

    #[test]
    fn nine_hundred_tables_fit_and_one_can_be_found() {
        let tables = many(900);
        let all = view(&tables, None);
        assert_eq!((all.shown, all.total), (901, 901));
        assert!(all.text.len() < 20_000, "{}", all.text.len());
        assert!(view(&tables, Some("订单")).text.contains("sales.orders"));
        let one = view(&tables, Some("orders"));
        assert_eq!(one.shown, 1);
        assert!(one.text.contains("金额 numeric"));
        assert_eq!(view(&tables, Some("zzz")).shown, 0);
        assert_eq!(view(&tables, Some("sales.ordres")).shown, 1);
    }
}
