//! What was worked out a moment ago: the vocabulary of a set of tables, and how a question was understood. A turn takes several
//! steps over the same tables, and each asks again. Holds little and forgets the oldest; answers never depend on it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::dictionary::Dictionary;
use crate::glossary::Glossary;
use crate::table::Table;
use crate::understand::{Understanding, understand};

/// Vocabularies and readings kept, of all conversations.
const KEPT: usize = 16;
/// Questions before the last that are read for what it may follow up on.
pub const FOLLOWED: usize = 4;

/// Tables, and the vocabulary made of them.
type Known = (Arc<[Table]>, Arc<Dictionary>);

#[derive(Default)]
pub struct Memory {
    dictionaries: Mutex<VecDeque<Known>>,
    readings: Mutex<VecDeque<(Asked, Arc<Understanding>)>>,
}

#[derive(PartialEq)]
struct Asked {
    tables: Arc<[Table]>,
    earlier: Vec<String>,
    question: String,
}

impl Memory {
    /// Reads the last question in the light of those shortly before it.
    pub fn understand(
        &self,
        glossary: &Glossary,
        tables: &[Table],
        earlier: &[String],
        question: &str,
    ) -> Arc<Understanding> {
        let earlier = &earlier[earlier.len().saturating_sub(FOLLOWED)..];
        let same = |a: &Asked| a.question == question && a.earlier == earlier && *a.tables == *tables;
        if let Some(known) = find(&self.readings, same) {
            return known;
        }
        let (tables, dictionary) = self.dictionary(glossary, tables);
        let found = Arc::new(understand(glossary, &dictionary, &tables, earlier, question));
        let asked = Asked { tables, earlier: earlier.to_vec(), question: question.to_owned() };
        keep(&self.readings, asked, Arc::clone(&found));
        found
    }

    fn dictionary(&self, glossary: &Glossary, tables: &[Table]) -> (Arc<[Table]>, Arc<Dictionary>) {
        let known = {
            let kept = self.dictionaries.lock().unwrap_or_else(PoisonError::into_inner);
            kept.iter().find(|(t, _)| **t == *tables).cloned()
        };
        known.unwrap_or_else(|| {
            let (tables, made): (Arc<[Table]>, _) =
                (tables.into(), Arc::new(Dictionary::new(glossary, tables)));
            keep(&self.dictionaries, Arc::clone(&tables), Arc::clone(&made));
            (tables, made)
        })
    }
}

fn find<K, V>(kept: &Mutex<VecDeque<(K, Arc<V>)>>, wanted: impl Fn(&K) -> bool) -> Option<Arc<V>> {
    let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    kept.iter().find(|(k, _)| wanted(k)).map(|(_, v)| Arc::clone(v))
}

fn keep<K, V>(kept: &Mutex<VecDeque<(K, Arc<V>)>>, key: K, value: Arc<V>) {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    kept.push_front((key, value));
    kept.truncate(KEPT);
}
