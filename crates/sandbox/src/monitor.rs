//! Looks at a job's processes through the host's /proc: memory and CPU time. Only reads; trusts no report of the job.

use std::fs;
use std::time::Duration;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Resident bytes above the baseline, over all processes.
    pub(crate) memory: u64,
    pub(crate) cpu: Duration,
    pub(crate) processes: usize,
}

/// Sums over the process and its descendants. Orphans hang below pid 1 of the job, so none is missed.
pub(crate) fn measure(pid: u32, baseline: u64) -> Load {
    let mut load = Load::default();
    let mut pending = vec![pid];
    while let Some(pid) = pending.pop() {
        // A fork bomb is bounded by the task limit; this bound only guards against surprises.
        if load.processes > 1024 {
            break;
        }
        load.processes += 1;
        load.memory += resident(pid).unwrap_or(0).saturating_sub(baseline);
        load.cpu += cpu(pid).unwrap_or_default();
        let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        for task in tasks.flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            pending.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
    }
    load
}

fn resident(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
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
        let load = measure(std::process::id(), 0);
        assert!(load.memory > 0);
        assert!(load.processes >= 1);
        assert!(available_share().is_some_and(|share| share > 0.0 && share <= 1.0));
    }
}
