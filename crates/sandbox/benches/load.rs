//! The sandbox under load: fresh jobs a second, one after the other once the pool is drained, processor time a job, and what idle
//! conversations hold and use. A cold interpreter in the same run is the baseline.
//! `cargo bench -p ba-sandbox --bench load`; a first argument sets the number of jobs (400).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a benchmark")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ba_sandbox::{
    Job, Limits, PrepareOptions, PythonEnv, Query, Sandbox, SandboxConfig, SessionKey, Work, prepare_python,
};
use serde_json::json;
use tokio::task::JoinSet;

const EMPTY: &str = "print(1)";
const GROUP: &str = "import pandas as pd, numpy as np\n\
    df = pd.DataFrame({'k': np.arange(1000) % 7, 'v': np.arange(1000.0)})\nprint(df.groupby('k').v.sum())";
const CHART: &str = "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\n\
    ax.plot([1, 2, 3], [3, 1, 2])\nax.set_title('销售额趋势')";
const STATS: &str = "from scipy import stats\nprint(stats.linregress([1, 2, 3], [2, 4, 7]).slope)";
const LANES: usize = 8;
const STATES: usize = 16;

struct Bench {
    sandbox: Sandbox,
    dir: tempfile::TempDir,
    workers: Workers,
}

/// The processes of this sandbox, told by the folder that their command line names.
struct Workers {
    scratch: String,
    /// Counts the processor time of this process and of all it starts, those that ended too.
    group: PathBuf,
}

impl Workers {
    fn pids(&self) -> Vec<String> {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let numbers =
            entries.filter_map(|e| e.file_name().into_string().ok()).filter(|n| n.parse::<u32>().is_ok());
        numbers
            .filter(|pid| {
                std::fs::read_to_string(format!("/proc/{pid}/cmdline"))
                    .is_ok_and(|line| line.contains(&self.scratch))
            })
            .collect()
    }

    /// Proportional memory of all of them, in MB.
    fn memory(&self) -> f64 {
        let pss = |pid: &String| -> Option<f64> {
            let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
            text.lines().find_map(|l| l.strip_prefix("Pss:")?.split_whitespace().next()?.parse().ok())
        };
        self.pids().iter().filter_map(pss).sum::<f64>() / 1024.0
    }

    /// Processor time of the workers, and of this process, in ms.
    fn cpu(&self) -> (f64, f64) {
        let text = std::fs::read_to_string(self.group.join("cpuacct.usage")).unwrap_or_default();
        let all = text.trim().parse::<f64>().unwrap_or(f64::NAN) / 1e6;
        let own = cpu_of("self", 11..13);
        (all - own, own)
    }
}

/// A control group (v1) of this benchmark's own, which whatever it starts inherits.
fn cpu_group() -> PathBuf {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let line = own.lines().find(|line| line.contains("cpuacct")).unwrap_or_default();
    let place = line.splitn(3, ':').nth(2).unwrap_or("/").trim_start_matches('/');
    let group =
        Path::new("/sys/fs/cgroup/cpuacct").join(place).join(format!("ba-bench-{}", std::process::id()));
    let entered = std::fs::create_dir(&group)
        .and_then(|()| std::fs::write(group.join("cgroup.procs"), std::process::id().to_string()));
    if let Err(error) = entered {
        println!("processor time of the workers cannot be counted here: {error}");
    }
    group
}

fn cpu_of(pid: &str, fields: std::ops::Range<usize>) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some(rest) = text.rfind(')').and_then(|at| text.get(at + 2..)) else { return 0.0 };
    let all: Vec<&str> = rest.split_whitespace().collect();
    let ticks: f64 = all.get(fields).into_iter().flatten().filter_map(|f| f.parse::<f64>().ok()).sum();
    ticks * 1000.0 / rustix::param::clock_ticks_per_second() as f64
}

impl Bench {
    fn job(&self, work: Work, session: Option<SessionKey>, folder: &str) -> Job {
        let folder = self.dir.path().join(folder);
        // Many owners: one alone may not have every place.
        let owner = folder.to_string_lossy().into_owned();
        Job { owner, session, work, inputs: Vec::new(), folder, limits: Limits::default() }
    }

