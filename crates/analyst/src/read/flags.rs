//! Columns of yes and no: a condition, a count, a rate, or something to group by.

use crate::lex::ColRef;
use crate::question::{Agg, Measure};
use crate::read::asked::amount_of;
use crate::read::draft::{Reader, Wanted};
use crate::word::Word;

impl Reader<'_> {
    pub(super) fn read_flag(&mut self, i: usize, column: ColRef, by: bool) {
        let counted = matches!(self.before(i), Some(Word::HowMany | Word::Count))
            || matches!(self.after(i), Some(Word::CountSuffix | Word::Count))
            || self.before(i) == Some(Word::HowMuch) && !self.before_is_english(i);
        let rated = matches!(self.after(i), Some(Word::Rate | Word::Share))
            || self.draft.says_any(&[Word::Share, Word::Rate]);
        let negated = matches!(self.before(i), Some(Word::Exclude))
            || i > 0 && matches!(self.tokens[i - 1].text.as_str(), "未" | "没有");
        let of_figure = self.tokens[i].text.is_ascii() && self.figure_follows(i);
        if by {
            self.draft.dims.push(column);
            self.draft.grouped = true;
        } else if !rated && of_figure {
            // `how many billable hours`
            self.draft.flags.push((column, !negated));
        } else if rated && (self.shares_amount() || self.amount_of_flag(i)) {
            self.draft.flags.retain(|(c, _)| *c != column);
            self.draft.flags.push((column, !negated));
        } else if rated {
            // `how many were reopened, and what share is that`
            let such = self.tokens[i].text.is_ascii() && self.before(i) == Some(Word::Equal);
            let rows = self.draft.measures.iter_mut().find(|m| **m == Wanted::Fixed(Measure::Rows));
            if let Some(rows) = rows.filter(|_| such) {
                *rows = Wanted::Fixed(Measure::CountYes(column));
            }
            self.draft.measures.push(Wanted::Fixed(Measure::RateYes(column)));
        } else if counted && self.counts_holders() {
            // `有多少户欠费`: those, each once.
            self.draft.flags.push((column, !negated));
        } else if let Some(amount) = amount_of(self.scope, column).filter(|_| self.most(i) && !counted) {
            // `欠费最多`: by the amount, where there is one.
            self.draft.measures.push(Wanted::Plain(amount, Some(Agg::Sum)));
        } else if counted || self.most(i) {
            self.draft.measures.push(Wanted::Fixed(Measure::CountYes(column)));
        } else if self.draft.says_any(&[Word::Highest, Word::Lowest])
            && !negated
            && self.beside_superlative(i)
        {
            self.draft.measures.push(Wanted::Fixed(Measure::RateYes(column)));
        } else {
            self.draft.flags.push((column, !negated));
        }
    }

    /// `多少户`, `多少人`, where each comes up in many rows and has a number.
    fn counts_holders(&self) -> bool {
        let counted = crate::read::measures::counted_things(self.scope, &self.draft);
        let again = |c: ColRef| self.scope.column(c).distinct < self.scope.tables[c.table].rows;
        self.draft.measures.is_empty() && matches!(counted, Measure::Of(Agg::Distinct, c) if again(c))
    }

    /// `the highest attrition`: how much of it, by rate.
    fn beside_superlative(&self, i: usize) -> bool {
        matches!(self.before(i), Some(Word::Highest | Word::Lowest))
            || matches!(self.after(i), Some(Word::Highest | Word::Lowest))
    }
}
