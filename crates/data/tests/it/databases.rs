//! Queries on a real PostgreSQL, a real MariaDB, a SQLite file and a stand-in for ClickHouse (SPEC T3).

use std::time::Duration;

use ba_data::{ConnectionConfig, Connections, DataError, QueryResult, SecretUrl};
use serde_json::{Map, Value, json};

use crate::servers::{mariadb, postgres};
use crate::support::block;

pub fn connect(url: &str, allow_superuser: bool, timeout: u64) -> Connections {
    open(url, allow_superuser, timeout, None).unwrap()
}

pub fn open(
    url: &str,
    allow_superuser: bool,
    timeout: u64,
    timezone: Option<&str>,
) -> Result<Connections, DataError> {
    let config = ConnectionConfig {
        name: "db".into(),
        url: SecretUrl::new(url),
        description: "test".into(),
        allow_superuser,
        timeout: Duration::from_secs(timeout),
        timezone: timezone.map(str::to_owned),
        dialect: None,
        files: None,
        functions: Vec::new(),
    };
    // Pools belong to the runtime that made them.
    block(async { Connections::new(vec![config]) })
}

pub fn pg(timeout: u64) -> Connections {
    connect(&format!("postgres://reader:s3cret-word@127.0.0.1:{}/postgres", postgres().port), false, timeout)
}

pub fn my(timeout: u64) -> Connections {
    connect(&format!("mysql://reader:s3cret-word@127.0.0.1:{}/shop", mariadb().port), false, timeout)
}

pub fn ask(db: &Connections, sql: &str, params: Value, max_rows: u32) -> Result<QueryResult, DataError> {
    block(db.query("db", sql, params.as_object().unwrap_or(&Map::new()), max_rows))
}

pub fn one(db: &Connections, sql: &str) -> Vec<Value> {
    ask(db, sql, json!({}), 10).unwrap().rows.remove(0)
}

#[test]
fn postgres_types_come_out_right() {
    let db = pg(20);
    let row = one(
        &db,
        "SELECT 12345678901234567890.123400::numeric, 9223372036854775807, 1::int2, 1.5::float8, 'NaN'::float8, true, DATE '2024-01-02', \
         TIMESTAMPTZ '2024-01-02 08:00:00+08', TIMESTAMP '2024-01-02 08:00', '{\"a\": [1]}'::jsonb, ARRAY[1,NULL,3], ARRAY['a,b'], \
         '123e4567-e89b-12d3-a456-426614174000'::uuid, '\\x00ff'::bytea, NULL, '1 day'::interval, '10.0.0.1'::inet, 0.1::float4, \
         ROW(1,'x'), int4range(1,5), 1 AS id, 2 AS id",
    );
    let want = json!([
        "12345678901234567890.123400", "9223372036854775807", 1, 1.5, "NaN", true, "2024-01-02", "2024-01-02 08:00:00+08",
        "2024-01-02 08:00:00", {"a": [1]}, [1, null, 3], ["a,b"], "123e4567-e89b-12d3-a456-426614174000", "\\x00ff", null, "1 day",
        "10.0.0.1/32", 0.1, "(1,x)", "[1,5)", 1, 2
    ]);
    assert_eq!(Value::from(row), want);
}

#[test]
fn mariadb_types_come_out_right() {
    let row = one(
        &my(20),
        "SELECT id, amount, sold_on, at, ts, info, raw, ok, f, d, y, t, e, NULL FROM sales WHERE id = 1",
    );
    let want = json!([
        1,
        "1.5000",
        "2024-01-02",
        "2024-01-02 03:04:05.678",
        "2024-01-02 03:04:05+08",
        {"k": 1},
        "\\x00ff",
        1,
        1.1,
        2.5,
        2024,
        "10:30:00",
        "a",
        null
    ]);
    assert_eq!(Value::from(row), want);
    assert_eq!(one(&my(20), "SELECT max(id) FROM sales"), [json!("18446744073709551615")]);
}

#[test]
fn parameters_are_bound_by_name() {
    for db in [pg(20), my(20)] {
        let sql = "SELECT count(*) FROM sales WHERE region = :r AND sold_on >= :day AND amount > :least";
        let params = json!({"r": "华东", "day": "2024-01-01", "least": 100});
        let got = ask(&db, sql, params, 10).unwrap();
        assert_eq!(got.rows[0][0], json!(2467));
        let hostile = json!({"r": "' OR 1=1 --", "day": "2024-01-01", "least": 0});
        assert_eq!(ask(&db, sql, hostile, 10).unwrap().rows[0][0], json!(0));
        assert!(matches!(
            ask(&db, sql, json!({"r": "x"}), 10),
            Err(DataError::Params(_) | DataError::Query { .. } | DataError::Refused(_))
        ));
    }
}

