//! A message on its way into the context, with where it came from, and the report made of all of them.

use ba_protocol::Message;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::tokens::MemoCounter;

/// What a message is in the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    System,
    /// Stands for a span of older turns.
    Summary,
    History,
    FileList,
    User,
    CurrentTurn,
    Notice,
}

pub(super) struct Piece {
    pub kind: Kind,
    /// Index of the turn it shows.
    pub turn: Option<usize>,
    pub message: Message,
    /// Tokens before anything was replaced or shortened; zero until known.
    pub original_tokens: usize,
    /// File reads shown as their synopsis.
    pub synopses: usize,
    pub shortened: bool,
}

impl Piece {
    pub fn new(kind: Kind, turn: Option<usize>, message: Message) -> Self {
        Self { kind, turn, message, original_tokens: 0, synopses: 0, shortened: false }
    }
}

/// One message as the inspector shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PartReport {
    pub kind: Kind,
    pub role: String,
    /// From 1, for history.
    pub round: Option<usize>,
    pub tokens: usize,
    pub original_tokens: usize,
    pub synopses: usize,
    pub shortened: bool,
    pub preview: String,
}

/// What went to the model, and what was replaced or dropped on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ContextReport {
    pub window: usize,
    pub original_tokens: usize,
    pub tokens: usize,
    pub saved_tokens: usize,
    pub over_budget: bool,
    /// What sending this costs, where the model's prices are configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    pub parts: Vec<PartReport>,
}

impl ContextReport {
    pub(super) fn of(pieces: &mut [Piece], window: usize, over_budget: bool, counter: &MemoCounter) -> Self {
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let text = piece.message.wire_text();
            let tokens = counter.count_message(&text);
            if piece.original_tokens == 0 {
                piece.original_tokens = tokens;
            }
            parts.push(PartReport {
                kind: piece.kind,
                role: piece.message.role.as_str().to_owned(),
                round: piece.turn.map(|r| r + 1),
                tokens,
                original_tokens: piece.original_tokens,
                synopses: piece.synopses,
                shortened: piece.shortened,
                preview: ba_protocol::text::shorten(&text, 200),
            });
        }
        let tokens: usize = parts.iter().map(|p| p.tokens).sum();
        let original_tokens = parts.iter().map(|p| p.original_tokens.max(p.tokens)).sum();
        Self {
            window,
            original_tokens,
            tokens,
            saved_tokens: usize::saturating_sub(original_tokens, tokens),
            over_budget,
            cost: None,
            parts,
        }
    }
}
