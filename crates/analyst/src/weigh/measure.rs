//! The parts the name of a figure may play: the figure, a condition on it, what it is divided by, or a description.

use crate::lex::ColRef;
use crate::table::Role;
use crate::units;
use crate::weigh::columns::{already, no_value};
use crate::weigh::dimension::kinds_of;
use crate::weigh::items::{Item, Sense};
use crate::weigh::options::{Part, column_plural, headed};
use crate::weigh::view::View;
use crate::word::Word;

pub fn measure(view: &View<'_>, i: usize, c: ColRef) -> Vec<(Part, f32)> {
    if let Some(parts) = condition(view, i, c).or_else(|| described(view, i, c)) {
        return parts;
    }
    let column = view.scope.column(c);
    // `electricity` of a consumption by kind: the kind first; `handled` is a verb.
    let exact = view.items[i].senses.iter().any(|(s, far)| *s == Sense::Column(c) && *far < 0.01);
    let value =
        !exact && view.items[i].senses.iter().any(|(s, far)| matches!(s, Sense::Value(..)) && *far < 0.15);
    let verb = view.items[i].text.is_ascii()
        && view.items[i].text.ends_with("ed")
        && !headed(view, c, &view.items[i].text);
    // `late deliveries`, `share of late ones`: an adjective, where a flag says so.
    let flagged = view.items[i].columns().any(|d| view.role(d) == Role::Flag);
    let before_row = view.items.get(i + 1).is_some_and(Item::names_row);
    let adjective = flagged && (before_row || view.says_any(&[Word::Share, Word::Rate]));
    // `which of our volunteers` asks for people, not for a number of them.
    let which_of = view.whole.contains("which of") && view.says_any(&[Word::Highest, Word::Lowest]);
    // `overdue loans`, where it is told by how many days.
    if before_row
        && column.counts_from_zero()
        && view.items[i].text.is_ascii()
        && !view.says_any(&[Word::Highest, Word::Lowest])
    {
        return vec![(Part::Some(c), 0.2), (Part::Figure(c), 0.5)];
    }
    let who = which_of && view.role(c) == Role::Measure && !column.full.contains(' ')
        || view.marked(i)
            && crate::weigh::people::is_people(&view.items[i].text)
            && view.lead(i).is_some_and(|k| view.word(k) == Some(Word::Which));
    // `前三个买家`: whoever they are, not what they paid.
    let listed = view.limit.is_some_and(|n| n > 1)
        && view.marked(i)
        && !exact
        && view.items[i].columns().any(|d| matches!(view.role(d), Role::Dimension | Role::Id));
    let apart: f32 = if who || listed {
        1.5
    } else if value || verb || adjective {
        0.5
    } else {
        0.0
    };
    // `charge per km`: divided by it.
    if view.per_before(i) {
        return vec![(Part::Per(c), 0.1), (Part::Figure(c), 1.5)];
    }
    let by = view.lead(i).is_some_and(|k| view.word(k) == Some(Word::By));
    let few = view.scope.column(c).distinct <= 30;
    // `what percentage of the fines are outstanding`: of their number.
    let are = [" are", " were", " got", " have", " had", " that", " is still"]
        .iter()
        .any(|w| view.tail(i, 10).starts_with(w));
    if are
        && view.english
        && view.says(Word::Share)
        && view.items[i].names_row()
        && column_plural(&view.items[i].text)
    {
        return vec![(Part::Nothing, 0.1), (Part::Figure(c), 1.0)];
    }
    // `lost bags`: what a value tells of.
    let told = i > 0
        && view.items[i - 1].end + 1 == view.items[i].start
        && view.items[i - 1].value_columns().next().is_some()
        && view.items[i - 1].columns().next().is_none();
    // `returned items`: what they are, not how much of it.
    let describes = verb
        && view.items.get(i + 1).is_some_and(|n| {
            !n.breaks
                && matches!(n.text.as_str(), "items" | "goods" | "ones" | "units" | "orders" | "products")
        });
    let apart = if describes { apart.max(0.8) } else { apart };
    let nothing = if describes {
        0.2
    } else if verb {
        0.8
    } else if told {
        1.0
    } else {
        2.2
    };
    let mut out = vec![(Part::Figure(c), apart), (Part::Nothing, nothing)];
    if by && few && view.superlative().is_none() {
        out.push((Part::Group(c), 0.3));
        out[0].1 = 0.6;
    }
    out
}

