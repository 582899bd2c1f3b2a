//! Tokens that the same table costs as JSON, Markdown, TOON and CSV (SPEC E10). Prints the ratio to JSON records.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints")]

use ba_protocol::table::{self, Column};
use serde_json::{Map, Value, json};

fn main() {
    let count = |text: &str| bpe_openai::o200k_base().count(text);
    println!("{:<34} {:>9} {:>9} {:>9} {:>9} {:>9}", "table", "json", "json rows", "markdown", "toon", "csv");
    for (name, columns, rows) in tables() {
        let base = count(&records(&columns, &rows));
        let sizes = [
            arrays(&columns, &rows),
            markdown(&columns, &rows),
            toon(&columns, &rows),
            table::encode(&columns, &rows),
        ]
        .map(|text| count(&text));
        let ratio = |n: usize| format!("{n} {:.2}", n as f64 / base as f64);
        println!(
            "{name:<34} {base:>9} {:>9} {:>9} {:>9} {:>9}",
            ratio(sizes[0]),
            ratio(sizes[1]),
            ratio(sizes[2]),
            ratio(sizes[3])
        );
    }
}

type Table = (&'static str, Vec<Column>, Vec<Vec<Value>>);

fn columns(names: &[&str]) -> Vec<Column> {
    names.iter().map(|n| Column::new(*n, "")).collect()
}

fn tables() -> Vec<Table> {
    let regions = ["华东", "华北", "华南", "西南"];
    let sales = (0..50)
        .map(|i| {
            vec![
                json!(format!("2024-{:02}-{:02}", i % 12 + 1, i % 28 + 1)),
                json!(regions[i % 4]),
                json!(format!("P{:04}", i * 37 % 2000)),
                json!(i % 20),
                json!(f64::from(i as u32) * 13.37),
            ]
        })
        .collect();
    let english = (0..50)
        .map(|i| {
            vec![
                json!(i + 1),
                json!(format!("Customer {}", i * 31 % 97)),
                json!(["North America", "EMEA", "APAC"][i % 3]),
                json!(i * 991 % 5000),
                if i % 5 == 0 { Value::Null } else { json!(f64::from(i as u32) / 7.0) },
            ]
        })
        .collect();
    let sparse = (0..30)
        .map(|i| (0..12).map(|j| if (i + j) % 4 == 0 { json!(i * j) } else { Value::Null }).collect())
        .collect();
    let text = (0..20)
        .map(|i| vec![json!(i), json!(format!("客户反馈：第{i}批货物\"破损\"，要求退款, 已联系物流"))])
        .collect();
    vec![
        ("sales, Chinese, 50 × 5", columns(&["日期", "地区", "产品", "数量", "金额"]), sales),
        ("customers, English, 50 × 5", columns(&["id", "customer", "segment", "orders", "score"]), english),
        ("sparse, 30 × 12", columns(&["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]), sparse),
        ("free text, 20 × 2", columns(&["id", "note"]), text),
        ("one figure, 1 × 1", columns(&["sum(amount)"]), vec![vec![json!(123_456.78)]]),
    ]
}

fn records(columns: &[Column], rows: &[Vec<Value>]) -> String {
    let record = |row: &Vec<Value>| {
        let pairs: Map<String, Value> =
            columns.iter().map(|c| c.name.clone()).zip(row.iter().cloned()).collect();
        Value::Object(pairs)
    };
    serde_json::to_string(&rows.iter().map(record).collect::<Vec<_>>()).unwrap()
}

fn arrays(columns: &[Column], rows: &[Vec<Value>]) -> String {
    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    serde_json::to_string(&json!({"columns": names, "rows": rows})).unwrap()
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

fn markdown(columns: &[Column], rows: &[Vec<Value>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = line(columns.iter().map(|c| c.name.clone()).collect());
    out.push_str(&line(columns.iter().map(|_| "---".to_owned()).collect()));
    for row in rows {
        out.push_str(&line(row.iter().map(|v| cell(v).replace('|', "\\|")).collect()));
    }
    out
}

/// Token-oriented object notation: a header with the count, then indented comma-separated rows; null is spelled out.
fn toon(columns: &[Column], rows: &[Vec<Value>]) -> String {
    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    let mut out = format!("rows[{}]{{{}}}:\n", rows.len(), names.join(","));
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .map(|v| match v {
                Value::Null => "null".to_owned(),
                Value::String(s) if s.contains([',', '"', ':']) => serde_json::to_string(s).unwrap(),
                other => cell(other),
            })
            .collect();
        out.push_str(&format!("  {}\n", cells.join(",")));
    }
    out
}
