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
}

impl<'i> Output<'i> {
    pub fn new(index: &'i Index<'i>) -> Self {
        let mut output = Self { index, numbers: Vec::new(), given: Vec::new() };
        for (at, line) in index.lines.iter().enumerate() {
            let periods = period::find(line.text);
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
                let words = if own.is_empty() { words(line.text) } else { own };
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
                output.numbers.push(Told { line: at, value, half: number.half, unit: number.unit, words });
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
                if line.kind == SourceKind::Given {
                    given.get_or_insert((State::Given, proof));
                } else if self.fits(told, &near) || (self.strangers(&near, told) && self.fits(told, &wide)) {
                    return Some((State::Proven, proof));
                }
            }
        }
        given
    }

    /// Whether a line's words are said of the figure, and no other line's are more so.
    fn fits(&self, told: &Told, said: &HashSet<String>) -> bool {
        let own = shared(&told.words, said);
        let source = self.index.lines[told.line].id;
        own > 0.0
            && !self.numbers.iter().take(2_000).any(|n| {
                n.line != told.line
                    && self.index.lines[n.line].id == source
                    && self.index.lines[n.line].kind != SourceKind::Given
                    && shared(&n.words, said) > own + 0.15
            })
    }

    /// Whether the clause names no line at all, so that the sentence decides.
    fn strangers(&self, near: &HashSet<String>, told: &Told) -> bool {
        let source = self.index.lines[told.line].id;
        !self
            .numbers
            .iter()
            .take(2_000)
            .any(|n| self.index.lines[n.line].id == source && shared(&n.words, near) > 0.0)
    }
}

fn is_part(text: &str, number: &Number) -> bool {
    let before = text[..number.digits.start].chars().next_back();
    before.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
}

fn shared(label: &HashSet<String>, said: &HashSet<String>) -> f64 {
    if label.is_empty() {
        return 0.0;
    }
    label.intersection(said).count() as f64 / label.len() as f64
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
    for c in text.chars().take(2_000).chain([' ']) {
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
            last = None;
            continue;
        }
        let stem = word.strip_suffix('s').filter(|s| s.len() > 2).unwrap_or(&word);
        if stem.len() > 1 && !EMPTY.contains(&stem) && !stem.bytes().all(|b| b.is_ascii_digit()) {
            all.insert(stem.to_owned());
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
