//! Anthropic Messages: system blocks with cache marks, roles that alternate, `max_tokens` always.

use ba_protocol::{Message, Role};
use serde_json::{Value, json};

use super::{Answer, Quirks, count, openai::short};
use crate::model::{ModelRequest, StopReason, Usage};
use crate::settings::ModelSettings;

pub(crate) const VERSION: &str = "2023-06-01";

/// The API demands a limit; this one every current model accepts.
const DEFAULT_MAX_TOKENS: u32 = 8192;

pub(super) fn body(settings: &ModelSettings, request: &ModelRequest, quirks: Quirks) -> Value {
    let leading = request.messages.iter().take_while(|m| m.role == Role::System).count();
    let (system, rest) = request.messages.split_at(leading);
    let mut body = json!({
        "model": settings.model,
        "max_tokens": request.max_tokens.or(settings.max_tokens).unwrap_or(DEFAULT_MAX_TOKENS),
        "stream": true,
    });
    let system = system_blocks(system, request.stable_prefix);
    if !system.is_empty() {
        body["system"] = Value::Array(system);
    }
    body["messages"] = Value::Array(turns(rest, request.stable_prefix.saturating_sub(leading)));
    if let Some(temperature) = request.temperature.or(settings.temperature).filter(|_| quirks.temperature) {
        body["temperature"] = short(temperature);
    }
    body
}

fn system_blocks(messages: &[Message], stable: usize) -> Vec<Value> {
    let last_stable = stable.min(messages.len()).checked_sub(1);
    messages
        .iter()
        .enumerate()
        .map(|(index, m)| (index, m.wire_text()))
        .filter(|(_, text)| !text.trim().is_empty())
        .map(|(index, text)| block(&text, Some(index) == last_stable))
        .collect()
}

fn block(text: &str, cached: bool) -> Value {
    let mut block = json!({"type": "text", "text": text});
    if cached {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
    block
}

/// User and assistant in turn. A system message in the middle becomes part of the user's turn where it stands:
/// moved to the front it would change the prefix that providers cache.
fn turns(messages: &[Message], stable: usize) -> Vec<Value> {
    let last_stable = stable.min(messages.len()).checked_sub(1);
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = if message.role == Role::Assistant { "assistant" } else { "user" };
        let mut text = message.wire_text();
        if index + 1 == messages.len() && role == "assistant" {
            // A last assistant turn that ends in blanks is refused.
            text.truncate(text.trim_end().len());
        }
        if text.trim().is_empty() {
            continue;
        }
        // The end is marked too: the next round of the same run repeats everything up to here.
        let block = block(&text, Some(index) == last_stable || index + 1 == messages.len());
        match turns.last_mut() {
            Some((last, blocks)) if *last == role => blocks.push(block),
            _ => turns.push((role, vec![block])),
        }
    }
    if turns.first().is_none_or(|(role, _)| *role != "user") {
        turns.insert(0, ("user", vec![block("…", false)]));
    }
    turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

pub(super) fn event(value: &Value, answer: &mut Answer) {
    match value.get("type").and_then(Value::as_str).unwrap_or_default() {
        "message_start" => take_usage(value.pointer("/message/usage"), answer),
        "content_block_start" => take_block(value.get("content_block"), answer),
        "content_block_delta" => take_block(value.get("delta"), answer),
        "message_delta" => {
            take_usage(value.get("usage"), answer);
            take_stop(value.pointer("/delta/stop_reason"), answer);
        }
        "message_stop" => answer.done = true,
        _ => {}
    }
}

pub(super) fn whole(value: &Value, answer: &mut Answer) {
    take_usage(value.get("usage"), answer);
    for block in value.get("content").and_then(Value::as_array).into_iter().flatten() {
        take_block(Some(block), answer);
    }
    take_stop(value.get("stop_reason"), answer);
}

fn take_block(block: Option<&Value>, answer: &mut Answer) {
    let text = |key: &str| block.and_then(|b| b.get(key)).and_then(Value::as_str).unwrap_or_default();
    answer.text.push_str(text("text"));
    answer.thinking.push_str(text("thinking"));
}

fn take_stop(reason: Option<&Value>, answer: &mut Answer) {
    if let Some(reason) = reason.and_then(Value::as_str) {
        answer.stop = Some(match reason {
            "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
            "refusal" => StopReason::ContentFilter,
            _ => StopReason::End,
        });
    }
}

/// The input is counted at the start, the output at the end; the input parts add up.
fn take_usage(usage: Option<&Value>, answer: &mut Answer) {
    let Some(usage) = usage else { return };
    let mut known = answer.usage.unwrap_or_default();
    if let Some(fresh) = count(usage, "/input_tokens") {
        let read = count(usage, "/cache_read_input_tokens").unwrap_or(0);
        let written = count(usage, "/cache_creation_input_tokens").unwrap_or(0);
        let total = fresh + read + written;
        if total > 0 {
            known = Usage { input_tokens: total, cached_tokens: read, ..known };
        }
    }
    if let Some(output) = count(usage, "/output_tokens") {
        known.output_tokens = output;
    }
    answer.usage = Some(known);
}
