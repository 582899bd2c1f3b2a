//! Large files are typed from a sample: what comes after it and differs is neither lost nor changed.

use std::fmt::Write as _;

use ba_data::{EmbeddedQuery, IngestRequest, TableSource};
use ba_protocol::file::TableProfile;
use serde_json::{Map, Value, json};

use crate::support::{block, tables};

/// More than the samples hold; the odd row sits between two of them.
const ROWS: usize = 150_000;
const ODD_ROW: usize = 83_200;

struct Late {
    table: TableProfile,
    odd: Vec<Value>,
}

/// Ingests a file and reads its odd row back by the column `id`.
fn ingest(filename: &str, content: &str, id: usize) -> Late {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("stored"), dir.path().join("out"));
    std::fs::write(&path, content).unwrap();
    let request = IngestRequest {
        path,
        filename: filename.into(),
        owner: "tester".into(),
        out_dir: out.clone(),
        options: Default::default(),
    };
    let table = block(tables().ingest(request, &|_, _| {})).unwrap().tables.remove(0);
    let query = EmbeddedQuery {
        owner: "tester".into(),
        tables: vec![TableSource { names: vec!["t".into()], parquet: out.join(&table.parquet) }],
        sql: format!("SELECT * FROM t WHERE id = {id}"),
        params: Map::new(),
        max_rows: 2,
        keep: None,
        timeout: std::time::Duration::from_secs(20),
    };
    let mut rows = block(tables().query(query)).unwrap().rows;
    assert_eq!(rows.len(), 1);
    Late { table, odd: rows.remove(0) }
}

fn csv(usual: &str, odd: &str) -> String {
    let mut text = String::from("id,at,note\n");
    for i in 0..ROWS {
        let at = if i == ODD_ROW { odd } else { usual };
        writeln!(text, "{i},{at},filler for the row {i}").unwrap();
    }
    text
}

fn kinds(table: &TableProfile) -> Vec<(&str, &str)> {
    table.columns.iter().map(|c| (c.name.as_str(), c.kind.as_str())).collect()
}

#[test]
fn a_zone_after_the_sample_is_kept_and_said() {
    let late = ingest("t.csv", &csv("2024-01-02 10:00:00", "2024-01-02 10:00:00+08:00"), ODD_ROW);
    assert_eq!(kinds(&late.table)[1..3], [("at", "TIMESTAMP"), ("at_raw", "VARCHAR")]);
    assert_eq!(late.odd[1..3], [Value::Null, json!("2024-01-02 10:00:00+08:00")]);
    assert!(
        late.table.notes.iter().any(|n| n.text.contains("1 value(s) are times with a zone")),
        "{:?}",
        late.table.notes
    );
}

#[test]
fn a_missing_zone_after_the_sample_is_not_taken_for_utc() {
    let late = ingest("t.csv", &csv("2024-01-02T10:00:00+08:00", "2024-01-02 10:00:00"), ODD_ROW);
    assert_eq!(kinds(&late.table)[1], ("at", "TIMESTAMP"));
    assert_eq!(late.odd[1..3], [Value::Null, json!("2024-01-02 10:00:00")]);
    assert!(
        late.table.notes.iter().any(|n| n.text.contains("times without a zone")),
        "{:?}",
        late.table.notes
    );
}

#[test]
fn a_date_with_a_zone_is_not_cut_to_the_day() {
    let late = ingest("t.csv", &csv("2024-01-02", "2024-01-02 00:00:00+08:00"), ODD_ROW);
    assert_eq!(late.odd[1..3], [Value::Null, json!("2024-01-02 00:00:00+08:00")]);
}

#[test]
fn dates_written_in_one_more_way_stay_dates() {
    let late = ingest("t.csv", &csv("2024-01-02 10:00:00", "2024/1/3 9:30"), ODD_ROW);
    assert_eq!(kinds(&late.table), [("id", "BIGINT"), ("at", "TIMESTAMP"), ("note", "VARCHAR")]);
    assert_eq!(late.odd[1], json!("2024-01-03 09:30:00"));
}

#[test]
fn zoned_and_plain_times_in_the_sample_stay_text_and_it_is_said() {
    let text = "id,at\n1,2024-01-02 10:00:00\n2,2024-01-02 10:00:00+08:00\n3,2024-01-02 11:00:00\n";
    let late = ingest("t.csv", text, 2);
    assert_eq!(kinds(&late.table)[1], ("at", "VARCHAR"));
    assert!(
        late.table.notes.iter().any(|g| g.text.contains("with and without a zone")),
        "{:?}",
        late.table.notes
    );
}

#[test]
fn a_line_longer_than_usual_is_read_whole() {
    let mut text = csv("2024-01-02 10:00:00", "2024-01-02 10:00:00");
    let long = "长".repeat(1_200_000);
    writeln!(text, "{ROWS},2024-01-02 10:00:00,{long}").unwrap();
    text.push_str(&csv("2024-01-02 10:00:00", "2024-01-02 10:00:00").replacen("id,at,note\n", "", 1));
    let late = ingest("t.csv", &text, ROWS);
    assert_eq!(late.table.rows, 2 * ROWS as u64 + 1);
    assert_eq!(kinds(&late.table)[1], ("at", "TIMESTAMP"));
    // A cell of an answer is cut; the table has it all.
    assert!(late.odd[2].as_str().unwrap().chars().all(|c| c == '长'));
}

#[test]
fn json_lines_keep_late_values_late_keys_and_count_broken_lines() {
    let filler = "x".repeat(250);
    let mut text = String::new();
    for i in 0..ROWS {
        let line = match i {
            ODD_ROW => json!({"id": i, "n": "about 5", "at": "2024-01-02T10:00:00+08:00", "late": "new"}),
            _ => json!({"id": i, "n": 1, "at": "2024-01-02 10:00:00", "filler": filler}),
        };
        writeln!(text, "{line}").unwrap();
    }
    text.push_str("{broken\n");
    let late = ingest("t.jsonl", &text, ODD_ROW);
    assert_eq!(late.table.rows, ROWS as u64);
    let names: Vec<&str> = late.table.columns.iter().map(|c| c.name.as_str()).collect();
    let cell = |name: &str| &late.odd[names.iter().position(|n| *n == name).unwrap()];
    assert_eq!((cell("late"), cell("at_raw")), (&json!("new"), &json!("2024-01-02T10:00:00+08:00")));
    assert_eq!(cell("n"), &json!("about 5"));
    assert!(late.table.notes.iter().any(|n| n.text.contains("1 line(s)")), "{:?}", late.table.notes);
}
