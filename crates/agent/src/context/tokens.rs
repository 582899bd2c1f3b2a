//! What is remembered between builds: token counts (SPEC M1), sizes of turns, texts of spans, summaries. History is the
//! same from turn to turn, so each is worked out once and a turn of a long conversation costs what a turn of a short
//! one does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ba_protocol::{ConversationId, Turn};

use super::sizes::{self, TurnSize};
use crate::pipeline::Counter;

/// Role, separators and the like, per message; the dialects differ by a token or two.
const PER_MESSAGE: usize = 4;
const REMEMBERED: u64 = 50_000;
/// Texts of spans and summaries, in bytes.
const TEXT_BYTES: u64 = 8 << 20;
/// Turns of conversations that go on, in bytes, and how long after their last turn.
const HISTORY_BYTES: u64 = 24 << 20;
const HISTORY_FOR: Duration = Duration::from_secs(900);
/// Counting a short text is cheaper than remembering it.
const WORTH_REMEMBERING: usize = 256;
/// A summary that could not be had is not asked for again this soon.
const REFUSED_FOR: Duration = Duration::from_secs(600);

#[derive(Clone)]
pub struct MemoCounter {
    count: Counter,
    known: moka::sync::Cache<[u8; 16], usize>,
    sizes: moka::sync::Cache<[u8; 16], TurnSize>,
    digests: moka::sync::Cache<String, Arc<str>>,
    summaries: moka::sync::Cache<String, Arc<str>>,
    refused: moka::sync::Cache<String, ()>,
    turns: moka::sync::Cache<ConversationId, Arc<Vec<Turn>>>,
    counted: Arc<AtomicU64>,
}

impl MemoCounter {
    pub fn new(count: Counter) -> Self {
        let texts = || {
            let weigh =
                |key: &String, text: &Arc<str>| u32::try_from(key.len() + text.len()).unwrap_or(u32::MAX);
            moka::sync::Cache::builder().weigher(weigh).max_capacity(TEXT_BYTES).build()
        };
        Self {
            count,
            known: moka::sync::Cache::new(REMEMBERED),
            sizes: moka::sync::Cache::new(REMEMBERED),
            digests: texts(),
            summaries: texts(),
            refused: moka::sync::Cache::builder().max_capacity(REMEMBERED).time_to_live(REFUSED_FOR).build(),
            turns: moka::sync::Cache::builder()
                .weigher(|_, turns: &Arc<Vec<Turn>>| u32::try_from(bytes_of(turns)).unwrap_or(u32::MAX))
                .max_capacity(HISTORY_BYTES)
                .time_to_idle(HISTORY_FOR)
                .build(),
            counted: Arc::default(),
        }
    }

    pub fn count(&self, text: &str) -> usize {
        if text.len() < WORTH_REMEMBERING {
            return self.count_now(text);
        }
        let mut key = [0; 16];
        key.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
        if let Some(known) = self.known.get(&key) {
            return known;
        }
        let tokens = self.count_now(text);
        self.known.insert(key, tokens);
        tokens
    }

    fn count_now(&self, text: &str) -> usize {
        self.counted.fetch_add(text.len() as u64, Ordering::Relaxed);
        (self.count)(text)
    }

    pub fn count_message(&self, text: &str) -> usize {
        self.count(text) + PER_MESSAGE
    }

    /// Bytes that were really tokenised so far: the work that remembering saves is not in it.
    pub fn counted_bytes(&self) -> u64 {
        self.counted.load(Ordering::Relaxed)
    }

    /// The plain counter, for the pipeline.
    pub fn plain(&self) -> Counter {
        let this = self.clone();
        Arc::new(move |text| this.count(text))
    }

    pub(super) fn size(&self, turn: &Turn) -> TurnSize {
        self.sizes.get_with(sizes::identity(turn), || TurnSize::of(turn, self))
    }

    pub(super) fn digest(&self, key: &str, make: impl FnOnce() -> String) -> String {
        if let Some(known) = self.digests.get(key) {
            return known.to_string();
        }
        let text = make();
        self.digests.insert(key.to_owned(), text.as_str().into());
        text
    }

    /// A conversation's turns as they were last read; whoever takes them puts them back.
    pub(crate) fn take_turns(&self, conversation: &ConversationId) -> Option<Arc<Vec<Turn>>> {
        self.turns.remove(conversation)
    }

    pub(crate) fn keep_turns(&self, conversation: &ConversationId, turns: Arc<Vec<Turn>>) {
        self.turns.insert(conversation.clone(), turns);
    }

    /// A span's summary, once it has been had.
    pub fn summary(&self, key: &str) -> Option<String> {
        self.summaries.get(key).map(|text| text.to_string())
    }

    pub fn keep_summary(&self, key: &str, text: &str) {
        self.summaries.insert(key.to_owned(), text.into());
    }

    /// Asking for this span's summary was in vain.
    pub fn refuse_summary(&self, key: &str) {
        self.refused.insert(key.to_owned(), ());
    }

    pub(super) fn is_refused(&self, key: &str) -> bool {
        self.refused.contains_key(key)
    }
}

/// About what turns take in memory: their texts.
fn bytes_of(turns: &[Turn]) -> usize {
    let of = |turn: &Turn| {
        let steps: usize = turn.steps.iter().map(|s| s.model_text.len() * 2 + s.thought.len()).sum();
        let results: usize = turn.tool_observations().map(str::len).sum();
        500 + turn.user_message.len() + turn.final_answer.as_deref().map_or(0, str::len) + steps + results
    };
    turns.iter().map(of).sum()
}
