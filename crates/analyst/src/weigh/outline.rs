//! What a reading looks like from afar: the words around the names, what kind of figure it gives, how much of the question
//! it explains. Names of columns and values become signs, so that what is learnt from one table holds for the next. The
//! [`crate::judge`] weighs these marks.

use crate::names::stem;
use crate::question::{Measure, Question};
use crate::weigh::items::Sense;
use crate::weigh::options::{self, Part};
use crate::weigh::unknown::{self, Kind};
use crate::weigh::view::View;

/// From which cost on a reading, a word passed over, or what is left at the end carries a mark.
const WHOLE: [f32; 11] = [0.3, 0.6, 0.9, 1.2, 1.5, 1.95, 2.5, 3.0, 4.0, 5.0, 6.0];
const PASSED: [f32; 5] = [0.5, 1.0, 1.5, 2.0, 3.0];
const LEFT: [f32; 4] = [0.5, 1.0, 2.0, 3.0];
/// Tenths of the question that say nothing to the tables.
const IDLE: [usize; 6] = [1, 2, 3, 4, 5, 6];

/// The marks of a reading: `u:` words, `b:` neighbours, `k:` kinds of words, `w:` unknown ones, `m:` figures, `s:` its parts
/// and whether they are all that was said, and how well it fits.
pub fn outline(view: &View<'_>, parts: &[(usize, Part)], said: f32, left: f32, q: &Question) -> Vec<String> {
    let mut marks = Vec::new();
    let signs: Vec<String> = (0..view.items.len()).map(|i| sign(view, i, parts)).collect();
    marks.extend(signs.iter().map(|s| format!("u:{s}")));
    let ends = ["^".to_owned(), "$".to_owned()];
    let row: Vec<&String> = ends[..1].iter().chain(&signs).chain(&ends[1..]).collect();
    marks.extend(row.windows(2).map(|w| format!("b:{} {}", w[0], w[1])));
    let idle = (0..view.items.len()).filter(|i| *part_of(parts, *i) == Part::Nothing);
    marks.extend(idle.filter_map(|i| class(view, i)));
    let unknown = signs.iter().filter(|s| s.starts_with("<unknown") || *s == "<fate>").count();
    marks.extend((1..=unknown.min(3)).map(|n| format!("unknown {n}")));
    let figure = figure(q);
    marks.push(shape(&signs, marks.iter().any(|m| m == "k:<seldom>")));
    let named = signs.iter().any(|s| s == "<row>");
    marks.push(format!("m:{figure}"));
    marks.push(format!("m:{figure} {}", if q.groups.is_empty() { "whole" } else { "groups" }));
    marks.push(format!("m:{figure} {}", if named { "row said" } else { "row unsaid" }));
    marks.push(format!("i:{}", first_word(&format!("{:?}", q.intent))));
    marks.extend((1..=q.filters.len().min(3)).map(|n| format!("filters {n}")));
    marks.push(format!("length {}", (signs.len() / 4).min(4)));
    marks.extend(WHOLE.iter().filter(|c| said + left >= **c).map(|c| format!("cost {c}")));
    marks.extend(LEFT.iter().filter(|c| left >= **c).map(|c| format!("left {c}")));
    let dearest = dearest_passed(view, parts);
    marks.extend(PASSED.iter().filter(|c| dearest >= **c).map(|c| format!("passed {c}")));
    let idle = idle_tenths(view);
    marks.extend(IDLE.iter().filter(|n| idle >= **n).map(|n| format!("idle {n}")));
    marks.sort_unstable();
    marks.dedup();
    marks
}

fn part_of(parts: &[(usize, Part)], i: usize) -> &Part {
    parts.iter().find(|(k, _)| *k == i).map_or(&Part::Nothing, |(_, p)| p)
}

fn sign(view: &View<'_>, i: usize, parts: &[(usize, Part)]) -> String {
    let sign = match part_of(parts, i) {
        Part::Nothing if view.spent[i] || view.set_aside(i) => "<number>",
        Part::Nothing => return passed(view, i),
        Part::Is(..) | Part::Yes(..) | Part::Empty(_) | Part::Filled(_) | Part::Zero(_) | Part::Some(_) => {
            "<only>"
        }
        Part::When(_) | Part::Date(_) | Part::Grain(_) => "<time>",
        Part::Figure(_) => "<figure>",
        Part::Implied(_) => "<implied>",
        Part::Group(_) => "<group>",
        Part::Rows => "<row>",
        Part::Kinds(_) => "<kinds>",
        Part::Ratio(_) => "<ratio>",
        Part::Per(_) | Part::PerEach(_) => "<per>",
    };
    sign.to_owned()
}

