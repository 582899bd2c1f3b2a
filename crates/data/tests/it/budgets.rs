//! No answer of a database grows this process, however long its cells, rows and errors are or however many (SPEC H1). Each
//! is sent ten times its budget by a real server, in a process of its own whose peak of memory is watched.

use ba_data::{Connections, DataError};
use ba_testkit::{Edge, budget};
use serde_json::{Map, json};

use crate::databases::{ask, connect, my, one, pg};
use crate::lists::sqlite;
use crate::support::{block, spawn};

fn too_large(db: &Connections, sql: &str) {
    let got = ask(db, sql, json!({}), 10_000);
    assert!(
        matches!(&got, Err(DataError::Query { code, hint: Some(hint), .. })
        if code == "RESULT_TOO_LARGE" && hint.contains("left(column, n)")),
        "{sql}: {:?}",
        got.map(|r| r.rows.len())
    );
}

/// The server is started, and asked once, before the measuring begins.
fn ready(db: Connections) -> Connections {
    assert_eq!(one(&db, "SELECT 1 AS x"), [json!(1)]);
    db
}

fn measure(
    test: &str,
    name: &str,
    sent_mb: u64,
    db: impl FnOnce() -> Connections,
    attack: impl FnOnce(&Connections),
) {
    let edge = Edge { name, budget_mb: 64, sent_mb, most_mb: 256 };
    let attack = |db: Connections| {
        attack(&db);
        assert_eq!(one(&db, "SELECT 1 AS x"), [json!(1)], "it still answers");
    };
    budget(test, &edge, || ready(db()), attack);
}

#[test]
fn postgres_cells_are_cut_by_the_server() {
    let test = "budgets::postgres_cells_are_cut_by_the_server";
    measure(
        test,
        "PostgreSQL: cells",
        1200,
        || pg(300),
        |db| {
            let got = ask(db, "SELECT repeat('x', 500000000) AS t, 7 AS n", json!({}), 1).unwrap();
            assert_eq!((got.rows[0][0].as_str().unwrap().len(), &got.rows[0][1]), (100_000, &json!(7)));
            assert!(got.notes[0].contains("1 value(s) are longer than 100000 characters"), "{:?}", got.notes);
            let all = "SELECT array_agg(repeat('x', 1000)) FROM generate_series(1, 500000)";
            assert_eq!(ask(db, all, json!({}), 1).unwrap().rows[0][0].as_str().unwrap().len(), 100_000);
            let bytes = ask(db, "SELECT decode(repeat('00', 200000000), 'hex')", json!({}), 1).unwrap();
            assert_eq!((bytes.rows[0][0].as_str().unwrap().len(), bytes.notes.len()), (100_000, 1));
        },
    );
}

#[test]
fn postgres_rows_are_counted_as_they_come() {
    let test = "budgets::postgres_rows_are_counted_as_they_come";
    measure(
        test,
        "PostgreSQL: answer",
        810,
        || pg(300),
        |db| {
            too_large(db, "SELECT repeat('x', 90000) FROM generate_series(1, 9000)");
        },
    );
}

/// The server repeats what it could not read, all of it.
#[test]
fn postgres_errors_are_cut_on_the_wire() {
    let test = "budgets::postgres_errors_are_cut_on_the_wire";
    measure(
        test,
        "PostgreSQL: error message",
        650,
        || pg(300),
        |db| {
            too_large(db, "SELECT CAST(repeat('x', 650000000) AS integer)");
            let short = ask(db, "SELECT CAST(repeat('x', 30000000) AS integer)", json!({}), 1).unwrap_err();
            assert!(short.to_string().len() < 3_000 && short.to_string().contains("invalid input syntax"));
        },
    );
}

