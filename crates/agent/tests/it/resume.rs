//! Runs that a crash interrupted: taken up from the last step, nothing with effects run twice.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ba_model::{ScriptedModel, ScriptedReply};
use serde_json::json;

use crate::bench::{Bench, call, complete};

#[tokio::test]
async fn a_run_interrupted_at_the_model_is_resumed() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let slow = ScriptedReply::text("never").after(Duration::from_secs(600));
    let model = ScriptedModel::new([ScriptedReply::text(call("add", json!({"numbers": [1, 2]}))), slow]);
    let bench = Bench::in_folder(folder.clone(), model, Duration::ZERO).await;
    let admitted = bench.ask("q", None).await;
    while bench.model.requests().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The process goes away: the driver is dropped in the middle of its step.
    bench.agent.shutdown(Duration::ZERO).await;
    drop(bench);

    let bench = Bench::in_folder(folder, ScriptedModel::new([complete("接着做完")]), Duration::ZERO).await;
    assert_eq!(bench.agent.resume_open_runs().await.unwrap(), 1);
    let answer = bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap();
    assert_eq!(answer.response, "接着做完");
    assert_eq!(answer.tool_calls.len(), 1, "what was done before the crash is still known");
    let request = bench.model.request(0).unwrap();
    assert!(request.messages.iter().any(|m| m.wire_text().contains("sum\n3")), "recorded results are reused");
}

#[tokio::test]
async fn a_call_with_effects_in_flight_is_reported_and_not_run_again() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let bench = Bench::in_folder(
        folder.clone(),
        ScriptedModel::new([call("effect", json!({}))]),
        Duration::from_secs(600),
    )
    .await;
    let admitted = bench.ask("q", None).await;
    while bench.ran.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    bench.agent.shutdown(Duration::ZERO).await;
    drop(bench);

    let bench = Bench::in_folder(folder, ScriptedModel::new([complete("明白")]), Duration::ZERO).await;
    bench.agent.resume_open_runs().await.unwrap();
    bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap();
    assert_eq!(bench.ran.load(Ordering::SeqCst), 0, "the effect did not happen twice");
    let shown = bench.model.request(0).unwrap().messages.last().unwrap().wire_text();
    assert!(shown.contains("INTERRUPTED"), "{shown}");
}

// SPEC N1, N3
#[tokio::test]
async fn a_run_whose_server_lost_it_is_taken_over_and_the_old_one_can_do_no_harm() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let slow = ScriptedReply::text(complete("太迟")).after(Duration::from_secs(3));
    let first = Bench::in_folder(folder.clone(), ScriptedModel::new([slow]), Duration::ZERO).await;
    let admitted = first.ask("q", None).await;
    // As if its lease had run out while it hung.
    first.agent.give_up_leases().await.unwrap();
    let second = Bench::in_folder(folder, ScriptedModel::new([complete("接手")]), Duration::ZERO).await;
    assert_eq!(second.agent.resume_open_runs().await.unwrap(), 1);
    let answer = second.agent.wait(&second.owner, &admitted.run_id).await.unwrap();
    assert_eq!(answer.response, "接手");
    // The first one wakes, is refused, and tells its own reader the answer that stands.
    let heard = first.agent.wait(&first.owner, &admitted.run_id).await.unwrap();
    assert_eq!(heard.response, "接手");
    let rounds = second.store.turns(&admitted.conversation_id).await.unwrap();
    assert_eq!(rounds.len(), 1);
}

#[tokio::test]
async fn any_server_stops_a_run() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let slow = ScriptedReply::text(complete("never")).after(Duration::from_secs(600));
    let driving = Bench::in_folder(folder.clone(), ScriptedModel::new([slow]), Duration::ZERO).await;
    let admitted = driving.ask("q", None).await;
    let other = Bench::in_folder(folder, ScriptedModel::new(Vec::<String>::new()), Duration::ZERO).await;
    assert!(other.agent.cancel(&admitted.run_id).await.unwrap());
    let ended = other.agent.wait(&other.owner, &admitted.run_id).await;
    assert!(matches!(ended, Err(ba_agent::AgentError::Cancelled)));
    assert!(!other.agent.cancel(&admitted.run_id).await.unwrap(), "it has ended");
}
