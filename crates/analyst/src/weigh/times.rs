//! The times of a question: ranges that are compared, months said apart from their year, the time something is compared with.

use jiff::civil::Date;

use crate::lex::ColRef;
use crate::question::Grain;
use crate::table::{Column, Role};
use crate::timex::{Days, Piece, Unit, When, YearRef};
use crate::weigh::growth;
use crate::weigh::items::Sense;
use crate::weigh::options::Part;
use crate::weigh::view::View;
use crate::word::Word;

/// `跟2023年比增长多少`, `环比9月`: the time that was said is the one before.
pub fn base(view: &View<'_>, days: Vec<Days>, span: Option<(Date, Date)>) -> Vec<Days> {
    let ([day], Some((_, last))) = (&days[..], span) else { return days };
    if !view.says_any(&[Word::Growth, Word::Mom, Word::Yoy]) || view.english {
        return days;
    }
    let when = (0..view.items.len())
        .find(|i| view.items[*i].senses.iter().any(|(s, _)| matches!(s, Sense::Time(_))));
    let Some(at) = when else { return days };
    let head = view.head(at);
    if !["跟", "和", "与", "比", "较", "相比", "环比", "同比", "比起"].iter().any(|w| head.ends_with(w))
    {
        return days;
    }
    match growth::next(day, last) {
        Some(after) => vec![day.clone(), after],
        None => days,
    }
}

/// The times of a question; a range that is compared is its two ends, and a month said apart from its year belongs to it.
pub fn times(view: &View<'_>, parts: &[(usize, Part)]) -> Vec<When> {
    let mut times: Vec<When> =
        parts.iter().filter_map(|(_, p)| if let Part::When(w) = p { Some(*w) } else { None }).collect();
    let compares = view.says_any(&[Word::Growth, Word::Yoy, Word::Compare, Word::Mom]);
    if let ([When::Between(a, b)], true) = (&times[..], compares)
        && (!view.says(Word::Yoy) || matches!(a, Piece::Year(_)))
    {
        times = vec![When::In(*a), When::In(*b)];
    }
    if let [
        When::In(Piece::Year(first)),
        When::In(Piece::Year(second)),
        When::In(Piece::Month(None, month)),
    ] = times[..]
    {
        times = vec![When::In(Piece::Month(Some(first), month)), When::In(Piece::Month(Some(second), month))];
    }
    // `over the same quarter of 2024`
    let same = ["same quarter", "same month", "same period", "same week", "同期", "同一季度", "同月"];
    if let [first, When::In(Piece::Year(year))] = times[..]
        && !matches!(first, When::In(Piece::Year(_)))
        && same.iter().any(|w| view.whole.contains(w))
    {
        times[1] = first.moved_to(year);
    }
    // `2023 … the year before`: before that one.
    let before = ["before", "previous", "prior", "earlier", "上一年", "前一年"];
    if let [
        When::In(Piece::Year(YearRef::Number(year))),
        When::In(Piece::Relative(Unit::Year, 1) | Piece::Year(YearRef::Back(1))),
    ] = times[..]
        && before.iter().any(|w| view.whole.contains(w))
    {
        times[1] = When::In(Piece::Year(YearRef::Number(year - 1)));
    }
    // `Q4 2024 against the quarter before`
    if let [When::In(said), When::In(Piece::Relative(Unit::Quarter | Unit::Month, 1))] = times[..]
        && (before.iter().any(|w| view.whole.contains(w))
            || view.whole.contains("上一")
            || view.whole.contains("上个"))
        && let Some(previous) = said.previous()
    {
        times[1] = When::In(previous);
    }
    // `2023年和2024年的8月`: the month of both years.
    if let [When::In(Piece::Year(first)), When::In(Piece::Month(Some(_), month))] = times[..]
        && !view.says(Word::Share)
    {
        times[0] = When::In(Piece::Month(Some(first), month));
    }
    let years: Vec<_> = times.iter().filter_map(|t| t.year()).collect();
    if let [year] = years[..]
        && times.len() > 1
        && times.iter().any(|t| t.lacks_year())
    {
        times.retain(|t| t.year().is_none());
        for time in &mut times {
            *time = time.in_year(year);
        }
    }
    times
}

/// More values than this are no calendar.
const MOST_PERIODS: u64 = 60;

/// Questions by time over tables without dates. Their time must not fall out of them.
impl View<'_> {
    /// `20 % more in the second half than in the first`: two times, one against the other.
    pub fn more_than_before(&self) -> bool {
        const MORE: [&str; 8] = ["more", "fewer", "less", "higher", "lower", "bigger", "smaller", "larger"];
        let timed = |i: &usize| self.items[*i].senses.iter().any(|(s, _)| matches!(s, Sense::Time(_)));
        let times: Vec<usize> = (0..self.items.len()).filter(timed).collect();
        let [first, second] = times[..] else { return false };
        let words = |from: usize, to: usize| -> Vec<String> {
            let text: String = self.text[from..to].iter().collect();
            text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned).collect()
        };
        let (middle, second) = (self.items[first].end, self.items[second].start);
        words(middle, second).iter().any(|w| w == "than")
            && words(0, second).iter().any(|w| MORE.contains(&w.as_str()))
    }

    pub fn undated(&self) -> bool {
        self.scope.in_scope.iter().all(|t| self.scope.tables[*t].main_date().is_none())
    }

    /// The column called what was asked for: `季度`, and nothing that is only near.
    pub fn period_column(&self, grain: Grain) -> Option<ColRef> {
        let names: &[&str] = match grain {
            Grain::Month => &["month", "month name", "months", "月", "月份"],
            Grain::Quarter => &["quarter", "qtr", "quarters", "季度"],
            Grain::Year => &["year", "fiscal year", "年", "年份", "年度"],
            Grain::Week => &["week", "week number", "周", "周次"],
            Grain::Weekday => &["weekday", "day of week", "星期", "周几"],
            Grain::Day | Grain::Hour => &[],
        };
        let fits = |c: &Column| names.contains(&c.words.as_str()) && (2..=MOST_PERIODS).contains(&c.distinct);
        let table = self.scope.in_scope[0];
        let column = self.scope.tables[table].columns.iter().position(fits)?;
        Some(ColRef { table, column })
    }

    /// `study hours per week` of a column that says so needs no dates.
    pub fn named_period(&self, grain: Grain) -> bool {
        let words: &[&str] = match grain {
            Grain::Hour => &["hour", "时"],
            Grain::Day => &["day", "daily", "天", "日"],
            Grain::Weekday | Grain::Week => &["week", "周"],
            Grain::Month => &["month", "月"],
            Grain::Quarter => &["quarter", "季"],
            Grain::Year => &["year", "annual", "年"],
        };
        let says = |c: ColRef| words.iter().any(|w| self.scope.column(c).full.contains(w));
        self.items.iter().any(|i| i.columns().any(|c| self.role(c) == Role::Measure && says(c)))
    }
}
