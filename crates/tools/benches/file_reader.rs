//! An upload through the store, and `file_reader` at the standard level on it, beside DuckDB, Polars and pandas that give
//! columns, types, the number of rows and the first twenty of the same CSV. All in one run.
//!
//!     cargo bench -p ba-tools --bench file_reader -- [rows] [python with duckdb, pandas and polars]
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, reason = "a benchmark prints")]

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ba_agent::pipeline::{CallRequest, Executor, ExecutorConfig, IdempotencyCache, Told};
use ba_agent::run::{Decision, PlannedCall};
use ba_agent::tool::ToolContext;
use ba_agent::{Registry, Typed};
use ba_data::Tables;
use ba_protocol::{ConversationId, OutputLevel, RunId, ToolCall, Upload, UserId};
use ba_sandbox::{PrepareOptions, Sandbox, SandboxConfig, prepare_python};
use ba_store::{Store, StoreConfig};
use ba_tools::{FileReader, ingest_upload};
use serde_json::{Value, json};

const RUNS: usize = 5;
/// Above this, Polars and pandas would need more memory than many machines have.
const ALL_PEERS: u64 = 20_000_000;

/// Writes the CSV and prints `name seconds` for each peer that is installed.
const PEERS: &str = r#"
import sys, time, duckdb
csv, rows, everyone = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "true"
con = duckdb.connect(config={"threads": 2})
con.execute("SET enable_progress_bar = false")
con.execute(f"""COPY (SELECT i AS order_id, DATE '2022-01-01' + (i % 1000)::INT AS order_date,
  ['华东','华北','华南','西南','东北'][(hash(i) % 5)::INT + 1] AS region, 'P' || lpad((hash(i * 7) % 2000)::VARCHAR, 4, '0') AS product,
  (hash(i * 3) % 20)::INT + 1 AS qty, round((hash(i * 13) % 1000000) / 100.0, 2) AS amount, 'customer_' || (hash(i * 17) % 100000) AS customer
  FROM range({rows}) t(i)) TO '{csv}' (HEADER)""")
def time_of(name, work):
    seconds = []
    for _ in range(3):
        t = time.perf_counter(); work(); seconds.append(time.perf_counter() - t)
    print(name, sorted(seconds)[1])
def look():
    con.execute(f"DESCRIBE FROM '{csv}'").fetchall()
    con.execute(f"SELECT count(*) FROM '{csv}'").fetchall()
    con.execute(f"FROM '{csv}' LIMIT 20").fetchall()
time_of("DuckDB", look)
if everyone:
    try:
        import polars
        def frame():
            f = polars.read_csv(csv, try_parse_dates=True); return f.schema, f.height, f.head(20).rows()
        time_of("Polars", frame)
    except ImportError:
        pass
    try:
        import pandas
        def loaded():
            f = pandas.read_csv(csv, parse_dates=["order_date"]); return f.dtypes, len(f), f.head(20).values.tolist()
        time_of("pandas", loaded)
    except ImportError:
        pass
"#;

struct Desk {
    store: Store,
    tables: Tables,
    conversation: ConversationId,
    executor: Executor,
    registry: Registry,
}

impl Desk {
    async fn new(dir: &Path, tables: Tables) -> Self {
        let store = Store::open(StoreConfig::local(dir.join("data"))).await.unwrap();
        let conversation = store.create(&UserId::local(), "bench").await.unwrap().id;
        let reader = FileReader { tables: Some(tables.clone()), store: store.clone() };
        let registry = Registry::new(vec![Arc::new(Typed::new(reader))]).unwrap();
        let (config, cache) = (ExecutorConfig::default(), IdempotencyCache::default());
        let executor = Executor { config, cache, data: Arc::new(store.clone()) };
        Self { store, tables, conversation, executor, registry }
    }

    /// Streams the file into the store, as the server does with a request.
    async fn receive(&self, csv: &Path) -> Upload {
        let mut writer = self.store.begin_upload(&self.conversation, "big.csv", None).await.unwrap();
        let mut file = std::fs::File::open(csv).unwrap();
        let mut chunk = vec![0; 1 << 20];
        loop {
            match file.read(&mut chunk).unwrap() {
                0 => return writer.finish().await.unwrap(),
                n => writer.write(&chunk[..n]).await.unwrap(),
            }
        }
    }

