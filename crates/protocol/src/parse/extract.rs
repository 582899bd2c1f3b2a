//! Finds the object in what a model wrote: after its thinking, between prose, in a fence, among other objects.
//!
//! Attempts may overlap, but only within a budget that is a fixed multiple of the input's length.

use serde_json::Value;

use super::calls::{self, RawCall};
use super::fields::Repairs;
use super::repair::{Read, Reader};
use super::shape::{self, Place, Shape};
use crate::structured::StructuredResponse;

/// How often, on average, a byte may be looked at again when attempts to read an object overlap.
const REREADS: usize = 8;

/// Keys that show that an object was meant as a `StructuredResponse`, searched near its start.
const OUR_KEYS: [&str; 5] = ["task_analysis", "execution_plan", "current_round", "tool_name", "\"action\""];
const OUR_KEYS_WITHIN: usize = 400;

pub(super) struct Found {
    pub(super) response: StructuredResponse,
    pub(super) repairs: Repairs,
}

pub(super) enum Search {
    Found(Found),
    /// The object was cut off where it matters. `shown` is the part of a report that arrived.
    Cut {
        shown: Option<String>,
        problem: String,
    },
    Broken {
        problem: String,
    },
    Nothing,
}

/// What comes before the answer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Thinking<'a> {
    None,
    Block(&'a str),
    /// Only the closing tag is there: chat templates open the block themselves. Less certain.
    Closed(&'a str),
}

/// Splits off a leading thinking block. The second part is what remains, trimmed.
pub(super) fn split_thinking(text: &str) -> (Thinking<'_>, &str) {
    for (open, close) in
        [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>")]
    {
        if let Some(after) = text.strip_prefix(open) {
            return match after.find(close) {
                Some(end) => (Thinking::Block(after[..end].trim()), after[end + close.len()..].trim()),
                // Never closed: an object may still stand in it.
                None if after.contains('{') => (Thinking::None, after.trim()),
                None => (Thinking::Block(after.trim()), ""),
            };
        }
        if !text.starts_with(['{', '[', '`'])
            && let Some(end) = text.find(close)
            && !text[..end].contains(open)
        {
            return (Thinking::Closed(text[..end].trim()), text[end + close.len()..].trim());
        }
    }
    (Thinking::None, text)
}

/// Whether the text is an object with every quote escaped: `{\"action\": …}`.
pub(super) fn is_escaped_object(body: &str) -> bool {
    let inner = body.trim_start_matches('"').trim_start();
    let Some(mut rest) = inner.strip_prefix('{') else { return false };
    loop {
        rest = rest.trim_start();
        match rest.strip_prefix("\\n") {
            Some(after) => rest = after,
            None => return rest.starts_with("\\\""),
        }
    }
}

/// Looks through `body` for the first object that is a response, or for bare tool calls.
pub(super) fn search(body: &str) -> Search {
    let keys_at = OUR_KEYS.map(|key| body.find(key));
    let mut scan = Scan {
        body,
        budget: body.len() * REREADS + 4096,
        last_fence: body.rfind("```"),
        keys_at,
        ..Scan::default()
    };
    let mut at = 0;
    while let Some(offset) = body[at..].find('{') {
        let start = at + offset;
        match scan.attempt(start) {
            Next::From(next) => at = next.max(start + 1),
            Next::Stop(search) => return search,
        }
    }
    scan.conclude()
}

#[derive(Default)]
struct Scan<'a> {
    body: &'a str,
    budget: usize,
    last_fence: Option<usize>,
    calls: Vec<RawCall>,
    calls_repairs: Repairs,
    /// Where each of `OUR_KEYS` comes next; `None` when no more.
    keys_at: [Option<usize>; OUR_KEYS.len()],
    /// The first attempt that looked like ours and failed.
    problem: Option<String>,
}

enum Next {
    From(usize),
    Stop(Search),
}

impl Scan<'_> {
    fn attempt(&mut self, start: usize) -> Next {
        match Reader::read(self.body, start, self.last_fence) {
            Read::Whole { value, end, repairs } => self.whole(value, start, end, repairs),
            Read::Cut { value, path, inside, repairs } => {
                let cut = Cut { path, inside };
                match self.cut(value, start, &cut, repairs) {
                    Some(search) => Next::Stop(search),
                    None => self.again(start, self.body.len()),
                }
            }
            Read::Failed { at, problem } => {
                if self.problem.is_none() && self.looks_ours(start) {
                    self.problem = Some(describe(self.body, at, problem));
                }
                self.again(start, at)
            }
        }
    }

    /// After an attempt that led nowhere: try inside it while the budget lasts, else go on behind it.
    fn again(&mut self, start: usize, reached: usize) -> Next {
        match self.budget.checked_sub(reached.saturating_sub(start)) {
            Some(left) => {
                self.budget = left;
                Next::From(start + 1)
            }
            None => Next::From(reached),
        }
    }

    fn whole(&mut self, value: Value, start: usize, end: usize, mut repairs: Repairs) -> Next {
        let place = self.place(start);
        let value = match react_name(&self.body[..start]) {
            Some(name) => {
                repairs.note("read a tool call of another shape");
                serde_json::json!({"tool_name": name, "arguments": value})
            }
            None => value,
        };
        match shape::shape(value, place, &mut repairs) {
            Shape::Response(response) if self.calls.is_empty() => {
                self.note_surroundings(start, end, &mut repairs);
                Next::Stop(Search::Found(Found { response, repairs }))
            }
            // Calls came first: what follows them is the model imagining their results.
            Shape::Response(_) => Next::Stop(self.conclude()),
            Shape::Calls(mut calls) => {
                self.calls.append(&mut calls);
                self.calls_repairs.extend(repairs);
                Next::From(end)
            }
            Shape::Malformed(problem) => {
                self.problem.get_or_insert(problem);
                Next::From(end)
            }
            Shape::Other => {
                if place == Place::WholeOutput {
                    self.problem.get_or_insert_with(|| shape::NOT_OURS.to_owned());
                }
                Next::From(end)
            }
        }
    }

    /// An object that the end of the text cut off. `None` when it is not ours.
    fn cut(&mut self, value: Value, start: usize, cut: &Cut, mut repairs: Repairs) -> Option<Search> {
        if !self.calls.is_empty() {
            return None;
        }
        let shown = report_so_far(&value);
        let value = cut.without_open_entry(value);
        let shape = shape::shape(value, self.place(start), &mut repairs);
        if cut.matters() {
            return Some(Search::Cut { shown, problem: cut.describe() });
        }
        self.note_surroundings(start, self.body.len(), &mut repairs);
        match shape {
            Shape::Response(response) => Some(Search::Found(Found { response, repairs })),
            Shape::Calls(_) if cut.inside => Some(Search::Cut { shown: None, problem: cut.describe() }),
            Shape::Calls(calls) => {
                let response = calls::response_of(calls, &mut repairs);
                Some(Search::Found(Found { response, repairs }))
            }
            Shape::Malformed(_) => Some(Search::Cut { shown, problem: cut.describe() }),
            Shape::Other => None,
        }
    }

    fn conclude(&mut self) -> Search {
        if !self.calls.is_empty() {
            let mut repairs = std::mem::take(&mut self.calls_repairs);
            let response = calls::response_of(std::mem::take(&mut self.calls), &mut repairs);
            return Search::Found(Found { response, repairs });
        }
        if let Some(problem) = self.problem.take() {
            return Search::Broken { problem };
        }
        if opens_with_object(self.body) {
            return Search::Broken { problem: describe(self.body, 0, "the object cannot be read as JSON") };
        }
        Search::Nothing
    }

    fn place(&self, start: usize) -> Place {
        if is_only_fence(&self.body[..start]) { Place::WholeOutput } else { Place::AmongText }
    }

    /// Whether one of our keys stands near. Starts only grow, so each key is searched through the text once.
    fn looks_ours(&mut self, start: usize) -> bool {
        for (key, at) in OUR_KEYS.iter().zip(&mut self.keys_at) {
            if at.is_some_and(|at| at < start) {
                *at = self.body[start..].find(key).map(|offset| start + offset);
            }
        }
        self.keys_at.iter().flatten().any(|at| at - start <= OUR_KEYS_WITHIN)
    }

    fn note_surroundings(&self, start: usize, end: usize, repairs: &mut Repairs) {
        let before = self.body[..start].trim();
        let after = self.body[end.min(self.body.len())..].trim();
        if before.ends_with("```") || before.rsplit('\n').next().is_some_and(|l| l.starts_with("```")) {
            repairs.note("took the object out of a code fence");
        }
        if !is_only_fence(before) {
            repairs.note("ignored text before the object");
        }
        if !after.trim_matches('`').trim().is_empty() {
            repairs.note("ignored text after the object");
        }
    }
}

