//! The two wire formats: what is sent, and what the pieces of an answer mean. No IO.

pub(crate) mod anthropic;
pub(crate) mod openai;
mod quirks;

use serde_json::Value;

use crate::model::{ModelError, ModelReply, ModelRequest, StopReason, Usage};
use crate::settings::{Dialect, ModelSettings};
use crate::sse::SseEvent;
use crate::thinking;
pub(crate) use quirks::Quirks;

/// An answer while it arrives.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) thinking: String,
    pub(crate) usage: Option<Usage>,
    pub(crate) stop: Option<StopReason>,
    /// The provider said that nothing follows.
    pub(crate) done: bool,
    /// Native tool calls: never asked for, but some models send them.
    pub(crate) calls: Vec<NativeCall>,
    follower: thinking::Follower,
}

#[derive(Debug, Default)]
pub(crate) struct NativeCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// Why a piece of an answer ends it.
#[derive(Debug)]
pub(crate) enum Bad {
    /// The provider sent an error instead of an answer.
    Provider(Value),
    Garbled(String),
}

impl Answer {
    /// The reply, if the provider said how it ended.
    pub(crate) fn into_reply(mut self) -> Result<ModelReply, ModelError> {
        let Some(stop) = self.stop else {
            let detail = format!(
                "the stream ended after {} characters without a finish reason",
                self.text.chars().count()
            );
            return Err(ModelError::Truncated { detail });
        };
        let (thought, said) = thinking::split(&self.text);
        if let Some(thought) = thought {
            self.thinking.push_str(thought);
            self.text = said.to_owned();
        }
        if self.text.trim().is_empty() && !self.calls.is_empty() {
            self.text = self.calls_as_text();
        }
        let thinking = (!self.thinking.is_empty()).then_some(self.thinking);
        Ok(ModelReply { text: self.text, thinking, usage: self.usage, stop })
    }

    /// The answer so far, without thinking that came inside the text.
    pub(crate) fn said(&mut self) -> &str {
        self.follower.said(&self.text)
    }

    /// Native calls in a shape the output parser reads.
    fn calls_as_text(&self) -> String {
        let calls: Vec<Value> = self
            .calls
            .iter()
            .map(|c| serde_json::json!({"tool_name": c.name, "tool_call_id": c.id, "arguments": c.arguments}))
            .collect();
        serde_json::json!({"tool_calls": calls}).to_string()
    }
}

/// Where to send a request.
pub(crate) fn url(settings: &ModelSettings) -> String {
    match settings.dialect {
        Dialect::OpenAi => settings.endpoint("/chat/completions"),
        Dialect::Anthropic if settings.base_url.path().trim_end_matches('/').ends_with("/v1") => {
            settings.endpoint("/messages")
        }
        Dialect::Anthropic => settings.endpoint("/v1/messages"),
    }
}

/// Where the endpoint lists its models.
pub(crate) fn models_url(settings: &ModelSettings) -> String {
    let chat = url(settings);
    let base = chat.trim_end_matches("/chat/completions").trim_end_matches("/messages");
    format!("{base}/models")
}

pub(crate) fn body(settings: &ModelSettings, request: &ModelRequest, quirks: Quirks) -> Value {
    match settings.dialect {
        Dialect::OpenAi => openai::body(settings, request, quirks),
        Dialect::Anthropic => anthropic::body(settings, request, quirks),
    }
}

/// Takes one event of a stream in.
pub(crate) fn event(dialect: Dialect, event: &SseEvent, answer: &mut Answer) -> Result<(), Bad> {
    if event.data.trim() == "[DONE]" {
        answer.done = true;
        return Ok(());
    }
    if event.data.trim().is_empty() {
        return Ok(());
    }
    let value: Value = serde_json::from_str(&event.data)
        .map_err(|e| Bad::Garbled(format!("a piece of the stream is not JSON ({e})")))?;
    if let Some(error) = error_in(&value) {
        return Err(Bad::Provider(error));
    }
    match dialect {
        Dialect::OpenAi => openai::event(&value, answer),
        Dialect::Anthropic => anthropic::event(&value, answer),
    }
    Ok(())
}

/// Takes a whole answer in that came as one JSON object.
pub(crate) fn whole(dialect: Dialect, value: &Value, answer: &mut Answer) -> Result<(), Bad> {
    if let Some(error) = error_in(value) {
        return Err(Bad::Provider(error));
    }
    match dialect {
        Dialect::OpenAi => openai::whole(value, answer),
        Dialect::Anthropic => anthropic::whole(value, answer),
    }
    if answer.stop.is_none() && answer.text.is_empty() && answer.calls.is_empty() {
        return Err(Bad::Garbled("the answer is JSON, but not of a model".to_owned()));
    }
    answer.done = true;
    Ok(())
}

fn error_in(value: &Value) -> Option<Value> {
    match value.get("error") {
        Some(Value::Null) | None if value.get("type").and_then(Value::as_str) == Some("error") => {
            Some(value.clone())
        }
        Some(Value::Null) | None => None,
        Some(error) => Some(error.clone()),
    }
}

fn count(usage: &Value, path: &str) -> Option<u64> {
    usage.pointer(path).and_then(Value::as_u64)
}
