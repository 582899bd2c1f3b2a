//! Numbers with their units as written: `1,234.5`, `12.3%`, `3.2 个百分点`, `1.2亿`, `$4.5M`, `2.3x`, `百分之三十`. Reads one
//! number at a place; whether it is a figure is decided in `skip`.

use std::sync::LazyLock;

use regex::Regex;

use crate::layout::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// An amount or a count.
    Plain,
    Percent,
    /// Percentage points.
    Points,
    /// A multiple: 倍, ×.
    Times,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// None was written.
    Bare,
    Plus,
    Minus,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// With sign, currency and unit.
    pub span: Span,
    /// The digits alone.
    pub digits: Span,
    /// Without sign, in base units: percent and points as fractions.
    pub value: f64,
    /// Half of the last shown digit, in base units.
    pub half: f64,
    /// How many digits were written, without leading and, when whole, trailing zeros.
    pub digits_shown: usize,
    pub scale: f64,
    pub unit: Unit,
    pub sign: Sign,
    pub money: bool,
    /// Has a decimal point or thousands separators, which ids and years have not.
    pub formatted: bool,
}

static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?P<lead>(?:[+\-−－＋–]\s?)?(?:(?:US|HK|A|C)?\$|[¥￥€£₹]|(?:RMB|CNY|USD|EUR|GBP)\s?)?\s?[+\-−－＋]?)",
        r"(?P<num>\d{1,3}(?:[,，]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?)",
    ))
    .ok()
});
static UNIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?:(?P<points>\s?(?:个|個)?百分[点點]|\s?[-\s]?percentage[-\s]points?|\s?(?:ppts?|pp|pct\.?\s?pts?)\b)",
        r"|(?P<percent>\s?[%％‰]|\s?percent\b|\s?per\s?cent\b)",
        r"|(?P<times>\s?倍|[x×]|\s×|\s?times\b)",
        r"|(?P<scale>\s?(?:万亿|千万|百万|十万|亿|万|million|billion|trillion|thousand|bn|mn)|[kKMBT]|千)",
        r")?",
    ))
    .ok()
});
static SPELT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"百分之([一二三四五六七八九十百零点两]+)|([一二三四五六七八九两])成").ok());

fn scale_of(word: &str) -> f64 {
    match word.trim() {
        "k" | "K" | "千" | "thousand" => 1e3,
        "万" => 1e4,
        "十万" => 1e5,
        "M" | "百万" | "million" | "mn" => 1e6,
        "千万" => 1e7,
        "亿" => 1e8,
        "B" | "billion" | "bn" => 1e9,
        "T" | "万亿" | "trillion" => 1e12,
        _ => 1.0,
    }
}

/// Every number of the text, whatever it stands for.
pub fn find(text: &str) -> Vec<Number> {
    let (Some(number), Some(unit)) = (NUMBER.as_ref(), UNIT.as_ref()) else { return Vec::new() };
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(found) = number.captures_at(text, at) {
        let (Some(lead), Some(num)) = (found.name("lead"), found.name("num")) else { break };
        at = num.end();
        if let Some(one) = read(text, lead.range(), num.range(), unit) {
            at = at.max(one.span.end);
            all.push(one);
        }
    }
    spelt(text, &mut all);
    all
}

