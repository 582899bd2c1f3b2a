//! The offline analyst over real databases: a small shop in SQLite, PostgreSQL and MariaDB, the same questions, the same
//! figures (SPEC L3, T3).

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ba_agent::pipeline::{Executor, ExecutorConfig, IdempotencyCache};
use ba_agent::{Registry, Typed};
use ba_analyst::turn::Turn;
use ba_analyst::{Connection, Dialect, OfflineAnalyst};
use ba_data::{ConnectionConfig, Connections, SecretUrl};
use ba_protocol::structured::Report;
use ba_protocol::{Action, ContentBlock, Message, Role};
use ba_tools::{FileReader, Python, QueryDatabase, RunPython};
use serde_json::Value;

use crate::servers;
use crate::tables::{Desk, run, sandbox, tables};

const ROWS: &str = include_str!("shop.sql");
const PASSWORD: &str = "s3cret-word";

/// Question, and what the answer must say.
const QUESTIONS: [(&str, &[&str]); 22] = [
    ("What is the total amount?", &["17,168.5"]),
    ("订单总金额是多少？", &["17,168.5"]),
    ("amount by region", &["| 华东 | 8,210 |", "| 华北 | 7,753.50 |", "| East Coast | 1,205 |"]),
    ("各地区的销售额", &["| 华东 | 8,210 |", "| 华北 | 7,753.50 |", "| East Coast | 1,205 |"]),
    ("按月统计销售额", &["| 2023-11 | 618 |", "| 2024-07 | 1,519.75 |", "| 2025-01 | 753.25 |"]),
    ("amount by quarter", &["| 2023-Q4 | 1,590 |", "| 2024-Q3 | 4,109.75 |", "| 2025-Q1 | 753.25 |"]),
    ("amount by year", &["| 2023 | 1,590 |", "| 2024 | 14,825.25 |", "| 2025 | 753.25 |"]),
    ("top 2 regions by amount", &["| 华东 | 8,210 |", "| 华北 | 7,753.50 |"]),
    ("2024年3月的销售额是多少", &["1,399.25"]),
    ("How many orders are there?", &["40"]),
    ("How many orders have an amount above 500?", &["15"]),
    ("华东的数量合计是多少", &["56"]),
    ("average amount by category", &["| 手机 | 472.1 |", "| 平板 | 440.62 |", "| 耳机 | 410.27 |"]),
    ("share of amount by region", &["47.82%", "45.16%", "7.02%"]),
    ("number of orders by channel", &["| web | 27 |", "| store | 13 |"]),
    ("退货率是多少", &["15%"]),
    ("average salary by department", &["| IT | 9,000 |", "| Finance | 6,500 |", "| Sales | 6,000.25 |"]),
    ("monthly growth of amount for every month", &["| 2023-12 | 972 | 618 | +57.28% |"]),
    ("How many different regions are there?", &["3"]),
    ("orders by weekday", &["| Wednesday | 5 |", "| Sunday | 5 |", "| Monday | 6 |"]),
    ("What is the median amount?", &["428.25"]),
    ("Which order has the highest amount?", &["927.5", "1038"]),
];

struct Bench {
    desk: Desk,
    executor: Executor,
    registry: Registry,
    analyst: OfflineAnalyst,
    /// As the conversation lists them.
    files: String,
}

impl Bench {
    async fn new(databases: &[(&str, Dialect, String)]) -> Self {
        let desk = Desk::new().await;
        let config = |(name, _, url): &(&str, Dialect, String)| ConnectionConfig {
            name: (*name).into(),
            url: SecretUrl::new(url.clone()),
            description: String::new(),
            allow_superuser: false,
            timeout: Duration::from_secs(20),
            timezone: None,
            dialect: None,
            files: None,
            functions: Vec::new(),
        };
        let connections = Connections::new(databases.iter().map(config).collect()).unwrap();
        let store = desk.store.clone();
        let registry = Registry::new(vec![
            Arc::new(Typed::new(FileReader { tables: Some(tables()), store: store.clone() })),
            Arc::new(Typed::new(QueryDatabase { tables: Some(tables()), connections, store: store.clone() })),
            Arc::new(Typed::new(RunPython { python: Python::Ready(sandbox()), store: store.clone() })),
        ])
        .unwrap();
        let executor = Executor {
            config: ExecutorConfig::default(),
            cache: IdempotencyCache::default(),
            data: Arc::new(store),
        };
        let known =
            databases.iter().map(|(name, dialect, _)| Connection { name: (*name).into(), dialect: *dialect });
        let analyst = OfflineAnalyst::new().unwrap().asking(known.collect());
        Self { desk, executor, registry, analyst, files: String::new() }
    }

