//! Chinese word classes, combined into the phrases a question is made of: `多少盒`, `每一门`, `哪几家`, `没登记`.
//! Adds phrases to the vocabulary; knows no table and no question.

use regex::Regex;
use serde::Deserialize;

use super::{Glossary, GlossaryError};
use crate::norm::normal;
use crate::word::Word;

/// Classifiers by what they count.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Classifiers {
    pub people: Vec<String>,
    /// Pieces of goods.
    pub pieces: Vec<String>,
    pub kinds: Vec<String>,
    pub groups: Vec<String>,
    /// Deals, papers, events: what rows are.
    pub rows: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawPlain {
    words: Vec<String>,
    verbs: Vec<String>,
    recorded: Vec<String>,
    fates: Vec<String>,
    patterns: Vec<String>,
}

impl Classifiers {
    fn all(&self) -> impl Iterator<Item = &String> {
        [&self.people, &self.pieces, &self.kinds, &self.groups, &self.rows].into_iter().flatten()
    }

    fn extend(&mut self, more: &Classifiers) {
        self.people.extend(more.people.iter().cloned());
        self.pieces.extend(more.pieces.iter().cloned());
        self.kinds.extend(more.kinds.iter().cloned());
        self.groups.extend(more.groups.iter().cloned());
        self.rows.extend(more.rows.iter().cloned());
    }

    /// The classifier a question word ends with: `盒` of `多少盒`.
    fn asked(text: &str) -> Option<&str> {
        let bare = ["多少", "几", "各有多少", "有多少", "有几", "各有几", "好几"];
        let bare = bare.iter().filter_map(|b| text.strip_prefix(b)).min_by_key(|r| r.chars().count())?;
        (!bare.is_empty()).then_some(bare)
    }

    /// `多少盒`, `几台`: pieces are asked for, where a table may say how many.
    pub fn asks_pieces(&self, text: &str) -> bool {
        Self::asked(text).is_some_and(|c| self.pieces.iter().any(|p| p == c))
    }

    /// `多少笔`, `几单`: rows are asked for.
    pub fn asks_rows(&self, text: &str) -> bool {
        Self::asked(text).is_some_and(|c| self.rows.iter().any(|p| p == c))
    }

    /// `几种`, `多少款`: kinds are asked for.
    pub fn asks_kinds(&self, text: &str) -> bool {
        Self::asked(text).is_some_and(|c| self.kinds.iter().any(|p| p == c))
    }

    /// `每盒`, `每一瓶`: one piece.
    pub fn each_piece(&self, text: &str) -> bool {
        let one = text.strip_prefix("每一").or_else(|| text.strip_prefix('每'));
        one.is_some_and(|c| self.pieces.iter().any(|p| p == c))
    }

    /// How many characters of a text are a classifier at its beginning.
    pub fn leading(&self, text: &str) -> Option<usize> {
        self.all().filter(|c| text.starts_with(c.as_str())).map(|c| c.chars().count()).max()
    }
}

/// Periods and lengths that are asked for in other ways, and words a classifier would make by chance.
const OTHERWISE: [&str; 14] = [
    "几项", "几方", "几口", "几面", "几大", "各大", "各方", "各面", "每面", "各口", "几打", "几提", "各行",
    "每行",
];

impl Glossary {
    pub(super) fn combine(&mut self, more: &Classifiers) {
        let mut add = |phrase: String, word: Word| {
            if !OTHERWISE.contains(&phrase.as_str()) && !self.words.contains(&(phrase.clone(), word)) {
                self.words.push((phrase, word));
            }
        };
        for one in more.all() {
            for how_many in ["多少", "几", "各有多少", "各有几", "好几"] {
                add(format!("{how_many}{one}"), Word::HowMany);
            }
            for which in ["哪", "哪一", "哪几"] {
                add(format!("{which}{one}"), Word::Which);
            }
            // `各片区`, `每品种`: nouns as well, which a column may be called.
            let noun = one.chars().count() > 1;
            if !more.people.contains(one) && !noun {
                add(format!("各{one}"), Word::By);
            }
            if !more.people.contains(one) && !more.rows.contains(one) && !noun {
                add(format!("每{one}"), Word::By);
                add(format!("每一{one}"), Word::By);
            }
        }
        // `多少钱一瓶`: what one costs.
        const MEASURES: [&str; 10] = ["公斤", "斤", "吨", "克", "升", "平", "平米", "米", "度", "晚"];
        let sold = more.pieces.iter().chain(&more.groups).chain(&more.rows).map(String::as_str);
        for one in sold.chain(MEASURES.into_iter().filter(|_| !more.pieces.is_empty())) {
            add(format!("多少钱一{one}"), Word::HowMuch);
            add(format!("几块钱一{one}"), Word::HowMuch);
        }
        for one in more.rows.iter().chain(&more.pieces).chain(&more.groups) {
            if one.chars().count() == 1
                && !["大", "面", "方", "口", "打", "级", "档", "分"].contains(&one.as_str())
            {
                add(format!("{one}数"), Word::Count);
            }
        }
        // `平均每趟`: over the rows, which need no word.
        let each = more.rows.iter().flat_map(|one| [format!("每{one}"), format!("每一{one}")]);
        let each: Vec<String> = each.filter(|e| !self.words.iter().any(|(w, _)| w == e)).collect();
        self.plain.extend(each);
        self.classifiers.extend(more);
    }

    pub(super) fn add_plain(&mut self, raw: &RawPlain) -> Result<(), GlossaryError> {
        self.plain.extend(raw.words.iter().chain(&raw.verbs).map(|w| normal(w)));
        for verb in &raw.recorded {
            for not in ["没", "没有", "未", "还没", "还没有", "尚未", "漏", "忘了", "忘记"] {
                self.words.push((format!("{not}{verb}"), Word::Missing));
            }
        }
        self.fates.extend(raw.fates.iter().map(|f| normal(f)));
        for pattern in &raw.patterns {
            self.patterns.push(Regex::new(pattern)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifiers_make_the_words_that_ask() {
        let glossary = Glossary::built_in().unwrap();
        let means = |phrase: &str, word: Word| glossary.words.iter().any(|(p, w)| p == phrase && *w == word);
        assert!(means("多少盒", Word::HowMany) && means("几宗", Word::HowMany));
        assert!(means("哪几家", Word::Which) && means("每一门", Word::By));
        assert!(means("没登记", Word::Missing) && means("套数", Word::Count));
        assert!(glossary.classifiers.asks_pieces("多少盒") && !glossary.classifiers.asks_pieces("多少笔"));
        assert!(glossary.classifiers.asks_rows("有多少笔") && glossary.classifiers.each_piece("每瓶"));
        assert_eq!(glossary.classifiers.leading("家门店"), Some(1));
    }
}