/// Where the end of the text cut an object.
struct Cut {
    path: Vec<String>,
    inside: bool,
}

impl Cut {
    /// Whether something is missing that must not be guessed: a call's arguments, a report's text.
    fn matters(&self) -> bool {
        let mut path = self.path.iter().map(String::as_str);
        self.inside && path.next() == Some("action") && matches!(path.next(), Some("content" | "type"))
    }

    /// Drops the half-written last entry of an optional list.
    fn without_open_entry(&self, mut value: Value) -> Value {
        if !self.inside {
            return value;
        }
        let mut target = &mut value;
        for name in self.path.iter().take(2) {
            match target {
                Value::Object(map) if map.contains_key(name) => target = &mut map[name.as_str()],
                _ => return value,
            }
            if let Value::Array(items) = target {
                items.pop();
                return value;
            }
        }
        value
    }

    fn describe(&self) -> String {
        let names: Vec<&str> = self.path.iter().map(String::as_str).filter(|n| !n.is_empty()).collect();
        format!("the output was cut off inside `{}`; send the whole object again, shorter", names.join("."))
    }
}

/// The tool of `Action: tool⏎Action Input: {…}`, the text form of older agents.
fn react_name(before: &str) -> Option<&str> {
    let before = before.trim_end().strip_suffix("Action Input:")?;
    // Only the lines just before: a search through all of them for every object would not be linear.
    let before = before[before.ceil_char_boundary(before.len().saturating_sub(200))..].trim_end();
    let name = before[before.rfind('\n').map_or(0, |at| at + 1)..].trim().strip_prefix("Action:")?.trim();
    let is_name =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    is_name.then_some(name)
}

fn report_so_far(value: &Value) -> Option<String> {
    let content = value.get("action")?.get("content")?.as_str()?;
    if content.trim().is_empty() { None } else { Some(content.to_owned()) }
}

fn is_only_fence(before: &str) -> bool {
    let before = before.trim();
    let tag = before.strip_prefix("```").unwrap_or(before);
    tag.is_empty()
        || tag == "["
        || (before.len() > tag.len() && tag.len() <= 12 && tag.bytes().all(|b| b.is_ascii_alphanumeric()))
}

fn opens_with_object(body: &str) -> bool {
    body.find('{').is_some_and(|at| is_only_fence(&body[..at]))
}

/// The problem with its place, for the model.
fn describe(body: &str, at: usize, problem: &str) -> String {
    let before = &body[..body.floor_char_boundary(at)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
    format!("{problem} at line {line}, column {column}")
}
