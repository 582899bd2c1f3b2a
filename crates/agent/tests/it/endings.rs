//! Every run ends, in words, once, and leaves its round in the history (SPEC X9).

use std::time::Duration;

use ba_agent::AgentError;
use ba_model::{ModelError, ScriptedModel, ScriptedReply};
use ba_protocol::{RunEvent, TurnEnding};
use serde_json::json;

use crate::bench::{BREAKS, Bench, complete};
use crate::turns::seen;

#[tokio::test]
async fn a_panic_outside_a_tool_ends_its_run_in_words() {
    let bench = Bench::new(ScriptedModel::new([complete("ok")])).await;
    let admitted = bench.ask(&format!("{BREAKS}?"), None).await;
    let ended = bench.agent.wait(&bench.owner, &admitted.run_id).await;
    assert!(
        matches!(&ended, Err(AgentError::RunFailed(error)) if error.code == "internal_error"),
        "{:?}",
        ended.err()
    );
    assert_eq!(bench.agent.live_runs(), 0);
    assert!(matches!(bench.heard.0.lock().last(), Some(RunEvent::RunFailed { .. })));
    assert!(bench.store.open_runs().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_stopped_answer_keeps_what_was_said_and_the_next_question_knows_of_it() {
    let partial = r#"{"task_analysis": "看", "execution_plan": "", "current_round": 1, "action": {"type": "complete", "content": "华东最高，"#;
    let replies = [ScriptedReply::text(partial).in_chunks(8).then_hangs(), complete("ok").into()];
    let bench = Bench::new(ScriptedModel::new(replies)).await;
    let admitted = bench.ask("哪个地区最高？", None).await;
    let said = |e: &RunEvent| matches!(e, RunEvent::TextDelta { text, .. } if text.contains('，'));
    while !bench.heard.0.lock().iter().any(said) {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    bench.agent.cancel(&admitted.run_id).await.unwrap();
    assert!(matches!(bench.agent.wait(&bench.owner, &admitted.run_id).await, Err(AgentError::Cancelled)));
    let last = bench.heard.0.lock().last().cloned();
    assert_eq!(last, Some(RunEvent::RunCancelled { partial: Some("华东最高，".into()) }));
    let rounds = bench.store.turns(&admitted.conversation_id).await.unwrap();
    assert_eq!((rounds.len(), rounds[0].ending), (1, TurnEnding::Cancelled));
    let next = bench.ask("继续", Some(&admitted.conversation_id)).await;
    bench.agent.wait(&bench.owner, &next.run_id).await.unwrap();
    let request = seen(&bench.model.requests().last().unwrap().messages);
    assert!(
        request.contains("哪个地区最高？")
            && request.contains("华东最高，")
            && request.contains("用户停止了这一轮"),
        "{request}"
    );
}

#[tokio::test]
async fn a_run_whose_model_fails_at_once_leaves_its_question() {
    let failing = ScriptedReply::error(ModelError::Unauthorized { status: 401 });
    let bench = Bench::new(ScriptedModel::new([failing])).await;
    let admitted = bench.ask("第一问", None).await;
    assert!(bench.agent.wait(&bench.owner, &admitted.run_id).await.is_err());
    let rounds = bench.store.turns(&admitted.conversation_id).await.unwrap();
    assert_eq!((rounds[0].user_message.as_str(), rounds[0].ending), ("第一问", TurnEnding::Failed));
}

#[tokio::test]
async fn a_cancel_while_a_run_ends_ends_it_once() {
    let code = complete("```python\nprint(1)\n```");
    for delay in 0..25u64 {
        let bench = Bench::new(ScriptedModel::new([code.clone()])).await;
        let admitted = bench.ask("q", None).await;
        tokio::time::sleep(Duration::from_micros(delay * 150)).await;
        bench.agent.cancel(&admitted.run_id).await.unwrap();
        let _ = bench.agent.wait(&bench.owner, &admitted.run_id).await;
        let heard = bench.heard.0.lock().iter().filter(|e| e.is_last()).count();
        let codes = bench.store.codes(&admitted.conversation_id).await.unwrap().len();
        assert!(heard == 1 && codes <= 1, "{heard} endings, {codes} codes");
    }
}

// SPEC T8
#[tokio::test]
async fn calls_are_named_in_call_order_whichever_ends_first() {
    let calls = json!({"task_analysis": "", "execution_plan": "", "current_round": 1, "action": {"type": "tool_call",
        "content": [{"tool_name": "effect", "tool_call_id": "slow", "arguments": {}},
                    {"tool_name": "add", "tool_call_id": "quick", "arguments": {"numbers": [1]}}]}});
    let model = ScriptedModel::new([calls.to_string(), complete("好")]);
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let bench = Bench::in_folder(folder, model, Duration::from_millis(80)).await;
    let admitted = bench.ask("q", None).await;
    let answer = bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap();
    let order: Vec<&str> = answer.tool_calls.iter().map(|c| c.tool_call_id.as_str()).collect();
    assert_eq!(order, ["slow", "quick"]);
}
