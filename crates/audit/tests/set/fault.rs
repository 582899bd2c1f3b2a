//! Faults of eight kinds, put into honest reports one at a time. A fault that leaves the report true is no fault and is
//! dropped here.

use std::ops::Range;

use super::Random;
use super::expr::{World, plain, row_name};
use super::template::{Piece, render, show};

pub struct Fault {
    pub kind: &'static str,
    pub report: String,
    /// Bytes of the figures that are now untrue; one of them must be marked.
    pub wrong: Vec<Range<usize>>,
}

/// Faults asked of each kind for each report.
const EACH: usize = 2;

pub fn faults(pieces: &[Piece], world: &World, chinese: bool, random: &mut Random) -> Vec<Fault> {
    let figures: Vec<usize> = (0..pieces.len()).filter(|i| super::is_figure(&pieces[*i])).collect();
    let mut found = Vec::new();
    for (kind, make) in KINDS {
        let mut made = 0;
        for _ in 0..EACH * 6 {
            let at = *random.pick(&figures);
            if made < EACH
                && let Some(shown) = make(&pieces[at], world, random)
                && let Some(fault) = replaced(kind, pieces, at, shown, world)
            {
                found.push(fault);
                made += 1;
            }
        }
    }
    found.extend(turned(pieces, random));
    found.extend(relabelled(pieces, world, random));
    found.push(invented(pieces, chinese, random));
    found
}

type Make = fn(&Piece, &World, &mut Random) -> Option<String>;
const KINDS: [(&str, Make); 7] = [
    ("digit", digit),
    ("rounded", rounded),
    ("unit", unit),
    ("sign", sign),
    ("points", points),
    ("other cell", other_cell),
    ("invented", made_up),
];

/// The report with one figure changed, when that makes it untrue.
fn replaced(kind: &'static str, pieces: &[Piece], at: usize, new: String, world: &World) -> Option<Fault> {
    let Piece::Figure { expr, format, shown } = &pieces[at] else { return None };
    let honest = expr.is_empty() || show(world.eval(expr), format) == *shown;
    if !honest || new == *shown {
        return None;
    }
    // Under "万元" a 万 more is no slip, and in a chart it is no number.
    let before: String = render(&pieces[..at]).0;
    let line = before.rsplit('\n').next().unwrap_or("");
    let bare: String = line.chars().filter(|c| !matches!(c, '"' | '\'' | ' ')).collect();
    let drawn = bare.contains("data:[") || bare.contains("{value:") || line.starts_with("    [");
    if kind == "unit" && (expr.contains("/ 10000") || drawn) {
        return None;
    }
    let kind = if kind == "other cell" && is_period(expr, world) { "stale period" } else { kind };
    let mut changed = pieces.to_vec();
    changed[at] = Piece::Figure { expr: expr.clone(), format: format.clone(), shown: new };
    let (report, spans) = render(&changed);
    let wrong = spans.into_iter().filter(|(_, i)| *i == at).map(|(s, _)| s).collect();
    Some(Fault { kind, report, wrong })
}

fn parts(piece: &Piece) -> Option<(&str, &str, &str)> {
    match piece {
        Piece::Figure { expr, format, shown } => Some((expr, format, shown)),
        _ => None,
    }
}

fn digit(piece: &Piece, _: &World, random: &mut Random) -> Option<String> {
    let (_, _, shown) = parts(piece)?;
    let places: Vec<usize> =
        shown.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(i, _)| i).collect();
    let at = *random.pick(&places);
    let old = shown[at..].chars().next()?.to_digit(10)?;
    // A leading nought would be another slip than this one.
    let new = 1 + (old + random.below(8) as u32) % 9;
    let new = if new == old { 1 + new % 9 } else { new };
    Some(format!("{}{new}{}", &shown[..at], &shown[at + 1..]))
}