#[test]
fn rows_are_capped_and_the_cut_is_said() {
    for db in [pg(20), my(20)] {
        let got = ask(&db, "SELECT id FROM sales ORDER BY id", json!({}), 7).unwrap();
        assert_eq!((got.rows.len(), got.truncated, &got.rows[6][0]), (7, true, &json!(7)));
        let got = ask(&db, "SELECT id FROM sales ORDER BY id LIMIT 3", json!({}), 7).unwrap();
        assert_eq!((got.rows.len(), got.truncated), (3, false));
        // The pool is still good after a cut.
        assert_eq!(one(&db, "SELECT 1 AS x"), [json!(1)]);
    }
}

#[test]
fn writes_are_refused_by_the_guard_and_by_the_server() {
    for db in [pg(20), my(20)] {
        for sql in [
            "DELETE FROM sales",
            "SELECT 1; DROP TABLE sales",
            "COMMIT; DELETE FROM sales",
            "EXPLAIN ANALYZE DELETE FROM sales",
        ] {
            assert!(matches!(ask(&db, sql, json!({}), 10), Err(DataError::Refused(_))), "{sql}");
        }
    }
    for sql in [
        "WITH x AS (DELETE FROM sales RETURNING id) SELECT * FROM x",
        "SELECT * INTO t2 FROM sales",
        "COPY sales TO PROGRAM 'id'",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT lo_export(1, '/tmp/x')",
        "SELECT * FROM dblink('x', 'y') AS t(a int)",
        "SELECT pg_sleep(30)",
    ] {
        assert!(matches!(ask(&pg(20), sql, json!({}), 10), Err(DataError::Refused(_))), "{sql}");
    }
    for sql in [
        "SELECT * FROM sales INTO OUTFILE '/tmp/x'",
        "SELECT LOAD_FILE('/etc/passwd')",
        "SELECT 1 /*!50000 , SLEEP(9) */",
    ] {
        assert!(matches!(ask(&my(20), sql, json!({}), 10), Err(DataError::Refused(_))), "{sql}");
    }
    assert_eq!(one(&pg(20), "SELECT count(*) FROM sales"), [json!(5000)]);
}

#[test]
fn an_endless_query_is_ended_by_the_server() {
    let join = "SELECT count(*) FROM sales a, sales b, sales c, sales d WHERE a.amount + b.amount + c.amount + d.amount < 0";
    for db in [pg(1), my(1)] {
        let got = ask(&db, join, json!({}), 10);
        assert!(matches!(&got, Err(DataError::Timeout { .. })), "{got:?}");
    }
}

