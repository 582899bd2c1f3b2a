//! What a finished turn takes, whole and without its observations. Known once, remembered: history does not change.

use ba_protocol::Turn;

use super::history;
use super::tokens::MemoCounter;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnSize {
    pub messages: usize,
    /// Tokens with file reads as synopses.
    pub whole: usize,
    /// Tokens of the question and the answer, with one line per call.
    pub trimmed: usize,
    /// Tokens with nothing cleaned.
    pub raw: usize,
    pub code_blocks: usize,
    pub hash: [u8; 16],
}

impl TurnSize {
    pub(super) fn of(turn: &Turn, counter: &MemoCounter) -> Self {
        let whole = history::turn_messages(turn);
        let trimmed = history::trimmed_messages(turn);
        let tokens = |messages: &[ba_protocol::Message]| {
            messages.iter().map(|m| counter.count_message(&m.wire_text())).sum()
        };
        let answer = turn.final_answer.as_deref().unwrap_or_default();
        let scripts = turn.tool_calls().filter(|c| c.arguments.contains_key("code")).count();
        Self {
            messages: whole.len(),
            whole: tokens(&whole),
            trimmed: tokens(&trimmed),
            raw: history::raw_tokens(turn, counter),
            code_blocks: answer.matches("<!-- CODE_SAVED:").count() + scripts,
            hash: hash_of(turn),
        }
    }
}

fn hash_of(turn: &Turn) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    };
    [turn.run_id.as_str(), &turn.user_message, turn.final_answer.as_deref().unwrap_or("")]
        .into_iter()
        .for_each(&mut add);
    turn.tool_observations().for_each(&mut add);
    let mut short = [0; 16];
    short.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    short
}

/// Tells turns apart without reading them: a run has its own id and never changes once it is history.
pub(super) fn identity(turn: &Turn) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(turn.run_id.as_str().as_bytes());
    let observations: usize = turn.tool_observations().map(str::len).sum();
    let lengths = [
        turn.user_message.len(),
        turn.final_answer.as_deref().map_or(0, str::len),
        turn.steps.len(),
        observations,
    ];
    lengths.iter().for_each(|n| {
        hasher.update(&(*n as u64).to_le_bytes());
    });
    let mut short = [0; 16];
    short.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    short
}
