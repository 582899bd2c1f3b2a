//! Figures that a tool printed as text, and figures the user gave: numbers of lines, with the words before them.

use std::collections::HashSet;

use super::Case;
use crate::evidence::SourceKind;
use crate::figures::Place;
use crate::index::Index;
use crate::number::{self, Number, Sign, Unit};
use crate::period;
use crate::skip;
use crate::verdict::{Operand, Proof, State};

/// Numbers read of all lines.
const MAX_NUMBERS: usize = 100_000;
/// Digits from which a printed number is not met by chance, where the words name no line.
const UNLIKELY: usize = 4;

/// The numbers of all text evidence, by value.
pub struct Output<'i> {
    index: &'i Index<'i>,
    numbers: Vec<Told>,
    given: Vec<(Operand, f64)>,
}

struct Told {
    line: usize,
    value: f64,
    half: f64,
    unit: Unit,
    words: HashSet<String>,
    /// Any of its words will do: they are names of one statistic.
    any: bool,
}

impl<'i> Output<'i> {
    pub fn new(index: &'i Index<'i>) -> Self {
        let mut output = Self { index, numbers: Vec::new(), given: Vec::new() };
        for (at, line) in index.lines.iter().enumerate() {
            let periods = period::find(line.text);
            let statistic = statistic(line.text);
            let mut from = 0;
            for number in number::find(line.text) {
                let dated =
                    periods.iter().any(|p| p.start < number.digits.end && number.digits.start < p.end);
                let given = line.kind == SourceKind::Given;
                if dated || output.numbers.len() >= MAX_NUMBERS || (!given && is_part(line.text, &number)) {
                    continue;
                }
                let label = &line.text[from.min(number.span.start)..number.span.start];
                let own = words(label);
                let any = statistic.is_some();
                let words = match statistic {
                    // "25%" is the name itself.
                    Some((upto, _)) if number.span.start < upto => continue,
                    Some((_, names)) => names.iter().map(|n| (*n).to_owned()).collect(),
                    None if own.is_empty() => words(line.text),
                    None => own,
                };
                from = number.span.end;
                let sign = if number.sign == Sign::Minus { -1.0 } else { 1.0 };
                let value = number.value * sign;
                if given && !skip::is_no_figure(line.text, &number) {
                    let operand = Operand {
                        tool_call_id: line.id.to_owned(),
                        row: Some(line.at),
                        column: String::new(),
                        value: Some(value),
                    };
                    output.given.push((operand, value));
                }
                output.numbers.push(Told {
                    line: at,
                    value,
                    half: number.half,
                    unit: number.unit,
                    words,
                    any,
                });
            }
        }
        output.numbers.sort_by(|a, b| a.value.total_cmp(&b.value));
        output.given.truncate(40);
        output
    }

    /// The user's own figures.
    pub fn given(&self) -> impl Iterator<Item = (&Operand, f64)> {
        self.given.iter().map(|(o, v)| (o, *v))
    }

    pub fn find(&self, case: &Case<'_>) -> Option<(State, Proof)> {
        if self.numbers.is_empty() {
            return None;
        }
        let number = &case.figure.number;
        let (target, reach) = (case.target(), number.half * (1.0 + 1e-7));
        let factors: &[f64] = match number.unit {
            Unit::Percent => &[1.0, 0.01],
            _ => &[1.0],
        };
        let (near, wide) = said(case);
        let (beside, behind) = beside(case);
        let mut given = None;
        for factor in factors {
            let from = self.numbers.partition_point(|n| n.value * factor < target - reach - 1e-12);
            let same = self.numbers[from..].iter().take_while(|n| n.value * factor <= target + reach + 1e-12);
            for told in same.take(200) {
                let line = &self.index.lines[told.line];
                let fine = told.half * factor <= number.half * 1.01 || told.value * factor == target;
                let unit = match (number.unit, told.unit) {
                    (a, b) if a == b => *factor == 1.0,
                    (Unit::Percent, Unit::Plain) => true,
                    (Unit::Times, Unit::Plain) => true,
                    _ => false,
                };
                if !fine || !unit {
                    continue;
                }
                let proof = Proof::line(line.id, line.at);
                case.exact.set(Some(told.value * factor));
                if line.kind == SourceKind::Given {
                    given.get_or_insert((State::Given, proof));
                } else if self.fits(told, &near)
                    || (number.digits_shown > 1 && (self.fits(told, &beside) || self.fits(told, &behind)))
                    || (self.strangers(&near, told) && self.fits(told, &wide))
                    || (number.digits_shown >= UNLIKELY && self.strangers(&near, told))
                {
                    return Some((State::Proven, proof));
                }
            }
        }
        given
    }

    /// Whether a line's words are said of the figure, and no other line's are more so.
    fn fits(&self, told: &Told, said: &HashSet<String>) -> bool {
        let own = shared(told, said);
        let source = self.index.lines[told.line].id;
        own > 0.0
            && !self.numbers.iter().take(2_000).any(|n| {
                n.line != told.line
                    && self.index.lines[n.line].id == source
                    && self.index.lines[n.line].kind != SourceKind::Given
                    && shared(n, said) > own + 0.15
            })
    }

