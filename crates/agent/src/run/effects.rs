//! What the world is to hear of a step the machine has taken, as data: the machine decides, `drive::record` carries out.

use ba_protocol::StructuredResponse;

use super::PlannedCall;

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// What the model said and how it was understood, for the log.
    Heard { text: String, response: Option<Box<StructuredResponse>> },
    /// Something to know later, for the log.
    Warn(String),
    /// Calls are about to run: their intents are stored and people are told before any does.
    Announce { response: Box<StructuredResponse>, calls: Vec<PlannedCall> },
    /// Every call of this round is answered, and the state that knows it is stored.
    CloseRound { round: u32 },
    /// An answer went back to its model with this request; the state that knows it is stored.
    SendBack { request: String },
}
