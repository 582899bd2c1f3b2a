//! Queries on ClickHouse's own engine behind its HTTP interface (SPEC T3). The engine is a package of 500 MB, so these run by hand:
//!
//!     BA_CHDB_PYTHON=<a Python with chdb> cargo test -p ba-data --test it clickhouse -- --ignored --test-threads=1

use ba_data::guard::Dialect;
use ba_data::{Connections, DataError};
use serde_json::{Value, json};

use crate::databases::{ask, connect, one};
use crate::servers::clickhouse;
use crate::support::block;

fn ch(user: &str, timeout: u64) -> Connections {
    connect(&format!("clickhouse://{user}:s3cret-word@127.0.0.1:{}/shop", clickhouse().port), false, timeout)
}

#[test]
#[ignore = "needs the package chdb"]
fn types_come_out_right() {
    let row = one(
        &ch("reader", 20),
        "SELECT toUInt64(5), toInt64('9007199254740993'), toUInt64('18446744073709551615'), toInt256('170141183460469231731687303715884105728'), \
         toDecimal128('12345678901234567890.123400', 6), 1.5, nan, inf, true, toDate('2024-01-02'), toDate32('1950-01-02'), \
         toDateTime('2024-01-02 08:00:00', 'Asia/Shanghai'), toDateTime64('2024-01-02 03:04:05.678', 3, 'UTC'), \
         toUUID('123e4567-e89b-12d3-a456-426614174000'), toIPv4('10.0.0.1'), CAST('a', 'Enum8(\\'a\\' = 1)'), [1, NULL, 3], ['a,b'], \
         [toUInt64(7)], map('k', 1), (1, 'x'), CAST('{\"a\": [1]}', 'JSON'), NULL, toLowCardinality('低'), 'it''s \\\\ 销售'",
    );
    let want = json!([
        5, "9007199254740993", "18446744073709551615", "170141183460469231731687303715884105728",
        "12345678901234567890.123400", 1.5, "NaN", "inf", true, "2024-01-02", "1950-01-02",
        "2024-01-02 08:00:00+08", "2024-01-02 03:04:05.678+00",
        "123e4567-e89b-12d3-a456-426614174000", "10.0.0.1", "a", [1, null, 3], ["a,b"],
        [7], {"k": 1}, [1, "x"], {"a": ["1"]}, null, "低", "it's \\ 销售"
    ]);
    assert_eq!(Value::from(row), want);
}

#[test]
#[ignore = "needs the package chdb"]
fn parameters_are_bound_and_rows_are_capped() {
    let db = ch("reader", 20);
    let sql = "SELECT count() FROM sales WHERE region = :r AND amount >= :least";
    assert_eq!(ask(&db, sql, json!({"r": "华东", "least": 1000}), 10).unwrap().rows[0][0], json!(500));
    assert_eq!(ask(&db, sql, json!({"r": "' OR 1 = 1 --", "least": 0}), 10).unwrap().rows[0][0], json!(0));
    let odd = "a\\b\tc\nd'e";
    assert_eq!(
        ask(&db, "SELECT :x AS x, :n AS n", json!({"x": odd, "n": null}), 1).unwrap().rows[0],
        [json!(odd), Value::Null]
    );
    let got = ask(&db, "SELECT id FROM sales ORDER BY id", json!({}), 7).unwrap();
    assert_eq!((got.rows.len(), got.truncated, &got.rows[6][0]), (7, true, &json!(7)));
    let got = ask(&db, "SELECT id FROM sales ORDER BY id LIMIT 3", json!({}), 7).unwrap();
    assert_eq!((got.rows.len(), got.truncated), (3, false));
}

#[test]
#[ignore = "needs the package chdb"]
fn writes_are_refused_by_the_guard_and_by_the_engine() {
    let db = ch("reader", 20);
    for sql in [
        "INSERT INTO sales (id) VALUES (1)",
        "DROP TABLE sales",
        "ALTER TABLE sales DELETE WHERE 1",
        "SELECT 1; DROP TABLE sales",
        "SELECT * FROM file('/etc/passwd', 'LineAsString')",
        "SELECT * FROM url('http://127.0.0.1:1/', 'CSV')",
        "SELECT 1 SETTINGS readonly = 0",
        "SELECT id FROM sales INTO OUTFILE '/tmp/x'",
        "SYSTEM SHUTDOWN",
    ] {
        assert!(matches!(ask(&db, sql, json!({}), 10), Err(DataError::Refused(_))), "{sql}");
    }
    // Past the guard, the engine itself refuses what the settings of a request forbid.
    for sql in [
        "DROP TABLE shop.sales",
        "INSERT INTO shop.sales (id) VALUES (1)",
        "SET readonly = 0",
        "SELECT * FROM file('/etc/passwd', 'LineAsString')",
    ] {
        let answer = block(raw("reader", "readonly=1", sql));
        assert!(answer.contains("(READONLY)"), "{sql}: {answer}");
    }
    assert_eq!(one(&db, "SELECT count() FROM sales"), [json!(5000)]);
}

