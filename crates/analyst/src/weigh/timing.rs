//! What a reading says about time: which column dates its rows, which days are meant, and what several times make together.
//! Never drops one of them.

use jiff::civil::Date;

use crate::lex::ColRef;
use crate::question::{Grain, Measure, Note, Order, Question, Refusal};
use crate::scope::Scope;
use crate::table::{Column, Role};
use crate::timex::{Days, When, months_between};
use crate::weigh::growth::label;
use crate::weigh::view::View;
use crate::word::Word;

pub struct Timing<'a> {
    pub view: &'a View<'a>,
    pub dims: Vec<ColRef>,
    pub grain: Option<Grain>,
    pub times: Vec<When>,
    /// Columns of dates that were named.
    pub dates: Vec<ColRef>,
    /// The values rows are limited to.
    pub values: Vec<(ColRef, String)>,
}

impl<'a> Timing<'a> {
    pub fn of(view: &'a View<'a>, times: Vec<When>) -> Self {
        Self { view, dims: Vec::new(), grain: None, times, dates: Vec::new(), values: Vec::new() }
    }

    pub fn says(&self, word: Word) -> bool {
        self.view.says(word)
    }

    pub fn says_any(&self, words: &[Word]) -> bool {
        self.view.says_any(words)
    }
}

/// `cancelled in 2024`, where there is a `cancel_date`: when that came about, not when the row began.
fn date_of_value(scope: &Scope<'_>, values: &[(ColRef, String)], main: usize) -> Option<ColRef> {
    let values: Vec<&str> = values.iter().filter(|(c, _)| c.table == main).map(|(_, v)| v.as_str()).collect();
    let told = |c: &Column| {
        let event =
            [" date", " time", " at", " on", "日期", "时间"].iter().find_map(|e| c.full.strip_suffix(e));
        let same = |e: &str, value: &str| {
            let value = crate::norm::normal(value);
            if e.is_ascii() {
                crate::names::same_word(e, &value) || crate::names::related(e, &value)
            } else {
                e.chars().count() >= 2 && value.trim_start_matches(['已', '被']).trim_end_matches('了') == e
            }
        };
        c.role == Role::Time && event.is_some_and(|e| values.iter().any(|v| same(e, v)))
    };
    let column = scope.tables[main].columns.iter().position(told)?;
    Some(ColRef { table: main, column })
}

pub fn pick_date(timing: &Timing<'_>, notes: &mut Vec<Note>) -> Option<ColRef> {
    let scope = timing.view.scope;
    let main = scope.in_scope[0];
    if let Some(named) = timing.dates.first() {
        return Some(*named);
    }
    if let Some(told) = date_of_value(scope, &timing.values, main) {
        return Some(told);
    }
    let dated = scope
        .in_scope
        .iter()
        .find_map(|t| scope.tables[*t].main_date().map(|column| ColRef { table: *t, column }))?;
    let uses_time = timing.grain.is_some()
        || !timing.times.is_empty()
        || timing.says_any(&[Word::Trend, Word::Yoy, Word::Mom, Word::Growth, Word::Forecast, Word::Linear]);
    let others = scope.tables[main].indices(|c| c.role == Role::Time);
    if let Some(other) =
        others.iter().find(|c| **c != dated.column).filter(|_| uses_time && dated.table == main)
    {
        notes.push(Note::DateColumn { taken: dated, other: ColRef { table: main, column: *other } });
    }
    Some(dated)
}

pub fn resolve_times(
    timing: &Timing<'_>,
    span: Option<(Date, Date)>,
    notes: &mut Vec<Note>,
) -> Result<Vec<Days>, Refusal> {
    let Some((first, last)) = span else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    for when in &timing.times {
        let Some(days) = when.resolve(last) else { continue };
        let misses = days.from.is_some_and(|f| f > last) || days.to.is_some_and(|t| t <= first);
        if misses && !timing.says_any(&[Word::Forecast, Word::Linear, Word::Next]) {
            return Err(Refusal::OutsideDates {
                asked: days.label,
                first: first.to_string(),
                last: last.to_string(),
            });
        }
        if days.relative {
            notes.push(Note::Relative { last: last.to_string(), label: days.label.clone() });
        } else if days.assumed_year && first.year() != last.year() {
            notes.push(Note::AssumedYear { label: days.label.clone() });
        }
        out.push(days);
    }
    Ok(out)
}

