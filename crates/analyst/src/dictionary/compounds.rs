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

    /// Other ways to say a figure: `跟进几次` of 跟进次数, `price per case` of `Price/Case (£)`, `每箱` of 箱量.
    pub(super) fn add_figure(&mut self, at: ColRef, column: &crate::table::Column) {
        let figure = |phrase: String| (phrase, Meaning::Column(at, 4));
        let mut said: Vec<(String, Meaning)> = Vec::new();
        if let Some((bare, one)) = counted_times(&column.words) {
            said.extend(["多少", "几", "了多少", "了几"].map(|form| figure(format!("{bare}{form}{one}"))));
        }
        // `发了多少电` of `发电量`
        if let Some((verb, object)) = done_to(&column.words) {
            said.extend(["多少", "了多少"].map(|form| figure(format!("{verb}{form}{object}"))));
        }
        let bare = column.name.split(['(', '[']).next().unwrap_or(&column.name).trim();
        if let Some((of, unit)) = bare.split_once('/').filter(|_| bare.is_ascii()) {
            said.push(figure(format!("{} per {}", of.trim(), unit.trim())));
        }
        said.extend(other_endings(column).into_iter().map(figure));
        // `patient` of `patient age`: a thing in these rows, not the figure.
        said.extend(column.full.split_once(' ').map(|(thing, _)| (thing.to_owned(), Meaning::Thing(at))));
        if let Some(one) = counted_in(&column.name, &column.words) {
            said.extend([figure(format!("多少{one}")), figure(format!("几{one}"))]);
            if one.chars().count() == 1 && one != "人" && one != "次" {
                said.push(figure(format!("{one}数")));
            }
            if one == "人" || one == "人员" {
                said.push(("人均".to_owned(), Meaning::Per(at)));
            }
            said.extend(
                ["每", "单", "每一", "平均每"].map(|each| (format!("{each}{one}"), Meaning::Per(at))),
            );
        }
        for (phrase, meaning) in said {
            self.add(&phrase, meaning);
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

/// `采购额` for 采购金额, `合同总额` for 合同额.
fn other_endings(column: &crate::table::Column) -> Vec<String> {
    const FORMS: [(&str, &str); 8] = [
        ("金额", "额"),
        ("金额", "总额"),
        ("数量", "量"),
        ("数量", "数"),
        ("额", "总额"),
        ("额", "金额"),
        ("量", "总量"),
        ("数", "总数"),
    ];
    let name = without_unit(&column.full);
    let long = |bare: &&str| bare.chars().count() >= 2 && bare.chars().all(is_cjk);
    FORMS
        .iter()
        .flat_map(|(ending, other)| {
            let short = column.words.strip_suffix(ending).filter(|b| !b.is_empty());
            let bare = name.strip_suffix(ending).filter(long).into_iter().chain(short);
            bare.map(|b| format!("{b}{other}")).collect::<Vec<_>>()
        })
        .collect()
}

/// `跟进` and `次` of `跟进次数`.
fn counted_times(words: &str) -> Option<(&str, char)> {
    let bare = words.strip_suffix('数')?;
    let one = bare.chars().last().filter(|c| is_cjk(*c))?;
    let bare = bare.strip_suffix(one).filter(|b| b.chars().count() >= 2 && b.chars().all(is_cjk))?;
    Some((bare, one))
}

/// `发` and `电` of `发电量`.
fn done_to(words: &str) -> Option<(char, char)> {
    match words.chars().collect::<Vec<char>>()[..] {
        [verb, object, '量'] if is_cjk(verb) && is_cjk(object) => Some((verb, object)),
        _ => None,
    }
}

/// What a column counts: the unit in brackets, or the name before `量` and `数`.
fn counted_in(name: &str, words: &str) -> Option<String> {
    let unit = name.rsplit_once(['(', '（']).map(|(_, u)| u.trim_end_matches([')', '）']));
    let named = words.strip_suffix('量').or_else(|| words.strip_suffix('数'));
    let chinese = |u: &&str| {
        (u.chars().count() == 1 || ["人员", "人次", "车次", "班次", "架次", "台次"].contains(u))
            && u.chars().all(is_cjk)
            && !["元", "天", "数", "总"].contains(u)
    };
    unit.filter(chinese).or_else(|| named.filter(chinese)).map(str::to_owned)
}
