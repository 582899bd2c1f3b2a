//! Fits a JSON value into a `StructuredResponse` (SPEC P1–P9), or says what is wrong with it.

use serde_json::{Map, Value};

use super::calls::{self, RawCall};
use super::clarification;
use super::fields::{self, Repairs, take};
use crate::structured::{Action, CodeBlock, Report, StructuredResponse};

pub(super) const NOT_OURS: &str =
    "the object has no `action`; it needs `task_analysis`, `execution_plan`, `current_round` and `action`";

/// Objects inside objects are searched for a response this deep.
const WRAPPERS: usize = 3;

const REPORT_TEXTS: [&str; 9] =
    ["content", "final_answer", "answer", "response", "report", "text", "output", "result", "action_input"];

pub(super) enum Shape {
    Response(StructuredResponse),
    /// Tool calls without a response around them.
    Calls(Vec<RawCall>),
    /// Meant as a response, but wrong; in words for the model.
    Malformed(String),
    /// Some other value.
    Other,
}

/// Where a value stood. Alone, more shapes are taken for an answer than between prose.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    WholeOutput,
    AmongText,
}

pub(super) fn shape(value: Value, place: Place, repairs: &mut Repairs) -> Shape {
    shape_within(value, place, WRAPPERS, repairs)
}

fn shape_within(value: Value, place: Place, wrappers: usize, repairs: &mut Repairs) -> Shape {
    let mut map = match value {
        Value::Object(map) => map,
        Value::Array(items) => return shape_list(items, place, wrappers, repairs),
        _ => return Shape::Other,
    };
    if map.contains_key("action") {
        return with_action(map, repairs);
    }
    if calls::is_bare_call(&map) {
        return bare_calls(Value::Object(map), repairs);
    }
    if let Some(list @ Value::Array(_)) = take(&mut map, &["tool_calls", "actions"]) {
        return match calls::calls(list, repairs) {
            Ok(calls) => {
                repairs.note("read tool calls that stood outside `action`");
                respond(map, |round, repairs| Ok(tool_call(calls, round, repairs)), repairs)
            }
            Err(problem) => Shape::Malformed(problem),
        };
    }
    let kind = map.get("type").and_then(Value::as_str).and_then(Kind::named);
    let analysed = ["task_analysis", "execution_plan", "current_round"].iter().any(|k| map.contains_key(*k));
    if kind.is_some() && map.contains_key("content") || analysed && has_report_text(&map) {
        repairs.note("took the whole object as its `action`");
        let action = Value::Object(map.clone());
        return respond(map, |round, repairs| read_action(action, round, repairs), repairs);
    }
    if let Some(inner) = unwrapped(&mut map, place, wrappers, repairs) {
        return inner;
    }
    if analysed {
        return Shape::Malformed("`action` is missing".to_owned());
    }
    if place == Place::WholeOutput && map.len() == 1 && has_report_text(&map) {
        repairs.note("took the whole object as its `action`");
        let action = Value::Object(map);
        return respond(Map::new(), |round, repairs| read_action(action, round, repairs), repairs);
    }
    Shape::Other
}

/// A list of calls, or a response wrapped in a list.
fn shape_list(items: Vec<Value>, place: Place, wrappers: usize, repairs: &mut Repairs) -> Shape {
    let all_calls = !items.is_empty() && items.iter().all(|i| i.as_object().is_some_and(calls::is_bare_call));
    if all_calls {
        return bare_calls(Value::Array(items), repairs);
    }
    if wrappers == 0 {
        return Shape::Other;
    }
    match items.into_iter().next() {
        Some(first @ Value::Object(_)) => {
            let shape = shape_within(first, place, wrappers - 1, repairs);
            if matches!(shape, Shape::Response(_)) {
                repairs.note("took the object out of what was wrapped around it");
            }
            shape
        }
        _ => Shape::Other,
    }
}

fn bare_calls(value: Value, repairs: &mut Repairs) -> Shape {
    match calls::calls(value, repairs) {
        Ok(calls) => Shape::Calls(calls),
        Err(problem) => Shape::Malformed(problem),
    }
}

/// `{"response": {…}}` and the like.
fn unwrapped(
    map: &mut Map<String, Value>,
    place: Place,
    wrappers: usize,
    repairs: &mut Repairs,
) -> Option<Shape> {
    const NAMES: [&str; 8] = [
        "StructuredResponse",
        "structured_response",
        "response",
        "output",
        "result",
        "data",
        "json",
        "properties",
    ];
    if wrappers == 0 {
        return None;
    }
    let name = NAMES.iter().find(|n| map.get(**n).is_some_and(Value::is_object))?;
    let inner = map.get(*name)?.clone();
    let mut noted = repairs.clone();
    match shape_within(inner, place, wrappers - 1, &mut noted) {
        Shape::Other | Shape::Malformed(_) => None,
        found => {
            noted.note("took the object out of what was wrapped around it");
            *repairs = noted;
            Some(found)
        }
    }
}