/// The slowest takes longest, and the worst delay is the longest.
pub fn set_order(view: &View<'_>, question: &mut Question) {
    const BAD: [&str; 10] = [
        "duration",
        "delay",
        "wait",
        "transit",
        "resolution_time",
        "response",
        "downtime",
        "defects",
        "absences",
        "cost",
    ];
    let Some(Measure::Of(_, column)) = question.measures.first() else { return };
    let found = view.scope.column(*column);
    let named = ["周期", "时长", "天数", "时间"].iter().any(|e| found.words.ends_with(e));
    let timed = crate::units::of(found).is_some_and(crate::units::is_time);
    if !named && !timed && !BAD.iter().any(|id| found.has_concept(id)) {
        return;
    }
    let text = |t: &[&str]| view.items.iter().any(|i| t.contains(&i.bare()));
    let best = text(&["best", "最好"]);
    let slow = view.says(Word::Slowest) || !best && text(&["worst", "最差"]);
    let fast = view.says(Word::Fastest) || best;
    if slow {
        question.order = Order::Descending;
    } else if fast {
        question.order = Order::Ascending;
    }
}

/// The times of a question as stretches that can be used: one, or two to be compared.
pub fn settle(timing: &mut Timing<'_>, mut times: Vec<Days>) -> Vec<Days> {
    times.dedup();
    if times.len() < 2 {
        return times;
    }
    let compared = timing.says_any(&[
        Word::Compare,
        Word::Growth,
        Word::Mom,
        Word::Highest,
        Word::Lowest,
        Word::Fastest,
        Word::Slowest,
    ]);
    let joined = union(&times);
    let one_year =
        joined.from.zip(joined.to).is_some_and(|(a, b)| a.year() == b.yesterday().unwrap_or(b).year());
    let together = timing.says(Word::Yoy) && !timing.says(Word::Compare) && one_year
        || timing.says(Word::Sum) && !compared && one_year && !timing.says(Word::By);
    if together {
        return vec![joined];
    }
    let two = times.len() == 2 && (compared || timing.says_any(&[Word::And, Word::Yoy]));
    if two || timing.says(Word::Share) && times.len() == 2 {
        return times;
    }
    // `January, March and May`: each of them.
    if timing.grain.is_none() && timing.dims.len() < 2 {
        timing.grain = grain(&times);
    }
    vec![joined]
}

/// The unit all of them are long.
fn grain(times: &[Days]) -> Option<Grain> {
    let months = |d: &Days| {
        let (a, b) = d.from.zip(d.to)?;
        (a.day() == 1 && b.day() == 1).then(|| months_between(a, b))
    };
    let first = months(times.first()?)?;
    let same = times.iter().all(|d| months(d) == Some(first));
    match first {
        1 if same => Some(Grain::Month),
        3 if same => Some(Grain::Quarter),
        12 if same => Some(Grain::Year),
        _ => None,
    }
}

/// All of them: one stretch where they touch, else each by itself.
fn union(times: &[Days]) -> Days {
    let mut sorted: Vec<&Days> = times.iter().collect();
    sorted.sort_by_key(|d| d.from);
    let touching = sorted.windows(2).all(|w| w[0].to.is_some() && w[0].to == w[1].from);
    let (first, last) = (sorted[0], sorted[sorted.len() - 1]);
    let assumed_year = times.iter().any(|d| d.assumed_year);
    let relative = times.iter().any(|d| d.relative);
    if let (true, Some(from), Some(to)) = (touching, first.from, last.to) {
        let label = label(from, to);
        return Days { from: Some(from), to: Some(to), also: Vec::new(), label, assumed_year, relative };
    }
    let also = sorted[1..].iter().filter_map(|d| d.from.zip(d.to)).collect();
    let label = sorted.iter().map(|d| d.label.as_str()).collect::<Vec<_>>().join(" / ");
    Days { from: first.from, to: first.to, also, label, assumed_year, relative }
}
