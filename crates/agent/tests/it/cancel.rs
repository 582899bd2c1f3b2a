//! Runs that are stopped, and turns that wait for each other.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ba_agent::AgentError;
use ba_model::{ScriptedModel, ScriptedReply};
use serde_json::json;

use crate::bench::{Bench, call, complete, query};

#[tokio::test]
async fn cancel_stops_a_waiting_model_and_the_conversation_goes_on() {
    let slow = ScriptedReply::text(complete("late")).after(Duration::from_secs(600));
    let bench = Bench::new(ScriptedModel::new([slow, ScriptedReply::text(complete("ok"))])).await;
    let admitted = bench.ask("q", None).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(bench.agent.cancel(&admitted.run_id).await.unwrap());
    let ended = bench.agent.wait(&bench.owner, &admitted.run_id).await;
    assert!(matches!(ended, Err(AgentError::Cancelled)));
    assert!(!bench.agent.cancel(&admitted.run_id).await.unwrap(), "it has ended");
    let next = bench.ask("q2", Some(&admitted.conversation_id)).await;
    assert_eq!(bench.agent.wait(&bench.owner, &next.run_id).await.unwrap().response, "ok");
}

#[tokio::test]
async fn cancel_stops_a_running_tool() {
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let model = ScriptedModel::new([call("effect", json!({})), complete("never")]);
    let bench = Bench::in_folder(folder, model, Duration::from_secs(600)).await;
    let admitted = bench.ask("q", None).await;
    while bench.ran.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    bench.agent.cancel(&admitted.run_id).await.unwrap();
    assert!(matches!(bench.agent.wait(&bench.owner, &admitted.run_id).await, Err(AgentError::Cancelled)));
}

// SPEC E12.
#[tokio::test]
async fn turns_of_one_conversation_run_one_after_the_other() {
    let replies =
        (0..5).map(|i| ScriptedReply::text(complete(&format!("a{i}"))).after(Duration::from_millis(20)));
    let bench = Bench::new(ScriptedModel::new(replies)).await;
    let first = bench.ask("q0", None).await;
    let mut runs = vec![first.run_id.clone()];
    for i in 1..5 {
        runs.push(bench.ask(&format!("q{i}"), Some(&first.conversation_id)).await.run_id);
    }
    for run in &runs {
        bench.agent.wait(&bench.owner, run).await.unwrap();
    }
    let rounds = bench.store.turns(&first.conversation_id).await.unwrap();
    let asked: Vec<&str> = rounds.iter().map(|r| r.user_message.as_str()).collect();
    assert_eq!(asked, ["q0", "q1", "q2", "q3", "q4"]);
    assert!(bench.store.locks().is_empty());
}

#[tokio::test]
async fn bad_questions_are_refused_before_anything_is_kept() {
    let bench = Bench::new(ScriptedModel::new(Vec::<String>::new())).await;
    for (message, wanted) in [("  ", "empty"), (&"x".repeat(300_000), "longer")] {
        let error = bench.agent.admit(&bench.owner, query(message, None)).await.err().unwrap();
        assert!(error.to_string().contains(wanted), "{error}");
    }
    assert!(bench.store.conversations(&bench.owner, None, 10, 0).await.unwrap().is_empty());
}
