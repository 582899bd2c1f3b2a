//! Shares and rates: which filter is the part, which one limits the whole.

use crate::question::{Agg, Filter, Group, Intent, Measure};
use crate::table::Role;
use crate::timex::Days;
use crate::weigh::complete::Built;
use crate::weigh::items::Sense;
use crate::weigh::view::View;
use crate::word::Word;

/// Whether the question is one of a share, and now says so.
pub fn settle(built: &mut Built<'_>, days: &[Days]) -> bool {
    let view = built.view;
    let Some(at) = (0..view.items.len()).find(|i| matches!(view.word(*i), Some(Word::Share | Word::Rate)))
    else {
        return false;
    };
    let named = built.question.measures.iter().any(|m| match m {
        Measure::Of(_, c) => view.is_rate(*c),
        Measure::Ratio { .. } => true,
        _ => false,
    });
    if named {
        return false;
    }
    if built.two_sides(at) && built.ratio_of_two(at) {
        return false;
    }
    if counts_rows(built, at) {
        built.question.measures = vec![Measure::Rows];
    }
    let grouped = built.question.groups.iter().any(|g| matches!(g, Group::By(_)));
    let part = part(built, at);
    let amount = built
        .question
        .measures
        .iter()
        .any(|m| matches!(m, Measure::Of(Agg::Sum | Agg::Mean, c) if view.role(*c) == Role::Measure));
    match part {
        None if built.ratio_of_two(at) => false,
        None if grouped && view.says(Word::Share) => {
            add_up(built);
            built.question.intent = Intent::Share;
            true
        }
        None => {
            let time = built.question.date.zip(part_of_time(days)).filter(|_| !grouped && !view.grained());
            let Some((column, days)) = time else {
                built.cost += 4.0;
                return false;
            };
            add_up(built);
            built.question.intent = Intent::ShareOf { parts: vec![Filter::Days { column, days }] };
            true
        }
        // `高级、中级、初级各占多少`: each of them, of all.
        Some(Filter::In { column, values, negated: false }) if values.len() > 1 && each(view) => {
            add_up(built);
            built.question.filters.retain(|f| !matches!(f, Filter::In { column: c, .. } if *c == column));
            built.question.groups = vec![Group::By(column)];
            built.question.intent = Intent::Share;
            true
        }
        // `of the cancelled ones, which plan accounts for the most`: the filter limits the whole.
        Some(_) if grouped && view.text.starts_with(&['o', 'f', ' ']) => {
            add_up(built);
            built.question.intent = Intent::Share;
            true
        }
        Some(part) if (grouped || view.grained()) && !amount => {
            let measure = match &part {
                Filter::Yes { column, yes: true } => Measure::RateYes(*column),
                Filter::In { column, values, negated: false } if values.len() == 1 => {
                    Measure::RateIs { column: *column, value: values[0].clone() }
                }
                _ => {
                    built.cost += 4.0;
                    return false;
                }
            };
            built.question.filters.retain(|f| *f != part);
            built.question.measures = vec![measure];
            false
        }
        Some(part) => {
            if grouped {
                built.cost += 2.0;
            }
            add_up(built);
            built.question.filters.retain(|f| *f != part);
            built.question.measures.retain(|m| !matches!(m, Measure::Of(Agg::Distinct, _)));
            built.question.groups.clear();
            built.question.intent = Intent::ShareOf { parts: vec![part] };
            true
        }
    }
}

/// `what share of 2024's sales came in Q4`: the shorter time is the part, the longer one the whole; a time alone is the part of
/// all there is.
fn part_of_time(days: &[Days]) -> Option<Days> {
    let inside = |a: &Days, b: &Days| a.from >= b.from && a.to.is_some() && a.to <= b.to && a != b;
    match days {
        [one] => Some(one.clone()),
        [a, b] if inside(a, b) => Some(a.clone()),
        [a, b] if inside(b, a) => Some(b.clone()),
        _ => None,
    }
}

