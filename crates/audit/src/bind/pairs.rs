//! What a figure compares: two labels or two periods that the words name or imply, and the amounts under them.

use super::Case;
use super::rows::Amount;
use crate::figures::Place;
use crate::index::Holds;
use crate::number::Unit;
use crate::scope::Key;

/// Two amounts to be compared: the one spoken of, and what it is compared with.
pub struct Pair {
    pub this: Amount,
    pub that: Amount,
    /// Which is which is known, so that a sign can be checked.
    pub ordered: bool,
    pub table: usize,
    pub column: usize,
}

/// Pairs of amounts that differ in one label or period the words name.
pub fn pairs(case: &Case<'_>, columns: impl Fn(usize) -> Vec<usize>) -> Vec<Pair> {
    let mut all = Vec::new();
    for table in case.tables() {
        let usable = columns(table);
        for key in case.keys(table) {
            for (this, that, ordered) in couples(case, table, key) {
                let (these, those) =
                    (case.rows(table, Some((key, &[this]))), case.rows(table, Some((key, &[that]))));
                for column in &usable {
                    let amounts = (case.amount(table, *column, &these), case.amount(table, *column, &those));
                    if let (Some(this), Some(that)) = amounts {
                        all.push(Pair { this, that, ordered, table, column: *column });
                    }
                }
            }
        }
    }
    all
}

/// The last period of a column and the one its words compare it with.
fn latest(case: &Case<'_>, table: usize, key: usize) -> Option<(Key, Key, bool)> {
    let Holds::Times { of_row, .. } = &case.index.tables[table].columns[key].holds else { return None };
    let last = of_row.iter().flatten().take(2_000).max_by_key(|p| p.order()).copied()?;
    let before = if case.cues.year_on_year { last.year_before() } else { last.before() }?;
    Some((Key::Time(last), Key::Time(before), true))
}

/// Which labels of a column are compared, in order.
fn couples(case: &Case<'_>, table: usize, key: usize) -> Vec<(Key, Key, bool)> {
    let mut rivals = case.page.rivals(case.figure, (table, key));
    if matches!(case.index.tables[table].columns[key].holds, Holds::Times { .. }) {
        let own = case.asked[table][key].keys.clone();
        let cues = &case.cues;
        let before = |k: &Key| {
            let period = case.period(k)?;
            if cues.year_on_year { period.year_before() } else { period.before() }
        };
        // Nothing is said of when: the last period of the result, against the one before.
        if own.is_empty() && rivals.is_empty() && (cues.year_on_year || cues.period_on_period) {
            return latest(case, table, key).into_iter().collect();
        }
        let implied: Vec<Key> = own.iter().filter_map(|k| before(k).map(Key::Time)).collect();
        // "2024 年 …，2023 年 …，同比": both are said.
        let said: Vec<(Key, Key, bool)> = rivals
            .iter()
            .filter_map(|k| before(k).map(|b| (*k, Key::Time(b), true)))
            .filter(|(_, b, _)| rivals.contains(b))
            .collect();
        if (cues.year_on_year || cues.period_on_period) && !said.is_empty() {
            return said;
        }
        if cues.year_on_year || cues.period_on_period {
            // "环比" of one period is against the one before, whatever else is said.
            let told: Vec<(Key, Key, bool)> = own.iter().zip(&implied).map(|(a, b)| (*a, *b, true)).collect();
            if own.len() == 1 && told.iter().any(|(_, b, _)| !case.rows(table, Some((key, &[*b]))).is_empty())
            {
                return told;
            }
        }
        if rivals.len() < 2 {
            rivals.extend(implied);
        }
        rivals.sort_by_key(|k| std::cmp::Reverse(case.period(k).map(|p| p.order())));
        rivals.dedup();
        let mut all = Vec::new();
        for (i, later) in rivals.iter().enumerate() {
            all.extend(rivals[i + 1..].iter().map(|earlier| (*later, *earlier, true)));
        }
        return all;
    }
    let signed = case.figure.number.unit != Unit::Times && (case.cues.growth || case.cues.difference);
    let compared = if signed { case.page.compared(case.figure, (table, key)) } else { Vec::new() };
    if !compared.is_empty() {
        return compared.into_iter().map(|(this, that)| (this, that, true)).collect();
    }
    if let (Place::Cell { .. }, [first, second]) = (&case.figure.place, rivals.as_slice())
        && !case.cues.apart
    {
        return vec![(*first, *second, true)];
    }
    let mut all = Vec::new();
    for (i, one) in rivals.iter().enumerate() {
        for other in &rivals[i + 1..] {
            all.push((*one, *other, false));
            all.push((*other, *one, false));
        }
    }
    all
}
