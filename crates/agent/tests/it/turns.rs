//! Turns that go well, and turns a model spoils.

use ba_model::{ModelError, ScriptedModel, ScriptedReply};
use ba_protocol::audit::AuditMode;
use ba_protocol::{Message, RunEvent};
use serde_json::json;

use crate::bench::{Bench, call, complete, doubt};

/// Everything after the system prompt, as the model reads it.
pub fn seen(messages: &[Message]) -> String {
    messages.iter().skip(1).map(|m| format!("[{}]\n{}\n", m.role.as_str(), m.wire_text())).collect()
}

#[tokio::test]
async fn two_rounds_and_the_exact_second_request() {
    let bench =
        Bench::new(ScriptedModel::new([call("add", json!({"numbers": [40, 2]})), complete("合计 **42**。")]))
            .await;
    let admitted = bench.ask("40 加 2 是多少？", None).await;
    let answer = bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap();
    assert_eq!(answer.response, "合计 **42**。");
    assert_eq!(answer.metadata.recommended_questions, ["还有呢？"]);
    assert_eq!(answer.tool_calls.len(), 1);
    insta::assert_snapshot!("second_request", seen(&bench.model.request(1).unwrap().messages));
    let names: Vec<&str> =
        bench.heard.0.lock().iter().filter(|e| e.is_durable()).map(RunEvent::name).collect();
    assert_eq!(names, ["run.started", "round", "tool.started", "tool.finished", "report"]);
}

#[tokio::test]
async fn the_next_turn_begins_with_the_last_ones_bytes() {
    let replies =
        (0..10).flat_map(|i| [call("add", json!({"numbers": [i, 1]})), complete(&format!("结果 {}", i + 1))]);
    let bench = Bench::new(ScriptedModel::new(replies)).await;
    let mut conversation = None;
    for turn in 0..10 {
        let admitted = bench.ask(&format!("第 {turn} 问"), conversation.as_ref()).await;
        bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap();
        conversation = Some(admitted.conversation_id);
    }
    let requests = bench.model.requests();
    let bytes = |messages: &[Message]| messages.iter().map(|m| m.wire_text().len()).sum::<usize>();
    let spans =
        |messages: &[Message]| messages.iter().filter(|m| m.wire_text().starts_with("[历史摘要]")).count();
    let (mut sent, mut reused, mut compressed) = (0, 0, 0);
    for pair in requests.windows(2) {
        let (before, now) = (&pair[0].messages, &pair[1].messages);
        let same = before.iter().zip(now).take_while(|(a, b)| a == b).count();
        // SPEC X1: a request begins with the one before it, as far as nothing was compressed.
        if spans(now) > spans(before) {
            compressed += 1;
            assert!(same > spans(before), "spans that were there stay as they were");
        } else {
            assert_eq!(same, before.len(), "the request before is not the beginning of this one");
        }
        sent += bytes(now);
        reused += bytes(&now[..same]);
    }
    println!(
        "{} of {sent} bytes ({:.1} %) repeat the beginning of the request before",
        reused,
        reused as f64 / sent as f64 * 100.0
    );
    assert_eq!(compressed, 0, "what fits the budget stays whole (SPEC X3)");
    assert!(reused * 10 >= sent * 9, "most of what is sent was sent before");
}

#[tokio::test]
async fn a_broken_answer_gets_one_correction_turn() {
    let broken = r#"{"task_analysis": "x", "action": {"type": "dance", "content": 5}}"#;
    let bench = Bench::new(ScriptedModel::new([broken.to_owned(), complete("好了")])).await;
    let admitted = bench.ask("q", None).await;
    let answer = bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap();
    assert_eq!(answer.response, "好了");
    let second = seen(&bench.model.request(1).unwrap().messages);
    assert!(second.contains("dance") && second.contains("无法解析"), "{second}");
}

#[tokio::test]
async fn an_unknown_tool_and_wrong_arguments_are_answered() {
    let bench = Bench::new(ScriptedModel::new([
        call("ad", json!({})),
        call("add", json!({"numbers": "many"})),
        complete("ok"),
    ]))
    .await;
    let admitted = bench.ask("q", None).await;
    bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap();
    insta::assert_snapshot!("answered_mistakes", seen(&bench.model.request(2).unwrap().messages));
}

#[tokio::test]
async fn a_model_that_fails_ends_the_run_readably_and_the_next_turn_works() {
    let failing = ScriptedReply::error(ModelError::Unauthorized { status: 401 });
    let bench = Bench::new(ScriptedModel::new([failing, ScriptedReply::text(complete("回来了"))])).await;
    let admitted = bench.ask("q", None).await;
    let error = bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap_err();
    assert!(error.to_string().contains("BA_API_KEY"), "{error}");
    let again = bench.ask("再问", Some(&admitted.conversation_id)).await;
    let answer = bench.agent.wait(&bench.owner, &again.run_id).await.unwrap();
    assert_eq!(answer.response, "回来了");
}

// SPEC B1
#[tokio::test]
async fn notes_on_data_come_with_the_answer_once_whatever_the_model_says() {
    let calls = [call("effect", json!({})), call("effect", json!({"response_format": "full"}))];
    let script = calls.into_iter().chain([complete("共 42。"), complete("再见")]);
    let bench = Bench::with_audit(ScriptedModel::new(script), AuditMode::Mark).await;
    let first = bench.ask("多少？", None).await;
    let answer = bench.agent.wait(&bench.owner, &first.run_id).await.unwrap();
    assert_eq!((answer.response.as_str(), answer.tool_calls.len()), ("共 42。", 2));
    assert_eq!(answer.metadata.data_notes, [doubt()]);
    let request = seen(&bench.model.request(2).unwrap().messages);
    assert_eq!(request.matches("data note: sales: 金额: units are mixed").count(), 1, "{request}");
    let rounds: Vec<_> = bench
        .heard
        .0
        .lock()
        .iter()
        .filter_map(|e| match e {
            RunEvent::Turn(answer) => Some(answer.metadata.data_notes.len()),
            _ => None,
        })
        .collect();
    assert_eq!(rounds, [0, 0], "only the complete answer has them");

    let second = bench.ask("谢谢", Some(&first.conversation_id)).await;
    let answer = bench.agent.wait(&bench.owner, &second.run_id).await.unwrap();
    assert_eq!(answer.metadata.data_notes, [], "an answer that used no table");
}

#[tokio::test]
async fn code_in_a_report_is_saved_and_history_keeps_its_line() {
    let report = "结果如下\n\n```python\nprint(1)\n```\n完";
    let bench = Bench::new(ScriptedModel::new([complete(report), complete("继续")])).await;
    let first = bench.ask("写代码", None).await;
    let answer = bench.agent.wait(&bench.owner, &first.run_id).await.unwrap();
    let saved = &answer.metadata.saved_codes[0];
    let (_, code) = bench.store.code(&first.conversation_id, &saved.code_id, None).await.unwrap();
    assert_eq!(code.trim(), "print(1)");
    let second = bench.ask("继续", Some(&first.conversation_id)).await;
    bench.agent.wait(&bench.owner, &second.run_id).await.unwrap();
    let seen = seen(&bench.model.request(1).unwrap().messages);
    assert!(seen.contains("<!-- CODE_SAVED: ") && !seen.contains("print(1)\n```"), "{seen}");
}
