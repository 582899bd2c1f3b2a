//! Which numbers are not figures: years, dates, ordinals, list numbers, ids, versions, windows of time, "top 10". Looks
//! at a number's neighbours only.

use std::sync::LazyLock;

use regex::Regex;

use crate::number::{Number, Sign, Unit};

static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?:第|前|后|末|首|排名|排第|位列|近|过去|最近|未来|每|r|top|bottom|first|last|past|next|previous|every|no\.|#|№",
        r"|rank(?:ed|s)?|chapter|section|step|version|figure|table|phase|tier|week|day|level|图|表|步骤|版本)[\s\-#]*$",
    ))
    .ok()
});
static AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)^(?:st|nd|rd|th)\b|^\s*(?:个月|年期|年内|月[份]?\b|号线|号楼|点整|时\d|:\d\d|世纪|年级|期\b)",
        r"|^[\s-]*(?:months?|quarters?|years?|weeks?|days?|hours?)\s+(?:moving|rolling|window|period|trend|average)",
        r"|^-(?:day|month|year|week|point|star|hour)\b",
    ))
    .ok()
});
static LIST: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[\s>*_#]*(?:[（(]?\d{1,3}(?:\.\d{1,2}){0,3}[.)、）:：]?)$").ok());

/// Whether a number of the text stands for something else than an amount.
pub fn is_no_figure(text: &str, number: &Number) -> bool {
    let before = tail(text, number.span.start);
    let after = head(text, number.span.end);
    part_of_a_word(text, number)
        || numbers_a_list(text, number)
        || stands_for_a_place(before, after, number)
        || is_convention(before, after, number)
}

static LEVEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^[\s-]*(?:confidence|prediction|CI\b|interval|significance|置信|预测区间|显著)").ok()
});
static BOUNDED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:σ|sigma|倍标准差|分制|分位|百分位|天以[内上下]|天内|日内|[年月日天]以[内上])").ok()
});
static PORTION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)(?:前|后|中间|头部|\b(?:top|bottom|middle|central))\s*$").ok());

/// Levels of significance, scales of marks, units to count in: "p < 0.05", "95% interval", "4.2/5", "per 1,000", "前 20%".
fn is_convention(before: &str, after: &str, number: &Number) -> bool {
    let is =
        |pattern: &LazyLock<Option<Regex>>, text: &str| pattern.as_ref().is_some_and(|p| p.is_match(text));
    let lead = before.trim_end();
    let shown = number.value;
    let one_of = |values: &[f64]| values.iter().any(|v| (v - shown).abs() < 1e-12);
    let whole = number.unit == Unit::Plain && number.scale == 1.0 && number.sign == Sign::Bare;
    let level =
        whole && one_of(&[0.1, 0.05, 0.01, 0.001]) && lead.ends_with(['<', '＜', '>', '＞', '≤', '于']);
    let scale = whole && one_of(&[5.0, 10.0, 100.0]) && is_out_of(lead);
    let counted =
        whole && one_of(&[1.0, 100.0, 1e3, 1e4, 1e5]) && (lead.ends_with("per") || lead.ends_with('每'));
    let unit = whole && shown == 1.0 && lead.chars().rev().take(5).any(|c| c == '每');
    let sure = number.unit == Unit::Percent && one_of(&[0.9, 0.95, 0.99]) && is(&LEVEL, after);
    let portion = number.unit == Unit::Percent && !number.formatted && is(&PORTION, before);
    level || scale || counted || unit || sure || portion || (whole && is(&BOUNDED, after))
}

/// "4.2/5", "4.6 out of 5"
fn is_out_of(lead: &str) -> bool {
    let Some(rest) = lead.strip_suffix("out of").or_else(|| lead.strip_suffix('/')) else { return false };
    let digits = rest.trim_end().len() - rest.trim_end().trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let decimal = rest.trim_end()[..rest.trim_end().len() - digits].ends_with('.');
    digits > 0 && (decimal || digits == 1)
}

/// Up to forty bytes before, cut at a character.
fn tail(text: &str, at: usize) -> &str {
    let mut from = at.saturating_sub(40);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..at]
}

fn head(text: &str, at: usize) -> &str {
    let mut to = (at + 40).min(text.len());
    while !text.is_char_boundary(to) {
        to -= 1;
    }
    &text[at..to]
}

