//! The conversation log (SPEC M4): one JSONL file per run, appended by its own task so that a run never waits for it.
//! A line can not be forged (JSON escapes CR, LF and ESC) and never holds a secret.

mod redact;

use std::path::{Path, PathBuf};
use std::time::Duration;

use ba_model::ModelRequest;
use ba_protocol::{Audit, CodeFile, StructuredResponse, ToolCall, ToolResult};
use ba_store::RunRecord;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot};

pub use redact::Redactor;

use crate::pipeline::Counter;

/// Lines waiting to be written before new ones are dropped and counted.
const QUEUE: usize = 10_000;

/// Cheap to clone; without a folder it does nothing.
#[derive(Clone)]
pub struct ConversationLog {
    lines: Option<mpsc::Sender<Entry>>,
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
        Self { lines: None }
    }

    /// Starts the writer. Files over `max_bytes` go on in `….1.jsonl`, `….2.jsonl` and so on.
    pub fn start(folder: &Path, max_bytes: u64, redactor: Redactor) -> Self {
        let (lines, queue) = mpsc::channel(QUEUE);
        tokio::spawn(write_all(folder.to_owned(), max_bytes, redactor, queue));
        Self { lines: Some(lines) }
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

    pub fn model_input(&self, run: &RunRecord, request: &ModelRequest, count: &Counter) {
        if self.lines.is_none() {
            return;
        }
        for message in &request.messages {
            let content = message.wire_text();
            let token_count = count(&content);
            let role = message.role.as_str();
            self.put(
                run,
                json!({"type": "ModelInput", "role": role, "content": content, "token_count": token_count}),
            );
        }
    }

    pub fn model_output(
        &self,
        run: &RunRecord,
        raw: &str,
        response: Option<&StructuredResponse>,
        tokens: u64,
    ) {
        self.put(
            run,
            json!({"type": "ModelOutput", "raw_content": raw, "structured_response": response, "token_count": tokens}),
        );
    }

    pub fn tool_call(&self, run: &RunRecord, call: &ToolCall) {
        self.backend(
            run,
            "tool_call",
            json!({"tool_name": call.tool_name, "tool_call_id": call.tool_call_id, "arguments": call.arguments}),
        );
    }

    pub fn tool_result(&self, run: &RunRecord, result: &ToolResult) {
        self.backend(
            run,
            "tool_result",
            json!({"tool_name": result.tool_name, "tool_call_id": result.tool_call_id, "success": result.success,
                   "output_level": result.output_level, "observation": result.observation,
                   "data_file": result.data_file, "error_code": result.error_code,
                   "data_notes": result.data_notes}),
        );
    }

    pub fn code_saved(&self, run: &RunRecord, code: &CodeFile) {
        self.backend(
            run,
            "code_saved",
            json!({"code_id": code.code_id, "file_path": code.file_path, "original_length": code.char_count,
                   "description": code.description}),
        );
    }

    pub fn code_retrieved(&self, run: &RunRecord, code_id: &str, length: u64, truncated: bool) {
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
        let Some(lines) = &self.lines else { return };
        let (done, written) = oneshot::channel();
        if lines.send(Entry::Flush(done)).await.is_ok() {
            let _ = written.await;
        }
    }

    fn put(&self, run: &RunRecord, mut line: Value) {
        let Some(lines) = &self.lines else { return };
        line["timestamp"] = json!(Timestamp::now().to_string());
        if lines.try_send(Entry::Line { file: file_stem(run), line }).is_err() {
            tracing::warn!(run = %run.id, "a line of the conversation log was dropped: the disk is too slow");
        }
    }
}

/// `conversation_{id}_{timestamp}`, the timestamp being the run's start.
pub fn file_stem(run: &RunRecord) -> String {
    format!("conversation_{}_{}", run.conversation_id, run.created_at.strftime("%Y%m%dT%H%M%S%3fZ"))
}

async fn write_all(folder: PathBuf, max_bytes: u64, redactor: Redactor, mut queue: mpsc::Receiver<Entry>) {
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, 256).await > 0 {
        let mut texts: Vec<(String, String)> = Vec::new();
        let mut waiting = Vec::new();
        for entry in batch.drain(..) {
            let (file, line) = match entry {
                Entry::Line { file, line } => (file, redactor.clean(line).to_string()),
                Entry::Flush(done) => {
                    waiting.push(done);
                    continue;
                }
            };
            match texts.last_mut() {
                Some((last, text)) if *last == file => {
                    text.push_str(&line);
                    text.push('\n');
                }
                _ => texts.push((file, format!("{line}\n"))),
            }
        }
        for (file, text) in texts {
            if let Err(error) = append(&folder, &file, max_bytes, text.as_bytes()).await {
                tracing::warn!(%error, file, "the conversation log could not be written");
            }
        }
        for done in waiting {
            let _ = done.send(());
        }
    }
}

async fn append(folder: &Path, stem: &str, max_bytes: u64, bytes: &[u8]) -> std::io::Result<()> {
    tokio::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).await?;
    let mut part = 0;
    let path = loop {
        let name = if part == 0 { format!("{stem}.jsonl") } else { format!("{stem}.{part}.jsonl") };
        let path = folder.join(name);
        match tokio::fs::metadata(&path).await {
            Ok(found) if found.len() >= max_bytes => part += 1,
            _ => break path,
        }
    };
    let mut file = tokio::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path).await?;
    file.write_all(bytes).await?;
    file.flush().await
}
