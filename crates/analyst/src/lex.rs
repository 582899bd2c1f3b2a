//! Finds in a question everything that has a meaning: columns, values, concepts, steering words, numbers, times.
//! What is left over is kept as unknown. Decides nothing about what the question asks.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::glossary::Glossary;
use crate::norm::{is_cjk, is_word, name_words, normal, normalise};
use crate::table::{Kind, Role, Table};
use crate::timex::{self, When, small};
use crate::word::{Beyond, Word};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ColRef {
    pub table: usize,
    pub column: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Meaning {
    /// 4: the name itself, 2: a part of it.
    Column(ColRef, u8),
    /// 4: the value itself, 3: its name in the other language, 2: a part of it.
    Value(ColRef, String, u8),
    /// What a figure's name begins with: `review` of `review stars`.
    Thing(ColRef),
    Concept(usize),
    Word(Word),
    Beyond(Beyond),
    Table(usize),
    Number(f64),
    /// Between 0 and 1.
    Percentile(f64),
    Time(When),
    Stop,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    pub start: usize,
    pub end: usize,
    pub text: String,
    pub meanings: Vec<Meaning>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lexed {
    pub mentions: Vec<Mention>,
    /// Words nothing is known about, as written.
    pub unknown: Vec<String>,
    /// `written → read as`, where a spelling was mended.
    pub mended: Vec<(String, String)>,
}

/// Every phrase that means something for these tables.
pub struct Dictionary {
    by_first: HashMap<char, Vec<(Vec<char>, Meaning)>>,
}

impl Dictionary {
    pub fn new(glossary: &Glossary, tables: &[Table]) -> Self {
        let mut dictionary = Self { by_first: HashMap::new() };
        for (name, word) in &glossary.words {
            dictionary.add(name, Meaning::Word(*word));
        }
        for (name, beyond) in &glossary.beyond {
            dictionary.add(name, Meaning::Beyond(*beyond));
        }
        for name in &glossary.stop {
            dictionary.add(name, Meaning::Stop);
        }
        for (i, concept) in glossary.concepts.iter().enumerate() {
            for name in &concept.names {
                dictionary.add(name, Meaning::Concept(i));
            }
        }
        for (t, table) in tables.iter().enumerate() {
            dictionary.add_table(t, table, glossary);
        }
        dictionary
    }

    fn add(&mut self, phrase: &str, meaning: Meaning) {
        let chars: Vec<char> = normalise(phrase.trim());
        if let Some(first) = chars.first() {
            let entries = self.by_first.entry(*first).or_default();
            let entry = (chars, meaning);
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
    }

    fn add_table(&mut self, t: usize, table: &Table, glossary: &Glossary) {
        let stem = table.filename.rsplit_once('.').map_or(table.filename.as_str(), |(s, _)| s);
        self.add(stem, Meaning::Table(t));
        self.add(&table.filename, Meaning::Table(t));
        self.add(&name_words(stem), Meaning::Table(t));
        self.add(&table.file_id, Meaning::Table(t));
        for (c, column) in table.columns.iter().enumerate() {
            let at = ColRef { table: t, column: c };
            self.add(&column.name, Meaning::Column(at, 4));
            self.add(&column.words, Meaning::Column(at, 4));
            self.add(&column.words.replace(' ', ""), Meaning::Column(at, 4));
            let measured = column.role == Role::Measure;
            for part in name_parts(&column.words, measured) {
                self.add(&part, Meaning::Column(at, 2));
            }
            if let (true, Some((thing, _))) = (measured, column.words.split_once(' ')) {
                // `patient` of `patient age`: a thing in these rows, not the figure.
                self.add(thing, Meaning::Thing(at));
            }
            if column.kind == Kind::Text && column.role != Role::Flag {
                // Names that differ in every row share their first words with common nouns.
                let categories = column.distinct * 2 < table.rows;
                for value in &column.values {
                    self.add_value(at, value, categories, glossary);
                }
            }
        }
    }

    fn add_value(&mut self, at: ColRef, value: &str, categories: bool, glossary: &Glossary) {
        let plain = normal(value);
        let plain = plain.trim();
        let length = plain.chars().count();
        if length == 0 || length > 60 || plain.chars().all(|c| c.is_ascii_digit()) {
            return;
        }
        if length >= 2 || plain.chars().all(is_cjk) {
            self.add(plain, Meaning::Value(at, value.to_owned(), 4));
        }
        for alias in glossary.value_aliases(plain) {
            if alias.chars().count() >= 2 || alias.chars().all(is_cjk) {
                self.add(alias, Meaning::Value(at, value.to_owned(), 3));
            }
        }
        for ending in ["地区", "大区", "区", "市", "省", "部", "部门", "店", "系列"] {
            if let Some(bare) = plain.strip_suffix(ending)
                && bare.chars().count() >= 2
            {
                self.add(bare, Meaning::Value(at, value.to_owned(), 3));
            }
        }
        // `Paid` for `Paid Ads`; never the last word, which is often a common noun.
        if let Some((first, _)) = plain.split_once([' ', '-', '&'])
            && first.len() >= 4
            && categories
        {
            self.add(first, Meaning::Value(at, value.to_owned(), 2));
        }
    }

    /// All entries that begin at a place and respect word boundaries, with where they end.
    fn at<'a>(&'a self, text: &'a [char], start: usize) -> impl Iterator<Item = (usize, &'a Meaning)> + 'a {
        let entries = self.by_first.get(&text[start]).map_or(&[][..], Vec::as_slice);
        entries.iter().filter_map(move |(phrase, meaning)| {
            let end = start + phrase.len();
            if end > text.len() || text[start..end] != phrase[..] || !starts_word(text, start) {
                return None;
            }
            ends_word(text, end, phrase, meaning).map(|end| (end, meaning))
        })
    }

    /// The known phrase one typing slip away from an unknown English word.
    fn mend(&self, word: &str) -> Option<(String, Meaning)> {
        let length = word.chars().count();
        let allowed = match length {
            0..=4 => 0,
            5..=7 => 1,
            _ => 2,
        };
        let mut best: Option<(usize, String, Meaning)> = None;
        for (phrase, meaning) in self.by_first.values().flatten() {
            let reach = if matches!(meaning, Meaning::Column(..)) { 4 } else { allowed };
            if phrase.len().abs_diff(length) > reach
                || phrase.len() < 4
                || matches!(meaning, Meaning::Stop | Meaning::Beyond(_))
            {
                continue;
            }
            let phrase: String = phrase.iter().collect();
            let same_stem = matches!(meaning, Meaning::Column(..)) && related(word, &phrase);
            let distance = if same_stem { 0 } else { strsim::damerau_levenshtein(word, &phrase) };
            if distance <= allowed && best.as_ref().is_none_or(|(d, p, _)| (distance, &phrase) < (*d, p)) {
                best = Some((distance, phrase, meaning.clone()));
            }
        }
        best.map(|(_, phrase, meaning)| (phrase, meaning))
    }
}

/// `stayed` and `stay`, `readmission` and `readmitted`: one word in two forms.
fn related(a: &str, b: &str) -> bool {
    let common = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    const ENDINGS: [&str; 12] = ["", "s", "es", "ed", "d", "ing", "er", "ers", "ion", "ions", "ment", "al"];
    let ends = |text: &str| ENDINGS.contains(&text);
    let inflected = common >= 4 && ends(&a[common..]) && ends(&b[common..]);
    let cognate =
        common >= 5 && common * 2 > a.len().max(b.len()) && a.is_ascii() && b.is_ascii() && common >= 6;
    a.is_ascii() && b.is_ascii() && (inflected || cognate)
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
        's' if plural(1) && phrase.len() >= 3 => Some(end + 1),
        'e' if text.get(end + 1) == Some(&'s') && plural(2) && phrase.len() >= 3 => Some(end + 2),
        _ => None,
    }
}