/// A row of forty cells, each as long as the server makes them.
#[test]
fn mysql_rows_are_cut_on_the_wire() {
    let test = "budgets::mysql_rows_are_cut_on_the_wire";
    let cells: Vec<String> = (0..42).map(|i| format!("REPEAT('x', 16000000) AS c{i}")).collect();
    measure(
        test,
        "MySQL: row",
        672,
        || my(300),
        |db| {
            too_large(db, &format!("SELECT {}", cells.join(", ")));
            let whole = ask(db, "SELECT REPEAT('长', 5000000) AS t, 7 AS n", json!({}), 1).unwrap();
            assert_eq!((whole.rows[0][0].as_str().unwrap().chars().count(), whole.notes.len()), (100_000, 1));
        },
    );
}

#[test]
fn mysql_rows_are_counted_as_they_come() {
    let test = "budgets::mysql_rows_are_counted_as_they_come";
    measure(
        test,
        "MySQL: answer",
        1000,
        || my(300),
        |db| {
            too_large(db, "SELECT REPEAT('x', 100000) FROM sales, (SELECT 1 AS a UNION SELECT 2) AS two");
        },
    );
}

#[test]
fn sqlite_makes_no_value_and_no_row_that_is_too_long() {
    let test = "budgets::sqlite_makes_no_value_and_no_row_that_is_too_long";
    let dir = tempfile::tempdir().unwrap();
    let cells: Vec<String> = (0..60).map(|i| format!("hex(zeroblob(7500000)) AS c{i}")).collect();
    measure(
        test,
        "SQLite: row",
        900,
        || sqlite(&dir),
        |db| {
            too_large(db, &format!("SELECT {}", cells.join(", ")));
            too_large(db, "SELECT length(hex(zeroblob(500000000)))");
            too_large(db, "SELECT printf('%.*c', 130000, 'x') FROM sales");
        },
    );
}

/// A server that sends what it likes: a long text, and a list of numbers that takes forty times its length when parsed.
#[test]
fn clickhouse_rows_are_counted_parsed() {
    let test = "budgets::clickhouse_rows_are_counted_parsed";
    let answer = |body: String| async move {
        let item = if body.contains("long_text") {
            "\"".to_owned() + &"x".repeat(1 << 20)
        } else {
            "0,".repeat(1 << 19)
        };
        let start = if body.contains("long_text") { "[" } else { "[[" };
        let head = format!("[\"a\"]\n[\"String\"]\n{start}");
        let pieces =
            (0..650).map(move |i| Ok::<_, std::io::Error>(if i == 0 { head.clone() } else { item.clone() }));
        let one = "[\"x\"]\n[\"UInt8\"]\n[1]\n".to_owned();
        let plain = body.contains("SELECT 1 AS x") || body.contains("timezone()");
        if plain {
            axum::body::Body::from(one)
        } else {
            axum::body::Body::from_stream(futures::stream::iter(pieces))
        }
    };
    let serve = || {
        let listener = block(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let app = axum::Router::new().route("/", axum::routing::post(answer));
        spawn(async move { axum::serve(listener, app).await.unwrap() });
        connect(&format!("clickhouse://reader@127.0.0.1:{port}/shop"), false, 60)
    };
    measure(test, "ClickHouse: row", 1300, serve, |db| {
        too_large(db, "SELECT a AS long_text FROM t");
        too_large(db, "SELECT a AS numbers FROM t");
    });
}

#[test]
fn a_kept_result_goes_to_disk_not_to_memory() {
    let test = "budgets::a_kept_result_goes_to_disk_not_to_memory";
    let dir = tempfile::tempdir().unwrap();
    let edge = Edge { name: "kept rows (disk)", budget_mb: 256, sent_mb: 2700, most_mb: 160 };
    budget(
        test,
        &edge,
        || ready(pg(300)),
        |db| {
            let file = dir.path().join("rows");
            let sql = "SELECT repeat('x', 90000) FROM generate_series(1, 30000)";
            let got = block(db.query_into("db", &[], sql, &Map::new(), 5, &file)).unwrap();
            assert!(got.truncated && got.rows.len() == 5, "{}", got.row_count);
            assert!(std::fs::metadata(&file).unwrap().len() <= 257 << 20);
        },
    );
}
