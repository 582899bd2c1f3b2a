//! A question that only makes sense after another one: what it says replaces what the earlier question said.

use crate::lex::ColRef;
use crate::question::{Agg, Filter, Group, Intent, Measure, Note, Order, Question};
use crate::scope;
use crate::timex::{Days, Piece, Unit, When, YearRef, months_between};
use crate::weigh::complete::{self, Built};
use crate::weigh::figures::Figures;
use crate::weigh::growth;
use crate::weigh::misfit;
use crate::weigh::options::Part;
use crate::weigh::times;
use crate::weigh::timing::{Timing, resolve_times};
use crate::weigh::view::View;
use crate::word::Word;

/// The earlier question as the new words change it, and what it costs to read them so.
pub fn follow(view: &View<'_>, parts: &[(usize, Part)], previous: &Question) -> Option<(Question, f32)> {
    let mut cost = leap(view, parts)?;
    let mut question = previous.clone();
    question.notes = vec![Note::FollowUp];
    let mut built = Built::new(view);
    built.add_filters(parts);
    let changed = measures(view, parts, &mut question, &mut cost)
        | filters(&mut question, &built.placed)
        | set_times(view, parts, &mut question)?
        | groups(view, parts, &mut question)
        | order(view, &mut question);
    if let Some(chart) = complete::chart(view) {
        question.chart = Some(chart);
    } else if !changed {
        return None;
    }
    narrow(&mut question);
    cost += built.cost + misfit::misfit(view, &question);
    Built { question, cost, ..built }.finish().ok()
}

/// `换成…`, `那…呢`, `what about …`, `… instead`.
pub fn goes_on(view: &View<'_>) -> bool {
    let text = view.whole.trim();
    ["and ", "what about", "how about", "换成", "改成", "same ", "那"].iter().any(|w| text.starts_with(w))
        || text.trim_end_matches(['?', '？', '.', '。']).ends_with('呢')
        || text.contains("instead")
}

/// How far-fetched it is that a text goes on from the question before.
fn leap(view: &View<'_>, parts: &[(usize, Part)]) -> Option<f32> {
    let text = view.whole.trim();
    let opens = [
        "and ",
        "what about",
        "how about",
        "same ",
        "now ",
        "那",
        "再",
        "换成",
        "改",
        "or ",
        "but ",
        "only ",
        "just ",
        "其中",
        "how many of them",
        "how many of those",
        "这些",
    ]
    .iter()
    .any(|w| text.starts_with(w));
    let closes = text.trim_end_matches(['?', '？', '.', '。']).ends_with('呢')
        || text.contains("instead")
        || text.contains("换成")
        || text.contains("改成");
    let length = text.chars().count();
    let words = if view.english { text.split(' ').count() } else { length / 2 };
    let figure = parts
        .iter()
        .any(|(_, p)| matches!(p, Part::Figure(_) | Part::Rows | Part::Kinds(_) | Part::Ratio(_)));
    match (opens || closes, figure, words) {
        (true, false, ..=14) => Some(0.1),
        (true, true, ..=12) => Some(0.6),
        (false, false, ..=4) => Some(0.4),
        (false, false, ..=8) => Some(1.2),
        (_, true, ..=4) => Some(1.5),
        _ => None,
    }
}

fn measures(view: &View<'_>, parts: &[(usize, Part)], question: &mut Question, cost: &mut f32) -> bool {
    let figures = Figures::new(view, parts, cost);
    let aggs = view.aggs();
    if figures.measures.is_empty() {
        let Some((_, agg)) = aggs.first() else { return false };
        for measure in &mut question.measures {
            if let Measure::Of(old, _) = measure
                && *old != Agg::Distinct
            {
                *old = *agg;
            }
        }
        return true;
    }
    // `and guests from the UK?`: people are named to say whose rows.
    let people = parts.iter().any(|(i, p)| {
        matches!(p, Part::Figure(_) | Part::Rows | Part::Kinds(_))
            && crate::weigh::people::is_people(&view.items[*i].text)
    });
    let narrows = parts.iter().any(|(_, p)| matches!(p, Part::Is(..) | Part::Yes(..)));
    if people && narrows && !view.says_any(&[Word::HowMany, Word::HowMuch, Word::Count, Word::Sum]) {
        return false;
    }
    // `and with the discount?`: the other one of the two.
    if question.intent == Intent::Correlation
        && let [other] = &figures.measures[..]
    {
        question.measures.truncate(1);
        question.measures.push(other.clone());
        return true;
    }
    // `and median price?` asks for another figure; `多少单` after a sum for the count.
    question.measures = figures.measures;
    true
}

fn filters(question: &mut Question, placed: &[(usize, Filter)]) -> bool {
    for (_, filter) in placed {
        let columns = scope::columns(filter);
        let same = |f: &Filter| scope::columns(f) == columns && !matches!(f, Filter::Days { .. });
        if let Intent::ShareOf { parts } = &mut question.intent
            && let Some(part) = parts.iter_mut().find(|f| same(f))
        {
            *part = filter.clone();
            continue;
        }
        // `不含南山` narrows; another value replaces.
        question.filters.retain(|f| !same(f));
        question.filters.push(filter.clone());
        if let Some(Measure::RateYes(c)) = question.measures.first()
            && columns.contains(c)
        {
            question.filters.pop();
        }
    }
    !placed.is_empty()
}

