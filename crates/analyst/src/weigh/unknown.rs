//! Words that are no part of a reading: what kind of word each is, and a flat price for passing over it. Whether the
//! question can be answered all the same is for the [`crate::judge`] to say, who sees the kinds and their places.

use crate::norm::is_cjk;
use crate::plain::tells_a_fate;
use crate::weigh::items::{Item, Sense};
use crate::weigh::view::View;
use crate::word::Word;

/// What passing over a word costs: more than any reading may, if it is asked for or says what became of something; else if nothing
/// is known about it, if it mostly says nothing, or if it is set apart.
const BLOCKED: f32 = 6.0;
const UNKNOWN: f32 = 1.5;
const SELDOM_IDLE: f32 = 0.3;
const APART: f32 = 0.5;

/// What an item without a part in the reading is to the judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It changes nothing.
    Idle,
    /// It mostly changes nothing.
    SeldomIdle,
    /// It says what became of something.
    Fate,
    /// It stands where the figure, the group or what is counted should be.
    Subject,
    /// Brackets or a clause of its own explain it.
    Apart,
    Unknown,
}

pub fn kind(view: &View<'_>, i: usize) -> Kind {
    let item = &view.items[i];
    let is = |of: Sense| item.senses.iter().any(|(s, _)| *s == of);
    if is(Sense::Passed) {
        return Kind::Apart;
    }
    if is_noun(view, i) {
        return Kind::Subject;
    }
    if !is(Sense::Unknown) {
        return if view.scope.glossary.seldom.contains(&item.text) { Kind::SeldomIdle } else { Kind::Idle };
    }
    if explained(view, item) || apart(view, i) {
        return Kind::Apart;
    }
    let fates = &view.scope.glossary.fates;
    let fate = tells_a_fate(&item.text)
        || fates.iter().any(|f| f.chars().count() > 1 && item.text.contains(f.as_str()));
    if fate {
        Kind::Fate
    } else if is_subject(view, i) {
        Kind::Subject
    } else {
        Kind::Unknown
    }
}

/// `how many docks`: an idle verb that stands where things are counted.
fn is_noun(view: &View<'_>, i: usize) -> bool {
    let text = view.items[i].text.as_str();
    let stop = &view.scope.glossary.stop;
    let counted = i > 0 && matches!(view.word(i - 1), Some(Word::HowMany | Word::Count));
    let verb = || text.strip_suffix('s').is_some_and(|one| stop.iter().any(|s| s == one));
    counted && view.items[i].is_idle() && verb() && !stop.iter().any(|s| s == text)
}

/// `total helmets`, `多少护士`: it is what is asked for.
fn is_subject(view: &View<'_>, i: usize) -> bool {
    const ASKED: [Word; 8] = [
        Word::HowMany,
        Word::HowMuch,
        Word::By,
        Word::Which,
        Word::Count,
        Word::Sum,
        Word::Mean,
        Word::Share,
    ];
    let item = &view.items[i];
    let asked = |k: usize| view.word(k).is_some_and(|w| ASKED.contains(&w));
    if !view.english {
        // `多少台手机`: a thing that is counted piece by piece, where rows are such.
        let lead = view.before(i).filter(|k| view.items[*k].end == item.start && asked(*k));
        let pieces = |k: usize| view.scope.glossary.classifiers.asks_pieces(&view.items[k].text);
        return item.text.chars().count() > 1 && lead.is_some_and(|k| !pieces(k));
    }
    let next = view.items.get(i + 1).filter(|n| !n.breaks && n.start <= item.end + 1);
    let describes =
        next.is_some_and(names_something) || item.text.ends_with("ly") || item.text.ends_with("ing");
    let head = view.head(i);
    let verb = matches!(head.rsplit(' ').next(), Some("we" | "they" | "i" | "you" | "to" | "who" | "that"));
    !describes && !verb && view.lead(i).is_some_and(asked)
}

fn names_something(item: &Item) -> bool {
    use Sense::{Column, Ratio, Row, Value};
    item.senses.iter().any(|(s, _)| matches!(s, Column(_) | Value(..) | Row | Ratio(_)))
}

pub fn cost(view: &View<'_>, i: usize) -> f32 {
    match kind(view, i) {
        Kind::Idle => 0.0,
        Kind::SeldomIdle => SELDOM_IDLE,
        Kind::Apart => APART,
        Kind::Unknown => UNKNOWN,
        Kind::Fate | Kind::Subject => BLOCKED,
    }
}

/// How an unknown word is written tells what it may be: `<unknown ed>`, `<unknown 2>` of two characters.
pub fn form(text: &str) -> String {
    if text.chars().any(is_cjk) {
        return text.chars().count().min(3).to_string();
    }
    let ending = ["ly", "ed", "ing", "s"].iter().find(|e| text.ends_with(**e));
    ending.map_or_else(|| "word".to_owned(), |e| (*e).to_owned())
}

impl View<'_> {
    /// Nothing in the tables is meant by it, and a reading may pass it over.
    pub fn is_idle(&self, i: usize) -> bool {
        let idle = |s: &Sense| matches!(s, Sense::Stop | Sense::Passed | Sense::Unknown);
        !self.spent[i]
            && !self.set_aside(i)
            && self.items[i].senses.iter().all(|(s, _)| idle(s))
            && !matches!(kind(self, i), Kind::Fate | Kind::Subject)
    }
}

/// `差评（评分2分及以下）`: the brackets say what is meant.
fn explained(view: &View<'_>, item: &Item) -> bool {
    let rest: String = view.text[item.end..].iter().take(24).collect();
    rest.trim_start_matches(|c: char| c.is_alphabetic() || c == ' ' || c == '?').starts_with(['(', '（'])
        && view.text[item.end..].iter().any(|c| matches!(c, ')' | '）'))
}

/// In a clause of its own that tells nothing about the tables: `老板问，…`, `grant report needs this: …`.
fn apart(view: &View<'_>, i: usize) -> bool {
    let clause: Vec<usize> = (0..view.items.len()).filter(|k| view.same_clause(*k, i)).collect();
    clause.len() < view.items.len() && !clause.iter().any(|k| tells(&view.items[*k]))
}

/// The item names something of the tables or asks for a figure.
fn tells(item: &Item) -> bool {
    const ASKING: [Word; 11] = [
        Word::HowMany,
        Word::HowMuch,
        Word::Which,
        Word::Who,
        Word::By,
        Word::Highest,
        Word::Lowest,
        Word::Sum,
        Word::Mean,
        Word::Count,
        Word::Share,
    ];
    let names = |s: &Sense| {
        use Sense::{Column, Lacking, Number, Ratio, Time, Value};
        matches!(s, Column(_) | Value(..) | Number(_) | Time(_) | Ratio(_) | Lacking(_))
    };
    item.senses.iter().any(|(s, _)| names(s)) || item.word().is_some_and(|w| ASKING.contains(&w))
}
