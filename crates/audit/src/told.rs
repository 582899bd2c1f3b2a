//! Labels and periods that are told by others: "from 12 to 15", "去年同期 12", "前者比后者". Reads the few words before and behind
//! a figure.

use std::sync::LazyLock;

use regex::Regex;

use crate::figures::{Figure, Place};
use crate::period::Period;
use crate::scope::{Asked, Key, Mark, Page};

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

static FROM: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"(?i)(?:从|由|\bfrom)\s*$"));
static TO: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)(?:到|至|变为|升为|降为|\bto)(?:了)?\s*$"));
static GOES: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"(?i)到|至|变|升|降|\bto\b|→"));
static YEAR_BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:去年|上年|上一年|前一年|last year|previous year|prior year)(?:同期)?(?:的|为|是|仅|仅为|'s|\s|was)*$",
    )
});
static YEAR_AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)^\s*(?:[a-z]+\s+)?(?:a year (?:earlier|before|ago)|(?:in )?(?:the )?(?:last|previous|prior) year)",
    )
});
static PERIOD_BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:上月|上个月|上季度|上一季度|上期|前一日|previous (?:month|quarter))(?:的|为|是|仅|\s|was)*$",
    )
});

fn fits(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|p| p.is_match(text))
}

/// The period a figure is said of, when it is told by another.
pub fn retold(page: &Page<'_>, figure: &Figure, of: (usize, usize), asked: Asked) -> Asked {
    let Place::Prose { sentence, .. } = &figure.place else { return asked };
    let span = &figure.number.span;
    let before = &page.report[sentence.start..span.start];
    let after = &page.report[span.end..sentence.end.max(span.end)];
    if fits(&YEAR_BEFORE, before) || fits(&YEAR_AFTER, after) {
        return moved(asked, Period::year_before);
    }
    if fits(&PERIOD_BEFORE, before) {
        return moved(asked, Period::before);
    }
    let opened = before.contains(['从', '由']) || before.to_lowercase().contains("from ");
    let second = fits(&TO, before) && opened;
    let own = page.marks(sentence, of).iter().any(|m| m.start >= span.end && page.said_after(span, m));
    // "$12 from 34 orders" goes nowhere.
    let first = fits(&FROM, before) && fits(&GOES, after);
    if own || !(first || second) {
        return asked;
    }
    let mut times: Vec<Period> = Vec::new();
    for scope in std::iter::once(sentence.clone()).chain(page.fallback(figure)) {
        times = page.marks(&scope, of).iter().filter_map(|m| period(m.key)).collect();
        if !times.is_empty() {
            break;
        }
    }
    times.sort_by_key(|p| p.order());
    times.dedup();
    match times.as_slice() {
        [earlier, later] => {
            Asked { keys: vec![Key::Time(if second { *later } else { *earlier })], near: true }
        }
        _ => asked,
    }
}

fn period(key: Key) -> Option<Period> {
    if let Key::Time(period) = key { Some(period) } else { None }
}

fn moved(asked: Asked, by: fn(Period) -> Option<Period>) -> Asked {
    let moved = |k: &Key| period(*k).and_then(by).map(Key::Time);
    match asked.keys.as_slice() {
        [one] => Asked { keys: moved(one).into_iter().collect(), near: true },
        _ => asked,
    }
}

/// "前者比后者", "the former": the last two labels said, in this order or the other.
pub fn former_and_latter(clause: &str, before: &[&Mark]) -> Option<(Key, Key)> {
    let former = clause.find("前者").or_else(|| clause.find("former"))?;
    let last = before.last()?.key;
    let first = before.iter().rev().map(|m| m.key).find(|k| *k != last)?;
    let latter = clause.find("后者").or_else(|| clause.find("latter"));
    Some(if latter.is_some_and(|l| l < former) { (last, first) } else { (first, last) })
}
