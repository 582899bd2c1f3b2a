//! Finds the question's words among the values of the tables: a profile lists only a few values of a column, the table
//! has them all. One statement for all columns.

use crate::glossary::Glossary;
use crate::norm::{is_cjk, normal};
use crate::observe::Grid;
use crate::plan::dialect::Dialect;
use crate::table::{Kind, Role, Table};
use crate::turn::Turn;

const MAX_COLUMNS: usize = 40;
/// A column of so few values is learned as a whole: a question may say any of them in another form.
const FEW: u64 = 30;

/// The statement that looks for values mentioned in the questions; nothing when the profiles already list
/// all values. Tables of one connection, or the uploads.
pub fn lookup(
    glossary: &Glossary,
    tables: &[Table],
    connection: Option<&str>,
    turn: &Turn,
    unknown: &[String],
) -> Option<String> {
    let mut text = normal(&turn.question);
    for earlier in &turn.earlier {
        text.push(' ');
        text.push_str(&normal(earlier));
    }
    let mut text: String = text.chars().take(2000).collect();
    let said: Vec<&Vec<String>> =
        glossary.value_groups.iter().filter(|g| g.iter().any(|v| text.contains(v.as_str()))).collect();
    for alias in said.into_iter().flatten() {
        text.push(' ');
        text.push_str(alias);
    }
    let mut parts = Vec::new();
    for (t, table) in tables.iter().enumerate().filter(|(_, t)| t.connection.as_deref() == connection) {
        for (c, column) in table.columns.iter().enumerate() {
            if column.kind != Kind::Text
                || column.role == Role::Flag
                || column.values_complete
                || parts.len() >= MAX_COLUMNS
            {
                continue;
            }
            parts.push(part(t, c, table, &text, unknown));
        }
    }
    (!parts.is_empty()).then(|| parts.join("\nUNION ALL\n"))
}

fn part(t: usize, c: usize, table: &Table, text: &str, unknown: &[String]) -> String {
    let dialect = table.dialect;
    let (from, column) =
        (dialect.table(&table.sql_name), dialect.text(&dialect.name(&table.columns[c].name)));
    let sized = format!("{} BETWEEN 1 AND 60", dialect.length(&format!("trim({column})")));
    let (also, most) = if table.columns[c].distinct <= FEW {
        (String::new(), FEW)
    } else {
        let mut conditions = vec![dialect.holds(&dialect.literal(text), &format!("lower(trim({column}))"))];
        let wanted = unknown.iter().filter(|w| w.chars().count() >= 3 || w.chars().all(is_cjk));
        conditions.extend(wanted.map(|w| dialect.holds(&format!("lower({column})"), &dialect.literal(w))));
        (format!(" AND ({})", conditions.join(" OR ")), 20)
    };
    let select = format!(
        "SELECT {t} AS t, {c} AS c, {column} AS v FROM {from} WHERE {sized}{also} GROUP BY 3 LIMIT {most}"
    );
    // SQLite has no brackets around the parts of a union.
    if dialect == Dialect::DuckDb {
        format!("({select})")
    } else {
        format!("SELECT * FROM ({select}) AS q{t}_{c}")
    }
}

/// Adds the values found to what is known of the columns.
pub fn learn(tables: &mut [Table], found: &Grid) {
    for r in 0..found.rows.len() {
        let index = |column: usize| found.cell(r, column).and_then(|v| v.parse::<usize>().ok());
        let (Some(t), Some(c), Some(value)) = (index(0), index(1), found.cell(r, 2)) else { continue };
        if let Some(column) = tables.get_mut(t).and_then(|t| t.columns.get_mut(c))
            && !column.values.iter().any(|v| v == value)
        {
            column.values.push(value.to_owned());
            column.values_complete |= column.values.len() as u64 >= column.distinct;
        }
    }
}
