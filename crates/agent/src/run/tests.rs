//! The machine without IO: every path from question to outcome.

use super::*;
use ba_protocol::api::ErrorInfo;
use proptest::prelude::*;
use serde_json::json;

fn now() -> Timestamp {
    Timestamp::from_second(1_700_000_000).unwrap()
}

fn run() -> Run {
    Run::new("销售额？", Limits::default(), now())
}

fn calls(args: &[serde_json::Value]) -> String {
    let content: Vec<_> = args
        .iter()
        .enumerate()
        .map(|(i, a)| json!({"tool_name": "t", "tool_call_id": format!("c{i}"), "arguments": a}))
        .collect();
    json!({"task_analysis": "想", "execution_plan": "R1", "current_round": 1,
           "action": {"type": "tool_call", "content": content}})
    .to_string()
}

fn complete(content: &str) -> String {
    json!({"task_analysis": "", "execution_plan": "", "current_round": 2,
           "action": {"type": "complete", "content": content}})
    .to_string()
}

fn answer_all(run: &mut Run) {
    let Step::RunTools(planned) = run.next_step(Duration::ZERO) else { panic!("no tools to run") };
    let results =
        planned.iter().map(|p| ToolResult::success(&p.call.tool_call_id, &p.call.tool_name, "ok")).collect();
    run.on_tools(results);
}

