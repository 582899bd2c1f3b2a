//! Counts each text once: history is the same from turn to turn, so its counts are remembered (SPEC M1).

use std::sync::Arc;

use crate::pipeline::Counter;

/// Role, separators and the like, per message; the dialects differ by a token or two.
const PER_MESSAGE: usize = 4;
const REMEMBERED: u64 = 50_000;
/// Counting a short text is cheaper than remembering it.
const WORTH_REMEMBERING: usize = 256;

#[derive(Clone)]
pub struct MemoCounter {
    count: Counter,
    known: moka::sync::Cache<[u8; 16], usize>,
}

impl MemoCounter {
    pub fn new(count: Counter) -> Self {
        Self { count, known: moka::sync::Cache::new(REMEMBERED) }
    }

    pub fn count(&self, text: &str) -> usize {
        if text.len() < WORTH_REMEMBERING {
            return (self.count)(text);
        }
        let mut key = [0; 16];
        key.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
        if let Some(known) = self.known.get(&key) {
            return known;
        }
        let tokens = (self.count)(text);
        self.known.insert(key, tokens);
        tokens
    }

    pub fn count_message(&self, text: &str) -> usize {
        self.count(text) + PER_MESSAGE
    }

    /// The plain counter, for the pipeline.
    pub fn plain(&self) -> Counter {
        let this = self.clone();
        Arc::new(move |text| this.count(text))
    }
}
