//! Time in a question: `2024年Q3`, `last month`, `from Jan to June 2024`. Finds and resolves; decides nothing else.
//! Relative times count back from the last day in the data, never from today.

use jiff::civil::Date;
use jiff::{Span, ToSpan};

mod patterns;
mod years;

use patterns::PATTERNS;
use years::{share_year, share_years};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// One named stretch of time. `None` as a year: not said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    Year(YearRef),
    Half(Option<YearRef>, i8),
    Quarter(Option<YearRef>, i8),
    Month(Option<YearRef>, i8),
    /// Three months from this one on: `summer`.
    Season(Option<YearRef>, i8),
    Day(Date),
    /// `back` units before the one that holds the last day.
    Relative(Unit, i32),
    /// The last `n` units, the current one included.
    LastN(Unit, i32),
    /// From the start of the current unit to the last day.
    ToDate(Unit),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum YearRef {
    Number(i16),
    /// Years before the last one in the data.
    Back(i16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    In(Piece),
    Between(Piece, Piece),
    Since(Piece),
    Before(Piece),
    After(Piece),
}

/// Months from the one of a day to the one of another.
pub fn months_between(from: Date, to: Date) -> i32 {
    (i32::from(to.year()) - i32::from(from.year())) * 12 + i32::from(to.month()) - i32::from(from.month())
}

/// A time found in a text, with its place in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    pub start: usize,
    pub end: usize,
    pub when: When,
}

/// Days from `from` up to but not including `to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Days {
    pub from: Option<Date>,
    pub to: Option<Date>,
    /// Further stretches that count as well.
    pub also: Vec<(Date, Date)>,
    pub label: String,
    /// The year was not said and was taken from the data.
    pub assumed_year: bool,
    /// The words were relative to the last day in the data.
    pub relative: bool,
}

/// Small whole numbers in digits, Chinese or English.
pub fn small(text: &str) -> Option<i32> {
    const ZH: [&str; 13] = ["零", "一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"];
    const EN: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    if text == "两" {
        return Some(2);
    }
    let named = ZH.iter().position(|w| *w == text).or_else(|| EN.iter().position(|w| *w == text));
    named.and_then(|i| i32::try_from(i).ok()).or_else(|| text.parse().ok())
}

/// All times in a normalised text, longest first where they overlap, ranges joined.
pub fn find(text: &str) -> Vec<Found> {
    let mut hits: Vec<(usize, usize, Piece)> = Vec::new();
    for (pattern, build) in PATTERNS.iter() {
        for captures in pattern.captures_iter(text) {
            let Some(whole) = captures.get(0) else { continue };
            let piece = build(&captures);
            if let Some(piece) = piece
                && !is_a_number(text, whole.start(), whole.end(), piece)
                && !is_the_verb_may(text, whole.start(), whole.as_str())
            {
                hits.push((whole.start(), whole.end(), piece));
            }
        }
    }
    hits.sort_by_key(|(s, e, _)| (std::cmp::Reverse(e - s), *s));
    let mut chosen: Vec<(usize, usize, Piece)> = Vec::new();
    for hit in hits {
        if chosen.iter().all(|c| hit.1 <= c.0 || hit.0 >= c.1) {
            chosen.push(hit);
        }
    }
    chosen.sort_by_key(|c| c.0);
    let char_at = |byte: usize| text[..byte].chars().count();
    let ranges = patterns::month_ranges(text);
    chosen.retain(|c| !ranges.iter().any(|r| r.0 < c.1 && c.0 < r.1));
    share_years(text, &mut chosen);
    join(text, &chosen)
        .into_iter()
        .chain(ranges)
        .map(|(s, e, when)| Found { start: char_at(s), end: char_at(e), when })
        .collect()
}

/// `over 2000` is a number, not a year; so is the 2000 of `2000元`.
fn is_a_number(text: &str, start: usize, end: usize, piece: Piece) -> bool {
    if !matches!(piece, Piece::Year(YearRef::Number(_))) || text[start..end].contains('年') {
        return false;
    }
    const BEFORE: [&str; 24] = [
        ">",
        "<",
        "=",
        "over",
        "above",
        "below",
        "under",
        "than",
        "least",
        "at most",
        "exceeds",
        "exceeding",
        "超过",
        "大于",
        "小于",
        "低于",
        "高于",
        "不到",
        "达到",
        "等于",
        "至少",
        "多于",
        "$",
        "¥",
    ];
    const AFTER: [&str; 8] = ["元", "块", "件", "个", "人", "%", "万", "条"];
    let before = text[..start].trim_end();
    let after = text[end..].trim_start();
    BEFORE.iter().any(|w| before.ends_with(w))
        || AFTER.iter().any(|w| after.starts_with(w))
        || text[..start].ends_with(['.', ','])
            && text[..start].trim_end_matches(['.', ',']).ends_with(|c: char| c.is_ascii_digit())
        || text[end..].starts_with(['.', ',']) && text[end + 1..].starts_with(|c: char| c.is_ascii_digit())
}

