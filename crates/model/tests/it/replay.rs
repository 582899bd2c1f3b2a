//! Scripted, recorded and replayed models (SPEC L4).

use std::sync::{Arc, Mutex};

use ba_model::{
    Matching, Model, ModelError, ModelReply, ModelRequest, RecordingModel, ReplayModel, ScriptedModel,
    ScriptedReply, Usage,
};
use ba_protocol::Message;

fn asking(system: &str, question: &str, answers: usize) -> ModelRequest {
    let mut messages = vec![Message::system(system), Message::user(question)];
    for n in 0..answers {
        messages.push(Message::assistant(format!("call {n}")));
        messages.push(Message::user("<tool_result name=\"t\">1</tool_result>"));
    }
    ModelRequest { messages, max_tokens: None, temperature: None, schema: None, stable_prefix: 1 }
}

async fn ask(model: &dyn Model, request: &ModelRequest) -> Result<ModelReply, ModelError> {
    model.complete(request, &|_| {}).await
}

#[tokio::test]
async fn a_script_answers_in_order_fails_on_request_and_remembers() {
    let usage = Usage { input_tokens: 1, output_tokens: 2, cached_tokens: 0 };
    let script = [
        ScriptedReply::text("销售额").in_chunks(2).with_usage(usage),
        ScriptedReply::error(ModelError::Unauthorized { status: 401 }),
    ];
    let model = ScriptedModel::new(script);
    let seen = Mutex::new(Vec::new());
    let reply = model
        .complete(&asking("s", "one", 0), &|d: &str| seen.lock().unwrap().push(d.to_owned()))
        .await
        .unwrap();
    assert_eq!((reply.text.as_str(), reply.usage), ("销售额", Some(usage)));
    assert_eq!(seen.into_inner().unwrap(), ["销售", "额"]);
    assert_eq!(ask(&model, &asking("s", "two", 0)).await.unwrap_err().code(), "model_unauthorized");
    let over = ask(&model, &asking("s", "three", 0)).await.unwrap_err();
    assert!(over.to_string().contains("no answer number 3"), "{over}");
    assert_eq!(model.request(1).unwrap().messages[1].text(), "two");
    assert_eq!((model.requests().len(), model.remaining()), (3, 0));
}

/// Records three turns: two rounds of one question, then another question.
async fn recording() -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let inner = ScriptedModel::new(["first", "second", "third"]);
    let model = RecordingModel::new(Arc::new(inner), &path).unwrap();
    for request in [asking("s", "how much?", 0), asking("s", "how much?", 1), asking("s", "and why?", 0)] {
        ask(&model, &request).await.unwrap();
    }
    assert!(ask(&model, &asking("s", "failed turns are not recorded", 0)).await.is_err());
    std::fs::read_to_string(path).unwrap()
}

#[tokio::test]
async fn a_recording_replays_exactly() {
    let lines = recording().await;
    assert_eq!(lines.lines().count(), 3);
    let model = ReplayModel::from_lines(&lines, "run.jsonl", Matching::Exact).unwrap();
    assert_eq!(model.info().name, "replay:run.jsonl");
    assert_eq!(ask(&model, &asking("s", "how much?", 0)).await.unwrap().text, "first");
    assert_eq!(ask(&model, &asking("s", "how much?", 1)).await.unwrap().text, "second");
    assert_eq!(ask(&model, &asking("s", "and why?", 0)).await.unwrap().text, "third");
    let over = ask(&model, &asking("s", "and why?", 0)).await.unwrap_err();
    assert_eq!(over.to_string(), "the replayed recording does not match: all 3 recorded turns are used");
}

#[tokio::test]
async fn a_difference_is_named_exactly_and_does_not_use_the_turn_up() {
    let lines = recording().await;
    let model = ReplayModel::from_lines(&lines, "run.jsonl", Matching::Exact).unwrap();
    let mut other_schema = asking("s", "how much?", 0);
    other_schema.schema = Some(serde_json::json!({}).into());
    for (request, expected) in [
        (
            asking("s", "how many?", 0),
            "turn 1: message 1 (user) differs at character 5: recorded `how much?`, given `how many?`",
        ),
        (asking("s", "how much?", 1), "turn 1: 4 messages were sent, recorded were 2"),
        (other_schema, "turn 1: `schema` differs"),
    ] {
        let ModelError::Replay { detail } = ask(&model, &request).await.unwrap_err() else { panic!() };
        assert_eq!(detail, expected);
    }
    assert_eq!(ask(&model, &asking("s", "how much?", 0)).await.unwrap().text, "first");
}

#[tokio::test]
async fn demonstrations_match_by_question_whatever_else_changed() {
    let lines = recording().await;
    let model = ReplayModel::from_lines(&lines, "run.jsonl", Matching::UserText).unwrap();
    assert_eq!(ask(&model, &asking("new prompt", "and why?", 0)).await.unwrap().text, "third");
    assert_eq!(ask(&model, &asking("new prompt", "how much? ", 0)).await.unwrap().text, "first");
    assert_eq!(ask(&model, &asking("new prompt", "how much?", 1)).await.unwrap().text, "second");
    let unknown = ask(&model, &asking("new prompt", "what?", 0)).await.unwrap_err();
    assert!(unknown.to_string().contains("no unused turn answers `what?`"), "{unknown}");

    let model = ReplayModel::from_lines(&lines, "run.jsonl", Matching::Order).unwrap();
    assert_eq!(ask(&model, &asking("x", "anything", 0)).await.unwrap().text, "first");
}

#[tokio::test]
async fn a_replay_streams() {
    let long = "文".repeat(100);
    let inner = Arc::new(ScriptedModel::new([long.as_str()]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    ask(&RecordingModel::new(inner, &path).unwrap(), &asking("s", "q", 0)).await.unwrap();
    let model = ReplayModel::open(&path, Matching::Exact).unwrap();
    let seen = Mutex::new(Vec::new());
    model.complete(&asking("s", "q", 0), &|d: &str| seen.lock().unwrap().push(d.to_owned())).await.unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(seen.len() > 1);
    assert_eq!(seen.concat(), long);
}

#[test]
fn a_file_that_is_no_recording_is_refused_with_its_line() {
    let refused =
        |text: &str| ReplayModel::from_lines(text, "x.jsonl", Matching::Exact).err().unwrap().to_string();
    assert!(refused("\n{\"a\":1}").starts_with("line 2 of x.jsonl is not a recorded turn:"));
    assert_eq!(refused("\n"), "x.jsonl holds no recorded turn");
}
