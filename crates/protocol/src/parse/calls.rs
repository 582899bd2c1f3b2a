//! Tool calls in the shapes models give them, and ids that are unique within a turn (SPEC P6, P11).
//!
//! Knows no tool: whether a name exists and its arguments fit is for the executor to say.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::fields::{Repairs, take};
use super::repair::{Read, Reader};
use crate::structured::{Action, StructuredResponse, ToolCall};

/// Arguments nested deeper than this are refused.
const MAX_ARGUMENT_DEPTH: usize = 64;
/// Longest id kept as given.
const MAX_ID: usize = 64;

const NAMES: [&str; 3] = ["tool_name", "name", "tool"];
const IDS: [&str; 3] = ["tool_call_id", "id", "call_id"];
const ARGUMENTS: [&str; 7] =
    ["arguments", "args", "parameters", "tool_input", "action_input", "input", "params"];

/// A call whose id is not yet settled.
pub(super) struct RawCall {
    name: String,
    id: String,
    arguments: Map<String, Value>,
}

/// A call as one of the usual shapes outside `action.content`: enough to be sure that it is one.
pub(super) fn is_bare_call(map: &Map<String, Value>) -> bool {
    let has_text = |k: &str| map.get(k).is_some_and(Value::is_string);
    let native = has_text("name") && (map.contains_key("arguments") || map.contains_key("parameters"));
    let function = map.get("function").and_then(Value::as_object).is_some_and(|f| f.contains_key("name"));
    has_text("tool_name") || native || function
}

/// The calls of an `action.content` of type `tool_call`.
pub(super) fn calls(content: Value, repairs: &mut Repairs) -> Result<Vec<RawCall>, String> {
    match content {
        Value::Array(items) if items.is_empty() => Err("`action.content` holds no tool call".to_owned()),
        Value::Array(items) => {
            items.into_iter().enumerate().map(|(index, item)| one(item, index, repairs)).collect()
        }
        object @ Value::Object(_) => {
            repairs.note("made a list of a single tool call");
            Ok(vec![one(object, 0, repairs)?])
        }
        Value::String(text) => {
            match json_in(&text) {
                Some(value @ (Value::Array(_) | Value::Object(_))) => {
                    repairs.note("read tool calls that came as a string");
                    calls(value, repairs)
                }
                _ => Err("`action.content` must be an array of tool calls when `action.type` is `tool_call`"
                    .into()),
            }
        }
        _ => Err("`action.content` must be an array of tool calls when `action.type` is `tool_call`".into()),
    }
}

fn one(item: Value, index: usize, repairs: &mut Repairs) -> Result<RawCall, String> {
    let problem = || {
        format!(
            "`action.content[{index}]` must be an object with `tool_name`, `tool_call_id` and `arguments`"
        )
    };
    let mut map = match item {
        Value::Object(map) => map,
        Value::String(text) => match json_in(&text) {
            Some(Value::Object(map)) => {
                repairs.note("read tool calls that came as a string");
                map
            }
            _ => return Err(problem()),
        },
        _ => return Err(problem()),
    };
    if !map.contains_key("tool_name") {
        unnest(&mut map, repairs);
    }
    let name = match take(&mut map, &NAMES) {
        Some(Value::String(name)) if !name.trim().is_empty() => name.trim().to_owned(),
        _ => return Err(problem()),
    };
    let id = match take(&mut map, &IDS) {
        Some(Value::String(id)) => id,
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    };
    let arguments = arguments(map, index, repairs)?;
    Ok(RawCall { name, id, arguments })
}

/// `{"function": {"name": …, "arguments": …}}` and `{"function": "name", …}`.
fn unnest(map: &mut Map<String, Value>, repairs: &mut Repairs) {
    for key in ["function", "tool_call", "function_call"] {
        match map.get(key) {
            Some(Value::Object(inner)) if NAMES.iter().any(|n| inner.contains_key(*n)) => {
                repairs.note("read a tool call of another shape");
                if let Some(Value::Object(inner)) = map.shift_remove(key) {
                    map.extend(inner);
                }
                return;
            }
            Some(Value::String(_)) if key == "function" && !map.contains_key("name") => {
                if let Some(name) = map.shift_remove(key) {
                    map.insert("name".to_owned(), name);
                }
                return;
            }
            _ => {}
        }
    }
}

