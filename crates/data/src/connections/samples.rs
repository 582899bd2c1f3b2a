//! A few values of each column, for engines whose statistics hold none: the first rows of a table, cut short.
//! Reads no view, no large or binary value, and never waits long: a table without samples is still described.

use ba_protocol::text::shorten;
use serde_json::Value;

use super::schema::{ColumnInfo, TableInfo};
use super::scrub;
use crate::guard::Dialect;

/// Rows looked at, without an order: what the engine finds first.
pub(super) const ROWS: usize = 20;
const COLUMNS: usize = 80;
const SHOWN: usize = 3;
const LENGTH: usize = 30;
/// Characters asked of the server: one more than shown tells that there are more.
const ASKED: usize = LENGTH + 1;

/// The statement that reads samples of a table, and the columns it reads; `None` where statistics do it, or nothing should.
pub(super) fn statement(table: &TableInfo, dialect: Dialect) -> Option<(String, Vec<usize>)> {
    if table.kind != "table" || table.columns.iter().any(|c| !c.samples.is_empty()) {
        return None;
    }
    let wanted = |c: &ColumnInfo| is_plain(&c.kind, dialect) && !scrub::is_secret_name(&c.name);
    let columns: Vec<usize> =
        (0..table.columns.len()).filter(|i| wanted(&table.columns[*i])).take(COLUMNS).collect();
    let picks: Option<Vec<String>> = columns.iter().map(|i| cut(&table.columns[*i].name, dialect)).collect();
    let picks = picks.filter(|p| !p.is_empty())?.join(", ");
    let name: Vec<String> = match dialect {
        // A SQLite table has no schema here, and its name may hold a dot.
        Dialect::Sqlite => vec![dialect.quoted_name(&table.name)],
        _ => table.name.splitn(2, '.').map(|part| dialect.quoted_name(part)).collect(),
    };
    let name = name.join(".");
    let sql = match dialect {
        Dialect::MsSql => format!("SELECT TOP {ROWS} {picks} FROM {name}"),
        _ => format!("SELECT {picks} FROM {name} LIMIT {ROWS}"),
    };
    Some((sql, columns))
}

/// Puts the different values of the rows to their columns.
pub(super) fn collect(table: &mut TableInfo, columns: &[usize], rows: &[Vec<Value>]) {
    for (at, column) in columns.iter().enumerate() {
        let Some(column) = table.columns.get_mut(*column) else { continue };
        for value in rows.iter().filter_map(|row| row.get(at)) {
            let text = match value {
                Value::String(text) => text.trim().to_owned(),
                Value::Number(number) => number.to_string(),
                _ => continue,
            };
            let text = shorten(&scrub::secrets(&text), LENGTH);
            if !text.is_empty() && !column.samples.contains(&text) && column.samples.len() < SHOWN {
                column.samples.push(text);
            }
        }
    }
}

fn is_plain(kind: &str, dialect: Dialect) -> bool {
    let kind = kind.to_ascii_lowercase();
    let heavy: &[&str] = match dialect {
        Dialect::MySql => {
            &["blob", "binary", "json", "bit", "geometry", "point", "line", "polygon", "collection", "vector"]
        }
        Dialect::Sqlite => &["blob"],
        Dialect::MsSql => {
            &["binary", "image", "text", "xml", "variant", "geo", "hierarchyid", "timestamp", "json", "(max)"]
        }
        _ => &[
            "array",
            "map",
            "tuple",
            "nested",
            "json",
            "object",
            "aggregate",
            "variant",
            "dynamic",
            "struct",
            "row",
            "binary",
            "void",
        ],
    };
    !heavy.iter().any(|word| kind.contains(word))
}

fn text_type(dialect: Dialect) -> &'static str {
    if dialect == Dialect::Spark { "STRING" } else { "VARCHAR" }
}

fn cut(name: &str, dialect: Dialect) -> Option<String> {
    let name = dialect.quoted_name(name);
    Some(match dialect {
        Dialect::MySql => format!("LEFT({name}, {ASKED})"),
        Dialect::Sqlite => format!("CASE WHEN typeof({name}) <> 'blob' THEN substr({name}, 1, {ASKED}) END"),
        Dialect::ClickHouse => format!("substringUTF8(toString({name}), 1, {ASKED})"),
        Dialect::Spark | Dialect::Trino => {
            format!("substr(CAST({name} AS {}), 1, {ASKED})", text_type(dialect))
        }
        Dialect::MsSql => format!("LEFT(CAST({name} AS NVARCHAR(4000)), {ASKED})"),
        // PostgreSQL has statistics; DuckDB's tables have a profile.
        Dialect::Postgres | Dialect::DuckDb => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, columns: &[(&str, &str)]) -> TableInfo {
        let column = |(name, kind): &(&str, &str)| ColumnInfo {
            name: (*name).into(),
            kind: (*kind).into(),
            ..ColumnInfo::default()
        };
        TableInfo {
            name: name.into(),
            kind: "table".into(),
            columns: columns.iter().map(column).collect(),
            ..TableInfo::default()
        }
    }

    #[test]
    fn large_values_views_and_names_with_quotes_are_minded() {
        let odd = table("shop.a`b", &[("id", "int"), ("photo", "longblob"), ("x`; DROP", "varchar(9)")]);
        let (sql, columns) = statement(&odd, Dialect::MySql).unwrap();
        assert_eq!(sql, "SELECT LEFT(`id`, 31), LEFT(`x``; DROP`, 31) FROM `shop`.`a``b` LIMIT 20");
        assert_eq!(columns, [0, 2]);
        assert!(crate::guard::check(&sql, Dialect::MySql).is_ok());
        let view = TableInfo { kind: "view".into(), ..odd.clone() };
        assert_eq!(statement(&view, Dialect::MySql), None);
        assert_eq!(statement(&odd, Dialect::Postgres), None);
        assert_eq!(statement(&table("t", &[("p", "BLOB")]), Dialect::Sqlite), None);
    }

    #[test]
    fn samples_are_few_different_and_short() {
        let mut t = table("t", &[("a", "text")]);
        let rows: Vec<Vec<Value>> =
            ["x", "x", " ", "y", "a long text that does not end before it is cut", "z"]
                .map(|v| vec![Value::from(v)])
                .to_vec();
        collect(&mut t, &[0], &rows);
        let samples = &t.columns[0].samples;
        assert_eq!((samples.len(), samples[0].as_str(), samples[1].as_str()), (3, "x", "y"));
        assert!(samples[2].chars().count() <= LENGTH + 1, "{samples:?}");
    }
}
