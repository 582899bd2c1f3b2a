//! Proofs that lie in what stands right beside a figure: the other half of "(a / b)", the whole it is the rest of, the x of
//! its point on a fitted line, "the highest holds", "from a to b". Reads a few signs; tries one value each.

use std::sync::LazyLock;

use regex::Regex;

use super::Case;
use crate::figures::Place;
use crate::index::Holds;
use crate::number::Unit;
use crate::verdict::{Operand, Proof, State};

const NUMBER: &str = r"\d[\d,]*(?:\.\d+)?";
/// Bytes looked at before and behind a figure.
const REACH: usize = 80;

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

static SECOND: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(&format!(r"[(（]\s*({NUMBER})\s*(?:/|of|out of|共)\s*$")));
static FIRST: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(&format!(r"^\s*(?:/|of|out of)\s*({NUMBER})\s*[)）]")));
static POINT: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"\[\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?)\s*,\s*$"));
static HIGHEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:最高|最大|最多)的?(?:一[组项个类]|者)?(?:占|贡献)了?(?:总[量额]?的?)?\s*\**$|(?:highest|largest|biggest|top)(?: one| group)? (?:holds|has|makes up|accounts for)\s*\**$",
    )
});
static REST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"(?i)^\s*(?:其他|其它|其余|余下|others?|(?:the )?rest|remaining|remainder)\s*$")
});

pub fn find(case: &Case<'_>) -> Option<(State, Proof)> {
    let derived = |proof| (State::Derived, proof);
    halves(case)
        .map(|operand| (State::Proven, Proof::cell(operand)))
        .or_else(|| highest(case).map(derived))
        .or_else(|| rest(case).map(derived))
        .or_else(|| from_to(case).map(|operand| (State::Proven, Proof::cell(operand))))
        .or_else(|| on_line(case).map(derived))
        .or_else(|| counted(case).map(derived))
}

fn before<'r>(case: &Case<'r>) -> &'r str {
    let end = case.figure.number.span.start;
    let from = case.page.report.ceil_char_boundary(end.saturating_sub(REACH));
    &case.page.report[from..end]
}

fn behind<'r>(case: &Case<'r>) -> &'r str {
    let from = case.figure.number.span.end;
    let to = case.page.report.floor_char_boundary((from + REACH).min(case.page.report.len()));
    &case.page.report[from..to]
}

fn captured(pattern: &LazyLock<Option<Regex>>, text: &str) -> Option<f64> {
    let found = pattern.as_ref()?.captures(text)?;
    found.get(1)?.as_str().replace(',', "").parse().ok()
}

/// "(660 / 11,805)": both in one row, so neither is met by chance.
fn halves(case: &Case<'_>) -> Option<Operand> {
    if case.figure.number.unit != Unit::Plain {
        return None;
    }
    let other = captured(&SECOND, before(case)).or_else(|| captured(&FIRST, behind(case)))?;
    for table in case.tables() {
        let (numbers, columns) = (case.numbers(table), &case.index.tables[table].columns);
        for column in &numbers {
            let Holds::Numbers { sorted, .. } = &columns[*column].holds else { continue };
            let at = sorted.partition_point(|(v, _)| *v < case.target() - case.figure.number.half);
            for (_, row) in sorted[at..].iter().take_while(|(v, _)| case.is(*v, false)).take(64) {
                let has = |c: &usize| {
                    c != column
                        && columns[*c].value(*row).is_some_and(|v| (v - other).abs() <= other.abs() * 1e-4)
                };
                if numbers.iter().any(has) {
                    return Some(case.operand(table, *row, *column));
                }
            }
        }
    }
    None
}

/// "最高的一组占 25.7%": the largest of a column over its sum.
fn highest(case: &Case<'_>) -> Option<Proof> {
    let said = HIGHEST.as_ref().is_some_and(|p| p.is_match(before(case)));
    if case.figure.number.unit != Unit::Percent || !said {
        return None;
    }
    for table in case.tables() {
        for column in case.usable(table) {
            let of = &case.index.tables[table].columns[column];
            let Holds::Numbers { sorted, .. } = &of.holds else { continue };
            let (Some((top, row)), Some(whole)) = (sorted.last(), case.total(table, column)) else {
                continue;
            };
            if whole.rows > 1 && !of.rate && case.is(top / whole.value, false) {
                let mut operands = vec![case.operand(table, *row, column)];
                operands.extend(whole.operands);
                return Some(Proof::formula("max(a) / sum(a)", operands));
            }
        }
    }
    None
}

