//! Periods as reports and tables write them: years, halves, quarters, months, days, in Chinese, English and ISO. Reads
//! them; never guesses which year "this year" is.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// A period with what is known of it; `part` is `None` for a whole year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Period {
    pub year: Option<i32>,
    pub part: Option<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    Half(u8),
    Quarter(u8),
    Month(u8),
    Day(u8, u8),
    /// Months from one to another.
    Span(u8, u8),
}

/// How fine a period is; two periods are told apart only at the same grain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grain {
    Year,
    Half,
    Quarter,
    Month,
    Day,
    Span,
}

impl Period {
    pub fn grain(self) -> Grain {
        match self.part {
            None => Grain::Year,
            Some(Part::Half(_)) => Grain::Half,
            Some(Part::Quarter(_)) => Grain::Quarter,
            Some(Part::Month(_)) => Grain::Month,
            Some(Part::Day(..)) => Grain::Day,
            Some(Part::Span(..)) => Grain::Span,
        }
    }

    /// Same grain, and nothing that both know differs.
    pub fn same(self, other: Self) -> bool {
        self.part == other.part && self.agrees_in_year(other)
    }

    pub fn agrees_in_year(self, other: Self) -> bool {
        self.year.is_none() || other.year.is_none() || self.year == other.year
    }

    /// First and last month and day, for containment and order.
    fn days(self) -> (u16, u16) {
        let months = |from: u8, to: u8| (u16::from(from) * 32, u16::from(to) * 32 + 31);
        match self.part {
            None => months(1, 12),
            Some(Part::Half(h)) => months(h * 6 - 5, h * 6),
            Some(Part::Quarter(q)) => months(q * 3 - 2, q * 3),
            Some(Part::Month(m)) => months(m, m),
            Some(Part::Day(m, d)) => (u16::from(m) * 32 + u16::from(d), u16::from(m) * 32 + u16::from(d)),
            Some(Part::Span(a, b)) => months(a, b),
        }
    }

    /// Whether `inner` lies within and is finer.
    pub fn holds(self, inner: Self) -> bool {
        let ((a, b), (c, d)) = (self.days(), inner.days());
        self.agrees_in_year(inner) && a <= c && d <= b && (a, b) != (c, d)
    }

    /// For sorting in time; an unknown year counts as one and the same.
    pub fn order(self) -> (i32, u16) {
        (self.year.unwrap_or(0), self.days().0)
    }

    /// The same part a year before.
    pub fn year_before(self) -> Option<Self> {
        self.year.map(|y| Self { year: Some(y - 1), ..self })
    }

    /// The one before at the same grain.
    pub fn before(self) -> Option<Self> {
        let (part, back) = match self.part {
            None => return self.year_before(),
            Some(Part::Half(h)) => (Part::Half(if h == 1 { 2 } else { 1 }), h == 1),
            Some(Part::Quarter(q)) => (Part::Quarter(if q == 1 { 4 } else { q - 1 }), q == 1),
            Some(Part::Month(m)) => (Part::Month(if m == 1 { 12 } else { m - 1 }), m == 1),
            Some(Part::Day(m, d)) if d > 1 => (Part::Day(m, d - 1), false),
            Some(Part::Day(..) | Part::Span(..)) => return None,
        };
        Some(Self { year: self.year.map(|y| y - i32::from(back)), part: Some(part) })
    }
}

/// A period found in a text, at its bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    pub start: usize,
    pub end: usize,
    pub period: Period,
}

const MONTHS: &str = "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?";

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

