//! One step of arithmetic from cells the words name: sum, mean, share, ratio, growth, difference, count. What a step may
//! be is decided by the figure's unit and the words beside it, so that few values are tried and few can meet by chance.

use super::columns::Agrees;
use super::pairs::pairs;
use super::rows::Amount;
use super::{Case, Output};
use crate::figures::Place;
use crate::index::Holds;
use crate::number::Unit;
use crate::verdict::Proof;

pub fn find(case: &Case<'_>, output: &Output<'_>) -> Option<Proof> {
    match case.figure.number.unit {
        Unit::Points => points(case),
        Unit::Times => times(case),
        Unit::Percent => {
            growth(case).or_else(|| shares(case)).or_else(|| rates(case, output)).or_else(|| sums(case))
        }
        Unit::Plain => {
            sums(case).or_else(|| differences(case)).or_else(|| per_unit(case)).or_else(|| count(case))
        }
    }
}

fn proof(formula: &str, parts: &[&Amount]) -> Option<Proof> {
    Some(Proof::formula(formula, parts.iter().flat_map(|p| p.operands.clone()).collect()))
}

fn name(amount: &Amount, letter: &str) -> String {
    if amount.rows > 1 { format!("sum({letter})") } else { letter.to_owned() }
}

/// A difference of percentages, in points.
fn points(case: &Case<'_>) -> Option<Proof> {
    let rates = |table: usize| {
        let columns = &case.index.tables[table].columns;
        case.usable(table).into_iter().filter(|c| !columns[*c].percents().is_empty()).collect()
    };
    for pair in pairs(case, rates) {
        for factor in case.index.tables[pair.table].columns[pair.column].percents() {
            if pair.this.rows == 1
                && pair.that.rows == 1
                && case.is((pair.this.value - pair.that.value) * factor, true)
            {
                return proof("a - b", &[&pair.this, &pair.that]);
            }
        }
    }
    points_of_shares(case).or_else(|| points_apart(case))
}

/// "高出第二名 3.1 个百分点": two parts of one whole.
fn points_of_shares(case: &Case<'_>) -> Option<Proof> {
    for pair in pairs(case, |t| case.usable(t)).iter().filter(|_| case.cues.share || case.cues.difference) {
        let column = &case.index.tables[pair.table].columns[pair.column];
        let Some(whole) = case.total(pair.table, pair.column) else { continue };
        let amount = !column.rate && !column.averaged && whole.rows > 2;
        if amount && case.is((pair.this.value - pair.that.value) / whole.value, true) {
            return proof("(a - b) / sum(a)", &[&pair.this, &pair.that, &whole]);
        }
    }
    None
}

/// "最高与最低相差 18.8 个百分点"
fn points_apart(case: &Case<'_>) -> Option<Proof> {
    for table in case.tables().filter(|_| case.cues.extremes && case.cues.apart) {
        for column in case.usable(table) {
            let of = &case.index.tables[table].columns[column];
            let Holds::Numbers { sorted, .. } = &of.holds else { continue };
            let (Some((low, r1)), Some((high, r2))) = (sorted.first(), sorted.last()) else { continue };
            if of.percents().iter().any(|f| case.is((high - low) * f, true)) {
                let ends = vec![case.operand(table, *r2, column), case.operand(table, *r1, column)];
                return Some(Proof::formula("max - min", ends));
            }
        }
    }
    None
}

fn times(case: &Case<'_>) -> Option<Proof> {
    for pair in pairs(case, |t| case.usable(t)) {
        if case.is(pair.this.value / pair.that.value, false) {
            return proof(
                &format!("{} / {}", name(&pair.this, "a"), name(&pair.that, "b")),
                &[&pair.this, &pair.that],
            );
        }
        if pair.ordered && case.is(pair.that.value / pair.this.value, false) {
            return proof(
                &format!("{} / {}", name(&pair.that, "b"), name(&pair.this, "a")),
                &[&pair.this, &pair.that],
            );
        }
        if case.cues.growth && case.is(pair.this.value / pair.that.value - 1.0, false) {
            return proof("a / b - 1", &[&pair.this, &pair.that]);
        }
    }
    against_mean(case)
}

