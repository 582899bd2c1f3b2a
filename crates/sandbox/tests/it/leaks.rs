//! After many violent ends nothing is left: no process, control group, mount, descriptor or folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use ba_sandbox::{JobErrorKind, Sandbox, Work};

use crate::support::{Desk, block, config};

/// Processes whose command line names this sandbox's scratch folder.
fn processes(scratch: &Path) -> usize {
    let needle = scratch.to_string_lossy().into_owned();
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().chars().all(|c| c.is_ascii_digit()))
        .filter(|entry| {
            fs::read_to_string(entry.path().join("cmdline")).is_ok_and(|line| line.contains(&needle))
        })
        .count()
}

fn cgroups() -> BTreeSet<String> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut found = BTreeSet::new();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let folder = Path::new("/sys/fs/cgroup").join(controllers).join(path.trim_start_matches('/'));
        let names = fs::read_dir(folder).into_iter().flatten().flatten();
        let prefix = format!("ba-sandbox-{}-", std::process::id());
        found.extend(
            names.map(|e| e.file_name().to_string_lossy().into_owned()).filter(|n| n.starts_with(&prefix)),
        );
    }
    found
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn mounts() -> usize {
    fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count()
}

async fn settle(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..600 {
        if done() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{what} did not settle");
}

/// Kills: 24 in `make test`; `BA_LEAK_KILLS=500` is the long form.
#[test]
fn out_of_memory_kills_leave_nothing_behind() {
    let kills: usize = std::env::var("BA_LEAK_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(24);
    let area = tempfile::tempdir().unwrap();
    let scratch = area.path().join("scratch");
    let settings = ba_sandbox::SandboxConfig { pool: 1, ..config(&scratch) };
    block(async {
        let groups_before = cgroups();
        let mounts_before = mounts();
        let sandbox = Sandbox::start(settings).await.unwrap();
        let mut desk = Desk::on(sandbox.clone()).open();
        desk.limits.memory = 64 << 20;
        desk.limits.wall = Duration::from_secs(20);
        // Past the rlimit of each process, together past the limit of the job: the kernel has to kill.
        let greedy = "
import os, mmap
while True:
    if os.fork() == 0:
        block = bytearray(60 << 20)
        for i in range(0, len(block), 4096): block[i] = 1
        import time; time.sleep(60)
    import time; time.sleep(0.02)";
        let direct = "x = []\nwhile True: x.append(bytearray(8 << 20))";
        let mut baseline = (0, 0);
        for number in 0..kills {
            let code = if number % 4 == 3 { greedy } else { direct };
            let wall = if number % 4 == 3 { Duration::from_secs(2) } else { Duration::from_secs(20) };
            let mut job = desk.job(Work::UserCode { code: code.into() });
            job.limits.wall = wall;
            let outcome = sandbox.run(job, &|_| {}).await.unwrap();
            let kind = outcome.error.unwrap().kind;
            assert!(
                matches!(kind, JobErrorKind::OutOfMemory | JobErrorKind::Timeout | JobErrorKind::Killed),
                "{kind:?}"
            );
            if number == 3 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                baseline = (processes(&scratch), descriptors());
            }
        }
        // Other tests of this process open and close descriptors too; a leak would show as one per kill.
        settle("processes", || processes(&scratch) <= baseline.0).await;
        settle("descriptors", || descriptors() < baseline.1 + kills.max(12)).await;
        settle("control groups", || cgroups().difference(&groups_before).count() <= 40).await;
        sandbox.shutdown().await;
        settle("the last process", || processes(&scratch) == 0).await;
        assert_eq!(mounts(), mounts_before);
        let left: Vec<_> = fs::read_dir(&scratch).unwrap().flatten().map(|e| e.file_name()).collect();
        assert!(left.iter().all(|name| name.to_string_lossy().starts_with("worker-")), "{left:?}");
        assert!(fs::read_dir(desk.folder()).unwrap().next().is_none());
    });
}

#[test]
fn a_killed_server_takes_its_workers_along() {
    let area = tempfile::tempdir().unwrap();
    let scratch = area.path().join("scratch");
    let mut server = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "leaks::inner_server", "--ignored", "--nocapture"])
        .env("BA_TEST_SCRATCH", &scratch)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    block(async {
        settle("the inner server", || area.path().join("running").exists()).await;
        assert!(processes(&scratch) > 2);
        server.kill().unwrap();
        server.wait().unwrap();
        settle("the workers", || processes(&scratch) == 0).await;
    });
}

/// The other half of the test above: starts a job that never ends, and is killed.
#[test]
#[ignore = "run by a_killed_server_takes_its_workers_along"]
fn inner_server() {
    let Some(scratch) = std::env::var_os("BA_TEST_SCRATCH").map(std::path::PathBuf::from) else { return };
    let settings = config(&scratch);
    block(async {
        let sandbox = Sandbox::start(settings).await.unwrap();
        let desk = Desk::on(sandbox.clone()).open();
        let code = "import os, signal\nfor s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\nos.fork()\nopen('up', 'w')\nwhile True: pass";
        let (up, running) = (desk.folder().join("up"), scratch.parent().unwrap().join("running"));
        let watch = async {
            while !up.exists() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            fs::write(running, "").unwrap();
            std::future::pending::<()>().await;
        };
        tokio::select! { _ = desk.run(code) => {}, () = watch => {} }
    });
}
