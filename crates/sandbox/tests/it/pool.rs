//! Processes that wait for jobs, and states that wait for calls: a dead one is replaced, a burst keeps within the limits.

use std::fs;
use std::path::Path;
use std::time::Duration;

use ba_sandbox::{Sandbox, SandboxConfig, Work};

use crate::support::{Desk, block, config, stdout};

/// Worker processes of this sandbox: each is the second of its pid namespace.
fn workers(scratch: &Path) -> Vec<String> {
    let needle = scratch.to_string_lossy().into_owned();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let numbers =
        entries.filter_map(|e| e.file_name().into_string().ok()).filter(|n| n.parse::<u32>().is_ok());
    numbers
        .filter(|pid| {
            let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
            let status = read("status");
            let inside = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
            read("cmdline").contains(&needle)
                && inside.split_whitespace().count() > 2
                && inside.split_whitespace().last() == Some("2")
        })
        .collect()
}

// SPEC O4
#[test]
fn a_process_that_died_while_it_waited_costs_no_job() {
    let area = tempfile::tempdir().unwrap();
    let scratch = area.path().join("scratch");
    block(async {
        let sandbox = Sandbox::start(config(&scratch)).await.unwrap();
        for _ in 0..600 {
            if workers(&scratch).len() == 2 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let waiting = workers(&scratch);
        assert_eq!(waiting.len(), 2, "the pool did not fill");
        let killed = std::process::Command::new("kill").arg("-KILL").args(&waiting).status().unwrap();
        assert!(killed.success());
        let desk = Desk::on(sandbox.clone()).session("replaced");
        assert_eq!(stdout(&desk.run("x = 4\nprint(x)").await), "4\n");
        assert_eq!(stdout(&desk.run("print(x + 1)").await), "5\n");
        sandbox.shutdown().await;
    });
}

// SPEC O3
#[test]
fn a_burst_of_conversations_keeps_no_more_states_than_allowed() {
    let area = tempfile::tempdir().unwrap();
    let settings = SandboxConfig { max_states: 2, ..config(&area.path().join("scratch")) };
    block(async {
        let sandbox = Sandbox::start(settings).await.unwrap();
        let desks: Vec<_> = (0..6).map(|n| Desk::on(sandbox.clone()).session(&format!("burst{n}"))).collect();
        let mut calls = tokio::task::JoinSet::new();
        for desk in &desks {
            let (sandbox, job) = (sandbox.clone(), desk.job(Work::UserCode { code: "x = 1".into() }));
            calls.spawn(async move {
                assert!(sandbox.run(job, &|_| {}).await.unwrap().error.is_none());
            });
        }
        while let Some(call) = calls.join_next().await {
            call.unwrap();
        }
        assert_eq!(sandbox.idle_states(), 2);
        sandbox.shutdown().await;
    });
}
