//! The conversation log (SPEC M4): one JSONL file per run, written by a thread of its own so that a run does not wait for
//! it. A line can not be forged (JSON escapes CR, LF and ESC) and never holds a secret. What a conversation's log
//! holds already is not written again; no line is dropped: far behind, the writer makes its callers wait.

mod redact;
mod writer;

use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use ba_model::ModelRequest;
use ba_protocol::{Audit, CodeFile, ConversationId, FileFacts, StructuredResponse, ToolCall, ToolResult};
use ba_store::RunRecord;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::oneshot;

pub use redact::Redactor;
pub use writer::expire;

use crate::pipeline::Counter;

/// Lines waiting to be written before callers wait too.
const QUEUE: usize = 10_000;
/// Messages of which it is known that they are in the log.
const REMEMBERED: u64 = 100_000;
/// Characters of one text in a line.
const MAX_TEXT: usize = 200_000;

/// Cheap to clone; without a folder it does nothing.
#[derive(Clone)]
pub struct ConversationLog {
    lines: Option<SyncSender<Entry>>,
    /// Texts by conversation and hash.
    logged: moka::sync::Cache<[u8; 16], ()>,
}

enum Entry {
    Line {
        file: String,
        line: Value,
    },
    /// Answered when all lines before it are written.
    Flush(oneshot::Sender<()>),
}

impl ConversationLog {
    pub fn off() -> Self {
        Self { lines: None, logged: moka::sync::Cache::new(1) }
    }

    /// Starts the writer. Files over `max_bytes` go on in `….1.jsonl`, `….2.jsonl` and so on.
    pub fn start(folder: &Path, max_bytes: u64, redactor: Redactor) -> Self {
        let (lines, queue) = sync_channel(QUEUE);
        let folder = folder.to_owned();
        let started = std::thread::Builder::new()
            .name("conversation-log".to_owned())
            .spawn(move || writer::write_all(&folder, max_bytes, &redactor, &queue));
        if let Err(error) = started {
            tracing::error!(%error, "there will be no conversation log: its thread could not be started");
            return Self::off();
        }
        Self { lines: Some(lines), logged: moka::sync::Cache::new(REMEMBERED) }
    }

    pub fn round_start(&self, run: &RunRecord, round: u32) {
        self.put(run, json!({"type": "round_start", "round": round}));
    }

    pub fn round_end(&self, run: &RunRecord, round: u32, duration: Duration) {
        self.put(
            run,
            json!({"type": "round_end", "round": round, "duration_ms": duration.as_millis() as u64}),
        );
    }

    /// What the model is sent. Messages the conversation's log holds already are counted in one line.
    pub fn model_input(&self, run: &RunRecord, request: &ModelRequest, count: &Counter) {
        if self.lines.is_none() {
            return;
        }
        let mut before = Unchanged::default();
        for message in &request.messages {
            let content = message.wire_text();
            let token_count = count(&content);
            if self.is_logged(&run.conversation_id, &content) {
                before.add(token_count, &content);
                continue;
            }
            before.say(self, run);
            let mut line =
                json!({"type": "ModelInput", "role": message.role.as_str(), "token_count": token_count});
            put_text(&mut line, "content", &content);
            self.put(run, line);
        }
        before.say(self, run);
    }

    fn is_logged(&self, conversation: &ConversationId, content: &str) -> bool {
        let mut hasher = blake3::Hasher::new();
        hasher.update(conversation.as_str().as_bytes()).update(content.as_bytes());
        let mut key = [0; 16];
        key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        let known = self.logged.contains_key(&key);
        if !known {
            self.logged.insert(key, ());
        }
        known
    }

    pub fn model_output(
        &self,
        run: &RunRecord,
        raw: &str,
        response: Option<&StructuredResponse>,
        tokens: u64,
    ) {
        let mut line = json!({"type": "ModelOutput", "structured_response": response, "token_count": tokens});
        put_text(&mut line, "raw_content", raw);
        self.put(run, line);
    }

    /// What the provider sent of the model's thinking, apart from its answer (SPEC P14).
    pub fn thinking(&self, run: &RunRecord, thinking: &str) {
        let mut fields = json!({});
        put_text(&mut fields, "content", thinking);
        self.backend(run, "thinking", fields);
    }

    pub fn tool_call(&self, run: &RunRecord, call: &ToolCall) {
        self.backend(
            run,
            "tool_call",
            json!({"tool_name": call.tool_name, "tool_call_id": call.tool_call_id, "arguments": call.arguments}),
        );
    }

