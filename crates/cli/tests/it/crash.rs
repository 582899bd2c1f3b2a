//! Kills the real server with SIGKILL at random moments under load, restarts it, and checks (SPEC E13): no
//! acknowledged message is lost, no call ran twice, every run ends, the database is sound.
//! `BA_CRASH_TRIALS=1000` makes it the long test.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ba_protocol::UserId;
use ba_store::{EventScope, RunStatus, Store, StoreConfig};
use serde_json::{Value, json};

use crate::model;

const CLIENTS: usize = 4;
/// Kills in one data folder, each start resuming what the kill before left.
const PER_FOLDER: usize = 10;
/// Folders worked on at once.
const LANES: usize = 4;

/// Run id → message, as the clients were told.
type Acknowledged = Arc<Mutex<HashMap<String, String>>>;

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(dir: &Path, model: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ba-agent"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(dir)
            .env("BA_MODEL", "openai-compatible:mock")
            .env("BA_BASE_URL", model)
            .env("BA_API_KEY", "k")
            // Without Python a start takes a moment, not seconds; what is durable does not depend on it.
            .env("BA_PYTHON_ENV", dir.join("no-python"))
            .current_dir(dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = lines.find_map(|l| l.ok().filter(|l| l.contains("ready: http://")));
        let ready = ready.expect("the server did not start");
        let address = ready.split("ready: ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        Self { child, address }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

// A start blocks its thread, so there are more threads than folders.
#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn a_killed_server_loses_nothing_it_acknowledged() {
    let trials = std::env::var("BA_CRASH_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(100);
    let model = model::serve().await;
    let folders = Arc::new(Mutex::new((0..trials).step_by(PER_FOLDER)));
    let lanes = (0..LANES).map(|_| {
        let (folders, model) = (folders.clone(), model.clone());
        tokio::spawn(async move {
            let mut checked = 0;
            loop {
                let Some(done) = folders.lock().unwrap().next() else { return checked };
                checked += one_folder(&model, PER_FOLDER.min(trials - done)).await;
            }
        })
    });
    let mut checked = 0;
    for lane in lanes.collect::<Vec<_>>() {
        checked += lane.await.unwrap();
    }
    println!("{trials} kills, {checked} acknowledged messages checked");
    assert!(checked > trials / 2, "the load was too small to show anything");
}

/// Kills the server so often in one folder, then checks what it acknowledged; gives how much that was.
async fn one_folder(model: &str, kills: usize) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let acknowledged = Acknowledged::default();
    for _ in 0..kills {
        let server = Server::start(dir.path(), model);
        let clients: Vec<_> =
            (0..CLIENTS).map(|_| tokio::spawn(ask(server.address.clone(), acknowledged.clone()))).collect();
        wait_for_work(&acknowledged).await;
        server.kill();
        for client in clients {
            client.await.unwrap();
        }
    }
    let server = Server::start(dir.path(), model);
    let acknowledged = acknowledged.lock().unwrap().clone();
    check_over_http(&server, &acknowledged).await;
    server.kill();
    check_in_store(dir.path(), &acknowledged).await;
    acknowledged.len()
}

/// A random moment, counted in work done rather than in time, so that a slow machine is tested as hard as a fast one.
async fn wait_for_work(acknowledged: &Acknowledged) {
    let wanted = acknowledged.lock().unwrap().len() + rand::random_range(0..8);
    for _ in 0..2000 {
        if acknowledged.lock().unwrap().len() >= wanted {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(rand::random_range(0..40))).await;
}

/// Asks one question after the other until the server is gone. A question counts as acknowledged with its headers.
async fn ask(address: String, acknowledged: Acknowledged) {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    loop {
        let message = format!("question {}", uuid::Uuid::new_v4());
        let sent =
            http.post(format!("{address}/api/v1/agent/query/stream")).json(&json!({"message": message}));
        let Ok(mut response) = sent.send().await else { return };
        assert!(response.status().is_success(), "{}", response.status());
        let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
        acknowledged.lock().unwrap().insert(run, message);
        while let Ok(Some(_)) = response.chunk().await {}
    }
}

/// Every acknowledged run is there with its message, and comes to its end.
async fn check_over_http(server: &Server, acknowledged: &HashMap<String, String>) {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    for (run, message) in acknowledged {
        let mut left = 600;
        loop {
            let got = http.get(format!("{}/api/v1/runs/{run}", server.address)).send().await.unwrap();
            assert!(got.status().is_success(), "an acknowledged run is lost: {run}");
            let body: Value = got.json().await.unwrap();
            assert_eq!(body["data"]["user_message"], json!(message));
            match body["data"]["status"].as_str().unwrap() {
                "complete" => break,
                "running" if left > 0 => left -= 1,
                other => panic!("run {run} is {other}: {body}"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// One run per message, one result per call, one end per run, no hole in the sequence.
async fn check_in_store(dir: &Path, acknowledged: &HashMap<String, String>) {
    let store = Store::open(StoreConfig::local(dir)).await.unwrap();
    assert_eq!(store.integrity().await.unwrap(), Vec::<String>::new());
    assert_eq!(store.open_runs().await.unwrap(), vec![]);
    let owner = UserId::local();
    let mut messages: HashMap<String, usize> = HashMap::new();
    for c in store.conversations(&owner, None, u32::MAX, 0).await.unwrap() {
        let events = store.events_after(EventScope::Conversation(&c.id), 0, u32::MAX).await.unwrap();
        assert!(events.iter().map(|e| e.seq).eq(1..=events.len() as u64), "a hole in the sequence");
        for run in store.runs(&owner, &c.id, u32::MAX).await.unwrap() {
            let named =
                |name: &str| events.iter().filter(|e| e.run_id == run.id && e.event.name() == name).count();
            assert_eq!(run.status, RunStatus::Complete);
            assert_eq!((named("run.started"), named("report")), (1, 1));
            assert_eq!(named("tool.finished"), 1, "a call was answered twice, or never");
            *messages.entry(run.message).or_default() += 1;
        }
    }
    for message in acknowledged.values() {
        assert_eq!(messages.get(message), Some(&1), "a message is there once");
    }
}