fn answer_text(run: &mut Run) -> (String, StopReason) {
    match run.next_step(Duration::ZERO) {
        Step::Done(Outcome::Answer { response, stop, .. }) => match &response.action {
            Action::Complete(report) => (report.content.clone(), stop),
            Action::ToolCall { .. } => panic!("not complete"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_rounds_end_with_the_report() {
    let mut run = run();
    assert!(matches!(
        run.next_step(Duration::ZERO),
        Step::AskModel(Ask { round: 1, correction: None, gate: None, last_round: false })
    ));
    run.on_model(&calls(&[json!({"a": 1})]), 100);
    answer_all(&mut run);
    assert!(matches!(run.next_step(Duration::ZERO), Step::AskModel(Ask { round: 2, .. })));
    run.on_model(&complete("完成"), 50);
    assert_eq!(answer_text(&mut run), ("完成".into(), StopReason::Complete));
    assert_eq!(run.tokens(), 150);
    assert_eq!(run.steps().len(), 1);
}

#[test]
fn plain_text_is_a_complete_answer() {
    let mut run = run();
    run.on_model("你好，请上传文件。", 1);
    assert_eq!(answer_text(&mut run), ("你好，请上传文件。".into(), StopReason::PlainText));
}

#[test]
fn an_empty_call_list_gets_one_correction_then_is_delivered() {
    let mut run = run();
    let empty = calls(&[]);
    run.on_model(&empty, 1);
    let Step::AskModel(ask) = run.next_step(Duration::ZERO) else { panic!() };
    assert!(!ask.correction.unwrap().problem.is_empty());
    run.on_model(&empty, 1);
    assert_eq!(answer_text(&mut run).1, StopReason::PlainText);
}

#[test]
fn a_good_answer_after_a_correction_clears_it() {
    let mut run = run();
    run.on_model(&calls(&[]), 1);
    run.on_model(&calls(&[json!({})]), 1);
    answer_all(&mut run);
    let Step::AskModel(ask) = run.next_step(Duration::ZERO) else { panic!() };
    assert_eq!(ask.correction, None);
}

#[test]
fn the_third_identical_call_is_refused_and_the_fourth_stops() {
    let mut run = run();
    for _ in 0..2 {
        run.on_model(&calls(&[json!({"q": "x", "n": 1})]), 1);
        answer_all(&mut run);
    }
    run.on_model(&calls(&[json!({"n": 1, "q": "x"})]), 1);
    {
        let Step::RunTools(planned) = run.next_step(Duration::ZERO) else { panic!() };
        assert!(matches!(&planned[0].decision, Decision::Refuse { code, .. } if code == "REPEATED_CALL"));
    }
    answer_all(&mut run);
    run.on_model(&calls(&[json!({"q": "x", "n": 1})]), 1);
    let (text, stop) = answer_text(&mut run);
    assert_eq!(stop, StopReason::RepeatedCall);
    assert!(text.contains("反复"), "{text}");
}

#[test]
fn round_limit_announces_the_last_round_and_then_stops() {
    let mut run = Run::new("why?", Limits { max_rounds: 2, ..Limits::default() }, now());
    run.on_model(&calls(&[json!({"i": 1})]), 1);
    answer_all(&mut run);
    assert!(matches!(run.next_step(Duration::ZERO), Step::AskModel(Ask { last_round: true, .. })));
    run.on_model(&calls(&[json!({"i": 2})]), 1);
    answer_all(&mut run);
    let (text, stop) = answer_text(&mut run);
    assert_eq!(stop, StopReason::MaxRounds);
    assert!(text.contains("limit of 2 rounds"), "{text}");
}

#[test]
fn tokens_and_time_are_limits_too() {
    let mut run = Run::new("x", Limits { max_tokens: 10, ..Limits::default() }, now());
    run.on_model(&calls(&[json!({})]), 11);
    answer_all(&mut run);
    assert_eq!(answer_text(&mut run).1, StopReason::TokenBudget);

    let mut run = Run::new("x", Limits { max_wall_seconds: 5, ..Limits::default() }, now());
    assert!(matches!(
        run.next_step(Duration::from_secs(6)),
        Step::Done(Outcome::Answer { stop: StopReason::WallTime, .. })
    ));
}

#[test]
fn past_the_call_limit_calls_are_refused_not_run() {
    let mut run = Run::new("x", Limits { max_tool_calls: 1, ..Limits::default() }, now());
    run.on_model(&calls(&[json!({"i": 1}), json!({"i": 2})]), 1);
    let Step::RunTools(planned) = run.next_step(Duration::ZERO) else { panic!() };
    assert_eq!(planned[0].decision, Decision::Run);
    assert!(matches!(&planned[1].decision, Decision::Refuse { code, .. } if code == "TOOL_CALL_LIMIT"));
}

#[test]
fn cancel_wins_and_stays() {
    let mut run = run();
    run.on_model(&calls(&[json!({})]), 1);
    run.end(Outcome::Cancelled);
    run.end(Outcome::Failed { error: ba_protocol::api::ErrorInfo::new("x", "y") });
    assert_eq!(run.next_step(Duration::ZERO), Step::Done(Outcome::Cancelled));
}

proptest! {
    // Whatever a model says, the machine ends within its limits and survives a save and load at every step.
    #[test]
    fn every_run_ends_and_resumes(outputs in prop::collection::vec("\\PC{0,80}|\\{.{0,60}\\}", 1..20)) {
        let limits = Limits { max_rounds: 5, ..Limits::default() };
        let mut run = Run::new("q", limits, now());
        let mut outputs = outputs.iter().cycle();
        let mut steps = 0;
        loop {
            steps += 1;
            prop_assert!(steps < 40, "the run does not end");
            let saved = serde_json::to_string(&run).unwrap();
            let mut loaded: Run = serde_json::from_str(&saved).unwrap();
            prop_assert_eq!(&loaded, &run);
            prop_assert_eq!(loaded.next_step(Duration::ZERO), run.next_step(Duration::ZERO));
            match run.next_step(Duration::ZERO) {
                Step::Done(_) => break,
                Step::AskModel(_) => { let next = outputs.next().unwrap().clone(); run.on_model(&next, 1); }
                Step::RunTools(_) => { run.on_tools(vec![]); }
            }
        }
    }
}

fn at_gate(limits: Limits) -> Run {
    let mut run = Run::new("销售额？", limits, now());
    run.on_model(&calls(&[json!({"a": 1})]), 100);
    answer_all(&mut run);
    run.on_model(&complete("草稿"), 50);
    assert!(run.reconsider("改一改".into()).is_some());
    run
}

// SPEC V4
#[test]
fn an_answer_is_sent_back_once_even_at_the_limits() {
    let mut run = at_gate(Limits { max_rounds: 2, max_tokens: 150, ..Limits::default() });
    let mut saved: Run = serde_json::from_value(serde_json::to_value(&run).unwrap()).unwrap();
    assert_eq!(saved, run, "a crash resumes inside the gate");
    let Step::AskModel(ask) = saved.next_step(Duration::ZERO) else { panic!("not asked") };
    let gate = ask.gate.unwrap();
    assert_eq!((ask.round, ask.last_round, gate.request.as_str(), gate.after_steps), (3, true, "改一改", 1));
    assert!(gate.draft_text().contains("草稿"));
    run.on_model(&complete("改好了"), 50);
    assert_eq!(answer_text(&mut run), ("改好了".into(), StopReason::Complete));
    assert!(run.reconsider("再改".into()).is_none(), "one gate turn at most");
}

#[test]
fn the_draft_is_delivered_when_the_gate_turn_comes_to_nothing() {
    let mut failed = at_gate(Limits::default());
    failed.end(Outcome::Failed { error: ErrorInfo::new("x", "y") });
    assert_eq!(answer_text(&mut failed), ("草稿".into(), StopReason::Complete));

    let mut limited = at_gate(Limits { max_rounds: 2, ..Limits::default() });
    limited.on_model(&calls(&[json!({"b": 1})]), 1);
    answer_all(&mut limited);
    assert_eq!(answer_text(&mut limited), ("草稿".into(), StopReason::Complete));

    let mut plain = at_gate(Limits::default());
    plain.on_model("抱歉，我不明白。", 1);
    assert_eq!(answer_text(&mut plain), ("草稿".into(), StopReason::Complete));

    let mut cancelled = at_gate(Limits::default());
    cancelled.end(Outcome::Cancelled);
    assert_eq!(cancelled.next_step(Duration::ZERO), Step::Done(Outcome::Cancelled));
}

#[test]
fn a_plan_may_ask_for_more_rounds_up_to_the_cap() {
    let plan = |rounds: u32| {
        let plan: Vec<String> = (1..=rounds).map(|r| format!("R{r}: 步骤")).collect();
        json!({"task_analysis": "", "execution_plan": plan.join("; "), "current_round": 1,
               "action": {"type": "tool_call", "content":
                   [{"tool_name": "t", "tool_call_id": "c", "arguments": {"plan": rounds}}]}})
        .to_string()
    };
    let limits = Limits { max_rounds: 5, usual_rounds: 2, ..Limits::default() };
    for (planned, allowed) in [(0, 2), (1, 2), (4, 4), (999, 5)] {
        let mut run = Run::new("q", limits.clone(), now());
        run.on_model(&plan(planned), 1);
        assert_eq!(run.max_rounds(), allowed, "{planned}");
    }
}

#[test]
fn a_round_with_calls_is_announced_and_closed_once() {
    let mut run = run();
    let effects = run.on_model(&calls(&[json!({"a": 1})]), 1);
    assert!(
        matches!(&effects[..], [Effect::Heard { response: Some(_), .. }, Effect::Announce { calls, .. }] if calls.len() == 1)
    );
    assert_eq!(run.on_tools(vec![]), [Effect::CloseRound { round: 1 }]);
    assert_eq!(run.on_tools(vec![]), [], "nothing is pending any more");
    let effects = run.on_model(&complete("完成"), 1);
    assert!(matches!(&effects[..], [Effect::Heard { .. }]), "an ending is announced by the answer itself");
}
