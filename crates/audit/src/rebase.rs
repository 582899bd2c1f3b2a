//! Results that are kept in 万 or millions without saying so: where a report's "796.4 万元" are a result's 796.4, again and
//! again, its 万 is the result's own unit. One such figure alone proves nothing; it may be a slip.

use crate::figures::{Figure, Place};
use crate::index::{Holds, Index};
use crate::number::{Number, Unit};

/// Figures looked at, and how many different ones must agree.
const MAX_FIGURES: usize = 300;
const ENOUGH: usize = 2;

/// Takes the scale off the figures whose unit is the result's own.
pub fn rebase(report: &str, figures: &mut [Figure], index: &Index<'_>) {
    for scale in [1e3, 1e4, 1e6, 1e8] {
        let scaled = |f: &&Figure| f.number.unit == Unit::Plain && f.number.scale == scale;
        let telling = |f: &&Figure| f.number.value / f.number.half > 100.0;
        let (mut own, mut other, mut measured) = (Vec::new(), 0, None);
        for figure in figures.iter().filter(scaled).filter(telling).take(MAX_FIGURES) {
            let number = &figure.number;
            other += usize::from(is_held(index, number, 1.0));
            if is_held(index, number, scale) && !own.contains(&number.value) {
                own.push(number.value);
                measured = measured.or(measure(report, number));
            }
        }
        if own.len() < ENOUGH || own.len() <= other * 2 {
            continue;
        }
        // Another measure behind it, 票 for 元, is another column's, and its 万 a slip.
        let same = |f: &Figure| said_above(report, f) || measure(report, &f.number) == measured;
        for figure in figures.iter_mut().filter(|f| scaled(&&**f) && same(f)) {
            figure.number.value /= scale;
            figure.number.half /= scale;
            figure.number.scale = 1.0;
        }
    }
}

/// The character right behind a figure and its scale.
fn measure(report: &str, number: &Number) -> Option<char> {
    report[number.span.end..].chars().next().filter(|c| c.is_alphabetic())
}

/// A cell whose header says the scale, not the cell.
fn said_above(report: &str, figure: &Figure) -> bool {
    matches!(figure.place, Place::Cell { .. })
        && report[..figure.number.span.end].ends_with(|c: char| c.is_ascii_digit() || c == ')')
}

/// Whether a result has the number, divided by a scale, in a cell or as the sum of a column.
fn is_held(index: &Index<'_>, number: &Number, scale: f64) -> bool {
    let (value, half) = (number.value / scale, number.half / scale * (1.0 + 1e-7));
    let columns = index.tables.iter().take(60).flat_map(|t| t.columns.iter().take(24));
    columns.filter(|c| c.scale == 1.0).any(|column| {
        let Holds::Numbers { sorted, sum, .. } = &column.holds else { return false };
        let at = sorted.partition_point(|(v, _)| *v < value - half);
        sorted.get(at).is_some_and(|(v, _)| *v <= value + half) || (sum - value).abs() <= half
    })
}