    async fn upload(&mut self, name: &str, text: &str) {
        let upload = self.desk.upload(name, text.as_bytes()).await;
        self.files.push_str(&format!("- [{}] {name} (csv) | 1 KB\n", upload.file_id));
    }

    /// The report, and the calls that were made: each connection and statement.
    async fn ask(&self, question: &str) -> (Report, Vec<String>) {
        let mut messages =
            vec![Message::system(format!("可用文件列表：\n{}", self.files)), Message::user(question)];
        let mut made = Vec::new();
        for _ in 0..12 {
            let calls = match self.analyst.respond(&Turn::read(&messages)).action {
                Action::Complete(report) => return (report, made),
                Action::ToolCall { content } => content,
            };
            assert!(calls.len() <= 6);
            let said = calls.iter().map(|c| ContentBlock::ToolUse {
                id: c.tool_call_id.clone(),
                name: c.tool_name.clone(),
                input: Value::Object(c.arguments.clone()),
            });
            messages.push(Message::new(Role::Assistant, said.collect()));
            let mut results = Vec::new();
            for call in calls {
                let arguments = Value::Object(call.arguments.clone());
                made.push(format!("{} {}", arguments["connection"], arguments["query"]));
                let done = self
                    .desk
                    .execute(&self.executor, &self.registry, &call.tool_name, arguments)
                    .await
                    .result;
                results.push(ContentBlock::ToolResult {
                    tool_use_id: call.tool_call_id,
                    content: done.observation,
                    is_error: !done.success,
                });
            }
            messages.push(Message::new(Role::User, results));
        }
        panic!("no answer after 12 rounds: {question}\n{}", made.join("\n"));
    }
}

/// All questions, so that one run shows every one that went wrong.
async fn check(dialect: Dialect, url: String) {
    let bench = Bench::new(&[("shop", dialect, url)]).await;
    let mut wrong = Vec::new();
    for (question, wanted) in QUESTIONS {
        let (report, made) = bench.ask(question).await;
        for word in wanted {
            if !report.content.contains(word) {
                let said: Vec<&str> = report.content.lines().filter(|l| !l.starts_with(['<', '*'])).collect();
                wrong.push(format!("{question}: {word} is not in\n{}\n{}", said.join("\n"), made.join("\n")));
            }
        }
    }
    assert!(wrong.is_empty(), "{dialect:?}: {} wrong\n{}", wrong.len(), wrong.join("\n"));
}

fn sqlite(path: &Path, sql: &str) -> String {
    let script = "import sqlite3,sys\nsqlite3.connect(sys.argv[1]).executescript(sys.argv[2])";
    let done = Command::new("python3").args(["-c", script]).arg(path).arg(sql).status().unwrap();
    assert!(done.success());
    format!("sqlite://{}", path.display())
}

fn shop_in_sqlite(folder: &Path) -> String {
    let tables = "CREATE TABLE orders(order_id INTEGER PRIMARY KEY, order_date TEXT, region TEXT, category TEXT, quantity INTEGER, amount REAL, is_returned BOOLEAN, channel TEXT);
                  CREATE TABLE employees(id INTEGER PRIMARY KEY, name TEXT, department TEXT, salary NUMERIC);";
    sqlite(&folder.join("shop.db"), &format!("{tables}{ROWS}"))
}

#[test]
fn a_shop_in_sqlite_is_asked() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        check(Dialect::Sqlite, shop_in_sqlite(dir.path())).await;
    });
}

#[test]
fn a_shop_in_postgresql_is_asked() {
    let port = servers::postgres().port;
    let psql = |database: &str, sql: &str| {
        let connection = format!("host=127.0.0.1 user=postgres port={port} dbname={database}");
        let done =
            Command::new("psql").args(["-v", "ON_ERROR_STOP=1", "-q", "-c", sql, &connection]).status();
        assert!(done.unwrap().success());
    };
    psql("postgres", "CREATE DATABASE mart");
    let tables = "CREATE SCHEMA trade; SET search_path = trade; CREATE TYPE way AS ENUM ('web', 'store');
                  CREATE TABLE orders(order_id bigint PRIMARY KEY, order_date date, region varchar(20), category text, quantity int, amount numeric(12,2), is_returned boolean, channel way);
                  CREATE TABLE employees(id int PRIMARY KEY, name text, department text, salary numeric);
                  GRANT USAGE ON SCHEMA trade TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA trade TO reader;";
    psql("mart", &format!("{tables}{ROWS}"));
    run(check(Dialect::Postgres, format!("postgres://reader:{PASSWORD}@127.0.0.1:{port}/mart")));
}