/// One pattern, tried from the most to the least said; named groups say what was found.
static PERIOD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let year = r"(?:19|20)\d\d";
    pattern(&format!(
        r"(?xi)
        (?P<y1>{year})[-/.](?P<m1>0?[1-9]|1[0-2])[-/.](?P<d1>3[01]|[0-2]?\d)(?:[T\ ]\d\d:\d\d(?::\d\d)?)?
        | (?P<y2>{year})\s?年?\s*(?P<m2a>1[0-2]|[1-9])\s*[-–—~～至到]\s*(?P<m2b>1[0-2]|[1-9])\s*月份?
        | (?P<y3>{year})\s?年\s*(?P<m3>1[0-2]|0?[1-9])\s*月(?:份|\s*(?P<d3>3[01]|[0-2]?\d)\s*[日号])?
        | (?P<m4a>1[0-2]|[1-9])\s*月?\s*[-–—~～至到]\s*(?P<m4b>1[0-2]|[1-9])\s*月份?
        | (?P<y5>{year})\s*(?:年\s*)?[-/]?\s*(?:Q(?P<q5>[1-4])|第?(?P<c5>[一二三四1-4])\s*季度|H(?P<h5>[12])|(?P<w5>[上下])半年)
        | (?P<y6>{year})[-/](?P<m6>0[1-9]|1[0-2])
        | (?P<m7>1[0-2]|0?[1-9])\s*月(?:份|\s*(?P<d7>3[01]|[0-2]?\d)\s*[日号])?
        | (?:Q(?P<q8>[1-4])|第?(?P<c8>[一二三四])\s*季度|第\s*(?P<c8b>[1-4])\s*季度|H(?P<h8>[12])|(?P<w8>[上下])半年)(?:\s*(?:of\s+)?(?P<y8>{year}))?
        | (?P<o9>first|second|third|fourth)\s+(?P<k9>quarter|half)(?:\s+of)?(?:\s+(?P<y9>{year}))?
        | (?P<n11>{MONTHS})\.?,?\s+(?P<y11>{year})
        | (?P<n10>{MONTHS})\.?\s+(?P<d10>3[01]|[0-2]?\d)(?:st|nd|rd|th)?\b(?:,?\s+(?P<y10>{year}))?
        | (?P<n14>{MONTHS})
        | (?P<c12>十[一二]?|[一二三四五六七八九])月份?
        | (?P<y13>{year})(?:\s*(?:财年|年度|年))?
        "
    ))
});

fn group<'t>(found: &Captures<'t>, names: &[&str]) -> Option<&'t str> {
    names.iter().find_map(|n| found.name(n)).map(|m| m.as_str())
}

fn chinese(text: &str) -> u8 {
    let digit = |c| "一二三四五六七八九".chars().position(|d| d == c).map_or(0, |i| i as u8 + 1);
    match text.strip_prefix('十') {
        Some(rest) => 10 + rest.chars().next().map_or(0, digit),
        None => text.parse().unwrap_or_else(|_| text.chars().next().map_or(0, digit)),
    }
}

fn month_named(name: &str) -> u8 {
    let all = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let name = name.to_lowercase();
    all.iter().position(|m| name.starts_with(m)).map_or(0, |i| i as u8 + 1)
}

fn read(found: &Captures<'_>) -> Period {
    let year = group(found, &["y1", "y2", "y3", "y5", "y6", "y8", "y9", "y10", "y11", "y13"])
        .and_then(|y| y.parse().ok());
    let small = |names: &[&str]| group(found, names).and_then(|t| t.parse::<u8>().ok());
    let month = small(&["m1", "m3", "m6", "m7"])
        .or_else(|| group(found, &["n10", "n11", "n14"]).map(month_named))
        .or_else(|| group(found, &["c12"]).map(chinese));
    let day = small(&["d1", "d3", "d7", "d10"]);
    let quarter = small(&["q5", "q8"]).or_else(|| group(found, &["c5", "c8", "c8b"]).map(chinese));
    let half =
        small(&["h5", "h8"]).or_else(|| group(found, &["w5", "w8"]).map(|w| if w == "上" { 1 } else { 2 }));
    let named = group(found, &["o9"]).map(|o| match o.to_lowercase().as_str() {
        "first" => 1,
        "second" => 2,
        "third" => 3,
        _ => 4,
    });
    let part = match (small(&["m2a", "m4a"]), small(&["m2b", "m4b"]), month, day) {
        (Some(a), Some(b), ..) if a <= b => Some(Part::Span(a, b)),
        (_, _, Some(m), Some(d)) => Some(Part::Day(m, d)),
        (_, _, Some(m), None) => Some(Part::Month(m)),
        _ if quarter.is_some() => quarter.map(Part::Quarter),
        _ if half.is_some() => half.map(Part::Half),
        _ => named.and_then(|n| match group(found, &["k9"]) {
            Some(k) if k.eq_ignore_ascii_case("quarter") => Some(Part::Quarter(n)),
            Some(_) if n <= 2 => Some(Part::Half(n)),
            _ => None,
        }),
    };
    Period { year, part }
}

