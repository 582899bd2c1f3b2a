//! SQL Server by its protocol only: a loopback server with written answers (`tds`). No server of its own makers was asked.

use std::time::{Duration, Instant};

use ba_data::{ConnectionConfig, Connections, DataError, QueryResult, SecretUrl};
use serde_json::{Map, Value, json};

use super::support::block;
use super::tds::{self, Answer, Heard};

const READER: &[&[&str]] = &[&["CONNECT SQL"], &["VIEW ANY DATABASE"], &["CONNECT"], &["SELECT"]];

fn open(port: u16, timeout: u64) -> Connections {
    let config = ConnectionConfig {
        name: "db".into(),
        url: SecretUrl::new(format!("sqlserver://reader:s3cret-word@127.0.0.1:{port}/sales?encrypt=no")),
        description: String::new(),
        allow_superuser: false,
        timeout: Duration::from_secs(timeout),
        timezone: None,
        dialect: None,
        files: None,
        functions: Vec::new(),
    };
    block(async { Connections::new(vec![config]).unwrap() })
}

fn ask(db: &Connections, sql: &str, params: Value) -> Result<QueryResult, DataError> {
    block(db.query("db", sql, params.as_object().unwrap(), 10))
}

fn wait_until_heard(heard: &Heard, word: &str) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        if heard.lock().unwrap().iter().any(|said| said.contains(word)) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

fn usual(asked: &str) -> Answer {
    match asked {
        _ if asked.contains("fn_my_permissions") => tds::texts(READER),
        _ if asked.contains("sys.foreign_key_columns") => tds::texts(&[
            &["orders", "table", "订单", "", "id", "int", "", "PK", ""],
            &["orders", "table", "订单", "", "amount", "decimal(12,2)", "金额", "", ""],
        ]),
        _ if asked.contains("BEGIN TRANSACTION") => Answer::Tokens(Vec::new()),
        _ if asked.contains("TOP 20") => tds::texts(&[&["1", "9.50"]]),
        _ if asked.contains("slow") => Answer::Silence,
        _ if asked.contains("endless") => Answer::Endless,
        _ => Answer::Tokens(values()),
    }
}

/// One row of the types that lose something when they are read carelessly.
fn values() -> Vec<u8> {
    let mut tokens = tds::columns(&[
        ("id", vec![0x26, 8]),
        ("exact", vec![0x6A, 17, 38, 4]),
        ("price", vec![0x6E, 8]),
        ("at", vec![0x2B, 7]),
        ("wall", vec![0x2A, 7]),
        ("region", tds::nvarchar()),
        ("none", tds::nvarchar()),
    ]);
    tokens.push(0xD1);
    tokens.push(8);
    tokens.extend(9_007_199_254_740_993_i64.to_le_bytes());
    tokens.extend([17, 1]);
    tokens.extend(123_456_789_012_345_678_901_230_i128.to_le_bytes());
    tokens.push(8);
    tokens.extend([0, 0, 0, 0]);
    tokens.extend(12_345_600_u32.to_le_bytes());
    // 2024-01-01 19:04:05.5 in UTC, eight hours east of it.
    let time = &686_455_000_000_u64.to_le_bytes()[..5];
    let day = &738_885_u32.to_le_bytes()[..3];
    tokens.extend([&[10], time, day, &480_i16.to_le_bytes()].concat());
    tokens.extend([&[8], time, day].concat());
    tokens.extend(tds::text("华东'"));
    tokens.extend([0xFF, 0xFF]);
    tokens
}

// SPEC I5
#[test]
fn rows_come_exact_and_what_is_sent_is_ours() {
    let (port, heard) = tds::serve(usual);
    let db = open(port, 10);
    let sql =
        "SELECT id, [exact] FROM orders -- all\nWHERE region = '华东' AND id IN (:ids) AND note = :note";
    let got = ask(&db, sql, json!({"ids": [1, 2], "note": "x' OR 1=1"})).unwrap();
    assert_eq!(
        Value::from(got.rows[0].clone()),
        json!([
            "9007199254740993",
            "12345678901234567890.1230",
            "1234.5600",
            "2024-01-02 03:04:05.5+08",
            "2024-01-01 19:04:05.5",
            "华东'",
            null
        ])
    );
    let kinds: Vec<&str> = got.columns.iter().map(|c| c.kind.as_str()).take(4).collect();
    assert_eq!(kinds, ["BIGINT", "DECIMAL", "MONEY", "DATETIMEOFFSET"]);
    let said = heard.lock().unwrap().join("\n");
    let sent = "SELECT id, [exact] FROM orders WHERE region = N'华东' AND id IN (@P1, @P2) AND note = @P3";
    assert!(said.contains(sent) && !said.contains("-- all"), "{said}");
    assert!(said.contains("BEGIN TRANSACTION") && !said.contains("COMMIT "), "{said}");
}

#[test]
fn an_account_that_may_write_is_refused() {
    let (port, _) = tds::serve(|asked| match asked {
        _ if asked.contains("fn_my_permissions") => tds::texts(&[&["CONNECT SQL"], &["CONTROL SERVER"]]),
        _ => usual(asked),
    });
    let error = ask(&open(port, 10), "SELECT 1", json!({})).unwrap_err();
    assert!(matches!(&error, DataError::Unsafe { message, .. } if message.contains("CONTROL SERVER")));
}

#[test]
fn a_slow_statement_is_cancelled_and_an_endless_row_cut() {
    let (port, heard) = tds::serve(usual);
    let error = ask(&open(port, 1), "SELECT * FROM slow", json!({})).unwrap_err();
    assert!(matches!(error, DataError::Timeout { seconds: 1, .. }), "{error:?}");
    assert!(wait_until_heard(&heard, "ATTENTION"));
    let error = ask(&open(port, 300), "SELECT s FROM endless", json!({})).unwrap_err();
    assert!(matches!(&error, DataError::Query { code, .. } if code == "RESULT_TOO_LARGE"), "{error:?}");
}

#[test]
fn tables_come_with_their_columns_and_samples() {
    let (port, heard) = tds::serve(usual);
    let db = open(port, 10);
    let tables = block(db.tables("db", None)).unwrap();
    let columns: Vec<(&str, &str)> =
        tables[0].columns.iter().map(|c| (c.name.as_str(), c.kind.as_str())).collect();
    assert_eq!(
        (tables[0].name.as_str(), columns),
        ("orders", vec![("id", "int"), ("amount", "decimal(12,2)")])
    );
    let view = block(db.schema("db", None)).unwrap();
    assert!(view.text.contains("9.50") && view.text.contains("金额"), "{}", view.text);
    assert!(heard.lock().unwrap().iter().any(|said| said.contains("SELECT TOP 20")));
}

#[test]
fn a_server_that_is_away_or_hostile_says_so_without_a_password() {
    let error = ask(&open(1, 2), "SELECT 1", json!({})).unwrap_err().to_string();
    assert!(error.contains("connection refused") && !error.contains("s3cret"), "{error}");
    // Not this protocol at all.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let _ = std::io::Write::write_all(&mut socket, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let none = Map::new();
    let error = block(open(port, 2).query("db", "SELECT 1", &none, 1)).unwrap_err();
    assert!(matches!(error, DataError::Connection { .. } | DataError::Timeout { .. }), "{error:?}");
}