fn rounded(piece: &Piece, world: &World, _: &mut Random) -> Option<String> {
    let (expr, format, shown) = parts(piece)?;
    if expr.is_empty() {
        return None;
    }
    let unit: String = format.trim_start_matches(['a', '+', '(', '=', ',']).to_owned();
    let decimals: i32 = unit.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
    let scale = show(1e12, format.strip_prefix('a').unwrap_or(format)).replace(',', "");
    let digits: String = scale.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    let step = 10f64.powi(-decimals) * 1e12 / digits.parse::<f64>().ok()?;
    let value = world.eval(expr);
    // To the wrong side: the next value as shown, away from the true one.
    let one = show(value + step, format);
    let two = show(value - step, format);
    let new = if (value / step).fract().abs() < 0.5 { one } else { two };
    // Half-way values may be shown either way.
    let tie = ((value / step).abs().fract() - 0.5).abs() < 1e-6;
    (new != shown && !tie).then_some(new)
}

fn unit(piece: &Piece, _: &World, random: &mut Random) -> Option<String> {
    let (_, _, shown) = parts(piece)?;
    let pairs = [("万", "亿"), ("亿", "万"), ("million", "billion"), ("M", "k"), ("k", "M"), ("倍", "%")];
    for (from, to) in pairs {
        if let Some(rest) = shown.strip_suffix(from) {
            return Some(format!("{rest}{to}"));
        }
    }
    let plain = shown.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | '-'));
    (plain && shown.len() > 3).then(|| format!("{shown}{}", random.pick(&["万", "k"])))
}

fn sign(piece: &Piece, _: &World, _: &mut Random) -> Option<String> {
    let (_, _, shown) = parts(piece)?;
    if shown.chars().all(|c| !c.is_ascii_digit() || c == '0') {
        return None;
    }
    if let Some(rest) = shown.strip_prefix('-') {
        return Some(rest.to_owned());
    }
    if let Some(rest) = shown.strip_prefix('+') {
        return Some(format!("-{rest}"));
    }
    let rest = shown.strip_prefix('(')?.strip_suffix(')')?;
    Some(rest.to_owned())
}

fn points(piece: &Piece, _: &World, _: &mut Random) -> Option<String> {
    let (expr, _, shown) = parts(piece)?;
    if expr.is_empty() {
        return None;
    }
    for points in [" 个百分点", "个百分点", " percentage points", " pp", "pp"] {
        if let Some(rest) = shown.strip_suffix(points) {
            return Some(format!("{rest}%"));
        }
    }
    shown.strip_suffix('%').map(|rest| format!("{rest} 个百分点"))
}

/// Another row's or column's value in the same words.
fn other_cell(piece: &Piece, world: &World, random: &mut Random) -> Option<String> {
    let (expr, format, shown) = parts(piece)?;
    let cells: Vec<&str> = expr.split(' ').filter(|t| world.cell(t).is_some()).collect();
    let path = *cells.first()?;
    let (table, row, column) = world.cell(path)?;
    let by_row = table.rows.len() > 1 && random.below(4) > 0;
    let new = if by_row {
        let other = (row + 1 + random.below(table.rows.len() - 1)) % table.rows.len();
        format!("{}.{other}.{}", table.name, table.columns[column])
    } else {
        let numbers: Vec<usize> = (table.keys..table.columns.len()).filter(|c| *c != column).collect();
        let other = *numbers.get(random.below(numbers.len()))?;
        format!("{}.{}.{}", table.name, path.split('.').nth(1)?, table.columns[other])
    };
    let swapped: Vec<&str> = expr.split(' ').map(|t| if t == path { new.as_str() } else { t }).collect();
    // A value already said of both, as in "a - b", would say the same again.
    if cells.len() > 1
        && cells
            .iter()
            .any(|c| world.cell(c).map(|(_, r, k)| (r, k)) == world.cell(&new).map(|(_, r, k)| (r, k)))
    {
        return None;
    }
    let value = show(world.eval(&swapped.join(" ")), format);
    let bare = |t: &str| t.chars().filter(char::is_ascii_digit).all(|c| c == '0');
    (value != shown && !bare(&value) && value.len() < 30).then_some(value)
}

fn is_period(expr: &str, world: &World) -> bool {
    expr.split(' ').filter_map(|t| world.cell(t)).any(|(table, row, _)| {
        let name = row_name(&table.rows[row], table.keys);
        ["20", "Q", "季度", "月", "January"].iter().any(|p| name.contains(p))
    })
}

fn made_up(piece: &Piece, world: &World, random: &mut Random) -> Option<String> {
    let (expr, format, _) = parts(piece)?;
    (!expr.is_empty()).then(|| show(world.eval(expr) * random.between(1.12, 1.9), format))
}