fn has_report_text(map: &Map<String, Value>) -> bool {
    REPORT_TEXTS.iter().any(|k| map.get(*k).is_some_and(Value::is_string))
}

fn with_action(mut map: Map<String, Value>, repairs: &mut Repairs) -> Shape {
    let action = map.shift_remove("action").unwrap_or_default();
    match action {
        // `"action": "tool_call", "content": […]`, and `"action": "run_python", "action_input": {…}`.
        Value::String(name) => {
            repairs.note("took the whole object as its `action`");
            let mut action = map.clone();
            action.insert("type".to_owned(), Value::String(name));
            respond(map, |round, repairs| read_action(Value::Object(action), round, repairs), repairs)
        }
        action => respond_with_siblings(map, action, repairs),
    }
}

/// Optional lists that models put beside `action` instead of into it move in.
fn respond_with_siblings(mut map: Map<String, Value>, mut action: Value, repairs: &mut Repairs) -> Shape {
    if let Value::Object(inner) = &mut action {
        for key in ["recommended_questions", "download_links", "code_blocks"] {
            if !inner.contains_key(key)
                && let Some(list) = take(&mut map, &[key])
            {
                repairs.note("moved a field into `action`");
                inner.insert(key.to_owned(), list);
            }
        }
        if !inner.contains_key("content")
            && let Some(content) = take(&mut map, &["content"])
        {
            repairs.note("moved a field into `action`");
            inner.insert("content".to_owned(), content);
        }
    }
    respond(map, |round, repairs| read_action(action, round, repairs), repairs)
}

