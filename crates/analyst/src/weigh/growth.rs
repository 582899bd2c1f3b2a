//! Questions about change: which two stretches of time are compared, or along which series.

use jiff::ToSpan;
use jiff::civil::Date;

use crate::lex::ColRef;
use crate::question::{Against, Grain, Intent};
use crate::timex::{Days, Piece, Unit, When, months_between};
use crate::weigh::timing::Timing;
use crate::word::Word;

/// The intent of a question with growth words, or with two times to compare. Nothing when it has neither.
pub fn growth(
    timing: &Timing<'_>,
    times: &[Days],
    date: Option<ColRef>,
    span: Option<(Date, Date)>,
) -> Option<Intent> {
    let date = date?;
    let (_, last) = span?;
    let yoy = timing.says(Word::Yoy);
    let mom = timing.says(Word::Mom);
    let grows = yoy || mom || timing.says(Word::Growth);
    let compares = timing.says_any(&[Word::Compare, Word::And]);
    if let [a, b] = times
        && (grows || compares || timing.says_any(&[Word::Highest, Word::Lowest]))
    {
        let (before, after) = if a.from <= b.from { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) };
        let together = !grows && !timing.says(Word::Compare);
        return Some(Intent::Change { before, after, date, together });
    }
    if !grows {
        return None;
    }
    let against = if yoy { Against::YearBefore } else { Against::PreviousPeriod };
    let series = timing.grain.is_some() && !names_one_period(timing, times) && timing.dims.is_empty();
    if series || timing.says(Word::Trend) && timing.dims.is_empty() && times.is_empty() {
        return Some(Intent::GrowthSeries(against));
    }
    let after = match times.first() {
        Some(days) => Days { to: days.to.or(last.tomorrow().ok()), ..days.clone() },
        None => current(timing, mom, last)?,
    };
    // `今年到现在比去年同期`: no further than the data goes.
    let after = match last.tomorrow() {
        Ok(end) if yoy && after.relative && after.to.is_some_and(|to| to > end) => {
            Days { to: Some(end), label: label(after.from?, end), ..after }
        }
        _ => after,
    };
    let before = if yoy { year_before(&after)? } else { period_before(&after)? };
    Some(Intent::Change { before, after, date, together: false })
}

/// `2024年3月环比`, not `2024年各月环比`.
fn names_one_period(timing: &Timing<'_>, times: &[Days]) -> bool {
    let Some(days) = times.first() else { return false };
    let (Some(from), Some(to)) = (days.from, days.to) else { return false };
    let months = months_between(from, to);
    let grain = match timing.grain {
        Some(Grain::Year) => 12,
        Some(Grain::Quarter) => 3,
        Some(Grain::Month) => 1,
        _ => 0,
    };
    months <= grain || !timing.says(Word::By) && timing.grain == Some(Grain::Year)
}

/// The period a question without a time is about: the last month for 环比, else the last year.
fn current(timing: &Timing<'_>, mom: bool, last: Date) -> Option<Days> {
    let unit = match timing.grain {
        Some(Grain::Quarter) => Unit::Quarter,
        Some(Grain::Month) => Unit::Month,
        Some(Grain::Week) => Unit::Week,
        _ if mom => Unit::Month,
        _ => Unit::Year,
    };
    When::In(Piece::Relative(unit, 0)).resolve(last)
}

fn year_before(days: &Days) -> Option<Days> {
    shifted(days, 12)
}

/// The stretch of the same length right before.
fn period_before(days: &Days) -> Option<Days> {
    let (from, to) = (days.from?, days.to?);
    let months = months_between(from, to);
    if from.day() == 1 && to.day() == 1 && months > 0 {
        return shifted(days, months);
    }
    let length = from.until(to).ok()?;
    let start = from.checked_sub(length).ok()?;
    Some(Days {
        from: Some(start),
        to: Some(from),
        also: Vec::new(),
        label: format!("{start} – {}", from.yesterday().ok()?),
        assumed_year: false,
        relative: false,
    })
}

/// The stretch of the same length right after, if the data reaches it.
pub fn next(days: &Days, last: Date) -> Option<Days> {
    let (from, to) = (days.from?, days.to?);
    let months = months_between(from, to);
    (from.day() == 1 && to.day() == 1 && months > 0 && to <= last).then(|| shifted(days, -months)).flatten()
}

pub fn shifted(days: &Days, months: i32) -> Option<Days> {
    let from = days.from?.checked_sub(months.months()).ok()?;
    let to = days.to?.checked_sub(months.months()).ok()?;
    Some(Days {
        from: Some(from),
        to: Some(to),
        also: Vec::new(),
        label: label(from, to),
        assumed_year: false,
        relative: false,
    })
}

/// A short name for a stretch of days.
pub fn label(from: Date, to: Date) -> String {
    let months = months_between(from, to);
    let aligned = from.day() == 1 && to.day() == 1;
    match (aligned, months) {
        (true, 12) if from.month() == 1 => from.year().to_string(),
        (true, 6) if from.month() % 6 == 1 => format!("{}-H{}", from.year(), from.month() / 6 + 1),
        (true, 3) if from.month() % 3 == 1 => format!("{}-Q{}", from.year(), (from.month() - 1) / 3 + 1),
        (true, 1) => format!("{}-{:02}", from.year(), from.month()),
        _ => format!("{from} – {}", to.yesterday().unwrap_or(to)),
    }
}