#[test]
fn a_dropped_query_is_cancelled_on_the_server() {
    let db = pg(60);
    let sql = "SELECT count(*) /* gone */ FROM sales a, sales b, sales c, sales d WHERE a.amount + b.amount + c.amount > -1 AND d.id > 0 AND 'mark-7391' <> ''";
    block(async {
        let params = Map::new();
        let query = db.query("db", sql, &params, 10);
        assert!(tokio::time::timeout(Duration::from_millis(700), query).await.is_err());
    });
    let still =
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%mark-' || '7391%'";
    for _ in 0..100 {
        if one(&db, still) == [json!(0)] {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("the server still works on a query that nobody waits for");
}

#[test]
fn a_superuser_is_refused_unless_allowed_in_words() {
    let root = format!("postgres://postgres@127.0.0.1:{}/postgres", postgres().port);
    let got = ask(&connect(&root, false, 10), "SELECT 1", json!({}), 10);
    assert!(matches!(&got, Err(DataError::Unsafe { .. })), "{got:?}");
    assert_eq!(one(&connect(&root, true, 10), "SELECT 1"), [json!(1)]);
    let boss = format!("mysql://boss:s3cret-word@127.0.0.1:{}/shop", mariadb().port);
    let got = ask(&connect(&boss, false, 10), "SELECT 1", json!({}), 10);
    assert!(matches!(&got, Err(DataError::Unsafe { .. })), "{got:?}");
}

#[test]
fn where_transactions_are_no_wall_the_account_must_be_one() {
    let mysql = |scheme: &str, user: &str| {
        connect(&format!("{scheme}://{user}:s3cret-word@127.0.0.1:{}/shop", mariadb().port), false, 10)
    };
    // The same server under the address of an engine whose READ ONLY transactions do nothing.
    for scheme in ["tidb", "doris", "starrocks", "oceanbase"] {
        let error = ask(&mysql(scheme, "reader"), "SELECT 1", json!({}), 1).unwrap_err();
        assert!(matches!(&error, DataError::Unsafe { .. }), "{error:?}");
        assert!(error.to_string().contains("its user has DELETE"), "{error}");
    }
    // Without parameters nothing is prepared there: the values are the same ones.
    let sql = "SELECT id, amount, sold_on, at, ts, raw, f, d, t, NULL FROM sales WHERE id = 1";
    assert_eq!(one(&mysql("tidb", "looker"), sql), one(&mysql("mysql", "looker"), sql));
    let got = ask(
        &mysql("tidb", "looker"),
        "SELECT count(*) FROM sales WHERE id IN (:ids)",
        json!({"ids": [1, 2]}),
        1,
    );
    assert_eq!(got.unwrap().rows, [[json!(2)]]);
}

#[test]
fn a_session_changes_nothing_of_what_the_server_means_by_sql() {
    // Spaces before a parenthesis are ignored by the driver's greeting, which changes no result.
    let row = one(
        &my(20),
        "SELECT REPLACE(@@session.sql_mode, 'IGNORE_SPACE,', '') = @@global.sql_mode, @@session.time_zone = @@global.time_zone",
    );
    assert_eq!(row, [json!(1), json!(1)]);
}

/// What MariaDB holds. On a machine that is too busy to give samples in time, it is asked again, by a new connection.
fn described(search: &str, sampled: &str) -> String {
    let ask = || block(my(20).schema("db", Some(search))).unwrap().text;
    (0..5).map(|_| ask()).find(|text| text.contains(sampled)).unwrap_or_else(ask)
}

#[test]
fn the_schema_says_what_is_there() {
    let text = block(pg(20).schema("db", Some("sales"))).unwrap().text;
    for part in [
        "sales (table, about 5000 rows) — 销售明细",
        "id bigint PK",
        "amount numeric(20,4) — 金额（元）",
        "region text e.g. ",
    ] {
        assert!(text.contains(part), "{part} not in\n{text}");
    }
    let text = block(pg(20).schema("db", None)).unwrap().text;
    assert!(text.contains("sale_id bigint → sales") && !text.contains("secret_plans"), "{text}");
    let text = described("", "region varchar(20) e.g.");
    for part in [
        "sales (table",
        "销售明细",
        "id bigint(20) unsigned PK e.g. 1, 2, 3",
        "region varchar(20) e.g. 华北, 华东",
        "amount decimal(20,4) e.g. 1.5000, 3.0000, 4.5000",
        "word varchar(200) e.g. a word that goes on and on and",
        "photo longblob",
    ] {
        assert!(text.contains(part), "{part} not in\n{text}");
    }
    assert!(!text.contains("photo longblob e.g.") && !text.contains("raw varbinary(8) e.g."), "{text}");
}

#[test]
fn a_table_that_cannot_be_read_now_is_described_without_samples() {
    let port = mariadb().port.to_string();
    let mut holder = std::process::Command::new("mariadb")
        .args([
            "--no-defaults",
            "-h",
            "127.0.0.1",
            "-P",
            &port,
            "-u",
            "boss",
            "-ps3cret-word",
            "-N",
            "--unbuffered",
        ])
        .args(["-e", "LOCK TABLES shop.busy WRITE; SELECT 'held'; SELECT SLEEP(20)"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut held = [0; 4];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut held).unwrap();
    let text = described("word", "word varchar(200) e.g.");
    holder.kill().unwrap();
    holder.wait().unwrap();
    // The other table with such a column has its samples.
    assert!(text.contains("  id int(11)\n  word varchar(200)\n"), "{text}");
    assert!(text.contains("word varchar(200) e.g. a word"), "{text}");
}

#[test]
fn a_password_is_in_no_error() {
    for url in [
        "postgres://reader:s3cret-word@127.0.0.1:1/postgres".to_owned(),
        "mysql://reader:s3cret-word@127.0.0.1:1/shop".to_owned(),
        "clickhouse://reader:s3cret-word@127.0.0.1:1/shop".to_owned(),
        "sqlite:///nowhere/s3cret-word.db".to_owned(),
        format!("mysql://reader:s3cret-word-wrong@127.0.0.1:{}/shop", mariadb().port),
    ] {
        let db = connect(&url, false, 2);
        let error = ask(&db, "SELECT 1", json!({}), 1).unwrap_err();
        let shown = format!("{error} {error:?} {:?}", db.list());
        assert!(url.starts_with("sqlite") || !shown.contains("s3cret-word"), "{shown}");
    }
    let config = ConnectionConfig {
        name: "x".into(),
        url: SecretUrl::new("ftp://u:s3cret-word@h"),
        description: String::new(),
        allow_superuser: false,
        timeout: Duration::from_secs(1),
        timezone: None,
        dialect: None,
        files: None,
        functions: Vec::new(),
    };
    let error = Connections::new(vec![config]).err().unwrap();
    assert!(!format!("{error} {error:?}").contains("s3cret-word"));
}

#[test]
fn sqlite_is_read_only_and_interruptible() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let made = std::process::Command::new("python3")
        .args(["-c", "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1])\nc.execute('create table t(a integer primary key, b text, c real, d blob)')\nc.execute(\"insert into t values (9007199254740993,'销售',1.5,x'00ff')\")\nc.execute('create table u(id integer, t_id integer references t(a))')\nc.commit()"])
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    let db = connect(&format!("sqlite://{}", path.display()), false, 1);
    let row = one(&db, "SELECT a, b, c, d, NULL FROM t WHERE b = '销售'");
    assert_eq!(Value::from(row), json!(["9007199254740993", "销售", 1.5, "\\x00ff", null]));
    assert_eq!(
        ask(&db, "SELECT count(*) FROM t WHERE b = :b", json!({"b": "销售"}), 5).unwrap().rows[0][0],
        json!(1)
    );
    for sql in [
        "ATTACH '/tmp/x' AS y",
        "VACUUM INTO '/tmp/y'",
        "SELECT load_extension('x')",
        "PRAGMA query_only = OFF",
        "DELETE FROM t",
    ] {
        assert!(matches!(ask(&db, sql, json!({}), 5), Err(DataError::Refused(_))), "{sql}");
    }
    let endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r";
    let got = ask(&db, endless, json!({}), 5);
    assert!(matches!(&got, Err(DataError::Timeout { .. })), "{got:?}");
    let text = block(db.schema("db", None)).unwrap().text;
    let sampled = "a INTEGER PK e.g. 9007199254740993\n  b TEXT e.g. 销售\n  c REAL e.g. 1.5\n  d BLOB";
    assert!(text.contains(sampled) && text.contains("t_id INTEGER → t"), "{text}");
}

#[test]
fn clickhouse_is_asked_read_only_with_bound_parameters() {
    use axum::extract::RawQuery;
    let (told, heard) = std::sync::mpsc::channel::<(String, String, String)>();
    let answer = move |RawQuery(query): RawQuery, headers: axum::http::HeaderMap, body: String| {
        let key =
            headers.get("x-clickhouse-key").and_then(|k| k.to_str().ok()).unwrap_or_default().to_owned();
        told.send((query.unwrap_or_default(), body, key)).unwrap();
        async {
            "[\"n\", \"d\"]\n[\"UInt64\", \"Decimal(20, 4)\"]\n[\"18446744073709551615\", \"1.5000\"]\n[\"2\", \"2\"]\n[\"3\", \"3\"]\n"
        }
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let app = axum::Router::new().route("/", axum::routing::post(answer));
    crate::support::spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        axum::serve(listener, app).await.unwrap();
    });
    let db = connect(&format!("clickhouse://u:p%40ss@127.0.0.1:{port}/shop"), false, 5);
    let got = ask(&db, "SELECT n, d FROM t WHERE r = :r -- x", json!({"r": "a'b"}), 2).unwrap();
    assert_eq!((got.rows.len(), got.truncated), (2, true));
    assert_eq!(got.rows[0], [json!("18446744073709551615"), json!("1.5000")]);
    assert_eq!(heard.recv().unwrap().1, "SELECT timezone()");
    let (query, body, key) = heard.recv().unwrap();
    assert!(
        query.contains("readonly=1") && query.contains("param_r=a%27b") && query.contains("database=shop"),
        "{query}"
    );
    assert!(!query.contains("p%40ss") && key == "p@ss");
    assert_eq!(
        body.split_whitespace().collect::<Vec<_>>().join(" "),
        "SELECT * FROM ( SELECT n, d FROM t WHERE r = {r:String} ) LIMIT 3"
    );
    assert!(matches!(
        ask(&db, "SELECT * FROM file('/etc/passwd')", json!({}), 2),
        Err(DataError::Refused(_))
    ));
}
