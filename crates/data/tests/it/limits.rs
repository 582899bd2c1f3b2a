//! No answer of a database grows the server, however long its cells or many its rows (SPEC B9); no listing shows a password.

use ba_data::{Connections, DataError};
use serde_json::json;

use crate::databases::{ask, connect, my, one, pg};
use crate::lists::sqlite;
use crate::servers::mariadb;
use crate::support::block;

/// Memory that this process holds now, in MB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

fn too_large(db: &Connections, sql: &str) {
    let got = ask(db, sql, json!({}), 10_000);
    assert!(
        matches!(&got, Err(DataError::Query { code, hint: Some(hint), .. })
        if code == "RESULT_TOO_LARGE" && hint.contains("left(column, n)")),
        "{sql}: {:?}",
        got.map(|r| r.rows.len())
    );
    // The pool is still good.
    assert_eq!(one(db, "SELECT 1 AS x"), [json!(1)]);
}

#[test]
fn many_long_cells_end_the_query() {
    let dir = tempfile::tempdir().unwrap();
    let before = memory();
    too_large(&pg(60), "SELECT repeat('x', 90000) FROM generate_series(1, 9000)");
    too_large(&my(60), "SELECT REPEAT('x', 1000000) FROM sales");
    let long = "SELECT printf('%.*c', 90000, 'x') FROM sales";
    too_large(&sqlite(&dir), long);
    assert!(memory() < before + 600, "{before} MB, then {} MB", memory());
}

#[test]
fn a_cell_of_500_mb_never_comes_over() {
    let before = memory();
    let got = ask(&pg(60), "SELECT repeat('长', 160000000) AS t, 7 AS n", json!({}), 1).unwrap();
    assert_eq!((got.rows[0][0].as_str().unwrap().chars().count(), &got.rows[0][1]), (100_000, &json!(7)));
    assert!(got.notes[0].contains("1 value(s) are longer than 100000 characters"), "{:?}", got.notes);
    assert!(memory() < before + 400, "{before} MB, then {} MB", memory());
    let bytes = ask(&pg(60), "SELECT decode(repeat('00', 20000000), 'hex')", json!({}), 1).unwrap();
    assert_eq!((bytes.rows[0][0].as_str().unwrap().len(), bytes.notes.len()), (100_000, 1));
}

#[test]
fn long_cells_are_cut_and_it_is_said() {
    let dir = tempfile::tempdir().unwrap();
    for (db, sql) in [
        (my(20), "SELECT REPEAT('长', 2000000) AS t, REPEAT('x', 100000) AS u"),
        (sqlite(&dir), "SELECT replace(hex(zeroblob(100000)), '0', '长') AS t, 'x' AS u"),
        (pg(20), "SELECT repeat('长', 100001) AS t, repeat('x', 100000) AS u"),
    ] {
        let got = ask(&db, sql, json!({}), 1).unwrap();
        assert_eq!(got.rows[0][0].as_str().unwrap().chars().count(), 100_000, "{sql}");
        assert_eq!(got.notes.len(), 1, "{sql}: {:?}", got.notes);
        assert!(got.notes[0].starts_with("1 value(s)"), "{:?}", got.notes);
    }
}

#[test]
fn passwords_of_other_servers_are_not_shown() {
    let db = connect(&format!("mysql://reader:s3cret-word@127.0.0.1:{}/shop", mariadb().port), false, 20);
    let listed = block(db.schema("db", Some("remote"))).unwrap().text;
    assert!(listed.contains("remote_orders (") && listed.contains("host \"node1\""), "{listed}");
    let mut shown = listed;
    for sql in [
        "SHOW CREATE TABLE remote_orders",
        "SELECT table_comment FROM information_schema.tables WHERE table_name = 'remote_orders'",
        "SELECT column_comment FROM information_schema.columns WHERE table_name = 'remote_orders'",
    ] {
        let got = ask(&db, sql, json!({}), 10).unwrap();
        assert!(!got.rows.is_empty(), "{sql}");
        shown.push_str(&format!("{:?}", got.rows));
    }
    assert!(!shown.contains("n0de-pass") && shown.contains("<secret>"), "{shown}");
}
