//! OpenAI-compatible chat completions: OpenAI, DeepSeek, Qwen, GLM, Kimi, Ollama, vLLM, llama.cpp.
//!
//! Sends plain messages, never native tools: the structured-response protocol works where those do not.

use ba_protocol::{Message, Role};
use serde_json::{Value, json};

use super::{Answer, NativeCall, Quirks, count};
use crate::model::{ModelRequest, StopReason, Usage};
use crate::settings::ModelSettings;

pub(super) fn body(settings: &ModelSettings, request: &ModelRequest, quirks: Quirks) -> Value {
    let messages = if quirks.free_roles { plain(&request.messages) } else { alternating(&request.messages) };
    let mut body = json!({"model": settings.model, "messages": messages, "stream": true});
    if quirks.stream_options {
        body["stream_options"] = json!({"include_usage": true});
    }
    if let Some(limit) = request.max_tokens.or(settings.max_tokens) {
        let name = if quirks.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body[name] = json!(limit);
    }
    if let Some(temperature) = request.temperature.or(settings.temperature).filter(|_| quirks.temperature) {
        body["temperature"] = short(temperature);
    }
    // The schema goes out exactly as it came: closing it empties tool arguments on real servers.
    if let Some(schema) = request.schema.as_ref().filter(|_| quirks.schema) {
        body["response_format"] = json!({
            "type": "json_schema",
            "json_schema": {"name": "structured_response", "strict": false, "schema": schema}
        });
    }
    body
}

/// 0.2, not 0.20000000298.
pub(super) fn short(value: f32) -> Value {
    value.to_string().parse::<f64>().map_or(Value::Null, |v| json!(v))
}

fn plain(messages: &[Message]) -> Vec<Value> {
    messages.iter().map(|m| json!({"role": m.role.as_str(), "content": m.wire_text()})).collect()
}

/// One system message first, then user and assistant in turn: what strict chat templates want.
fn alternating(messages: &[Message]) -> Vec<Value> {
    let leading = messages.iter().take_while(|m| m.role == Role::System).count();
    let mut turns: Vec<(&str, String)> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = match message.role {
            Role::System if index < leading => "system",
            Role::System | Role::User => "user",
            Role::Assistant => "assistant",
        };
        let text = message.wire_text();
        match turns.last_mut() {
            Some((last, merged)) if *last == role => {
                merged.push_str("\n\n");
                merged.push_str(&text);
            }
            _ => turns.push((role, text)),
        }
    }
    turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

pub(super) fn event(value: &Value, answer: &mut Answer) {
    take_usage(value.get("usage"), answer);
    let Some(choice) = value.pointer("/choices/0") else { return };
    take_usage(choice.get("usage"), answer);
    if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
        take_message(delta, answer);
    }
    take_finish(choice, answer);
}

pub(super) fn whole(value: &Value, answer: &mut Answer) {
    take_usage(value.get("usage"), answer);
    let Some(choice) = value.pointer("/choices/0") else { return };
    if let Some(message) = choice.get("message") {
        take_message(message, answer);
    }
    take_finish(choice, answer);
}

fn take_message(message: &Value, answer: &mut Answer) {
    for key in ["reasoning_content", "reasoning"] {
        if let Some(text) = message.get(key).and_then(Value::as_str) {
            answer.thinking.push_str(text);
            break;
        }
    }
    match message.get("content") {
        Some(Value::String(text)) => answer.text.push_str(text),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|p| p.get("text")?.as_str()).for_each(|t| answer.text.push_str(t));
        }
        _ => {}
    }
    if let Some(refusal) = message.get("refusal").and_then(Value::as_str) {
        answer.text.push_str(refusal);
    }
    for (position, call) in
        message.get("tool_calls").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        take_call(call, position, answer);
    }
}

/// Pieces of a native call carry its index; the name comes once, the arguments bit by bit.
fn take_call(call: &Value, position: usize, answer: &mut Answer) {
    let index =
        call.get("index").and_then(Value::as_u64).and_then(|i| usize::try_from(i).ok()).unwrap_or(position);
    if index > 64 {
        return;
    }
    if answer.calls.len() <= index {
        answer.calls.resize_with(index + 1, NativeCall::default);
    }
    let Some(slot) = answer.calls.get_mut(index) else { return };
    let text = |path: &str| call.pointer(path).and_then(Value::as_str).unwrap_or_default();
    slot.id.push_str(text("/id"));
    slot.name.push_str(text("/function/name"));
    slot.arguments.push_str(text("/function/arguments"));
}

fn take_finish(choice: &Value, answer: &mut Answer) {
    if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str).filter(|r| !r.is_empty()) {
        answer.stop = Some(match reason {
            "length" | "max_tokens" => StopReason::Length,
            "content_filter" | "sensitive" => StopReason::ContentFilter,
            _ => StopReason::End,
        });
    }
}

fn take_usage(usage: Option<&Value>, answer: &mut Answer) {
    let Some(usage) = usage else { return };
    let (Some(input_tokens), Some(output_tokens)) =
        (count(usage, "/prompt_tokens"), count(usage, "/completion_tokens"))
    else {
        return;
    };
    let cached_tokens =
        ["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens", "/cached_tokens"]
            .iter()
            .find_map(|path| count(usage, path))
            .unwrap_or(0);
    answer.usage = Some(Usage { input_tokens, output_tokens, cached_tokens });
}
