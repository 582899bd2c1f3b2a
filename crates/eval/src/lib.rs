//! Question sets with expected answers, and how an answer is judged. Running the questions is the caller's part, so that any
//! model can be measured with them (docs/evaluation.md).

mod archive;
pub mod report;
pub mod score;

pub use archive::{ArchiveError, unpack};

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// One question of a set: a line of `questions.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub id: String,
    /// Who wrote it: the questions of one author are alike.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// What it may be used for: `train`, `dev` or `locked`.
    #[serde(default)]
    pub split: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// Files to upload, relative to the set's folder.
    #[serde(default)]
    pub files: Vec<String>,
    pub question: String,
    /// Questions asked before it in the same conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    pub expect: Expect,
}

/// What is known of a question's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// The tables answer it, and the answer is known.
    Within,
    /// The tables answer it, and nobody has checked how.
    Unchecked,
    /// The tables do not answer it.
    Beyond,
}

/// What a right answer holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Must be in the first bold text of the answer, or in the answer when nothing in it is bold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<String>,
    /// Figures that must all be in the answer; a share may be written as a percentage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<f64>,
    /// Texts that must all be in the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
    /// `@name[value]` answers, as InfiAgent-DABench has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<Named>,
    /// The question cannot be answered: an answer with a figure is wrong.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refuse: bool,
    /// The question can be answered, and nobody has checked how: an answer with any figure is right.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub figure: bool,
    /// Relative; 0.001 when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    #[serde(default, rename = "where", skip_serializing_if = "Place::is_answer")]
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    pub name: String,
    pub value: String,
}

/// Where figures and texts are looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// The first paragraph.
    #[default]
    Answer,
    /// Anywhere in the report.
    Report,
}

impl Place {
    fn is_answer(&self) -> bool {
        *self == Place::Answer
    }
}

/// Why a set could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    #[error("line {line} of the question set: {source}")]
    Line { line: usize, source: serde_json::Error },
    #[error("the question set is empty")]
    Empty,
    #[error("the id `{0}` is used twice")]
    Twice(String),
}

/// Reads a set: one JSON object a line; empty lines are skipped.
pub fn read(text: &str) -> Result<Vec<Case>, SetError> {
    let mut cases: Vec<Case> = Vec::new();
    let mut ids = HashSet::new();
    for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let case: Case =
            serde_json::from_str(line).map_err(|source| SetError::Line { line: i + 1, source })?;
        if !ids.insert(case.id.clone()) {
            return Err(SetError::Twice(case.id));
        }
        cases.push(case);
    }
    if cases.is_empty() { Err(SetError::Empty) } else { Ok(cases) }
}

/// What to ask the model: the question, and how to write named answers when the case wants them.
pub fn prompt(case: &Case) -> String {
    if case.expect.named.is_empty() {
        return case.question.clone();
    }
    let names: Vec<String> = case.expect.named.iter().map(|n| format!("@{}[value]", n.name)).collect();
    format!("{}\n\nWrite the final answer as: {}", case.question, names.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_read_and_mistakes_located() {
        let good = "{\"id\":\"a\",\"question\":\"q\",\"expect\":{\"numbers\":[1]}}\n\n{\"id\":\"b\",\"question\":\"q\",\"expect\":{\"refuse\":true}}";
        assert_eq!(read(good).unwrap().len(), 2);
        assert!(matches!(read("{\"id\":\"a\"}"), Err(SetError::Line { line: 1, .. })));
        assert!(matches!(read(""), Err(SetError::Empty)));
        let twice = "{\"id\":\"a\",\"question\":\"q\",\"expect\":{}}\n{\"id\":\"a\",\"question\":\"q\",\"expect\":{}}";
        assert!(matches!(read(twice), Err(SetError::Twice(id)) if id == "a"));
    }

    #[test]
    fn named_answers_are_asked_for() {
        let case: Case = serde_json::from_str("{\"id\":\"a\",\"question\":\"Mean?\",\"expect\":{\"named\":[{\"name\":\"mean\",\"value\":\"1.5\"}]}}").unwrap();
        assert!(prompt(&case).contains("@mean[value]"));
    }
}
