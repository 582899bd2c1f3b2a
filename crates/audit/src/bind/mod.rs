//! From a figure to its proof: a cell that says the same under the same names, one step from such cells, a line of
//! output, or the user's own words, in this order. What is found only under other names is a mismatch.

mod beside;
mod columns;
mod derive;
mod direct;
mod output;
mod pairs;
mod rows;
mod sets;

use std::cell::Cell;

use crate::cues::{Cues, Direction};
use crate::figures::Figure;
use crate::index::{Holds, Index};
use crate::number::{Number, Sign, Unit};
use crate::scope::{Asked, Page};
use crate::verdict::{Operand, Proof, State};

pub use output::Output;

/// Digits from which a value is not met by chance; shorter ones need names that agree.
pub const TELLING: usize = 3;
/// Tables looked into for one step of arithmetic.
const MAX_TABLES: usize = 60;

/// What was found for a figure.
pub struct Bound {
    pub state: State,
    pub proof: Option<Proof>,
    /// Where the value, or one near it, was met under other names.
    pub nearest: Option<Operand>,
    /// What the proof gives, unrounded, with its sign.
    pub exact: Option<f64>,
    pub seen: Seen,
}

/// What a figure's words point at, kept for what is made of several figures.
#[derive(Debug, Default)]
pub struct Seen {
    /// Rows by table, where the figure's own words name any.
    pub rows: Vec<(usize, Vec<u32>)>,
    /// Columns named in full.
    pub named: Vec<(usize, usize)>,
    /// The figure's value with the sign its words give it.
    pub target: f64,
}

/// All that is known of one figure.
pub struct Case<'p> {
    pub page: &'p Page<'p>,
    pub index: &'p Index<'p>,
    pub figure: &'p Figure,
    pub cues: Cues,
    pub columns: columns::Columns,
    /// What the words ask of each column of labels, by table and column.
    pub asked: Vec<Vec<Asked>>,
    /// The value that was last found to be the figure's.
    pub exact: Cell<Option<f64>>,
}

impl<'p> Case<'p> {
    pub fn new(page: &'p Page<'p>, figure: &'p Figure) -> Self {
        let index = page.index;
        let asked = index
            .tables
            .iter()
            .enumerate()
            .map(|(t, table)| {
                let of = |(c, column): (usize, &crate::index::Column<'_>)| match column.holds {
                    Holds::Numbers { .. } => Asked::default(),
                    _ => page.asked(figure, (t, c)),
                };
                table.columns.iter().enumerate().map(of).collect()
            })
            .collect();
        let cues = Cues::of(page, figure);
        Self {
            page,
            index,
            figure,
            cues,
            columns: columns::Columns::of(page, figure),
            asked,
            exact: Cell::new(None),
        }
    }

    /// The value a cell must have, sign included.
    pub fn target(&self) -> f64 {
        let number = &self.figure.number;
        match (number.sign, self.cues.direction) {
            (Sign::Minus, _) | (Sign::Bare, Some(Direction::Down)) => -number.value,
            _ => number.value,
        }
    }

    /// Whether a computed value is the figure as shown; without a sign or direction its size alone may do.
    pub fn is(&self, value: f64, size_alone: bool) -> bool {
        let number = &self.figure.number;
        let close = |v: f64, t: f64| (v - t).abs() <= number.half * (1.0 + 1e-7) + t.abs() * 1e-12;
        let unsigned = number.sign == Sign::Bare && self.cues.direction.is_none();
        let sized = size_alone && unsigned && self.cues.apart;
        let same =
            value.is_finite() && (close(value, self.target()) || (sized && close(value.abs(), number.value)));
        if same {
            self.exact.set(Some(value));
        }
        same
    }

    fn seen(&self) -> Seen {
        let near = |t: &usize| self.asked[*t].iter().any(|a| a.near);
        let rows = self.tables().filter(near).map(|t| (t, self.near_rows(t))).collect();
        let named = if self.columns.compound { Vec::new() } else { self.columns.named.clone() };
        Seen { rows, named, target: self.target() }
    }

    pub fn telling(&self) -> bool {
        self.figure.number.digits_shown >= TELLING
    }

    pub fn tables(&self) -> impl Iterator<Item = usize> + use<'p> {
        0..self.index.tables.len().min(MAX_TABLES)
    }

    pub fn operand(&self, table: usize, row: u32, column: usize) -> Operand {
        let of = &self.index.tables[table];
        Operand {
            tool_call_id: of.id.to_owned(),
            row: Some(row as usize),
            column: of.columns[column].name.to_owned(),
            value: of.columns[column].value(row),
        }
    }
}

/// Binds one figure.
pub fn bind(page: &Page<'_>, output: &Output<'_>, figure: &Figure) -> Bound {
    let case = Case::new(page, figure);
    let (state, proof, nearest) = found(&case, output);
    let exact = if state.is_marked() { None } else { case.exact.get() };
    Bound { state, proof, nearest, exact, seen: case.seen() }
}

fn found(case: &Case<'_>, output: &Output<'_>) -> (State, Option<Proof>, Option<Operand>) {
    let direct = direct::find(case);
    if let direct::Found::Agrees(operand) = direct {
        return (State::Proven, Some(Proof::cell(operand)), None);
    }
    if let Some(derived) = derive::find(case, output) {
        return (State::Derived, Some(derived), None);
    }
    if let Some((state, proof)) = beside::find(case) {
        return (state, Some(proof), None);
    }
    if let Some((state, proof)) = output.find(case) {
        return (state, Some(proof), None);
    }
    match direct {
        direct::Found::Elsewhere(operand) if case.figure.number.digits.len() >= TELLING => {
            (State::Mismatch, None, Some(operand))
        }
        _ => (State::Unproven, None, direct::nearest(case)),
    }
}

/// Whether a value is the figure as shown.
pub fn is_figure(number: &Number, target: f64, value: f64) -> bool {
    value.is_finite() && (value - target).abs() <= number.half * (1.0 + 1e-7) + target.abs() * 1e-12
}

/// Whether a unit is a percentage of either kind.
pub fn is_percent(unit: Unit) -> bool {
    matches!(unit, Unit::Percent | Unit::Points)
}