fn set_times(view: &View<'_>, parts: &[(usize, Part)], question: &mut Question) -> Option<bool> {
    let mut said = times::times(view, parts);
    if said.is_empty() {
        return Some(false);
    }
    let date = question.date?;
    let span = view.scope.column(date).date_span();
    let year = question.filters.iter().find_map(|f| match f {
        Filter::Days { days, .. } => days.from.map(|d| d.year()),
        _ => None,
    });
    let year = match &question.intent {
        Intent::Change { after, .. } => after.from.map(|d| d.year()),
        _ => year,
    };
    for when in &mut said {
        if let (Some(year), true) = (year, when.lacks_year()) {
            *when = when.in_year(YearRef::Number(year));
        }
    }
    if let Some(days) = before_that(view, &said, question) {
        question.filters.retain(|f| !matches!(f, Filter::Days { .. }));
        question.filters.push(Filter::Days { column: date, days });
        return Some(true);
    }
    let timing = Timing::of(view, said);
    let days = resolve_times(&timing, span, &mut question.notes).ok()?;
    let grows = view.says_any(&[Word::Growth, Word::Mom, Word::Yoy]);
    let days = if grows { times::base(view, days, span) } else { days };
    if let Some(intent) = growth::growth(&timing, &days, Some(date), span).filter(|_| grows) {
        question.filters.retain(|f| !matches!(f, Filter::Days { .. }));
        question.intent = intent;
        return Some(true);
    }
    match (&mut question.intent, &days[..]) {
        (Intent::Change { before, after, .. }, [day]) => {
            let gap = months_between(before.from?, after.from?);
            *before = growth::shifted(day, gap)?;
            *after = day.clone();
        }
        (Intent::Change { .. }, _) => return None,
        (_, [day]) => {
            question.filters.retain(|f| !matches!(f, Filter::Days { .. }));
            question.filters.push(Filter::Days { column: date, days: day.clone() });
        }
        _ => return None,
    }
    Some(true)
}

/// `and the month before that?`: before the one the earlier question was about.
fn before_that(view: &View<'_>, said: &[When], question: &Question) -> Option<Days> {
    const THAT: [&str; 8] =
        ["before that", "before it", "the one before", "再上", "再往前", "再前", "上上", "那之前"];
    let [When::In(Piece::Relative(unit, 1 | 2))] = said else { return None };
    let months = match unit {
        Unit::Month => 1,
        Unit::Quarter => 3,
        Unit::Year => 12,
        _ => return None,
    };
    let asked = question.filters.iter().find_map(|f| match f {
        Filter::Days { days, .. } => Some(days),
        _ => None,
    })?;
    THAT.iter().any(|w| view.whole.contains(w)).then(|| growth::shifted(asked, months)).flatten()
}

fn groups(view: &View<'_>, parts: &[(usize, Part)], question: &mut Question) -> bool {
    let dims: Vec<ColRef> =
        parts.iter().filter_map(|(_, p)| if let Part::Group(c) = p { Some(*c) } else { None }).collect();
    let grain = parts.iter().find_map(|(_, p)| if let Part::Grain(g) = p { Some(*g) } else { None });
    if dims.is_empty() && grain.is_none() {
        return false;
    }
    question.groups = dims.iter().take(2).map(|c| Group::By(*c)).collect();
    if let (Some(grain), Some(date)) = (grain, question.date) {
        question.groups.truncate(1);
        question.groups.insert(0, Group::Time(date, grain));
    }
    question.limit =
        view.limit.or(question.limit.filter(|_| view.superlative().is_none() && grain.is_none()));
    let ranked = view.superlative().is_some();
    question.intent = match &question.intent {
        Intent::Share | Intent::ShareOf { .. } if grain.is_none() => Intent::Share,
        Intent::Change { .. } => question.intent.clone(),
        Intent::Rank if grain.is_none() => Intent::Rank,
        _ if ranked => Intent::Rank,
        _ if grain.is_some() => Intent::Trend,
        _ => Intent::Breakdown,
    };
    true
}

/// `and the least?`, `前5个呢`.
fn order(view: &View<'_>, question: &mut Question) -> bool {
    let mut changed = false;
    if let Some(order) = view.superlative() {
        let lowest = order == Order::Ascending;
        changed = question.order != order || !lowest;
        question.order = order;
        if matches!(question.intent, Intent::Breakdown | Intent::Trend) {
            question.intent = Intent::Rank;
        }
    }
    if view.limit.is_some() {
        question.limit = view.limit;
        changed = true;
    }
    changed
}

/// A group narrowed to one value is no group any more.
fn narrow(question: &mut Question) {
    let fixed: Vec<ColRef> = question
        .filters
        .iter()
        .filter_map(|f| match f {
            Filter::In { column, values, negated: false } if values.len() == 1 => Some(*column),
            Filter::Yes { column, .. } => Some(*column),
            _ => None,
        })
        .collect();
    question.groups.retain(|g| !matches!(g, Group::By(c) if fixed.contains(c)));
    if question.groups.is_empty()
        && matches!(question.intent, Intent::Breakdown | Intent::Rank | Intent::Trend)
    {
        question.intent = Intent::Value;
    }
}
