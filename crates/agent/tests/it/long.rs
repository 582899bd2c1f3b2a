//! Long conversations end to end: what the model still sees of their beginning, and what its summaries cost.

use std::sync::Arc;

use ba_model::{ModelInfo, ScriptedModel, ScriptedReply, Usage};
use ba_protocol::ConversationId;
use ba_protocol::audit::AuditMode;
use serde_json::json;

use crate::bench::{Bench, call, complete};

fn window(tokens: usize) -> ModelInfo {
    ModelInfo { name: "scripted:test".into(), window: tokens, offline: false, prices: None }
}

async fn converse(bench: &Bench, turns: usize) -> ConversationId {
    let mut conversation = None;
    for turn in 0..turns {
        let admitted = bench.ask(&format!("第{}个问题？", turn + 1), conversation.as_ref()).await;
        let answer = bench.agent.wait(&bench.owner, &admitted.run_id).await;
        assert!(answer.is_ok(), "turn {}: {:?}", turn + 1, answer.err());
        conversation = Some(admitted.conversation_id);
    }
    conversation.unwrap()
}

/// A turn that keeps a table, writes a file's name and a variable, and answers with a figure of its own.
fn busy(turn: usize) -> [String; 2] {
    let code = format!("monthly_{turn} = load('upload_001')\nmonthly_{turn}.to_csv('out_{turn}.csv')");
    let query = format!("SELECT * FROM sales_{turn}");
    let asked = call(
        "add",
        json!({"numbers": [turn], "code": code, "query": query, "path": format!("in_{turn}.csv")}),
    );
    [
        asked,
        complete(&format!(
            "第 {turn} 次：华东销售额 {turn},771 万元，同比 +{turn}.5%。\n{}",
            "其余说明。".repeat(400)
        )),
    ]
}

// Issue: the first request of turn 12 still holds the early figure, variable, table and file.
#[tokio::test]
async fn turn_twelve_still_knows_the_first_turn() {
    let replies: Vec<String> = (1..=11).flat_map(busy).chain([complete("好")]).collect();
    let model = ScriptedModel::new(replies).with_info(window(24_000));
    let bench = Bench::with_audit(model, AuditMode::Off).await;
    converse(&bench, 12).await;
    let request = bench.model.requests().pop().unwrap();
    let texts: Vec<String> = request.messages.iter().map(|m| m.wire_text()).collect();
    let first = texts.iter().position(|t| t.starts_with("[历史摘要]")).expect("older rounds are compressed");
    let summary = &texts[first];
    for early in ["1,771 万元", "monthly_1", "sales_1", "in_1.csv", "answer_1"] {
        assert!(summary.contains(early), "{early} is lost: {summary}");
    }
    let shown: Vec<String> = texts[1..].iter().map(|t| ba_protocol::text::shorten(t, 700)).collect();
    insta::assert_snapshot!("turn_twelve", shown.join("\n---\n"));
}

// A conversation never dies: 500 turns with a window of 8k are all answered.
#[tokio::test]
async fn five_hundred_turns_with_a_small_window_are_all_answered() {
    let answer =
        |turn: usize| complete(&format!("第 {turn} 轮：{turn},004 万元。{}", "说明文字。".repeat(60)));
    let model = ScriptedModel::new((0..500).map(answer)).with_info(window(8_192));
    let bench = Bench::with_audit(model, AuditMode::Off).await;
    converse(&bench, 500).await;
    let sent: Vec<usize> = bench.model.requests().iter().map(|r| r.messages.len()).collect();
    assert!(sent.iter().all(|messages| *messages < 40), "{:?}", sent.iter().max());
    let last = bench.model.requests().pop().unwrap();
    let all: String = last.messages.iter().map(|m| m.wire_text()).collect();
    assert!(all.contains("498,004") && all.contains("[历史摘要] 第 1–"));
}

// SPEC X5: a summary whose figures are invented is refused, and not asked for again for the same span. SPEC M1: what
// summaries took is in the run's usage and in the metrics.
// SPEC L2
#[tokio::test]
async fn a_refused_summary_is_asked_for_once_and_all_are_counted() {
    let replies: Vec<String> = (1..=30).map(|t| busy(t)[1].clone()).collect();
    let model = ScriptedModel::new(replies).with_info(window(16_000));
    let usage = Usage { input_tokens: 1_000, output_tokens: 10, cached_tokens: 0 };
    let invented = |_| ScriptedReply::text("- 预计 987654321 万元").with_usage(usage);
    let summary = Arc::new(
        ScriptedModel::new((0..100).map(invented))
            .with_info(ModelInfo { name: "scripted:small".into(), ..window(16_000) }),
    );
    let bench = Bench::with_summaries(model, summary.clone()).await;
    let conversation = converse(&bench, 30).await;
    let asked = summary.requests();
    assert!(!asked.is_empty() && asked.len() < 20, "{}", asked.len());
    for (at, request) in asked.iter().enumerate() {
        assert!(!asked[..at].contains(request), "span {at} was asked for twice");
    }
    let found = bench.agent.metrics().conversation(&conversation).unwrap();
    assert!(found.input_tokens >= asked.len() as u64 * 1_000, "{} {}", found.input_tokens, asked.len());
    let snapshot = bench.agent.metrics().snapshot();
    let small = snapshot.models.iter().find(|(name, _)| name == "scripted:small").unwrap();
    assert_eq!(small.1.calls, asked.len() as u64);
    let sent: String =
        bench.model.requests().iter().flat_map(|r| &r.messages).map(|m| m.wire_text()).collect();
    assert!(!sent.contains("987654321"));
}

// SPEC A1: an unknown model is refused with the names of those there are.
#[tokio::test]
async fn an_unknown_model_is_refused_with_the_known_ones() {
    let bench = Bench::new(ScriptedModel::new(["x"])).await;
    let mut query = crate::bench::query("问题", None);
    query.model = Some("openai:nobody".into());
    let refused = bench.agent.admit(&bench.owner, query).await.err().unwrap().to_string();
    assert_eq!(refused, "no model `openai:nobody` is configured; configured: scripted:test");
}

// SPEC W9: a question back reaches the API with its choices, also as recommended questions. SPEC W7: in the user's language.
#[tokio::test]
async fn a_question_back_has_choices_and_the_prompt_the_users_language() {
    let asked = json!({"task_analysis": "", "execution_plan": "", "current_round": 1, "action": {"type": "complete",
        "content": "Which sales?", "needs_clarification": {"choices": ["Including tax", "Excluding tax"]},
        "recommended_questions": ["x"]}});
    let bench = Bench::new(ScriptedModel::new([asked.to_string(), complete("好")])).await;
    let admitted = bench.ask("What are the sales?", None).await;
    let answer = bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap();
    let choices = ["Including tax", "Excluding tax"];
    assert_eq!(answer.metadata.needs_clarification.unwrap().choices, choices);
    assert_eq!(answer.metadata.recommended_questions, choices);
    let admitted = bench.ask("含税", Some(&admitted.conversation_id)).await;
    bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap();
    let prompt = |at: usize| bench.model.request(at).unwrap().messages[0].wire_text();
    assert!(prompt(0).starts_with("You are BA-Agent") && prompt(1).starts_with("你是 BA-Agent"));
}