/// Every period of a text, from left to right.
pub fn find(text: &str) -> Vec<Found> {
    let Some(pattern) = PERIOD.as_ref() else { return Vec::new() };
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(found) = pattern.captures_at(text, at) {
        let Some(whole) = found.get(0) else { break };
        at = whole.end().max(at + 1);
        let wordy = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let before = whole.start().checked_sub(1).map(|i| bytes[i]);
        let first = bytes[whole.start()];
        let last = bytes[whole.end() - 1];
        // "Summary" holds no March, "12024" no year, "1.5月" no month.
        let glued = before.is_some_and(|b| {
            first.is_ascii()
                && (wordy(b) || (first.is_ascii_digit() && (b == b'.' || b == b',' || b == b'$')))
        });
        let runs_on = last.is_ascii()
            && bytes.get(whole.end()).is_some_and(|b| {
                wordy(*b)
                    || (last.is_ascii_digit()
                        && (*b == b',' || *b == b'.' || *b == b'%')
                        && (*b == b'%' || bytes.get(whole.end() + 1).is_some_and(u8::is_ascii_digit)))
            });
        let period = read(&found);
        // "第 2 月" counts months from a start.
        let counts = text[..whole.start()].trim_end().ends_with('第');
        // "may" as a verb is no month.
        let verb = whole.as_str() == "may"
            || whole.as_str() == "mar"
            || whole.as_str() == "march"
            || whole.as_str() == "dec";
        if !glued && !runs_on && !verb && !counts && (period.year.is_some() || period.part.is_some()) {
            all.push(Found { start: whole.start(), end: whole.end(), period });
        } else {
            at = whole.start() + text[whole.start()..].chars().next().map_or(1, char::len_utf8);
        }
    }
    all
}

/// `2024-03` and `2024-03-05`, the usual cells, without a pattern.
fn iso(text: &[u8]) -> Option<Period> {
    let number = |part: &[u8]| -> Option<i32> {
        part.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i32::from(b - b'0')))
    };
    if !matches!(text.len(), 7 | 10) || text[4] != b'-' || (text.len() == 10 && text[7] != b'-') {
        return None;
    }
    let (year, month) = (number(&text[..4])?, number(&text[5..7])? as u8);
    let part = match text.get(8..10) {
        Some(day) => Part::Day(month, number(day).filter(|d| (1..=31).contains(d))? as u8),
        None => Part::Month(month),
    };
    ((1900..2100).contains(&year) && (1..=12).contains(&month))
        .then_some(Period { year: Some(year), part: Some(part) })
}

/// A cell that is nothing but a period.
pub fn whole(text: &str) -> Option<Period> {
    let text = text.trim();
    if text.len() > 40 {
        return None;
    }
    if let Some(period) = iso(text.as_bytes()) {
        return Some(period);
    }
    let starts = |c: char| c.is_ascii_alphanumeric() || "第上下一二三四五六七八九十".contains(c);
    if !text.starts_with(starts) {
        return None;
    }
    let midnight = text.strip_suffix(" 00:00:00").or_else(|| text.strip_suffix("T00:00:00")).unwrap_or(text);
    match find(midnight).as_slice() {
        [one] if one.start == 0 && one.end == midnight.len() => Some(one.period),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let one = |f: &Found| format!("{}={:?}/{:?}", &text[f.start..f.end], f.period.year, f.period.part);
        find(text).iter().map(one).collect::<Vec<_>>().join(" ").replace("Some", "")
    }

    #[test]
    fn periods_of_both_languages_are_read() {
        insta::assert_snapshot!(
            [
                "2024-03-05 和 2024年3月 以及 3 月、第四季度",
                "Q1 2024, 2024Q2, first quarter of 2023, H1",
                "in March 2024 and in June; 12024 and Summary may be",
                "1—3月 与 上半年、2023 年",
                "十二月 sales_2023 1.5月",
            ]
            .map(shown)
            .join("\n")
        );
    }

    #[test]
    fn order_and_containment() {
        let p = |t| whole(t).unwrap();
        assert!(p("上半年").holds(p("2024-03")));
        assert!(!p("2023年").holds(p("2024-03")));
        assert_eq!(p("2024-01").before(), Some(p("2023-12")));
        assert!(p("1月").same(p("2024-01")));
        assert!(!p("2024").same(p("2024-01")));
        assert_eq!(whole("2024 orders"), None);
    }
}
