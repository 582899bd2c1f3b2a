//! Figures that stand in line: a column or a row of a table, the same place of each item of a list, the points of a series.
//! They are made alike, so one formula that gives nearly all of them proves those, and tells the odd one out.

mod collect;
mod fit;
mod formula;
mod sheet;

pub use collect::{Line, collect};
pub use fit::{Fit, operands, operands_of};
pub use formula::{Around, Formula};
pub use sheet::{Scope, amount};

use std::collections::HashMap;

use crate::bind::Bound;
use crate::figures::Figure;
use crate::number::Unit;
use crate::scope::Page;
use crate::verdict::State;

/// Lines looked at, and tables a line is tried on.
const MAX_LINES: usize = 1_500;
const MAX_TABLES: usize = 60;
/// Members of all lines, times the tables they are tried on; what lies beyond is left to the other rules.
const MAX_WORK: usize = 200_000;

/// A word of the report and the formula it was seen to stand for.
#[derive(Debug)]
pub struct Term {
    pub word: String,
    pub table: usize,
    pub unit: Unit,
    pub formula: Formula,
}

/// Binds what stands in line, marks what falls out of it, and gives the words that were learnt.
pub fn bind(page: &Page<'_>, figures: &[Figure], bound: &mut [Bound]) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut lines = collect(page, figures);
    lines.truncate(MAX_LINES);
    let mut work = 0;
    lines.retain(|line| {
        work += line.members.len() + line.group.len();
        work <= MAX_WORK
    });
    for line in &lines {
        let best = (0..page.index.tables.len().min(MAX_TABLES))
            .filter_map(|table| fit::over_table(page, figures, bound, line, table))
            .min_by_key(|f| (f.missed, f.formula.shape.needs()));
        let Some(found) = best else { continue };
        apply(page, bound, &found);
        let table = found.table.filter(|_| line.word.chars().count() > 1);
        for word in collect::names(&line.word) {
            terms.extend(table.map(|table| Term {
                word,
                table,
                unit: figures[line.members[0].0].number.unit,
                formula: found.formula,
            }));
        }
    }
    beside(page, figures, &lines, bound);
    terms
}

/// Lines made of other lines of the same table or list.
fn beside(page: &Page<'_>, figures: &[Figure], lines: &[Line], bound: &mut [Bound]) {
    let mut groups: HashMap<usize, Vec<&Line>> = HashMap::new();
    for line in lines {
        groups.entry(line.id).or_default().push(line);
    }
    for line in lines {
        let open = line.members.iter().filter(|(f, _)| bound[*f].state.is_marked()).count();
        let others: Vec<&Line> =
            groups[&line.id].iter().copied().filter(|o| o.members != line.members).take(24).collect();
        if open == 0 || others.is_empty() {
            continue;
        }
        if let Some(found) = fit::over_report(page, figures, bound, line, &others) {
            apply(page, bound, &found);
        }
    }
}

fn apply(page: &Page<'_>, bound: &mut [Bound], found: &Fit) {
    for member in &found.members {
        let one = &bound[member.figure];
        if member.fits {
            let proof = one.state.is_marked().then(|| found.proof(page, bound, member));
            let one = &mut bound[member.figure];
            if let Some(proof) = proof {
                one.state = if found.is_cell(member) { State::Proven } else { State::Derived };
                one.proof = Some(proof);
                one.nearest = None;
            }
            one.exact = Some(member.value);
        } else if member.keyed && found.is_sure() && one.state != State::Given && !one.state.is_marked() {
            // All others of the line are told by one formula, and this one is not.
            let nearest = found.nearest(page, member);
            let one = &mut bound[member.figure];
            (one.state, one.proof, one.exact, one.nearest) = (State::Mismatch, None, None, nearest);
        }
    }
}