    async fn once(&self, work: &Work, session: Option<SessionKey>, folder: &str) -> Duration {
        let job = self.job(work.clone(), session, folder);
        let start = Instant::now();
        let outcome = self.sandbox.run(job, &|_| {}).await.unwrap();
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        start.elapsed()
    }

    /// Fresh jobs in parallel: jobs a second, and processor time of workers and server a job.
    async fn fresh(self: &std::sync::Arc<Self>, work: &Work, jobs: usize) -> (f64, f64, f64) {
        let before = self.workers.cpu();
        let start = Instant::now();
        let mut lanes = JoinSet::new();
        for lane in 0..LANES {
            let (bench, work) = (self.clone(), work.clone());
            lanes.spawn(async move {
                for number in (lane..jobs).step_by(LANES) {
                    bench.once(&work, None, &format!("fresh-{number}")).await;
                }
            });
        }
        while let Some(lane) = lanes.join_next().await {
            lane.unwrap();
        }
        let rate = jobs as f64 / start.elapsed().as_secs_f64();
        let after = self.workers.cpu();
        (rate, (after.0 - before.0) / jobs as f64, (after.1 - before.1) / jobs as f64)
    }

    /// Queries of eight people, each over files of their own: queries a second, processor time, and p50 of one after the other.
    async fn queries(self: &std::sync::Arc<Self>, count: usize) -> (f64, f64, f64, f64) {
        let Work::Builtin { function, args } = sql() else { unreachable!("it is one") };
        let query = |lane: usize| Query {
            owner: format!("lane-{lane}"),
            function: function.clone(),
            args: args.clone(),
            inputs: Vec::new(),
            limits: Limits::default(),
        };
        let before = self.workers.cpu();
        let start = Instant::now();
        let mut lanes = JoinSet::new();
        for lane in 0..LANES {
            let (bench, query) = (self.clone(), query(lane));
            lanes.spawn(async move {
                for _ in 0..count / LANES {
                    assert!(bench.sandbox.query(query.clone()).await.unwrap().error.is_none());
                }
            });
        }
        while let Some(lane) = lanes.join_next().await {
            lane.unwrap();
        }
        let rate = count as f64 / start.elapsed().as_secs_f64();
        let after = self.workers.cpu();
        let mut times = Vec::new();
        for _ in 0..count / 4 {
            let start = Instant::now();
            self.sandbox.query(query(0)).await.unwrap();
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let each = |all: f64| all / count as f64;
        (rate, each(after.0 - before.0), each(after.1 - before.1), times[times.len() / 2])
    }

    /// One fresh job after the other, without a pause: p50 and p99 once the pool is drained.
    async fn back_to_back(&self, work: &Work, jobs: usize) -> (f64, f64) {
        let mut times = Vec::new();
        for number in 0..jobs {
            let time = self.once(work, None, &format!("next-{number}")).await;
            if number >= 8 {
                times.push(time.as_secs_f64() * 1e3);
            }
        }
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
        (at(0.5), at(0.99))
    }

    /// What one idle conversation adds to the memory, and processor time of everything in an idle second.
    async fn idle(&self, code: &str) -> (f64, f64) {
        let work = Work::UserCode { code: code.into() };
        tokio::time::sleep(Duration::from_secs(2)).await;
        let before = self.workers.memory();
        let keys: Vec<_> = (0..STATES).map(|n| SessionKey::new(format!("idle-{n}"))).collect();
        for (number, key) in keys.iter().enumerate() {
            self.once(&work, Some(key.clone()), &format!("idle-{number}")).await;
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        let memory = (self.workers.memory() - before) / STATES as f64;
        let (start, cpu) = (Instant::now(), self.workers.cpu());
        tokio::time::sleep(Duration::from_secs(11)).await;
        let after = self.workers.cpu();
        let used = (after.0 - cpu.0 + after.1 - cpu.1) / start.elapsed().as_secs_f64();
        for key in &keys {
            self.sandbox.forget(key).await;
        }
        (memory, used)
    }
}

/// Wall and processor time of a cold interpreter that does the same.
fn cold(env: &PythonEnv, code: &str, calls: usize) -> (f64, f64) {
    let start = Instant::now();
    let before = cpu_of("self", 13..15);
    for _ in 0..calls {
        let code = format!("import pandas, matplotlib.pyplot\n{code}");
        let status = Command::new(&env.python).args(["-I", "-c", &code]).env("MPLBACKEND", "Agg").output();
        assert!(status.unwrap().status.success());
    }
    let wall = start.elapsed().as_secs_f64() * 1e3 / calls as f64;
    (wall, (cpu_of("self", 13..15) - before) / calls as f64)
}

async fn python() -> PythonEnv {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let env_override = std::env::var_os("BA_PYTHON_ENV").map(PathBuf::from);
    let options = PrepareOptions { cache: home.join(".cache/ba-agent"), env_override, python: None };
    prepare_python(&options, &|_| {}).await.unwrap()
}

fn sql() -> Work {
    Work::Builtin {
        function: "tables.query".into(),
        args: json!({"sql": "SELECT i % 7 AS k, sum(i) FROM range(1000) t(i) GROUP BY 1 ORDER BY 1", "tables": [], "max_rows": 100}),
    }
}

#[tokio::main]
async fn main() {
    let jobs: usize = std::env::args().filter_map(|a| a.parse().ok()).next().unwrap_or(400);
    let env = python().await;
    let group = cpu_group();
    let dir = tempfile::tempdir().unwrap();
    let scratch = dir.path().join("scratch");
    let start = Instant::now();
    let sandbox = Sandbox::start(SandboxConfig::new(env.clone(), &scratch)).await.unwrap();
    let started = start.elapsed();
    let workers = Workers { scratch: scratch.to_string_lossy().into_owned(), group };
    let query = sql();
    let bench = std::sync::Arc::new(Bench { sandbox, dir, workers });
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!(
        "start {:.0} ms; zygote and idle pool {:.0} MB\n",
        started.as_secs_f64() * 1e3,
        bench.workers.memory()
    );
    println!(
        "| fresh job | jobs/s, 8 at once | CPU-ms a job: worker + server | back to back p50 / p99 | cold python: wall, CPU |"
    );
    println!("|---|---|---|---|---|");
    let python = |code: &str| Work::UserCode { code: code.into() };
    let rows = [
        ("empty", python(EMPTY), EMPTY, jobs),
        ("group-by, 1,000 rows", python(GROUP), GROUP, jobs),
        ("SQL", query, "import duckdb\nduckdb.sql('SELECT 1').fetchall()", jobs),
        ("scipy.stats", python(STATS), STATS, jobs / 4),
        ("chart", python(CHART), CHART, jobs / 4),
    ];
    for (name, work, code, jobs) in &rows {
        let (wall, cpu) = cold(&env, code, 3);
        let (rate, worker, server) = bench.fresh(work, *jobs).await;
        let (p50, p99) = bench.back_to_back(work, jobs / 4 + 10).await;
        println!(
            "| {name} | {rate:.0} | {worker:.1} + {server:.1} | {p50:.1} / {p99:.1} ms | {wall:.0} ms, {cpu:.0} ms |"
        );
    }
    let (rate, worker, server, p50) = bench.queries(jobs * 4).await;
    println!("| SQL, the same files again | {rate:.0} | {worker:.1} + {server:.1} | {p50:.1} ms | |");
    println!(
        "\n| 16 idle conversations after | memory of one (PSS) | processor time of everything |\n|---|---|---|"
    );
    for (name, code) in [("x = 1", "x = 1"), ("a group-by", GROUP), ("a chart", CHART)] {
        let (memory, used) = bench.idle(code).await;
        println!("| `{name}` | {memory:.1} MB | {used:.1} ms/s |");
    }
    if let Some(bench) = std::sync::Arc::into_inner(bench) {
        bench.sandbox.shutdown().await;
    }
}
