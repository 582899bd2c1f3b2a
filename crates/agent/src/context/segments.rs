//! Which older rounds are compressed together (SPEC X3, X4). Replays the history from its start, so the same rounds
//! always give the same spans: a span is summarised once, and the text before it never changes again.

use ba_protocol::Round;

use super::history::cleaned_size;
use super::tokens::MemoCounter;
use super::{MAX_MESSAGES, WHOLE_ROUNDS};

/// Share of the window above which compression starts, in percent.
const TIGHT_PERCENT: usize = 80;
/// After a compression this many further rounds gather before the next, so that the cached prefix lives longer.
const BATCH: usize = 3;

/// Rounds `from..to`, compressed into one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    pub from: usize,
    pub to: usize,
    /// Hash of the rounds' content: the key of its summary.
    pub key: String,
}

/// The compressed spans, and the first round that is shown whole.
pub fn segments(rounds: &[Round], window: usize, counter: &MemoCounter) -> (Vec<Segment>, usize) {
    let sizes: Vec<(usize, usize)> = rounds.iter().map(|r| cleaned_size(r, counter)).collect();
    let mut spans = Vec::new();
    let mut start = 0;
    for end in 1..=rounds.len() {
        let live = &sizes[start..end];
        let messages: usize = live.iter().map(|s| s.0).sum();
        let tokens: usize = live.iter().map(|s| s.1).sum();
        let gathered = if spans.is_empty() { 1 } else { BATCH };
        let many = messages > MAX_MESSAGES && live.len() >= WHOLE_ROUNDS + gathered;
        let tight = tokens * 100 > window * TIGHT_PERCENT;
        if (many || tight) && live.len() > WHOLE_ROUNDS {
            let to = end - WHOLE_ROUNDS;
            spans.push(Segment { from: start, to, key: key_of(&rounds[start..to]) });
            start = to;
        }
    }
    (spans, start)
}

fn key_of(rounds: &[Round]) -> String {
    let mut hasher = blake3::Hasher::new();
    for round in rounds {
        for text in
            [round.round_id.as_str(), &round.user_message, round.final_answer.as_deref().unwrap_or("")]
        {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        for observation in round.tool_observations() {
            hasher.update(&(observation.len() as u64).to_le_bytes()).update(observation.as_bytes());
        }
    }
    hasher.finalize().to_hex()[..32].to_owned()
}
