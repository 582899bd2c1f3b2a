//! One figure as a part of the table's total: `配件费占总金额`.

use crate::lex::ColRef;
use crate::question::{Agg, Measure, PART};
use crate::read::draft::{Draft, Wanted};
use crate::read::tokens::Scope;
use crate::word::Word;

/// `配件费占总金额`: one figure as a part of the table's total.
pub(super) fn part_of_total(scope: &Scope<'_>, draft: &mut Draft) {
    let alone = draft.values.is_empty() && draft.flags.is_empty() && draft.numbers.is_empty();
    let ([Wanted::Plain(part, None)], true) =
        (&draft.measures[..], draft.says(Word::Share) && draft.amounts && alone && draft.limit.is_none())
    else {
        return;
    };
    let part = *part;
    let table = &scope.tables[part.table];
    let high = |c: usize| table.columns[c].high();
    let whole = table
        .indices(|c| crate::units::is_money(c) && ["总", "合计", "total"].iter().any(|w| c.full.contains(w)));
    let whole = whole.into_iter().find(|c| *c != part.column && high(*c) >= high(part.column));
    if let Some(column) = whole {
        let sum = |c| Box::new(Measure::Of(Agg::Sum, c));
        let whole = ColRef { table: part.table, column };
        let ratio = Measure::Ratio { concept: PART, numerator: sum(part), denominator: sum(whole) };
        draft.measures = vec![Wanted::Fixed(ratio)];
        draft.words.remove(&Word::Share);
    }
}