/// Parts of a name that may stand for it.
fn name_parts(words: &str, measured: bool) -> Vec<String> {
    const VAGUE: [&str; 24] = [
        "date", "name", "type", "total", "number", "amount", "count", "rate", "time", "value", "code",
        "year", "month", "week", "quarter", "percent", "level", "index", "group", "mean", "average",
        "status", "score", "state",
    ];
    const UNITS: [&str; 18] = [
        "sqm", "sqft", "min", "mins", "sec", "hrs", "usd", "eur", "cny", "rmb", "kg", "km", "pct", "musd",
        "mins", "days", "hours", "cm",
    ];
    let mut parts = Vec::new();
    let tokens: Vec<&str> = words.split(' ').collect();
    if tokens.len() > 1 {
        let least = if measured { 3 } else { 4 };
        let usable = |t: &&&str| t.len() >= least && t.is_ascii() && !VAGUE.contains(*t);
        // A figure is named by the last word that says something; what comes before only narrows it.
        let says_something = |t: &&&str| !VAGUE.contains(*t) && !UNITS.contains(*t);
        let head: Vec<&&str> =
            if measured { tokens.iter().rfind(says_something).into_iter().collect() } else { Vec::new() };
        let named = tokens.iter().filter(usable).filter(|t| !measured || head.contains(t));
        parts.extend(named.map(|t| (*t).to_owned()));
        for pair in tokens.windows(2).filter(|_| tokens.len() > 2) {
            parts.push(pair.join(" "));
        }
    }
    let chars: Vec<char> = words.chars().collect();
    if chars.len() <= 12 && chars.len() >= 3 && chars.iter().all(|c| is_cjk(*c)) {
        for length in 2..chars.len() {
            parts.extend(chars.windows(length).map(|w| w.iter().collect::<String>()));
        }
    }
    parts
}

static NUMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s?(%|万|亿|千万|百万|千|k\b|m\b|bn\b|million|billion|thousand|mln)?").ok()
});
static PERCENTILES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\bp(\d{2})\b|(\d{1,2})(?:st|nd|rd|th)? percentile|第?(\d{1,2})\s?(?:%|百)?分位数?|(\d{1,2})百分位数?").ok()
});
static ZH_COUNTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:前|后|倒数|最[高低大小多少好差]的?|未来|接下来|下)([两二三四五六七八九]|十二|十一|十)(?:个|名|位|家|种|款|大|的|[^月季年周日天]|$)").ok()
});
static EN_COUNTS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b(two|three|four|five|six|seven|eight|nine|ten|twelve)\b").ok());

