//! Finds in a question everything that has a meaning: columns, values, concepts, steering words, numbers, times.
//! What is left over is kept as unknown. Decides nothing about what the question asks.

use std::sync::LazyLock;

use regex::Regex;

pub use crate::dictionary::Dictionary;
use crate::names::same_word;
use crate::norm::{is_cjk, is_word, normalise};
use crate::plain;
use crate::timex::{self, When, small};
use crate::tolerate::{after_negation, tolerable};
use crate::units::Unit;
use crate::word::{Beyond, Word};

mod chinese;
mod context;
mod english;
mod numerals;
mod segment;
mod totals;

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
    /// One of what a column counts: `每箱`, `单件`.
    Per(ColRef),
    Word(Word),
    Beyond(Beyond),
    Table(usize),
    /// What a row of a table is called.
    RowNoun(usize),
    Unit(Unit),
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
    /// Unknown words that cannot change a figure.
    pub ignored: Vec<String>,
    /// `written → read as`, where a spelling was mended.
    pub mended: Vec<(String, String)>,
    /// The question, normalised: mentions say where in it they are.
    pub text: Vec<char>,
}

static NUMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s?(%|percent\b|per cent\b|pct\b|万|亿|千万|百万|千|k\b|m\b|bn\b|million|billion|thousand|mln)?(\s?(?:seconds?\b|secs?\b|minutes?\b|mins?\b|hours?\b|hrs?\b|秒钟?|分钟|个?小时|岁|years? old\b))?").ok()
});
static PERCENTILES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\bp(\d{2})\b|(\d{1,2})(?:st|nd|rd|th)? percentile|第?(\d{1,2})\s?(?:%|百)?分位数?|(\d{1,2})百分位数?").ok()
});
static ZH_COUNTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:前|后|倒数|最[高低大小多少好差]的?|未来|接下来|下)([二三四五六七八九]?十[一二三四五六七八九]?|[两二三四五六七八九])(?:个|名|位|家|种|款|大|的|[^月季年周日天]|$)").ok()
});
static ZH_ALL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"([二三四五六七八九]?十[一二三四五六七八九]?|[两二三四五六七八九])(个|家|条|位|名|种|类|大|座|间|款|门|所|处|辆|台|户|样|幢|支)").ok()
});
static EN_COUNTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a dozen|half a dozen|a couple of|fifteen|twenty|thirty|forty|fifty|sixty|ninety|(?:a|one) hundred|(?:a|one) thousand)\b").ok()
});
static ONE_UNIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:than|over|under|above|below|least|most|exceeding)\s(half an hour|an hour|a minute|once)\b",
    )
    .ok()
});

/// Number words beyond twelve.
fn large(text: &str) -> Option<i32> {
    Some(match text {
        "half a dozen" => 6,
        "a dozen" => 12,
        "a couple of" => 2,
        "fifteen" => 15,
        "twenty" => 20,
        "thirty" => 30,
        "forty" => 40,
        "fifty" => 50,
        "sixty" => 60,
        "ninety" => 90,
        "a hundred" | "one hundred" => 100,
        "a thousand" | "one thousand" => 1000,
        _ => return None,
    })
}
static HALVES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(half) (?:of|the|our|all)\b|(一半)|\b(?:than|least|most|exactly) (one)\b").ok()
});

/// More words than these that mean nothing are no question about tables, and are not looked into.
const MOST_GAPS: usize = 24;