/// A slice called 其他 or "other": what is left of a whole beside the part that is shown.
fn rest(case: &Case<'_>) -> Option<Proof> {
    let called = |s: &crate::layout::Span| {
        REST.as_ref().is_some_and(|p| p.is_match(case.page.report[s.clone()].trim_matches(['"', '\'', '*'])))
    };
    let says = match &case.figure.place {
        Place::Prose { clause, .. } => {
            let clause = case.page.report[clause.clone()].to_lowercase();
            ["其余", "剩余", "余下", "remaining", "the rest", "the other"].iter().any(|w| clause.contains(w))
        }
        _ => case.page.around(case.figure).iter().any(called),
    };
    if !says {
        return None;
    }
    for table in case.tables() {
        let of = &case.index.tables[table];
        let numbers = case.numbers(table);
        for whole in &numbers {
            for part in numbers.iter().filter(|p| *p != whole && of.rows == 1) {
                let (Some(a), Some(b)) = (of.columns[*whole].value(0), of.columns[*part].value(0)) else {
                    continue;
                };
                let operands = || vec![case.operand(table, 0, *whole), case.operand(table, 0, *part)];
                let amount = case.figure.number.unit == Unit::Plain;
                if amount && case.is(a - b, false) {
                    return Some(Proof::formula("a - b", operands()));
                }
                if case.figure.number.unit == Unit::Percent && case.is(1.0 - b / a, false) {
                    return Some(Proof::formula("1 - b / a", operands()));
                }
            }
        }
    }
    None
}

/// "From 64 in 2022-01 to 51 in 2022-12": both in one column, each under its own label.
fn from_to(case: &Case<'_>) -> Option<Operand> {
    let Place::Prose { sentence, .. } = &case.figure.place else { return None };
    let (page, span) = (case.page, &case.figure.number.span);
    let first = page.figures.partition_point(|f| f.start < sentence.start);
    let [one, two] = page.figures.get(first..first + 2)? else { return None };
    let (lead, middle) = (&page.report[sentence.start..one.start], page.report.get(one.end..two.start)?);
    let opens = lead.to_lowercase().contains("from ") || lead.contains(['从', '由']);
    let goes = middle.contains(" to ") || middle.contains(['到', '至']);
    let other = if span == one { two } else { one };
    if !opens || !goes || (span != one && span != two) || two.end > sentence.end {
        return None;
    }
    let other: f64 = page.report[other.clone()].replace([',', '，'], "").trim().parse().ok()?;
    for table in case.tables().filter(|t| case.asked[*t].iter().any(|a| a.near)) {
        for row in case.rows(table, None).into_iter().take(4) {
            for column in case.numbers(table) {
                let of = &case.index.tables[table].columns[column];
                let Holds::Numbers { sorted, .. } = &of.holds else { continue };
                let at = sorted.partition_point(|(v, _)| *v < other - 1e-9);
                let both = sorted.get(at).is_some_and(|(v, _)| (v - other).abs() < 1e-9);
                if both && of.value(row).is_some_and(|v| case.is(v, false)) {
                    return Some(case.operand(table, row, column));
                }
            }
        }
    }
    None
}

/// "2 tied": rows that share the largest or smallest value. "235+ 行": at least so many rows.
fn counted(case: &Case<'_>) -> Option<Proof> {
    let after = behind(case).trim_start_matches(['个', ' ']);
    let tied = after.starts_with("tied") || after.starts_with("并列");
    let at_least = behind(case).starts_with('+') && case.cues.count;
    for table in case.tables().filter(|_| tied || at_least) {
        let of = &case.index.tables[table];
        let all = |column: &str| Operand {
            tool_call_id: of.id.to_owned(),
            row: None,
            column: column.to_owned(),
            value: Some(case.figure.number.value),
        };
        if at_least && of.rows as f64 >= case.figure.number.value {
            return Some(Proof::formula("count(*) >= n", vec![all("*")]));
        }
        for column in case.usable(table) {
            let Holds::Numbers { sorted, .. } = &of.columns[column].holds else { continue };
            let ends = [sorted.first(), sorted.last()].into_iter().flatten();
            let same = |end: f64| sorted.iter().filter(|(v, _)| (v - end).abs() <= end.abs() * 1e-9).count();
            if tied && ends.clone().any(|(end, _)| same(*end) as f64 == case.figure.number.value) {
                return Some(Proof::formula("count(max or min)", vec![all(of.columns[column].name)]));
            }
        }
    }
    None
}

/// A point `[x, y]` of a chart on the line whose slope and intercept a result has.
fn on_line(case: &Case<'_>) -> Option<Proof> {
    if !matches!(case.figure.place, Place::Chart { .. }) {
        return None;
    }
    let x = captured(&POINT, before(case))?;
    for table in case.tables().filter(|t| case.index.tables[*t].rows == 1) {
        let columns = &case.index.tables[table].columns;
        let called = |names: [&str; 2]| {
            columns.iter().position(|c| names.iter().any(|n| c.name.to_lowercase().contains(n)))
        };
        let (Some(slope), Some(start)) = (called(["slope", "斜率"]), called(["intercept", "截距"]))
        else {
            continue;
        };
        let (Some(a), Some(b)) = (columns[slope].value(0), columns[start].value(0)) else { continue };
        if case.is(a * x + b, false) {
            let operands = vec![case.operand(table, 0, slope), case.operand(table, 0, start)];
            return Some(Proof::formula("a * x + b", operands));
        }
    }
    None
}