/// "2.1x the average"
fn against_mean(case: &Case<'_>) -> Option<Proof> {
    if !case.cues.mean {
        return None;
    }
    for table in case.tables() {
        let rows = case.rows(table, None);
        for column in case.usable(table) {
            if let (Some(one), Some(all)) = (case.amount(table, column, &rows), case.total(table, column))
                && case.is(one.value / (all.value / all.rows as f64), false)
            {
                return proof("a / mean(b)", &[&one, &all]);
            }
        }
    }
    None
}

fn growth(case: &Case<'_>) -> Option<Proof> {
    if !case.cues.growth {
        return None;
    }
    let amounts = |table: usize| -> Vec<usize> { case.usable(table) };
    for pair in pairs(case, amounts) {
        if pair.that.value != 0.0 && case.is(pair.this.value / pair.that.value - 1.0, false) {
            return proof(
                &format!("{} / {} - 1", name(&pair.this, "a"), name(&pair.that, "b")),
                &[&pair.this, &pair.that],
            );
        }
    }
    across_columns(case).or_else(|| behind_first(case))
}

/// "12% behind": against the largest of the column.
fn behind_first(case: &Case<'_>) -> Option<Proof> {
    let sentence = case.words();
    if !["behind", "落后", "ahead", "领先"].iter().any(|w| sentence.contains(w)) {
        return None;
    }
    for table in case.tables() {
        let rows = case.rows(table, None);
        for column in case.usable(table) {
            let Holds::Numbers { sorted, .. } = &case.index.tables[table].columns[column].holds else {
                continue;
            };
            let Some((_, top)) = sorted.last() else { continue };
            if let (Some(one), Some(first)) =
                (case.amount(table, column, &rows), case.amount(table, column, &[*top]))
                && case.is(one.value / first.value - 1.0, false)
            {
                return proof("a / max(b) - 1", &[&one, &first]);
            }
        }
    }
    None
}

/// Growth from one column to another: `sales_2024 / sales_2023 - 1`.
fn across_columns(case: &Case<'_>) -> Option<Proof> {
    for table in case.tables() {
        let columns = &case.index.tables[table].columns;
        let dated = case.numbers(table);
        let scopes = case.scopes(table);
        for later in &dated {
            for earlier in &dated {
                let (a, b) = (columns[*later].period, columns[*earlier].period);
                let in_time = a.is_some() && b.is_some() && a.map(|p| p.order()) > b.map(|p| p.order());
                if !in_time && !is_of_before(columns[*earlier].name, columns[*later].name) {
                    continue;
                }
                for rows in &scopes {
                    if let (Some(this), Some(that)) =
                        (case.over(table, *later, rows), case.over(table, *earlier, rows))
                        && case.is(this.value / that.value - 1.0, false)
                    {
                        return proof(
                            &format!("{} / {} - 1", name(&this, "a"), name(&that, "b")),
                            &[&this, &that],
                        );
                    }
                }
            }
        }
    }
    None
}

/// 上月GMV is the 本月GMV of before; `prev_sales` that of `sales`.
fn is_of_before(name: &str, other: &str) -> bool {
    const BEFORE: [&str; 9] = ["上月", "上年", "去年", "上期", "同期", "prev", "last", "prior", "previous"];
    let says = |n: &str| BEFORE.iter().any(|w| n.to_lowercase().contains(w));
    let same = name.chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b).count();
    says(name) && !says(other) && same >= 2
}

fn shares(case: &Case<'_>) -> Option<Proof> {
    if !case.cues.share {
        return None;
    }
    for table in case.tables() {
        let mut parts = vec![case.rows(table, None)];
        parts.extend(case.groups(table));
        let amounts = case.usable(table).into_iter().filter(|c| !case.index.tables[table].columns[*c].rate);
        for column in amounts {
            let mut wholes: Vec<Amount> = case.total(table, column).into_iter().collect();
            wholes.extend(case.partial_totals(table, column));
            wholes.extend(case.outer_totals(table, column));
            for part in parts.iter().filter(|p| !p.is_empty()) {
                let Some(part) = case.amount(table, column, part) else { continue };
                for whole in &wholes {
                    if whole.rows > part.rows && case.is(part.value / whole.value, false) {
                        return proof(&format!("{} / sum(b)", name(&part, "a")), &[&part, whole]);
                    }
                }
            }
            if let Some(top) = case.top(table, column)
                && let Some(whole) = wholes.first()
                && case.is(top.value / whole.value, false)
            {
                return proof("sum(a) / sum(b)", &[&top, whole]);
            }
        }
    }
    None
}