    pub fn tool_result(&self, run: &RunRecord, result: &ToolResult) {
        let shown = result.observation.len() as u64;
        let mut fields = json!({"tool_name": result.tool_name, "tool_call_id": result.tool_call_id,
            "success": result.success, "output_level": result.output_level, "data_file": result.data_file,
            "error_code": result.error_code, "data_notes": result.data_notes});
        put_text(&mut fields, "observation", &result.observation);
        if result.data_size_bytes > shown {
            fields["truncated"] = json!(true);
            fields["original_length"] = json!(result.data_size_bytes);
        }
        // The observation goes to the model as its next input: there it is known by this line.
        self.is_logged(&run.conversation_id, &result.observation);
        self.backend(run, "tool_result", fields);
        if let (true, Some(FileFacts::Code { code_id: Some(code_id), chars, .. })) =
            (result.success, &result.file_facts)
        {
            self.code_retrieved(run, code_id.as_str(), *chars, *chars > shown);
        }
    }

    pub fn code_saved(&self, run: &RunRecord, code: &CodeFile) {
        self.backend(
            run,
            "code_saved",
            json!({"code_id": code.code_id, "file_path": code.file_path, "original_length": code.char_count,
                   "description": code.description}),
        );
    }

    fn code_retrieved(&self, run: &RunRecord, code_id: &str, length: u64, truncated: bool) {
        self.backend(
            run,
            "code_retrieved",
            json!({"code_id": code_id, "content_length": length, "truncated": truncated}),
        );
    }

    pub fn context_cleaned(&self, run: &RunRecord, original: u64, cleaned: u64) {
        self.backend(
            run,
            "context_cleaned",
            json!({"original_tokens": original, "cleaned_tokens": cleaned,
                   "saved_tokens": original.saturating_sub(cleaned)}),
        );
    }

    /// Where the figures of an answer come from (SPEC V).
    pub fn audit(&self, run: &RunRecord, audit: &Audit) {
        self.backend(run, "audit", json!({"audit": audit}));
    }

    /// That an answer went back to its model, and what it was asked.
    pub fn sent_back(&self, run: &RunRecord, request: &str) {
        self.backend(run, "sent_back", json!({"request": request}));
    }

    pub fn warning(&self, run: &RunRecord, message: &str) {
        self.backend(run, "warning", json!({"message": message}));
    }

    fn backend(&self, run: &RunRecord, event: &str, fields: Value) {
        let mut line = json!({"type": "BackendProcessing", "event": event});
        if let (Value::Object(line), Value::Object(fields)) = (&mut line, fields) {
            line.extend(fields);
        }
        self.put(run, line);
    }

    /// Waits until everything said so far is written.
    pub async fn flush(&self) {
        let Some(lines) = self.lines.clone() else { return };
        let (done, written) = oneshot::channel();
        let sent = tokio::task::spawn_blocking(move || lines.send(Entry::Flush(done)).is_ok()).await;
        if sent.unwrap_or(false) {
            let _ = written.await;
        }
    }

    fn put(&self, run: &RunRecord, mut line: Value) {
        let Some(lines) = &self.lines else { return };
        line["timestamp"] = json!(Timestamp::now().to_string());
        if lines.send(Entry::Line { file: file_stem(run), line }).is_err() {
            tracing::warn!(run = %run.id, "the conversation log has ended");
        }
    }
}

/// Messages in a row that are in the log already.
#[derive(Default)]
struct Unchanged {
    messages: usize,
    tokens: usize,
    characters: usize,
}

impl Unchanged {
    fn add(&mut self, tokens: usize, content: &str) {
        self.messages += 1;
        self.tokens += tokens;
        self.characters += content.chars().count();
    }

    fn say(&mut self, log: &ConversationLog, run: &RunRecord) {
        let Self { messages, tokens, characters } = std::mem::take(self);
        if messages > 0 {
            log.put(
                run,
                json!({"type": "ModelInput", "role": "system", "content": "", "token_count": tokens,
                       "content_length": 0, "truncated": true, "original_length": characters, "unchanged": messages}),
            );
        }
    }
}

/// A text with its length, cut where it is longer than a line should be.
fn put_text(line: &mut Value, name: &str, text: &str) {
    let original = text.chars().count();
    let kept = if original > MAX_TEXT { text.chars().take(MAX_TEXT).collect() } else { text.to_owned() };
    line["content_length"] = json!(original.min(MAX_TEXT));
    line["truncated"] = json!(original > MAX_TEXT);
    if original > MAX_TEXT {
        line["original_length"] = json!(original);
    }
    line[name] = Value::String(kept);
}

/// `conversation_{id}_{timestamp}`, the timestamp being the run's start.
pub fn file_stem(run: &RunRecord) -> String {
    format!("conversation_{}_{}", run.conversation_id, run.created_at.strftime("%Y%m%dT%H%M%S%3fZ"))
}
