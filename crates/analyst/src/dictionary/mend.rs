//! Known phrases that an unknown word is another form of, or a slip of the pen for.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::Dictionary;
use crate::lex::Meaning;
use crate::names::{related, same_root, stem};

/// What was found for words before: the same word is looked up several times a question, and it takes all phrases.
#[derive(Default)]
pub(super) struct Mended {
    found: Mutex<HashMap<String, Option<(String, Meaning)>>>,
    /// Every phrase with its stem.
    phrases: OnceLock<Vec<(String, String, Meaning)>>,
}

/// Words remembered before all are forgotten.
const REMEMBERED: usize = 1_000;

impl Dictionary {
    /// The known phrase that an unknown English word is a form of, or one typing slip away from.
    pub fn mend(&self, word: &str) -> Option<(String, Meaning)> {
        let known = || self.mended.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(word) {
            return found.clone();
        }
        let found = self.look_for(word);
        let mut known = known();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(word.to_owned(), found.clone());
        found
    }

    fn phrases(&self) -> &[(String, String, Meaning)] {
        self.mended.phrases.get_or_init(|| {
            let long = self.by_first.values().flatten().filter(|(phrase, _)| phrase.len() >= 3);
            let with_stem = |(phrase, meaning): &(Vec<char>, Meaning)| {
                let phrase: String = phrase.iter().collect();
                (phrase.clone(), stem(&phrase), meaning.clone())
            };
            long.map(with_stem).collect()
        })
    }

    fn look_for(&self, word: &str) -> Option<(String, Meaning)> {
        let length = word.chars().count();
        let allowed = match length {
            0..=4 => 0,
            5..=7 => 1,
            _ => 2,
        };
        let root = stem(word);
        let mut best: Option<((usize, u8), String, Meaning)> = None;
        for (phrase, phrase_root, meaning) in self.phrases() {
            let slips = !matches!(
                meaning,
                Meaning::Stop | Meaning::Beyond(_) | Meaning::Table(_) | Meaning::RowNoun(_)
            );
            if phrase.chars().count().abs_diff(length) > 6 {
                continue;
            }
            let same_stem = root.len() >= 3 && same_root((word, &root), (phrase, phrase_root))
                || matches!(meaning, Meaning::Column(..))
                    && phrase.len().abs_diff(length) <= 4
                    && related(word, phrase);
            let near = phrase.starts_with(word.chars().next().unwrap_or(' '))
                && phrase.len().abs_diff(length) <= allowed
                && phrase.len() >= 4
                && slips;
            let distance = match (same_stem, near) {
                (true, _) => 0,
                (false, true) => strsim::damerau_levenshtein(word, phrase),
                _ => continue,
            };
            let rank = (distance, preference(meaning));
            if distance <= allowed.max(usize::from(same_stem))
                && best.as_ref().is_none_or(|(r, p, _)| (rank, phrase) < (*r, p))
            {
                best = Some((rank, phrase.clone(), meaning.clone()));
            }
        }
        best.map(|(_, phrase, meaning)| (phrase, meaning)).or_else(|| self.lengthened(word))
    }

    /// `acknowledgement` for a column called `ack`: the only one that is its beginning.
    fn lengthened(&self, word: &str) -> Option<(String, Meaning)> {
        let short =
            |phrase: &str| phrase.len() >= 3 && phrase.len() * 2 <= word.len() && word.starts_with(phrase);
        let named = self
            .by_first
            .get(&word.chars().next()?)?
            .iter()
            .filter(|(_, m)| matches!(m, Meaning::Column(_, 4)));
        let mut found =
            named.map(|(p, m)| (p.iter().collect::<String>(), m.clone())).filter(|(p, _)| short(p));
        let first = found.next()?;
        found.all(|(_, m)| m == first.1).then_some(first)
    }
}

/// Of equally near phrases the tables' own come first.
fn preference(meaning: &Meaning) -> u8 {
    match meaning {
        Meaning::Column(..) => 0,
        Meaning::Value(..) => 1,
        Meaning::Concept(_) => 2,
        Meaning::RowNoun(_) => 3,
        Meaning::Beyond(_) => 4,
        Meaning::Word(_) => 5,
        _ => 6,
    }
}
