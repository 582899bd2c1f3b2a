//! Ingest, file reading and a group-by through the sandbox, beside plain DuckDB, Polars and pandas in the same run.
//!
//!     cargo bench -p ba-data --bench tables -- [rows] [python with duckdb, pandas and polars]
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, reason = "a benchmark prints")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ba_data::{EmbeddedQuery, IngestRequest, ReadRequest, TableSource, Tables};
use ba_sandbox::{Input, Job, Limits, PrepareOptions, Sandbox, SandboxConfig, Work, prepare_python};
use serde_json::{Map, json};

const GROUP_BY: &str =
    "SELECT region, date_trunc('month', order_date) AS m, sum(amount) FROM t GROUP BY 1, 2 ORDER BY 1, 2";
const RUNS: usize = 9;
/// As often as the baseline.
const INGESTS: usize = 3;

/// Between two calls of a model at least this much passes; the pool warms the next child meanwhile.
const PAUSE: Duration = Duration::from_millis(400);

/// The group-by in plain DuckDB, on the Parquet file that the ingest wrote.
const SAME_PARQUET: &str = r#"
import sys, time, duckdb
con = duckdb.connect(config={"threads": 2})
sql = sys.argv[2].replace("FROM t ", f"FROM '{sys.argv[1]}' ")
seconds = []
for _ in range(9):
    t = time.perf_counter(); con.execute(sql).fetchall(); seconds.append(time.perf_counter() - t)
print("group_by", sorted(seconds)[4])
"#;

/// Writes the CSV, and times the same steps in plain DuckDB, Polars and pandas. Prints `name seconds` lines.
const BASELINES: &str = r#"
import sys, time, duckdb
csv, rows, parquet = sys.argv[1], int(sys.argv[2]), sys.argv[3]
everyone = rows <= 20_000_000  # above, Polars and pandas would need more memory than many machines have
con = duckdb.connect(config={"threads": 2})
con.execute("SET enable_progress_bar = false")
con.execute(f"""COPY (SELECT i AS order_id, DATE '2022-01-01' + (i % 1000)::INT AS order_date,
  ['华东','华北','华南','西南','东北'][(hash(i) % 5)::INT + 1] AS region, 'P' || lpad((hash(i * 7) % 2000)::VARCHAR, 4, '0') AS product,
  (hash(i * 3) % 20)::INT + 1 AS qty, round((hash(i * 13) % 1000000) / 100.0, 2) AS amount, 'customer_' || (hash(i * 17) % 100000) AS customer
  FROM range({rows}) t(i)) TO '{csv}' (HEADER)""")
