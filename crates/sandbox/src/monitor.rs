//! Looks at a job's processes through the host's /proc: memory and CPU time. Trusts no report of the job. Also holds them still
//! between two calls (SPEC H2).

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// How often, and how long each time, a job is waited for until it stands still.
const STILL_LOOKS: usize = 200;
const STILL_PAUSE: Duration = Duration::from_millis(1);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Resident bytes above the baseline, over all processes.
    pub(crate) memory: u64,
    pub(crate) cpu: Duration,
    pub(crate) processes: usize,
}

/// Sums over the processes and their descendants. Orphans hang below pid 1 of the job, so none is missed.
pub(crate) fn measure(roots: &[u32], baseline: u64) -> Load {
    let mut load = Load::default();
    for pid in tree(roots) {
        load.processes += 1;
        load.memory += resident(pid).unwrap_or(0).saturating_sub(baseline);
        load.cpu += cpu(pid).unwrap_or_default();
    }
    load
}

/// Stops every process of a job with all its threads: nothing of it runs, writes or swaps a file until it is thawed.
pub(crate) fn freeze(roots: &[u32]) {
    let mut stopped = HashSet::new();
    // One that forked before it was stopped left a child behind: look again until nobody is new.
    for _ in 0..16 {
        let fresh: Vec<u32> = tree(roots).into_iter().filter(|pid| stopped.insert(*pid)).collect();
        if fresh.is_empty() {
            break;
        }
        fresh.iter().for_each(|pid| signal(*pid, Signal::STOP));
    }
    // A signal is only on its way when it is sent: a thread that runs on another processor writes on for a moment.
    for _ in 0..STILL_LOOKS {
        if stopped.iter().all(|pid| is_still(*pid)) {
            return;
        }
        std::thread::sleep(STILL_PAUSE);
    }
}

/// Every thread of it is stopped, or gone.
fn is_still(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok()).all(|text| {
        let state = text.rfind(')').and_then(|at| text[at + 1..].trim_start().chars().next());
        matches!(state, Some('T' | 't' | 'Z' | 'X'))
    })
}

pub(crate) fn thaw(roots: &[u32]) {
    tree(roots).into_iter().for_each(|pid| signal(pid, Signal::CONT));
}

fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

fn tree(roots: &[u32]) -> Vec<u32> {
    let mut found = roots.to_vec();
    let mut next = 0;
    // A fork bomb is bounded by the task limit; this bound only guards against surprises.
    while next < found.len() && found.len() < 1024 {
        let tasks = fs::read_dir(format!("/proc/{}/task", found[next])).into_iter().flatten().flatten();
        for task in tasks {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
        next += 1;
    }
    found
}

/// Bytes on the folder's disk in files that were deleted but are still open. Only root can see them.
pub(crate) fn deleted_bytes(roots: &[u32], folder: &Path) -> u64 {
    let Ok(device) = fs::metadata(folder).map(|meta| meta.dev()) else { return 0 };
    let open =
        tree(roots).into_iter().flat_map(|pid| fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten());
    let mut seen = HashSet::new();
    open.flatten()
        .filter_map(|entry| fs::metadata(entry.path()).ok())
        .filter(|meta| meta.is_file() && meta.nlink() == 0 && meta.dev() == device && seen.insert(meta.ino()))
        .map(|meta| meta.blocks() * 512)
        .sum()
}

/// Free and total bytes of the disk that holds the folder.
pub(crate) fn disk(folder: &Path) -> Option<(u64, u64)> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    Some((stat.f_bavail * stat.f_frsize, stat.f_blocks * stat.f_frsize))
}

/// Memory that a process filled itself. File pages do not count: a fork maps them anew one by one.
fn resident(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
    };
    Some((field("RssAnon:")? + field("RssShmem:").unwrap_or(0)) * 1024)
}

fn cpu(pid: u32) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything; the fields start after the last one.
    let fields: Vec<&str> = text.get(text.rfind(')')? + 2..)?.split_whitespace().collect();
    let ticks: u64 = fields.get(11..15)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second().max(1)))
}

/// Share of the machine's memory that is still available, when known.
pub(crate) fn available_share() -> Option<f64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let field = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse::<f64>().ok())
    };
    Some(field("MemAvailable:")? / field("MemTotal:")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_process_is_measured() {
        let load = measure(&[std::process::id()], 0);
        assert!(load.memory > 0);
        assert!(load.processes >= 1);
        assert!(available_share().is_some_and(|share| share > 0.0 && share <= 1.0));
    }
}
