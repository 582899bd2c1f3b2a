//! Several times in one question: added up where they belong together, left side by side where they are compared.
//! Never drops one of them.

use crate::lex::ColRef;
use crate::question::{Filter, Grain, Intent, Question};
use crate::read::draft::{Draft, Reader};
use crate::read::growth::label;
use crate::read::tokens::Tok;
use crate::timex::{Days, Piece, When};
use crate::word::Word;

impl Reader<'_> {
    pub(super) fn read_times(&mut self) {
        for token in self.tokens {
            if let Tok::Time(when) = token.tok {
                self.draft.times.push(when);
            }
        }
        // `growth from 2022 to 2023` compares the ends of a range.
        let compares =
            [Word::Growth, Word::Yoy, Word::Compare, Word::Mom].iter().any(|w| self.draft.says(*w));
        // … but `January to June, year on year` compares the whole of it with the year before.
        let whole_years = |p: &Piece| matches!(p, Piece::Year(_));
        let same_length = self.draft.says(Word::Yoy);
        if let ([When::Between(a, b)], true) = (&self.draft.times[..], compares)
            && (!same_length || whole_years(a))
        {
            self.draft.times = vec![When::In(*a), When::In(*b)];
        }
        // A year said apart from its month: `in March … 2024`.
        let years: Vec<_> = self.draft.times.iter().filter_map(|t| t.year()).collect();
        if let [year] = years[..]
            && self.draft.times.len() > 1
            && self.draft.times.iter().any(|t| t.lacks_year())
        {
            self.draft.times.retain(|t| t.year().is_none());
            for time in &mut self.draft.times {
                *time = time.in_year(year);
            }
        }
    }
}

/// The times of a question as stretches that can be used: one, or two to be compared.
pub(crate) fn settle(draft: &mut Draft, mut times: Vec<Days>) -> Vec<Days> {
    times.dedup();
    if times.len() < 2 {
        return times;
    }
    let compared = draft.says_any(&[
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
    let together = draft.says(Word::Yoy) && !draft.says(Word::Compare) && one_year
        || draft.adds_up && !compared
        || draft.says(Word::Sum) && !compared && one_year && !draft.says(Word::By);
    if together {
        return vec![joined];
    }
    let two = times.len() == 2 && (compared || draft.says_any(&[Word::And, Word::Yoy]));
    if two || draft.says(Word::Share) && times.len() == 2 {
        return times;
    }
    // `January, March and May`: each of them.
    if draft.grain.is_none() && draft.dims.len() < 2 {
        draft.grain = grain(&times);
    }
    vec![joined]
}

/// The unit all of them are long.
fn grain(times: &[Days]) -> Option<Grain> {
    let months = |d: &Days| {
        let (a, b) = d.from.zip(d.to)?;
        let months =
            (i32::from(b.year()) - i32::from(a.year())) * 12 + i32::from(b.month()) - i32::from(a.month());
        (a.day() == 1 && b.day() == 1).then_some(months)
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

/// `what share of 2024's sales came in Q4`: the shorter time is the part, the longer one the whole; a time alone is the part
/// of all there is.
pub(super) fn share_of_time(
    draft: &Draft,
    question: &mut Question,
    times: &mut Vec<Days>,
    date: Option<ColRef>,
) {
    let (Some(date), true) = (date, draft.says(Word::Share) && question.intent == Intent::Value) else {
        return;
    };
    if !question.groups.is_empty() {
        return;
    }
    let inside = |a: &Days, b: &Days| a.from >= b.from && a.to.is_some() && a.to <= b.to && a != b;
    let part = match &times[..] {
        [_] => 0,
        [a, b] if inside(a, b) => 0,
        [a, b] if inside(b, a) => 1,
        _ => return,
    };
    let days = times.remove(part);
    question.intent = Intent::ShareOf { parts: vec![Filter::Days { column: date, days }] };
}

/// `sessions a day`: of each, on average.
pub(super) const A_PERIOD: [&str; 6] = ["a day", "a week", "a month", "a quarter", "a year", "an hour"];
/// Words that make one figure of several times.
pub(super) const ADDED: [&str; 11] = [
    "合计",
    "一共",
    "总共",
    "共计",
    "加起来",
    "合起来",
    "加在一起",
    "altogether",
    "in total",
    "combined",
    "together",
];
