//! Chinese compounds whose last part says what is asked and whose first only what the table is about: `采购金额` in a file
//! of purchases. Finds them; reads no question.

use super::Dictionary;
use crate::glossary::Glossary;
use crate::lex::{ColRef, Meaning};
use crate::names::without_unit;
use crate::norm::is_cjk;
use crate::table::Table;
use crate::word::Word;

impl Dictionary {
    /// `实付额` and `实付金额` of a column `实付`.
    pub(super) fn add_amounts(&mut self, at: ColRef, column: &crate::table::Column) {
        let name = without_unit(&column.full);
        let chinese = name.chars().all(is_cjk) && name.chars().count() >= 2;
        if chinese && column.has_concept("revenue") && !name.ends_with(['额', '费', '款', '价', '入', '金'])
        {
            for end in ["额", "金额", "总额"] {
                self.add(&format!("{name}{end}"), Meaning::Column(at, 4));
            }
        }
    }

    /// A name no column stands for that is a word for the rows or a period and, after it, a figure some column holds or
    /// a count: the two are read one by one.
    pub(super) fn comes_apart(&self, name: &str, tables: &[Table], glossary: &Glossary) -> bool {
        let chars: Vec<char> = name.chars().collect();
        if chars.len() < 3 || !chars.iter().all(|c| is_cjk(*c)) {
            return false;
        }
        let held = |head: &str| {
            let counts =
                glossary.words.iter().any(|(w, m)| w == head && matches!(m, Word::Count | Word::CountSuffix));
            let column = |id: &str| tables.iter().any(|t| t.columns.iter().any(|c| c.has_concept(id)));
            let figure = glossary.concepts.iter().any(|c| c.names.iter().any(|n| n == head) && column(&c.id));
            counts && head.chars().count() > 1 || figure
        };
        (1..chars.len() - 1).any(|at| {
            let (about, head) = chars.split_at(at);
            let period = matches!(about, ['日' | '周' | '月' | '季' | '年'] | ['季' | '年', '度']);
            (period || self.says_rows(about)) && held(&head.iter().collect::<String>())
        })
    }

    /// A word for the rows or of the file's name.
    fn says_rows(&self, phrase: &[char]) -> bool {
        let entries = phrase.first().and_then(|c| self.by_first.get(c)).map_or(&[][..], Vec::as_slice);
        phrase.len() >= 2
            && entries
                .iter()
                .any(|(p, m)| p == phrase && matches!(m, Meaning::RowNoun(_) | Meaning::Table(_)))
    }
}

/// `跟进` and `次` of `跟进次数`.
pub(super) fn counted_times(words: &str) -> Option<(&str, char)> {
    let bare = words.strip_suffix('数')?;
    let one = bare.chars().last().filter(|c| is_cjk(*c))?;
    let bare = bare.strip_suffix(one).filter(|b| b.chars().count() >= 2 && b.chars().all(is_cjk))?;
    Some((bare, one))
}

/// `发` and `电` of `发电量`.
pub(super) fn done_to(words: &str) -> Option<(char, char)> {
    match words.chars().collect::<Vec<char>>()[..] {
        [verb, object, '量'] if is_cjk(verb) && is_cjk(object) => Some((verb, object)),
        _ => None,
    }
}

/// What a column counts: the unit in brackets, or the name before `量` and `数`.
pub(super) fn counted_in(name: &str, words: &str) -> Option<String> {
    let unit = name.rsplit_once(['(', '（']).map(|(_, u)| u.trim_end_matches([')', '）']));
    let named = words.strip_suffix('量').or_else(|| words.strip_suffix('数'));
    let chinese = |u: &&str| {
        (u.chars().count() == 1 || ["人员", "人次", "车次", "班次", "架次", "台次"].contains(u))
            && u.chars().all(is_cjk)
            && !["元", "天", "数", "总"].contains(u)
    };
    unit.filter(chinese).or_else(|| named.filter(chinese)).map(str::to_owned)
}
