//! What is to come: a forecast by months, no further than the history carries.

use jiff::civil::Date;

use crate::lex::ColRef;
use crate::question::{Grain, Group, Intent, Measure, Note, Refusal};
use crate::timex::{Days, months_between};
use crate::weigh::complete::Built;
use crate::weigh::figures::{self, Figures};
use crate::word::{Beyond, Word};

/// More months than this nobody can foretell.
const FURTHEST: usize = 12;

/// Whether the question is about what is to come, and now says so.
pub fn settle(
    built: &mut Built<'_>,
    figures: &Figures,
    dims: &[ColRef],
    days: &[Days],
    span: Option<(Date, Date)>,
) -> Result<bool, Refusal> {
    let view = built.view;
    let named = view.says_any(&[Word::Forecast, Word::Linear]);
    if !named && !view.says(Word::Next) {
        return Ok(false);
    }
    if !named && (figures.measures.is_empty() || !dims.is_empty()) {
        return Err(Refusal::Beyond(Beyond::Judgement));
    }
    let date = built.question.date.ok_or(Refusal::NoDate)?;
    let (first, last) = span.ok_or(Refusal::NoDate)?;
    let months = |a: Date, b: Date| usize::try_from(months_between(a, b)).unwrap_or(0);
    let asked = days.iter().filter(|d| d.to.is_some_and(|t| t > last)).max_by_key(|d| d.to);
    let periods = match asked.and_then(|d| d.to) {
        Some(end) => months(last, end).saturating_sub(1).max(1),
        None => view.window.unwrap_or(1) * unit(built),
    };
    let known = months(first, last) + 1;
    let short = view.says_any(&[Word::Day, Word::Week, Word::Hour]);
    if periods > FURTHEST || periods * 2 > known || short {
        return Err(Refusal::TooFar { months: known.min(2 * FURTHEST) / 2 });
    }
    if built.question.measures.is_empty() {
        let usual = figures::default_column(view.scope);
        let usual = usual.map_or(Measure::Rows, |c| Measure::Of(figures::default_agg(view, c), c));
        built.question.notes.push(Note::DefaultMeasure(usual.clone()));
        built.question.measures.push(usual);
    }
    built.question.measures.truncate(1);
    built.question.groups = vec![Group::Time(date, Grain::Month)];
    // `for January`: that month, not all until then.
    let one = asked.and_then(|d| Some(months(d.from?, d.to?) == 1));
    built.question.intent =
        Intent::Forecast { periods, linear: view.says(Word::Linear), last: one == Some(true) };
    Ok(true)
}

/// How many months one of the periods is long.
fn unit(built: &Built<'_>) -> usize {
    let view = built.view;
    let next = |w: &str| view.items.iter().any(|i| i.word() == Some(Word::Next) && i.text.contains(w));
    if view.says(Word::Year) || next("year") || next("年") {
        12
    } else if view.says(Word::Quarter) || next("quarter") || next("季") {
        3
    } else {
        1
    }
}
