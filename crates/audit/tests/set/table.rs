//! Made-up tables of the audit set: key columns crossed, number columns drawn or computed, sorted when asked.

use serde_json::{Value, json};

use super::Random;
use super::expr;

pub struct Table {
    pub name: String,
    pub columns: Vec<String>,
    pub keys: usize,
    pub rows: Vec<Vec<Value>>,
}

enum Spec<'a> {
    Key(Vec<String>),
    Drawn(f64, f64, i32),
    Computed(&'a str, i32),
}

/// `name: 地区=华东|华南; 销售额=1..9:2; 率=a/b:4; sort 销售额`
pub fn make(line: &str, random: &mut Random) -> Table {
    if let Some(line) = line.strip_prefix("data ") {
        return real(line);
    }
    let (name, rest) = line.split_once(": ").expect("table name");
    let mut columns = Vec::new();
    let mut specs = Vec::new();
    let mut sort = None;
    for part in rest.split("; ") {
        if let Some(by) = part.strip_prefix("sort ") {
            sort = Some(by);
            continue;
        }
        let (column, spec) = part.split_once('=').expect("column spec");
        columns.push(column.to_owned());
        specs.push(read(spec));
    }
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    let keys = specs.iter().filter(|s| matches!(s, Spec::Key(_))).count();
    for spec in &specs {
        if let Spec::Key(values) = spec {
            rows = rows.iter().flat_map(|row| values.iter().map(move |v| extended(row, v))).collect();
        }
    }
    for row in &mut rows {
        for spec in &specs {
            match spec {
                Spec::Key(_) => {}
                Spec::Drawn(from, to, decimals) => {
                    row.push(json!(rounded(random.between(*from, *to), *decimals)))
                }
                Spec::Computed(..) => row.push(Value::Null),
            }
        }
    }
    for (at, spec) in specs.iter().enumerate() {
        if let Spec::Computed(text, decimals) = spec {
            for r in 0..rows.len() {
                let value = expr::in_row(text, &columns, &rows, r);
                rows[r][at] = json!(rounded(value, *decimals));
            }
        }
    }
    if let Some(by) = sort {
        // Labels stay in the order they were written when they are steps; the numbers move.
        let at = columns.iter().position(|c| c == by).expect("sort column");
        if keys == 1 && columns[0] == "步骤" || columns[0] == "stage" {
            let mut values: Vec<Value> = rows.iter().map(|r| r[at].clone()).collect();
            values.sort_by(|a, b| b.as_f64().partial_cmp(&a.as_f64()).expect("numbers"));
            rows.iter_mut().zip(values).for_each(|(row, v)| row[at] = v);
        } else {
            rows.sort_by(|a, b| b[at].as_f64().partial_cmp(&a[at].as_f64()).expect("numbers"));
        }
    }
    Table { name: name.to_owned(), columns, keys, rows }
}

/// A real result, `name: KEYS [[columns], [row], …]`.
fn real(line: &str) -> Table {
    let (name, rest) = line.split_once(": ").expect("table name");
    let (keys, json) = rest.split_once(' ').expect("keys");
    let mut rows: Vec<Vec<Value>> = serde_json::from_str(json).expect("a result");
    let columns = rows.remove(0).iter().map(expr::plain).collect();
    Table { name: name.to_owned(), columns, keys: keys.parse().expect("keys"), rows }
}

fn extended(row: &[Value], key: &str) -> Vec<Value> {
    let value = key.parse::<i64>().map_or_else(|_| json!(key), |n| json!(n));
    row.iter().cloned().chain([value]).collect()
}

pub fn rounded(value: f64, decimals: i32) -> f64 {
    let by = 10f64.powi(decimals);
    (value * by).round() / by
}

fn read(spec: &str) -> Spec<'_> {
    let (body, decimals) = match spec.rsplit_once(':') {
        Some((body, d)) => (body, d.parse().ok()),
        None => (spec, None),
    };
    if let (Some((from, to)), Some(decimals)) = (body.split_once(".."), decimals) {
        return Spec::Drawn(from.parse().expect("from"), to.parse().expect("to"), decimals);
    }
    if let Some(decimals) = decimals {
        return Spec::Computed(body, decimals);
    }
    if let Some((from, to)) = spec.split_once("..") {
        let (year, first) = from.split_once('-').expect("month");
        let last: u32 = to.split_once('-').expect("month").1.parse().expect("month");
        let first: u32 = first.parse().expect("month");
        return Spec::Key((first..=last).map(|m| format!("{year}-{m:02}")).collect());
    }
    Spec::Key(spec.split('|').map(str::to_owned).collect())
}
