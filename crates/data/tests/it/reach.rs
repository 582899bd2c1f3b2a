//! A server that cannot be reached says so at once, with its reason (SPEC B9).

use ba_data::{Connections, DataError};
use serde_json::json;

use crate::databases::{ask, connect, one};
use crate::servers::{mariadb, postgres};

/// Had the pool been waited for, it would have said that its time was up.
fn refusal(db: &Connections) -> String {
    let error = ask(db, "SELECT 1", json!({}), 1).unwrap_err();
    assert!(matches!(error, DataError::Connection { .. }), "{error:?}");
    error.to_string()
}

#[test]
fn a_refused_connection_is_said_at_once() {
    for url in [
        "postgres://reader:s3cret-word@127.0.0.1:1/postgres",
        "mysql://reader:s3cret-word@127.0.0.1:1/shop",
        "clickhouse://reader:s3cret-word@127.0.0.1:1/shop",
    ] {
        let db = connect(url, false, 20);
        for _ in 0..2 {
            let said = refusal(&db);
            assert!(said.contains("connection refused"), "{url}: {said}");
        }
    }
}

#[test]
fn an_unknown_host_and_a_wrong_password_are_named() {
    for scheme in ["postgres", "mysql", "clickhouse"] {
        let said = refusal(&connect(&format!("{scheme}://u:s3cret-word@no-such-host.invalid/d"), false, 20));
        assert!(said.contains("unknown host"), "{scheme}: {said}");
    }
    let url = format!("postgres://reader:s3cret-word-wrong@127.0.0.1:{}/postgres", postgres().port);
    let said = refusal(&connect(&url, false, 20));
    assert!(said.contains("password authentication failed for user \"reader\""), "{said}");
    let url = format!("mysql://reader:s3cret-word-wrong@127.0.0.1:{}/shop", mariadb().port);
    let said = refusal(&connect(&url, false, 20));
    assert!(said.contains("Access denied for user 'reader'"), "{said}");
    assert!(!said.contains("s3cret"), "{said}");
}

#[test]
fn more_questions_than_connections_wait_for_each_other() {
    let url = format!("postgres://reader:s3cret-word@127.0.0.1:{}/postgres", postgres().port);
    let db = connect(&url, false, 20);
    let slow = "SELECT count(*) FROM sales a, sales b WHERE b.id < 300 AND a.amount + b.amount < 0";
    let all = (0..9).map(|_| async { db.query("db", slow, &serde_json::Map::new(), 1).await.unwrap().rows });
    for rows in crate::support::block(futures::future::join_all(all)) {
        assert_eq!(rows, [[json!(0)]]);
    }
    assert_eq!(one(&db, "SELECT 1 AS x"), [json!(1)]);
}
