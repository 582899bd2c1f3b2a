//! From whatever a model sent to a [`StructuredResponse`] (SPEC P11). Pure; no input panics, hangs or overflows.

use crate::structured::StructuredResponse;

/// A model's output, understood as far as it can be.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    pub outcome: ParseOutcome,
    /// What had to be repaired, in words for the log.
    pub repairs: Vec<String>,
    /// Tool calls past the sixth: not run, answered with an observation.
    pub dropped_calls: Vec<crate::structured::ToolCall>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ParseOutcome {
    Structured(StructuredResponse),
    /// No object in it: the text is the answer.
    PlainText(String),
    /// An object that cannot be understood; `problem` goes into the correction turn.
    Broken {
        text: String,
        problem: String,
    },
}

/// Understands one model output.
pub fn parse(output: &str) -> Parsed {
    let outcome = match serde_json::from_str(output) {
        Ok(response) => ParseOutcome::Structured(response),
        Err(_) => ParseOutcome::PlainText(output.to_owned()),
    };
    Parsed { outcome, repairs: Vec::new(), dropped_calls: Vec::new() }
}
