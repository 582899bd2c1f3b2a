//! A small agent for the fault tests: it admits messages, runs one effect per run, keeps uploads, and prints an
//! acknowledgement only after the store has answered. It runs in a process of its own, to be killed.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::Path;

use ba_protocol::api::ErrorInfo;
use ba_protocol::{ConversationId, RunEvent, RunId};
use ba_store::{Conversation, EventScope, RunRecord, RunStatus, StepCommit, Store, StoreConfig, StoreError};
use serde_json::json;

use crate::harness::{alice, intent, last_step, new_run, outcome};

const CONVERSATIONS: usize = 6;

/// The body of a process that the fault tests start: `it --exact load::child --ignored`.
#[test]
#[ignore = "started by the fault tests as a process of its own"]
fn child() {
    let Ok(dir) = std::env::var("BA_TEST_LOAD_DIR") else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let ended = runtime.block_on(work(Path::new(&dir)));
    acknowledge(&format!("END {}", ended.unwrap_err()));
}

/// How to start it.
pub fn command(dir: &Path) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "load::child", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("BA_TEST_LOAD_DIR", dir);
    command
}

fn acknowledge(line: &str) {
    let mut out = std::io::stdout().lock();
    // One write, so that a kill never leaves a line that looks whole.
    let _ = out.write_all(format!("\nACK {line}\n").as_bytes());
    let _ = out.flush();
}

/// Works until the store fails.
async fn work(dir: &Path) -> Result<(), StoreError> {
    let store = Store::open(StoreConfig::local(dir)).await?;
    // Only the one server of the folder resumes what was left.
    let server = store.claim_server();
    if server.is_ok() {
        resume(&store, dir).await?;
    }
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..CONVERSATIONS {
        let (store, dir) = (store.clone(), dir.to_owned());
        tasks.spawn(async move {
            let conversation = store.create(&alice(), "load").await?;
            loop {
                turn(&store, &dir, &conversation).await?;
            }
        });
    }
    match tasks.join_next().await {
        Some(Ok(failed)) => failed,
        _ => Ok(()),
    }
}

async fn turn(store: &Store, dir: &Path, c: &Conversation) -> Result<(), StoreError> {
    let new = new_run(c, &format!("message {}", uuid::Uuid::new_v4()));
    store.admit(new.clone()).await?;
    acknowledge(&format!("run {} {}", new.run_id, new.message));
    effect_and_end(store, dir, &c.id, &new.run_id, &new.message).await?;
    acknowledge(&format!("done {}", new.run_id));
    let content = new.message.repeat(50);
    let mut upload = store.begin_upload(&c.id, "a.csv", None).await?;
    upload.write(content.as_bytes()).await?;
    let upload = upload.finish().await?;
    acknowledge(&format!("upload {} {} {}", c.id, upload.file_id, new.message));
    Ok(())
}

/// Intent, effect, result, report: as the driver does it.
async fn effect_and_end(
    store: &Store,
    dir: &Path,
    c: &ConversationId,
    run: &RunId,
    message: &str,
) -> Result<(), StoreError> {
    let mut before = StepCommit::new(json!({"at": "tools"}), RunStatus::Running);
    before.intents.push(intent(1, "call_1"));
    store.commit_step(run, before).await?;
    let mut effects =
        std::fs::OpenOptions::new().create(true).append(true).open(dir.join("effects")).unwrap();
    // The outside world: no transaction reaches it.
    if effects.write_all(format!("{run}\n").as_bytes()).is_err() {
        return Err(StoreError::Unavailable("the effect failed".to_owned()));
    }
    store.record_results(run, vec![outcome(1, "call_1", "done")]).await?;
    store.commit_step(run, last_step(c, run, message, "answer")).await.map(|_| ())
}

/// Ends every open run: with its recorded result, by starting it, or with an error when its effect is in doubt.
pub async fn resume(store: &Store, dir: &Path) -> Result<(), StoreError> {
    for run in store.open_runs().await? {
        let _guard = store.locks().lock(&run.conversation_id).await;
        resume_one(store, dir, &run).await?;
    }
    Ok(())
}

