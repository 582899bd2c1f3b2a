//! The largest and the smallest: of single rows (`the biggest order`), both ends at once (`youngest and oldest`).

use crate::lex::ColRef;
use crate::question::{Agg, Group, Intent, Measure, Order, Question};
use crate::read::draft::{Draft, Reader};
use crate::read::tokens::{Scope, Tok};
use crate::table::Role;
use crate::word::Word;

impl Reader<'_> {
    /// `the largest single gift`, `金额最高的订单`: the superlative is about one row, whoever it belongs to.
    pub(super) fn read_row_extreme(&mut self) {
        let superlative = |i: usize| {
            matches!(self.word(Some(i)), Some(Word::Highest | Word::Lowest))
                && !matches!(
                    self.tokens[i].text.trim_end_matches(['的', '是']),
                    "most" | "fewest" | "least" | "最多" | "最少"
                )
        };
        let row = |i: usize| match self.tokens.get(i).map(|t| &t.tok) {
            Some(Tok::RowNoun) => true,
            Some(Tok::Col(c, _)) => self.is_each_row(*c),
            _ => false,
        };
        let near = |i: usize| {
            self.tokens.get(i + 1).is_some_and(|t| {
                let between: String = self.text[self.tokens[i].end..t.start].iter().collect();
                [
                    "",
                    "单",
                    "的",
                    "的一笔",
                    "的一单",
                    "的一次",
                    "的那笔",
                    "的那单",
                    "一笔",
                    "一单",
                    "单笔",
                    "single",
                    "individual",
                    "ever",
                    "one-off",
                ]
                .contains(&between.trim())
            })
        };
        let plural =
            |i: usize| self.tokens.get(i).is_some_and(|t| t.text.is_ascii() && t.text.ends_with('s'));
        self.draft.row_extreme = (0..self.tokens.len()).any(|i| {
            superlative(i) && near(i) && row(i + 1) && !plural(i + 1) && !self.figure_follows(i + 1)
        });
    }

    /// A number each row has for itself.
    fn is_each_row(&self, column: ColRef) -> bool {
        let table = &self.scope.tables[column.table];
        self.scope.role(column) == Role::Id && self.scope.column(column).distinct * 100 >= table.rows * 99
    }
}

/// `youngest and oldest`, `最高和最低`: both figures. True when the question is one.
pub(super) fn both_ends(scope: &Scope<'_>, draft: &Draft, question: &mut Question) -> bool {
    if !draft.says(Word::Highest) || !draft.says(Word::Lowest) || draft.loose_agg.is_some() {
        return false;
    }
    let each = |c: &ColRef| scope.column(*c).distinct * 10 >= scope.tables[c.table].rows * 9;
    let ([Measure::Of(Agg::Sum | Agg::Mean, column)], true) =
        (&question.measures[..], draft.grain.is_none() && draft.dims.iter().all(each))
    else {
        question.order = Order::Descending;
        return false;
    };
    let column = *column;
    question.measures = vec![Measure::Of(Agg::Max, column), Measure::Of(Agg::Min, column)];
    question.groups.clear();
    question.intent = Intent::Value;
    true
}

/// The row with the largest figure, told with whom it belongs to. True when the question is one.
pub(super) fn one_row(scope: &Scope<'_>, draft: &Draft, question: &mut Question) -> bool {
    if !draft.row_extreme || draft.grain.is_some() || draft.limit.is_some_and(|n| n > 1) {
        return false;
    }
    // `the highest`: an amount, where nothing else is named.
    if question.measures.is_empty() || question.measures == [Measure::Rows] {
        let main = question.table;
        let table = &scope.tables[main];
        let figure = draft
            .implied
            .or_else(|| crate::units::main_money(table).map(|column| ColRef { table: main, column }));
        let Some(figure) = figure else { return false };
        question.measures = vec![Measure::Of(Agg::Sum, figure)];
    }
    if !matches!(question.measures[..], [Measure::Of(Agg::Sum | Agg::Mean, _)]) {
        return false;
    }
    let told =
        |c: &&ColRef| scope.column(**c).distinct < scope.tables[c.table].rows && c.table == question.table;
    question.groups = draft.dims.iter().filter(told).take(1).map(|c| Group::By(*c)).collect();
    question.intent = Intent::ExtremeRow { named: draft.says_any(&[Word::Which, Word::Who]) };
    question.limit = Some(1);
    true
}
