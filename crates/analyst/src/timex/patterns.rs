//! The ways a time is written, in Chinese and English.

use std::sync::LazyLock;

use jiff::civil::Date;
use regex::{Captures, Regex};

use super::{Piece, Unit, When, YearRef, small};

pub(super) type Build = fn(&Captures<'_>) -> Option<Piece>;

const MONTHS: &str = r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?";

pub(super) static PATTERNS: LazyLock<Vec<(Regex, Build)>> = LazyLock::new(|| {
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
        (r"the previous year|previous year|prior year|the preceding year|the year before|one year earlier|a year earlier|上一年|前一年|之前一年".into(), |_| Some(Piece::Relative(Unit::Year, 1))),
        (r"上个?月|前一个月|上一个月|last month|(?:the )?previous month|(?:the )?prior month|(?:the )?preceding month|the month before|a month earlier".into(), |_| Some(Piece::Relative(Unit::Month, 1))),
        (r"这个月|本月|当月|最近一个月|最新一个月|最后一个月|this month|current month|latest month|most recent month|the final month".into(), |_| Some(Piece::Relative(Unit::Month, 0))),
        (r"上上个?月".into(), |_| Some(Piece::Relative(Unit::Month, 2))),
        (r"上个?季度?|上一个季度|上一季度?|前一个?季度?|last quarter|(?:the )?previous quarter|(?:the )?prior quarter|(?:the )?preceding quarter|the quarter before|a quarter earlier".into(), |_| Some(Piece::Relative(Unit::Quarter, 1))),
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
        (format!(r"\b(spring|summer|autumn|fall|winter)(?: of| in)? {y}"), |c| Some(Piece::Season(year(c, 2), season(c.get(1)?.as_str())?))),
        (format!(r"{y}年?的?(春|夏|秋|冬)[天季]?"), |c| Some(Piece::Season(year(c, 1), season(c.get(2)?.as_str())?))),
        (r"\b(?:in |during |over |the |of )+(spring|summer|autumn|fall|winter)\b".into(), |c| Some(Piece::Season(None, season(c.get(1)?.as_str())?))),
        (r"(春|夏|秋|冬)[天季]".into(), |c| Some(Piece::Season(None, season(c.get(1)?.as_str())?))),
        (format!(r"\b{MONTHS}\b"), |c| Some(Piece::Month(None, month_name(c, 1)?))),
    ];
    list.into_iter().filter_map(|(p, build)| Regex::new(&p).ok().map(|r| (r, build))).collect()
});

static MONTH_RANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let month = "(十二|十一|十|一|二|三|四|五|六|七|八|九|1[0-2]|0?[1-9])";
    let years = r"(?:((?:19|20)\d\d)年的?\s?|(去年|今年|前年|上年|本年)的?\s?)?";
    Regex::new(&format!(r"(?:从|自)?{years}{month}\s?(?:到|至|-|~|—|–)\s?{month}月份?(?:之间|期间)?")).ok()
});

/// `今年1到9月`, `1-9月`: the month is said once.
pub(super) fn month_ranges(text: &str) -> Vec<(usize, usize, When)> {
    let captures = MONTH_RANGE.iter().flat_map(|r| r.captures_iter(text));
    let range = |c: Captures<'_>| {
        let whole = c.get(0)?;
        let inside =
            text[..whole.start()].ends_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | '/'));
        let said = year(&c, 1).or_else(|| year(&c, 2));
        let (from, to) = (digit(&c, &[3])?, digit(&c, &[4])?);
        let between = When::Between(Piece::Month(said, from), Piece::Month(said, to));
        (!inside && from < to).then_some((whole.start(), whole.end(), between))
    };
    captures.filter_map(range).collect()
}

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

fn season(word: &str) -> Option<i8> {
    Some(match word {
        "spring" | "春" => 3,
        "summer" | "夏" => 6,
        "autumn" | "fall" | "秋" => 9,
        "winter" | "冬" => 12,
        _ => return None,
    })
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
    const STEMS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    STEMS.iter().position(|s| word.starts_with(s)).and_then(|i| i8::try_from(i + 1).ok())
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