fn arguments(
    mut map: Map<String, Value>,
    index: usize,
    repairs: &mut Repairs,
) -> Result<Map<String, Value>, String> {
    let given = take(&mut map, &ARGUMENTS);
    let arguments = match given {
        Some(Value::Object(arguments)) => arguments,
        Some(Value::String(text)) if text.trim().is_empty() => Map::new(),
        Some(Value::String(text)) => match json_in(&text) {
            Some(Value::Object(arguments)) => {
                repairs.note("read arguments that came as a string");
                arguments
            }
            _ => under_input(Value::String(text), repairs),
        },
        Some(other) => under_input(other, repairs),
        None => {
            map.retain(|key, value| {
                !matches!(key.as_str(), "type" | "arguments" | "tool_call_id" | "id") && !value.is_null()
            });
            if !map.is_empty() {
                repairs.note("took a call's other fields as its arguments");
            }
            map
        }
    };
    if arguments.values().any(|v| deeper_than(v, MAX_ARGUMENT_DEPTH)) {
        return Err(format!("`action.content[{index}].arguments` is nested too deeply"));
    }
    Ok(arguments)
}

/// Kept under a name no tool has, so that the tool's own check tells the model what it wants.
fn under_input(value: Value, repairs: &mut Repairs) -> Map<String, Value> {
    repairs.note("kept arguments that are no object under `input`");
    Map::from_iter([("input".to_owned(), value)])
}

/// Callers pass values of at most [`super::repair::MAX_DEPTH`] or the JSON reader's own limit, so this recursion ends.
fn deeper_than(value: &Value, limit: usize) -> bool {
    match value {
        Value::Array(items) => limit == 0 || items.iter().any(|v| deeper_than(v, limit - 1)),
        Value::Object(map) => limit == 0 || map.values().any(|v| deeper_than(v, limit - 1)),
        _ => false,
    }
}

/// JSON or nearly JSON in a string.
fn json_in(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    if !text.starts_with(['{', '[']) {
        return None;
    }
    match Reader::read(text, 0, None) {
        Read::Whole { value, end, .. } if text[end..].trim().is_empty() => Some(value),
        _ => None,
    }
}

/// A whole response made of bare calls.
pub(super) fn response_of(calls: Vec<RawCall>, repairs: &mut Repairs) -> StructuredResponse {
    repairs.note("put bare tool calls into an action");
    let content = with_unique_ids(calls, 1, repairs);
    StructuredResponse {
        task_analysis: String::new(),
        execution_plan: String::new(),
        current_round: 1,
        action: Action::ToolCall { content },
    }
}

/// Settles ids: given ones stay where they can, the others become `call_<round>_<n>`.
pub(super) fn with_unique_ids(calls: Vec<RawCall>, round: u32, repairs: &mut Repairs) -> Vec<ToolCall> {
    let given: HashSet<String> = calls.iter().map(|c| clean_id(&c.id)).collect();
    let mut used: HashSet<String> = HashSet::new();
    let mut suffixes: HashMap<String, usize> = HashMap::new();
    let mut settled = Vec::with_capacity(calls.len());
    for (index, call) in calls.into_iter().enumerate() {
        let clean = clean_id(&call.id);
        let id = if !clean.is_empty() && used.insert(clean.clone()) {
            if clean != call.id {
                repairs.note("cleaned a `tool_call_id`");
            }
            clean
        } else {
            repairs.note("made a missing or repeated `tool_call_id` unique");
            let base = if clean.is_empty() { format!("call_{round}_{}", index + 1) } else { clean };
            fresh_id(base, &given, &mut used, &mut suffixes)
        };
        settled.push(ToolCall { tool_name: call.name, tool_call_id: id, arguments: call.arguments });
    }
    settled
}

fn fresh_id(
    base: String,
    given: &HashSet<String>,
    used: &mut HashSet<String>,
    suffixes: &mut HashMap<String, usize>,
) -> String {
    if !given.contains(&base) && used.insert(base.clone()) {
        return base;
    }
    let suffix = suffixes.entry(base.clone()).or_insert(2);
    loop {
        let id = format!("{base}_{suffix}");
        *suffix += 1;
        if !given.contains(&id) && used.insert(id.clone()) {
            return id;
        }
    }
}

/// Ids go into logs, tags and file names: letters, digits and a few marks, not too long.
fn clean_id(id: &str) -> String {
    id.trim()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':') { c } else { '_' })
        .take(MAX_ID)
        .collect()
}