#[test]
#[ignore = "needs the package chdb"]
fn lists_and_zones_are_taken() {
    let db = ch("reader", 20);
    let count = |condition: &str, ids: Value| {
        let sql = format!("SELECT count() FROM sales WHERE {condition}");
        ask(&db, &sql, json!({"ids": ids}), 1).unwrap().rows[0][0].clone()
    };
    assert_eq!(count("id IN (:ids)", json!([1, 2, 9999])), json!(2));
    assert_eq!(count("region NOT IN (:ids)", json!(["华东", "it's \\ "])), json!(2500));
    assert_eq!(count("has(:ids, id)", json!([1, 2])), json!(2));
    for column in ["id", "region"] {
        assert_eq!(count(&format!("{column} IN (:ids)"), json!([])), json!(0));
        assert_eq!(count(&format!("{column} NOT IN (:ids)"), json!([])), json!(5000));
    }
    let url = format!("clickhouse://reader:s3cret-word@127.0.0.1:{}/shop", clickhouse().port);
    let tokyo = crate::databases::open(&url, false, 20, Some("Asia/Tokyo")).unwrap();
    let sql =
        "SELECT toDateTime('2024-01-02 08:00:00'), timezone(), toDateTime('2024-01-02 08:00:00', 'UTC')";
    assert_eq!(
        one(&tokyo, sql),
        [json!("2024-01-02 08:00:00+09"), json!("Asia/Tokyo"), json!("2024-01-02 08:00:00+00")]
    );
    assert!(block(tokyo.schema("db", None)).unwrap().text.starts_with("session time zone: Asia/Tokyo\n"));
    let long = ask(&db, "SELECT repeat('x', 200000) AS t", json!({}), 1).unwrap();
    assert_eq!((long.rows[0][0].as_str().unwrap().len(), long.notes.len()), (100_000, 1));
    let many = ask(&db, "SELECT repeat('x', 99000) FROM numbers(900)", json!({}), 10_000);
    assert!(matches!(&many, Err(DataError::Query { code, .. }) if code == "RESULT_TOO_LARGE"), "{many:?}");
}

#[test]
#[ignore = "needs the package chdb"]
fn a_result_is_kept_with_its_types() {
    use crate::keep::{keep, query, types};
    let dir = tempfile::tempdir().unwrap();
    let sql = "SELECT id, region, amount, at, toDate(at) AS day, toNullable(true) AS ok, toUInt64('18446744073709551615') AS big, [1] AS list FROM sales";
    let (got, kept, file) = keep(&dir, &ch("reader", 60), Dialect::ClickHouse, "k", sql).unwrap();
    assert_eq!((got.rows.len(), kept.rows), (5, 5000));
    let kinds: Vec<&str> = types(&kept).iter().map(|t| t.1).collect();
    let want = "BIGINT VARCHAR DECIMAL(18,4) TIMESTAMP WITH TIME ZONE DATE BOOLEAN DECIMAL(38,0) VARCHAR";
    assert_eq!(kinds.join(" "), want, "{:?}", kept.notes);
    let rows = query(&[("k", &file)], "SELECT count(DISTINCT id), min(\"at\"), max(big) FROM k");
    assert_eq!(rows, [[json!(5000), json!("2024-01-02 00:00:00+00:00"), json!("18446744073709551615")]]);
}

async fn raw(user: &str, settings: &str, sql: &str) -> String {
    let request = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = request.post(format!("http://127.0.0.1:{}/?{settings}", clickhouse().port));
    let request = request.header("X-ClickHouse-User", user).header("X-ClickHouse-Key", "s3cret-word");
    request.body(sql.to_owned()).send().await.unwrap().text().await.unwrap()
}

#[test]
#[ignore = "needs the package chdb"]
fn an_account_that_is_read_only_itself_is_used_as_it_is() {
    // readonly = 2 forbids to set `readonly`: the server's refusal is proof enough.
    let db = ch("strict", 20);
    assert_eq!(one(&db, "SELECT count() FROM sales"), [json!(5000)]);
    assert_eq!(one(&db, "SELECT count() FROM sales"), [json!(5000)]);
    assert!(block(raw("strict", "", "DROP TABLE shop.sales")).contains("(READONLY)"));
    // readonly = 1 forbids the limits: refused, with what to change.
    let got = ask(&ch("locked", 20), "SELECT 1", json!({}), 10);
    assert!(
        matches!(&got, Err(DataError::Query { code, hint: Some(_), .. }) if code == "ACCOUNT"),
        "{got:?}"
    );
}

#[test]
#[ignore = "needs the package chdb"]
fn an_endless_query_is_ended_by_the_engine_and_errors_name_no_password() {
    let endless = "SELECT count() FROM numbers(1000000000000) WHERE cityHash64(number) = 1";
    let got = ask(&ch("reader", 4), endless, json!({}), 10);
    assert!(matches!(&got, Err(DataError::Timeout { .. })), "{got:?}");
    let got = ask(&ch("reader", 20), "SELECT nothing FROM sales", json!({}), 10).unwrap_err();
    assert!(got.to_string().contains("UNKNOWN_IDENTIFIER"), "{got}");
    let url = format!("clickhouse://reader:s3cret-word-wrong@127.0.0.1:{}/shop", clickhouse().port);
    let got = ask(&connect(&url, false, 20), "SELECT 1", json!({}), 10).unwrap_err();
    assert!(
        got.to_string().contains("AUTHENTICATION_FAILED") && !format!("{got:?}").contains("s3cret"),
        "{got:?}"
    );
}

#[test]
#[ignore = "needs the package chdb"]
fn the_schema_says_what_is_there() {
    let text = block(ch("reader", 20).schema("db", None)).unwrap().text;
    for part in [
        "sales (table, about 5000 rows) — 销售明细",
        "id UInt64 PK — 编号 e.g. ",
        "amount Decimal(20, 4) — 金额（元） e.g. ",
        "region LowCardinality(String) e.g. 华东, 华北",
        "by_region (view)",
    ] {
        assert!(text.contains(part), "{part} not in\n{text}");
    }
}
