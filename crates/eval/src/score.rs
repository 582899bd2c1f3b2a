//! Judges an answer against what is expected. Says what is wrong, not only that something is.

use std::sync::LazyLock;

use regex::Regex;

use super::{Expect, Place};

const TOLERANCE: f64 = 0.001;
/// What rounding to two decimals may cost.
const ROUNDING: f64 = 0.0051;

static FIGURES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?\s?(%|万|亿)?").ok());
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"@([A-Za-z0-9_]+)\[([^\]]*)\]").ok());

/// Nothing when the answer is right, else what is wrong with it.
pub fn judge(expect: &Expect, report: &str) -> Result<(), String> {
    // As the reader sees it.
    let report =
        &report.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    let answer = first_paragraph(report);
    if expect.refuse {
        return if has_figure(report) {
            Err(format!("a figure where none can be given: {answer}"))
        } else {
            Ok(())
        };
    }
    if expect.figure && !has_figure(report) {
        return Err(format!("no figure where one can be given: {answer}"));
    }
    if !expect.named.is_empty() {
        return named(expect, report);
    }
    let text = if expect.place == Place::Report { report } else { answer.as_str() };
    if let Some(lead) = &expect.lead {
        let first = bold(&answer).unwrap_or_else(|| answer.clone());
        if !contains(&first, lead) {
            return Err(format!("expected `{lead}` first, got `{first}`"));
        }
    }
    if let Some(missing) = expect.texts.iter().find(|t| !contains(text, t)) {
        return Err(format!("`{missing}` is not in: {text}"));
    }
    let figures = figures(text);
    let tolerance = expect.tolerance.unwrap_or(TOLERANCE);
    match expect.numbers.iter().find(|n| !figures.iter().any(|f| close(*f, **n, tolerance))) {
        Some(missing) => Err(format!("{missing} is not in: {text}")),
        None => Ok(()),
    }
}

/// The first paragraph that is not a heading.
pub fn first_paragraph(report: &str) -> String {
    let parts = report.split("\n\n").map(str::trim);
    parts
        .filter(|p| !p.is_empty() && !p.starts_with('#') && !p.starts_with("<div"))
        .map(str::to_owned)
        .next()
        .unwrap_or_default()
}

fn bold(text: &str) -> Option<String> {
    text.split("**").nth(1).map(str::to_owned)
}

fn contains(text: &str, wanted: &str) -> bool {
    text.to_lowercase().contains(&wanted.to_lowercase())
}

/// A figure given as a result: bold, or in a table.
pub fn has_figure(report: &str) -> bool {
    let bold_digit = report.split("**").skip(1).step_by(2).any(|b| b.chars().any(|c| c.is_ascii_digit()));
    bold_digit || report.lines().any(|l| l.starts_with("| ") && l.chars().any(|c| c.is_ascii_digit()))
}

/// All figures in a text; percentages as shares and as written.
pub fn figures(text: &str) -> Vec<f64> {
    let mut out = Vec::new();
    for c in FIGURES.iter().flat_map(|r| r.captures_iter(text)) {
        let Some(whole) = c.get(0) else { continue };
        let digits: String = whole
            .as_str()
            .replace('−', "-")
            .chars()
            .filter(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | 'e' | 'E'))
            .collect();
        let Ok(value) = digits.parse::<f64>() else { continue };
        match c.get(1).map(|m| m.as_str()) {
            Some("%") => out.extend([value / 100.0, value]),
            Some("万") => out.extend([value * 1e4, value]),
            Some("亿") => out.extend([value * 1e8, value]),
            _ => out.push(value),
        }
    }
    out
}

fn close(found: f64, wanted: f64, tolerance: f64) -> bool {
    let distance = (found - wanted).abs();
    // Shares are written with four digits, other figures with two decimals.
    let rounding = if wanted.abs() < 1.5 { ROUNDING / 50.0 + wanted.abs() * tolerance } else { ROUNDING };
    distance <= (wanted.abs() * tolerance).max(rounding).max(if wanted.abs() < 1.5 { 0.000_51 } else { 0.0 })
}

fn named(expect: &Expect, report: &str) -> Result<(), String> {
    let given: Vec<(String, String)> = NAMED
        .iter()
        .flat_map(|r| r.captures_iter(report))
        .map(|c| (c[1].to_owned(), c[2].trim().to_owned()))
        .collect();
    for wanted in &expect.named {
        let Some((_, value)) = given.iter().rev().find(|(n, _)| *n == wanted.name) else {
            return Err(format!("@{}[…] is missing", wanted.name));
        };
        let same = match (value.replace(',', "").parse::<f64>(), wanted.value.replace(',', "").parse::<f64>())
        {
            (Ok(a), Ok(b)) => close(a, b, expect.tolerance.unwrap_or(TOLERANCE)),
            _ => value.eq_ignore_ascii_case(&wanted.value),
        };
        if !same {
            return Err(format!("@{}[{value}], expected {}", wanted.name, wanted.value));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Named;
    use super::*;

    fn numbers(values: &[f64]) -> Expect {
        Expect { numbers: values.to_vec(), ..Expect::default() }
    }

    #[test]
    fn figures_are_found_however_written() {
        assert!(judge(&numbers(&[1234567.891]), "总额为 **1,234,567.89**。").is_ok());
        assert!(judge(&numbers(&[0.1857]), "rate is 18.57%").is_ok());
        assert!(judge(&numbers(&[-0.05]), "变化 -5%").is_ok());
        assert!(judge(&numbers(&[1_500_000.0]), "150万").is_ok());
        assert!(judge(&numbers(&[1234.0]), "1,250").is_err());
        assert!(judge(&numbers(&[0.1857]), "rate is 18.9%").is_err());
    }

    #[test]
    fn only_the_answer_counts_unless_said_otherwise() {
        let report = "The answer is **5**.\n\n| a |\n|---|\n| 7 |";
        assert!(judge(&numbers(&[7.0]), report).is_err());
        assert!(judge(&Expect { place: Place::Report, ..numbers(&[7.0]) }, report).is_ok());
    }

    #[test]
    fn the_lead_must_lead() {
        let expect = Expect { lead: Some("华东".into()), ..Expect::default() };
        assert!(judge(&expect, "最高的是**华东**（5），最低的是**西南**（1）").is_ok());
        assert!(judge(&expect, "最高的是**西南**（5），最低的是**华东**（1）").is_err());
    }

    #[test]
    fn a_refusal_holds_no_figure() {
        let expect = Expect { refuse: true, ..Expect::default() };
        assert!(judge(&expect, "数据只覆盖 2023-01-01 至 2024-12-31，没有数字可给。").is_ok());
        assert!(judge(&expect, "The total is **5**.").is_err());
        assert!(judge(&expect, "See:\n\n| a |\n|---|\n| 5 |").is_err());
    }

    #[test]
    fn named_answers_as_in_public_sets() {
        let expect = Expect {
            named: vec![Named { name: "mean_fare".into(), value: "34.65".into() }],
            ..Expect::default()
        };
        assert!(judge(&expect, "text\n\n@mean_fare[34.65]").is_ok());
        assert!(judge(&expect, "@mean_fare[35.9]").is_err());
        assert!(judge(&expect, "34.65").is_err());
    }
}