fn numbers(text: &str) -> Vec<(usize, usize, Meaning)> {
    let mut found = Vec::new();
    let at = |byte: usize| text[..byte].chars().count();
    for c in PERCENTILES.iter().flat_map(|r| r.captures_iter(text)) {
        let value = (1..=4).find_map(|g| c.get(g)).and_then(|m| m.as_str().parse::<f64>().ok());
        if let (Some(whole), Some(value)) = (c.get(0), value) {
            found.push((at(whole.start()), at(whole.end()), Meaning::Percentile(value / 100.0)));
        }
    }
    // `longer than an hour`
    for c in ONE_UNIT.iter().flat_map(|r| r.captures_iter(text)) {
        if let Some(m) = c.get(1) {
            let n = if m.as_str().starts_with("half") { 0.5 } else { 1.0 };
            found.push((at(m.start()), at(m.end()), Meaning::Number(n)));
        }
    }
    for c in NUMBERS.iter().flat_map(|r| r.captures_iter(text)) {
        let (Some(whole), Some(digits)) = (c.get(0), c.get(1)) else { continue };
        let Ok(value) = digits.as_str().replace(',', "").parse::<f64>() else { continue };
        let (end, factor) = match c.get(2).map(|m| m.as_str()) {
            None if c.get(3).is_some() => (whole.end(), 1.0),
            None if are_marks(&text[digits.end()..]) => (digits.end() + '分'.len_utf8(), 1.0),
            Some("%" | "percent" | "per cent" | "pct") => (whole.end(), 0.01),
            // `15 m` are metres, `15m` and `$15 m` are millions.
            Some("m") if text[digits.end()..].starts_with(' ') && !is_money(&text[..digits.start()]) => {
                (digits.end(), 1.0)
            }
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
    for c in ZH_COUNTS.iter().chain(ZH_ALL.iter()).chain(EN_COUNTS.iter()).flat_map(|r| r.captures_iter(text))
    {
        // `三样`: the classifier says no more.
        if let Some(one) = c.get(2) {
            found.push((at(one.start()), at(one.end()), Meaning::Stop));
        }
        if let Some((m, n)) =
            c.get(1).and_then(|m| small(m.as_str()).or_else(|| large(m.as_str())).map(|n| (m, n)))
        {
            found.push((at(m.start()), at(m.end()), Meaning::Number(f64::from(n))));
        }
    }
    for c in HALVES.iter().flat_map(|r| r.captures_iter(text)) {
        let number = if c.get(3).is_some() { 1.0 } else { 0.5 };
        if let Some(m) = (1..=3).find_map(|g| c.get(g)) {
            found.push((at(m.start()), at(m.end()), Meaning::Number(number)));
        }
    }
    found
}

/// A sign of money comes right before.
fn is_money(before: &str) -> bool {
    before.trim_end().ends_with(['$', '£', '€', '¥', '￥'])
}

/// `90分`: marks, where `5分店` and `90分位` are something else.
fn are_marks(after: &str) -> bool {
    const OTHER: &str = "钟店组类别成析布公部支区层红数司期批位院行校之秒";
    after.strip_prefix('分').is_some_and(|rest| !rest.starts_with(|c: char| OTHER.contains(c)))
}

/// Reads a question.
pub fn lex(question: &str, dictionary: &Dictionary) -> Lexed {
    let text = normalise(question);
    let joined: String = text.iter().collect();
    let mut hits: Vec<(usize, usize, Meaning)> = numbers(&joined);
    hits.extend(numerals::find(&joined));
    hits.extend(timex::find(&joined).into_iter().map(|f| (f.start, f.end, Meaning::Time(f.when))));
    for start in 0..text.len() {
        hits.extend(dictionary.at(&text, start).map(|(end, m)| (start, end, m.clone())));
    }
    hits.extend(codes(question, dictionary));
    hits.extend(context::forms_of_answer(&joined, &dictionary.patterns));
    english::add(&text, &joined, dictionary, &mut hits);
    english::split_denials(&mut hits);
    // `对比一下一季度`: nothing to come.
    hits.retain(|(s, _, m)| {
        *m != Meaning::Word(Word::Next) || *s == 0 || text[*s] != '下' || text[*s - 1] != '一'
    });
    drop_split_values(&mut hits);
    context::keep_values(&text, &mut hits);
    context::keep_names(&mut hits);
    context::keep_wholes(&mut hits);
    context::add_prepositions(&text, &mut hits);
    let idle: Vec<(usize, usize)> =
        hits.iter().filter(|(_, _, m)| *m == Meaning::Stop).map(|(s, e, _)| (*s, *e)).collect();
    // The longest phrase wins; of equal ones a name in the tables, then one with a meaning (`地区` of `各地区`, not `各地`),
    // then the first in the text.
    let named = |m: &Meaning| matches!(m, Meaning::Column(_, 4) | Meaning::Value(_, _, 4));
    hits.sort_by_key(|(s, e, m)| (std::cmp::Reverse(e - s), !named(m), *m == Meaning::Stop, *s));
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
    segment::cover(&text, &mut mentions, &idle);
    context::pass_over_repeated(&text, &mut mentions);
    let mut lexed = Lexed::default();
    drop_pairs(&mut mentions, dictionary);
    context::keep_fates(&text, &mut mentions, dictionary);
    context::name_groups(&mut mentions, dictionary);
    english::settle_units(&text, &mut mentions, dictionary);
    english::settle_neighbours(&mut mentions);
    english::find_gaps(&text, &mut mentions, dictionary);
    english::pass_over_modifiers(&text, &mut mentions, dictionary);
    totals::count_rows(&text, &mut mentions, dictionary);
    totals::all_together(&text, &mut mentions, dictionary);
    totals::leave_figures_to_columns(&text, &mut mentions, dictionary);
    totals::name_lengths(&mut mentions, dictionary);
    totals::most_done(&text, &mut mentions, dictionary);
    totals::name_stuff(&mut mentions, dictionary);
    english::find_lengths(&mut mentions, dictionary);
    english::pass_over_repeats(&text, &mut mentions, dictionary);
    chinese::settle(&text, &mut mentions, dictionary);
    let gaps = gaps(&text, &mentions);
    let strange = gaps.len() > MOST_GAPS;
    for (start, end) in gaps {
        let word: String = text[start..end].iter().collect();
        if strange {
            lexed.unknown.push(word);
            continue;
        }
        if glossed(&text, start, end, &mentions) {
            continue;
        }
        if english::is_reasoned(&word, &mentions, dictionary) {
            lexed.ignored.push(word);
            continue;
        }
        if let Some(meaning) = totals::stuff(&word, &mentions, dictionary) {
            mentions.push(Mention { start, end, text: word, meanings: vec![meaning] });
            continue;
        }
        if context::part_of_neighbour(&text, start, end, &mut mentions) {
            continue;
        }
        if let Some((meaning, phrase)) = negated(&word, dictionary) {
            lexed.mended.push((word.clone(), format!("not {phrase}")));
            // `unassigned`, where a column says to whom: it says nothing there.
            let unsaid = matches!(&meaning, Meaning::Column(at, _) if dictionary.facts.gappy.contains(at));
            let not = if unsaid { Word::Missing } else { Word::Exclude };
            let middle = start + word.chars().count()
                - word.trim_start_matches("non-").trim_start_matches("un").chars().count();
            mentions.push(Mention {
                start,
                end: middle,
                text: "not".to_owned(),
                meanings: vec![Meaning::Word(not)],
            });
            mentions.push(Mention { start: middle, end, text: phrase, meanings: vec![meaning] });
            continue;
        }
        // `how many calls` asks for calls, whatever `called` means.
        let asked = before_word(&mentions, start)
            .iter()
            .any(|m| m.meanings.iter().any(|m| matches!(m, Meaning::Word(Word::HowMany | Word::Count))));
        let silent = plain::says_nothing(&word) && !(plain::is_light(&word) && after_negation(&text, start));
        // A common word is no slip of the pen.
        let named = |p: &str, m: &Meaning| {
            matches!(m, Meaning::Column(..) | Meaning::Value(..)) && same_word(&word, p)
        };
        let mended = dictionary.mend(&word).filter(|(p, m)| !silent || named(p, m));
        match mended.filter(|(_, m)| !asked || *m != Meaning::Stop) {
            Some((phrase, meaning)) => {
                if meaning != Meaning::Stop {
                    lexed.mended.push((word.clone(), phrase));
                }
                mentions.push(Mention { start, end, text: word, meanings: vec![meaning] });
            }
            None if dictionary.grouped_by(&word, &before(&mentions, start)).is_some() => {
                let meaning = dictionary.grouped_by(&word, &before(&mentions, start));
                mentions.push(Mention { start, end, text: word, meanings: meaning.into_iter().collect() });
            }
            None if !dictionary.within_values(&word).is_empty() => {
                let meanings = dictionary.within_values(&word);
                mentions.push(Mention { start, end, text: word, meanings });
            }
            None if silent => {
                mentions.push(Mention { start, end, text: word, meanings: vec![Meaning::Stop] });
            }
            None if english::modifies_class(&text, start, end, &mentions, dictionary)
                || english::is_explained(&text, end, &mentions) =>
            {
                lexed.ignored.push(word);
            }
            None if chinese::undone(&text, start, &word, dictionary).is_some() => {
                let meanings = chinese::undone(&text, start, &word, dictionary).into_iter().collect();
                mentions.push(Mention { start, end, text: word, meanings });
            }
            None if chinese::says_nothing_new(&text, start, end, &mentions, dictionary)
                || !chinese::in_fate(&text, start, end, dictionary)
                    && tolerable(&text, start, end, &mentions, dictionary.known_characters()) =>
            {
                lexed.ignored.push(word);
            }
            None => lexed.unknown.push(word),
        }
    }
    mentions.sort_by_key(|m| m.start);
    chinese::settle_last(&mut mentions, dictionary);
    for mention in &mut mentions {
        if mention.meanings.len() > 1 {
            mention.meanings.retain(|m| *m != Meaning::Stop);
        }
    }
    lexed.mentions = mentions;
    lexed.text = text;
    lexed
}

/// A part of a name that begins or ends inside a value: `假天数` in `病假天数`, where `病假` is a value.
fn drop_split_values(hits: &mut Vec<(usize, usize, Meaning)>) {
    let named: Vec<(usize, usize)> = hits
        .iter()
        .filter(|(s, e, m)| e - s >= 2 && matches!(m, Meaning::Value(_, _, 4) | Meaning::Column(_, 4)))
        .map(|(s, e, _)| (*s, *e))
        .collect();
    let columns: Vec<(usize, usize)> = hits
        .iter()
        .filter(|(_, _, m)| matches!(m, Meaning::Column(_, 4)))
        .map(|(s, e, _)| (*s, *e))
        .collect();
    // `reason for`, where a column is called `reason`.
    hits.retain(|(s, e, m)| {
        !matches!(m, Meaning::Beyond(_))
            || !columns.iter().any(|(cs, ce)| cs >= s && ce <= e && (ce - cs) * 2 > (e - s))
    });
    let cuts = |start: usize, end: usize| {
        named.iter().any(|(s, e)| *s < start && start < *e && *e < end || start < *s && *s < end && end < *e)
    };
    hits.retain(|(s, e, m)| !matches!(m, Meaning::Column(_, 2) | Meaning::Beyond(_)) || !cuts(*s, *e));
    // `收多少课时费`: how much of the fee, not how many lessons; `收割了`, where `收割` is a value; `paid in`, where a column is called so.
    let split = |start: usize, end: usize| columns.iter().any(|(s, e)| start < *s && *s < end && end < *e);
    // `统计出库件数`: `出库` is whole; `in cash` says a value, `make in` does not.
    let parts = |start: usize, end: usize| {
        named.iter().any(|(s, e)| start < *s && *s < end && (end < *e || end == *e && e - s >= 3))
    };
    let begins = |start: usize, end: usize| named.iter().any(|(s, e)| *s == start && *e < end && e - s >= 2);
    hits.retain(|(s, e, m)| match m {
        Meaning::Word(Word::HowMuch | Word::HowMany) => e - s <= 2 || !split(*s, *e),
        Meaning::Stop => !begins(*s, *e) && !parts(*s, *e),
        _ => true,
    });
}

/// `unresolved`: not what a flag or a value says.
fn negated(word: &str, dictionary: &Dictionary) -> Option<(Meaning, String)> {
    // What is not on time is late.
    let opposite = match word {
        "late" | "delayed" | "tardy" => Some("on time"),
        "failed" | "failing" => Some("passed"),
        "absent" => Some("present"),
        "open" | "unsolved" => Some("resolved"),
        _ => None,
    };
    let bare = opposite.or_else(|| word.strip_prefix("un").or_else(|| word.strip_prefix("non")))?;
    if bare.len() < 4 {
        return None;
    }
    let text: Vec<char> = bare.chars().collect();
    let whole = dictionary.at(&text, 0).filter(|(end, _)| *end == text.len()).map(|(_, m)| m.clone());
    let mut whole = whole;
    let meaning = whole.find(|m| matches!(m, Meaning::Column(..) | Meaning::Value(..)));
    if opposite.is_some() {
        return meaning.filter(|m| matches!(m, Meaning::Column(_, 4))).map(|m| (m, bare.to_owned()));
    }
    let mended =
        || dictionary.mend(bare).filter(|(_, m)| matches!(m, Meaning::Column(..) | Meaning::Value(..)));
    meaning.map(|m| (m, bare.to_owned())).or_else(|| mended().map(|(p, m)| (m, p)))
}

/// Codes written in capitals, as `US` is and `us` is not.
fn codes(question: &str, dictionary: &Dictionary) -> Vec<(usize, usize, Meaning)> {
    let written: Vec<char> = question.chars().collect();
    let mut out = Vec::new();
    for (code, meaning) in &dictionary.codes {
        let code: Vec<char> = code.chars().collect();
        for start in 0..written.len().saturating_sub(code.len() - 1) {
            let end = start + code.len();
            let apart = |i: Option<usize>| i.and_then(|i| written.get(i)).is_none_or(|c| !is_word(*c));
            if written[start..end] == code[..] && apart(start.checked_sub(1)) && apart(Some(end)) {
                out.push((start, end, meaning.clone()));
            }
        }
    }
    out
}

/// Two single characters in a row that mean nothing by themselves may well be a word: `回款`; or a part of a value, as
/// `期末` is of `期末考试`, which must not be lost.
fn drop_pairs(mentions: &mut Vec<Mention>, dictionary: &Dictionary) {
    const PLAIN: &str = "的了吗呢吧啊呀嘛在有里中上下内间之其与对从就都也还又并且而把被让给请我你您他她它这该此会最更很多少大小高低好差快慢们人者过着得地后前再才某要想能来去用以于由所一个位名家种件台次年月日天元每各按同应已将另需是做算求查取拿完";
    let single = |m: &Mention| {
        let mut chars = m.text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => {
                is_cjk(c) && !PLAIN.contains(c) && m.meanings.iter().all(|m| *m == Meaning::Stop)
            }
            _ => false,
        }
    };
    let known = |m: &Mention| m.text.chars().all(|c| dictionary.known_characters().contains(c));
    let of_value =
        |w: &[Mention]| !dictionary.within_values(&format!("{}{}", w[0].text, w[1].text)).is_empty();
    let pairs: Vec<usize> = mentions
        .windows(2)
        .filter(|w| single(&w[0]) && single(&w[1]) && w[0].end == w[1].start)
        .filter(|w| !w.iter().any(known) || of_value(w))
        .flat_map(|w| [w[0].start, w[1].start])
        .collect();
    mentions.retain(|m| !pairs.contains(&m.start));
}

/// The mention one space before a word.
fn before_word(mentions: &[Mention], start: usize) -> Vec<Mention> {
    mentions.iter().filter(|m| m.end + 1 == start).cloned().collect()
}

/// The mention that ends where a word begins.
fn before(mentions: &[Mention], start: usize) -> Vec<Mention> {
    mentions.iter().filter(|m| m.end == start).cloned().collect()
}

/// `Texas (TX)`, `TX (Texas)`: a value and, in brackets, the same again.
fn glossed(text: &[char], start: usize, end: usize, mentions: &[Mention]) -> bool {
    let is_value = |m: &Mention| m.meanings.iter().any(|m| matches!(m, Meaning::Value(..)));
    let opens = text[end..].iter().take(2).position(|c| *c == '(').map(|i| end + i + 1);
    let closed = text.get(end) == Some(&')') && start > 0 && text[start - 1] == '(';
    mentions.iter().filter(|m| is_value(m)).any(|m| {
        opens == Some(m.start) && text.get(m.end) == Some(&')')
            || closed && (2..=3).contains(&(start + 1 - m.end.min(start)))
    })
}

/// Words no mention covers: runs of Chinese, and words of two or more letters.
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
        // One letter is a slip, unless it is part of a Chinese word (`A级`); one Chinese character may well be a word.
        let labels = text.get(i).is_some_and(|c| is_cjk(*c)) && text[start].is_ascii_alphabetic();
        if i - start >= 2 || is_cjk(text[start]) || labels {
            out.push((start, i));
        }
    }
    out
}

#[cfg(test)]
pub mod tests;
