//! Nouns beside columns: what a row is, what a name is of, what is asked for after it.

use crate::lex::ColRef;
use crate::question::{Agg, Measure, PER};
use crate::read::draft::{Reader, Wanted};
use crate::read::tokens::{Tok, Token};
use crate::table::Role;
use crate::word::Word;

impl Reader<'_> {
    /// `the priciest order`: what it came to, not what one piece cost.
    pub(super) fn dearest_row(&self, i: usize) -> Option<ColRef> {
        let dear = ["most expensive", "priciest", "cheapest", "costliest", "least expensive"];
        let next = self.tokens.get(i + 1).filter(|_| dear.contains(&self.tokens[i].text.as_str()))?;
        let rows = match next.tok {
            Tok::RowNoun => true,
            Tok::Col(c, _) => self.scope.role(c) == Role::Id || next.rows,
            _ => false,
        };
        let main = *self.scope.in_scope.first()?;
        let column = crate::units::main_money(&self.scope.tables[main]).filter(|_| rows)?;
        Some(ColRef { table: main, column })
    }

    /// Each row is a thing of its own.
    pub(super) fn rows_are_numbered(&self) -> bool {
        let table = &self.scope.tables[self.scope.in_scope[0]];
        table.columns.iter().any(|c| c.role == Role::Id && c.distinct >= table.rows)
    }

    pub(super) fn figure_follows(&self, i: usize) -> bool {
        self.col(i + 1).is_some_and(|c| self.scope.role(c) == Role::Measure) && self.close(i, i + 1)
    }

    /// `orders` of `purchase orders`, where only another number (`invoice no`) is taken for theirs: the rows.
    pub(super) fn counts_rows(&self, i: usize, column: ColRef) -> bool {
        let said = crate::names::stem(&self.tokens[i].text);
        let table = &self.scope.tables[column.table];
        let named = self.scope.column(column).full.split(' ').any(|w| crate::names::stem(w) == said);
        let numbered = table.columns.iter().any(|c| c.role == Role::Id && c.distinct >= table.rows);
        let english = self.tokens[i].text.is_ascii();
        self.tokens[i].rows && english && !named && numbered && column.table == self.scope.in_scope[0]
    }

    /// `产品销售总额`: a total over all of them, where `各产品` would ask for each.
    pub(super) fn describes_figure(&self, i: usize, by: bool) -> bool {
        let ranked =
            [Word::Highest, Word::Lowest, Word::Top, Word::Bottom, Word::Rank, Word::By, Word::Share];
        let chinese = self.tokens[i].text.chars().all(crate::norm::is_cjk);
        chinese
            && !by
            && self.draft.says(Word::Sum)
            && !self.draft.says_any(&ranked)
            && self.scope.tables.len() == 1
    }

    /// `employees` in `the average age of employees`: what a row is, not what to group by.
    pub(super) fn is_row_noun(&self, i: usize, column: ColRef, by: bool) -> bool {
        const RANKING: [Word; 8] = [
            Word::Top,
            Word::Bottom,
            Word::Highest,
            Word::Lowest,
            Word::Rank,
            Word::List,
            Word::BestSelling,
            Word::WorstSelling,
        ];
        let best = self.count_column(column);
        let one_each = self.scope.column(best).distinct * 10 >= self.scope.tables[best.table].rows * 9;
        let named_id = self.scope.role(column) == Role::Id && self.before(i) != Some(Word::By);
        let described = i > 0 && matches!(self.tokens[i - 1].tok, Tok::Val(..)) && self.close(i - 1, i);
        (one_each || named_id) && !by && (described || !self.draft.says_any(&RANKING) || self.draft.grouped)
    }

    /// `按房号算` after `多少户`: how the count goes, not what to group by.
    pub(super) fn counted_by(&self, i: usize) -> bool {
        let ends: String = self.text[self.tokens[i].end..].iter().collect();
        let ends = ends.trim_end_matches(['?', '.', '!', '。', '？', ' ']);
        let counts = ["算", "计", "计算", "统计", "来算", "去重", "计数"].contains(&ends);
        let numbered = self.col(i).is_some_and(|c| self.scope.role(c) == Role::Id);
        let asked = |t: &Token| t.tok == Tok::Word(Word::HowMany);
        counts && numbered && self.tokens[..i].iter().any(asked)
    }

    /// `…的订单有多少`: the question word comes last.
    pub(super) fn asked_after(&self, i: usize) -> bool {
        // `还能用几年` asks for years, not for how many there are.
        let how = |t: &Token| {
            t.text.ends_with("多少")
                || matches!(t.tok, Tok::Word(Word::HowMany))
                    && crate::units::ending(&t.text)
                        .is_none_or(|u| matches!(u, crate::units::Unit::Person | crate::units::Unit::Piece))
        };
        let asks = matches!(self.after(i), Some(Word::HowMany | Word::HowMuch))
            && self.tokens.get(i + 1).is_some_and(how);
        let named = |t: &Token| matches!(t.tok, Tok::Col(c, _) if self.scope.role(c) == Role::Measure);
        // `每个年级有多少人`: in each of them.
        let each = self.before(i) == Some(Word::By)
            && self.tokens[i - 1].text.starts_with(['每', '各', '按', '分', '逐']);
        asks && !each
            && i + 2 >= self.tokens.len()
            && !self.tokens[i..].iter().any(named)
            && !self.draft.grouped
    }

    /// How many such things there are: rows when each row is one, else different names.
    pub(super) fn count_of(&self, column: ColRef) -> Measure {
        let best = self.count_column(column);
        let one_each = self.scope.column(best).distinct >= self.scope.tables[best.table].rows;
        if one_each && best.table == self.scope.in_scope[0] {
            Measure::Rows
        } else {
            Measure::Of(Agg::Distinct, best)
        }
    }

    /// Counting goes by number, not by name, where there is one.
    pub(super) fn count_column(&self, column: ColRef) -> ColRef {
        let concepts = &self.scope.column(column).concepts;
        let id = concepts
            .iter()
            .flat_map(|(c, _)| self.scope.concept_columns(c))
            .find(|(c, q)| *q == 3 && self.scope.role(*c) == Role::Id && c.table == column.table);
        id.map_or(column, |(c, _)| c)
    }

    /// `average revenue per customer`: the total over the number of customers.
    pub(super) fn per(&mut self, entity: ColRef) {
        let counted = match self.draft.measures.last() {
            Some(Wanted::Plain(column, _)) => Some(Measure::Of(Agg::Sum, *column)),
            Some(Wanted::Fixed(m @ (Measure::Rows | Measure::Of(Agg::Distinct, _)))) => Some(m.clone()),
            _ => None,
        };
        if let Some(numerator) = counted {
            self.draft.measures.pop();
            let numerator = Box::new(numerator);
            let denominator = Box::new(Measure::Of(Agg::Distinct, entity));
            self.draft.measures.push(Wanted::Fixed(Measure::Ratio { concept: PER, numerator, denominator }));
        } else {
            self.draft.dims.push(entity);
        }
    }
}
