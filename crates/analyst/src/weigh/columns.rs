//! The parts a name in the tables may play: a figure, a group, a condition, what is counted, or nothing but a description.

use crate::lex::ColRef;
use crate::table::Role;
use crate::weigh::dimension::dimension;
use crate::weigh::items::Sense;
use crate::weigh::measure::measure;
use crate::weigh::options::Part;
use crate::weigh::view::View;
use crate::word::Word;

pub fn column(view: &View<'_>, i: usize, c: ColRef) -> Vec<(Part, f32)> {
    match view.role(c) {
        Role::Measure => measure(view, i, c),
        Role::Flag => flag(view, i, c),
        Role::Time => time(view, i, c),
        Role::Dimension | Role::Id => dimension(view, i, c),
    }
}

/// `已成交的`: its cell is filled.
pub fn already(view: &View<'_>, i: usize, c: ColRef) -> bool {
    let head = view.head(i);
    view.scope.column(c).nulls > 0 && (head.ends_with('已') || head.ends_with("已经"))
}

/// `no deposit`, `没有评分`: an empty cell, where there are such.
pub fn no_value(view: &View<'_>, i: usize, c: ColRef) -> bool {
    view.scope.column(c).nulls > 0 && view.negated(i)
}

fn flag(view: &View<'_>, i: usize, c: ColRef) -> Vec<(Part, f32)> {
    let none = view.before(i).is_some_and(|k| {
        matches!(view.items[k].text.as_str(), "had no" | "has no" | "have no" | "without any" | "no")
    });
    // `短信没发的`, of a column 短信已发
    let undone = view.items.get(i + 1).is_some_and(|n| {
        n.word() == Some(Word::Exclude)
            && n.start == view.items[i].end
            && view.tail(i + 1, 1).chars().all(|v| view.scope.column(c).name.contains(v))
    });
    // `In Network = No`
    let told_no = view.after(i).filter(|k| view.word(*k) == Some(Word::Equal)).is_some_and(|k| {
        let said = view.tail(k, 6).trim_start().to_lowercase();
        ["no", "n)", "false", "否", "not "].iter().any(|w| said.starts_with(w))
    });
    let yes = !view.negated(i) && !none && !undone && !told_no;
    let again = view.items.iter().enumerate().any(|(k, m)| k != i && m.columns().any(|d| d == c));
    let denied = yes
        && view
            .items
            .iter()
            .enumerate()
            .any(|(k, m)| k != i && m.columns().any(|d| d == c) && view.negated(k));
    let sided = view.says_any(&[Word::Compare, Word::And, Word::By]);
    let part = first_word(view, i, c);
    let nothing = if denied && !sided {
        0.1
    } else if again || part > 0.0 {
        0.7
    } else {
        1.8
    };
    let mut out = vec![(Part::Yes(c, yes), part), (Part::Nothing, nothing)];
    let by = view.marked(i)
        && view.lead(i).is_some_and(|k| matches!(view.word(k), Some(Word::By | Word::Which | Word::And)));
    out.push((Part::Group(c), if by { 0.0 } else { 2.5 }));
    if by {
        out[0].1 = 0.8;
    }
    out
}

/// `deliver` alone does not say `delivered late`.
fn first_word(view: &View<'_>, i: usize, c: ColRef) -> f32 {
    let name = &view.scope.column(c).full;
    let text = view.items[i].text.as_str();
    let Some((first, rest)) = name.split_once(' ') else { return 0.0 };
    // `held at customs` says `customs hold`.
    if rest.split(' ').all(|word| view.says_form_of(word)) {
        return 0.0;
    }
    let same = crate::names::stem(first) == crate::names::stem(text);
    if same && !matches!(first, "is" | "has" | "was") && !text.contains(' ') { 1.2 } else { 0.0 }
}

fn time(view: &View<'_>, i: usize, c: ColRef) -> Vec<(Part, f32)> {
    if view.near_missing(i) || no_value(view, i, c) {
        return vec![(Part::Empty(c), 0.0), (Part::Date(c), 1.5)];
    }
    vec![(Part::Date(c), 0.1), (Part::Nothing, 0.6)]
}

pub fn value(view: &View<'_>, i: usize, c: ColRef, values: &[String]) -> Vec<(Part, f32)> {
    // `除了团队票，其他票种`: all that is left.
    let rest = matches!(view.items[i].text.as_str(), "其他" | "其它" | "其余" | "other" | "others");
    if rest && view.says(Word::Exclude) {
        return vec![(Part::Nothing, 0.0)];
    }
    // `cancelled ones included`
    let tail = view.tail(i, 16);
    if tail.contains("included") || tail.starts_with("也算") {
        return vec![(Part::Nothing, 0.1)];
    }
    // `Box office` as a figure is meant by its whole name.
    let named = view.items[i]
        .senses
        .iter()
        .any(|(s, far)| *far < 0.01 && matches!(s, Sense::Column(d) if view.role(*d) == Role::Measure));
    // What the question before was limited by is meant again.
    let kept = view.kept.contains(&c);
    let cost = if named {
        0.6
    } else if kept {
        -0.2
    } else {
        0.0
    };
    let negated = view.negated(i);
    let lost = if negated { 6.0 } else { 2.5 };
    vec![(Part::Is(c, values.to_vec(), negated), cost), (Part::Nothing, lost)]
}

pub fn thing(view: &View<'_>, i: usize, c: ColRef) -> Vec<(Part, f32)> {
    if view.bounds.iter().any(|b| b.column == Some(c)) {
        return vec![(Part::Nothing, 0.0)];
    }
    if view.near_missing(i) || view.negated(i) {
        let none = if view.scope.column(c).nulls > 0 { Part::Empty(c) } else { Part::Zero(c) };
        return vec![(none, 0.2), (Part::Nothing, 1.5)];
    }
    if already(view, i, c) {
        return vec![(Part::Filled(c), 0.1), (Part::Nothing, 1.5)];
    }
    // `standard deviation of minutes` of `minutes in museum`
    let measured = !view.aggs().is_empty() && view.unit(i).is_some();
    let mut out = vec![(Part::Nothing, 0.4), (Part::Figure(c), if measured { 0.1 } else { 0.9 })];
    // `the most rewashes` of `Rewash Pcs`
    let rest = view.scope.column(c).full.split_once(' ').map_or("", |(_, rest)| rest);
    if view.counted(i) && ["pcs", "pieces", "quantity", "count", "number", "units", "times"].contains(&rest) {
        return vec![(Part::Figure(c), 0.2), (Part::Nothing, 1.5)];
    }
    if view.counted(i) {
        out.push((Part::Rows, 1.2));
    }
    out
}
