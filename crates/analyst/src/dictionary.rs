//! Every phrase that means something for a set of tables: the vocabulary, the names of columns, values and files.
//! Finds phrases; decides nothing about what a question asks.

use std::collections::{HashMap, HashSet};

use crate::glossary::{ConceptRole, Glossary};
use crate::lex::{ColRef, Meaning};
use crate::names::{name_parts, row_nouns, same_word, stem, without_unit};
use crate::norm::{is_cjk, is_word, name_words, normalise};
use crate::table::{Kind, Role, Table};
use crate::tolerate::kin;
use crate::units;
use crate::word::Word;
use english::{calls_figure, names_another};

pub mod chinese;
mod compounds;
pub(crate) mod english;
mod mend;
mod values;

use chinese::main_amount;

/// Every phrase that means something for these tables.
pub struct Dictionary {
    by_first: HashMap<char, Vec<(Vec<char>, Meaning)>>,
    /// All phrases ever added: most are new, and need no look through their neighbours.
    added: HashSet<Vec<char>>,
    mended: mend::Mended,
    /// The Chinese characters of headers and file names.
    known: String,
    /// Values in capitals that are also common words: `US`.
    pub codes: Vec<(String, Meaning)>,
    /// What became of something.
    pub fates: Vec<Vec<char>>,
    /// Phrases about the form of an answer.
    pub patterns: Vec<regex::Regex>,
    /// What English sentences need to know of the columns.
    pub facts: english::Facts,
    /// What Chinese sentences need to know of the columns.
    pub hints: chinese::Hints,
}

impl Dictionary {
    pub fn new(glossary: &Glossary, tables: &[Table]) -> Self {
        let mut dictionary = Self {
            by_first: HashMap::new(),
            added: HashSet::new(),
            mended: mend::Mended::default(),
            known: String::new(),
            codes: Vec::new(),
            fates: glossary.fates.iter().map(|f| f.chars().collect()).collect(),
            patterns: glossary.patterns.clone(),
            facts: english::Facts::default(),
            hints: chinese::Hints::default(),
        };
        dictionary.note_concepts(glossary, tables);
        dictionary.note_gaps(glossary, tables);
        for (name, word) in &glossary.words {
            dictionary.add(name, Meaning::Word(*word));
            // `有多少人` would else be read as `有多少` and `人`.
            if *word == Word::HowMany && (name.starts_with("多少") || name.starts_with('几')) {
                dictionary.add(&format!("有{name}"), Meaning::Word(*word));
            }
        }
        for (name, beyond) in &glossary.beyond {
            dictionary.add(name, Meaning::Beyond(*beyond));
        }
        for name in glossary.stop.iter().chain(&glossary.plain) {
            dictionary.add(name, Meaning::Stop);
        }
        for phrase in crate::plain::phrases() {
            dictionary.add(phrase, Meaning::Stop);
        }
        for (word, unit) in units::spoken() {
            dictionary.add(word, Meaning::Unit(unit));
        }
        for (t, table) in tables.iter().enumerate() {
            dictionary.add_table(t, table, glossary);
            dictionary.add_english(t, table);
        }
        let stems = dictionary.value_stems();
        for (i, concept) in glossary.concepts.iter().enumerate() {
            let lacking = !tables.iter().any(|t| t.columns.iter().any(|c| c.has_concept(&concept.id)));
            for name in &concept.names {
                if lacking && let Some(meaning) = dictionary.same_as_named(name, concept.role, &stems, tables)
                {
                    dictionary.add(name, meaning);
                    continue;
                }
                if !lacking && let Some(at) = dictionary.called_so(name, concept, tables) {
                    dictionary.add(name, Meaning::Column(at, 4));
                    continue;
                }
                if lacking
                    && concept.id == "revenue"
                    && let Some(at) = main_amount(name, tables)
                {
                    dictionary.add(name, Meaning::Column(at, 2));
                    continue;
                }
                let says_less = lacking
                    && concept.role == ConceptRole::Measure
                    && dictionary.says_more(name, tables, glossary);
                // `average bill` where a column is called `bill`: its average.
                if name.strip_prefix("average ").is_some_and(|of| calls_figure(tables, of)) {
                    continue;
                }
                // `培训费` where `培训` is a value: its costs, not a figure of its own.
                if lacking
                    && (dictionary.begins_with_value(name) || dictionary.comes_apart(name, tables, glossary))
                {
                    continue;
                }
                match dictionary
                    .figure_about(name, tables)
                    .filter(|_| lacking && concept.role == ConceptRole::Measure)
                {
                    Some(at) => dictionary.add(name, Meaning::Column(at, 2)),
                    None if !says_less => dictionary.add(name, Meaning::Concept(i)),
                    None => {}
                }
            }
        }
        dictionary.add_distinctive_parts(tables);
        dictionary.add_halves(tables);
        dictionary.add_places(tables);
        dictionary
    }

