//! The one turn in which a model may mend the figures of its answer that nothing proves (SPEC V4). Part of the run's
//! state, so that a crash resumes inside it.

use serde::{Deserialize, Serialize};

use super::{Effect, Outcome, Run, StopReason};

/// An answer that is not delivered yet, and what its model was asked about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Delivered when what comes after it is no better.
    draft: Outcome,
    pub request: String,
    /// Steps of the run before it.
    pub after_steps: usize,
    /// Model turns before it.
    after_turns: u32,
}

impl Gate {
    /// The draft as the model wrote it.
    pub fn draft_text(&self) -> String {
        match &self.draft {
            Outcome::Answer { response, .. } => serde_json::to_string(response).unwrap_or_default(),
            Outcome::Failed { .. } | Outcome::Cancelled => String::new(),
        }
    }

    pub fn draft(&self) -> &Outcome {
        &self.draft
    }

    /// Whether an ending is no answer to the request: a failure, a limit, or text without the protocol's object.
    fn is_worse(&self, outcome: &Outcome) -> bool {
        let stop = |outcome: &Outcome| match outcome {
            Outcome::Answer { stop, .. } => Some(*stop),
            _ => None,
        };
        match outcome {
            Outcome::Cancelled => false,
            Outcome::Failed { .. } => true,
            Outcome::Answer { stop: StopReason::Complete, .. } => false,
            Outcome::Answer { stop: StopReason::PlainText, .. } => {
                stop(&self.draft) == Some(StopReason::Complete)
            }
            Outcome::Answer { .. } => true,
        }
    }
}

impl Run {
    /// Takes an answer back and has its model asked once more. `None` when the run did not end with an answer of the
    /// model's own, or has had its gate turn.
    pub fn reconsider(&mut self, request: String) -> Option<Vec<Effect>> {
        let own = matches!(
            self.outcome,
            Some(Outcome::Answer { stop: StopReason::Complete | StopReason::PlainText, .. })
        );
        if !own || self.gate.is_some() {
            return None;
        }
        let draft = self.outcome.take()?;
        let (after_steps, after_turns) = (self.steps.len(), self.model_turns);
        self.gate = Some(Gate { draft, request: request.clone(), after_steps, after_turns });
        (self.correction, self.corrected) = (None, false);
        Some(vec![Effect::SendBack { request }])
    }

    pub fn gate(&self) -> Option<&Gate> {
        self.gate.as_ref()
    }

    /// The gate turn itself is asked whatever the limits say: the user set them for the analysis.
    pub(super) fn is_at_gate(&self) -> bool {
        self.gate.as_ref().is_some_and(|g| g.after_turns == self.model_turns)
    }

    /// The draft, where an ending after it would lose it.
    pub(super) fn or_draft(&self, outcome: Outcome) -> Outcome {
        match &self.gate {
            Some(gate) if gate.is_worse(&outcome) => gate.draft.clone(),
            _ => outcome,
        }
    }
}
