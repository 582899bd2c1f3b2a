//! The words by which a report says how a figure was made: total, mean, share, growth, difference, up or down. How they
//! are looked for; the lists have a file of their own.

mod lists;

use lists::*;

use crate::figures::{Figure, Place};
use crate::layout::Kind;
use crate::number::Sign;
use crate::scope::Page;

/// What the words around a figure call it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cues {
    pub total: bool,
    pub mean: bool,
    pub share: bool,
    pub growth: bool,
    pub difference: bool,
    pub ratio: bool,
    pub first: bool,
    pub target: bool,
    pub count: bool,
    /// 相差, gap: a distance without a sign.
    pub apart: bool,
    /// 最高, lowest: the ends of a column.
    pub extremes: bool,
    /// 前三, top 3.
    pub top: Option<usize>,
    /// Compared with the year before, or with the period before.
    pub year_on_year: bool,
    pub period_on_period: bool,
    /// Rises or falls, when a word right beside the figure says so.
    pub direction: Option<Direction>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
}

impl Cues {
    pub fn of(page: &Page<'_>, figure: &Figure) -> Self {
        let (near, wide) = surroundings(page, figure);
        let has = |list: &[&str]| list.iter().any(|w| near.contains(w));
        let anywhere = |list: &[&str]| list.iter().any(|w| wide.contains(w));
        let direction = direction(page.report, figure);
        Self {
            total: has(TOTAL),
            mean: has(MEAN),
            share: has(SHARE) || is_bracketed(page.report, figure),
            growth: has(GROWTH) || direction.is_some() || figure.number.sign != Sign::Bare,
            difference: has(DIFFERENCE) || direction.is_some() || figure.number.sign == Sign::Plus,
            ratio: has(RATIO) || anywhere(PER),
            first: anywhere(FIRST),
            target: anywhere(TARGET),
            count: has(COUNT),
            apart: has(APART) && !page.is_signed(figure),
            extremes: anywhere(EXTREMES),
            top: top(&near).or_else(|| top(&wide)),
            year_on_year: has(YEAR),
            period_on_period: has(PERIOD),
            direction,
        }
    }
}

/// "12 人（45.2%）": a percentage alone in brackets is mostly a share.
fn is_bracketed(report: &str, figure: &Figure) -> bool {
    let span = &figure.number.span;
    figure.number.sign == Sign::Bare
        && report[..span.start].ends_with(['(', '（'])
        && report[span.end..].starts_with([')', '）'])
}

/// The figure's clause (or header and row label), and its sentence, in small letters.
fn surroundings(page: &Page<'_>, figure: &Figure) -> (String, String) {
    let joined = |spans: &[std::ops::Range<usize>]| {
        spans.iter().map(|s| page.report[s.clone()].to_lowercase()).collect::<Vec<_>>().join(" | ")
    };
    match &figure.place {
        Place::Prose { sentence, clause, .. } => {
            (page.report[clause.clone()].to_lowercase(), page.report[sentence.clone()].to_lowercase())
        }
        Place::Cell { block, row, .. } => {
            let mut near = joined(&page.around(figure));
            // The last row, of a label that no table knows, is a total by another name.
            if let Kind::Table { rows, .. } = &page.layout.blocks[*block].kind
                && *row + 1 == rows.len()
                && rows[*row]
                    .first()
                    .is_some_and(|c| page.mentions_in(c).is_empty() && page.times(c).is_empty())
            {
                near.push_str(" total");
            }
            (near.clone(), near)
        }
        Place::Chart { titles, .. } => {
            let near = joined(&page.around(figure));
            let wide = format!("{near} | {}", joined(titles));
            (wide.clone(), wide)
        }
    }
}

fn top(near: &str) -> Option<usize> {
    let words = [
        ("二", 2),
        ("两", 2),
        ("2", 2),
        ("三", 3),
        ("3", 3),
        ("四", 4),
        ("4", 4),
        ("五", 5),
        ("5", 5),
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("five", 5),
        ("10", 10),
        ("十", 10),
    ];
    let rest = near.split("前").nth(1).or_else(|| near.split("top ").nth(1))?.trim_start();
    words.iter().find(|(w, _)| rest.starts_with(w)).map(|(_, n)| *n)
}

/// A word of direction right before the figure, or right behind it.
fn direction(report: &str, figure: &Figure) -> Option<Direction> {
    let Place::Prose { sentence, .. } = &figure.place else { return None };
    let span = &figure.number.span;
    let before = report.get(sentence.start..span.start)?.to_lowercase();
    let mut before = before.trim_end();
    for _ in 0..4 {
        for filler in [
            "了", "约", "近", "达", "出", "幅", "幅度", "为", "a", "by", "about", "roughly", "of", "some",
            "another", "almost", "nearly", "an", "：", ":", "超过", "over", "$", "¥", "€",
        ] {
            if let Some(rest) = before.strip_suffix(filler)
                && (!filler.is_ascii()
                    || filler.len() == 1 && !filler.starts_with('a')
                    || rest.ends_with(' '))
            {
                before = rest.trim_end();
            }
        }
    }
    let found = ends_with(before, DOWN)
        .map(|n| (n, Direction::Down))
        .into_iter()
        .chain(ends_with(before, UP).map(|n| (n, Direction::Up)));
    if let Some((_, direction)) = found.max_by_key(|(n, _)| *n) {
        return Some(direction);
    }
    let after = report.get(span.end..sentence.end)?.to_lowercase();
    let next: Vec<&str> =
        after.split(|c: char| c.is_whitespace()).filter(|w| !w.is_empty()).take(3).collect();
    let stops = |w: &&str| !w.contains(['，', '。', ',', ';', '；', '(', '（']);
    for word in next.iter().take_while(|w| stops(w) || **w == next[0]) {
        let bare = word.trim_matches(|c: char| !c.is_alphabetic());
        if bare.is_ascii() && DOWN.contains(&bare) {
            return Some(Direction::Down);
        }
        if bare.is_ascii() && UP.contains(&bare) {
            return Some(Direction::Up);
        }
        if ["than", "and", "in", "for"].contains(&bare) {
            break;
        }
    }
    None
}

fn ends_with(text: &str, list: &[&str]) -> Option<usize> {
    list.iter()
        .filter(|w| {
            text.strip_suffix(**w)
                .is_some_and(|rest| !w.is_ascii() || !rest.ends_with(|c: char| c.is_ascii_alphanumeric()))
        })
        .map(|w| w.len())
        .max()
}
