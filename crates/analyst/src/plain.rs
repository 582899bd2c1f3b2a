//! English words that never limit what is asked, and those that do although they name nothing: data/plain.toml.
//! Knows no table; a word with a meaning of its own never gets here.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::names::stem;

const BUILT_IN: &str = include_str!("../data/plain.toml");

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    adverbs: Vec<String>,
    adjectives: Vec<String>,
    verbs: Vec<String>,
    nouns: Vec<String>,
    talk: Vec<String>,
    phrases: Vec<String>,
    fates: Vec<String>,
}

struct Plain {
    words: HashSet<String>,
    verbs: HashSet<String>,
    fates: HashSet<String>,
    phrases: Vec<String>,
}

static PLAIN: LazyLock<Plain> = LazyLock::new(|| {
    let raw: Raw = toml::from_str(BUILT_IN).unwrap_or_default();
    let words = [raw.adverbs, raw.adjectives, raw.nouns, raw.talk].into_iter().flatten().collect();
    let stems = |list: Vec<String>| list.into_iter().flat_map(|w| [stem(&w), w]).collect();
    Plain { words, verbs: stems(raw.verbs), fates: stems(raw.fates), phrases: raw.phrases }
});

/// Phrases that say nothing, known as a whole.
pub fn phrases() -> &'static [String] {
    &PLAIN.phrases
}

/// A word the question would mean the same without.
pub fn says_nothing(word: &str) -> bool {
    PLAIN.words.contains(word) || is_light(word)
}

/// A verb of seeing, saying or being there, in any form: denied, it does limit.
pub fn is_light(word: &str) -> bool {
    !tells_a_fate(word) && (PLAIN.verbs.contains(word) || PLAIN.verbs.contains(&stem(word)))
}

/// A verb that says what became of something.
pub fn tells_a_fate(word: &str) -> bool {
    PLAIN.fates.contains(word) || PLAIN.fates.contains(&stem(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_talk_and_light_verbs_say_nothing_and_fates_do() {
        for word in ["slightly", "bad", "since", "added", "ids", "if", "overview", "occurred", "breaking"] {
            assert!(says_nothing(word), "{word}");
        }
        for word in ["manually", "cancelled", "profit", "keywords", "stolen", "remote"] {
            assert!(!says_nothing(word), "{word}");
        }
        assert!(tells_a_fate("abandoned") && !tells_a_fate("occurred"));
        assert!(phrases().iter().all(|p| *p == crate::norm::normal(p)));
    }
}
