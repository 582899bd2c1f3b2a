//! Tables of a configured database: its schema and one statement of facts a table become the profiles that uploads have.
//! Reads and writes text only; the asking is the analyst's.

use ba_protocol::file::{ColumnProfile, TableProfile, TopValue};
use serde_json::Value;

use crate::glossary::Glossary;
use crate::norm::{Lang, is_cjk, name_words, normal};
use crate::observe::Grid;
use crate::plan::dialect::Dialect;
use crate::table::Table;

/// A database that may be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub name: String,
    pub dialect: Dialect,
}

/// A table as the schema tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Described {
    pub name: String,
    pub about: String,
    /// The server's estimate.
    pub rows: Option<u64>,
    pub columns: Vec<Field>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub kind: String,
    pub comment: String,
}

/// What a column holds, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Integer,
    Number,
    Bool,
    Text,
    Date,
    Timestamp,
    /// Neither compared nor added up.
    Other,
}

/// Columns looked at in one table.
const MAX_COLUMNS: usize = 60;
/// Above so many rows, different values are counted in a part of the table.
const LARGE: u64 = 5_000_000;
const PART: u64 = 200_000;
/// Characters of the least and greatest text.
const SHOWN: usize = 60;

/// The tables in the answer to `SHOW COLUMNS`. Of a list that was cut, the last table may not be whole and is left out.
pub fn described(grid: &Grid) -> Vec<Described> {
    let at = |name: &str| grid.names.iter().position(|n| n == name);
    let (Some(table), Some(column), Some(kind)) = (at("table"), at("column"), at("type")) else {
        return Vec::new();
    };
    let text = |row: usize, column: Option<usize>| {
        column.and_then(|c| grid.cell(row, c)).unwrap_or_default().to_owned()
    };
    let mut out: Vec<Described> = Vec::new();
    for row in 0..grid.rows.len() {
        let name = text(row, Some(table));
        if out.last().is_none_or(|last| last.name != name) {
            let rows = text(row, at("rows")).parse().ok();
            out.push(Described { name, rows, about: text(row, at("about")), columns: Vec::new() });
        }
        if let Some(last) = out.last_mut().filter(|t| t.columns.len() < MAX_COLUMNS) {
            let comment = text(row, at("comment"));
            last.columns.push(Field { name: text(row, Some(column)), kind: text(row, Some(kind)), comment });
        }
    }
    if grid.cut {
        out.pop();
    }
    out
}

/// How much of a table the question names: its own name counts most.
pub fn relevance(table: &Described, question: &str) -> usize {
    let asked = normal(question);
    let said = |name: &str| {
        let words = name_words(name);
        words.split(' ').any(|w| {
            let stem = w.strip_suffix('s').unwrap_or(w);
            stem.chars().count() >= if stem.chars().all(is_cjk) { 2 } else { 3 } && asked.contains(stem)
        })
    };
    let columns = table.columns.iter().filter(|c| said(&c.name) || said(&c.comment)).count();
    usize::from(said(&table.name) || said(&table.about)) * 100 + columns
}

/// The statement that tells a table's size and, for each column, how many are filled, how many differ, the least and
/// the greatest.
pub fn facts_sql(table: &Described, dialect: Dialect) -> String {
    let from = dialect.table(&table.name);
    let mut parts = vec!["count(*) AS n".to_owned()];
    for (i, field) in table.columns.iter().enumerate() {
        let class = class_of(&field.kind, dialect);
        let column = dialect.name(&field.name);
        if class == Class::Other {
            continue;
        }
        parts.push(format!("count({column}) AS f{i}"));
        let different = if table.rows.is_some_and(|n| n > LARGE) {
            format!(
                "(SELECT count(DISTINCT {column}) FROM (SELECT {column} FROM {from} LIMIT {PART}) AS s{i})"
            )
        } else {
            format!("count(DISTINCT {column})")
        };
        parts.push(format!("{different} AS d{i}"));
        if class == Class::Bool && dialect == Dialect::Postgres {
            continue;
        }
        let end = |call: &str| match class {
            Class::Text => format!("substr({call}({}), 1, {SHOWN})", dialect.text(&column)),
            _ => format!("{call}({column})"),
        };
        parts.push(format!("{} AS a{i}, {} AS b{i}", end("min"), end("max")));
        if dialect == Dialect::Sqlite {
            // A SQLite column holds what it is given, whatever its type says.
            parts.push(format!(
                "sum(typeof({column}) IN ('integer', 'real')) AS q{i}, count(date({column})) AS k{i}"
            ));
        }
    }
    format!("SELECT {}\nFROM {from}", parts.join(",\n       "))
}

