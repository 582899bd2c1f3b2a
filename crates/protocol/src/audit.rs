//! What the audit of a report says (SPEC V1, V2): counts, and for every figure its place, state and proof. Words only;
//! the `audit` crate finds them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FigureState {
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

impl FigureState {
    /// Whether a reader must be warned.
    pub fn is_marked(self) -> bool {
        matches!(self, Self::Unproven | Self::Mismatch)
    }
}

/// A cell, or a whole column when `row` is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Operand {
    pub tool_call_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<usize>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub column: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Proof {
    Formula {
        formula: String,
        operands: Vec<Operand>,
    },
    Cell {
        tool_call_id: String,
        row: usize,
        column: String,
        /// As the result has it, unrounded; tells tables of one call apart.
        #[serde(skip)]
        #[schema(ignore)]
        value: Option<f64>,
    },
    Line {
        tool_call_id: String,
        line: usize,
    },
}

impl Proof {
    /// Read from one cell.
    pub fn cell(operand: Operand) -> Self {
        Self::Cell {
            tool_call_id: operand.tool_call_id,
            row: operand.row.unwrap_or(0),
            column: operand.column,
            value: operand.value,
        }
    }

    /// Made from cells.
    pub fn formula(formula: &str, operands: Vec<Operand>) -> Self {
        Self::Formula { formula: formula.to_owned(), operands }
    }

