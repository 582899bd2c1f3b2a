//! Trino's HTTP protocol against a loopback server that answers with pages as Trino sends them. No Trino was tried.

use std::sync::{Arc, Mutex};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use ba_data::DataError;
use serde_json::{Map, Value, json};

use super::databases::connect;
use super::support::{block, spawn};

#[derive(Default)]
struct Seen {
    sql: Vec<String>,
    headers: Vec<HeaderMap>,
    ended: Vec<String>,
    busy: usize,
}

type Shared = (Arc<Mutex<Seen>>, u16);

/// A server whose answer depends on the statement.
fn server() -> (u16, Arc<Mutex<Seen>>) {
    let seen = Arc::new(Mutex::new(Seen { busy: 2, ..Seen::default() }));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let app = Router::new()
        .route("/v1/statement", post(begin))
        .route("/v1/statement/executing/{id}/{page}", get(page).delete(end))
        .with_state((seen.clone(), port));
    block(async {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        spawn(async move { axum::serve(listener, app).await.unwrap() });
    });
    (port, seen)
}

fn next(port: u16, id: &str, page: u32) -> String {
    format!("http://127.0.0.1:{port}/v1/statement/executing/{id}/{page}")
}

async fn begin(
    State((seen, port)): State<Shared>,
    headers: HeaderMap,
    sql: String,
) -> Result<Json<Value>, StatusCode> {
    let mut seen = seen.lock().unwrap();
    if seen.busy > 0 {
        seen.busy -= 1;
        return Err(StatusCode::SERVICE_UNAVAILABLE);
    }
    let id = if sql.contains("endless") {
        "endless"
    } else if sql.contains("information_schema") {
        "tables"
    } else if sql.contains("nowhere") {
        return Ok(Json(json!({"id": "x", "nextUri": "http://127.0.0.2:9/v1/statement/x"})));
    } else if sql.contains("wrong") {
        "wrong"
    } else {
        "plain"
    };
    seen.sql.push(sql);
    seen.headers.push(headers);
    Ok(Json(
        json!({"id": "20240101_000000_00001_abcde", "infoUri": "http://h/ui", "nextUri": next(port, id, 1), "stats": {"state": "QUEUED"}}),
    ))
}

async fn page(State((_, port)): State<Shared>, Path((id, page)): Path<(String, u32)>) -> Json<Value> {
    let column = |name: &str, kind: &str| json!({"name": name, "type": kind, "typeSignature": {"rawType": kind, "arguments": []}});
    Json(match (id.as_str(), page) {
        ("plain", 1) => json!({"nextUri": next(port, "plain", 2), "stats": {"state": "RUNNING"},
            "columns": [column("地区", "varchar"), column("n", "bigint"), column("s", "decimal(20,4)"), column("at", "timestamp(3) with time zone")]}),
        ("plain", 2) => {
            json!({"nextUri": next(port, "plain", 3), "data": [["华东", 9_007_199_254_740_993_i64, "1.5000", "2024-01-02 03:04:05.678 Asia/Shanghai"]],
            "columns": [column("地区", "varchar"), column("n", "bigint"), column("s", "decimal(20,4)"), column("at", "timestamp(3) with time zone")]})
        }
        ("plain", _) => json!({"data": [["华北", 2, null, null]], "stats": {"state": "FINISHED"}}),
        ("tables", _) => {
            json!({"columns": [column("table_schema", "varchar"), column("table_name", "varchar"), column("table_type", "varchar"), column("column_name", "varchar"), column("data_type", "varchar")],
            "data": [["sales", "orders", "BASE TABLE", "id", "bigint"], ["sales", "orders", "BASE TABLE", "amount", "decimal(12,2)"], ["sales", "v", "VIEW", "x", "varchar"]]})
        }
        ("wrong", _) => {
            json!({"error": {"message": "line 1:8: Column 'x' cannot be resolved", "errorCode": 47, "errorName": "COLUMN_NOT_FOUND", "errorType": "USER_ERROR"}})
        }
        (id, page) => {
            json!({"nextUri": next(port, id, page + 1), "columns": [column("n", "bigint")], "data": (0..100).map(|n| vec![n]).collect::<Vec<_>>()})
        }
    })
}

async fn end(State((seen, _)): State<Shared>, Path((id, _)): Path<(String, u32)>) -> StatusCode {
    seen.lock().unwrap().ended.push(id);
    StatusCode::NO_CONTENT
}

// SPEC I5
#[test]
fn pages_are_followed_typed_cut_and_ended() {
    let (port, seen) = server();
    let trino = connect(&format!("trino://reader@127.0.0.1:{port}/hive/sales"), false, 10);
    let params = json!({"地区": "华'东", "ids": [1, -2]});
    let sql = "SELECT 地区, n FROM orders WHERE 地区 <> :地区 AND n IN (:ids) -- note";
    let got = block(trino.query("db", sql, params.as_object().unwrap(), 10)).unwrap();
    let kinds: Vec<&str> = got.columns.iter().map(|c| c.kind.as_str()).collect();
    assert_eq!(kinds, ["varchar", "bigint", "decimal(20,4)", "timestamp(3) with time zone"]);
    assert_eq!(
        got.rows[0],
        [json!("华东"), json!("9007199254740993"), json!("1.5000"), json!("2024-01-02 03:04:05.678+08")]
    );
    assert_eq!((got.rows.len(), got.truncated), (2, false));
    {
        let seen = seen.lock().unwrap();
        assert_eq!(seen.sql, ["SELECT 地区, n FROM orders WHERE 地区 <> '华''东' AND n IN ((1), (-2))"]);
        let head = |name: &str| seen.headers[0].get(name).unwrap().to_str().unwrap();
        assert_eq!(
            (head("x-trino-user"), head("x-trino-catalog"), head("x-trino-schema")),
            ("reader", "hive", "sales")
        );
        assert_eq!(head("x-trino-session"), "query_max_run_time=10s");
        assert!(seen.ended.is_empty());
    }
    let got = block(trino.query("db", "SELECT n FROM endless", &Map::new(), 150)).unwrap();
    assert_eq!((got.rows.len(), got.truncated), (150, true));
    let ended = || seen.lock().unwrap().ended.clone();
    block(async {
        while ended().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    });
    assert_eq!(ended(), ["endless"]);
}

#[test]
fn tables_errors_and_other_addresses() {
    let (port, _) = server();
    let trino = connect(&format!("trino://reader@127.0.0.1:{port}/hive"), false, 10);
    let tables = block(trino.tables("db", None)).unwrap();
    assert_eq!(
        (tables[0].name.as_str(), tables[0].columns[1].kind.as_str()),
        ("sales.orders", "decimal(12,2)")
    );
    assert_eq!((tables[1].kind.as_str(), tables.len()), ("view", 2));
    let ask = |sql: &str| block(trino.query("db", sql, &Map::new(), 10)).unwrap_err();
    assert!(
        matches!(ask("SELECT x AS wrong"), DataError::Query { message, .. } if message.contains("cannot be resolved"))
    );
    assert!(matches!(ask("SELECT x AS nowhere"), DataError::Query { code, .. } if code == "OTHER_ADDRESS"));
    assert!(matches!(ask("DELETE FROM t"), DataError::Refused(_)));
    let away = connect("trino://reader@127.0.0.1:1/hive", false, 5);
    let why = block(away.query("db", "SELECT 1", &Map::new(), 1)).unwrap_err().to_string();
    assert!(why.contains("connection refused"), "{why}");
}
