//! Proofs that lie in other figures of the same words: "the gap between 22.7% and 39.9% is 17.2 points". The operands are
//! figures that are bound themselves, with their unrounded values, so that nothing is proven by what nothing proves.

mod scopes;
mod steps;

use crate::bind::{Bound, is_figure};
use crate::cues::Cues;
use crate::figures::{Figure, Place};
use crate::index::Holds;
use crate::layout::{Kind, Span};
use crate::lines::{Around, Scope, Term, amount, operands};
use crate::number::Unit;
use crate::scope::{Key, Page};
use crate::verdict::{Operand, Proof, State};

/// Figures that may rest on each other are gone through so often.
const ROUNDS: usize = 2;

/// All that the figures of a report are bound by, as far as it goes.
pub struct Among<'a, 'p> {
    pub page: &'a Page<'p>,
    pub figures: &'a [Figure],
    pub bound: &'a [Bound],
    pub terms: &'a [Term],
}

/// What was found for a figure: its proof and its unrounded value.
pub type Found = (Proof, f64);

pub fn bind(page: &Page<'_>, figures: &[Figure], terms: &[Term], bound: &mut [Bound]) {
    for _ in 0..ROUNDS {
        let mut changed = false;
        for at in 0..figures.len() {
            if !bound[at].state.is_marked() || !matches!(figures[at].place, Place::Prose { .. }) {
                continue;
            }
            let among = Among { page, figures, bound, terms };
            let found = among.by_word(at).or_else(|| scopes::find(&among, at));
            let found = found.or_else(|| steps::find(&among, at));
            if let Some((proof, exact)) = found {
                let one = &mut bound[at];
                one.state = if matches!(proof, Proof::Cell { .. }) { State::Proven } else { State::Derived };
                (one.proof, one.exact, one.nearest) = (Some(proof), Some(exact), None);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
}

/// A multiple is a plain number with a mark.
fn plain(unit: Unit) -> Unit {
    if unit == Unit::Times { Unit::Plain } else { unit }
}

impl Among<'_, '_> {
    /// Whether a value is the figure as shown, its sign included.
    pub fn is(&self, at: usize, value: f64) -> bool {
        is_figure(&self.figures[at].number, self.bound[at].seen.target, value)
    }

    /// A word that a table or list has shown to stand for a formula: "ROI 为 4.90".
    fn by_word(&self, at: usize) -> Option<Found> {
        let Place::Prose { sentence, clause, .. } = &self.figures[at].place else { return None };
        let unit = self.figures[at].number.unit;
        let near = self.page.report[clause.clone()].to_lowercase();
        let wide = self.page.report[sentence.clone()].to_lowercase();
        let learnt = self.terms.iter().any(|t| near.contains(&t.word));
        // Further off only where the clause has no such word, and for what is computed.
        let far = |t: &&Term| !learnt && t.formula.shape.columns() > 1 && wide.contains(&t.word);
        for terms in [
            self.terms.iter().filter(|t| near.contains(&t.word)).collect::<Vec<_>>(),
            self.terms.iter().filter(far).collect(),
        ] {
            for term in terms {
                if let Some(found) = self.compared(at, term, sentence) {
                    return Some(found);
                }
                if plain(term.unit) != plain(unit) {
                    continue;
                }
                let rows = self.bound[at].seen.rows.iter().find(|(t, _)| *t == term.table);
                let own = rows.map(|(_, rows)| Scope::Rows(rows.clone()));
                // Without a label of its own it is said of what the figure before is.
                let told = if own.is_none() { self.before(at).first().copied() } else { None };
                let told = told.and_then(|i| scopes::scope_of(self, i)).filter(|(t, _)| *t == term.table);
                for scope in own.into_iter().chain(told.map(|(_, s)| s)).chain([Scope::Whole]) {
                    let Some(value) = self.value(term, &scope) else { continue };
                    if self.is(at, value) {
                        let operands = operands(self.page, term.table, &term.formula, &scope);
                        return Some((Proof::formula(term.formula.shape.name(), operands), value));
                    }
                }
            }
        }
        None
    }

    /// "出租率领先标准间 5.0 个百分点": what a word stands for, of one label against another's.
    fn compared(&self, at: usize, term: &Term, sentence: &Span) -> Option<Found> {
        let unit = self.figures[at].number.unit;
        let table = &self.page.index.tables[term.table];
        let mut rows: Vec<u32> = Vec::new();
        for (column, held) in table.columns.iter().enumerate().take(12) {
            for mark in self.page.marks(sentence, (term.table, column)) {
                let found: Vec<u32> = match (&held.holds, mark.key) {
                    (Holds::Labels { rows: by, .. }, Key::Label(label)) => {
                        by.get(&label).cloned().unwrap_or_default()
                    }
                    (Holds::Times { of_row, .. }, Key::Time(time)) => (0..of_row.len() as u32)
                        .take(2_000)
                        .filter(|r| of_row[*r as usize].is_some_and(|p| time.same(p)))
                        .collect(),
                    _ => Vec::new(),
                };
                if let [row] = found.as_slice()
                    && !rows.contains(row)
                    && rows.len() < 4
                {
                    rows.push(*row);
                }
            }
        }
        let scopes: Vec<Scope> =
            rows.into_iter().map(|r| Scope::Rows(vec![r])).chain([Scope::Whole]).collect();
        let target = self.bound[at].seen.target;
        for one in &scopes {
            for other in scopes.iter().filter(|o| *o != one) {
                let (Some(a), Some(b)) = (self.value(term, one), self.value(term, other)) else { continue };
                let (name, value) = match unit {
                    Unit::Times => ("a / b", a / b),
                    Unit::Points if term.unit == Unit::Percent => ("a - b", a - b),
                    Unit::Percent if term.unit != Unit::Points => ("a / b - 1", a / b - 1.0),
                    _ => continue,
                };
                let sure = unit != Unit::Percent || Cues::of(self.page, &self.figures[at]).growth;
                if sure && target != 0.0 && self.is(at, value) {
                    let mut all = operands(self.page, term.table, &term.formula, one);
                    all.extend(operands(self.page, term.table, &term.formula, other));
                    return Some((Proof::formula(name, all), value));
                }
            }
        }
        None
    }

    fn value(&self, term: &Term, scope: &Scope) -> Option<f64> {
        let columns = &self.page.index.tables[term.table].columns;
        let mut v = [0.0; 4];
        for (value, column) in v.iter_mut().zip(term.formula.columns).take(term.formula.shape.columns()) {
            *value = amount(&columns[column], scope)?;
        }
        let whole = columns[term.formula.columns[0]].total();
        let around = Around { whole, ..Around::default() };
        term.formula.shape.of(v, &around).map(|value| value * term.formula.factor)
    }

    /// Bound figures near another, nearest first: those before it in its sentence, else in the one before.
    pub fn before(&self, at: usize) -> Vec<usize> {
        let Place::Prose { block, sentence, .. } = &self.figures[at].place else { return Vec::new() };
        let span = &self.figures[at].number.span;
        // Labels of its own say what a figure is of; what was said before is of others.
        let labelled = self.page.label_starts(&(sentence.start..span.start)).next().is_some();
        let mut all = Vec::new();
        for i in (0..at).rev().take(12) {
            let Place::Prose { block: b, sentence: s, .. } = &self.figures[i].place else { break };
            // The sentence before counts where the figure's own has not two.
            let items = matches!(self.page.layout.blocks[*block].kind, Kind::Item(_));
            // "Relative lift: 14.1%" alone in its block is of the two percentages of the block before.
            let lone =
                all.is_empty() && block.abs_diff(*b) == 1 && self.figures[at].number.unit != Unit::Plain;
            if s != sentence && labelled {
                break;
            }
            let apart = if items || lone { block.abs_diff(*b) > 1 } else { b != block };
            if apart
                || all.len() > 5
                || (s != sentence && all.len() > 3 && self.figures[at].number.unit != Unit::Points)
                || (b != block && all.len() > 1)
            {
                break;
            }
            if self.bound[i].exact.is_some() {
                all.push(i);
            }
        }
        all
    }

    /// Bound figures behind another in its sentence.
    pub fn behind(&self, at: usize) -> Vec<usize> {
        let Place::Prose { sentence, .. } = &self.figures[at].place else { return Vec::new() };
        let same =
            |i: &usize| matches!(&self.figures[*i].place, Place::Prose { sentence: s, .. } if s == sentence);
        let next = (at + 1..self.figures.len()).take_while(same).take(4);
        next.filter(|i| self.bound[*i].exact.is_some()).take(2).collect()
    }

    /// What the proofs of some figures rest on.
    pub fn operands(&self, of: &[usize]) -> Vec<Operand> {
        let proofs = of.iter().filter_map(|i| self.bound[*i].proof.as_ref());
        proofs.flat_map(crate::lines::operands_of).take(24).collect()
    }
}