    /// The observation of one call, through the whole pipeline. `files` differs from call to call, so none is answered from cache.
    async fn read(&self, arguments: Value, files: &str) -> String {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let call = ToolCall { tool_name: "file_reader".into(), tool_call_id: "call_1".into(), arguments };
        let planned = PlannedCall { call, decision: Decision::Run };
        let context = ToolContext::new(UserId::local(), self.conversation.clone(), RunId::random(), "call_1");
        let request = CallRequest {
            planned: &planned,
            registry: &self.registry,
            context,
            global_level: OutputLevel::Standard,
            window_share: 0.1,
            files,
            counter: &(Arc::new(|text: &str| text.chars().count().div_ceil(2)) as _),
            told: &Told::default(),
        };
        let done = self.executor.execute(request).await.unwrap().result;
        assert!(done.success, "{}", done.observation);
        done.observation
    }

    async fn median(&self, arguments: &Value) -> f64 {
        let mut seconds = Vec::new();
        for run in 0..=RUNS {
            let started = Instant::now();
            let seen = self.read(arguments.clone(), &run.to_string()).await;
            seconds.push(started.elapsed().as_secs_f64());
            assert!(seen.contains("order_date"), "{seen}");
            tokio::time::sleep(Duration::from_millis(400)).await;
        }
        seconds.remove(0);
        seconds.sort_by(f64::total_cmp);
        seconds[RUNS / 2]
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let rows: u64 = arguments.first().and_then(|a| a.parse().ok()).unwrap_or(1_000_000);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
    let options = PrepareOptions { cache: home.join(".cache/ba-agent"), env_override: None, python: None };
    let env = runtime.block_on(prepare_python(&options, &|_| {})).unwrap();
    let python = arguments.get(1).map_or_else(|| env.python.clone(), PathBuf::from);
    let csv = dir.path().join("big.csv");
    let peers = peers(&python, &csv, rows);
    let mut config = SandboxConfig::new(env, dir.path().join("sandbox"));
    config.worker_dir = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python"));
    println!("{rows} rows, {} MB of CSV", csv.metadata().unwrap().len() / 1_000_000);
    runtime.block_on(async {
        let sandbox = Sandbox::start(config).await.unwrap();
        let desk = Desk::new(dir.path(), Tables::new(sandbox, dir.path().join("queries"))).await;
        measure(&desk, &csv, &peers).await;
    });
}

async fn measure(desk: &Desk, csv: &Path, peers: &[(String, f64)]) {
    let started = Instant::now();
    let upload = desk.receive(csv).await;
    let received = started.elapsed().as_secs_f64();
    let upload = ingest_upload(&desk.store, &desk.tables, &upload, &|_, _| {}).await.unwrap();
    assert!(upload.profile.is_some(), "{upload:?}");
    println!(
        "upload: {received:.2} s to store it, {:.2} s in all until ready",
        started.elapsed().as_secs_f64()
    );
    report("file_reader, standard", desk.median(&json!({"path": "upload_001"})).await, peers);
    report("file_reader, 1000 rows", desk.median(&json!({"path": "upload_001", "nrows": 1000})).await, peers);
    let work = desk.store.work_dir(&desk.conversation).await.unwrap();
    std::fs::rename(csv, work.join("made.csv")).unwrap();
    report("file_reader, a file never seen before", desk.median(&json!({"path": "made.csv"})).await, peers);
}

fn report(what: &str, seconds: f64, peers: &[(String, f64)]) {
    let against: Vec<String> =
        peers.iter().map(|(name, s)| format!("{name} {:.0} ms ({:.3})", s * 1000.0, seconds / s)).collect();
    println!("{what}: {:.1} ms; {}", seconds * 1000.0, against.join(", "));
}

fn peers(python: &Path, csv: &Path, rows: u64) -> Vec<(String, f64)> {
    let done = Command::new(python)
        .args(["-c", PEERS])
        .arg(csv)
        .args([rows.to_string(), (rows <= ALL_PEERS).to_string()])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let line = |l: &str| l.split_once(' ').and_then(|(n, s)| Some((n.to_owned(), s.trim().parse().ok()?)));
    String::from_utf8_lossy(&done.stdout).lines().filter_map(line).collect()
}
