//! The independent witness (SPEC V6): a model that binds its total to a wrong query is shown both queries once, and a
//! disagreement that stays is told.

use serde_json::{Value, json};

use super::server::{Dialect, Server};
use super::{ask, second_request};

const WRONG_QUERY: &str = "SELECT sum(销售额) AS 销售额合计 FROM upload_001 WHERE 地区 <> '西南'";
const RIGHT_QUERY: &str = "SELECT sum(销售额) AS 销售额合计 FROM upload_001";
const WRONG: &str = "销售额合计为 302,150 元。";
const RIGHT: &str = "销售额合计为 344,020 元。";

fn turn(action: Value) -> String {
    json!({"task_analysis": "", "execution_plan": "", "current_round": 1, "action": action}).to_string()
}

fn query(id: &str, sql: &str) -> Value {
    json!({"type": "tool_call", "content": [
        {"tool_name": "query_database", "tool_call_id": id, "arguments": {"query": sql}}]})
}

fn complete(content: &str) -> Value {
    json!({"type": "complete", "content": content})
}

/// Leaves a region out and stays with it.
fn stubborn(request: &Value) -> String {
    let seen = request["messages"].to_string();
    let answered = seen.contains("<tool_result name=\\\"query_database\\\">");
    turn(if answered { complete(WRONG) } else { query("call_1", WRONG_QUERY) })
}

/// Computes anew when it is shown the other query.
fn sensible(request: &Value) -> String {
    let seen = request["messages"].to_string();
    turn(if seen.contains("344020\\n</tool_result>") {
        complete(RIGHT)
    } else if seen.contains("独立核算") {
        query("call_2", RIGHT_QUERY)
    } else if seen.contains("<tool_result name=\\\"query_database\\\">") {
        complete(WRONG)
    } else {
        query("call_1", WRONG_QUERY)
    })
}

fn asked(model: fn(&Value) -> String, settings: &str) -> (Value, String, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sales.csv");
    std::fs::write(&file, "地区,销售额\n华东,150600\n华南,87300\n华北,64250\n西南,41870\n").unwrap();
    std::fs::write(folder.path().join("ba-agent.toml"), settings).unwrap();
    let server = Server::start_with(Dialect::OpenAi, model);
    let environment = [
        ("BA_MODEL", "openai-compatible:test-model".to_owned()),
        ("BA_BASE_URL", server.url()),
        ("BA_API_KEY", "sk-test-0123456789abcdef".to_owned()),
    ];
    let question = ["ask", "销售额合计是多少？", "--file", file.to_str().unwrap()];
    let shown = ask(folder.path(), &environment, &question);
    let said = String::from_utf8_lossy(&shown.stderr).into_owned();
    assert!(shown.status.success(), "{said}");
    let requests = server.requests();
    let json = ask(folder.path(), &environment, &[&question[..], &["--json"]].concat());
    let answer: Value = serde_json::from_slice(&json.stdout).unwrap();
    (answer["data"].clone(), said, requests)
}

#[test]
fn a_wrong_query_is_shown_beside_the_right_one_and_the_disagreement_stays() {
    let (answer, said, requests) = asked(stubborn, "");
    assert_eq!(answer["metadata"]["audit"]["proven"], 1, "the figure itself is what the query says");
    assert_eq!(requests.len(), 3, "one gate turn");
    insta::assert_snapshot!("gate_with_both_queries", second_request(&requests[2]));
    let witness = &answer["metadata"]["witness"];
    assert_eq!((&witness["agrees"], &witness["value"]), (&json!(false), &json!(344_020.0)), "{witness}");
    assert!(witness["query"].as_str().unwrap().contains("FROM"), "{witness}");
    assert!(said.contains("独立核算不一致"), "{said}");
    assert!(said.contains("344020"), "{said}");
}

#[test]
fn a_model_that_computes_anew_agrees_and_the_witness_can_be_switched_off() {
    let (answer, said, _) = asked(sensible, "");
    assert_eq!(
        (&answer["response"], &answer["metadata"]["witness"]["agrees"]),
        (&json!(RIGHT), &json!(true))
    );
    assert!(said.contains("独立核算一致"), "{said}");
    let (answer, _, requests) = asked(stubborn, "witness = false\n");
    assert_eq!((requests.len(), answer["metadata"].get("witness")), (2, None));
}
