//! Amounts whose column the words do not name: a figure beside is said of the same rows, or a percentage beside is made of
//! both. "In all 420 staff, of whom 78 left, a rate of 18.6%".

use super::{Among, Found};
use crate::bind::TELLING;
use crate::index::Holds;
use crate::lines::{Scope, amount};
use crate::number::Unit;
use crate::verdict::{Operand, Proof};

/// Digits from which a value in the right row is not met by chance.
const SURE: usize = 4;

/// A column over some rows.
struct Candidate {
    table: usize,
    column: usize,
    scope: Scope,
    value: f64,
}

pub fn find(among: &Among<'_, '_>, at: usize) -> Option<Found> {
    let number = &among.figures[at].number;
    if number.unit != Unit::Plain {
        return None;
    }
    let beside: Vec<usize> = among.before(at).into_iter().take(2).chain(among.behind(at)).collect();
    if let Some(found) = operand_of(among, at, &beside) {
        return Some(found);
    }
    let mut scopes: Vec<(usize, Scope)> = beside.iter().filter_map(|i| scope_of(among, *i)).collect();
    for table in scopes.iter().map(|(t, _)| *t).collect::<Vec<_>>() {
        if !scopes.contains(&(table, Scope::Whole)) {
            scopes.push((table, Scope::Whole));
        }
    }
    let seen = &among.bound[at].seen;
    for candidate in candidates(among, at, &scopes, Some(&beside)) {
        let own = seen.rows.iter().find(|(t, _)| *t == candidate.table).map(|(_, rows)| rows);
        let agrees = own.is_none_or(|rows| candidate.scope == Scope::Rows(rows.clone()));
        // Under the figure's own label less is needed; against it, only the whole will do.
        let exact = number.half < 0.5 || (candidate.value - number.value).abs() < 1e-9;
        let needs = if own.is_some() && exact { TELLING } else { SURE };
        let sure = number.digits_shown >= needs;
        let backed = || candidate.scope == Scope::Whole || agrees;
        if (agrees && sure) || (backed() && is_backed(among, at, candidate.value)) {
            return Some(candidate.found(among));
        }
    }
    jointly(among, at)
}

/// "69.2% of the 597,100 installs": what a percentage beside was divided by, or what was divided.
fn operand_of(among: &Among<'_, '_>, at: usize, beside: &[usize]) -> Option<Found> {
    let telling = among.figures[at].number.digits_shown >= TELLING;
    let percents = beside.iter().filter(|i| telling && among.figures[**i].number.unit == Unit::Percent);
    for operand in percents.flat_map(|i| among.operands(&[*i])) {
        let Some(value) = operand.value.filter(|v| among.is(at, *v)) else { continue };
        let seen = &among.bound[at].seen;
        let table = among.page.index.tables.iter().position(|t| t.id == operand.tool_call_id)?;
        let own = seen.rows.iter().find(|(t, _)| *t == table).map(|(_, rows)| rows.as_slice());
        let columns = &among.page.index.tables[table].columns;
        let Some(column) = columns.iter().position(|c| c.name == operand.column) else { continue };
        let other = seen.named.iter().any(|(t, _)| *t == table) && !seen.named.contains(&(table, column));
        if other || (columns[column].integral && among.figures[at].number.half < 0.5) {
            continue;
        }
        let proof = match operand.row {
            None => Proof::formula("sum(a)", vec![operand]),
            // A cell of another row than the figure's own words name is no proof.
            Some(row) if own.is_none_or(|rows| rows == [row as u32]) => Proof::cell(operand),
            Some(_) => continue,
        };
        return Some((proof, value));
    }
    None
}

impl Candidate {
    fn found(&self, among: &Among<'_, '_>) -> Found {
        let of = &among.page.index.tables[self.table];
        let column = &of.columns[self.column];
        let operand = |row: Option<u32>, value| Operand {
            tool_call_id: of.id.to_owned(),
            row: row.map(|r| r as usize),
            column: column.name.to_owned(),
            value,
        };
        let proof = match &self.scope {
            Scope::Rows(rows) if rows.len() == 1 => {
                Proof::cell(operand(Some(rows[0]), column.value(rows[0])))
            }
            Scope::Rows(rows) => Proof::formula(
                "sum(a)",
                rows.iter().take(12).map(|r| operand(Some(*r), column.value(*r))).collect(),
            ),
            Scope::Whole => Proof::formula("sum(a)", vec![operand(None, column.total())]),
        };
        (proof, self.value)
    }
}

