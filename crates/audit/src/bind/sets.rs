//! Sets of rows that a total, a mean or a share may be over: all, those the words name, the first few, those within a
//! longer period.

use super::Case;
use super::rows::Amount;
use crate::figures::Place;
use crate::index::Holds;
use crate::period::{Grain, Period};
use crate::scope::Key;

impl Case<'_> {
    /// The figure's sentence or the words around its cell, in small letters.
    pub fn words(&self) -> String {
        let spans = self.page.around(self.figure);
        spans.iter().map(|s| self.page.report[s.clone()].to_lowercase()).collect::<Vec<_>>().join(" ")
    }

    /// The rows asked for; all rows (`None`) when the words speak of a whole, or of nothing.
    pub fn scopes(&self, table: usize) -> Vec<Option<Vec<u32>>> {
        let rows = self.rows(table, None);
        let near = self.asked[table].iter().any(|a| a.near);
        let mut all = Vec::new();
        if !rows.is_empty() && (rows.len() == 1 || near) {
            all.push(Some(rows));
        }
        if self.cues.total || all.is_empty() || !near {
            all.push(None);
        }
        all
    }

    /// A column over a scope.
    pub fn over(&self, table: usize, column: usize, rows: &Option<Vec<u32>>) -> Option<Amount> {
        match rows {
            Some(rows) => self.amount(table, column, rows),
            None => self.total(table, column),
        }
    }

    /// Rows of several labels named together: all of the sentence's, or the last few before the figure.
    pub fn groups(&self, table: usize) -> Vec<Vec<u32>> {
        let mut all: Vec<Vec<u32>> = Vec::new();
        let at = self.figure.number.span.start;
        for key in self.keys(table) {
            let mut said: Vec<Key> = Vec::new();
            for span in self.page.around(self.figure) {
                for mark in self.page.marks(&span, (table, key)).iter().filter(|m| m.start < at) {
                    if !said.contains(&mark.key) {
                        said.push(mark.key);
                    }
                }
            }
            for size in [said.len(), 2, 3] {
                if size >= 2 && size <= said.len() {
                    let rows = self.rows(table, Some((key, &said[said.len() - size..])));
                    if rows.len() > 1 && !all.contains(&rows) {
                        all.push(rows);
                    }
                }
            }
            // 其中 … 上半年: rows within a longer period.
            if let Holds::Times { of_row, .. } = &self.index.tables[table].columns[key].holds {
                for period in self.longer(table, key) {
                    let others: Vec<(usize, &[Key])> = self
                        .keys(table)
                        .into_iter()
                        .filter(|k| *k != key)
                        .map(|k| (k, self.asked[table][k].keys.as_slice()))
                        .filter(|(_, keys)| !keys.is_empty())
                        .collect();
                    let within = |r: &u32| {
                        of_row[*r as usize].is_some_and(|p| period.holds(p))
                            && others.iter().all(|(k, keys)| self.holds(table, *k, *r, keys))
                    };
                    let rows: Vec<u32> = (0..of_row.len() as u32).take(20_000).filter(within).collect();
                    if rows.len() > 1 && !all.contains(&rows) {
                        all.push(rows);
                    }
                }
            }
        }
        all
    }

    /// Periods of the figure's words that hold several of the column's.
    fn longer(&self, table: usize, key: usize) -> Vec<Period> {
        let Holds::Times { rows, .. } = &self.index.tables[table].columns[key].holds else {
            return Vec::new();
        };
        let own: Vec<_> = rows.keys().map(|part| Period { year: None, part: *part }.grain()).collect();
        let mut all: Vec<Period> = self
            .page
            .around(self.figure)
            .iter()
            .flat_map(|s| self.page.times(s))
            .map(|(p, _)| p)
            .filter(|p| !own.contains(&p.grain()))
            .collect();
        all.reverse();
        all.dedup();
        all.truncate(3);
        all
    }

    /// "H1 revenue was 12": rows within the longer period the figure itself is said of.
    fn spanned(&self, table: usize) -> Vec<Vec<u32>> {
        let mut all = Vec::new();
        for key in self.keys(table) {
            let Holds::Times { of_row, rows } = &self.index.tables[table].columns[key].holds else {
                continue;
            };
            let own: Vec<Grain> =
                rows.keys().map(|part| Period { year: None, part: *part }.grain()).collect();
            for grain in [Grain::Quarter, Grain::Half, Grain::Year].into_iter().filter(|g| !own.contains(g)) {
                let Some(Key::Time(period)) = self.page.asked_times(self.figure, grain).first().copied()
                else {
                    continue;
                };
                let within = |r: &u32| of_row[*r as usize].is_some_and(|p| period.holds(p));
                let found: Vec<u32> = (0..of_row.len() as u32).take(20_000).filter(within).collect();
                if found.len() > 1 && found.len() < of_row.len() {
                    all.push(found);
                }
            }
        }
        all
    }

    /// Totals over the rows that share all labels but one with the row asked for.
    pub fn partial_totals(&self, table: usize, column: usize) -> Vec<Amount> {
        let keys = self.keys(table);
        if keys.len() < 2 {
            return Vec::new();
        }
        keys.iter()
            .filter(|k| !self.asked[table][**k].keys.is_empty())
            .filter_map(|k| {
                let rows = self.rows(table, Some((*k, &[])));
                (rows.len() > 1).then(|| self.amount(table, column, &rows)).flatten()
            })
            .collect()
    }

    /// Totals that another result has in its only row, under the same name: `total_revenue` of `revenue`.
    pub fn outer_totals(&self, table: usize, column: usize) -> Vec<Amount> {
        let name = self.index.tables[table].columns[column].name.to_lowercase();
        let mut all = Vec::new();
        for other in self.tables().filter(|t| *t != table && self.index.tables[*t].rows == 1) {
            for at in self.numbers(other) {
                let of = self.index.tables[other].columns[at].name.to_lowercase();
                let part = self.index.tables[table].columns[column].total();
                let Some(value) = self.index.tables[other].columns[at].value(0) else { continue };
                if of.contains(&name) && part.is_some_and(|p| value >= p) {
                    all.push(Amount { value, operands: vec![self.operand(other, 0, at)], rows: usize::MAX });
                }
            }
        }
        all
    }

    /// The sum of the largest few, when the words speak of them.
    pub fn top(&self, table: usize, column: usize) -> Option<Amount> {
        let n = self.cues.top?;
        let Holds::Numbers { sorted, .. } = &self.index.tables[table].columns[column].holds else {
            return None;
        };
        let rows: Vec<u32> = sorted.iter().rev().take(n).map(|(_, r)| *r).collect();
        self.amount(table, column, &rows)
    }

    /// Everything a total or mean may be over.
    pub fn sets(&self, table: usize, column: usize) -> Vec<Amount> {
        let mut all = Vec::new();
        let cued = self.cues.total || self.cues.mean;
        let unlabelled = match &self.figure.place {
            Place::Prose { clause, .. } => {
                !self.keys(table).iter().any(|k| !self.page.marks(clause, (table, *k)).is_empty())
            }
            _ => false,
        };
        let long = self.figure.number.digits_shown > 3;
        let near = self.asked[table].iter().any(|a| a.near);
        let named = self.columns.named.contains(&(table, column)) && unlabelled && !near;
        if cued || named || (unlabelled && long && !near) || (unlabelled && self.words().contains(" of ")) {
            all.extend(self.total(table, column));
        }
        if cued {
            for rows in self.groups(table) {
                all.extend(self.amount(table, column, &rows));
            }
        }
        if cued || self.cues.top.is_some() {
            all.extend(self.top(table, column));
        }
        if !cued && self.figure.number.value > self.figure.number.half * 200.0 {
            for rows in self.spanned(table) {
                all.extend(self.amount(table, column, &rows));
            }
        }
        let rows = self.near_rows(table);
        if rows.len() > 1 && near && (cued || long) {
            all.extend(self.amount(table, column, &rows));
        }
        all
    }
}
