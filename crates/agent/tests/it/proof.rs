//! Proof-carrying answers (SPEC V): figures that nothing proves are sent back once, and what stays is marked.

use std::sync::Arc;
use std::time::Duration;

use ba_model::{ScriptedModel, ScriptedReply};
use ba_protocol::audit::{Audit, AuditMode, FigureState};
use ba_protocol::{RunEvent, api::AgentResponse};
use serde_json::json;

use crate::bench::{Bench, call, complete};
use crate::turns::seen;

/// Four figures are wrong: a digit, another region's number, an invented share, an invented sum.
const WRONG: &str =
    "华东销售额 156,000 元，华南销售额 64,250 元，华北销售额 64,250 元，西南占 42.5%，合计 999,999 元。";
/// Three are corrected; the sum is not.
const MENDED: &str =
    "华东销售额 150,600 元，华南销售额 87,300 元，华北销售额 64,250 元，西南占 12.2%，合计 999,999 元。";

fn marked(audit: &Audit) -> Vec<(&str, FigureState)> {
    audit.marked().map(|f| (f.text.as_str(), f.state)).collect()
}

async fn asked(bench: &Bench, question: &str) -> AgentResponse {
    let admitted = bench.ask(question, None).await;
    bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap()
}

fn audit_of(answer: &AgentResponse) -> &Audit {
    answer.metadata.audit.as_ref().unwrap()
}

#[tokio::test]
async fn four_wrong_figures_are_sent_back_and_the_one_that_stays_is_marked() {
    let model = ScriptedModel::new([call("sales", json!({})), complete(WRONG), complete(MENDED)]);
    let bench = Bench::new(model).await;
    let answer = asked(&bench, "各地区销售额？").await;
    assert_eq!(bench.model.requests().len(), 3);
    insta::assert_snapshot!("gate_request", seen(&bench.model.request(2).unwrap().messages));
    assert_eq!(answer.response, MENDED);
    let audit = audit_of(&answer);
    assert_eq!(marked(audit), [("999,999", FigureState::Unproven)]);
    assert_eq!((audit.proven, audit.derived), (3, 1));
    let wire = serde_json::to_value(&answer.metadata).unwrap();
    assert_eq!(
        wire["audit"]["figures"][0],
        json!({"text": "150,600", "start": 6, "end": 13, "state": "proven",
               "proof": {"tool_call_id": "call_1", "row": 0, "column": "销售额"}})
    );
    let rounds = bench.store.turns(&answer.conversation_id).await.unwrap();
    assert_eq!(serde_json::to_value(&rounds[0].audit).unwrap(), wire["audit"], "kept with the round");
    let told =
        bench.heard.0.lock().iter().any(|e| matches!(e, RunEvent::Report(a) if a.metadata.audit.is_some()));
    assert!(told);
}

#[tokio::test]
async fn a_proven_answer_costs_no_turn() {
    let bench =
        Bench::new(ScriptedModel::new([call("sales", json!({})), complete("华东销售额 150,600 元。")])).await;
    let answer = asked(&bench, "各地区销售额？").await;
    assert_eq!((bench.model.requests().len(), audit_of(&answer).proven), (2, 1));
}

#[tokio::test]
async fn a_worse_second_answer_or_none_leaves_the_draft() {
    for second in [
        complete("华东 1,234 元、华南 2,345 元、华北 3,456 元、西南 4,567 元，合计 11,602 元。"),
        complete("好的。"),
        "好的".into(),
    ] {
        let script = [call("sales", json!({})), complete(WRONG), second];
        let bench = Bench::new(ScriptedModel::new(script)).await;
        let answer = asked(&bench, "各地区销售额？").await;
        assert_eq!(answer.response, WRONG);
        assert_eq!(marked(audit_of(&answer)).len(), 4);
    }
}

#[tokio::test]
async fn the_model_may_compute_what_was_missing() {
    let script =
        [complete("华东销售额 150,600 元。"), call("sales", json!({})), complete("华东销售额 150,600 元。")];
    let bench = Bench::new(ScriptedModel::new(script)).await;
    let answer = asked(&bench, "华东？").await;
    assert_eq!((bench.model.requests().len(), audit_of(&answer).proven), (3, 1));
    let last = seen(&bench.model.request(2).unwrap().messages);
    let (draft, result) =
        (last.find("无法从工具结果中得到证实").unwrap(), last.find("<tool_result").unwrap());
    assert!(draft < result, "the draft stands before what came after it:\n{last}");
}

// SPEC V5
#[tokio::test]
async fn mark_asks_nothing_and_off_says_nothing() {
    let script = || ScriptedModel::new([call("sales", json!({})), complete(WRONG)]);
    let bench = Bench::with_audit(script(), AuditMode::Mark).await;
    let answer = asked(&bench, "各地区销售额？").await;
    assert_eq!((bench.model.requests().len(), marked(audit_of(&answer)).len()), (2, 4));
    let bench = Bench::with_audit(script(), AuditMode::Off).await;
    let answer = asked(&bench, "各地区销售额？").await;
    assert_eq!((bench.model.requests().len(), answer.metadata.audit), (2, None));
}

#[tokio::test]
async fn a_crash_in_the_gate_turn_resumes_in_it_with_its_evidence() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let slow = ScriptedReply::text("never").after(Duration::from_secs(600));
    let before = [call("sales", json!({})), complete(WRONG)].map(ScriptedReply::text);
    let model = ScriptedModel::new(before.into_iter().chain([slow]));
    let bench = Bench::in_folder(folder.clone(), model, Duration::ZERO).await;
    let admitted = bench.ask("各地区销售额？", None).await;
    while bench.model.requests().len() < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    bench.agent.shutdown(Duration::ZERO).await;
    drop(bench);

    let bench = Bench::in_folder(folder, ScriptedModel::new([complete(MENDED)]), Duration::ZERO).await;
    assert_eq!(bench.agent.resume_open_runs().await.unwrap(), 1);
    let answer = bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap();
    assert!(seen(&bench.model.request(0).unwrap().messages).contains("无法从工具结果中得到证实"));
    assert_eq!(marked(audit_of(&answer)), [("999,999", FigureState::Unproven)]);
}

#[tokio::test]
async fn figures_of_an_earlier_turn_and_of_the_user_are_proven_later() {
    let script = [
        call("sales", json!({})),
        complete("华东销售额 150,600 元。"),
        complete("上一问中华南销售额 87,300 元，目标是 90,500 元。"),
    ];
    let bench = Bench::new(ScriptedModel::new(script)).await;
    let first = asked(&bench, "各地区销售额？").await;
    let second = bench.ask("华南的目标 90,500 元，达到了吗？", Some(&first.conversation_id)).await;
    let answer = bench.agent.wait(&bench.owner, &second.run_id).await.unwrap();
    let audit = audit_of(&answer);
    assert_eq!((audit.proven, audit.given, marked(audit)), (1, 1, vec![]));
    let proof = serde_json::to_value(&audit.figures[0].proof).unwrap();
    assert_eq!(proof["tool_call_id"], format!("earlier:{}/call_1", first.run_id));
}

#[tokio::test]
async fn a_stopped_run_s_own_notice_is_no_invention() {
    let calls = (0..6).map(|i| call("add", json!({"numbers": [i]})));
    let bench = Bench::new(ScriptedModel::new(calls)).await;
    let answer = asked(&bench, "加").await;
    assert_eq!(answer.metadata.stop_reason.as_deref(), Some("max_rounds"));
    assert_eq!(marked(audit_of(&answer)), []);
}