/// The rows a bound figure was read from: one cell, or whole columns.
pub fn scope_of(among: &Among<'_, '_>, at: usize) -> Option<(usize, Scope)> {
    let operands = crate::lines::operands_of(among.bound[at].proof.as_ref()?);
    let first = operands.first()?;
    let same = operands.iter().all(|o| o.row == first.row && o.tool_call_id == first.tool_call_id);
    let table = among
        .page
        .index
        .tables
        .iter()
        .position(|t| t.id == first.tool_call_id && t.columns.iter().any(|c| c.name == first.column))?;
    let scope = first.row.map_or(Scope::Whole, |r| Scope::Rows(vec![r as u32]));
    same.then_some((table, scope))
}

/// Columns that have the figure's value in rows said beside it; none where the words name another column, unless a figure
/// beside has that one already.
fn candidates(
    among: &Among<'_, '_>,
    at: usize,
    scopes: &[(usize, Scope)],
    beside: Option<&[usize]>,
) -> Vec<Candidate> {
    let seen = &among.bound[at].seen;
    let decimals = among.figures[at].number.half < 0.5;
    // Columns that figures beside were read from, and in which rows.
    let used: Vec<(usize, Scope, String)> = beside
        .unwrap_or_default()
        .iter()
        .filter(|i| **i < at)
        .filter_map(|i| {
            let (table, scope) = scope_of(among, *i)?;
            Some((table, scope, among.operands(&[*i]).first()?.column.clone()))
        })
        .collect();
    let is_used = |table: usize, scope: &Scope, column: usize| {
        let name = among.page.index.tables[table].columns[column].name;
        used.iter().any(|(t, s, n)| *t == table && s == scope && *n == name)
    };
    let mut all = Vec::new();
    for (table, scope) in scopes {
        let of = &among.page.index.tables[*table];
        let named = beside.is_some() && seen.named.iter().any(|(t, c)| t == table && !is_used(*t, scope, *c));
        for (column, held) in of.columns.iter().enumerate().take(200) {
            let usable = matches!(held.holds, Holds::Numbers { .. })
                && (!named || seen.named.contains(&(*table, column)))
                && !is_used(*table, scope, column)
                && !(decimals && held.integral);
            let Some(value) = amount(held, scope).filter(|_| usable) else { continue };
            if among.is(at, value) {
                all.push(Candidate { table: *table, column, scope: scope.clone(), value });
            }
        }
    }
    all
}

/// Whether a percentage of the same sentence is this value over, or under, a figure beside.
fn is_backed(among: &Among<'_, '_>, at: usize, value: f64) -> bool {
    let sentence = &among.figures[at].place;
    let near = at.saturating_sub(3)..(at + 4).min(among.figures.len());
    let mut percents = near.clone().filter(|i| {
        among.figures[*i].number.unit == Unit::Percent && shares_sentence(&among.figures[*i].place, sentence)
    });
    let others: Vec<f64> = near.filter(|i| *i != at).filter_map(|i| among.bound[i].exact).collect();
    percents.any(|p| others.iter().any(|o| among.is(p, value / o) || among.is(p, o / value)))
}

fn shares_sentence(one: &crate::figures::Place, other: &crate::figures::Place) -> bool {
    use crate::figures::Place::Prose;
    matches!((one, other), (Prose { sentence: a, .. }, Prose { sentence: b, .. }) if a == b)
}

/// Two amounts without a proof of their own, and a percentage that is one over the other.
fn jointly(among: &Among<'_, '_>, at: usize) -> Option<Found> {
    let place = &among.figures[at].place;
    let near = at.saturating_sub(3)..(at + 4).min(among.figures.len());
    let beside = |i: &usize| *i != at && shares_sentence(&among.figures[*i].place, place);
    let of_unit = |unit: Unit| {
        let fits = move |i: &usize| among.figures[*i].number.unit == unit;
        near.clone().filter(beside).filter(fits).collect::<Vec<usize>>()
    };
    let (percents, amounts) = (of_unit(Unit::Percent), of_unit(Unit::Plain));
    if percents.is_empty() || amounts.is_empty() {
        return None;
    }
    for table in 0..among.page.index.tables.len().min(60) {
        let rows = among.bound[at].seen.rows.iter().find(|(t, _)| *t == table);
        let own = rows.map(|(_, rows)| Scope::Rows(rows.clone()));
        let scopes: Vec<(usize, Scope)> = own.into_iter().chain([Scope::Whole]).map(|s| (table, s)).collect();
        for this in candidates(among, at, &scopes, None) {
            for other in &amounts {
                for that in candidates(among, *other, &scopes, None) {
                    let ratio = |p: &usize| {
                        among.is(*p, this.value / that.value) || among.is(*p, that.value / this.value)
                    };
                    if this.column != that.column && percents.iter().any(ratio) {
                        return Some(this.found(among));
                    }
                }
            }
        }
    }
    None
}
