//! Columns of numbers over the places of a line: those of a result, or those the report itself shows beside the line.

use super::formula::{Around, Shape};
use crate::bind::Bound;
use crate::figures::Figure;
use crate::index::Column;
use crate::scope::Page;

/// Columns a formula may use.
const MAX_COLUMNS: usize = 24;
/// The smallest term of a sum, as a part of the largest.
const LEAST: f64 = 2e-3;

/// The rows a figure is said of.
#[derive(Debug, Clone, PartialEq)]
pub enum Scope {
    Rows(Vec<u32>),
    Whole,
}

pub struct Sheet {
    pub columns: Vec<Of>,
}

/// One column of a sheet.
pub struct Of {
    /// Its place: a column of a table, or none when the report shows it.
    pub at: Option<(usize, usize)>,
    /// The figure shown at each place, for a column of the report.
    pub shown: Vec<Option<usize>>,
    pub percents: Vec<f64>,
    pub values: Vec<Option<f64>>,
    pub around: Vec<Around>,
}

/// The sum of a column over some rows; averages and rates have none.
pub fn amount(column: &Column<'_>, scope: &Scope) -> Option<f64> {
    match scope {
        Scope::Rows(rows) => match rows.as_slice() {
            [row] => column.value(*row),
            rows if rows.is_empty() || column.averaged || column.rate => None,
            rows => rows.iter().map(|r| column.value(*r)).sum(),
        },
        Scope::Whole if column.averaged || column.rate => None,
        Scope::Whole => column.total(),
    }
}

impl Sheet {
    /// A result's columns over rows.
    pub fn of_table(page: &Page<'_>, table: usize, places: &[Scope]) -> Self {
        let of = &page.index.tables[table];
        let numbers = of.columns.iter().enumerate().filter(|(_, c)| c.values().is_some());
        let columns = numbers.take(MAX_COLUMNS).map(|(at, column)| {
            let values: Vec<Option<f64>> = places.iter().map(|p| amount(column, p)).collect();
            // The first line shown may have one before it in the result.
            let earlier = |place: &Scope| match place {
                Scope::Rows(rows) if rows.len() == 1 => rows[0].checked_sub(1).and_then(|r| column.value(r)),
                _ => None,
            };
            let mut around = around(&values);
            for (one, place) in around.iter_mut().zip(places) {
                one.whole = amount(column, &Scope::Whole);
                one.before = one.before.or_else(|| earlier(place));
            }
            Of {
                at: Some((table, at)),
                shown: Vec::new(),
                percents: column.percents().to_vec(),
                values,
                around,
            }
        });
        Self { columns: columns.collect() }
    }

    /// What the report shows in other lines of the same group, as far as it is bound.
    pub fn of_report(figures: &[Figure], bound: &[Bound], lines: &[&super::Line], places: usize) -> Self {
        let column = |line: &&super::Line| {
            let mut shown = vec![None; places];
            let mut values = vec![None; places];
            for (figure, place) in &line.members {
                if let (Some(value), Some(slot)) = (bound[*figure].exact, values.get_mut(*place)) {
                    *slot = Some(value);
                    shown[*place] = Some(*figure);
                }
            }
            debug_assert!(line.members.iter().all(|(f, _)| *f < figures.len()));
            let around = around(&values);
            Of { at: None, shown, percents: vec![1.0], values, around }
        };
        let filled = |of: &Of| of.values.iter().flatten().count() > 1;
        Self { columns: lines.iter().map(column).filter(filled).take(MAX_COLUMNS).collect() }
    }

    /// A formula's value at a place.
    pub fn at(&self, shape: Shape, columns: [usize; 4], place: usize) -> Option<f64> {
        let mut v = [0.0; 4];
        for (value, column) in v.iter_mut().zip(columns).take(shape.columns()) {
            *value = self.columns[column].values.get(place).copied().flatten()?;
        }
        // What is added or taken away must be of a size to matter.
        let terms = shape.terms();
        let most = v[..terms].iter().fold(0.0, |m: f64, t| m.max(t.abs()));
        if terms > 1 && v[..terms].iter().any(|t| t.abs() < most * LEAST && *t != 0.0) {
            return None;
        }
        shape.of(v, self.columns[columns[0]].around.get(place)?)
    }
}

fn around(values: &[Option<f64>]) -> Vec<Around> {
    let first = values.first().copied().flatten();
    let (mut upto, mut before) = (Some(0.0), None);
    let mut all = Vec::with_capacity(values.len());
    for value in values {
        upto = upto.zip(*value).map(|(sum, v)| sum + v);
        all.push(Around { whole: None, before, first, upto });
        before = *value;
    }
    all
}
