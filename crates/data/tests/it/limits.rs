//! Long cells come cut and it is said (SPEC B9); no listing shows a password. What answers may take of memory: `budgets`.

use serde_json::json;

use crate::databases::{ask, connect, my, pg};
use crate::lists::sqlite;
use crate::servers::mariadb;
use crate::support::block;

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
