//! Three real servers on one real PostgreSQL, killed at random moments while people ask (SPEC N1–N3): nothing that was
//! acknowledged is lost, no effect happens twice, the model is asked nothing twice that was stored, every run ends, and
//! another server takes over soon. `BA_KILLS=300` makes it the long test; `scripts/kill-test` runs it.

mod fleet;
mod follow;
mod words;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ba_protocol::{RunEvent, UserId};
use ba_store::{EventScope, RunStatus, Store};
use serde_json::json;

use fleet::Fleet;
use words::Words;

const CLIENTS: usize = 4;
/// After the last kill every run must have ended within this.
const PATIENCE: Duration = Duration::from_secs(90);

/// What clients were told: run id, its conversation and the mark in its question.
#[derive(Clone, Default)]
struct Acknowledged(Arc<Mutex<HashMap<String, (String, String)>>>);

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn killed_servers_lose_nothing_and_others_take_over() {
    let kills = std::env::var("BA_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let words = Words::serve().await;
    let mut fleet = Fleet::start(3, words.url()).await;
    let acknowledged = Acknowledged::default();
    let clients = (0..CLIENTS)
        .map(|_| tokio::spawn(ask(fleet.addresses.clone(), fleet.store.clone(), acknowledged.clone())));
    let clients: Vec<_> = clients.collect();
    for kill in 0..kills {
        tokio::time::sleep(Duration::from_millis(rand::random_range(500..4_000))).await;
        fleet.kill(kill % 3).await;
        fleet.restart(kill % 3).await;
    }
    clients.iter().for_each(tokio::task::JoinHandle::abort);
    let told = acknowledged.0.lock().unwrap().clone();
    let took = fleet.until_all_have_ended(PATIENCE).await;
    check(&fleet, &told).await;
    check_effects(&fleet, &told).await;
    let asked_twice = words.asked_twice_after_being_stored(&fleet).await;
    assert_eq!(asked_twice, Vec::<String>::new(), "the model was asked again for steps that were stored");
    let mut took: Vec<u128> = took.iter().map(Duration::as_millis).collect();
    took.sort_unstable();
    let at = |share: usize| took.get((took.len() * share / 100).min(took.len().saturating_sub(1))).copied();
    println!(
        "{kills} kills, {} questions acknowledged, {} runs taken over; take-over p50 {:?} ms, p99 {:?} ms",
        told.len(),
        took.len(),
        at(50),
        at(99)
    );
    assert!(told.len() > kills, "the load was too small to show anything");
    assert!(at(100).is_none_or(|slowest| slowest < 25_000), "a take-over took {:?} ms", at(100));
}

/// Asks one question after the other, of whichever server answers, as behind a proxy that goes round.
async fn ask(addresses: Arc<Mutex<Vec<String>>>, store: Store, acknowledged: Acknowledged) {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    for turn in rand::random_range(0..3usize).. {
        let address = {
            let all = addresses.lock().unwrap();
            all[turn % all.len()].clone()
        };
        let api = format!("{address}/api/v1");
        let conversation = store.create(&UserId::local(), "t").await.unwrap().id;
        store.add_consent(&UserId::local(), &conversation, "tool:effects.note").await.unwrap();
        let asked = async {
            let mark = uuid::Uuid::new_v4().simple().to_string();
            let question = json!({"message": format!("mark {mark} please"), "conversation_id": conversation});
            let sent = http.post(format!("{api}/agent/query/stream")).json(&question).send().await?;
            let mut sent = sent.error_for_status()?;
            let run = sent.headers()["x-run-id"].to_str().unwrap().to_owned();
            acknowledged.0.lock().unwrap().insert(run, (conversation.to_string(), mark));
            while sent.chunk().await?.is_some() {}
            Ok::<(), reqwest::Error>(())
        };
        if asked.await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Every acknowledged question is there, once, with one end; every number of a sequence is there.
async fn check(fleet: &Fleet, told: &HashMap<String, (String, String)>) {
    let owner = UserId::local();
    for (run, (conversation, mark)) in told {
        let (run, conversation) = (run.parse().unwrap(), conversation.parse().unwrap());
        let record = fleet.store.run(&owner, &run).await.expect("an acknowledged question is lost");
        assert!(record.message.contains(mark));
        assert_eq!(record.status, RunStatus::Complete, "run {run}");
        let events =
            fleet.store.events_after(EventScope::Conversation(&conversation), 0, 1_000).await.unwrap();
        assert!(events.iter().map(|e| e.seq).eq(1..=events.len() as u64), "a hole in the sequence");
        let ends = events.iter().filter(|e| e.event.is_last()).count();
        let started = events.iter().filter(|e| matches!(e.event, RunEvent::RunStarted { .. })).count();
        assert_eq!((started, ends), (1, 1), "run {run}");
    }
    assert!(fleet.store.open_runs().await.unwrap().is_empty(), "a run has not ended");
}

/// No line was written twice, and one that was reported as done was written.
async fn check_effects(fleet: &Fleet, told: &HashMap<String, (String, String)>) {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for line in fleet.effects().lines() {
        *lines.entry(line.to_owned()).or_default() += 1;
    }
    let twice: Vec<_> = lines.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "effects happened twice: {twice:?}");
    for (run, (_, mark)) in told {
        for call in fleet.store.calls(&run.parse().unwrap()).await.unwrap() {
            if call.intent.tool_name == "effects.note" && call.result.is_some_and(|r| r.success) {
                let line = call.intent.arguments["line"].as_str().unwrap().to_owned();
                assert!(
                    line.contains(mark) && lines.contains_key(&line),
                    "told as done, but it was not: {line}"
                );
            }
        }
    }
}
