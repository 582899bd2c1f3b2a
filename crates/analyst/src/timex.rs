//! Time in a question: `2024年Q3`, `last month`, `from Jan to June 2024`. Finds and resolves; decides nothing else.
//! Relative times count back from the last day in the data, never from today.

use std::sync::LazyLock;

use jiff::civil::Date;
use jiff::{Span, ToSpan};
use regex::{Captures, Regex};

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
    pub label: String,
    /// The year was not said and was taken from the data.
    pub assumed_year: bool,
    /// The words were relative to the last day in the data.
    pub relative: bool,
}

type Build = fn(&Captures<'_>) -> Option<Piece>;

const MONTHS: &str = r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?";

static PATTERNS: LazyLock<Vec<(Regex, Build)>> = LazyLock::new(|| {
    let y = r"((?:19|20)\d\d)";
    let rel_year = r"(去年|今年|前年|上年|本年|last year|this year)";
    let zh_month = r"(十二|十一|十|一|二|三|四|五|六|七|八|九|1[0-2]|0?[1-9])";
    let quarter = r"(?:q([1-4])|第?([一二三四1-4])季度?)";
    let half = r"(?:(上|下)半年|h([12])\b)";
    let unit_zh = r"(天|日|周|星期|个月|月|个季度|季度|年)";
    let number = r"(\d{1,3}|一|二|两|三|四|五|六|七|八|九|十|十二)";
    let unit_en = r"(days?|weeks?|months?|quarters?|years?)";
    let list: Vec<(String, Build)> = vec![
        (format!(r"{y}[-/.年]\s?(\d{{1,2}})[-/.月]\s?(\d{{1,2}})[日号]?"), |c| ymd(c, 1, 2, 3)),
        (format!(r"\b{MONTHS} (\d{{1,2}})(?:st|nd|rd|th)?,? {y}"), |c| ymd(c, 3, 1, 2)),
        (format!(r"\b(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{MONTHS},? {y}"), |c| ymd(c, 3, 2, 1)),
        (format!(r"{y}\s?年?\s?[的-]?\s?{quarter}"), |c| Some(Piece::Quarter(year(c, 1), digit(c, &[2, 3])?))),
        (format!(r"\bq([1-4])\s?(?:of |in |')?\s?{y}"), |c| Some(Piece::Quarter(year(c, 2), digit(c, &[1])?))),
        (format!(r"(first|second|third|fourth|1st|2nd|3rd|4th|last) quarter(?: of| in)? {y}"), |c| Some(Piece::Quarter(year(c, 2), ordinal(c.get(1)?.as_str())?))),
        (format!(r"(first|second|1st|2nd) half(?: of| in)? {y}"), |c| Some(Piece::Half(year(c, 2), ordinal(c.get(1)?.as_str())?))),
        (format!(r"{y}\s?年?\s?{half}"), |c| Some(Piece::Half(year(c, 1), which_half(c, 2)?))),
        (format!(r"\bh([12])\s?(?:of )?{y}"), |c| Some(Piece::Half(year(c, 2), digit(c, &[1])?))),
        (format!(r"{y}\s?年\s?{zh_month}\s?月份?"), |c| Some(Piece::Month(year(c, 1), digit(c, &[2])?))),
        (format!(r"{y}[-/.](1[0-2]|0?[1-9])(?:月|\b)"), |c| Some(Piece::Month(year(c, 1), digit(c, &[2])?))),
        (format!(r"\b{MONTHS}(?: of|,)? {y}\b"), |c| Some(Piece::Month(year(c, 2), month_name(c, 1)?))),
        (format!(r"{rel_year}的?\s?{quarter}"), |c| Some(Piece::Quarter(year(c, 1), digit(c, &[2, 3])?))),
        (format!(r"{rel_year}的?\s?{half}"), |c| Some(Piece::Half(year(c, 1), which_half(c, 2)?))),
        (format!(r"{rel_year}的?\s?{zh_month}月份?"), |c| Some(Piece::Month(year(c, 1), digit(c, &[2])?))),
        (format!(r"\b{MONTHS} (?:of )?{rel_year}"), |c| Some(Piece::Month(year(c, 2), month_name(c, 1)?))),
        (format!(r"{y}\s?(?:全年|年度|年整年|年)"), |c| Some(Piece::Year(year(c, 1)?))),
        (format!(r"\b(?:fy ?|year |calendar year )?{y}\b"), |c| Some(Piece::Year(year(c, 1)?))),
        (r"(?:19|20)?(2\d)年(?:全年)?".into(), |c| Some(Piece::Year(YearRef::Number(2000 + c.get(1)?.as_str().parse::<i16>().ok()?)))),
        (rel_year.into(), |c| Some(Piece::Year(year(c, 1)?))),
        (r"the previous year|previous year|prior year|the year before".into(), |_| Some(Piece::Relative(Unit::Year, 1))),
        (r"上个?月|last month|previous month|prior month|the month before".into(), |_| Some(Piece::Relative(Unit::Month, 1))),
        (r"这个月|本月|当月|最近一个月|最新一个月|最后一个月|this month|current month|latest month|most recent month|the final month".into(), |_| Some(Piece::Relative(Unit::Month, 0))),
        (r"上上个?月".into(), |_| Some(Piece::Relative(Unit::Month, 2))),
        (r"上个?季度?|last quarter|previous quarter|prior quarter".into(), |_| Some(Piece::Relative(Unit::Quarter, 1))),
        (r"这个季度|本季度?|当季|最近一个季度|this quarter|current quarter|latest quarter|most recent quarter".into(), |_| Some(Piece::Relative(Unit::Quarter, 0))),
        (r"上个?(?:周|星期)|last week|previous week".into(), |_| Some(Piece::Relative(Unit::Week, 1))),
        (r"本周|这周|这个星期|this week|current week|latest week".into(), |_| Some(Piece::Relative(Unit::Week, 0))),
        (r"昨天|昨日|yesterday".into(), |_| Some(Piece::Relative(Unit::Day, 1))),
        (r"今天|今日|当天|today|the last day|latest day|最后一天|最新一天".into(), |_| Some(Piece::Relative(Unit::Day, 0))),
        (r"今年以来|年初至今|本年累计|今年累计|year to date|year-to-date|\bytd\b|so far this year|this year so far".into(), |_| Some(Piece::ToDate(Unit::Year))),
        (r"本月以来|月初至今|month to date|month-to-date|\bmtd\b".into(), |_| Some(Piece::ToDate(Unit::Month))),
        (r"季初至今|quarter to date|quarter-to-date|\bqtd\b".into(), |_| Some(Piece::ToDate(Unit::Quarter))),
        (format!(r"(?:最近|近|过去|最后)的?\s?{number}\s?{unit_zh}"), |c| Some(Piece::LastN(unit(c.get(2)?.as_str())?, small(c.get(1)?.as_str())?))),
        (format!(r"(?:last|past|previous|latest|most recent|recent|final) (\d{{1,3}}|two|three|four|five|six|seven|eight|nine|ten|twelve) {unit_en}"), |c| Some(Piece::LastN(unit(c.get(2)?.as_str())?, small(c.get(1)?.as_str())?))),
        (format!(r"(?:第)?{zh_month}月份?"), |c| Some(Piece::Month(None, digit(c, &[1])?))),
        (r"第([一二三四1-4])季度?|([一二三四1-4])季度".into(), |c| Some(Piece::Quarter(None, digit(c, &[1, 2])?))),
        (r"\bq([1-4])\b".into(), |c| Some(Piece::Quarter(None, digit(c, &[1])?))),
        (r"(first|second|third|fourth|1st|2nd|3rd|4th) quarter".into(), |c| Some(Piece::Quarter(None, ordinal(c.get(1)?.as_str())?))),
        (r"(上|下)半年".into(), |c| Some(Piece::Half(None, which_half(c, 1)?))),
        (r"\bh([12])\b".into(), |c| Some(Piece::Half(None, digit(c, &[1])?))),
        (r"(first|second|1st|2nd) half(?: of the year)?".into(), |c| Some(Piece::Half(None, ordinal(c.get(1)?.as_str())?))),
        (format!(r"\b{MONTHS}\b"), |c| Some(Piece::Month(None, month_name(c, 1)?))),
    ];
    list.into_iter().filter_map(|(p, build)| Regex::new(&p).ok().map(|r| (r, build))).collect()
});

fn year(c: &Captures<'_>, group: usize) -> Option<YearRef> {
    let text = c.get(group)?.as_str();
    match text {
        "去年" | "上年" | "last year" => Some(YearRef::Back(1)),
        "今年" | "本年" | "this year" => Some(YearRef::Back(0)),
        "前年" => Some(YearRef::Back(2)),
        number => number.parse().ok().map(YearRef::Number),
    }
}

fn ymd(c: &Captures<'_>, y: usize, m: usize, d: usize) -> Option<Piece> {
    let year = c.get(y)?.as_str().parse().ok()?;
    let month = c.get(m)?.as_str();
    let month = month.parse::<i8>().ok().or_else(|| month_of(month))?;
    Date::new(year, month, c.get(d)?.as_str().parse().ok()?).ok().map(Piece::Day)
}

fn digit(c: &Captures<'_>, groups: &[usize]) -> Option<i8> {
    let text = groups.iter().find_map(|g| c.get(*g))?.as_str();
    i8::try_from(small(text)?).ok()
}

fn which_half(c: &Captures<'_>, group: usize) -> Option<i8> {
    match c.get(group).or_else(|| c.get(group + 1))?.as_str() {
        "上" | "1" => Some(1),
        _ => Some(2),
    }
}

fn ordinal(word: &str) -> Option<i8> {
    match word {
        "first" | "1st" => Some(1),
        "second" | "2nd" => Some(2),
        "third" | "3rd" => Some(3),
        "fourth" | "4th" | "last" => Some(4),
        _ => None,
    }
}

fn month_name(c: &Captures<'_>, group: usize) -> Option<i8> {
    month_of(c.get(group)?.as_str())
}

fn month_of(word: &str) -> Option<i8> {
    const STEMS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    STEMS.iter().position(|s| word.starts_with(s)).and_then(|i| i8::try_from(i + 1).ok())
}

/// Small whole numbers in digits, Chinese or English.
pub fn small(text: &str) -> Option<i32> {
    const ZH: [&str; 13] = ["零", "一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"];
    const EN: [&str; 13] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    if text == "两" {
        return Some(2);
    }
    let named = ZH.iter().position(|w| *w == text).or_else(|| EN.iter().position(|w| *w == text));
    named.and_then(|i| i32::try_from(i).ok()).or_else(|| text.parse().ok())
}

fn unit(word: &str) -> Option<Unit> {
    Some(match word.trim_start_matches('个').trim_end_matches('s') {
        "天" | "日" | "day" => Unit::Day,
        "周" | "星期" | "week" => Unit::Week,
        "月" | "month" => Unit::Month,
        "季度" | "quarter" => Unit::Quarter,
        "年" | "year" => Unit::Year,
        _ => return None,
    })
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
    join(text, &chosen)
        .into_iter()
        .map(|(s, e, when)| Found { start: char_at(s), end: char_at(e), when })
        .collect()
}

/// `over 2000` is a number, not a year; so is the 2000 of `2000元`.
fn is_a_number(text: &str, start: usize, end: usize, piece: Piece) -> bool {
    if !matches!(piece, Piece::Year(YearRef::Number(_))) || text[start..end].contains('年') {
        return false;
    }
    const BEFORE: [&str; 24] = [
        ">", "<", "=", "over", "above", "below", "under", "than", "least", "at most", "exceeds", "exceeding", "超过", "大于", "小于",
        "低于", "高于", "不到", "达到", "等于", "至少", "多于", "$", "¥",
    ];
    const AFTER: [&str; 8] = ["元", "块", "件", "个", "人", "%", "万", "条"];
    let before = text[..start].trim_end();
    let after = text[end..].trim_start();
    BEFORE.iter().any(|w| before.ends_with(w))
        || AFTER.iter().any(|w| after.starts_with(w))
        || text[..start].ends_with(['.', ','])  && text[..start].trim_end_matches(['.', ',']).ends_with(|c: char| c.is_ascii_digit())
        || text[end..].starts_with(['.', ',']) && text[end + 1..].starts_with(|c: char| c.is_ascii_digit())
}

fn is_the_verb_may(text: &str, start: usize, word: &str) -> bool {
    const BEFORE: [&str; 14] = ["in", "of", "for", "during", "since", "until", "to", "from", "and", "between", "through", "vs", "before", "after"];
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
                let from = ["between", "from", "从", "自"].iter().find(|w| before.ends_with(**w)).map_or(start, |w| before.len() - w.len());
                let tail = ["之间", "期间"].iter().find(|w| text[next_end..].starts_with(**w)).map_or(0, |w| w.len());
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
    const SINCE_BEFORE: [&str; 4] = ["since", "starting", "自从", "自"];
    const SINCE_AFTER: [&str; 5] = ["以来", "至今", "起", "开始", "onwards"];
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

/// `from January to June 2024`, `2024年1月到6月`: the year said once holds for both.
fn share_year(a: Piece, b: Piece) -> (Piece, Piece) {
    let year_of = |p: Piece| match p {
        Piece::Month(y, _) | Piece::Quarter(y, _) | Piece::Half(y, _) => y,
        Piece::Day(d) => Some(YearRef::Number(d.year())),
        Piece::Year(y) => Some(y),
        _ => None,
    };
    let with = |p: Piece, y: Option<YearRef>| match p {
        Piece::Month(None, m) => Piece::Month(y, m),
        Piece::Quarter(None, q) => Piece::Quarter(y, q),
        Piece::Half(None, h) => Piece::Half(y, h),
        other => other,
    };
    (with(a, year_of(b)), with(b, year_of(a)))
}

impl When {
    /// The same time in a year said elsewhere in the question.
    pub fn in_year(self, year: YearRef) -> Self {
        let with = |p: Piece| share_year(p, Piece::Year(year)).0;
        match self {
            When::In(p) => When::In(with(p)),
            When::Between(a, b) => When::Between(with(a), with(b)),
            When::Since(p) => When::Since(with(p)),
            When::Before(p) => When::Before(with(p)),
            When::After(p) => When::After(with(p)),
        }
    }

    /// A part of a year whose year was not said.
    pub fn lacks_year(self) -> bool {
        let lacks = |p: Piece| matches!(p, Piece::Month(None, _) | Piece::Quarter(None, _) | Piece::Half(None, _));
        match self {
            When::In(p) | When::Since(p) | When::Before(p) | When::After(p) => lacks(p),
            When::Between(a, b) => lacks(a) || lacks(b),
        }
    }

    pub fn year(self) -> Option<YearRef> {
        match self {
            When::In(Piece::Year(y)) => Some(y),
            _ => None,
        }
    }

    /// The days meant, given the last day in the data.
    pub fn resolve(self, last: Date) -> Option<Days> {
        let span = |from: Option<Date>, to: Option<Date>, label: String, pieces: &[Piece]| Days {
            from,
            to,
            label,
            assumed_year: pieces.iter().any(|p| When::In(*p).lacks_year()),
            relative: pieces.iter().any(|p| matches!(p, Piece::Relative(..) | Piece::LastN(..) | Piece::ToDate(_)) || When::In(*p).is_back()),
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
            When::In(Piece::Year(y) | Piece::Month(Some(y), _) | Piece::Quarter(Some(y), _) | Piece::Half(Some(y), _)) => {
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
            Piece::ToDate(unit) => Some((start_of(unit, last)?, last.tomorrow().ok()?, format!("{} – {last}", start_of(unit, last)?))),
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