/// `退款的订单占全部订单`: of their number, unless what follows is an amount.
fn counts_rows(built: &Built<'_>, at: usize) -> bool {
    let view = built.view;
    let Some(before) = at.checked_sub(1).map(|k| &view.items[k]) else { return false };
    let named = |(s, far): &(Sense, f32)| {
        matches!(s, Sense::Column(c) if view.role(*c) == Role::Measure) && *far < 0.2
    };
    let later = built
        .question
        .measures
        .iter()
        .any(|m| matches!(m, Measure::Of(_, c) if view.place(*c).is_some_and(|k| k > at)));
    !view.english
        && before.names_row()
        && before.end == view.items[at].start
        && !before.senses.iter().any(named)
        && !later
}

fn each(view: &View<'_>) -> bool {
    view.says(Word::By) || ["各占", "各自", "分别"].iter().any(|w| view.whole.contains(w))
}

/// Parts of a whole are added up.
fn add_up(built: &mut Built<'_>) {
    for measure in &mut built.question.measures {
        if let Measure::Of(agg @ Agg::Mean, _) = measure {
            *agg = Agg::Sum;
        }
    }
}

/// The filter that makes the part: the last one said before a Chinese word for share, the last of all in English.
fn part(built: &Built<'_>, at: usize) -> Option<Filter> {
    let placed = &built.placed;
    // `on-time rate for air`: what stands right before the rate.
    let rate = built.view.word(at) == Some(Word::Rate);
    if let Some((_, filter)) = placed.iter().find(|(i, _)| rate && Some(*i) == built.view.before(at)) {
        return Some(filter.clone());
    }
    if built.view.english {
        let bound = placed.iter().find(|(i, _)| *i == usize::MAX);
        let last = placed.iter().filter(|(i, _)| *i != usize::MAX).max_by_key(|(i, _)| *i);
        // `family tickets as a share of admissions`
        let leads = built.view.items[at].text.starts_with("as a");
        let first = placed.iter().filter(|(i, _)| *i < at).max_by_key(|(i, _)| *i).filter(|_| leads);
        if let Some((_, filter)) = first {
            return Some(filter.clone());
        }
        let after = placed.iter().filter(|(i, _)| *i > at && *i != usize::MAX).max_by_key(|(i, _)| *i);
        return after.or(bound).or(last).map(|(_, f)| f.clone());
    }
    let bound = placed.iter().find(|(i, _)| *i == usize::MAX);
    let before = placed.iter().filter(|(i, _)| *i < at).max_by_key(|(i, _)| *i);
    let after = placed.iter().filter(|(i, _)| *i > at && *i != usize::MAX).max_by_key(|(i, _)| *i);
    bound.or(before).or(after).map(|(_, f)| f.clone())
}

impl Built<'_> {
    /// `损耗量占进货量`: a figure on either side.
    fn two_sides(&self, at: usize) -> bool {
        let [Measure::Of(_, first), Measure::Of(_, second)] = self.question.measures[..] else {
            return false;
        };
        matches!((self.view.place(first), self.view.place(second)), (Some(a), Some(b)) if a < at && at < b)
    }

    /// `clothing as a percentage of takings`, `药费占费用合计`: one figure as a part of another.
    fn ratio_of_two(&mut self, at: usize) -> bool {
        let [Measure::Of(_, first), Measure::Of(_, second)] = self.question.measures[..] else {
            return false;
        };
        // `what percent of the weight was culls`: the whole is said first.
        let leads = self.view.place(first).is_some_and(|i| at < i) && self.view.english;
        let (part, whole) = if leads { (second, first) } else { (first, second) };
        let sum = |c| Box::new(Measure::Of(Agg::Sum, c));
        self.question.measures = vec![Measure::Ratio {
            concept: crate::question::PART,
            numerator: sum(part),
            denominator: sum(whole),
        }];
        true
    }
}
