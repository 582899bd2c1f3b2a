//! Questions about change: which two stretches of time are compared, or along which series.

use jiff::ToSpan;
use jiff::civil::Date;

use crate::lex::ColRef;
use crate::question::{Against, Grain, Intent};
use crate::read::draft::{Draft, Reader};
use crate::read::tokens::{Tok, Token};
use crate::timex::{Days, Piece, Unit, When};
use crate::word::Word;

/// The intent of a question with growth words, or with two times to compare. Nothing when it has neither.
pub fn growth(
    draft: &Draft,
    times: &[Days],
    date: Option<ColRef>,
    span: Option<(Date, Date)>,
) -> Option<Intent> {
    let date = date?;
    let (_, last) = span?;
    let yoy = draft.says(Word::Yoy);
    let mom = draft.says(Word::Mom);
    let grows = yoy || mom || draft.says(Word::Growth);
    let compares = draft.says_any(&[Word::Compare, Word::And]);
    if let [a, b] = times
        && (grows || compares || draft.says_any(&[Word::Highest, Word::Lowest]))
    {
        let (before, after) = if a.from <= b.from { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) };
        let together = !grows && !draft.says(Word::Compare);
        return Some(Intent::Change { before, after, date, together });
    }
    if !grows {
        return None;
    }
    let against = if yoy { Against::YearBefore } else { Against::PreviousPeriod };
    let series = draft.grain.is_some() && !names_one_period(draft, times) && draft.dims.is_empty();
    if series || draft.says(Word::Trend) && draft.dims.is_empty() && times.is_empty() {
        return Some(Intent::GrowthSeries(against));
    }
    let after = match times.first() {
        Some(days) => Days { to: days.to.or(last.tomorrow().ok()), ..days.clone() },
        None => current(draft, mom, last)?,
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

/// Words that count back from another time of the question, not from the end of the data.
const BEFORE_IT: [&str; 12] = [
    "before",
    "previous",
    "prior",
    "preceding",
    "earlier",
    "上一年",
    "前一年",
    "之前一年",
    "前一个月",
    "上一个月",
    "上一季",
    "前一",
];

impl Reader<'_> {
    /// `2023 against the year before`: the year before that one.
    pub(super) fn read_time_before(&mut self) {
        let times: Vec<&Token> = self.tokens.iter().filter(|t| matches!(t.tok, Tok::Time(_))).collect();
        let ([_, second], 2) = (&times[..], self.draft.times.len()) else { return };
        let Tok::Time(When::In(Piece::Relative(unit, 1))) = second.tok else { return };
        if !BEFORE_IT.iter().any(|w| second.text.contains(w)) {
            return;
        }
        self.draft.times.pop();
        self.draft.words.insert(if unit == Unit::Year { Word::Yoy } else { Word::Mom });
    }

    /// `20 % more in the second half than in the first`: two times, one against the other.
    pub(super) fn read_more_than(&mut self) {
        const MORE: [&str; 10] =
            ["more", "fewer", "less", "higher", "lower", "bigger", "smaller", "greater", "larger", "better"];
        let times: Vec<&Token> = self.tokens.iter().filter(|t| matches!(t.tok, Tok::Time(_))).collect();
        let ([first, second], 2) = (&times[..], self.draft.times.len()) else { return };
        let words = |from: usize, to: usize| -> Vec<String> {
            let text: String = self.text.get(from..to).unwrap_or_default().iter().collect();
            text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned).collect()
        };
        let against = words(first.end, second.start).iter().any(|w| w == "than");
        if against && words(0, second.start).iter().any(|w| MORE.contains(&w.as_str())) {
            self.draft.words.insert(Word::Growth);
        }
    }
}

/// `2024年3月环比`, not `2024年各月环比`.
fn names_one_period(draft: &Draft, times: &[Days]) -> bool {
    let Some(days) = times.first() else { return false };
    let (Some(from), Some(to)) = (days.from, days.to) else { return false };
    let months = (i32::from(to.year()) - i32::from(from.year())) * 12 + i32::from(to.month())
        - i32::from(from.month());
    let grain = match draft.grain {
        Some(Grain::Year) => 12,
        Some(Grain::Quarter) => 3,
        Some(Grain::Month) => 1,
        _ => 0,
    };
    months <= grain || !draft.says(Word::By) && draft.grain == Some(Grain::Year)
}

/// The period a question without a time is about: the last month for 环比, else the last year.
fn current(draft: &Draft, mom: bool, last: Date) -> Option<Days> {
    let unit = match draft.grain {
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
    let months = (i32::from(to.year()) - i32::from(from.year())) * 12 + i32::from(to.month())
        - i32::from(from.month());
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
pub(crate) fn next(days: &Days, last: Date) -> Option<Days> {
    let (from, to) = (days.from?, days.to?);
    let months = (i32::from(to.year()) - i32::from(from.year())) * 12 + i32::from(to.month())
        - i32::from(from.month());
    (from.day() == 1 && to.day() == 1 && months > 0 && to <= last).then(|| shifted(days, -months)).flatten()
}

pub(crate) fn shifted(days: &Days, months: i32) -> Option<Days> {
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
    let months = (i32::from(to.year()) - i32::from(from.year())) * 12 + i32::from(to.month())
        - i32::from(from.month());
    let aligned = from.day() == 1 && to.day() == 1;
    match (aligned, months) {
        (true, 12) if from.month() == 1 => from.year().to_string(),
        (true, 6) if from.month() % 6 == 1 => format!("{}-H{}", from.year(), from.month() / 6 + 1),
        (true, 3) if from.month() % 3 == 1 => format!("{}-Q{}", from.year(), (from.month() - 1) / 3 + 1),
        (true, 1) => format!("{}-{:02}", from.year(), from.month()),
        _ => format!("{from} – {}", to.yesterday().unwrap_or(to)),
    }
}