fn numbers(text: &str) -> Vec<(usize, usize, Meaning)> {
    let mut found = Vec::new();
    let at = |byte: usize| text[..byte].chars().count();
    for c in PERCENTILES.iter().flat_map(|r| r.captures_iter(text)) {
        let value = (1..=4).find_map(|g| c.get(g)).and_then(|m| m.as_str().parse::<f64>().ok());
        if let (Some(whole), Some(value)) = (c.get(0), value) {
            found.push((at(whole.start()), at(whole.end()), Meaning::Percentile(value / 100.0)));
        }
    }
    for c in NUMBERS.iter().flat_map(|r| r.captures_iter(text)) {
        let (Some(whole), Some(digits)) = (c.get(0), c.get(1)) else { continue };
        let Ok(value) = digits.as_str().replace(',', "").parse::<f64>() else { continue };
        let (end, factor) = match c.get(2).map(|m| m.as_str()) {
            Some("%") => (whole.end(), 0.01),
            Some("千" | "k" | "thousand") => (whole.end(), 1e3),
            Some("万") => (whole.end(), 1e4),
            Some("百万" | "m" | "million" | "mln") => (whole.end(), 1e6),
            Some("千万") => (whole.end(), 1e7),
            Some("亿") => (whole.end(), 1e8),
            Some("bn" | "billion") => (whole.end(), 1e9),
            _ => (digits.end(), 1.0),
        };
        found.push((at(whole.start()), at(end), Meaning::Number(value * factor)));
    }
    for c in ZH_COUNTS.iter().chain(EN_COUNTS.iter()).flat_map(|r| r.captures_iter(text)) {
        if let Some((m, n)) = c.get(1).and_then(|m| small(m.as_str()).map(|n| (m, n))) {
            found.push((at(m.start()), at(m.end()), Meaning::Number(f64::from(n))));
        }
    }
    found
}

/// Reads a question.
pub fn lex(question: &str, dictionary: &Dictionary) -> Lexed {
    let text = normalise(question);
    let joined: String = text.iter().collect();
    let mut hits: Vec<(usize, usize, Meaning)> = numbers(&joined);
    hits.extend(timex::find(&joined).into_iter().map(|f| (f.start, f.end, Meaning::Time(f.when))));
    for start in 0..text.len() {
        hits.extend(dictionary.at(&text, start).map(|(end, m)| (start, end, m.clone())));
    }
    // The longest phrase wins; of equal ones a name in the tables, then the first in the text.
    let named = |m: &Meaning| matches!(m, Meaning::Column(_, 4) | Meaning::Value(_, _, 4));
    hits.sort_by_key(|(s, e, m)| (std::cmp::Reverse(e - s), !named(m), *s));
    let mut mentions: Vec<Mention> = Vec::new();
    for (start, end, meaning) in hits {
        if let Some(same) = mentions.iter_mut().find(|m| m.start == start && m.end == end) {
            same.meanings.push(meaning);
        } else if mentions.iter().all(|m| end <= m.start || start >= m.end) {
            mentions.push(Mention {
                start,
                end,
                text: text[start..end].iter().collect(),
                meanings: vec![meaning],
            });
        }
    }
    mentions.sort_by_key(|m| m.start);
    let mut lexed = Lexed::default();
    for (start, end) in gaps(&text, &mentions) {
        let word: String = text[start..end].iter().collect();
        match dictionary.mend(&word) {
            Some((phrase, meaning)) => {
                lexed.mended.push((word.clone(), phrase));
                mentions.push(Mention { start, end, text: word, meanings: vec![meaning] });
            }
            None => lexed.unknown.push(word),
        }
    }
    mentions.sort_by_key(|m| m.start);
    for mention in &mut mentions {
        if mention.meanings.len() > 1 {
            mention.meanings.retain(|m| *m != Meaning::Stop);
        }
    }
    lexed.mentions = mentions;
    lexed
}

/// Words no mention covers: runs of Chinese of two or more characters, and words of two or more letters.
fn gaps(text: &[char], mentions: &[Mention]) -> Vec<(usize, usize)> {
    let covered = |i: usize| mentions.iter().any(|m| m.start <= i && i < m.end);
    let mut out = Vec::new();
    let mut i = 0;
    while i < text.len() {
        let kind: fn(char) -> bool = if is_cjk(text[i]) { is_cjk } else { is_word };
        if covered(i) || !kind(text[i]) {
            i += 1;
            continue;
        }
        let start = i;
        while i < text.len() && !covered(i) && (kind(text[i]) || (start < i && text[i] == '\'')) {
            i += 1;
        }
        if i - start >= 2 {
            out.push((start, i));
        }
    }
    out
}

#[cfg(test)]
pub mod tests;
