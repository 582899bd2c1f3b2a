//! A table of many rows in several files, asked through the engine and in DuckDB in the same run; prints what each took
//! (`scripts/test-engine rows 100000000`). No figure is expected: only that both give the same answers.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use ba_data::guard::{Dialect, FileTable};
use ba_data::{ConnectionConfig, Connections, EmbeddedQuery, SecretUrl, TableSource};
use serde_json::Map;

use super::engine::shown;
use super::sail;
use super::support::{block, tables};

const FILES: usize = 8;
const QUESTIONS: &[(&str, &str)] = &[
    ("count", "SELECT count(*) FROM t"),
    (
        "sum by region and year",
        "SELECT region, year(day) AS y, sum(quantity) AS n, round(sum(amount), 2) AS s FROM t GROUP BY 1, 2 ORDER BY 1, 2",
    ),
    (
        "ten largest of a million customers",
        "SELECT customer, sum(amount) AS s FROM t GROUP BY customer ORDER BY s DESC, customer LIMIT 10",
    ),
    ("different customers", "SELECT count(DISTINCT customer) FROM t WHERE quantity > 5"),
    (
        "join of a year's sums with the table",
        "SELECT count(*) FROM t JOIN (SELECT region AS r, max(amount) AS m FROM t GROUP BY region) x ON t.region = x.r AND t.amount = x.m",
    ),
];

/// Written by DuckDB, outside the sandbox.
fn write(folder: &Path, rows: u64) {
    let python = std::env::var_os("BA_DUCKDB_PYTHON").expect("BA_DUCKDB_PYTHON names a Python with duckdb");
    let each = rows / FILES as u64;
    let code = format!(
        "import duckdb\nc = duckdb.connect()\nc.execute('SET enable_progress_bar = false')\nfor i in range({FILES}):\n c.execute(f\"\"\"COPY (SELECT 'region ' || (hash(k) % 20) AS region, \
         'customer ' || (hash(k + 7) % 1000000) AS customer, DATE '2022-01-01' + (hash(k + 1) % 1000)::INT AS day, \
         (hash(k + 2) % 10)::INT AS quantity, ((hash(k + 3) % 1000000)::BIGINT / 100)::DECIMAL(12,2) AS amount \
         FROM range({{i}} * {each}, ({{i}} + 1) * {each}) r(k)) TO '{}/part-{{i}}.parquet' (FORMAT parquet, COMPRESSION zstd)\"\"\")",
        folder.display()
    );
    assert!(Command::new(python).args(["-c", &code]).status().unwrap().success());
}

#[test]
#[ignore = "needs the package pysail, and minutes"]
fn many_rows_on_both_engines() {
    let rows: u64 = std::env::var("BA_ROWS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let dir = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    write(dir.path(), rows);
    let parts: Vec<_> = (0..FILES).map(|i| dir.path().join(format!("part-{i}.parquet"))).collect();
    let bytes: u64 = parts.iter().map(|p| p.metadata().unwrap().len()).sum();
    println!(
        "{rows} rows in {FILES} files, {} MB, written in {:.0} s",
        bytes >> 20,
        begun.elapsed().as_secs_f64()
    );
    let server = sail::start(&[
        ("SAIL_MODE", "local-cluster".into()),
        ("SAIL_CLUSTER__WORKER_INITIAL_COUNT", "2".into()),
    ]);
    let url = format!("file://{}/", dir.path().display());
    let config = ConnectionConfig {
        name: "engine".into(),
        url: SecretUrl::new(server.url()),
        description: String::new(),
        allow_superuser: false,
        timeout: Duration::from_secs(600),
        timezone: None,
        dialect: Some(Dialect::Spark),
        files: Some(vec![FileTable { names: vec!["t".into()], url }]),
        functions: Vec::new(),
    };
    let engine = block(async { Connections::new(vec![config]).unwrap() });
    let sources: Vec<TableSource> =
        (0..FILES).map(|i| TableSource { names: vec![format!("t{i}")], parquet: parts[i].clone() }).collect();
    let all: Vec<String> = (0..FILES).map(|i| format!("SELECT * FROM t{i}")).collect();
    // The sandbox is started and the engine's first session made before anything is timed.
    block(tables().first_rows("tester", parts[0].clone(), 1)).unwrap();
    block(engine.query("engine", "SELECT 1", &Map::new(), 1)).unwrap();
    println!("| question | engine s | DuckDB in the sandbox s |\n|---|---|---|");
    for (name, sql) in QUESTIONS {
        let begun = Instant::now();
        let there = block(engine.query("engine", sql, &Map::new(), 1000)).unwrap();
        let on_engine = begun.elapsed().as_secs_f64();
        let request = EmbeddedQuery {
            owner: "tester".into(),
            tables: sources.clone(),
            sql: format!("WITH t AS ({}) {sql}", all.join(" UNION ALL ")),
            params: Map::new(),
            max_rows: 1000,
            keep: None,
            timeout: Duration::from_secs(600),
        };
        let begun = Instant::now();
        let here = block(tables().query(request));
        let in_duckdb = begun.elapsed().as_secs_f64();
        match here {
            Ok(here) => {
                println!("| {name} | {on_engine:.2} | {in_duckdb:.2} |");
                assert_eq!(shown(&there.rows), shown(&here.rows), "{name}");
            }
            // One machine's memory is what the engine is for.
            Err(why) => println!("| {name} | {on_engine:.2} | {why} |"),
        }
    }
}