    /// Whether the clause names no line at all, so that the sentence decides.
    fn strangers(&self, near: &HashSet<String>, told: &Told) -> bool {
        let source = self.index.lines[told.line].id;
        !self
            .numbers
            .iter()
            .take(2_000)
            .any(|n| self.index.lines[n.line].id == source && shared(n, near) > 0.0)
    }
}

fn is_part(text: &str, number: &Number) -> bool {
    let before = text[..number.digits.start].chars().next_back();
    before.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
}

fn shared(told: &Told, said: &HashSet<String>) -> f64 {
    let common = told.words.intersection(said).count();
    match told.any {
        true => f64::from(u8::from(common > 0)),
        false => common as f64 / told.words.len().max(1) as f64,
    }
}

/// The names a line of `describe()` goes by: `50%   119.0` is a median.
fn statistic(line: &str) -> Option<(usize, &'static [&'static str])> {
    let (label, rest) = line.trim().split_once(char::is_whitespace)?;
    let upto = line.len() - line.trim_start().len() + label.len();
    let numbers = rest.split_whitespace().all(|n| n.parse::<f64>().is_ok() || n == "NaN");
    if !numbers {
        return None;
    }
    let names: &[&str] = match label {
        "count" => &[
            "count",
            "n",
            "observation",
            "row",
            "record",
            "sample",
            "cover",
            "data",
            "样本",
            "记录",
            "共计",
            "数据",
        ],
        "mean" => &["average", "平均"],
        "std" => &["standard", "deviation", "标准", "准差"],
        "min" => &["min", "minimum", "lowest", "smallest", "range", "最低", "最小", "最少"],
        "25%" | "75%" => &[
            "25th",
            "75th",
            "percentile",
            "quartile",
            "middle",
            "half",
            "between",
            "中间",
            "四分",
            "分位",
            "之间",
        ],
        "50%" => &["median", "typical", "中位"],
        "max" => &["max", "maximum", "highest", "largest", "range", "最高", "最大", "最多"],
        _ => return None,
    };
    Some((upto, names))
}

/// The few words right before and behind a figure in prose.
fn beside(case: &Case<'_>) -> (HashSet<String>, HashSet<String>) {
    let (report, span) = (case.page.report, &case.figure.number.span);
    let Place::Prose { sentence, .. } = &case.figure.place else { return Default::default() };
    let from = report.ceil_char_boundary(span.start.saturating_sub(28).max(sentence.start)).min(span.start);
    let to = report.floor_char_boundary((span.end + 22).min(sentence.end)).max(span.end);
    // A word that is cut is none.
    let before = report[from..span.start].split_once(' ').map_or(&report[from..span.start], |(_, rest)| rest);
    let behind = report[span.end..to].rsplit_once(' ').map_or(&report[span.end..to], |(rest, _)| rest);
    let behind = words(behind);
    (words(before).into_iter().chain(behind.iter().cloned()).collect(), behind)
}

fn said(case: &Case<'_>) -> (HashSet<String>, HashSet<String>) {
    let report = case.page.report;
    match &case.figure.place {
        Place::Prose { sentence, clause, .. } => {
            (words(&report[clause.clone()]), words(&report[sentence.clone()]))
        }
        _ => {
            let all: HashSet<String> =
                case.page.around(case.figure).iter().flat_map(|s| words(&report[s.clone()])).collect();
            (all.clone(), all)
        }
    }
}

/// Latin words without their plural, and pairs of Chinese characters.
fn words(text: &str) -> HashSet<String> {
    const EMPTY: [&str; 14] =
        ["the", "of", "is", "are", "a", "and", "in", "to", "at", "by", "for", "was", "on", "it"];
    let mut all = HashSet::new();
    let mut word = String::new();
    let mut last = None;
    let mut text: String = text.chars().take(2_000).collect::<String>().to_lowercase();
    for (written, meant) in [
        ("r²", "rsquared"),
        ("r-squared", "rsquared"),
        ("r^2", "rsquared"),
        ("variance", "rsquared"),
        ("解释", "rsquared "),
        ("均值", "平均"),
    ] {
        text = text.replace(written, meant);
    }
    let mut rest = text.chars();
    let mut ended = false;
    while let Some(c) = rest.next().or_else(|| (!std::mem::replace(&mut ended, true)).then_some(' ')) {
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
            last = None;
            continue;
        }
        let stem = word.strip_suffix('s').filter(|s| s.len() > 2).unwrap_or(&word);
        // "p = 0.02" names p.
        let symbol = stem.len() == 1 && rest.as_str().trim_start().starts_with(['=', '<'])
            || (c == '=' && stem.len() == 1);
        if symbol || stem.len() > 1 && !EMPTY.contains(&stem) && !stem.bytes().all(|b| b.is_ascii_digit()) {
            all.insert(meant(stem).to_owned());
        }
        word.clear();
        if c.is_alphabetic() {
            if let Some(last) = last {
                all.insert(format!("{last}{c}"));
            }
            last = Some(c);
        } else {
            last = None;
        }
    }
    all
}

/// Short forms that output and reports use for each other.
fn meant(word: &str) -> &str {
    match word {
        "std" | "sd" => "standard",
        "err" => "error",
        "adj" => "adjusted",
        "avg" | "mean" | "averaged" | "average" => "average",
        "r2" => "rsquared",
        "coef" => "coefficient",
        "obs" => "observation",
        "importance" | "importances" => "importance",
        word => word,
    }
}