/// Percentages that are one amount over another: two columns of a row, two rows of a column, an amount over a goal.
fn rates(case: &Case<'_>, output: &Output<'_>) -> Option<Proof> {
    if let Some(found) = quotient(case) {
        return Some(found);
    }
    let cued = case.cues.ratio || case.cues.first;
    for pair in pairs(case, |t| case.usable(t)).iter().filter(|_| cued) {
        if case.is(pair.this.value / pair.that.value, false)
            || (pair.ordered && case.is(pair.that.value / pair.this.value, false))
        {
            return proof(
                &format!("{} / {}", name(&pair.this, "a"), name(&pair.that, "b")),
                &[&pair.this, &pair.that],
            );
        }
    }
    if case.cues.first {
        for table in case.tables() {
            let rows = case.rows(table, None);
            let [row] = rows.as_slice() else { continue };
            for column in case.usable(table) {
                for base in [Some(0), row.checked_sub(1)].into_iter().flatten() {
                    if let (Some(one), Some(first)) =
                        (case.amount(table, column, &rows), case.amount(table, column, &[base]))
                        && case.is(one.value / first.value, false)
                    {
                        return proof("a / b", &[&one, &first]);
                    }
                }
            }
        }
    }
    against_given(case, output)
}

/// An amount over what the user set as a goal.
fn against_given(case: &Case<'_>, output: &Output<'_>) -> Option<Proof> {
    if !case.cues.target {
        return None;
    }
    for (given, goal) in output.given() {
        for table in case.tables() {
            for column in case.usable(table) {
                for rows in case.scopes(table) {
                    if let Some(amount) = case.over(table, column, &rows)
                        && case.is(amount.value / goal, false)
                    {
                        let mut operands = amount.operands.clone();
                        operands.push(given.clone());
                        return Some(Proof::formula(&format!("{} / b", name(&amount, "a")), operands));
                    }
                }
            }
        }
    }
    None
}

/// One column over another in the rows the figure is said of, or over all rows.
fn quotient(case: &Case<'_>) -> Option<Proof> {
    if !case.cues.ratio && !case.cues.share {
        return None;
    }
    for table in case.tables() {
        let numbers = case.numbers(table);
        let said = |c: &usize| {
            let at = (table, *c);
            case.columns.all.contains(&at) || case.columns.hinted.contains(&at)
        };
        let some = numbers.iter().any(said) && !matches!(case.figure.place, Place::Cell { .. });
        for rows in case.scopes(table) {
            for over in &numbers {
                for under in &numbers {
                    if over == under || (some && !said(over) && !said(under)) {
                        continue;
                    }
                    // Means do not add up.
                    let columns = &case.index.tables[table].columns;
                    let means = columns[*over].averaged || columns[*under].averaged;
                    if rows.as_ref().is_none_or(|r| r.len() > 1) && means {
                        continue;
                    }
                    if let (Some(a), Some(b)) =
                        (case.over(table, *over, &rows), case.over(table, *under, &rows))
                        && b.value != 0.0
                        && (case.figure.number.unit != Unit::Percent || a.value / b.value < 100.0)
                        && case.is(a.value / b.value, false)
                    {
                        return proof(&format!("{} / {}", name(&a, "a"), name(&b, "b")), &[&a, &b]);
                    }
                }
            }
        }
    }
    None
}

fn sums(case: &Case<'_>) -> Option<Proof> {
    let percent = case.figure.number.unit == Unit::Percent;
    for table in case.tables() {
        for column in case.usable(table) {
            if case.columns.agrees(case.page, case.figure.number.unit, (table, column)) == Agrees::No {
                continue;
            }
            let of = &case.index.tables[table].columns[column];
            let factors: &[f64] = if percent { of.percents() } else { &[1.0] };
            let scale = if percent { 1.0 } else { of.scale };
            for amount in case.sets(table, column) {
                for factor in factors.iter().chain((scale != 1.0).then_some(&scale)) {
                    let mean = amount.value / amount.rows as f64;
                    if amount.rows > 1 && case.cues.mean && case.is(mean * factor, false) {
                        return proof("mean(a)", &[&amount]);
                    }
                    if amount.rows > 1
                        && (!percent || case.cues.total)
                        && case.is(amount.value * factor, false)
                    {
                        return proof("sum(a)", &[&amount]);
                    }
                }
            }
        }
    }
    None
}