/// 增长 for 下降, where the figure that follows has no sign of its own.
fn turned(pieces: &[Piece], random: &mut Random) -> Option<Fault> {
    let places: Vec<usize> = (0..pieces.len().saturating_sub(2))
        .filter(|i| {
            let glue = matches!(&pieces[i + 1], Piece::Text(t) if t.trim().trim_start_matches(['了']).is_empty() || t.trim() == "by" || t.trim() == "of");
            matches!(pieces[*i], Piece::Direction { .. })
                && glue
                && matches!(&pieces[i + 2], Piece::Figure { format, shown, .. } if format.starts_with('a') && shown.chars().any(|c| ('1'..='9').contains(&c)))
        })
        .collect();
    if places.is_empty() {
        return None;
    }
    let at = *random.pick(&places);
    let mut changed = pieces.to_vec();
    if let Piece::Direction { shown, opposite } = &pieces[at] {
        changed[at] = Piece::Direction { shown: opposite.clone(), opposite: shown.clone() };
    }
    let (report, spans) = render(&changed);
    let wrong = spans.into_iter().filter(|(_, i)| *i == at + 2).map(|(s, _)| s).collect();
    Some(Fault { kind: "sign", report, wrong })
}

/// One label taken for another of its column: the figures said of it in the same sentence are untrue.
fn relabelled(pieces: &[Piece], world: &World, random: &mut Random) -> Option<Fault> {
    let labels: Vec<usize> =
        (0..pieces.len()).filter(|i| matches!(pieces[*i], Piece::Label { .. })).collect();
    for _ in 0..8 {
        if labels.is_empty() {
            return None;
        }
        let at = *random.pick(&labels);
        let Piece::Label { path, shown } = &pieces[at] else { return None };
        let (table, row, column) = world.cell(path)?;
        let other = random.below(table.rows.len());
        let new = plain(&table.rows[other][column]);
        if new == *shown {
            continue;
        }
        let own = format!("{}.{row}.", table.name);
        let theirs = format!("{}.{other}.", table.name);
        let mut wrong = Vec::new();
        for (i, piece) in pieces.iter().enumerate().skip(at + 1) {
            match piece {
                Piece::Text(t) if t.contains(['。', '\n', ';', '；']) || t.contains(". ") => break,
                Piece::Label { .. } => break,
                Piece::Figure { expr, format, shown }
                    if expr.contains(&own)
                        && !expr.contains(&theirs)
                        && show(world.eval(&expr.replace(&own, &theirs)), format) != *shown =>
                {
                    wrong.push(i);
                }
                _ => {}
            }
        }
        if wrong.is_empty() {
            continue;
        }
        let mut changed = pieces.to_vec();
        changed[at] = Piece::Label { path: path.clone(), shown: new };
        let (report, spans) = render(&changed);
        let wrong = spans.into_iter().filter(|(_, i)| wrong.contains(i)).map(|(s, _)| s).collect();
        return Some(Fault { kind: "label", report, wrong });
    }
    None
}

/// A sentence of its own with a figure that is nowhere.
fn invented(pieces: &[Piece], chinese: bool, random: &mut Random) -> Fault {
    let value = random.between(21.0, 93.0);
    let figure = if random.below(2) == 0 {
        format!("{value:.1}%")
    } else {
        super::template::show(value * 1234.5, ",0")
    };
    let before = if chinese {
        *random.pick(&[
            "\n\n此外，客户满意度达到 ",
            "\n\n预计明年市场规模将扩大 ",
            "\n\n行业平均水平约为 ",
            "\n\n与竞争对手相比，我们的优势为 ",
        ])
    } else {
        *random.pick(&[
            "\n\nCustomer satisfaction also reached ",
            "\n\nThe industry benchmark is about ",
            "\n\nWe expect next year to bring ",
            "\n\nAnalysts put the market at ",
        ])
    };
    let (mut report, _) = render(pieces);
    report.push_str(before);
    let start = report.len();
    report.push_str(&figure);
    let end = report.len();
    report.push_str(if chinese { "。\n" } else { ".\n" });
    Fault { kind: "invented", report, wrong: std::iter::once(start..end).collect() }
}
