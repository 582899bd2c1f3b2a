//! Arrow Flight SQL against a real server: LakeSail's engine (the package `pysail`). Its wheel has 63 MB, so these run by
//! `scripts/test-engine`, which installs it; what needs no server runs always.

use std::time::{Duration, Instant};

use ba_data::guard::Dialect;
use ba_data::{ConnectionConfig, Connections, DataError, QueryResult, SecretUrl};
use serde_json::{Map, Value, json};

use super::keep::keep;
use super::sail::{self, sail};
use super::support::block;

fn open(url: &str, timeout: u64, timezone: Option<&str>) -> Connections {
    let config = ConnectionConfig {
        name: "db".into(),
        url: SecretUrl::new(url),
        description: String::new(),
        allow_superuser: false,
        timeout: Duration::from_secs(timeout),
        timezone: timezone.map(str::to_owned),
        dialect: Some(Dialect::Spark),
        files: None,
        functions: Vec::new(),
    };
    block(async { Connections::new(vec![config]).unwrap() })
}

fn lake(timeout: u64) -> Connections {
    open(&sail().url(), timeout, None)
}

fn ask(sql: &str) -> Result<QueryResult, DataError> {
    block(lake(30).query("db", sql, &Map::new(), 1000))
}

// SPEC I5
#[test]
#[ignore = "needs the package pysail"]
fn values_come_exact() {
    let sql = "SELECT CAST(9007199254740993 AS BIGINT) AS big, CAST('12345678901234567890.1230' AS DECIMAL(38,4)) AS d, \
               DATE '2024-02-29' AS day, TIMESTAMP_NTZ '2024-01-02 03:04:05.678' AS wall, TIMESTAMP '2024-01-02 03:04:05' AS at, \
               true AS ok, CAST(0.1 AS FLOAT) AS f, CAST(1.5 AS DOUBLE) AS g, '销''售' AS s, NULL AS nothing, \
               array(1, 2) AS list, map('a', 1) AS m, named_struct('x', 1, 'y', 'z') AS st, CAST('ab' AS BINARY) AS b, INTERVAL '26' HOUR AS iv";
    let got = ask(sql).unwrap();
    let row: Vec<Value> = got.rows[0].clone();
    assert_eq!(
        Value::from(row),
        json!(["9007199254740993", "12345678901234567890.1230", "2024-02-29", "2024-01-02 03:04:05.678",
               "2024-01-02 03:04:05+00", true, 0.1, 1.5, "销'售", null, [1, 2], {"a": 1}, {"x": 1, "y": "z"}, "\\x6162",
               "1 days 02:00:00"])
    );
    let kinds: Vec<&str> = got.columns.iter().map(|c| c.kind.as_str()).take(5).collect();
    assert_eq!(kinds, ["BIGINT", "DECIMAL(38,4)", "DATE", "TIMESTAMP_NTZ", "TIMESTAMP"]);
    let zoned = open(&sail().url(), 30, Some("Asia/Shanghai"));
    let got =
        block(zoned.query("db", "SELECT TIMESTAMP '2024-01-02 03:04:05' AS at", &Map::new(), 1)).unwrap();
    assert_eq!(got.rows[0][0], json!("2024-01-02 11:04:05+08"));
}

#[test]
#[ignore = "needs the package pysail"]
fn parameters_are_values_and_nothing_else() {
    let params = json!({"name": "x' OR 1=1 -- \\", "least": -2, "ids": [1, 3]});
    let sql = "SELECT id, :name AS n FROM range(5) WHERE id > :least AND id IN (:ids) ORDER BY id";
    let got = block(lake(30).query("db", sql, params.as_object().unwrap(), 10)).unwrap();
    assert_eq!(
        got.rows,
        [vec![json!(1), json!("x' OR 1=1 -- \\")], vec![json!(3), json!("x' OR 1=1 -- \\")]]
    );
}

#[test]
#[ignore = "needs the package pysail"]
fn order_is_kept_and_rows_are_cut() {
    let got =
        block(lake(30).query("db", "SELECT id FROM range(100000) ORDER BY id DESC", &Map::new(), 3)).unwrap();
    assert_eq!(
        (got.rows.clone(), got.truncated),
        (vec![vec![json!(99999)], vec![json!(99998)], vec![json!(99997)]], true)
    );
    let wide = "SELECT repeat('销', 90000) AS s FROM range(2000)";
    let error = block(lake(60).query("db", wide, &Map::new(), 10_000)).unwrap_err();
    assert!(matches!(&error, DataError::Query { code, .. } if code == "RESULT_TOO_LARGE"), "{error:?}");
}