def best(name, work, times):
    seconds = []
    for _ in range(times):
        t = time.perf_counter(); work(); seconds.append(time.perf_counter() - t)
    print(name, sorted(seconds)[len(seconds) // 2])
best("ingest", lambda: con.execute(f"COPY (FROM '{csv}') TO '{parquet}'"), 3)
def look():
    con.execute(f"DESCRIBE FROM '{csv}'").fetchall(); con.execute(f"SELECT count(*) FROM '{csv}'").fetchall()
    con.execute(f"FROM '{csv}' LIMIT 20").fetchall()
best("look", look, 3)
try:
    if not everyone:
        raise ImportError
    import polars
    def lazy():
        polars.scan_parquet(parquet).group_by("region", polars.col("order_date").dt.truncate("1mo")).agg(polars.col("amount").sum()).collect()
    best("polars_csv", lambda: polars.read_csv(csv, try_parse_dates=True), 1)
    best("polars_group_by", lazy, 5)
except ImportError:
    pass
try:
    if not everyone:
        raise ImportError
    import pandas
    frames = []
    best("pandas_csv", lambda: frames.append(pandas.read_csv(csv, parse_dates=["order_date"])), 1)
    frame = frames[0]
    best("pandas_group_by", lambda: frame.groupby(["region", frame.order_date.dt.to_period("M")]).amount.sum(), 1)
except ImportError:
    pass
"#;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
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
    let mut config = SandboxConfig::new(env, dir.path().join("sandbox"));
    config.worker_dir = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python"));
    let csv = dir.path().join("big.csv");
    let target = dir.path().join("plain.parquet");
    let plain = timings(&python, BASELINES, &[text(&csv), &rows.to_string(), text(&target)]);
    let sandbox = runtime.block_on(Sandbox::start(config)).unwrap();
    let tables = Tables::new(sandbox.clone(), dir.path().join("queries"));
    println!("{rows} rows, {} MB of CSV", csv.metadata().unwrap().len() / 1_000_000);
    runtime.block_on(async {
        ours(&tables, &python, &csv, dir.path(), plain).await;
        cost(&sandbox, &csv, dir.path()).await;
    });
}

/// Runs a script and reads its `name seconds` lines.
fn timings(python: &Path, script: &str, arguments: &[&str]) -> Vec<(String, f64)> {
    let done = Command::new(python).args(["-c", script]).args(arguments).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let line = |l: &str| l.split_once(' ').and_then(|(n, s)| Some((n.to_owned(), s.trim().parse().ok()?)));
    text.lines().filter_map(line).collect()
}

async fn ours(tables: &Tables, python: &Path, csv: &Path, dir: &Path, plain: Vec<(String, f64)>) {
    let base = |name: &str| plain.iter().find(|(n, _)| n == name).map_or(f64::NAN, |(_, s)| *s);
    let out = dir.join("out");
    let mut seconds = Vec::new();
    for _ in 0..INGESTS {
        tokio::time::sleep(PAUSE).await;
        let started = Instant::now();
        tables.ingest(ingest(csv, &out), &|_, _| {}).await.unwrap();
        seconds.push(started.elapsed().as_secs_f64());
    }
    report("upload to ready", middle(seconds), "DuckDB CSV→Parquet", base("ingest"));
    let profile = tables.ingest(ingest(csv, &out), &|_, _| {}).await.unwrap();
    println!("  Polars reads the CSV in {:.2} s, pandas in {:.2} s", base("polars_csv"), base("pandas_csv"));
    let big = vec![TableSource { names: vec!["t".into()], parquet: out.join(&profile.tables[0].parquet) }];
    let seconds = median(tables, &big, GROUP_BY).await;
    let same = timings(python, SAME_PARQUET, &[text(&big[0].parquet), GROUP_BY]);
    report("group by", seconds, "DuckDB on the same Parquet", same[0].1);
    println!("  Polars {:.3} s, pandas in memory {:.3} s", base("polars_group_by"), base("pandas_group_by"));
    let started = Instant::now();
    tables.read(read(csv)).await.unwrap();
    report("reading the CSV for one look", started.elapsed().as_secs_f64(), "DuckDB", base("look"));
    let small = dir.join("small.csv");
    std::fs::write(&small, "k,v\n".to_owned() + &"a,1\nb,2\n".repeat(500)).unwrap();
    let profile = tables.ingest(ingest(&small, &dir.join("small")), &|_, _| {}).await.unwrap();
    let table = vec![TableSource {
        names: vec!["s".into()],
        parquet: dir.join("small").join(&profile.tables[0].parquet),
    }];
    let seconds = median(tables, &table, "SELECT k, sum(v) FROM s GROUP BY 1").await;
    println!("query on a small table: {:.1} ms in all", seconds * 1000.0);
    let mut reads = Vec::new();
    for _ in 0..RUNS {
        let started = Instant::now();
        tables.read(read(&small)).await.unwrap();
        reads.push(started.elapsed().as_secs_f64());
        tokio::time::sleep(PAUSE).await;
    }
    println!("reading a small file: {:.1} ms in all", middle(reads) * 1000.0);
}

fn ingest(path: &Path, out_dir: &Path) -> IngestRequest {
    IngestRequest {
        path: path.into(),
        filename: "table.csv".into(),
        owner: "bench".into(),
        out_dir: out_dir.into(),
        options: Default::default(),
    }
}

fn middle(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// What one ingest costs the machine, as the sandbox counts it.
async fn cost(sandbox: &Sandbox, csv: &Path, dir: &Path) {
    let work = Work::Builtin {
        function: "tables.ingest".into(),
        args: json!({"path": "input", "filename": "table.csv"}),
    };
    let job = Job {
        owner: "bench".into(),
        session: None,
        work,
        inputs: vec![Input { names: vec!["input".into()], path: csv.into() }],
        folder: dir.join("cost"),
        limits: Limits { wall: Duration::from_secs(900), folder_bytes: 16 << 30, ..Limits::default() },
    };
    let outcome = sandbox.run(job, &|_| {}).await.unwrap();
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let usage = outcome.usage;
    println!(
        "  one ingest: {:.2} s, processor {:.2} s, peak memory {} MB",
        usage.wall.as_secs_f64(),
        usage.cpu.as_secs_f64(),
        usage.peak_memory / 1_000_000
    );
}

fn read(path: &Path) -> ReadRequest {
    ReadRequest {
        path: path.into(),
        filename: "small.csv".into(),
        owner: "bench".into(),
        format: None,
        encoding: None,
        sheet: None,
        nrows: None,
        preview: 20,
    }
}

/// From the second query on.
async fn median(tables: &Tables, sources: &[TableSource], sql: &str) -> f64 {
    let (mut seconds, mut inside) = (Vec::new(), Vec::new());
    for _ in 0..=RUNS {
        let query = EmbeddedQuery {
            owner: "bench".into(),
            tables: sources.to_vec(),
            sql: sql.into(),
            params: Map::new(),
            max_rows: 1000,
            keep: None,
            timeout: Duration::from_secs(120),
        };
        let started = Instant::now();
        let got = tables.query(query).await.unwrap();
        seconds.push(started.elapsed().as_secs_f64());
        inside.push(got.elapsed.as_secs_f64());
        tokio::time::sleep(PAUSE).await;
    }
    seconds.remove(0);
    let fastest = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    println!("  fastest {:.1} ms, in DuckDB itself {:.1} ms", fastest * 1000.0, middle(inside) * 1000.0);
    middle(seconds)
}

fn report(what: &str, ours: f64, against: &str, base: f64) {
    println!(
        "{what}: {ours:.3} s; {against} {base:.3} s; ratio {:.2}, difference {:.0} ms",
        ours / base,
        (ours - base) * 1000.0
    );
}