fn is_the_verb_may(text: &str, start: usize, word: &str) -> bool {
    const BEFORE: [&str; 14] = [
        "in", "of", "for", "during", "since", "until", "to", "from", "and", "between", "through", "vs",
        "before", "after",
    ];
    let previous = text[..start].split_whitespace().last().unwrap_or("");
    word == "may" && !BEFORE.contains(&previous)
}

fn join(text: &str, pieces: &[(usize, usize, Piece)]) -> Vec<(usize, usize, When)> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < pieces.len() {
        let (start, end, piece) = pieces[i];
        let before = text[..start].trim_end();
        if let Some(&(next_start, next_end, second)) = pieces.get(i + 1) {
            let gap = text[end..next_start].trim();
            let between = ["between", "在", "介于"].iter().any(|w| before.ends_with(w));
            let is_to = matches!(gap, "到" | "至" | "-" | "~" | "to" | "through" | "until" | "till" | "--");
            if is_to || (between && matches!(gap, "and" | "和" | "与")) && before.ends_with("between") {
                let (a, b) = share_year(piece, second);
                let from = ["between", "from", "从", "自"]
                    .iter()
                    .find(|w| before.ends_with(**w))
                    .map_or(start, |w| before.len() - w.len());
                let tail = ["之间", "期间"]
                    .iter()
                    .find(|w| text[next_end..].starts_with(**w))
                    .map_or(0, |w| w.len());
                out.push((from, next_end + tail, When::Between(a, b)));
                i += 2;
                continue;
            }
        }
        out.push(with_direction(text, before, start, end, piece));
        i += 1;
    }
    out
}

fn with_direction(text: &str, before: &str, start: usize, end: usize, piece: Piece) -> (usize, usize, When) {
    const SINCE_BEFORE: [&str; 11] = [
        "since the start of",
        "since the beginning of",
        "since start of",
        "since early",
        "from the start of",
        "from the beginning of",
        "since",
        "starting from",
        "starting",
        "自从",
        "自",
    ];
    const SINCE_AFTER: [&str; 8] =
        ["以来", "至今", "起", "开始", "onwards", " onwards", " onward", " and later"];
    const AFTER: [&str; 3] = ["以后", "之后", "后"];
    const BEFORE: [&str; 3] = ["以前", "之前", "前"];
    let after = &text[end..];
    let lead = |words: &[&str]| words.iter().find(|w| before.ends_with(**w)).map(|w| before.len() - w.len());
    let trail = |words: &[&str]| words.iter().find(|w| after.starts_with(**w)).map(|w| end + w.len());
    if matches!(piece, Piece::LastN(..) | Piece::ToDate(_)) {
        return (start, end, When::In(piece));
    }
    if let Some(at) = lead(&SINCE_BEFORE) {
        return (at, trail(&SINCE_AFTER).unwrap_or(end), When::Since(piece));
    }
    if let Some(to) = trail(&SINCE_AFTER) {
        return (start, to, When::Since(piece));
    }
    if let Some(at) = lead(&["after", "later than"]) {
        return (at, end, When::After(piece));
    }
    if let Some(to) = trail(&AFTER) {
        return (start, to, When::After(piece));
    }
    if let Some(at) = lead(&["before", "prior to", "earlier than"]) {
        return (at, end, When::Before(piece));
    }
    match trail(&BEFORE) {
        Some(to) => (start, to, When::Before(piece)),
        None => (start, end, When::In(piece)),
    }
}

