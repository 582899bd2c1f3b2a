//! Drives the analyst against stand-in tools, round by round, as the agent would.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use ba_analyst::OfflineAnalyst;
use ba_analyst::turn::Turn;
use ba_protocol::structured::Report;
use ba_protocol::{Action, ContentBlock, Message, Role, ToolCall};
use serde_json::{Value, json};

pub struct Bench {
    analyst: OfflineAnalyst,
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    files: Vec<String>,
}

pub struct Run {
    pub report: Report,
    pub sql: Vec<String>,
    pub rounds: usize,
}

impl Bench {
    pub fn new() -> Self {
        let python =
            std::env::var("BA_TEST_PYTHON").ok().or_else(prepared).unwrap_or_else(|| "python3".to_owned());
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/tools.py");
        let mut child =
            Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        Self { analyst: OfflineAnalyst::new().unwrap(), child, to, from, files: Vec::new() }
    }

    fn send(&mut self, request: &Value) -> (String, bool) {
        writeln!(self.to, "{request}").unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).expect("the stand-in tools answer");
        (
            answer["content"].as_str().unwrap_or_default().to_owned(),
            answer["failed"].as_bool().unwrap_or(true),
        )
    }

    pub fn load(&mut self, files: &[String]) {
        self.files = files.to_vec();
        let (content, failed) = self.send(&json!({ "files": files }));
        assert!(!failed, "{content}");
    }

    /// From now on every query fails.
    pub fn break_queries(&mut self) {
        self.send(&json!({ "broken": true }));
    }

    pub fn ask(&mut self, earlier: &[String], question: &str) -> Run {
        let mut messages = self.opening(earlier, question);
        let mut sql = Vec::new();
        for round in 1..=8 {
            let response = self.analyst.respond(&Turn::read(&messages));
            match response.action {
                Action::Complete(report) => return Run { report, sql, rounds: round },
                Action::ToolCall { content } => {
                    sql.extend(
                        content
                            .iter()
                            .filter(|c| computes(c))
                            .map(|c| c.arguments["query"].as_str().unwrap_or_default().to_owned()),
                    );
                    self.call(&mut messages, content);
                }
            }
        }
        panic!("no answer after 8 rounds: {question}");
    }

    /// What the judge sees of a question: its tables are read, nothing is computed.
    pub fn marks(&mut self, earlier: &[String], question: &str) -> Vec<String> {
        let mut messages = self.opening(earlier, question);
        loop {
            let turn = Turn::read(&messages);
            match self.analyst.respond(&turn).action {
                Action::ToolCall { content } if !content.iter().any(computes) => {
                    self.call(&mut messages, content);
                }
                _ => return self.analyst.marks(&turn),
            }
        }
    }

    fn opening(&self, earlier: &[String], question: &str) -> Vec<Message> {
        let list: Vec<String> = self
            .files
            .iter()
            .enumerate()
            // Sheets of one workbook are listed once.
            .filter(|(i, f)| *i == 0 || !f.contains("__"))
            .map(|(i, f)| {
                format!("- [upload_{:03}] {} (csv) | 1 KB", i + 1, f.rsplit('/').next().unwrap_or(f))
            })
            .collect();
        let mut messages = vec![Message::system("prompt")];
        for text in earlier {
            messages.extend([Message::user(text.clone()), Message::assistant("…")]);
        }
        messages.extend([
            Message::system(format!("可用文件列表：\n\n{}", list.join("\n"))),
            Message::user(question),
        ]);
        messages
    }

    fn call(&mut self, messages: &mut Vec<Message>, calls: Vec<ToolCall>) {
        assert!(calls.len() <= 6);
        let said = calls
            .iter()
            .map(|c| ContentBlock::ToolUse {
                id: c.tool_call_id.clone(),
                name: c.tool_name.clone(),
                input: Value::Object(c.arguments.clone()),
            })
            .collect();
        messages.push(Message::new(Role::Assistant, said));
        let mut results = Vec::new();
        for call in calls {
            let (content, is_error) =
                self.send(&json!({"tool": call.tool_name, "arguments": call.arguments}));
            results.push(ContentBlock::ToolResult { tool_use_id: call.tool_call_id, content, is_error });
        }
        messages.push(Message::new(Role::User, results));
    }
}

/// The call computes the answer; others look at the tables.
fn computes(call: &ToolCall) -> bool {
    call.tool_name == "query_database" && !call.tool_call_id.ends_with("_values")
}

/// The newest environment `scripts/prepare-python` has made.
fn prepared() -> Option<String> {
    let cache = std::path::PathBuf::from(std::env::var("HOME").ok()?).join(".cache/ba-agent");
    let found = std::fs::read_dir(cache).ok()?.filter_map(Result::ok).map(|e| e.path().join("bin/python"));
    let ready = found.filter(|p| p.exists() && p.to_string_lossy().contains("/python-"));
    ready
        .max_by_key(|p| p.metadata().and_then(|m| m.modified()).ok())
        .map(|p| p.to_string_lossy().into_owned())
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answer: the first paragraph of a report.
pub fn answer(content: &str) -> String {
    content.split("\n\n").next().unwrap_or("").to_owned()
}
