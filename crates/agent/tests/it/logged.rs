//! The log of a real run, line by line against the schema in `docs/` (SPEC M4).

use std::path::Path;
use std::time::Duration;

use ba_model::ScriptedModel;
use serde_json::{Value, json};

use crate::bench::{Bench, call, complete};

/// The part of JSON Schema that our schema uses.
fn fits(schema: &Value, value: &Value) -> bool {
    let Some(rules) = schema.as_object() else { return true };
    rules.iter().all(|(rule, wanted)| match rule.as_str() {
        "const" => value == wanted,
        "enum" => wanted.as_array().unwrap().contains(value),
        "type" => match wanted {
            Value::Array(kinds) => kinds.iter().any(|k| is_kind(k.as_str().unwrap(), value)),
            kind => is_kind(kind.as_str().unwrap(), value),
        },
        "minimum" => value.as_i64().is_some_and(|v| v >= wanted.as_i64().unwrap()),
        "pattern" => {
            regex::Regex::new(wanted.as_str().unwrap()).unwrap().is_match(value.as_str().unwrap_or(""))
        }
        "required" => wanted.as_array().unwrap().iter().all(|k| value.get(k.as_str().unwrap()).is_some()),
        "properties" => {
            wanted.as_object().unwrap().iter().all(|(k, s)| value.get(k).is_none_or(|v| fits(s, v)))
        }
        "oneOf" => wanted.as_array().unwrap().iter().filter(|s| fits(s, value)).count() == 1,
        "$schema" | "title" => true,
        other => panic!("the schema uses `{other}`, which this test does not know"),
    })
}

fn is_kind(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    }
}

#[test]
fn the_checker_can_fail() {
    let schema = json!({"oneOf": [{"properties": {"type": {"const": "a"}}, "required": ["n"]}]});
    assert!(fits(&schema, &json!({"type": "a", "n": 1})));
    assert!(!fits(&schema, &json!({"type": "a"})));
    assert!(!fits(&schema, &json!({"type": "b", "n": 1})));
}

#[tokio::test]
async fn every_line_of_a_real_run_fits_the_schema() {
    let report = "共 4,567 件。\n```python\nprint(1)\n```";
    let model =
        ScriptedModel::new([call("add", json!({"numbers": [1]})), complete(report), complete(report)]);
    let bench = Bench::with_log(model, &["topsecret-value"]).await;
    let admitted = bench.ask("问题 topsecret-value\r\n{\"type\":\"forged\"}\u{1b}[2J", None).await;
    bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap();
    let folder = bench.folder.path().join("logs");
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conversation-log.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let text = wait_for(&folder, "\"event\":\"audit\"").await;
    assert!(!text.contains("topsecret") && !text.contains('\u{1b}'));
    let mut kinds = std::collections::BTreeSet::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(fits(&schema, &line), "{line}");
        kinds.insert(line["event"].as_str().or(line["type"].as_str()).unwrap().to_owned());
    }
    let wanted = [
        "ModelInput",
        "ModelOutput",
        "audit",
        "code_saved",
        "round_end",
        "round_start",
        "sent_back",
        "tool_call",
        "tool_result",
    ];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), wanted);
}

/// The lines of a log, parsed.
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

// What the conversation's log holds already is counted, not written again: a later turn logs what is new.
#[tokio::test]
async fn a_later_turn_logs_only_what_is_new() {
    let replies: Vec<String> =
        (0..12).flat_map(|i| [call("add", json!({"numbers": [i]})), complete("好")]).collect();
    let bench = Bench::with_log(ScriptedModel::new(replies), &[]).await;
    let mut conversation = None;
    for turn in 0..12 {
        let admitted = bench.ask(&format!("问题 {turn} {}", "长".repeat(500)), conversation.as_ref()).await;
        bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap();
        conversation = Some(admitted.conversation_id);
    }
    bench.agent.shutdown(Duration::from_secs(1)).await;
    let mut files: Vec<_> =
        std::fs::read_dir(bench.folder.path().join("logs")).unwrap().flatten().map(|f| f.path()).collect();
    files.sort();
    assert_eq!(files.len(), 12);
    let text = |at: usize| std::fs::read_to_string(&files[at]).unwrap();
    let (second, last) = (text(1), text(11));
    assert!(last.len() < second.len() * 5 / 4, "{} bytes, then {}", second.len(), last.len());
    assert!(last.len() < 12_000, "{}", last.len());
    assert!(!last.contains("你是 BA-Agent") && text(0).contains("你是 BA-Agent"));
    let before: u64 = lines(&last).iter().filter_map(|l| l["unchanged"].as_u64()).sum();
    assert!(before > 40, "the whole history was sent: {before} messages");
}

// SPEC P14, M4: thinking and warnings are in the log.
#[tokio::test]
async fn thinking_and_warnings_are_logged() {
    let text = complete("见 <code_ref>code_nowhere</code_ref>");
    let reply = ba_model::ModelReply {
        text,
        thinking: Some("先想一想".into()),
        usage: None,
        stop: ba_model::StopReason::End,
    };
    let model = ScriptedModel::new([ba_model::ScriptedReply::reply(reply)]);
    let bench = Bench::with_log(model, &[]).await;
    let admitted = bench.ask("问题", None).await;
    let answer = bench.agent.wait(&bench.owner, &admitted.run_id).await.unwrap();
    assert!(!answer.response.contains("先想"));
    let text = wait_for(&bench.folder.path().join("logs"), "\"event\":\"warning\"").await;
    let found = lines(&text);
    let of = |event: &str| found.iter().find(|l| l["event"] == event).cloned().unwrap();
    assert_eq!(of("thinking")["content"], "先想一想");
    assert!(of("warning")["message"].as_str().unwrap().contains("code_nowhere"));
}

/// The log is written beside the run: it comes a moment later.
async fn wait_for(folder: &Path, word: &str) -> String {
    for _ in 0..500 {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let text: String = files.filter_map(|f| std::fs::read_to_string(f.path()).ok()).collect();
        if text.contains(word) {
            return text;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no `{word}` in the log");
}
