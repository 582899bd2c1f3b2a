//! From whatever a model sent to a [`StructuredResponse`] (SPEC P11). Pure; no input panics, hangs or overflows.
//!
//! Steps: set thinking aside (`extract`), read the text as JSON or as something near it (`repair`, `strings`),
//! then fit the value into the protocol (`shape`, `calls`, `fields`). Cost grows linearly with the input.
//! Never guesses the end of an answer that was cut: half a program must not run.

mod calls;
mod clarification;
mod extract;
mod fields;
mod repair;
mod shape;
mod strings;

use serde_json::Value;

use crate::structured::{Action, MAX_TOOL_CALLS, StructuredResponse, ToolCall};
use extract::{Found, Search, Thinking};
use fields::Repairs;
use shape::Shape;

/// A model's output, understood as far as it can be.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    pub outcome: ParseOutcome,
    /// What had to be repaired, in words for the log.
    pub repairs: Vec<String>,
    /// Tool calls past the sixth: not run, answered with an observation.
    pub dropped_calls: Vec<ToolCall>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ParseOutcome {
    Structured(StructuredResponse),
    /// No object in it: the text is the answer. Thinking tags are taken off.
    PlainText(String),
    /// An object that cannot be understood; `problem` goes into the correction turn.
    ///
    /// `text` is what to show if no better answer comes: the output itself, or of a report
    /// that was cut off, the part that arrived.
    Broken {
        text: String,
        problem: String,
    },
}

const EMPTY: &str = "the output was empty";

/// Understands one model output.
pub fn parse(output: &str) -> Parsed {
    parse_text(output, Unwrapping::Allowed)
}

/// Whether a text that is itself an escaped string may be unescaped and read again: once, so cost stays linear.
#[derive(Clone, Copy, PartialEq)]
enum Unwrapping {
    Allowed,
    Done,
}

fn parse_text(output: &str, unwrapping: Unwrapping) -> Parsed {
    let clean = output.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}' || c == '\0');
    let (thinking, body) = extract::split_thinking(clean);
    let thoughts = match thinking {
        Thinking::None => None,
        Thinking::Block(thoughts) => Some(thoughts),
        Thinking::Closed(thoughts) => {
            // The tag may stand inside a report. Then the object that holds it wins over the guess.
            let whole = parse_body(clean, unwrapping, Repairs::default());
            if holds_closing_tag(&whole.outcome) {
                return whole;
            }
            Some(thoughts)
        }
    };
    let mut repairs = Repairs::default();
    if thoughts.is_some() {
        repairs.note("set a thinking block aside");
    }
    if body.is_empty() {
        let problem = match thoughts {
            Some(_) => "the output holds only a thinking block and no answer",
            None => EMPTY,
        };
        return broken(thoughts.unwrap_or_default().to_owned(), problem.to_owned(), repairs);
    }
    let mut parsed = parse_body(body, unwrapping, repairs);
    if let (ParseOutcome::Structured(response), Some(thoughts)) = (&mut parsed.outcome, thoughts)
        && response.task_analysis.is_empty()
    {
        thoughts.clone_into(&mut response.task_analysis);
    }
    parsed
}

fn holds_closing_tag(outcome: &ParseOutcome) -> bool {
    let ParseOutcome::Structured(response) = outcome else { return false };
    serde_json::to_string(response)
        .is_ok_and(|text| text.contains("</think") || text.contains("</reasoning>"))
}

fn parse_body(body: &str, unwrapping: Unwrapping, mut repairs: Repairs) -> Parsed {
    match serde_json::from_str::<Value>(body) {
        Ok(Value::String(inner)) if unwrapping == Unwrapping::Allowed && inner.contains('{') => {
            return unwrap(&inner, body, repairs);
        }
        Ok(Value::String(inner)) => return plain(&inner, repairs),
        Ok(value @ (Value::Object(_) | Value::Array(_))) => {
            if let Some(parsed) = whole_value(value, body, &mut repairs) {
                return parsed;
            }
        }
        Ok(_) => return plain(body, repairs),
        Err(_) if unwrapping == Unwrapping::Allowed && extract::is_escaped_object(body) => {
            return unwrap(&strings::unescape(body), body, repairs);
        }
        Err(_) => {}
    }
    match extract::search(body) {
        Search::Found(Found { response, repairs: found }) => {
            repairs.extend(found);
            structured(response, repairs)
        }
        Search::Cut { shown, problem } => broken(shown.unwrap_or_else(|| body.to_owned()), problem, repairs),
        Search::Broken { problem } => broken(body.to_owned(), problem, repairs),
        Search::Nothing => plain(body, repairs),
    }
}

/// A value that is valid JSON as it stands. `None` means: search inside the text.
fn whole_value(value: Value, body: &str, repairs: &mut Repairs) -> Option<Parsed> {
    let is_object = value.is_object();
    let mut noted = repairs.clone();
    match shape::shape(value, shape::Place::WholeOutput, &mut noted) {
        Shape::Response(response) => Some(structured(response, noted)),
        Shape::Calls(calls) => Some(structured(calls::response_of(calls, &mut noted), noted)),
        Shape::Malformed(problem) => Some(broken(body.to_owned(), problem, noted)),
        Shape::Other if is_object => Some(broken(body.to_owned(), shape::NOT_OURS.to_owned(), noted)),
        Shape::Other if body.contains('{') => None,
        Shape::Other => Some(plain(body, noted)),
    }
}

fn unwrap(inner: &str, body: &str, mut repairs: Repairs) -> Parsed {
    repairs.note("unescaped an object that came as a string");
    let parsed = parse_text(inner, Unwrapping::Done);
    match parsed.outcome {
        ParseOutcome::Structured(_) => Parsed { repairs: repairs.into_words(parsed.repairs), ..parsed },
        ParseOutcome::PlainText(text) => plain(&text, Repairs::default()),
        ParseOutcome::Broken { problem, .. } => broken(body.to_owned(), problem, repairs),
    }
}

fn structured(mut response: StructuredResponse, repairs: Repairs) -> Parsed {
    let mut dropped_calls = Vec::new();
    if let Action::ToolCall { content } = &mut response.action
        && content.len() > MAX_TOOL_CALLS
    {
        dropped_calls = content.split_off(MAX_TOOL_CALLS);
    }
    Parsed {
        outcome: ParseOutcome::Structured(response),
        repairs: repairs.into_words(Vec::new()),
        dropped_calls,
    }
}

fn plain(text: &str, repairs: Repairs) -> Parsed {
    if text.trim().is_empty() {
        return broken(text.to_owned(), EMPTY.to_owned(), repairs);
    }
    Parsed {
        outcome: ParseOutcome::PlainText(text.to_owned()),
        repairs: repairs.into_words(Vec::new()),
        dropped_calls: Vec::new(),
    }
}

fn broken(text: String, problem: String, repairs: Repairs) -> Parsed {
    Parsed {
        outcome: ParseOutcome::Broken { text, problem },
        repairs: repairs.into_words(Vec::new()),
        dropped_calls: Vec::new(),
    }
}
