//! `query_database` on a configured database: kept results, and answers that are never old (SPEC B7, E9, T3).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ba_agent::pipeline::{Executor, ExecutorConfig, IdempotencyCache};
use ba_agent::tool::{ToolOutput, TypedTool};
use ba_agent::{Registry, Typed};
use ba_data::{ConnectionConfig, Connections, SecretUrl};
use ba_protocol::ToolFailure;
use ba_tools::QueryDatabase;
use serde_json::{Value, json};

use crate::tables::{Desk, rows, run, tables};

pub fn execute(path: &Path, sql: &str) {
    let script =
        "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1])\nc.executescript(sys.argv[2])\nc.commit()";
    let done =
        std::process::Command::new("python3").args(["-c", script]).arg(path).arg(sql).status().unwrap();
    assert!(done.success());
}

pub fn connection(name: &str, path: &Path) -> ConnectionConfig {
    ConnectionConfig {
        name: name.into(),
        url: SecretUrl::new(format!("sqlite://{}", path.display())),
        description: String::new(),
        allow_superuser: false,
        timeout: Duration::from_secs(20),
        timezone: None,
        dialect: None,
        files: None,
        functions: Vec::new(),
    }
}

fn tool(desk: &Desk, connections: Vec<ConnectionConfig>) -> QueryDatabase {
    let connections = Connections::new(connections).unwrap();
    QueryDatabase { tables: Some(tables()), connections, store: desk.store.clone() }
}

async fn query(desk: &Desk, tool: &QueryDatabase, args: Value) -> Result<ToolOutput, ToolFailure> {
    tool.run(&desk.context(), serde_json::from_value(args).unwrap()).await.map_err(ba_agent::ToolError::told)
}

#[test]
fn results_of_two_databases_are_kept_and_joined() {
    run(async {
        let desk = Desk::new().await;
        let dir = tempfile::tempdir().unwrap();
        let (crm, erp) = (dir.path().join("crm.db"), dir.path().join("erp.db"));
        execute(
            &crm,
            "CREATE TABLE customers(id INTEGER, name TEXT); INSERT INTO customers VALUES (1, '甲'), (2, '乙')",
        );
        execute(
            &erp,
            "CREATE TABLE orders(customer INTEGER, amount REAL); INSERT INTO orders VALUES (1, 10.5), (1, 2), (2, 7), (2, 1)",
        );
        let tool = tool(&desk, vec![connection("crm", &crm), connection("erp", &erp)]);

        let ask = json!({"connection": "crm", "query": "SELECT * FROM customers", "keep_as": "客户"});
        let kept = query(&desk, &tool, ask).await.unwrap();
        assert!(
            kept.notes.iter().any(|n| n.starts_with("kept as table \"客户\" (2 rows)")),
            "{:?}",
            kept.notes
        );
        assert_eq!(kept.artifacts[0].name, "客户.parquet");
        let ask = json!({"connection": "erp", "query": "SELECT * FROM orders WHERE customer IN (:ids)", "params": {"ids": [1, 2]},
                         "max_rows": 1, "keep_as": "orders"});
        let kept = query(&desk, &tool, ask).await.unwrap();
        assert_eq!(rows(&kept).len(), 1);
        assert!(kept.summary.contains("cut at 1 of 4"), "{}", kept.summary);

        let joined = "SELECT name, sum(amount) FROM 客户 JOIN orders ON customer = id GROUP BY 1 ORDER BY 2";
        let got = query(&desk, &tool, json!({"query": joined})).await.unwrap();
        assert_eq!(rows(&got), &[[json!("乙"), json!(8.0)], [json!("甲"), json!(12.5)]]);

        let ask =
            json!({"connection": "erp", "query": "SELECT count(*) AS n FROM orders", "keep_as": "orders"});
        query(&desk, &tool, ask).await.unwrap();
        let got = query(&desk, &tool, json!({"query": "SELECT * FROM orders"})).await.unwrap();
        assert_eq!(rows(&got), &[[json!(4)]]);

        let wrong = json!({"connection": "nobody", "query": "SELECT 1", "keep_as": "x"});
        assert_eq!(query(&desk, &tool, wrong).await.unwrap_err().code, "UNKNOWN_CONNECTION");
        let wrong = json!({"connection": "erp", "query": "SELECT 1", "keep_as": "../x"});
        assert_eq!(query(&desk, &tool, wrong).await.unwrap_err().code, "BAD_NAME");
    });
}

#[test]
fn a_database_at_work_is_asked_anew_and_uploads_are_not() {
    run(async {
        let desk = Desk::new().await;
        desk.upload("s.csv", b"a,b\n1,2\n3,4\n").await;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("live.db");
        execute(&path, "CREATE TABLE t(x INTEGER); INSERT INTO t VALUES (1)");
        let registry =
            Registry::new(vec![Arc::new(Typed::new(tool(&desk, vec![connection("live", &path)])))]).unwrap();
        let executor = Executor {
            config: ExecutorConfig::default(),
            cache: IdempotencyCache::default(),
            data: Arc::new(desk.store.clone()),
        };
        let live = json!({"connection": "live", "query": "SELECT sum(x) AS s FROM t"});
        let first = desk.execute(&executor, &registry, "query_database", live.clone()).await;
        execute(&path, "INSERT INTO t VALUES (41)");
        let second = desk.execute(&executor, &registry, "query_database", live).await;
        assert!(first.summary.ends_with("s = 1") && second.summary.ends_with("s = 42"), "{}", second.summary);
        assert!(!second.telemetry.cache_hit);

        let embedded = json!({"query": "SELECT sum(b) AS s FROM s"});
        desk.execute(&executor, &registry, "query_database", embedded.clone()).await;
        let again = desk.execute(&executor, &registry, "query_database", embedded).await;
        assert!(again.telemetry.cache_hit);
    });
}
