//! What the audit says: counts, and for every figure its place, state and proof, in the words of the API.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Read from a cell or a line of output.
    Proven,
    /// Made from cells by one step.
    Derived,
    /// The user's own.
    Given,
    /// Nowhere to be found.
    Unproven,
    /// Found, but under other names than the text's.
    Mismatch,
}

impl State {
    /// Whether a reader must be warned.
    pub fn is_marked(self) -> bool {
        matches!(self, Self::Unproven | Self::Mismatch)
    }
}

/// A cell, or a whole column when `row` is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Operand {
    pub tool_call_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<usize>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub column: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Proof {
    Formula { formula: String, operands: Vec<Operand> },
    Cell { tool_call_id: String, row: usize, column: String },
    Line { tool_call_id: String, line: usize },
}

impl Proof {
    pub(crate) fn cell(operand: Operand) -> Self {
        Self::Cell {
            tool_call_id: operand.tool_call_id,
            row: operand.row.unwrap_or(0),
            column: operand.column,
        }
    }

    pub(crate) fn formula(formula: &str, operands: Vec<Operand>) -> Self {
        Self::Formula { formula: formula.to_owned(), operands }
    }

    pub(crate) fn line(id: &str, line: usize) -> Self {
        Self::Line { tool_call_id: id.to_owned(), line }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureProof {
    pub text: String,
    /// Characters of the response.
    pub start: usize,
    pub end: usize,
    pub state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// For the gate: the figure's own words, and what the evidence says under or near them.
    #[serde(skip)]
    pub context: String,
    #[serde(skip)]
    pub nearest: Option<Operand>,
}

/// What lay beyond the caps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotAudited {
    /// Characters at the end of the report.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub characters: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub figures: usize,
    /// Parts of chart options.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub charts: bool,
    /// The evidence itself was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub evidence: bool,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    pub proven: usize,
    pub derived: usize,
    pub given: usize,
    pub unproven: usize,
    pub mismatch: usize,
    pub figures: Vec<FigureProof>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_audited: Option<NotAudited>,
}

impl Audit {
    pub(crate) fn of(figures: Vec<FigureProof>, not_audited: NotAudited) -> Self {
        let count = |state: State| figures.iter().filter(|f| f.state == state).count();
        Self {
            proven: count(State::Proven),
            derived: count(State::Derived),
            given: count(State::Given),
            unproven: count(State::Unproven),
            mismatch: count(State::Mismatch),
            not_audited: (not_audited != NotAudited::default()).then_some(not_audited),
            figures,
        }
    }

    /// Figures a reader must be warned of.
    pub fn marked(&self) -> impl Iterator<Item = &FigureProof> {
        self.figures.iter().filter(|f| f.state.is_marked())
    }
}
