//! Rows a figure may be said of, and sums over them.

use super::Case;
use crate::index::{Holds, NONE};
use crate::period::Period;
use crate::scope::Key;
use crate::verdict::Operand;

/// Rows summed for one operand; more are only ever a whole column.
const MAX_ROWS: usize = 3_000;
const SHOWN: usize = 12;

/// A number made from cells of one column.
#[derive(Debug, Clone)]
pub struct Amount {
    pub value: f64,
    pub operands: Vec<Operand>,
    pub rows: usize,
}

impl Case<'_> {
    /// Whether a row's label is one of those asked for.
    pub fn holds(&self, table: usize, column: usize, row: u32, keys: &[Key]) -> bool {
        match &self.index.tables[table].columns[column].holds {
            Holds::Labels { of_row, .. } => {
                let label = of_row.get(row as usize).copied().unwrap_or(NONE);
                keys.contains(&Key::Label(label))
            }
            Holds::Times { of_row, .. } => {
                let Some(Some(period)) = of_row.get(row as usize) else { return false };
                keys.iter().any(|k| matches!(k, Key::Time(p) if p.same(*period)))
            }
            Holds::Numbers { .. } => true,
        }
    }

    /// Rows that carry all labels asked for, with one column's replaced. Empty when nothing is asked at all.
    pub fn rows(&self, table: usize, replaced: Option<(usize, &[Key])>) -> Vec<u32> {
        let columns = &self.index.tables[table].columns;
        let asks: Vec<(usize, &[Key])> = (0..columns.len())
            .map(|c| match replaced {
                Some((r, keys)) if r == c => (c, keys),
                _ => (c, self.asked[table][c].keys.as_slice()),
            })
            .filter(|(_, keys)| !keys.is_empty())
            .collect();
        let Some((column, keys)) = asks.iter().min_by_key(|(c, keys)| self.count(table, *c, keys)) else {
            return Vec::new();
        };
        let mut rows = Vec::new();
        for key in *keys {
            let found = match (&columns[*column].holds, key) {
                (Holds::Labels { rows, .. }, Key::Label(label)) => rows.get(label),
                (Holds::Times { rows, .. }, Key::Time(period)) => rows.get(&period.part),
                _ => None,
            };
            let fits = |r: &&u32| asks.iter().all(|(c, keys)| self.holds(table, *c, **r, keys));
            rows.extend(found.into_iter().flatten().filter(fits).take(MAX_ROWS));
        }
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// Rows that carry the labels of the figure's own words, whatever was said before.
    pub fn near_rows(&self, table: usize) -> Vec<u32> {
        let far = self.asked[table].iter().position(|a| !a.near && !a.keys.is_empty());
        match far {
            Some(column) => self.rows(table, Some((column, &[]))),
            None => self.rows(table, None),
        }
    }

    fn count(&self, table: usize, column: usize, keys: &[Key]) -> usize {
        keys.iter()
            .map(|key| match (&self.index.tables[table].columns[column].holds, key) {
                (Holds::Labels { rows, .. }, Key::Label(label)) => rows.get(label).map_or(0, Vec::len),
                (Holds::Times { rows, .. }, Key::Time(period)) => rows.get(&period.part).map_or(0, Vec::len),
                _ => 0,
            })
            .sum()
    }

    /// The sum of a column over rows; nothing when there is no number.
    pub fn amount(&self, table: usize, column: usize, rows: &[u32]) -> Option<Amount> {
        let of = &self.index.tables[table].columns[column];
        let values: Vec<f64> = rows.iter().filter_map(|r| of.value(*r)).collect();
        (!values.is_empty()).then(|| Amount {
            value: values.iter().sum(),
            operands: rows.iter().take(SHOWN).map(|r| self.operand(table, *r, column)).collect(),
            rows: values.len(),
        })
    }

    /// The sum of the whole column.
    pub fn total(&self, table: usize, column: usize) -> Option<Amount> {
        let of = &self.index.tables[table];
        let Holds::Numbers { sum, count, .. } = &of.columns[column].holds else { return None };
        let operand = Operand {
            tool_call_id: of.id.to_owned(),
            row: None,
            column: of.columns[column].name.to_owned(),
            value: Some(*sum),
        };
        (*count > 0).then(|| Amount { value: *sum, operands: vec![operand], rows: *count })
    }

    /// Number columns of a table that may be operands.
    pub fn numbers(&self, table: usize) -> Vec<usize> {
        let columns = &self.index.tables[table].columns;
        (0..columns.len()).filter(|c| columns[*c].values().is_some()).take(24).collect()
    }

    /// Number columns the figure may be made from.
    pub fn usable(&self, table: usize) -> Vec<usize> {
        self.numbers(table)
            .into_iter()
            .filter(|c| self.columns.may_use((table, *c)))
            .filter(|c| {
                let period = self.index.tables[table].columns[*c].period;
                period.is_none_or(|p| {
                    self.columns.years.is_empty() || self.columns.years.iter().any(|y| y.same(p))
                })
            })
            .collect()
    }

    /// Columns of labels or periods.
    pub fn keys(&self, table: usize) -> Vec<usize> {
        let columns = &self.index.tables[table].columns;
        (0..columns.len()).filter(|c| columns[*c].values().is_none()).take(12).collect()
    }

    /// The period a row of a time column has.
    pub fn period(&self, key: &Key) -> Option<Period> {
        if let Key::Time(period) = key { Some(*period) } else { None }
    }
}