    /// `talk time` where a column is about talk: the words say more than the concept that no column stands for.
    fn says_more(&self, name: &str, tables: &[Table], glossary: &Glossary) -> bool {
        let figure = |word: &str| {
            let chars: Vec<char> = word.chars().collect();
            let entries = chars.first().and_then(|c| self.by_first.get(c)).map_or(&[][..], Vec::as_slice);
            entries.iter().any(|(phrase, meaning)| match meaning {
                Meaning::Column(at, _) => {
                    *phrase == chars && tables[at.table].columns[at.column].role == Role::Measure
                }
                _ => false,
            })
        };
        let words: Vec<&str> = name.split(' ').collect();
        let known = |w: &&str| figure(w) || *w == "to" || glossary.stop.iter().any(|s| s == w);
        words.len() > 1 && words.iter().any(|w| figure(w)) && words.iter().all(known)
    }

    /// `停机时间` where a column is called `停机分钟`: the same figure by another ending.
    fn figure_about(&self, name: &str, tables: &[Table]) -> Option<ColRef> {
        const ENDINGS: [&str; 12] =
            ["时间", "时长", "天数", "次数", "数量", "金额", "费用", "品", "数", "量", "额", "费"];
        let base = ENDINGS
            .iter()
            .find_map(|e| name.strip_suffix(e))
            .filter(|b| b.chars().count() >= 2 && b.chars().all(is_cjk))?;
        let mut found = tables.iter().enumerate().flat_map(|(t, table)| {
            let about = table.indices(|c| c.role == Role::Measure && c.words.starts_with(base));
            about.into_iter().map(move |column| ColRef { table: t, column })
        });
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    fn add(&mut self, phrase: &str, meaning: Meaning) {
        let chars: Vec<char> = normalise(phrase.trim());
        if matches!(meaning, Meaning::Value(..)) {
            const MANY: [(&str, &str); 5] = [
                ("child", "children"),
                ("man", "men"),
                ("woman", "women"),
                ("person", "people"),
                ("foot", "feet"),
            ];
            let word: String = chars.iter().collect();
            let many = MANY.iter().find(|(one, _)| *one == word).map(|(_, many)| *many);
            if let Some(many) = many {
                self.add(many, meaning.clone());
            }
        }
        // `surgeries` of `Surgery`
        let names = matches!(meaning, Meaning::Column(..) | Meaning::Value(..) | Meaning::RowNoun(_));
        if let ([.., before, 'y'], true) = (&chars[..], names && chars.len() >= 4)
            && before.is_ascii_lowercase()
            && !"aeiou".contains(*before)
        {
            let bare: String = chars[..chars.len() - 1].iter().collect();
            self.add(&format!("{bare}ies"), meaning.clone());
        }
        if let Some(first) = chars.first() {
            let entries = self.by_first.entry(*first).or_default();
            let new = self.added.insert(chars.clone());
            let entry = (chars, meaning);
            if new || !entries.contains(&entry) {
                entries.push(entry);
            }
        }
    }

    fn add_table(&mut self, t: usize, table: &Table, glossary: &Glossary) {
        let title = table.rows_called.rsplit_once('.').map_or(table.rows_called.as_str(), |(s, _)| s);
        self.add(title, Meaning::Table(t));
        self.add(&table.filename, Meaning::Table(t));
        self.add(&name_words(title), Meaning::Table(t));
        self.add(&table.file_id, Meaning::Table(t));
        let (heads, others) = row_nouns(&table.rows_called);
        for noun in &heads {
            self.add(noun, Meaning::RowNoun(t));
        }
        for noun in &others {
            self.add(noun, Meaning::Table(t));
            if sold_one_by_one(table, &heads, noun, glossary) {
                self.add(noun, Meaning::RowNoun(t));
            }
        }
        let sells = table.columns.iter().any(|c| c.concepts.iter().any(|(id, q)| id == "revenue" && *q >= 2));
        let things = table.columns.iter().any(|c| c.has_concept("product"));
        if sells && things {
            for noun in kin(&["order".to_owned()]) {
                self.add(noun, Meaning::RowNoun(t));
            }
        }
        let words = name_words(title);
        if heads
            .iter()
            .any(|h| words.ends_with(h.as_str()) || words.trim_end_matches('s').ends_with(h.as_str()))
        {
            self.add(&words, Meaning::RowNoun(t));
        }
        for noun in ["单", "单子", "单据", "条目", "records", "entries"] {
            self.add(noun, Meaning::RowNoun(t));
        }
        self.add_colloquial(t, &heads);
        self.add_kin(t, table, heads.into_iter().chain(others).collect());
        let named = |c: &char| is_cjk(*c);
        self.known.extend(table.rows_called.chars().filter(named));
        self.known.extend(table.columns.iter().flat_map(|c| c.name.chars()).filter(named));
        for (c, column) in table.columns.iter().enumerate() {
            let at = ColRef { table: t, column: c };
            self.add_ends(at, column);
            self.add(&column.name, Meaning::Column(at, 4));
            self.add(&column.words, Meaning::Column(at, 4));
            self.add(&column.words.replace(' ', ""), Meaning::Column(at, 4));
            // `体脂率` of `体脂率%`
            if let Some(bare) = column.words.strip_suffix('%').filter(|b| b.chars().all(is_cjk)) {
                self.add(bare, Meaning::Column(at, 4));
            }
            self.add(&column.full, Meaning::Column(at, 4));
            self.add(without_unit(&column.full), Meaning::Column(at, 4));
            self.add_amounts(at, column);
            let measured = column.role == Role::Measure;
            for part in name_parts(&column.words, measured).iter().chain(&name_parts(&column.full, measured))
            {
                // `ticket` of `lost ticket` is any ticket, where another column is about tickets, too.
                let denies = column.full.starts_with("no ");
                if column.role == Role::Flag && (denies || names_another(table, c, part)) {
                    continue;
                }
                self.add(part, Meaning::Column(at, 2));
                let root = stem(part);
                for (_, word) in glossary
                    .stop_stems
                    .iter()
                    .filter(|(s, w)| w.len() > 4 && root.len() >= 4 && *s == root && w != part)
                {
                    self.add(word, Meaning::Column(at, 2));
                }
            }
            let noun = ["ment", "ion", "er", "or"].iter().any(|e| column.full.ends_with(e));
            if !column.full.contains(' ') && column.full.is_ascii() && !noun {
                let other_form = |w: &&(String, String)| {
                    w.1 != column.full
                        && w.1.len().abs_diff(column.full.len()) <= 3
                        && same_word(&w.1, &column.full)
                };
                for (_, word) in glossary.stop_stems.iter().filter(other_form) {
                    self.add(word, Meaning::Column(at, 2));
                }
            }
            let joined = column.full.replace(' ', "-");
            self.add(joined.trim_end_matches('s'), Meaning::Column(at, 4));
            self.add(&joined, Meaning::Column(at, 4));
            if measured {
                self.add_figure(at, column);
                if let Some(last) = only_ending(table, c) {
                    self.add(last, Meaning::Column(at, 2));
                }
            }
            if column.role == Role::Flag {
                let name = flag_name(&column.full);
                self.add(name, Meaning::Column(at, 4));
                if let Some((verb, rest)) = name.split_once(' ').filter(|_| name.is_ascii()) {
                    // `paid monthly` of `pays monthly`
                    for form in crate::names::forms(verb) {
                        self.add(&format!("{form} {rest}"), Meaning::Column(at, 4));
                    }
                }
                self.add_flag_verb(at, name);
                self.add_opposite(at, column, name);
                if let [verb, object] = name.chars().collect::<Vec<char>>()[..]
                    && is_cjk(verb)
                    && is_cjk(object)
                {
                    // `欠过费` of `是否欠费`
                    for done in ["过", "了", "着"] {
                        self.add(&format!("{verb}{done}{object}"), Meaning::Column(at, 4));
                    }
                }
            }
            if column.kind == Kind::Text && column.role != Role::Flag {
                // Names that differ in every row share their first words with common nouns.
                let categories = column.distinct * 2 < table.rows;
                for value in &column.values {
                    let code = value.len() >= 3
                        && column.distinct <= 4
                        && value.chars().all(|c| c.is_ascii_uppercase());
                    let capitals = value.len() >= 2 && value.chars().all(|c| c.is_ascii_uppercase());
                    if capitals && value.len() <= 3 && glossary.is_common(value) {
                        self.codes.push((value.clone(), Meaning::Value(at, value.clone(), 4)));
                    }
                    if value.chars().count() <= 3 && glossary.is_common(value) && !code {
                        self.add_common_value(at, value, &column.full);
                    } else {
                        self.add_value(at, value, categories, glossary);
                    }
                }
            }
        }
        self.add_numbered(t, table);
        self.add_received(t, table);
    }

    /// The Chinese characters of headers and file names.
    pub fn known_characters(&self) -> &str {
        &self.known
    }

    /// Other nouns for rows: those of the same kind as the file's name and the column that numbers the rows.
    fn add_kin(&mut self, t: usize, table: &Table, mut subjects: Vec<String>) {
        let numbers = |c: &&crate::table::Column| c.role == Role::Id && c.distinct * 10 >= table.rows * 8;
        if let Some(id) = table.columns.iter().find(numbers) {
            let bare = ["编号", "单号", "号", "编码"]
                .iter()
                .find_map(|e| id.words.strip_suffix(e))
                .unwrap_or(&id.full);
            let bare = bare.split(' ').next().unwrap_or(bare);
            subjects.push(bare.to_owned());
            // `work order` of `Work Order No`
            let whole = ["id", "no", "number", "ref"].iter().find_map(|e| id.full.strip_suffix(e));
            subjects.push(whole.unwrap_or(&id.full).trim_end().to_owned());
            subjects.extend(id.full.split(' ').next().map(str::to_owned));
            if bare.chars().all(is_cjk) && bare.chars().count() >= 2 {
                self.add(bare, Meaning::RowNoun(t));
                self.add(&format!("{bare}单"), Meaning::RowNoun(t));
            }
        }
        for noun in kin(&subjects) {
            if !subjects.iter().any(|s| s == noun) && tells_kind(table, noun) {
                continue;
            }
            self.add(noun, Meaning::RowNoun(t));
        }
    }

    /// All entries that begin at a place and respect word boundaries, with where they end.
    pub fn at<'a>(
        &'a self,
        text: &'a [char],
        start: usize,
    ) -> impl Iterator<Item = (usize, &'a Meaning)> + 'a {
        let entries = self.by_first.get(&text[start]).map_or(&[][..], Vec::as_slice);
        entries.iter().filter_map(move |(phrase, meaning)| {
            let end = start + phrase.len();
            if end > text.len() || text[start..end] != phrase[..] || !starts_word(text, start) {
                return None;
            }
            ends_word(text, end, phrase, meaning).map(|end| (end, meaning))
        })
    }
}

/// `cars` of `car_sales`, where no column says how many: each row is one.
fn sold_one_by_one(table: &Table, heads: &[String], noun: &str, glossary: &Glossary) -> bool {
    const DEALS: [&str; 4] = ["sale", "rental", "auction", "hire"];
    let deal = heads.iter().any(|h| DEALS.contains(&h.as_str()));
    let meant = |c: &&crate::glossary::Concept| c.names.iter().any(|n| n == noun);
    let named = |c: &crate::table::Column| {
        c.has_concept("quantity")
            || c.full.split(' ').any(|w| w == noun)
            || glossary.concepts.iter().filter(meant).any(|m| c.has_concept(&m.id))
    };
    deal && noun.is_ascii() && !table.columns.iter().any(named)
}

/// `保养` where one kind of row is `常规保养`: such rows, not all of them.
fn tells_kind(table: &Table, noun: &str) -> bool {
    let general = noun.ends_with(['单', '票', '据']) || !noun.chars().all(is_cjk) || noun.chars().count() < 2;
    let held = |c: &crate::table::Column| {
        let mut holding = c.values.iter().filter(|v| v.contains(noun));
        let one = holding.next().is_some_and(|v| v != noun) && holding.next().is_none();
        one && c.role == Role::Dimension && c.values_complete && (2..=30).contains(&c.distinct)
    };
    !general && table.columns.iter().any(held)
}

/// `amount` of `loan amount`, where no other figure ends so.
fn only_ending(table: &Table, column: usize) -> Option<&str> {
    let ending = |c: &crate::table::Column| c.full.rsplit_once(' ').map(|(_, last)| last.to_owned());
    let own = ending(&table.columns[column])?;
    let figures = table.columns.iter().filter(|c| c.role == Role::Measure);
    let alone = figures.filter(|c| c.full == own || ending(c).as_ref() == Some(&own)).count() == 1;
    let last = table.columns[column].full.rsplit_once(' ')?.1;
    (alone && last.len() >= 4 && last.is_ascii()).then_some(last)
}

/// `returned` of `is returned`, `异常` of `是否异常`.
fn flag_name(words: &str) -> &str {
    let bare = words
        .strip_prefix("is ")
        .or_else(|| words.strip_prefix("has "))
        .or_else(|| words.strip_prefix("was "));
    let bare =
        bare.or_else(|| words.strip_prefix("是否")).or_else(|| words.strip_suffix(" flag")).unwrap_or(words);
    bare.strip_prefix('已').filter(|b| b.chars().count() >= 2).unwrap_or(bare)
}

fn starts_word(text: &[char], start: usize) -> bool {
    start == 0
        || !is_word(text[start])
        || !is_word(text[start - 1])
        || text[start].is_ascii_digit() != text[start - 1].is_ascii_digit()
}

/// Where a phrase ends, a plural ending included; nothing when it ends inside a word.
fn ends_word(text: &[char], end: usize, phrase: &[char], meaning: &Meaning) -> Option<usize> {
    let last = *phrase.last()?;
    let next = text.get(end).copied().unwrap_or(' ');
    if !is_word(last) || !is_word(next) {
        return Some(end);
    }
    if last.is_alphabetic() && next.is_ascii_digit() && matches!(meaning, Meaning::Word(_)) {
        return Some(end);
    }
    let plural = |n: usize| text.get(end + n).is_none_or(|c| !is_word(*c));
    match next {
        // `whats` is no plural.
        's' if plural(1) && matches!(meaning, Meaning::Word(Word::Which | Word::Who)) => None,
        's' if plural(1) && phrase.len() >= 3 => Some(end + 1),
        // `Sal` is no `sales`.
        'e' if matches!(meaning, Meaning::Value(..)) && !matches!(last, 's' | 'x' | 'z' | 'h' | 'o') => None,
        'e' if text.get(end + 1) == Some(&'s') && plural(2) && phrase.len() >= 3 => Some(end + 2),
        _ => None,
    }
}
