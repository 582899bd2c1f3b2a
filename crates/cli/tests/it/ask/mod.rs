//! `ba-agent ask` against loopback servers that speak each dialect: two rounds with a real tool, and what a newcomer
//! does wrong.

mod database;
mod proof;
mod report;
mod search;
mod server;
mod traced;
mod verify;
mod web;
mod witness;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use server::{Dialect, Server};

fn ask(folder: &Path, environment: &[(&str, String)], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ba-agent"));
    command.args(arguments).current_dir(folder).env_clear();
    for name in ["PATH", "HOME", "XDG_CACHE_HOME"] {
        if let Ok(value) = std::env::var(name) {
            command.env(name, value);
        }
    }
    command.envs(environment.iter().map(|(k, v)| (*k, v.as_str())));
    command.output().unwrap()
}

fn table(folder: &Path) -> PathBuf {
    let path = folder.join("sales.csv");
    std::fs::write(&path, "地区,销售额\n华东,100.5\n华南,50\n华东,9.5\n").unwrap();
    path
}

/// The second request as the model read it: the part after the system prompt.
fn second_request(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    let shown: Vec<String> = messages
        .iter()
        .filter(|m| m["role"] != "system" || !m["content"].to_string().contains("你是 BA-Agent"))
        .map(|m| format!("[{}]\n{}", m["role"].as_str().unwrap(), text_of(&m["content"])))
        .collect();
    shown.join("\n")
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().map(|b| b["text"].as_str().unwrap_or_default()).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

fn two_rounds(dialect: Dialect) -> (Output, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let file = table(folder.path());
    let server = Server::start(dialect);
    let environment = [
        ("BA_MODEL", format!("{}:test-model", dialect.provider())),
        ("BA_BASE_URL", server.url()),
        ("BA_API_KEY", "sk-test-0123456789abcdef".to_owned()),
    ];
    let output = ask(
        folder.path(),
        &environment,
        &["ask", "各地区销售额？", "--file", file.to_str().unwrap(), "--json"],
    );
    (output, server.requests())
}

fn check(dialect: Dialect, name: &str) {
    let (output, requests) = two_rounds(dialect);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["data"]["response"], "华东 110，华南 50。");
    assert_eq!(answer["data"]["tool_calls"][0]["success"], true);
    assert_eq!(requests.len(), 2);
    insta::assert_snapshot!(name.to_owned(), second_request(&requests[1]));
    assert!(!said.contains("sk-test"), "the key is never printed");
}

#[test]
fn two_rounds_with_an_openai_compatible_server() {
    check(Dialect::OpenAi, "openai_second_request");
}

#[test]
fn two_rounds_with_an_anthropic_server() {
    check(Dialect::Anthropic, "anthropic_second_request");
}

#[test]
fn a_file_that_cannot_be_used_is_wrong_use_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("chart.png.csv");
    std::fs::write(&picture, b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01").unwrap();
    let output = ask(
        folder.path(),
        &[("BA_MODEL", "offline".to_owned())],
        &[
            "ask",
            "各地区销售额？",
            "--file",
            table(folder.path()).to_str().unwrap(),
            "--file",
            picture.to_str().unwrap(),
        ],
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("chart.png.csv cannot be used: this is a PNG image"), "{said}");
    assert!(said.contains("upload the figures it shows as CSV or XLSX"), "what to do is said: {said}");
    assert!(output.stdout.is_empty(), "no answer to a question about nothing");
    let database = folder.path().join("ba-data/blobs");
    let left = walk(&database);
    assert!(left.is_empty(), "{left:?}");
}

/// Every blob below a folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(walk(&path)),
            path => found.push(path),
        }
    }
    found
}

#[test]
fn a_recorded_run_is_replayed_without_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let file = table(folder.path());
    let record = folder.path().join("run.jsonl");
    let arguments = ["ask", "各地区销售额？", "--file", file.to_str().unwrap(), "--json"];
    let server = Server::start(Dialect::OpenAi);
    let environment = [
        ("BA_MODEL", "openai-compatible:test-model".to_owned()),
        ("BA_BASE_URL", server.url()),
        ("BA_RECORD", record.display().to_string()),
        ("BA_API_KEY", "sk-test-0123456789abcdef".to_owned()),
    ];
    let recorded = ask(folder.path(), &environment, &arguments);
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    assert!(!std::fs::read_to_string(&record).unwrap().contains("sk-test"), "a recording holds no key");

    let replay = [("BA_MODEL", format!("replay:{}", record.display()))];
    let replayed = ask(folder.path(), &replay, &arguments);
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stderr));
    let answer = |output: &Output| {
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["data"]["response"].clone()
    };
    assert_eq!(answer(&replayed), answer(&recorded));
    assert_eq!(server.requests().len(), 2, "nobody was asked again");
    let said = String::from_utf8_lossy(&replayed.stderr).into_owned();
    assert!(!said.contains("WARN"), "the log is written before the program ends: {said}");
}

/// Environment, arguments, exit code, words said.
type Mistake<'m> = (&'m [(&'m str, String)], &'m [&'m str], i32, &'m str);

// SPEC K6: 2 for wrong use or configuration, 1 for a failed run.
#[test]
fn mistakes_have_their_exit_code_and_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [Mistake<'_>; 4] = [
        (&[("BA_MODEL", "openai:gpt-5".into())], &["ask", "q"], 2, "OPENAI_API_KEY"),
        (&[], &["ask", "q", "--file", "missing.csv"], 2, "no file missing.csv"),
        (&[], &["frobnicate"], 2, "--help"),
        (&[], &["ask", "q", "--conversation", "../x"], 2, "conversation id"),
    ];
    for (environment, arguments, code, words) in cases {
        let output = ask(folder.path(), environment, arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    let nobody =
        [("BA_MODEL", "openai-compatible:x".to_owned()), ("BA_BASE_URL", "http://127.0.0.1:9/v1".to_owned())];
    let output = ask(folder.path(), &nobody, &["ask", "q"]);
    assert_eq!(output.status.code(), Some(1), "a model that cannot be reached is a failed run");
}

#[test]
fn help_names_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let output = ask(folder.path(), &[], &["--help"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for word in [
        "serve", "ask", "doctor", "eval", "logs", "trace", "context", "user", "key", "skill", "export",
        "import", "verify",
    ] {
        assert!(text.contains(word), "{word} in {text}");
    }
}