fn respond(
    mut map: Map<String, Value>,
    action: impl FnOnce(u32, &mut Repairs) -> Result<Action, String>,
    repairs: &mut Repairs,
) -> Shape {
    let task_analysis = fields::text(take(&mut map, &["task_analysis"]).unwrap_or_default(), repairs);
    let execution_plan = fields::text(take(&mut map, &["execution_plan"]).unwrap_or_default(), repairs);
    let current_round = fields::round(take(&mut map, &["current_round"]), repairs);
    match action(current_round, repairs) {
        Ok(action) => {
            Shape::Response(StructuredResponse { task_analysis, execution_plan, current_round, action })
        }
        Err(problem) => Shape::Malformed(problem),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    ToolCall,
    Complete,
}

impl Kind {
    fn named(name: &str) -> Option<Self> {
        let plain: String = name
            .trim()
            .to_ascii_lowercase()
            .chars()
            .map(|c| if matches!(c, ' ' | '-') { '_' } else { c })
            .collect();
        match plain.as_str() {
            "tool_call" | "tool_calls" | "tool_use" | "toolcall" | "tool" | "function_call" | "function"
            | "call" => Some(Self::ToolCall),
            "complete" | "completed" | "completion" | "final" | "final_answer" | "final_response"
            | "finish" | "answer" | "done" | "respond" | "response" => Some(Self::Complete),
            _ => None,
        }
    }
}

fn read_action(action: Value, round: u32, repairs: &mut Repairs) -> Result<Action, String> {
    let mut map = match action {
        Value::Object(map) => map,
        list @ Value::Array(_) => {
            repairs.note("read tool calls that stood outside `action.content`");
            return Ok(tool_call(calls::calls(list, repairs)?, round, repairs));
        }
        _ => return Err("`action` must be an object with `type` and `content`".to_owned()),
    };
    let named = map.get("type").and_then(Value::as_str).map(str::to_owned);
    let kind = named.as_deref().and_then(Kind::named);
    match (kind, named) {
        (Some(Kind::ToolCall), Some(name)) => {
            note_if(name != "tool_call", "read another word for `tool_call`", repairs);
            read_tool_call(map, round, repairs)
        }
        (Some(Kind::Complete), Some(name)) => {
            note_if(name != "complete", "read another word for `complete`", repairs);
            // Some models keep saying `complete` while they ask for tools.
            if holds_calls(map.get("content")) {
                repairs.note("took `action.type` from its content");
                return read_tool_call(map, round, repairs);
            }
            complete(map, repairs)
        }
        // The tool's own name where `tool_call` belongs.
        (_, Some(name)) if calls_itself(&map) => {
            repairs.note("read a tool call of another shape");
            map.shift_remove("type");
            map.insert("tool_name".to_owned(), Value::String(name));
            Ok(tool_call(calls::calls(Value::Object(map), repairs)?, round, repairs))
        }
        (_, name) => {
            if holds_calls(map.get("content")) || map.contains_key("tool_calls") || calls::is_bare_call(&map)
            {
                repairs.note("took `action.type` from its content");
                return read_tool_call(map, round, repairs);
            }
            if name.is_none() && has_report_text(&map) {
                repairs.note("took `action.type` from its content");
                return complete(map, repairs);
            }
            Err("`action.type` must be `tool_call` or `complete`".to_owned())
        }
    }
}

fn note_if(condition: bool, what: &'static str, repairs: &mut Repairs) {
    if condition {
        repairs.note(what);
    }
}

fn calls_itself(map: &Map<String, Value>) -> bool {
    ["arguments", "action_input", "tool_input"].iter().any(|k| map.get(*k).is_some_and(|v| !v.is_null()))
}

fn holds_calls(content: Option<&Value>) -> bool {
    match content {
        Some(Value::Array(items)) => {
            !items.is_empty() && items.iter().all(|i| i.as_object().is_some_and(calls::is_bare_call))
        }
        Some(Value::Object(map)) => calls::is_bare_call(map),
        _ => false,
    }
}

fn read_tool_call(mut map: Map<String, Value>, round: u32, repairs: &mut Repairs) -> Result<Action, String> {
    let content = match take(&mut map, &["content", "tool_calls", "calls", "tools"]) {
        Some(content) => content,
        None if calls::is_bare_call(&map) => {
            repairs.note("read tool calls that stood outside `action.content`");
            map.shift_remove("type");
            Value::Object(map)
        }
        None => return Err("`action.content` is missing".to_owned()),
    };
    Ok(tool_call(calls::calls(content, repairs)?, round, repairs))
}

fn tool_call(calls: Vec<RawCall>, round: u32, repairs: &mut Repairs) -> Action {
    Action::ToolCall { content: calls::with_unique_ids(calls, round, repairs) }
}

fn complete(mut map: Map<String, Value>, repairs: &mut Repairs) -> Result<Action, String> {
    let recommended_questions = fields::list(take(&mut map, &["recommended_questions"]), repairs);
    let download_links = fields::list(take(&mut map, &["download_links"]), repairs);
    let code_blocks = code_blocks(take(&mut map, &["code_blocks"]), repairs);
    let asked = clarification::read(take(&mut map, &clarification::NAMES), &recommended_questions, repairs);
    let (question, needs_clarification) = asked.unwrap_or_default();
    let content = match take(&mut map, &REPORT_TEXTS) {
        Some(value) => fields::text(value, repairs),
        None if !question.is_empty() => String::new(),
        None => return Err("`action.content` is missing".to_owned()),
    };
    let content = if content.trim().is_empty() { question } else { content };
    if content.trim().is_empty() {
        return Err("`action.content` is empty".to_owned());
    }
    Ok(Action::Complete(Report {
        content,
        recommended_questions,
        download_links,
        code_blocks,
        needs_clarification,
    }))
}

fn code_blocks(value: Option<Value>, repairs: &mut Repairs) -> Vec<CodeBlock> {
    let items = match value {
        None => return Vec::new(),
        Some(Value::Array(items)) => items,
        Some(single) => {
            repairs.note("made a list of a single value");
            vec![single]
        }
    };
    items.into_iter().filter_map(|item| code_block(item, repairs)).collect()
}

/// `None` for an entry without code. An absent id stays empty: whoever saves the code gives it one (SPEC C5).
fn code_block(item: Value, repairs: &mut Repairs) -> Option<CodeBlock> {
    let mut map = match item {
        Value::Object(map) => map,
        Value::String(code) => Map::from_iter([("code".to_owned(), Value::String(code))]),
        _ => Map::new(),
    };
    let mut part = |names: &[&str], repairs: &mut Repairs| match take(&mut map, names) {
        Some(value) => fields::text(value, repairs),
        None => String::new(),
    };
    let code = part(&["code", "content", "source"], repairs);
    let code_id = part(&["code_id", "id", "name"], repairs);
    let language = part(&["language", "lang", "type"], repairs);
    let description = part(&["description", "title"], repairs);
    if code.trim().is_empty() {
        repairs.note("left out a code block without code");
        return None;
    }
    Some(CodeBlock { code_id, code, language, description })
}