    /// Read from a line of output.
    pub fn line(id: &str, line: usize) -> Self {
        Self::Line { tool_call_id: id.to_owned(), line }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FigureProof {
    pub text: String,
    /// Characters of the response.
    pub start: usize,
    pub end: usize,
    pub state: FigureState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// For the gate: the figure's own words, and what the evidence says under or near them.
    #[serde(skip)]
    #[schema(ignore)]
    pub context: String,
    #[serde(skip)]
    #[schema(ignore)]
    pub nearest: Option<Operand>,
}

impl FigureProof {
    /// Why a reader is warned of it, in a few words.
    pub fn doubt(&self, chinese: bool) -> &'static str {
        match (self.state, chinese) {
            (FigureState::Mismatch, true) => "这个值在结果中属于别的名称",
            (FigureState::Mismatch, false) => "the results have this value under another name",
            (_, true) => "没有结果能证实",
            (_, false) => "no result bears this out",
        }
    }
}

/// What lay beyond the caps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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

/// A row of a result that figures rest on, as far as it is shown beside them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProofRow {
    pub tool_call_id: String,
    pub row: usize,
    /// The labels and values of the row, in the order of the result.
    pub cells: Vec<RowCell>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RowCell {
    pub column: String,
    /// As text; empty where the result has nothing.
    pub value: String,
}

/// A call that figures rest on, and what it ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProofCall {
    pub tool_call_id: String,
    pub tool_name: String,
    /// Its SQL or Python, or the file it read; shortened.
    pub code: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Audit {
    pub proven: usize,
    pub derived: usize,
    pub given: usize,
    pub unproven: usize,
    pub mismatch: usize,
    pub figures: Vec<FigureProof>,
    /// The rows that proofs name, each once, up to a cap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<ProofRow>,
    /// The calls that proofs name, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ProofCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_audited: Option<NotAudited>,
}

impl Audit {
    /// Counts what was found.
    pub fn of(figures: Vec<FigureProof>, not_audited: NotAudited) -> Self {
        let count = |state: FigureState| figures.iter().filter(|f| f.state == state).count();
        Self {
            proven: count(FigureState::Proven),
            derived: count(FigureState::Derived),
            given: count(FigureState::Given),
            unproven: count(FigureState::Unproven),
            mismatch: count(FigureState::Mismatch),
            not_audited: (not_audited != NotAudited::default()).then_some(not_audited),
            figures,
            rows: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// One line for people: how many figures there are and where they come from. `None` without figures.
    pub fn summary(&self, chinese: bool) -> Option<String> {
        let all = self.figures.len();
        if all == 0 {
            return None;
        }
        let (results, computed, unproven) = (self.proven, self.derived, self.unproven);
        let more = |count: usize, zh: &str, en: &str| match (count, chinese) {
            (0, _) => String::new(),
            (n, true) => format!("，{n} 个{zh}"),
            (n, false) => format!(", {n} {en}"),
        };
        let given = more(self.given, "由你给出", "given by you");
        let mismatch = more(self.mismatch, "与名称不符", "under other names");
        Some(if chinese {
            format!(
                "{all} 个数字：{results} 个来自结果，{computed} 个由结果算得{given}，{unproven} 个未证实{mismatch}"
            )
        } else {
            let figures = if all == 1 { "figure" } else { "figures" };
            format!(
                "{all} {figures}: {results} from results, {computed} computed{given}, {unproven} unproven{mismatch}"
            )
        })
    }

    /// The calls that figures rest on.
    pub fn used_calls(&self) -> BTreeSet<&str> {
        let proofs = self.figures.iter().filter_map(|f| f.proof.as_ref());
        proofs
            .flat_map(|proof| match proof {
                Proof::Cell { tool_call_id, .. } | Proof::Line { tool_call_id, .. } => {
                    vec![tool_call_id.as_str()]
                }
                Proof::Formula { operands, .. } => operands.iter().map(|o| o.tool_call_id.as_str()).collect(),
            })
            .collect()
    }

    /// Figures a reader must be warned of.
    pub fn marked(&self) -> impl Iterator<Item = &FigureProof> {
        self.figures.iter().filter(|f| f.state.is_marked())
    }
}

/// A second computation of an answer's headline figure, without the model that answered (SPEC V6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WitnessReport {
    /// Whether the answer shows the value.
    pub agrees: bool,
    /// Shares are fractions.
    pub value: f64,
    /// The statement that computed it.
    pub query: String,
    /// What the value is: a column or concept, and the group it belongs to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

impl WitnessReport {
    /// One line for people.
    pub fn line(&self, chinese: bool) -> String {
        let (name, value) = (&self.name, plain(self.value));
        match (self.agrees, chinese) {
            (true, true) => format!("独立核算一致：{name} = {value}"),
            (true, false) => format!("an independent computation agrees: {name} = {value}"),
            (false, true) => format!("独立核算不一致：{name} 算得 {value}"),
            (false, false) => format!("an independent computation disagrees: {name} = {value}"),
        }
    }
}

/// A number without the noise of binary fractions.
fn plain(value: f64) -> String {
    let shown = format!("{value:.6}");
    shown.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What is done with figures that nothing proves (SPEC V5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditMode {
    /// The model gets one turn to mend them; what stays is marked.
    #[default]
    Gate,
    /// They are marked.
    Mark,
    /// Nothing is audited, and no evidence kept.
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts_and_names_what_is_not_zero() {
        let figure = |state| FigureProof {
            text: "1".into(),
            start: 0,
            end: 1,
            state,
            proof: None,
            context: String::new(),
            nearest: None,
        };
        use FigureState::{Derived, Given, Mismatch, Proven, Unproven};
        let audit = Audit::of([Proven, Derived, Unproven].map(figure).to_vec(), NotAudited::default());
        assert_eq!(audit.summary(false).unwrap(), "3 figures: 1 from results, 1 computed, 1 unproven");
        assert_eq!(audit.summary(true).unwrap(), "3 个数字：1 个来自结果，1 个由结果算得，1 个未证实");
        let audit = Audit::of([Given, Mismatch].map(figure).to_vec(), NotAudited::default());
        let said = "2 figures: 0 from results, 0 computed, 1 given by you, 0 unproven, 1 under other names";
        assert_eq!(audit.summary(false).unwrap(), said);
        assert_eq!(Audit::default().summary(true), None);
    }
}
