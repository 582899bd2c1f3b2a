//! Compares one sandbox job with a cold interpreter and with a Jupyter kernel, in the same run.
//! `cargo bench -p ba-sandbox`; a first argument sets the number of calls (200). Jupyter is measured when installed:
//! `BA_BENCH_JUPYTER` names a Python that has `jupyter_client` and `ipykernel`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a benchmark")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ba_sandbox::{
    Job, Limits, PrepareOptions, PythonEnv, Sandbox, SandboxConfig, SessionKey, Work, prepare_python,
};

const EMPTY: &str = "print(1)";
const GROUP: &str = "import pandas as pd, numpy as np\n\
    df = pd.DataFrame({'k': np.arange(1000) % 7, 'v': np.arange(1000.0)})\nprint(df.groupby('k').v.sum())";
const CHART: &str = "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\n\
    ax.plot([1, 2, 3], [3, 1, 2])\nax.set_title('销售额趋势')\nax.set_xlabel('月份')";

struct Figures {
    p50: Duration,
    p99: Duration,
}

fn figures(mut times: Vec<Duration>) -> Figures {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
    Figures { p50: at(0.5), p99: at(0.99) }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

struct Bench {
    sandbox: Sandbox,
    dir: tempfile::TempDir,
    counter: std::sync::atomic::AtomicUsize,
}

impl Bench {
    fn job(&self, code: &str, session: Option<SessionKey>, folder: &str) -> Job {
        Job {
            owner: "bench".into(),
            session,
            work: Work::UserCode { code: code.to_owned() },
            inputs: Vec::new(),
            folder: self.dir.path().join(folder),
            limits: Limits::default(),
        }
    }

    async fn once(&self, code: &str, session: Option<SessionKey>, folder: &str) -> Duration {
        let job = self.job(code, session, folder);
        let start = Instant::now();
        let outcome = self.sandbox.run(job, &|_| {}).await.unwrap();
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        start.elapsed()
    }

    /// First call of a conversation, with the pool given time to refill in between, as people do.
    async fn first(&self, code: &str, calls: usize) -> Figures {
        let mut times = Vec::new();
        for _ in 0..calls {
            let number = self.counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let key = SessionKey::new(format!("first-{number}"));
            times.push(self.once(code, Some(key.clone()), &format!("first-{number}")).await);
            self.sandbox.forget(&key).await;
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
        figures(times)
    }

    async fn later(&self, code: &str, calls: usize) -> Figures {
        let key = SessionKey::new("later");
        self.once("state = list(range(1000))", Some(key.clone()), "later").await;
        let mut times = Vec::new();
        for _ in 0..calls {
            times.push(self.once(code, Some(key.clone()), "later").await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.sandbox.forget(&key).await;
        figures(times)
    }

    async fn throughput(&self, calls: usize) -> (f64, f64) {
        let fresh = self.parallel(calls, |number| (None, format!("fresh-{number}"))).await;
        let stateful = self
            .parallel(calls, |number| {
                (Some(SessionKey::new(format!("p{}", number % 8))), format!("p{}", number % 8))
            })
            .await;
        (fresh, stateful)
    }

    async fn parallel(&self, calls: usize, place: impl Fn(usize) -> (Option<SessionKey>, String)) -> f64 {
        let start = Instant::now();
        let lanes = (0..8).map(|lane| {
            let place = &place;
            async move {
                for number in (lane..calls).step_by(8) {
                    let (session, folder) = place(number);
                    self.once(EMPTY, session, &folder).await;
                }
            }
        });
        futures_join(lanes).await;
        calls as f64 / start.elapsed().as_secs_f64()
    }
}

async fn futures_join(lanes: impl Iterator<Item = impl Future<Output = ()>>) {
    let mut lanes: Vec<_> = lanes.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        lanes.retain_mut(|lane| lane.as_mut().poll(context).is_pending());
        if lanes.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

fn cold(env: &PythonEnv, code: &str, calls: usize) -> Figures {
    let code = format!("import pandas, matplotlib.pyplot\n{code}");
    let times = (0..calls).map(|_| {
        let start = Instant::now();
        let output =
            Command::new(&env.python).args(["-I", "-c", &code]).env("MPLBACKEND", "Agg").output().unwrap();
        assert!(output.status.success());
        start.elapsed()
    });
    figures(times.collect())
}

/// Time from starting a kernel to the reply to the code, measured by a small Python program.
fn jupyter(python: &Path, code: &str, calls: usize) -> Option<Figures> {
    let program = "import sys, time\nfrom jupyter_client.manager import start_new_kernel\n\
        for _ in range(int(sys.argv[2])):\n    t = time.perf_counter()\n    m, c = start_new_kernel()\n    \
        c.execute_interactive('import pandas, matplotlib.pyplot\\n' + sys.argv[1], output_hook=lambda m: None)\n    \
        print('T', time.perf_counter() - t)\n    c.stop_channels(); m.shutdown_kernel(now=True)\n";
    let output = Command::new(python).args(["-c", program, code, &calls.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let times: Vec<_> = text
        .lines()
        .filter_map(|l| Some(Duration::from_secs_f64(l.strip_prefix("T ")?.parse().ok()?)))
        .collect();
    (!times.is_empty()).then(|| figures(times))
}

fn private_memory(scratch: &str) -> u64 {
    let mut total = 0;
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        if !line.contains("ba_worker") || !line.contains(scratch) {
            continue;
        }
        let text = std::fs::read_to_string(entry.path().join("smaps_rollup")).unwrap_or_default();
        let pss =
            text.lines().find_map(|l| l.strip_prefix("Pss:")?.split_whitespace().next()?.parse::<u64>().ok());
        total += pss.unwrap_or(0) / 1024;
    }
    total
}

#[tokio::main]
async fn main() {
    let calls = std::env::args().filter_map(|a| a.parse().ok()).next().unwrap_or(200);
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let env_override = std::env::var_os("BA_PYTHON_ENV").map(PathBuf::from);
    let options = PrepareOptions { cache: home.join(".cache/ba-agent"), env_override, python: None };
    let env = prepare_python(&options, &|_| {}).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let scratch = dir.path().join("scratch");
    let sandbox = Sandbox::start(SandboxConfig::new(env.clone(), &scratch)).await.unwrap();
    let started = start.elapsed();
    let bench = Bench { sandbox, dir, counter: Default::default() };
    tokio::time::sleep(Duration::from_secs(1)).await;
    println!(
        "start {:.0} ms; idle pool of 3: {} MB\n",
        ms(started),
        private_memory(&scratch.to_string_lossy())
    );
    println!(
        "| job | cold python p50 | Jupyter kernel p50 | first call p50 / p99 | later call p50 / p99 | cold ÷ first |"
    );
    println!("|---|---|---|---|---|---|");
    let jupyter_python = std::env::var_os("BA_BENCH_JUPYTER").map(PathBuf::from);
    for (name, code) in [("empty", EMPTY), ("group-by, 1,000 rows", GROUP), ("chart, Chinese text", CHART)] {
        let baseline = cold(&env, code, (calls / 10).clamp(3, 20));
        let kernel = jupyter_python.as_deref().and_then(|python| jupyter(python, code, 5));
        let kernel = kernel.map_or("not installed".into(), |k| format!("{:.0} ms", ms(k.p50)));
        let first = bench.first(code, calls).await;
        let later = bench.later(code, calls).await;
        println!(
            "| {name} | {:.0} ms | {kernel} | {:.1} / {:.1} ms | {:.1} / {:.1} ms | {:.0}× |",
            ms(baseline.p50),
            ms(first.p50),
            ms(first.p99),
            ms(later.p50),
            ms(later.p99),
            baseline.p50.as_secs_f64() / first.p50.as_secs_f64(),
        );
    }
    let (fresh, stateful) = bench.throughput(calls).await;
    println!("\n8 in parallel: {fresh:.0} fresh jobs/s, {stateful:.0} stateful calls/s");
    bench.sandbox.shutdown().await;
}
