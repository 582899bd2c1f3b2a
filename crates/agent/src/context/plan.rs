//! Which turns are shown whole, which without their observations, and which are compressed together (SPEC X3, X4).
//! Replays the history from its start, so the same turns always give the same plan: a span is summarised once, and
//! the text before it never changes again. Spans are merged as they grow old, so their number grows with the
//! logarithm of the conversation.

use super::sizes::TurnSize;
use super::{MAX_CODE_BLOCKS, MAX_MESSAGES, WHOLE_ROUNDS};

/// Part of the window left for the answer, in percent.
pub(super) const RESERVE_PERCENT: usize = 10;
/// Share of the window above which compression starts whatever the number of messages, in percent.
const TIGHT_PERCENT: usize = 80;
/// Turns that are compressed together at least, so that the cached prefix lives longer.
const BATCH: usize = 3;
/// So many spans of one age become one.
const FAN: usize = 3;
/// About as many spans as a long conversation has: each may take this part of their budget.
const SPANS: usize = 10;
const SMALLEST_SPAN: usize = 60;

/// Tokens that history may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// What compression compresses to: turns shown one by one.
    pub turns: usize,
    /// One compressed span.
    pub span: usize,
    /// More than this is compressed, few messages or many.
    pub tight: usize,
}

impl Budget {
    /// A quarter of the window for turns and an eighth for spans; less where the fixed part leaves less.
    pub fn of(window: usize, fixed: usize) -> Self {
        let usable = window - window * RESERVE_PERCENT / 100;
        let free = usable.saturating_sub(fixed).max(window / 8);
        let turns = (window / 4).min(free / 2).max(1);
        let spans = (window / 8).min(free / 4);
        let tight = (window * TIGHT_PERCENT / 100).saturating_sub(fixed).max(turns);
        Self { turns, span: (spans / SPANS).max(SMALLEST_SPAN), tight }
    }
}

/// Turns `from..to`, compressed into one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub from: usize,
    pub to: usize,
    /// Hash of the turns' content: the key of its summary.
    pub key: String,
    /// The spans it was merged of; none when it was made of turns.
    pub parts: Vec<Span>,
    age: u32,
}

/// Turns before `trimmed_from` are in spans, those before `whole_from` have lost their observations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    pub spans: Vec<Span>,
    pub trimmed_from: usize,
    pub whole_from: usize,
}

/// What the turns that are not in spans take.
#[derive(Default)]
struct Live {
    messages: usize,
    tokens: usize,
    code_blocks: usize,
}

pub fn plan(sizes: &[TurnSize], budget: Budget) -> Plan {
    let mut plan = Plan::default();
    let mut live = Live::default();
    for (at, size) in sizes.iter().enumerate() {
        live.messages += size.messages;
        live.tokens += size.whole;
        live.code_blocks += size.code_blocks;
        let many = live.messages > MAX_MESSAGES || live.code_blocks > MAX_CODE_BLOCKS;
        let tight = live.tokens > budget.tight;
        // Half as much again gathers before the next compression, so that the text before stays the same longer.
        if tight || many && live.tokens > budget.turns + budget.turns / 2 {
            plan.compress(sizes, at + 1, &mut live, budget, tight);
        }
    }
    plan
}

impl Plan {
    /// Observations of the oldest turns go first, their answers only when that is not enough.
    fn compress(&mut self, sizes: &[TurnSize], end: usize, live: &mut Live, budget: Budget, tight: bool) {
        let keep = end.saturating_sub(WHOLE_ROUNDS);
        while live.tokens > budget.turns && self.whole_from < keep {
            let size = &sizes[self.whole_from];
            live.tokens = live.tokens - size.whole + size.trimmed;
            live.messages = live.messages - size.messages + 2;
            self.whole_from += 1;
        }
        if !tight && self.whole_from - self.trimmed_from < BATCH {
            return;
        }
        let from = self.trimmed_from;
        while live.tokens > budget.turns && self.trimmed_from < self.whole_from {
            let size = &sizes[self.trimmed_from];
            live.tokens -= size.trimmed;
            live.messages -= 2;
            live.code_blocks -= size.code_blocks;
            self.trimmed_from += 1;
        }
        if self.trimmed_from > from {
            self.push(Span::of_turns(sizes, from, self.trimmed_from));
        }
    }

    fn push(&mut self, span: Span) {
        self.spans.push(span);
        while let Some(at) = self.spans.len().checked_sub(FAN)
            && self.spans[at..].iter().all(|s| s.age == self.spans[at].age)
        {
            let parts = self.spans.split_off(at);
            self.spans.push(Span::merged(parts));
        }
    }
}

impl Span {
    fn of_turns(sizes: &[TurnSize], from: usize, to: usize) -> Self {
        let mut hasher = blake3::Hasher::new();
        sizes[from..to].iter().for_each(|size| {
            hasher.update(&size.hash);
        });
        Self { from, to, key: short(&hasher), parts: Vec::new(), age: 0 }
    }

    fn merged(parts: Vec<Span>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"merged");
        parts.iter().for_each(|part| {
            hasher.update(part.key.as_bytes());
        });
        let (from, to) = (parts.first().map_or(0, |p| p.from), parts.last().map_or(0, |p| p.to));
        let age = parts.first().map_or(0, |p| p.age) + 1;
        Self { from, to, key: short(&hasher), parts, age }
    }
}

fn short(hasher: &blake3::Hasher) -> String {
    hasher.finalize().to_hex()[..32].to_owned()
}