fn differences(case: &Case<'_>) -> Option<Proof> {
    if !case.cues.difference {
        return None;
    }
    for pair in pairs(case, |t| case.usable(t)) {
        if case.is(pair.this.value - pair.that.value, true) {
            return proof(
                &format!("{} - {}", name(&pair.this, "a"), name(&pair.that, "b")),
                &[&pair.this, &pair.that],
            );
        }
    }
    for table in case.tables() {
        let numbers = case.numbers(table);
        let named =
            |c: &usize| case.columns.all.contains(&(table, *c)) || case.columns.hinted.contains(&(table, *c));
        let some = numbers.iter().any(named);
        for rows in case.scopes(table) {
            for (i, one) in numbers.iter().enumerate() {
                for other in &numbers[i + 1..] {
                    let dated = case.index.tables[table].columns[*one].period.is_some();
                    if some && !named(one) && !named(other) && !dated {
                        continue;
                    }
                    let amounts = (case.over(table, *one, &rows), case.over(table, *other, &rows));
                    let (Some(a), Some(b)) = amounts else { continue };
                    let later = case.index.tables[table].columns[*other].period.map(|p| p.order())
                        > case.index.tables[table].columns[*one].period.map(|p| p.order());
                    let value = if later { b.value - a.value } else { a.value - b.value };
                    if case.is(value, true) || (!dated && case.is(-value, true)) {
                        return proof("a - b", &[&a, &b]);
                    }
                }
            }
        }
        for column in case.usable(table) {
            let Holds::Numbers { sorted, .. } = &case.index.tables[table].columns[column].holds else {
                continue;
            };
            if let (Some((low, r1)), Some((high, r2))) = (sorted.first(), sorted.last())
                && case.cues.extremes
                && case.is(high - low, true)
            {
                return Some(Proof::formula(
                    "max - min",
                    vec![case.operand(table, *r2, column), case.operand(table, *r1, column)],
                ));
            }
        }
    }
    None
}

/// Amounts per unit: one column over another.
fn per_unit(case: &Case<'_>) -> Option<Proof> {
    if case.cues.ratio || case.cues.mean { quotient(case) } else { None }
}

/// How many rows, or labels of a column, there are.
fn count(case: &Case<'_>) -> Option<Proof> {
    let number = &case.figure.number;
    if number.scale != 1.0 || number.value.fract() != 0.0 {
        return None;
    }
    let report = case.page.report;
    let to = report.floor_char_boundary((number.span.end + 24).min(report.len()));
    let behind = report[number.span.end..to].trim_start_matches(['个', '家', '种', ' ', '*']).to_lowercase();
    case.tables().find_map(|table| {
        let of = &case.index.tables[table];
        let same = |n: usize| n > 0 && n as f64 == number.value;
        // "3 hotels": the column's own name says what is counted.
        let said = |c: &crate::index::Column<'_>| {
            let name = c.name.to_lowercase();
            let stem = name.rsplit(['_', ' ']).next().unwrap_or(&name).trim_end_matches('y').to_owned();
            stem.chars().count() > 1 && behind.starts_with(&stem)
        };
        let labels = of.columns.iter().find(|c| match &c.holds {
            Holds::Labels { rows, .. } => same(rows.len()) && (case.cues.count || said(c)),
            _ => false,
        });
        let rows = || (same(of.rows) && case.cues.count).then_some("*");
        let counted = labels.map(|c| c.name).or_else(rows)?;
        Some(Proof::formula(
            &format!("count({counted})"),
            vec![crate::verdict::Operand {
                tool_call_id: of.id.to_owned(),
                row: None,
                column: counted.to_owned(),
                value: Some(number.value),
            }],
        ))
    })
}
