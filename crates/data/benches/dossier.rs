//! What a question costs before its model is asked: the dossier from stored profiles, and the test of join keys that was made
//! in the background after ingest, beside plain DuckDB's join of the same columns in the same run.
//!
//!     cargo bench -p ba-data --bench dossier -- [rows]
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, reason = "a benchmark prints")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ba_data::dossier::{Facts, KnownTable, MAX_TOKENS, Words, write};
use ba_data::{IngestRequest, JoinTable, Tables};
use ba_protocol::UploadId;
use ba_protocol::file::{IngestOptions, TableProfile};
use ba_sandbox::{PrepareOptions, Sandbox, SandboxConfig, prepare_python};
use serde_json::{Value, json};

const RUNS: usize = 7;

/// Two tables of so many rows each: orders, and the lines of orders that name them.
const WRITE: &str = r#"
import sys, duckdb
rows, orders, lines = int(sys.argv[1]), sys.argv[2], sys.argv[3]
con = duckdb.connect(config={"threads": 2})
con.execute(f"""COPY (SELECT 'SO' || lpad(i::VARCHAR, 8, '0') AS order_id, DATE '2022-01-01' + (i % 1000)::INT AS day,
  'C' || (hash(i) % 50000) AS customer, round((hash(i * 13) % 1000000) / 100.0, 2) AS amount FROM range({rows}) t(i)) TO '{orders}' (HEADER)""")
con.execute(f"""COPY (SELECT i AS line, 'SO' || lpad((hash(i) % {rows})::VARCHAR, 8, '0') AS order_id, 'P' || (hash(i * 7) % 2000) AS product,
  (hash(i * 3) % 20)::INT + 1 AS qty FROM range({rows}) t(i)) TO '{lines}' (HEADER)""")
"#;

/// The join that the test stands for, on the same Parquet files.
const JOIN: &str = r#"
import sys, time, duckdb
con = duckdb.connect(config={"threads": 2})
seconds = []
for _ in range(7):
    t = time.perf_counter()
    con.execute(f"SELECT count(*) FROM '{sys.argv[1]}' a JOIN '{sys.argv[2]}' b ON a.order_id = b.order_id").fetchall()
    seconds.append(time.perf_counter() - t)
print(sorted(seconds)[3])
"#;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let rows: u64 = arguments.first().and_then(|a| a.parse().ok()).unwrap_or(1_000_000);
    dossiers();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
    let options = PrepareOptions { cache: home.join(".cache/ba-agent"), env_override: None, python: None };
    let env = runtime.block_on(prepare_python(&options, &|_| {})).unwrap();
    let python = env.python.clone();
    let mut config = SandboxConfig::new(env, dir.path().join("sandbox"));
    config.worker_dir = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python"));
    let sandbox = runtime.block_on(Sandbox::start(config)).unwrap();
    let tables = Tables::new(sandbox, dir.path().join("queries"));
    runtime.block_on(joins(&tables, &python, dir.path(), rows));
}

/// One table, five, and more than are told in full.
fn dossiers() {
    let id = UploadId::numbered(1);
    println!("| tables × columns | tokens | p50 | against writing the profiles as JSON once |");
    println!("|---|---|---|---|");
    for (tables, columns) in [(1, 15), (5, 20), (40, 60), (200, 200)] {
        let profiles: Vec<TableProfile> = (0..tables).map(|n| profile(n, columns)).collect();
        let known = |p| KnownTable {
            file_id: &id,
            filename: "sales.csv",
            sql: "sales".into(),
            python: "sales".into(),
            profile: p,
        };
        let facts = Facts {
            words: Words::default(),
            question: "2024年华东的销售额是多少",
            tables: profiles.iter().map(known).collect(),
            ..Facts::default()
        };
        let text = write(&facts, MAX_TOKENS, &count).unwrap_or_default();
        let ours = median(|| drop(std::hint::black_box(write(&facts, MAX_TOKENS, &count))));
        let plain = median(|| drop(std::hint::black_box(serde_json::to_string(&profiles))));
        println!(
            "| {tables} × {columns} | {} | {:.2} ms | {:.1}× |",
            count(&text),
            ours.as_secs_f64() * 1e3,
            ours.as_secs_f64() / plain.as_secs_f64()
        );
    }
}

fn profile(table: usize, columns: usize) -> TableProfile {
    let column = |n: usize| match n % 3 {
        0 => json!({"name": format!("地区_{n}"), "type": "VARCHAR", "distinct": 6, "nulls": 15,
            "top": [{"value": "华东", "count": 2000}, {"value": "华南", "count": 900}, {"value": "华北", "count": 800}]}),
        1 => {
            json!({"name": format!("销售额_{n}"), "type": "DOUBLE", "min": 12.5, "max": 98000.25, "mean": 1523.12, "unit": "万元"})
        }
        _ => json!({"name": format!("日期_{n}"), "type": "DATE", "min": "2024-01-01", "max": "2024-12-31"}),
    };
    let columns: Vec<Value> = (0..columns).map(column).collect();
    serde_json::from_value(json!({"name": format!("table_{table}"), "rows": 5000, "columns": columns}))
        .unwrap()
}

/// About what a tokenizer makes of Chinese and English mixed; counting itself is measured with the pipeline.
fn count(text: &str) -> usize {
    text.len() / 3
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed()
        })
        .collect();
    times.sort();
    times[RUNS / 2]
}

async fn joins(tables: &Tables, python: &Path, dir: &Path, rows: u64) {
    let csv = [dir.join("orders.csv"), dir.join("lines.csv")];
    let text = |p: &Path| p.to_str().unwrap().to_owned();
    script(python, WRITE, &[rows.to_string(), text(&csv[0]), text(&csv[1])]);
    let mut both = Vec::new();
    for (n, path) in csv.iter().enumerate() {
        let out_dir = dir.join(format!("out{n}"));
        let filename = path.file_name().unwrap().to_str().unwrap().to_owned();
        let request = IngestRequest {
            owner: "bench".into(),
            path: path.clone(),
            filename,
            out_dir: out_dir.clone(),
            options: IngestOptions::default(),
        };
        let profile = tables.ingest(request, &|_, _| {}).await.unwrap().tables.remove(0);
        both.push(JoinTable { parquet: out_dir.join(&profile.parquet), profile });
    }
    let mut times = Vec::new();
    for _ in 0..RUNS {
        // As after an ingest: the pool has had the time to warm the next child.
        tokio::time::sleep(Duration::from_millis(400)).await;
        let began = Instant::now();
        let found = tables.joins("bench", &both, 1).await.unwrap();
        times.push(began.elapsed());
        assert!(found.iter().any(|j| j.column == "order_id" && j.other_column == "order_id"), "{found:?}");
    }
    times.sort();
    let ours = times[RUNS / 2].as_secs_f64();
    let plain: f64 =
        script(python, JOIN, &[text(&both[0].parquet), text(&both[1].parquet)]).trim().parse().unwrap();
    println!(
        "join test of two tables of {rows} rows: p50 {:.0} ms (plain DuckDB's own join of the column {:.0} ms: {:.2}×)",
        ours * 1e3,
        plain * 1e3,
        ours / plain
    );
}

fn script(python: &Path, code: &str, arguments: &[String]) -> String {
    let done = Command::new(python).args(["-c", code]).args(arguments).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}
