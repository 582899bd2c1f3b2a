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
        const BETWEEN: [&str; 9] =
            ["", "单", "的", "一笔", "一单", "single", "individual", "ever", "one-off"];
        let row = |i: usize| match self.tokens.get(i).map(|t| &t.tok) {
            Some(Tok::RowNoun | Tok::Word(Word::Rows)) => true,
            Some(Tok::Col(c, _)) => self.is_each_row(*c),
            _ => false,
        };
        let near = |i: usize| {
            self.tokens.get(i + 1).is_some_and(|t| {
                let between: String = self.text[self.tokens[i].end..t.start].iter().collect();
                BETWEEN.contains(&between.trim())
            })
        };
        let plural =
            |i: usize| self.tokens.get(i).is_some_and(|t| t.text.is_ascii() && t.text.ends_with('s'));
        let one = |i: usize| near(i) && row(i + 1) && !plural(i + 1) && !self.figure_follows(i + 1);
        let said = |i: usize| matches!(self.word(Some(i)), Some(Word::Highest | Word::Lowest));
        let text: String = self.text.iter().collect();
        let alone = ALONE.iter().any(|w| text.contains(w));
        self.draft.row_extreme = (0..self.tokens.len())
            .any(|i| said(i) && (alone || !self.counts_most(i) && (one(i) || self.piece_follows(i))));
    }

    /// `最多的` alone counts; `到店次数最多的会员` is of a figure that each row has.
    fn counts_most(&self, i: usize) -> bool {
        let figure = i > 0
            && self.col(i - 1).is_some_and(|c| self.scope.role(c) == Role::Measure)
            && self.tokens[i - 1].end == self.tokens[i].start;
        let text = self.tokens[i].text.trim_end_matches(['的', '是']);
        matches!(text, "most" | "fewest" | "least") || matches!(text, "最多" | "最少") && !figure
    }

    /// `最大的一单`, `最高的那笔`.
    fn piece_follows(&self, i: usize) -> bool {
        let after: String = self.text[self.tokens[i].end..].iter().take(5).collect();
        let after = after.trim_start_matches('的');
        ["一", "那", "那一", "单"]
            .iter()
            .any(|w| after.strip_prefix(w).is_some_and(|rest| rest.starts_with(|c: char| PIECES.contains(c))))
    }

    /// A number each row has for itself.
    fn is_each_row(&self, column: ColRef) -> bool {
        let table = &self.scope.tables[column.table];
        self.scope.role(column) == Role::Id && self.scope.column(column).distinct * 100 >= table.rows * 99
    }
}

/// What single things are counted in.
const PIECES: &str = "单笔件条票次张份台套辆户个批桩起例位名";
/// Words that make a superlative one of single rows.
const ALONE: [&str; 8] =
    ["单笔", "单次", "单个订单", "一单最", "一笔最", "一次最", "in a single", "in one order"];

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
    // `多少` asks for the figure again; a mean per row is of the same figure.
    question.measures.retain(|m| *m != Measure::Rows);
    if let [Measure::Ratio { numerator, denominator, .. }] = &question.measures[..]
        && **denominator == Measure::Rows
    {
        question.measures = vec![(**numerator).clone()];
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