/// The table as the rules see it. Without facts, nothing is known of its values.
pub fn table(
    connection: &Connection,
    described: &Described,
    facts: Option<&Grid>,
    lang: Lang,
    glossary: &Glossary,
) -> Table {
    let fact = |name: String| {
        let grid = facts?;
        grid.cell(0, grid.names.iter().position(|n| *n == name)?)
    };
    let count = |name: String| fact(name).and_then(|v| v.parse::<u64>().ok());
    let rows = count("n".to_owned()).or(described.rows).unwrap_or(0);
    let mut columns = Vec::new();
    let mut names = Vec::new();
    for (i, field) in described.columns.iter().enumerate() {
        let (low, high) = (fact(format!("a{i}")), fact(format!("b{i}")));
        let filled = count(format!("f{i}"));
        let mut class = class_of(&field.kind, connection.dialect);
        if connection.dialect == Dialect::Sqlite {
            let all = |n: String| filled.is_some_and(|f| f > 0 && count(n) == Some(f));
            class = held(class, all(format!("q{i}")), all(format!("k{i}")), low, high);
        }
        if class == Class::Other {
            continue;
        }
        let distinct = count(format!("d{i}"));
        // Two different values are the least and the greatest.
        let known =
            [low, high].into_iter().flatten().take(distinct.filter(|d| *d <= 2).map_or(0, |d| d as usize));
        let top = known.map(|v| TopValue { value: v.to_owned(), count: 0 }).collect();
        columns.push(ColumnProfile {
            name: called(field, lang).to_owned(),
            kind: kind(class).to_owned(),
            nulls: filled.map_or(0, |f| rows.saturating_sub(f)),
            // Of a table that was not looked at, every column may hold many.
            distinct: distinct.unwrap_or(rows.max(1000)),
            min: low.map(|v| Value::String(v.to_owned())),
            max: high.map(|v| Value::String(v.to_owned())),
            top,
            ..ColumnProfile::default()
        });
        names.push(field.name.clone());
    }
    let profile = TableProfile { name: described.name.clone(), rows, columns, ..TableProfile::default() };
    let title = format!("{} ({})", described.name, connection.name);
    let mut table = Table::new(&described.name, &title, &profile, glossary);
    // Comments are for matching; SQL and people see the columns' own names.
    for (column, name) in table.columns.iter_mut().zip(names) {
        column.name = name;
    }
    let own = described.name.rsplit('.').next().unwrap_or(&described.name);
    let short =
        lang == Lang::Zh && described.about.chars().any(is_cjk) && described.about.chars().count() <= 12;
    table.rows_called = if short { described.about.clone() } else { own.to_owned() };
    table.connection = Some(connection.name.clone());
    table.dialect = connection.dialect;
    table.text_dates = connection.dialect == Dialect::Sqlite;
    table
}

/// A Chinese question names a column by its comment, where that is a name.
fn called(field: &Field, lang: Lang) -> &str {
    let comment = field.comment.split(['，', ',', '；', ';', '：', ':', '。']).next().unwrap_or("").trim();
    let named = lang == Lang::Zh && comment.chars().any(is_cjk) && comment.chars().count() <= 12;
    if named && !field.name.chars().any(is_cjk) { comment } else { &field.name }
}

fn kind(class: Class) -> &'static str {
    match class {
        Class::Integer => "BIGINT",
        Class::Number => "DOUBLE",
        Class::Bool => "BOOLEAN",
        Class::Text | Class::Other => "VARCHAR",
        Class::Date => "DATE",
        Class::Timestamp => "TIMESTAMP",
    }
}

fn class_of(declared: &str, dialect: Dialect) -> Class {
    let kind = declared.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| kind.contains(w));
    if has(&["json", "blob", "binary", "bytea", "xml", "geom", "point", "polygon", "[]", "array", "vector"])
        || has(&["interval", "range", "circle", "box", "path", "lseg", "line", "bit", "hstore", "money"])
    {
        return Class::Other;
    }
    // MySQL's yes and no.
    if kind.starts_with("tinyint(1)") && dialect == Dialect::MySql {
        return Class::Integer;
    }
    if has(&["bool"]) {
        return Class::Bool;
    }
    if has(&["timestamp", "datetime"]) {
        return Class::Timestamp;
    }
    if kind.starts_with("date") {
        return Class::Date;
    }
    if kind.starts_with("enum") || kind.starts_with("set(") || has(&["char", "text"]) {
        return Class::Text;
    }
    if has(&["int", "serial"]) || kind == "year" || kind.starts_with("year(") {
        return Class::Integer;
    }
    if has(&["numeric", "decimal", "number", "real", "float", "double"]) {
        return Class::Number;
    }
    Class::Text
}

/// What a SQLite column really holds.
fn held(declared: Class, numbers: bool, dates: bool, low: Option<&str>, high: Option<&str>) -> Class {
    let iso =
        |v: Option<&str>| v.and_then(|v| v.get(..10)).is_some_and(|d| d.parse::<jiff::civil::Date>().is_ok());
    match declared {
        Class::Other => Class::Other,
        _ if numbers => match declared {
            Class::Bool if [low, high].iter().all(|v| matches!(v, Some("0" | "1"))) => Class::Bool,
            Class::Integer | Class::Bool => Class::Integer,
            Class::Number => Class::Number,
            _ if [low, high].iter().flatten().all(|v| !v.contains('.')) => Class::Integer,
            _ => Class::Number,
        },
        _ if dates && iso(low) && iso(high) => {
            let timed = high.is_some_and(|v| v.len() > 10);
            if timed { Class::Timestamp } else { Class::Date }
        }
        _ => Class::Text,
    }
}

#[cfg(test)]
#[path = "source/tests.rs"]
mod tests;