impl When {
    /// The days meant, given the last day in the data.
    pub fn resolve(self, last: Date) -> Option<Days> {
        let span = |from: Option<Date>, to: Option<Date>, label: String, pieces: &[Piece]| Days {
            from,
            to,
            also: Vec::new(),
            label,
            assumed_year: pieces.iter().any(|p| When::In(*p).lacks_year()),
            relative: pieces.iter().any(|p| {
                matches!(p, Piece::Relative(..) | Piece::LastN(..) | Piece::ToDate(_))
                    || When::In(*p).is_back()
            }),
        };
        Some(match self {
            When::In(p) => {
                let (a, b, label) = p.days(last)?;
                span(Some(a), Some(b), label, &[p])
            }
            When::Between(p, q) => {
                let ((a, _, first), (_, b, second)) = (p.days(last)?, q.days(last)?);
                if a >= b {
                    return None;
                }
                span(Some(a), Some(b), format!("{first} – {second}"), &[p, q])
            }
            When::Since(p) => {
                let (a, _, label) = p.days(last)?;
                span(Some(a), None, format!("≥ {label}"), &[p])
            }
            When::After(p) => {
                let (_, b, label) = p.days(last)?;
                span(Some(b), None, format!("> {label}"), &[p])
            }
            When::Before(p) => {
                let (a, _, label) = p.days(last)?;
                span(None, Some(a), format!("< {label}"), &[p])
            }
        })
    }

    fn is_back(self) -> bool {
        match self {
            When::In(
                Piece::Year(y)
                | Piece::Month(Some(y), _)
                | Piece::Quarter(Some(y), _)
                | Piece::Half(Some(y), _),
            ) => {
                matches!(y, YearRef::Back(_))
            }
            _ => false,
        }
    }
}

impl Piece {
    fn days(self, last: Date) -> Option<(Date, Date, String)> {
        let number = |y: YearRef| match y {
            YearRef::Number(n) => n,
            YearRef::Back(b) => last.year().saturating_sub(b),
        };
        // Not said: the latest one that has begun by the last day.
        let latest = |y: Option<YearRef>, month: i8| match y {
            Some(y) => number(y),
            None if month > last.month() => last.year() - 1,
            None => last.year(),
        };
        let stretch = |year: i16, month: i8, months: i64, label: String| {
            let from = Date::new(year, month, 1).ok()?;
            Some((from, from.checked_add(months.months()).ok()?, label))
        };
        match self {
            Piece::Year(y) => stretch(number(y), 1, 12, format!("{}", number(y))),
            Piece::Half(y, h) => {
                let month = (h - 1) * 6 + 1;
                let year = latest(y, month);
                stretch(year, month, 6, format!("{year}-H{h}"))
            }
            Piece::Quarter(y, q) => {
                let month = (q - 1) * 3 + 1;
                let year = latest(y, month);
                stretch(year, month, 3, format!("{year}-Q{q}"))
            }
            Piece::Month(y, m) => {
                let year = latest(y, m);
                stretch(year, m, 1, format!("{year}-{m:02}"))
            }
            Piece::Season(y, m) => {
                let year = latest(y, m);
                stretch(year, m, 3, format!("{year}-{m:02} – {:02}", (m + 1) % 12 + 1))
            }
            Piece::Day(d) => Some((d, d.tomorrow().ok()?, d.to_string())),
            Piece::Relative(unit, back) => {
                let from = start_of(unit, last)?.checked_sub(span_of(unit, back)).ok()?;
                let to = from.checked_add(span_of(unit, 1)).ok()?;
                Some((from, to, label_of(unit, from)))
            }
            Piece::LastN(unit, n) => {
                let to = last.tomorrow().ok()?;
                let from = start_of(unit, last)?.checked_sub(span_of(unit, n - 1)).ok()?;
                Some((from, to, format!("{from} – {last}")))
            }
            Piece::ToDate(unit) => Some((
                start_of(unit, last)?,
                last.tomorrow().ok()?,
                format!("{} – {last}", start_of(unit, last)?),
            )),
        }
    }
}

fn span_of(unit: Unit, n: i32) -> Span {
    match unit {
        Unit::Day => n.days(),
        Unit::Week => n.weeks(),
        Unit::Month => n.months(),
        Unit::Quarter => (n * 3).months(),
        Unit::Year => n.years(),
    }
}

fn start_of(unit: Unit, day: Date) -> Option<Date> {
    match unit {
        Unit::Day => Some(day),
        Unit::Week => day.checked_sub(i32::from(day.weekday().to_monday_zero_offset()).days()).ok(),
        Unit::Month => Some(day.first_of_month()),
        Unit::Quarter => Date::new(day.year(), (day.month() - 1) / 3 * 3 + 1, 1).ok(),
        Unit::Year => Some(day.first_of_year()),
    }
}

fn label_of(unit: Unit, from: Date) -> String {
    match unit {
        Unit::Day => from.to_string(),
        Unit::Week => format!("{from} (week)"),
        Unit::Month => format!("{}-{:02}", from.year(), from.month()),
        Unit::Quarter => format!("{}-Q{}", from.year(), (from.month() - 1) / 3 + 1),
        Unit::Year => from.year().to_string(),
    }
}

#[cfg(test)]
mod tests;