/// Rows that have none of it, or some: `no claims`, `were renewed`, `已成交的`.
fn condition(view: &View<'_>, i: usize, c: ColRef) -> Option<Vec<(Part, f32)>> {
    let none = view.near_missing(i) || view.negated(i);
    if none && view.scope.column(c).nulls == 0 && view.scope.column(c).counts_from_zero() {
        return Some(vec![(Part::Zero(c), 0.1), (Part::Figure(c), 1.5)]);
    }
    if view.near_missing(i) || no_value(view, i, c) {
        return Some(vec![(Part::Empty(c), 0.0), (Part::Figure(c), 2.0)]);
    }
    let column = view.scope.column(c);
    if already(view, i, c) {
        return Some(vec![(Part::Filled(c), 0.1), (Part::Figure(c), 1.0)]);
    }
    let tail = view.tail(i, 1);
    let head = view.head(i);
    if column.nulls > 0 && tail == "的" && head.ends_with('有') && !head.ends_with("没有") {
        return Some(vec![(Part::Filled(c), 0.1), (Part::Figure(c), 1.0)]);
    }
    // `how many hires`, of `days on hire`: not how many days.
    let text = view.items[i].text.as_str();
    let timed = units::of(column).is_some_and(units::is_time) && units::ending(text).is_none();
    let in_time = column.full.split(' ').any(|w| w == text.strip_suffix('s').unwrap_or(text));
    if view.english && timed && in_time && column_plural(text) && view.counted(i) {
        return Some(vec![(Part::Rows, 0.4), (Part::Figure(c), 1.2)]);
    }
    // `loans that were renewed`, where it is told how often.
    let being = ["were", "was", "been", "got"].iter().any(|w| head.ends_with(w));
    let count_asked = view.says_any(&[Word::HowMany, Word::Count, Word::Share]);
    // `how many kg were donated`: how much, not how often.
    let in_its_unit =
        (0..view.items.len()).any(|k| view.unit(k).is_some_and(|u| units::of(column) == Some(u)));
    let done = being && view.items[i].text.ends_with("ed");
    if column.counts_from_zero() && done && count_asked && !in_its_unit {
        return Some(vec![(Part::Some(c), 0.2), (Part::Figure(c), 1.0)]);
    }
    // `were delivered late`, where it is told by how many days.
    let late = matches!(view.items[i].text.as_str(), "late" | "early" | "overdue");
    if column.counts_from_zero() && (had(view, i) || late && count_asked) {
        return Some(vec![(Part::Some(c), 0.2), (Part::Figure(c), 0.9)]);
    }
    None
}

/// A figure that only says what another word is about: `没结清学费`, `spend on energy`.
fn described(view: &View<'_>, i: usize, c: ColRef) -> Option<Vec<(Part, f32)>> {
    let column = view.scope.column(c);
    if view.bounds.iter().any(|b| b.column == Some(c)) {
        return Some(vec![(Part::Nothing, 0.0), (Part::Figure(c), 0.7)]);
    }
    // `哪一类费用`: the kinds of it.
    if let Some(mut kinds) = view.marked(i).then(|| kinds_of(view, i, c)).flatten() {
        // `哪一类成交额最高`: the figure; the kinds are grouped by all the same.
        if view.before_superlative(i) {
            kinds.push((Part::Figure(c), 0.0));
        }
        return Some(kinds);
    }
    // `没结清学费`: what a flag is about.
    let about_flag = view.before(i).is_some_and(|k| {
        view.items[k].end == view.items[i].start
            && view.items[k].columns().any(|d| view.role(d) == Role::Flag)
    });
    if about_flag {
        return Some(vec![(Part::Nothing, 0.2), (Part::Figure(c), 0.5)]);
    }
    // `spend on energy` is money.
    let other_money = view.says(Word::Spend) && !units::is_money(column) && view.main_money().is_some();
    if other_money {
        return Some(vec![(Part::Nothing, 0.4), (Part::Figure(c), 0.9)]);
    }
    // `订单数量`: how many orders.
    let after_row = i > 0 && view.items[i - 1].end == view.items[i].start && view.items[i - 1].names_row();
    if after_row && matches!(view.items[i].text.as_str(), "数量" | "总数" | "数" | "量") {
        return Some(vec![(Part::Nothing, 0.0), (Part::Figure(c), 0.6)]);
    }
    None
}

/// `sessions that had a waitlist`, `有欠费的`: some of it.
fn had(view: &View<'_>, i: usize) -> bool {
    let head = view.head(i);
    let asked = view.says_any(&[Word::HowMany, Word::Count, Word::Share]);
    asked
        && [
            "had a",
            "had an",
            "had any",
            "with a",
            "with an",
            "with any",
            "have a",
            "have any",
            "had some",
            "with some",
            "有",
        ]
        .iter()
        .any(|h| head.ends_with(h) && !head.ends_with("没有"))
}
