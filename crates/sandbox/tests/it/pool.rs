//! Processes that wait for jobs, and states that wait for calls: a dead one is replaced, a burst keeps within the limits.

use std::fs;
use std::path::Path;
use std::time::Duration;

use ba_sandbox::{Input, Limits, Query, Sandbox, SandboxConfig, SessionKey, Work};
use serde_json::json;

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

/// What the file says, asked of whoever has it at hand.
async fn ask(sandbox: &Sandbox, owner: &str, path: &Path) -> String {
    let args = json!({"sql": "SELECT content FROM read_text('/job/note.txt')", "tables": [], "max_rows": 1});
    let query = Query {
        owner: owner.into(),
        function: "tables.query".into(),
        args,
        inputs: vec![Input { names: vec!["note.txt".into()], path: path.to_owned() }],
        limits: Limits::default(),
    };
    let outcome = sandbox.query(query).await.unwrap();
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    outcome.value.unwrap()["rows"][0][0].as_str().unwrap().to_owned()
}

/// The workers, once there are so many.
async fn settled(scratch: &Path, count: usize) -> Vec<String> {
    let mut found = Vec::new();
    for _ in 0..600 {
        found = workers(scratch);
        if found.len() == count {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(found.len(), count);
    found.sort();
    found
}

// SPEC O4
#[test]
fn whoever_answered_a_query_answers_the_next_over_the_same_files_and_no_other() {
    let area = tempfile::tempdir().unwrap();
    let (scratch, note) = (area.path().join("scratch"), area.path().join("note"));
    fs::write(&note, "first").unwrap();
    block(async {
        let sandbox = Sandbox::start(config(&scratch)).await.unwrap();
        assert_eq!(ask(&sandbox, "one", &note).await, "first");
        let after_one = settled(&scratch, 3).await;
        assert_eq!(ask(&sandbox, "one", &note).await, "first");
        assert_eq!(settled(&scratch, 3).await, after_one, "nobody else was needed");
        assert_eq!(ask(&sandbox, "other", &note).await, "first");
        settled(&scratch, 4).await;
        // A file that takes the place of another is not the one that is at hand.
        fs::write(area.path().join("new"), "second").unwrap();
        fs::rename(area.path().join("new"), &note).unwrap();
        assert_eq!(ask(&sandbox, "one", &note).await, "second");
        settled(&scratch, 5).await;
        sandbox.forget(&SessionKey::new("any")).await;
        settled(&scratch, 2).await;
        sandbox.shutdown().await;
    });
}
