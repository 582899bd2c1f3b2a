//! A cell whose value rounds to the figure as shown, under the labels and the column the figure is said of.

use super::columns::Agrees;
use super::{Case, is_percent};
use crate::figures::Place;
use crate::index::{Column, Holds};
use crate::number::{Sign, Unit};
use crate::verdict::Operand;

/// Equal values looked at in one column before rows are taken by label instead.
const MAX_EQUAL: usize = 64;

pub enum Found {
    Agrees(Operand),
    /// The value is there, but under other names.
    Elsewhere(Operand),
    Nowhere,
}

/// What cells of a column are multiplied by to be compared with the figure.
fn factors(case: &Case<'_>, column: &Column<'_>, named: bool) -> Vec<f64> {
    let number = &case.figure.number;
    match number.unit {
        Unit::Plain => {
            // "1 人" is not a rate of 0.95.
            if column.rate && column.percents() == [1.0] && number.half > 0.05 {
                return Vec::new();
            }
            let mut all = vec![1.0];
            if column.scale != 1.0 {
                all.push(column.scale);
                // "8.5 万元" of a column in 万元 is 8.5 and not 85,000 in it.
                if number.scale == column.scale {
                    all.remove(0);
                }
            }
            let drawn = !matches!(case.figure.place, Place::Prose { .. });
            if drawn && number.scale == 1.0 && column.rate && column.percents() == [1.0] {
                all.push(100.0);
            }
            all
        }
        Unit::Percent => {
            let known = column.percents();
            if known.is_empty() && named { vec![0.01] } else { known.to_vec() }
        }
        Unit::Points => {
            let name = column.name.to_lowercase();
            let change = ["pp", "点", "变", "差", "change", "diff", "delta"].iter().any(|w| name.contains(w));
            if change { column.percents().to_vec() } else { Vec::new() }
        }
        Unit::Times => vec![1.0],
    }
}

pub fn find(case: &Case<'_>) -> Found {
    let mut elsewhere = None;
    for table in 0..case.index.tables.len() {
        for (c, column) in case.index.tables[table].columns.iter().enumerate() {
            let Holds::Numbers { sorted, .. } = &column.holds else { continue };
            let agrees = case.columns.agrees(case.page, case.figure.number.unit, (table, c));
            for factor in factors(case, column, agrees == Agrees::Yes) {
                for row in equal(case, sorted, factor, column.fall, table) {
                    // "898.00" is no count of a column that nothing names.
                    let counted = agrees == Agrees::Perhaps
                        && column.integral
                        && (column.counts || !case.figure.number.money)
                        && case.figure.number.unit == Unit::Plain
                        && case.figure.number.half < 0.5;
                    if agrees != Agrees::No && !counted && row_agrees(case, table, row, agrees) {
                        case.exact.set(column.value(row).map(|v| v * factor));
                        return Found::Agrees(case.operand(table, row, c));
                    }
                    elsewhere.get_or_insert((table, row, c));
                }
            }
        }
    }
    elsewhere.map_or(Found::Nowhere, |(t, r, c)| Found::Elsewhere(case.operand(t, r, c)))
}

/// Rows whose value is the figure as shown.
fn equal(case: &Case<'_>, sorted: &[(f64, u32)], factor: f64, fall: bool, table: usize) -> Vec<u32> {
    let number = &case.figure.number;
    let reach = number.half * (1.0 + 1e-7) + number.value.abs() * 1e-12;
    let mut targets = vec![case.target()];
    // A fall of 5 % may be kept as 5 in a column of falls.
    if fall && number.sign != Sign::Plus {
        targets = vec![number.value, -number.value];
    }
    let mut rows = Vec::new();
    for target in targets {
        let (from, to) = ((target - reach) / factor, (target + reach) / factor);
        let range = sorted.partition_point(|(v, _)| *v < from)..sorted.partition_point(|(v, _)| *v <= to);
        if range.len() > MAX_EQUAL {
            let hit: Vec<u32> = sorted[range].iter().map(|(_, r)| *r).take(100_000).collect();
            let wanted = case.rows(table, None);
            rows.extend(hit.iter().filter(|r| wanted.binary_search(r).is_ok()).take(MAX_EQUAL));
            rows.extend(hit.iter().take(1));
        } else {
            rows.extend(sorted[range].iter().map(|(_, r)| *r));
        }
    }
    rows
}

/// Whether a row's labels are those the words ask for, and enough of them are said for a value this short.
fn row_agrees(case: &Case<'_>, table: usize, row: u32, column: Agrees) -> bool {
    let of = &case.index.tables[table];
    let (mut said, mut near, mut keyed) = (false, false, false);
    for c in 0..of.columns.len() {
        if of.columns[c].values().is_some() {
            continue;
        }
        keyed = true;
        let asked = &case.asked[table][c];
        if asked.keys.is_empty() {
            continue;
        }
        if !case.holds(table, c, row, &asked.keys) {
            return false;
        }
        said = true;
        near |= asked.near;
    }
    let known = said || !keyed || of.rows == 1;
    let sole = case.numbers(table).len() == 1;
    let named =
        column == Agrees::Yes || sole || (is_percent(case.figure.number.unit) && of.columns.len() <= 3);
    let number = &case.figure.number;
    let pointed = near && number.digits_shown + 1 >= super::TELLING && number.formatted;
    case.telling() || pointed || (known && named)
}

/// The cell the words point at, whatever its value: what a correction should look at.
pub fn nearest(case: &Case<'_>) -> Option<Operand> {
    for table in case.tables() {
        let rows = case.rows(table, None);
        let near = case.asked[table].iter().any(|a| a.near);
        if let (Some(row), true) = (rows.first(), near && rows.len() <= 3) {
            let columns = case.numbers(table);
            let agreed = |want: Agrees| {
                columns
                    .iter()
                    .find(|c| case.columns.agrees(case.page, case.figure.number.unit, (table, **c)) == want)
            };
            if let Some(column) = agreed(Agrees::Yes).or_else(|| agreed(Agrees::Perhaps)) {
                return Some(case.operand(table, *row, *column));
            }
        }
    }
    None
}
