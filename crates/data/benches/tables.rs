//! Ingest, file reading and a group-by through the sandbox, beside plain DuckDB, Polars and pandas in the same run.
//!
//!     cargo bench -p ba-data --bench tables -- [rows] [python with duckdb, pandas and polars]
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, reason = "a benchmark prints")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ba_data::{EmbeddedQuery, IngestRequest, ReadRequest, TableSource, Tables};
use ba_sandbox::{PrepareOptions, Sandbox, SandboxConfig, prepare_python};
use serde_json::Map;

const GROUP_BY: &str =
    "SELECT region, date_trunc('month', order_date) AS m, sum(amount) FROM t GROUP BY 1, 2 ORDER BY 1, 2";
const RUNS: usize = 9;

/// Writes the CSV, and times the same steps in plain DuckDB, Polars and pandas. Prints `name seconds` lines.
const BASELINES: &str = r#"
import sys, time, duckdb
csv, rows, parquet = sys.argv[1], int(sys.argv[2]), sys.argv[3]
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
sql = "SELECT region, date_trunc('month', order_date) AS m, sum(amount) FROM '%s' GROUP BY 1, 2 ORDER BY 1, 2" % parquet
best("group_by", lambda: con.execute(sql).fetchall(), 9)
try:
    import polars
    def lazy():
        polars.scan_parquet(parquet).group_by("region", polars.col("order_date").dt.truncate("1mo")).agg(polars.col("amount").sum()).collect()
    best("polars_csv", lambda: polars.read_csv(csv, try_parse_dates=True), 1)
    best("polars_group_by", lazy, 5)
except ImportError:
    pass
try:
    import pandas
    frames = []
    best("pandas_csv", lambda: frames.append(pandas.read_csv(csv, parse_dates=["order_date"])), 1)
    frame = frames[0]
    best("pandas_group_by", lambda: frame.groupby(["region", frame.order_date.dt.to_period("M")]).amount.sum(), 1)
except ImportError:
    pass
"#;

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
    let plain = baselines(&python, &csv, rows, &dir.path().join("plain.parquet"));
    let sandbox = runtime.block_on(Sandbox::start(config)).unwrap();
    let tables = Tables::new(sandbox, dir.path().join("queries"));
    println!("{rows} rows, {} MB of CSV", csv.metadata().unwrap().len() / 1_000_000);
    runtime.block_on(ours(&tables, &csv, dir.path(), &plain));
}

fn baselines(python: &Path, csv: &Path, rows: u64, parquet: &Path) -> Vec<(String, f64)> {
    let done = Command::new(python)
        .args(["-c", BASELINES])
        .arg(csv)
        .arg(rows.to_string())
        .arg(parquet)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let line = |l: &str| l.split_once(' ').and_then(|(n, s)| Some((n.to_owned(), s.trim().parse().ok()?)));
    text.lines().filter_map(line).collect()
}

async fn ours(tables: &Tables, csv: &Path, dir: &Path, plain: &[(String, f64)]) {
    let base = |name: &str| plain.iter().find(|(n, _)| n == name).map_or(f64::NAN, |(_, s)| *s);
    let out = dir.join("out");
    let started = Instant::now();
    let request = IngestRequest {
        path: csv.into(),
        filename: "big.csv".into(),
        owner: "bench".into(),
        out_dir: out.clone(),
    };
    let profile = tables.ingest(request, &|_, _| {}).await.unwrap();
    report("upload to ready", started.elapsed().as_secs_f64(), "DuckDB CSV→Parquet", base("ingest"));
    println!("  Polars reads the CSV in {:.2} s, pandas in {:.2} s", base("polars_csv"), base("pandas_csv"));
    let big = vec![TableSource { names: vec!["t".into()], parquet: out.join(&profile.tables[0].parquet) }];
    let seconds = median(tables, &big, GROUP_BY).await;
    report("group by", seconds, "DuckDB on Parquet", base("group_by"));
    println!("  Polars {:.3} s, pandas in memory {:.3} s", base("polars_group_by"), base("pandas_group_by"));
    let small = dir.join("small.csv");
    std::fs::write(&small, "k,v\n".to_owned() + &"a,1\nb,2\n".repeat(500)).unwrap();
    let request = IngestRequest {
        path: small.clone(),
        filename: "small.csv".into(),
        owner: "bench".into(),
        out_dir: dir.join("small"),
    };
    let profile = tables.ingest(request, &|_, _| {}).await.unwrap();
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
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
    reads.sort_by(f64::total_cmp);
    println!("reading a small file: {:.1} ms in all", reads[RUNS / 2] * 1000.0);
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

/// From the second query on. A pause between two lets the pool warm the next child, as between two calls of a model.
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
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
    seconds.remove(0);
    seconds.sort_by(f64::total_cmp);
    inside.sort_by(f64::total_cmp);
    println!("  fastest {:.1} ms, in DuckDB itself {:.1} ms", seconds[0] * 1000.0, inside[RUNS / 2] * 1000.0);
    seconds[RUNS / 2]
}

fn report(what: &str, ours: f64, against: &str, base: f64) {
    println!(
        "{what}: {ours:.3} s; {against} {base:.3} s; ratio {:.2}, difference {:.0} ms",
        ours / base,
        (ours - base) * 1000.0
    );
}
