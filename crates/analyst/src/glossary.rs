//! The bilingual vocabulary: words that steer a question, business concepts, names of equal values.
//! Data, not code: a file of the same shape extends it. Knows nothing of any table.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;

use crate::norm::normal;
use crate::word::{Beyond, Word};

pub use chinese::Classifiers;
use chinese::RawPlain;

mod chinese;

const BUILT_IN: &str = include_str!("../data/glossary.toml");
const CHINESE: &str = include_str!("../data/chinese.toml");

/// Why a glossary could not be read.
#[derive(Debug, thiserror::Error)]
pub enum GlossaryError {
    #[error("the glossary is not valid TOML: {0}")]
    Toml(#[from] toml::de::Error),
    #[error("the glossary names an unknown word list `{0}`")]
    UnknownWord(String),
    #[error("the concept `{0}` is new and needs a role")]
    NoRole(String),
    #[error("the ratio `{0}` needs a numerator and a denominator")]
    NoTerms(String),
    #[error("a pattern of the glossary is not one: {0}")]
    Pattern(#[from] regex::Error),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConceptRole {
    Measure,
    Entity,
    Dimension,
    Time,
    Flag,
    Ratio,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DefaultAgg {
    Sum,
    Mean,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concept {
    pub id: String,
    pub role: ConceptRole,
    pub agg: DefaultAgg,
    /// For a ratio: concept ids, or `count:<entity>`; `a|b` takes the first there is.
    pub terms: Option<(String, String)>,
    pub names: Vec<String>,
    /// Names only a header would use: `total` asks for a sum, but as a header it is an amount.
    pub headers: Vec<String>,
    /// Concepts that will do when no column stands for this one.
    pub or: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Glossary {
    pub words: Vec<(String, Word)>,
    pub beyond: Vec<(String, Beyond)>,
    pub stop: Vec<String>,
    /// Those of them that may say what became of something.
    pub seldom: std::collections::HashSet<String>,
    /// Words that change nothing, but may be values: unlike `stop`, they make no value a common word.
    pub plain: Vec<String>,
    /// What became of something: `过期`. Never passed over.
    pub fates: Vec<String>,
    /// Phrases about the form of an answer.
    pub patterns: Vec<Regex>,
    pub classifiers: Classifiers,
    /// The stems of longer stop words, for columns that are named by another form of them.
    pub stop_stems: Vec<(String, String)>,
    pub concepts: Vec<Concept>,
    pub value_groups: Vec<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(default)]
    words: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    beyond: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    stop: RawStop,
    #[serde(default)]
    plain: RawPlain,
    #[serde(default)]
    classifiers: Classifiers,
    #[serde(default)]
    values: RawValues,
    #[serde(default)]
    concepts: Vec<RawConcept>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStop {
    words: Vec<String>,
    #[serde(default)]
    seldom: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawValues {
    groups: Vec<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawConcept {
    id: String,
    role: Option<ConceptRole>,
    agg: Option<DefaultAgg>,
    numerator: Option<String>,
    denominator: Option<String>,
    names: Vec<String>,
    #[serde(default)]
    headers: Vec<String>,
    #[serde(default)]
    or: Vec<String>,
}

impl Glossary {
    /// The vocabulary that comes with the analyst.
    pub fn built_in() -> Result<Self, GlossaryError> {
        Self::default().extended(BUILT_IN)?.extended(CHINESE)
    }

    /// This vocabulary and that of a TOML text.
    pub fn extended(mut self, toml: &str) -> Result<Self, GlossaryError> {
        let raw: Raw = toml::from_str(toml)?;
        for (list, names) in raw.words {
            let word = Word::from_list(&list).ok_or(GlossaryError::UnknownWord(list))?;
            self.words.extend(names.iter().map(|n| (normal(n), word)));
        }
        for (list, names) in raw.beyond {
            let beyond = Beyond::from_list(&list).ok_or(GlossaryError::UnknownWord(list))?;
            self.beyond.extend(names.iter().map(|n| (normal(n), beyond)));
        }
        let stop: Vec<String> = raw.stop.words.iter().chain(&raw.stop.seldom).map(|w| normal(w)).collect();
        self.stop.extend(stop.iter().cloned());
        self.seldom.extend(raw.stop.seldom.iter().map(|w| normal(w)));
        let long = stop.into_iter().filter(|w| w.len() >= 4 && w.is_ascii() && !w.contains(' '));
        self.stop_stems.extend(long.map(|w| (crate::names::stem(&w), w)));
        self.value_groups
            .extend(raw.values.groups.iter().map(|g| g.iter().map(|v| normal(v)).collect::<Vec<_>>()));
        for concept in raw.concepts {
            self.add(concept)?;
        }
        self.combine(&raw.classifiers);
        self.add_plain(&raw.plain)?;
        Ok(self)
    }

    fn add(&mut self, raw: RawConcept) -> Result<(), GlossaryError> {
        let names = raw.names.iter().map(|n| normal(n));
        if let Some(known) = self.concepts.iter_mut().find(|c| c.id == raw.id) {
            known.names.extend(names);
            known.headers.extend(raw.headers.iter().map(|n| normal(n)));
            return Ok(());
        }
        let role = raw.role.ok_or_else(|| GlossaryError::NoRole(raw.id.clone()))?;
        let terms = raw.numerator.zip(raw.denominator);
        if role == ConceptRole::Ratio && terms.is_none() {
            return Err(GlossaryError::NoTerms(raw.id));
        }
        self.concepts.push(Concept {
            role,
            agg: raw.agg.unwrap_or(DefaultAgg::Sum),
            terms,
            names: names.collect(),
            headers: raw.headers.iter().map(|n| normal(n)).collect(),
            or: raw.or,
            id: raw.id,
        });
        Ok(())
    }

    pub fn concept(&self, id: &str) -> Option<&Concept> {
        self.concepts.iter().find(|c| c.id == id)
    }

    /// A word of everyday language: as a value it would be found in every question.
    pub fn is_common(&self, word: &str) -> bool {
        let word = normal(word);
        self.stop.contains(&word) || self.words.iter().any(|(w, _)| *w == word)
    }

    /// Other names of a value, normalised, itself excluded.
    pub fn value_aliases(&self, value: &str) -> impl Iterator<Item = &str> {
        let value = normal(value);
        let value_again = value.clone();
        let groups = self.value_groups.iter().filter(move |g| g.contains(&value));
        groups.flatten().map(String::as_str).filter(move |v| **v != *value_again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_glossary_is_sound() {
        let glossary = Glossary::built_in().unwrap();
        let mut ids: Vec<&str> = glossary.concepts.iter().map(|c| c.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), glossary.concepts.len());
        for concept in &glossary.concepts {
            for term in concept.terms.iter().flat_map(|(n, d)| [n, d]).flat_map(|t| t.split('|')) {
                let id = term.strip_prefix("count:").unwrap_or(term);
                assert!(glossary.concept(id).is_some(), "{term} of {}", concept.id);
            }
            assert!(concept.or.iter().all(|id| glossary.concept(id).is_some()), "{}", concept.id);
        }
    }

    #[test]
    fn a_file_extends_it() {
        let extended = Glossary::built_in()
            .unwrap()
            .extended("[[concepts]]\nid='revenue'\nnames=['Bookings']\n[[concepts]]\nid='nps'\nrole='measure'\nagg='mean'\nnames=['NPS']")
            .unwrap();
        assert!(extended.concept("revenue").unwrap().names.contains(&"bookings".to_owned()));
        assert_eq!(extended.concept("nps").unwrap().agg, DefaultAgg::Mean);
    }

    #[test]
    fn mistakes_are_named() {
        let base = || Glossary::built_in().unwrap();
        assert!(
            matches!(base().extended("[words]\nfoo=['x']"), Err(GlossaryError::UnknownWord(w)) if w == "foo")
        );
        assert!(matches!(base().extended("[[concepts]]\nid='x'\nnames=[]"), Err(GlossaryError::NoRole(_))));
        assert!(matches!(base().extended("nonsense"), Err(GlossaryError::Toml(_))));
    }

    #[test]
    fn values_have_names_in_both_languages() {
        let glossary = Glossary::built_in().unwrap();
        assert!(glossary.value_aliases("华东").any(|v| v == "east"));
        assert!(glossary.value_aliases("East").any(|v| v == "华东"));
        assert_eq!(glossary.value_aliases("火星").count(), 0);
    }
}