/// `s:all <only>+<row>`: which parts a reading has, and whether it leaves out anything that may matter.
fn shape(signs: &[String], seldom: bool) -> String {
    const PARTS: [&str; 5] = ["<row>", "<figure>", "<only>", "<group>", "<kinds>"];
    const LEFT_OUT: [&str; 5] = ["<lacking>", "<unused>", "<name>", "<apart>", "<fate>"];
    let left_out = |s: &String| s.starts_with("<unknown") || LEFT_OUT.contains(&s.as_str());
    let said = if seldom || signs.iter().any(left_out) { "part" } else { "all" };
    let parts: Vec<&str> = PARTS.into_iter().filter(|p| signs.iter().any(|s| s == p)).collect();
    format!("s:{said} {}", parts.join("+"))
}

/// A word that is no part of the reading: itself, unless it is a name or unknown.
fn passed(view: &View<'_>, i: usize) -> String {
    let item = &view.items[i];
    if item.word().is_some() {
        return stems(&item.text);
    }
    let any = |of: fn(&Sense) -> bool| item.senses.iter().any(|(s, _)| of(s));
    let sign = if any(|s| matches!(s, Sense::Lacking(_))) {
        "<lacking>"
    } else if any(|s| matches!(s, Sense::Column(_))) {
        "<unused>"
    } else if any(is_name) {
        "<name>"
    } else {
        return match unknown::kind(view, i) {
            Kind::Unknown | Kind::Subject => format!("<unknown {}>", unknown::form(&item.text)),
            Kind::Fate => "<fate>".to_owned(),
            Kind::Apart => "<apart>".to_owned(),
            Kind::Idle | Kind::SeldomIdle => stems(&item.text),
        };
    };
    sign.to_owned()
}

fn is_name(sense: &Sense) -> bool {
    matches!(sense, Sense::Value(..) | Sense::Row | Sense::Number(_) | Sense::Time(_) | Sense::Table)
}

fn stems(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(stem).collect();
    words.join(" ")
}

/// What kind of word it is that is no part of the reading; unknown ones by themselves, too, for they may come again.
fn class(view: &View<'_>, i: usize) -> Option<String> {
    let item = &view.items[i];
    if let Some(word) = item.word() {
        return Some(format!("k:{word:?}"));
    }
    view.is_idle(i).then(|| match unknown::kind(view, i) {
        Kind::SeldomIdle => "k:<seldom>".to_owned(),
        Kind::Idle if item.text.is_ascii() => "k:<idle>".to_owned(),
        Kind::Idle => format!("k:<idle {}>", item.text.chars().count().min(2)),
        Kind::Apart | Kind::Fate | Kind::Subject | Kind::Unknown => format!("w:{}", stems(&item.text)),
    })
}

fn dearest_passed(view: &View<'_>, parts: &[(usize, Part)]) -> f32 {
    let passed = (0..view.items.len()).filter(|i| *part_of(parts, *i) == Part::Nothing);
    let cost = |i: usize| {
        options::options(view, i).into_iter().find(|(p, _)| *p == Part::Nothing).map_or(0.0, |(_, c)| c)
    };
    passed.map(cost).fold(0.0, f32::max)
}

fn idle_tenths(view: &View<'_>) -> usize {
    let size = |i: usize| view.items[i].text.chars().count();
    let all: usize = (0..view.items.len()).map(size).sum();
    let idle: usize = (0..view.items.len()).filter(|i| view.is_idle(*i)).map(size).sum();
    idle * 10 / all.max(1)
}

/// `Sum`, `Rows`, `Mean+Rows`: what kinds of figures are given.
fn figure(question: &Question) -> String {
    let mut kinds: Vec<String> = question
        .measures
        .iter()
        .map(|m| match m {
            Measure::Of(agg, _) => format!("{agg:?}"),
            other => first_word(&format!("{other:?}")),
        })
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.join("+")
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric()).collect()
}
