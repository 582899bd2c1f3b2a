//! Drives the analyst against stand-in tools, round by round, as the agent would.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use ba_analyst::OfflineAnalyst;
use ba_analyst::turn::Turn;
use ba_eval::Case;
use ba_protocol::structured::Report;
use ba_protocol::{Action, ContentBlock, Message, Role, ToolCall};
use serde_json::{Value, json};

const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/tools.py");

/// Every question there is, beside the 800 of `evals/questions.jsonl`.
pub const ARCHIVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../evals/archive.tar.zst");

/// The questions of a folder or an archive, with the paths of their files; those of an archive go with the folder.
pub fn cases(set: &str) -> (tempfile::TempDir, Vec<Case>) {
    let folder = tempfile::tempdir().unwrap();
    let mut root = PathBuf::from(set);
    if root.is_file() {
        ba_eval::unpack(&root, folder.path()).unwrap();
        root = folder.path().to_owned();
    }
    let root = root.canonicalize().unwrap();
    let mut cases = ba_eval::read(&std::fs::read_to_string(root.join("questions.jsonl")).unwrap()).unwrap();
    for file in cases.iter_mut().flat_map(|c| &mut c.files) {
        *file = root.join(&*file).to_string_lossy().into_owned();
    }
    (folder, cases)
}

pub struct Bench {
    analyst: OfflineAnalyst,
    /// Started when a call is made whose result is not remembered.
    tools: Option<Tools>,
    files: Vec<String>,
    tape: Option<Tape>,
}

struct Tools {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    loaded: Vec<String>,
}

/// Results of earlier calls over the same tables, kept in a file: a second run needs no tools.
struct Tape {
    folder: PathBuf,
    path: PathBuf,
    known: HashMap<String, (String, bool)>,
}

pub struct Run {
    pub report: Report,
    pub sql: Vec<String>,
    pub rounds: usize,
    /// Which reader understood it, and what that cost.
    pub reader: &'static str,
    pub work: u64,
}

impl Bench {
    pub fn new() -> Self {
        Self { analyst: OfflineAnalyst::new().unwrap(), tools: None, files: Vec::new(), tape: None }
    }

    /// Remembers the results of calls in a folder.
    pub fn remembering(folder: PathBuf) -> Self {
        std::fs::create_dir_all(&folder).unwrap();
        let tape = Tape { folder, path: PathBuf::new(), known: HashMap::new() };
        Self { tape: Some(tape), ..Self::new() }
    }

    pub fn load(&mut self, files: &[String]) {
        self.files = files.to_vec();
        if let Some(tape) = &mut self.tape {
            tape.turn_to(files);
        } else {
            self.start();
        }
    }

    /// The tools, with the present files loaded.
    fn start(&mut self) -> &mut Tools {
        let files = &self.files;
        let tools = self.tools.get_or_insert_with(Tools::new);
        if tools.loaded != *files {
            let (content, failed) = tools.send(&json!({ "files": files }));
            assert!(!failed, "{content}");
            tools.loaded.clone_from(files);
        }
        tools
    }

    fn send(&mut self, request: &Value) -> (String, bool) {
        let key = request.to_string();
        if let Some(known) = self.tape.as_ref().and_then(|t| t.known.get(&key)) {
            return known.clone();
        }
        let found = self.start().send(request);
        if let Some(tape) = &mut self.tape {
            tape.add(key, &found);
        }
        found
    }

    /// From now on every query fails.
    pub fn break_queries(&mut self) {
        self.send(&json!({ "broken": true }));
    }

    pub fn ask(&mut self, earlier: &[String], question: &str) -> Run {
        let mut messages = self.opening(earlier, question);
        let mut sql = Vec::new();
        for round in 1..=8 {
            let turn = Turn::read(&messages);
            match self.analyst.respond(&turn).action {
                Action::Complete(report) => {
                    let understood = self.analyst.understood(&turn);
                    let (reader, work) = (understood.reader, understood.work);
                    return Run { report, sql, rounds: round, reader, work };
                }
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
                _ => return self.analyst.understood(&turn).marks.clone(),
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

impl Tools {
    fn new() -> Self {
        let python =
            std::env::var("BA_TEST_PYTHON").ok().or_else(prepared).unwrap_or_else(|| "python3".to_owned());
        let mut child =
            Command::new(python).arg(TOOLS).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        Self { child, to, from, loaded: Vec::new() }
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
}

impl Tape {
    /// The file for these tables, by what is in them and by the tools that read them.
    fn turn_to(&mut self, files: &[String]) {
        let mut hasher = DefaultHasher::new();
        std::fs::read(TOOLS).unwrap().hash(&mut hasher);
        for file in files {
            file.rsplit('/').next().hash(&mut hasher);
            std::fs::read(file).unwrap_or_else(|e| panic!("{file}: {e}")).hash(&mut hasher);
        }
        self.path = self.folder.join(format!("{:016x}.jsonl", hasher.finish()));
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let line = |l| serde_json::from_str::<(String, String, bool)>(l).ok();
        self.known = text.lines().filter_map(line).map(|(key, said, failed)| (key, (said, failed))).collect();
    }

    fn add(&mut self, key: String, found: &(String, bool)) {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&self.path).unwrap();
        writeln!(file, "{}", json!([key, found.0, found.1])).unwrap();
        self.known.insert(key, found.clone());
    }
}

impl Drop for Tools {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answer: the first paragraph of a report.
pub fn answer(content: &str) -> String {
    content.split("\n\n").next().unwrap_or("").to_owned()
}
