//! The times of a question: ranges that are compared, months said apart from their year, the time something is compared with.

use jiff::civil::Date;

use crate::read::growth;
use crate::timex::{Days, Piece, Unit, When, YearRef};
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
    if let [When::In(Piece::Year(first)), When::In(Piece::Month(Some(_), month))] = times[..] {
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