/// Ids, versions, file names, numbers inside words.
fn part_of_a_word(text: &str, number: &Number) -> bool {
    let mut before = text[..number.digits.start].chars().rev();
    let (first, second) = (before.next(), before.next());
    let wordy = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let money_word = number.span.start < number.digits.start && number.money;
    let clock = first == Some(':') && digit(second);
    let version = first == Some('.') && digit(second);
    if clock || version || (!money_word && (wordy(first) || hangs_on_a_word(&text[..number.digits.start]))) {
        return true;
    }
    let mut after = text[number.span.end..].chars();
    let (next, then) = (after.next(), after.next());
    if number.span.end == number.digits.end && wordy(next) {
        return true;
    }
    let more = then.is_some_and(|c| c.is_ascii_digit());
    // 1.2.3, 10:30, 3/4, A12-3: but "10-20" is a range of two figures.
    let chained = matches!(next, Some('.' | ':')) && more;
    let dashed = next == Some('-')
        && then.is_some_and(|c| c.is_ascii_alphabetic())
        && number.unit == Unit::Plain
        && !number.formatted
        && number.scale == 1.0;
    (chained && !number.formatted) || (dashed && !is_per_word(&text[number.span.end..]))
}

/// `SKU-100`, `A12-3`: a dash and digits that lead back to a letter.
fn hangs_on_a_word(before: &str) -> bool {
    let stem = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    stem.len() < before.len()
        && before.len() - stem.len() < 40
        && before[stem.len()..].starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && before.ends_with('-')
        && stem.ends_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

fn is_per_word(after: &str) -> bool {
    ["-day", "-month", "-year", "-percentage", "-point"].iter().any(|w| after.starts_with(w))
}

/// `1.`, `2)`, `### 1.2` at the start of a line.
fn numbers_a_list(text: &str, number: &Number) -> bool {
    if number.unit != Unit::Plain || number.scale != 1.0 || number.sign != Sign::Bare {
        return false;
    }
    let line = text[..number.digits.end].rfind('\n').map_or(0, |i| i + 1);
    let rest = &text[number.digits.end..];
    let mark = rest.chars().next();
    let closes = match mark {
        Some('.') => !rest[1..].starts_with(|c: char| c.is_ascii_digit()),
        Some(')' | '、' | '）') => true,
        // "### 2 概述" and "### 1.2 概述"
        _ => text[line..].trim_start().starts_with('#'),
    };
    let lead = &text[line..number.digits.end];
    closes && lead.len() < 40 && LIST.as_ref().is_some_and(|l| l.is_match(lead))
}

/// Ordinals, ranks, windows, "top 10".
fn stands_for_a_place(before: &str, after: &str, number: &Number) -> bool {
    let whole = number.unit == Unit::Plain && number.scale == 1.0 && !number.formatted && !number.money;
    if !whole || number.sign != Sign::Bare {
        return false;
    }
    let led = BEFORE.as_ref().and_then(|b| b.find(before)).is_some_and(|m| {
        // "per", "over", "user" end in r and are no R2.
        let glued = before[..m.start()].chars().next_back().is_some_and(|c| c.is_ascii_alphabetic());
        let word = m.as_str().trim_end();
        let ascii = word.starts_with(|c: char| c.is_ascii_alphabetic());
        let lone_r = word.eq_ignore_ascii_case("r") && m.as_str().len() > 1;
        !(lone_r || ascii && glued)
    });
    led || AFTER.as_ref().is_some_and(|a| a.is_match(after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number;

    fn kept(text: &str) -> Vec<&str> {
        number::find(text).into_iter().filter(|n| !is_no_figure(text, n)).map(|n| &text[n.span]).collect()
    }

    #[test]
    fn ids_ordinals_lists_and_versions_are_no_figures() {
        for text in [
            "前 10 名",
            "第 3",
            "R2",
            "top 5 customers",
            "upload_001",
            "A12-3",
            "v1.2.3",
            "SKU-100",
            "1. 华东",
            "### 2.1 概述",
            "10:30",
            "3rd",
            "90th percentile",
            "last 3 months",
            "最近 7 天",
            "(1) 华东",
            "2) b",
            "7-day average",
            "utf8",
            "近 3 个月",
        ] {
            assert_eq!(kept(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn amounts_stay_figures() {
        for (text, figures) in [
            ("共 12 人", vec!["12"]),
            ("range 10-20", vec!["10", "20"]),
            ("over 300 orders", vec!["300"]),
            ("(n: 5.2)", vec!["5.2"]),
            ("RMB 300", vec!["RMB 300"]),
            ("收入：12,000 元", vec!["12,000"]),
            ("a 3.1 percentage-point rise", vec!["3.1 percentage-point"]),
            ("A/B 12", vec!["12"]),
        ] {
            assert_eq!(kept(text), figures, "{text}");
        }
    }
}
