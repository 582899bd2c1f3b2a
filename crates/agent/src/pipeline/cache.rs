//! Answers the same harmless call of a conversation from memory (SPEC E9). Keys hold the versions of the
//! conversation's files, so a new upload, table or code version misses by itself.

use std::sync::Arc;
use std::time::Duration;

use ba_protocol::{ConversationId, ToolCall};
use serde_json::Value;

use crate::run::repeat::call_key;
use crate::tool::{Body, ToolOutput};

const TTL: Duration = Duration::from_secs(15 * 60);
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// A single result larger than this is not worth its place.
const MAX_ENTRY: usize = 4 * 1024 * 1024;

#[derive(Clone)]
pub struct IdempotencyCache {
    entries: moka::sync::Cache<String, Arc<ToolOutput>>,
}

impl Default for IdempotencyCache {
    fn default() -> Self {
        let entries = moka::sync::Cache::builder()
            .max_capacity(MAX_BYTES)
            .weigher(|_: &String, v: &Arc<ToolOutput>| u32::try_from(weight(v)).unwrap_or(u32::MAX))
            .time_to_live(TTL)
            .build();
        Self { entries }
    }
}

impl IdempotencyCache {
    /// `files` is a fingerprint of everything in the conversation that a call could read.
    pub fn key(conversation: &ConversationId, files: &str, version: &str, call: &ToolCall) -> String {
        let mut arguments = call.arguments.clone();
        arguments.remove("response_format");
        let hash = call_key(&call.tool_name, &Value::Object(arguments));
        format!("{conversation}/{files}/{version}/{hash}")
    }

    pub fn get(&self, key: &str) -> Option<Arc<ToolOutput>> {
        self.entries.get(key)
    }

    pub fn put(&self, key: String, output: &Arc<ToolOutput>) {
        if weight(output) <= MAX_ENTRY {
            self.entries.insert(key, output.clone());
        }
    }
}

fn weight(output: &ToolOutput) -> usize {
    let data = output.data.as_ref().map_or(0, |d| d.bytes.len());
    let brief = output.brief.as_ref().map_or(0, String::len);
    output.summary.len() + brief + data + body_weight(&output.body) + 256
}

fn body_weight(body: &Body) -> usize {
    match body {
        Body::Empty => 0,
        Body::Table { rows, .. } => rows.iter().map(|r| r.iter().map(value_weight).sum::<usize>() + 24).sum(),
        Body::Text(text) | Body::Code { text, .. } => text.len(),
        Body::List(items) => items.iter().map(|i| i.len() + 24).sum(),
        Body::Parts(parts) => parts.iter().map(|(t, b)| t.len() + body_weight(b)).sum(),
    }
}

fn value_weight(value: &Value) -> usize {
    match value {
        Value::String(s) => s.len() + 32,
        Value::Array(items) => items.iter().map(value_weight).sum::<usize>() + 32,
        Value::Object(map) => map.iter().map(|(k, v)| k.len() + value_weight(v)).sum::<usize>() + 64,
        Value::Null | Value::Bool(_) | Value::Number(_) => 32,
    }
}