fn read(text: &str, lead: Span, num: Span, unit: &Regex) -> Option<Number> {
    let written = &text[num.clone()];
    let plain: String = written.chars().filter(|c| !matches!(c, ',' | '，')).collect();
    let shown: f64 = plain.parse().ok().filter(|v: &f64| v.is_finite())?;
    let decimals = plain.split(['e', 'E']).next()?.split_once('.').map_or(0, |(_, d)| d.len()) as i32;
    let found = unit.captures(&text[num.end..])?;
    let group = |name| found.name(name).map(|m: regex::Match<'_>| m.as_str());
    let mut end = num.end + found.get(0).map_or(0, |m| m.end());
    let (mut kind, mut scale) = match (group("points"), group("percent"), group("times"), group("scale")) {
        (Some(_), ..) => (Unit::Points, 0.01),
        (_, Some(p), ..) => (Unit::Percent, if p.contains('‰') { 0.001 } else { 0.01 }),
        (_, _, Some(_), _) => (Unit::Times, 1.0),
        (.., Some(word)) => (Unit::Plain, scale_of(word)),
        _ => (Unit::Plain, 1.0),
    };
    // "3 times a week" and "5 km" keep their numbers, not these units; so does 千 of 千米.
    let next = text[end..].chars().next();
    let last = text[..end].chars().next_back();
    let runs_on =
        last.is_some_and(|c| c.is_ascii_alphabetic()) && next.is_some_and(|c| c.is_ascii_alphanumeric());
    let other = last == Some('千') && !next.is_none_or(|c| "元人件台次单户万，。、；）|".contains(c));
    if runs_on || other {
        (kind, scale, end) = (Unit::Plain, 1.0, num.end);
    }
    let prefix = &text[lead.clone()];
    let (sign, start) = sign_of(text, &lead, prefix);
    let money = prefix.chars().any(|c| "$¥￥€£₹".contains(c))
        || prefix.chars().any(|c| c.is_ascii_uppercase())
        || ["元", "美元", "块", "人民币", " USD", " yuan", " dollars"]
            .iter()
            .any(|m| text[end..].starts_with(m));
    let significant = plain.trim_start_matches(['0', '.']).replace('.', "");
    let digits_shown =
        if decimals == 0 { significant.trim_end_matches('0').len().max(1) } else { significant.len().max(1) };
    Some(Number {
        span: start..end,
        digits: num,
        value: shown * scale,
        half: 0.5 * 10f64.powi(-decimals) * scale,
        digits_shown,
        scale,
        unit: kind,
        sign,
        money,
        formatted: written.contains(['.', ',', '，']),
    })
}

/// A sign counts when nothing it could join or count from stands before it.
fn sign_of(text: &str, lead: &Span, prefix: &str) -> (Sign, usize) {
    let before = text[..lead.end - prefix.trim_start().len()].chars().next_back();
    let joined = before.is_some_and(|c| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '%' | '）' | ')' | '日' | '月' | '年')
    });
    let mark = prefix.chars().find(|c| "+-−－＋–".contains(*c));
    let trimmed = prefix.trim_start();
    let skipped = prefix.len() - trimmed.len();
    match mark {
        None => (Sign::Bare, lead.start + skipped),
        Some(m) => {
            let leads = trimmed.starts_with(m);
            let apart = trimmed.strip_prefix(m).is_some_and(|r| r.starts_with(char::is_whitespace));
            let dash = m == '–' && before.is_some_and(|c| !c.is_whitespace() && c != '|');
            if leads && (joined || apart || dash) {
                let after = trimmed.len() - trimmed[m.len_utf8()..].trim_start().len();
                return (Sign::Bare, lead.start + skipped + after);
            }
            let sign = if matches!(m, '+' | '＋') { Sign::Plus } else { Sign::Minus };
            (sign, lead.start + skipped)
        }
    }
}

/// 百分之三十五, 三成: the two spelt forms that are always figures.
fn spelt(text: &str, all: &mut Vec<Number>) {
    let before = all.len();
    for found in SPELT.iter().flat_map(|s| s.captures_iter(text)) {
        let Some(span) = found.get(0).map(|m| m.range()) else { continue };
        let (value, half) = match (found.get(1), found.get(2)) {
            (Some(words), _) => match chinese(words.as_str()) {
                Some((v, decimals)) => (v / 100.0, 0.005 * 10f64.powi(-decimals)),
                None => continue,
            },
            (_, Some(digit)) => (chinese(digit.as_str()).map_or(0.0, |(v, _)| v) / 10.0, 0.05),
            _ => continue,
        };
        all.push(Number {
            digits: span.clone(),
            span,
            value,
            half,
            digits_shown: 2,
            scale: 0.01,
            unit: Unit::Percent,
            sign: Sign::Bare,
            money: false,
            formatted: true,
        });
    }
    if all.len() > before {
        all.sort_by_key(|n| n.span.start);
    }
}

fn chinese(words: &str) -> Option<(f64, i32)> {
    let digit = |c| "零一二三四五六七八九".chars().position(|d| d == c).or((c == '两').then_some(2));
    let (whole, fraction) = words.split_once('点').unwrap_or((words, ""));
    let (mut total, mut last) = (0.0, None);
    for c in whole.chars() {
        match c {
            '十' => total += 10.0 * last.take().map_or(1.0, |d| d as f64),
            '百' => total += 100.0 * last.take().map_or(1.0, |d| d as f64),
            _ => last = Some(digit(c)?),
        }
    }
    total += last.map_or(0.0, |d| d as f64);
    let mut decimals = 0;
    for c in fraction.chars() {
        decimals += 1;
        total += digit(c)? as f64 * 10f64.powi(-decimals);
    }
    Some((total, decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        find(text)
            .iter()
            .map(|n| format!("{} = {:?} {} ±{} {:?}", &text[n.span.clone()], n.sign, n.value, n.half, n.unit))
            .collect()
    }

    #[test]
    fn units_scales_and_signs_are_read() {
        insta::assert_debug_snapshot!(shown(
            "1,234.5 元 -12.3% 3.2 个百分点 1.2亿元 $4.5M 2.3x 约 45 万 US$-3k +5pp 10–20 A-3 3 千米 1.5倍 -$5 百分之三十五 三成 2 million"
        ));
    }
}
