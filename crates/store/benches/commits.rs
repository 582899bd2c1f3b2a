//! Committed steps per second with 1, 16 and 128 conversations, beside the disk's own flush rate in the same run.
//! `cargo bench -p ba-store --bench commits [-- FOLDER]`; the folder decides which disk is measured.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ba_protocol::{RunEvent, RunId, UserId};
use ba_store::{NewRun, RunStatus, StepCommit, Store, StoreConfig, ToolIntent};
use serde_json::json;

const EACH: Duration = Duration::from_secs(4);

fn main() {
    let folder = std::env::args().skip(1).find(|a| !a.starts_with('-')).map(PathBuf::from);
    let dir = match folder {
        Some(folder) => tempfile::tempdir_in(folder).unwrap(),
        None => tempfile::tempdir().unwrap(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    println!(
        "conversations | steps/s | p50 ms | p99 ms | disk flushes/s before, after | steps per flush of the disk"
    );
    for conversations in [1, 16, 128] {
        let before = flush_rate(dir.path());
        let mut took = runtime.block_on(load(dir.path(), conversations));
        let after = flush_rate(dir.path());
        took.sort();
        let rate = took.len() as f64 / EACH.as_secs_f64();
        let at = |part: f64| took[((took.len() - 1) as f64 * part) as usize].as_secs_f64() * 1000.0;
        println!(
            "{conversations:>13} | {rate:>7.0} | {:>6.2} | {:>6.2} | {before:.0}, {after:.0} | {:.2}",
            at(0.5),
            at(0.99),
            rate / ((before + after) / 2.0)
        );
    }
}

/// How often the disk makes one small write durable, one after the other: the baseline.
fn flush_rate(dir: &Path) -> f64 {
    let mut file = std::fs::File::create(dir.join("flush")).unwrap();
    file.write_all(&[0; 4096]).unwrap();
    file.sync_all().unwrap();
    let (start, mut flushes) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(1) {
        file.seek(std::io::SeekFrom::Start(0)).unwrap();
        file.write_all(&[flushes as u8; 4096]).unwrap();
        file.sync_data().unwrap();
        flushes += 1;
    }
    f64::from(flushes) / start.elapsed().as_secs_f64()
}

/// The time of every committed step.
async fn load(dir: &Path, conversations: usize) -> Vec<Duration> {
    let folder = tempfile::tempdir_in(dir).unwrap();
    let store = Store::open(StoreConfig::local(folder.path())).await.unwrap();
    let mut runs = Vec::new();
    for _ in 0..conversations {
        runs.push(admitted(&store).await);
    }
    let start = Instant::now();
    let tasks = runs.into_iter().map(|run| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut took = Vec::new();
            while start.elapsed() < EACH {
                let begun = Instant::now();
                store.commit_step(&run, step(took.len() as u32)).await.unwrap();
                took.push(begun.elapsed());
            }
            took
        })
    });
    let all = futures::future::join_all(tasks).await;
    store.close().await;
    all.into_iter().flat_map(|took| took.unwrap()).collect()
}

async fn admitted(store: &Store) -> RunId {
    let owner = UserId::local();
    let conversation = store.create(&owner, "bench").await.unwrap();
    let run_id = RunId::random();
    let new = NewRun {
        run_id: run_id.clone(),
        conversation_id: conversation.id,
        owner,
        message: "q".to_owned(),
        file_ids: vec![],
        state: json!({}).into(),
        created_at: jiff::Timestamp::now(),
        holder: None,
        replaces: None,
        model: String::new(),
    };
    store.admit(new).await.unwrap();
    run_id
}

/// A typical step: a state of 2 KB, one event, one intent.
fn step(n: u32) -> StepCommit {
    let arguments = json!({"code": "print(1)"}).as_object().unwrap().clone();
    let mut step = StepCommit::new(json!({"history": "x".repeat(2000), "n": n}), RunStatus::Running);
    step.events.push(RunEvent::ToolStarted {
        tool_call_id: format!("call_{n}"),
        tool_name: "run_python".to_owned(),
        arguments: arguments.clone(),
        round: n,
    });
    step.intents.push(ToolIntent {
        step: n,
        tool_call_id: format!("call_{n}"),
        tool_name: "run_python".to_owned(),
        arguments,
        idempotent: false,
    });
    step
}