#[test]
fn a_shop_in_mariadb_is_asked() {
    let port = servers::mariadb().port;
    // Other tests' tables would answer as well.
    let tables = "DROP TABLE sales, busy, notes, remote_orders;
                  CREATE TABLE orders(order_id bigint PRIMARY KEY, order_date datetime, region varchar(20), category varchar(20), quantity int unsigned, amount decimal(12,2), is_returned boolean, channel enum('web','store'));
                  CREATE TABLE employees(id int PRIMARY KEY, name varchar(20), department varchar(20), salary double);";
    let done = Command::new("mariadb")
        .args(["--no-defaults", "--default-character-set=utf8mb4", "-u", "boss", "-h", "127.0.0.1"])
        .args(["-P", &port.to_string(), &format!("-p{PASSWORD}"), "-e", &format!("{tables}{ROWS}"), "shop"])
        .stderr(Stdio::inherit())
        .status()
        .unwrap();
    assert!(done.success());
    run(check(Dialect::MySql, format!("mysql://looker:{PASSWORD}@127.0.0.1:{port}/shop")));
}

#[test]
fn uploads_come_first_and_a_database_answers_what_they_do_not_hold() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let mut bench = Bench::new(&[("shop", Dialect::Sqlite, shop_in_sqlite(dir.path()))]).await;
        bench.upload("stock.csv", "item,pieces\nbolt,5\nnut,7\n").await;
        let (report, made) = bench.ask("total pieces").await;
        assert!(report.content.contains("**12**"), "{}", report.content);
        assert!(made.iter().all(|m| !m.contains("shop")), "the database is left alone: {made:?}");
        let (report, _) = bench.ask("average salary by department").await;
        assert!(report.content.contains("| Finance | 6,500 |"), "{}", report.content);
        let (report, made) = bench.ask("数据库里有多少订单？").await;
        assert!(report.content.contains("**40**"), "{}", report.content);
        assert!(report.content.contains("orders (shop)"), "{}", report.content);
        assert!(made.iter().all(|m| !m.contains("upload_001")), "{made:?}");
        let (report, _) = bench.ask("How many orders are there in the shop database?").await;
        assert!(report.content.contains("**40**"), "{}", report.content);
    });
}

#[test]
fn text_that_is_no_date_and_a_database_that_is_away_are_said() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let notes = "CREATE TABLE visits(day DATE, town TEXT, guests INTEGER);
                     INSERT INTO visits VALUES ('2024-01-05', 'Ulm', 3), ('5 Jan', 'Ulm', 4), ('soon', 'Bonn', 5);";
        let url = sqlite(&dir.path().join("visits.db"), notes);
        let bench = Bench::new(&[("visits", Dialect::Sqlite, url)]).await;
        let (report, made) = bench.ask("guests by month").await;
        assert!(report.content.contains("“day” is text"), "{}", report.content);
        assert!(made.iter().all(|m| !m.contains("GROUP BY 1")), "{made:?}");
        let (report, _) = bench.ask("guests by town").await;
        assert!(report.content.contains("| Ulm | 7 |"), "{}", report.content);

        let away = format!("sqlite://{}", dir.path().join("missing.db").display());
        let bench = Bench::new(&[("away", Dialect::Sqlite, away)]).await;
        let (report, _) = bench.ask("guests by town").await;
        assert!(report.content.starts_with("No table could be read"), "{}", report.content);
    });
}

#[test]
fn hostile_names_and_values_of_a_database_stay_what_they_are() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let odd = r#"CREATE TABLE "sales ""x"" '--"(region TEXT, amount REAL, "x""; DROP 'y" TEXT);
                     INSERT INTO "sales ""x"" '--" VALUES ('a''; DROP TABLE x; --', 2, 'p'), ('b\', 3, 'q'), ('b\', 4, NULL);"#;
        let bench = Bench::new(&[("odd", Dialect::Sqlite, sqlite(&dir.path().join("odd.db"), odd))]).await;
        let (report, _) = bench.ask("What is the total amount?").await;
        assert!(report.content.contains("**9**"), "{}", report.content);
        let (report, _) = bench.ask("amount by region").await;
        assert!(report.content.contains("| 7 |") && report.content.contains("| 2 |"), "{}", report.content);
    });
}

#[test]
fn a_wide_schema_is_narrowed_to_the_tables_that_are_named() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let mut sql: String =
            (0..40).map(|i| format!("CREATE TABLE aside_{i}(x INTEGER, note TEXT);")).collect();
        sql.push_str("CREATE TABLE parcels(sent DATE, town TEXT, weight REAL); INSERT INTO parcels VALUES ('2024-01-05', 'Ulm', 1.5), ('2024-02-05', 'Ulm', 2);");
        let bench = Bench::new(&[("post", Dialect::Sqlite, sqlite(&dir.path().join("post.db"), &sql))]).await;
        let (report, made) = bench.ask("total weight of parcels by month").await;
        assert!(report.content.contains("| 2024-01 | 1.5 |"), "{}", report.content);
        assert!(made.len() < 20, "{made:?}");
    });
}