#[test]
#[ignore = "needs the package pysail"]
fn a_slow_query_ends_in_time_and_a_wrong_one_says_why() {
    let begun = Instant::now();
    let slow = "SELECT count(*) FROM range(10000000000) a WHERE sqrt(a.id) < 0";
    let error = block(lake(2).query("db", slow, &Map::new(), 1)).unwrap_err();
    assert!(matches!(error, DataError::Timeout { seconds: 2, .. }), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(60));
    let error = ask("SELECT nope FROM range(1)").unwrap_err();
    assert!(matches!(&error, DataError::Query { message, .. } if message.contains("nope")), "{error:?}");
}

/// A server of its own, so that nothing else makes it compute.
#[test]
#[ignore = "needs the package pysail"]
fn a_question_that_nobody_waits_for_stops_on_the_server() {
    let server = sail::start(&[]);
    let lake = open(&server.url(), 60, None);
    let slow = "SELECT count(*) FROM range(100000000000) a WHERE sqrt(a.id) < 0";
    let computed_in_a_second = || {
        let before = server.computed();
        std::thread::sleep(Duration::from_secs(1));
        server.computed() - before
    };
    // Given up as soon as the server computes, and later, while rows are waited for.
    for later in [Duration::ZERO, Duration::from_secs(3)] {
        let asked = async {
            let none = Map::new();
            let question = lake.query("db", slow, &none, 1);
            let busy = async {
                while tokio::task::block_in_place(computed_in_a_second) < 20 {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                tokio::time::sleep(later).await;
            };
            tokio::select! { answer = question => panic!("answered: {answer:?}"), () = busy => {} }
        };
        block(async { tokio::time::timeout(Duration::from_secs(40), asked).await }).unwrap();
        let idle = (0..20).any(|_| computed_in_a_second() < 5);
        assert!(idle, "the server still computes what nobody waits for, {later:?}");
    }
}

#[test]
#[ignore = "needs the package pysail"]
fn tables_are_listed_with_columns_and_samples_and_kept() {
    let server = sail();
    server.run("CREATE TABLE sales (region STRING, amount DECIMAL(12,2), day DATE)");
    server.run(
        "INSERT INTO sales VALUES ('华东', 10.50, DATE '2024-01-01'), ('华北', 2.25, DATE '2024-02-01')",
    );
    let lake = lake(30);
    let tables = block(lake.tables("db", Some("sales"))).unwrap();
    let columns: Vec<(&str, &str)> =
        tables[0].columns.iter().map(|c| (c.name.as_str(), c.kind.as_str())).collect();
    assert_eq!(columns, [("region", "STRING"), ("amount", "DECIMAL(12,2)"), ("day", "DATE")]);
    let view = block(lake.schema("db", Some("sales"))).unwrap();
    assert!(view.text.contains("华东"), "{}", view.text);
    let dir = tempfile::tempdir().unwrap();
    let sql = "SELECT region, amount, day FROM sales ORDER BY region";
    let (_, kept, _) = keep(&dir, &lake, Dialect::Spark, "k", sql).unwrap();
    let kinds: Vec<&str> = kept.columns.iter().map(|c| c.kind.as_str()).collect();
    assert_eq!((kept.rows, kinds), (2, vec!["VARCHAR", "DECIMAL(18,2)", "DATE"]));
}

#[test]
#[ignore = "needs the package pysail"]
fn files_and_writes_stay_out_of_reach() {
    for sql in [
        "SELECT * FROM csv.`/etc/passwd`",
        "SELECT * FROM text.`file:///etc/passwd`",
        "CREATE TABLE x (a INT)",
        "INSERT INTO sales VALUES (1)",
        "DROP TABLE sales",
    ] {
        assert!(matches!(ask(sql), Err(DataError::Refused(_))), "{sql}");
    }
}

#[test]
fn a_server_that_is_away_says_so_and_a_wrong_address_is_told_at_once() {
    let error =
        block(open("grpc://127.0.0.1:1", 5, None).query("db", "SELECT 1", &Map::new(), 1)).unwrap_err();
    assert!(error.to_string().contains("connection refused"), "{error}");
    let secret = open("grpc://u:s3cret-word@127.0.0.1:1", 5, None);
    let error = block(secret.query("db", "SELECT 1", &Map::new(), 1)).unwrap_err().to_string();
    assert!(!error.contains("s3cret"), "{error}");
    for bad in ["grpc://", "grpc://h", "grpc+tls://h"] {
        let config = ConnectionConfig {
            name: "db".into(),
            url: SecretUrl::new(bad),
            description: String::new(),
            allow_superuser: false,
            timeout: Duration::from_secs(1),
            timezone: None,
            dialect: Some(Dialect::Spark),
            files: None,
            functions: Vec::new(),
        };
        assert!(block(async { Connections::new(vec![config]) }).is_err(), "{bad}");
    }
}
