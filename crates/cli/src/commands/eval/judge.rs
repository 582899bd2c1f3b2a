//! Whether an answer is right, by our rule and by the benchmark's own (SPEC W10). Ours reads values as people do: lists item
//! by item, whole numbers exactly, decimals at the label's precision, quotes aside. Theirs compares text, else to 1e-6.

use std::sync::LazyLock;

use ba_eval::{Case, Named, score};
use regex::Regex;

/// What is wrong with an answer by our rule, and what the benchmark says, for questions with named values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub problem: Option<String>,
    pub strict: Option<bool>,
}

const ASK: &str = "Give every value the question asks for once more at the end, each on its own line as @name[value], in the order of the question, with names of your own.";

/// What to ask the model. The names under which values are expected are not told unless the question itself has them.
pub fn prompt(case: &Case) -> String {
    if case.expect.named.is_empty() || names_formats(case) {
        return case.question.clone();
    }
    format!("{}\n\n{ASK}", case.question)
}

fn names_formats(case: &Case) -> bool {
    case.expect.named.iter().all(|n| case.question.contains(&format!("@{}[", n.name)))
}

pub fn judge(case: &Case, report: &str) -> Verdict {
    if case.expect.named.is_empty() || case.expect.refuse {
        return Verdict { problem: score::judge(&case.expect, report).err(), strict: None };
    }
    let wanted = &case.expect.named;
    let by_name = names_formats(case);
    let problem = named(wanted, &values(report), by_name).err();
    Verdict { problem, strict: Some(strict(wanted, report, by_name)) }
}

/// `@name[value]` as written; the value may hold brackets itself.
fn values(report: &str) -> Vec<(String, String)> {
    static START: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"@([\p{L}\p{N}_]+)\[").ok());
    let mut found = Vec::new();
    for start in START.iter().flat_map(|s| s.captures_iter(report)) {
        let (Some(whole), Some(name)) = (start.get(0), start.get(1)) else { continue };
        let mut depth = 1;
        let rest = &report[whole.end()..];
        let close = rest.char_indices().find(|(_, c)| {
            depth += match c {
                '[' => 1,
                ']' => -1,
                _ => 0,
            };
            depth == 0
        });
        if let Some((end, _)) = close {
            found.push((name.as_str().to_owned(), rest[..end].trim().to_owned()));
        }
    }
    found
}

/// The value given for each label: by name, or by place where the names were the model's own to choose.
fn given<'g>(wanted: &[Named], given: &'g [(String, String)], by_name: bool, at: usize) -> Option<&'g str> {
    let named = given.iter().rev().find(|(n, _)| n.eq_ignore_ascii_case(&wanted[at].name));
    let placed = || (!by_name && given.len() == wanted.len()).then(|| &given[at]);
    named.or_else(placed).map(|(_, value)| value.as_str())
}

fn named(wanted: &[Named], found: &[(String, String)], by_name: bool) -> Result<(), String> {
    for (at, label) in wanted.iter().enumerate() {
        let Some(value) = given(wanted, found, by_name, at) else {
            return Err(format!("@{}[…] is missing", label.name));
        };
        if !same(value, &label.value) {
            return Err(format!("@{}[{value}], expected {}", label.name, label.value));
        }
    }
    Ok(())
}

/// Two values as people compare them.
pub fn same(value: &str, label: &str) -> bool {
    let (value, label) = (plain(value), plain(label));
    if let (Some(label), Some(value)) = (number(label), number(value)) {
        return near(&value, &label);
    }
    match (items(value), items(label)) {
        (value, label) if value.len() > 1 || label.len() > 1 => {
            value.len() == label.len() && value.iter().zip(&label).all(|(v, l)| same(v, l))
        }
        _ => words(value) == words(label),
    }
}

/// Without quotes, code marks and the brackets of a list.
fn plain(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let before = text;
        for (open, close) in [
            ("\"", "\""),
            ("'", "'"),
            ("`", "`"),
            ("“", "”"),
            ("‘", "’"),
            ("[", "]"),
            ("(", ")"),
            ("**", "**"),
        ] {
            if let Some(inner) = text.strip_prefix(open).and_then(|t| t.strip_suffix(close)) {
                let apart = inner.contains(open) || inner.contains(close);
                text = if apart && open != "[" && open != "(" { text } else { inner.trim() };
            }
        }
        if text == before {
            return text;
        }
    }
}

/// The parts of a list, cut at commas outside quotes and brackets.
fn items(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth, mut quote) = (Vec::new(), 0, 0usize, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            // An apostrophe inside a word opens nothing.
            (None, '"' | '\'') if text[from..at].trim().is_empty() => quote = Some(c),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth = depth.saturating_sub(1),
            (None, ',' | '，' | '、' | ';') if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

struct Number {
    value: f64,
    /// Decimals as written; none means a whole number.
    decimals: Option<i32>,
    percent: bool,
}

fn number(text: &str) -> Option<Number> {
    static GROUPED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$").ok());
    let text = text.trim().trim_start_matches(['$', '¥', '￥', '€', '£']).replace('−', "-");
    let (body, percent) = text.strip_suffix('%').map_or((text.as_str(), false), |b| (b.trim_end(), true));
    let grouped = GROUPED.as_ref().is_some_and(|g| g.is_match(body));
    let digits = if grouped { body.replace(',', "") } else { body.to_owned() };
    if !digits.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b)) {
        return None;
    }
    let value = digits.parse::<f64>().ok().filter(|v| v.is_finite())?;
    let exponent = digits.contains(['e', 'E']);
    let decimals =
        digits.split_once('.').map(|(_, d)| d.trim_end_matches(|c: char| !c.is_ascii_digit()).len());
    let decimals = decimals.and_then(|d| i32::try_from(d).ok()).filter(|_| !exponent);
    Some(Number { value, decimals: if exponent { Some(6) } else { decimals }, percent })
}