async fn resume_one(store: &Store, dir: &Path, run: &RunRecord) -> Result<(), StoreError> {
    let calls = store.calls(&run.id).await?;
    match calls.first() {
        None => effect_and_end(store, dir, &run.conversation_id, &run.id, &run.message).await,
        Some(call) if call.result.is_some() => {
            let last = last_step(&run.conversation_id, &run.id, &run.message, "answer");
            store.commit_step(&run.id, last).await.map(|_| ())
        }
        Some(_) => {
            let mut failed = StepCommit::new(json!({}), RunStatus::Failed);
            failed.events.push(RunEvent::RunFailed { error: ErrorInfo::new("interrupted", "in doubt") });
            store.commit_step(&run.id, failed).await.map(|_| ())
        }
    }
}

/// What the process said before it ended. A last line without its end does not count.
#[derive(Default)]
pub struct Acknowledged {
    runs: HashMap<RunId, String>,
    done: HashSet<RunId>,
    uploads: Vec<(ConversationId, String, String)>,
    pub end: Option<String>,
}

impl Acknowledged {
    pub fn add(&mut self, output: &[u8]) {
        let text = String::from_utf8_lossy(output);
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        for line in whole.lines().filter_map(|l| l.strip_prefix("ACK ")) {
            let mut words = line.splitn(3, ' ');
            let (kind, first, rest) = (words.next(), words.next().unwrap(), words.next().unwrap_or_default());
            match kind.unwrap() {
                "run" => drop(self.runs.insert(first.parse().unwrap(), rest.to_owned())),
                "done" => drop(self.done.insert(first.parse().unwrap())),
                "upload" => {
                    let (id, message) = rest.split_once(' ').unwrap();
                    self.uploads.push((first.parse().unwrap(), id.to_owned(), message.to_owned()));
                }
                "END" => self.end = Some(line.to_owned()),
                other => panic!("unknown acknowledgement {other}"),
            }
        }
    }

    pub fn count(&self) -> usize {
        self.runs.len() + self.done.len() + self.uploads.len()
    }

    /// Nothing acknowledged is lost, nothing was done twice, the database is sound; then all is resumed.
    pub async fn verify(&self, dir: &Path) {
        let store = Store::open(StoreConfig::local(dir)).await.unwrap();
        assert_eq!(store.integrity().await.unwrap(), Vec::<String>::new());
        for (id, message) in &self.runs {
            assert_eq!(&store.run(&alice(), id).await.expect("an acknowledged run is lost").message, message);
        }
        for id in &self.done {
            assert_eq!(store.run(&alice(), id).await.unwrap().status, RunStatus::Complete);
        }
        for (conversation, id, message) in &self.uploads {
            let upload = store.upload(conversation, id).await.expect("an acknowledged upload is lost");
            let bytes = std::fs::read_to_string(store.upload_path(&upload).await.unwrap()).unwrap();
            assert_eq!(bytes, message.repeat(50));
        }
        resume(&store, dir).await.unwrap();
        assert_eq!(store.open_runs().await.unwrap(), vec![]);
        check_effects(&store, dir).await;
        store.close().await;
    }
}

/// Every complete run had its effect exactly once, every other at most once; sequences have no hole.
async fn check_effects(store: &Store, dir: &Path) {
    let effects = std::fs::read_to_string(dir.join("effects")).unwrap_or_default();
    let mut seen = HashSet::new();
    for line in effects.lines().filter(|l| RunId::parse(l).is_ok()) {
        assert!(seen.insert(line), "an effect happened twice: {line}");
    }
    for c in store.conversations(&alice(), None, u32::MAX, 0).await.unwrap() {
        let events = store.events_after(EventScope::Conversation(&c.id), 0, u32::MAX).await.unwrap();
        assert!(events.iter().map(|e| e.seq).eq(1..=events.len() as u64), "a hole in the sequence");
        let rounds = store.turns(&c.id).await.unwrap();
        let mut complete = 0;
        for run in store.runs(&alice(), &c.id, u32::MAX).await.unwrap() {
            let last = events.iter().filter(|e| e.run_id == run.id && e.event.is_last()).count();
            assert_eq!(last, 1, "a run ends exactly once");
            if run.status == RunStatus::Complete {
                complete += 1;
                assert!(seen.contains(run.id.as_str()), "a complete run without its effect");
            }
        }
        assert_eq!(rounds.len(), complete);
    }
}