fn near(value: &Number, label: &Number) -> bool {
    let reach = match label.decimals {
        // "3" is three; so is "3.0", and not "3.2".
        None => 1e-9 * label.value.abs().max(1.0),
        Some(decimals) => 0.5 * 10f64.powi(-decimals) * (1.0 + 1e-9) + label.value.abs() * 1e-12,
    };
    let is = |value: f64| (value - label.value).abs() <= reach;
    is(value.value) || (value.percent && !label.percent && is(value.value / 100.0))
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// InfiAgent-DABench's rule: the text between `@name[` and the next `]` is the label's, or their floats differ by less than 1e-6.
fn strict(wanted: &[Named], report: &str, by_name: bool) -> bool {
    static PAIR: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"@(\w+)\[(.*?)\]").ok());
    let pairs = PAIR.iter().flat_map(|p| p.captures_iter(report));
    let found: Vec<(String, String)> = pairs.map(|c| (c[1].to_owned(), c[2].to_owned())).collect();
    wanted.iter().enumerate().all(|(at, label)| {
        given(wanted, &found, by_name, at).is_some_and(|value| {
            let floats = (value.trim().parse::<f64>(), label.value.trim().parse::<f64>());
            value == label.value || matches!(floats, (Ok(a), Ok(b)) if (a - b).abs() < 1e-6)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // SPEC W10
    #[test]
    fn values_are_compared_as_people_compare_them() {
        for (value, label) in [
            ("34.6512", "34.65"),
            ("34.65", "34.65"),
            ("3.0", "3"),
            ("1,234", "1234"),
            ("'Alice'", "alice"),
            ("\"New  York\"", "New York"),
            ("a, b ,c", "[a, b, c]"),
            ("['a', 'b']", "a,b"),
            ("[1, 2.50]", "1, 2.5"),
            ("12.5%", "12.5"),
            ("12.5%", "0.125"),
            ("-0.02", "−0.02"),
            ("True", "true"),
            ("1e-5", "0.00001"),
            ("O'Brien, Lee", "O'Brien, Lee"),
            ("(3, 4)", "3, 4"),
        ] {
            assert!(same(value, label), "{value} is {label}");
        }
        for (value, label) in [
            ("3.2", "3"),
            ("4", "3"),
            ("34.7", "34.65"),
            ("34.66", "34.65"),
            ("a, c, b", "a, b, c"),
            ("a, b", "a, b, c"),
            ("alice b", "alice"),
            ("1,2", "12"),
            ("", "0"),
            ("12.5", "0.125"),
        ] {
            assert!(!same(value, label), "{value} is not {label}");
        }
    }

    fn case(question: &str, named: &[(&str, &str)]) -> Case {
        let named: Vec<_> = named.iter().map(|(n, v)| serde_json::json!({"name": n, "value": v})).collect();
        let case = serde_json::json!({"id": "a", "question": question, "expect": {"named": named}});
        serde_json::from_value(case).unwrap()
    }

    #[test]
    fn names_of_expected_values_are_not_told() {
        let hidden = case(
            "How many outliers are there, and what is the mean?",
            &[("outlier_count", "3"), ("mean", "1.50")],
        );
        let asked = prompt(&hidden);
        assert!(!asked.contains("outlier_count") && asked.contains("@name[value]"), "{asked}");
        let right = "…\n@outliers[3]\n@average[1.503]";
        assert_eq!(judge(&hidden, right), Verdict { problem: None, strict: Some(false) });
        assert!(judge(&hidden, "@outliers[3]").problem.unwrap().contains("missing"));
        let told = case("Answer @mean[x].", &[("mean", "1.50")]);
        assert_eq!(prompt(&told), "Answer @mean[x].");
        assert!(judge(&told, "@average[1.50]").problem.is_some(), "the question named it");
    }

    // SPEC W10
    #[test]
    fn the_benchmark_s_own_rule_stands_beside_ours() {
        let list = case("Answer @cols[x].", &[("cols", "[a, b]")]);
        assert_eq!(
            judge(&list, "@cols[[a, b]]"),
            Verdict { problem: None, strict: Some(false) },
            "theirs stops at the first bracket"
        );
        let mean = case("Answer @mean[x].", &[("mean", "1.50")]);
        assert_eq!(judge(&mean, "@mean[1.5]"), Verdict { problem: None, strict: Some(true) });
        assert_eq!(judge(&mean, "@mean[1.504]"), Verdict { problem: None, strict: Some(false) });
    }

    #[test]
    fn broken_answers_end() {
        let list = case("Answer @cols[x].", &[("cols", "[a, b]")]);
        for report in ["@cols[", "@[", "@cols[[[", "@cols[]", "@cols['a, b]"] {
            assert!(judge(&list, report).problem.is_some());
        }
    }
}
