//! Shapes a plain question may take: one extreme row, a mean of periods, a bound on groups, values side by side.

use crate::lex::ColRef;
use crate::question::{Agg, Filter, Grain, Group, Intent, Measure};
use crate::table::Role;
use crate::weigh::complete::Built;
use crate::weigh::figures::{self, Figures};
use crate::weigh::timing::Timing;
use crate::word::Word;

impl Built<'_> {
    /// `list the orders above 1000`: the rows themselves.
    pub fn list_rows(&mut self, dims: &[ColRef], grain: Option<Grain>) -> bool {
        let view = self.view;
        let plain = grain.is_none() && view.superlative().is_none() && view.aggs().is_empty();
        let asked = view.says(Word::List) && !view.says_any(&[Word::HowMany, Word::Count, Word::By]);
        if !asked || !plain || self.question.filters.is_empty() || !dims.iter().all(|d| view.row_like(*d)) {
            return false;
        }
        self.question.groups.clear();
        self.question.measures.retain(|m| matches!(m, Measure::Of(..)));
        self.question.intent = Intent::Rows;
        true
    }

    /// `the largest order`, `单笔最高`, `which flight had the longest delay`: one row.
    pub fn extreme_row(&mut self, figures: &Figures, dims: &[ColRef], grain: Option<Grain>) -> bool {
        let view = self.view;
        let one = self.question.limit.is_none_or(|n| n == 1);
        if !view.says_any(&[Word::Highest, Word::Lowest, Word::Fastest, Word::Slowest])
            || !one
            || grain.is_some()
            || figures.strong
        {
            return false;
        }
        // `which …, and how many`: the figure itself is what is asked for.
        if self.question.measures.len() == 2 {
            self.question.measures.retain(|m| *m != Measure::Rows);
        }
        let alone = view.one_row();
        if self.question.measures.is_empty() && alone {
            self.need_measure(figures);
        }
        // `who gave the largest gift`: by what it came to.
        if let (true, Some(c)) = (self.question.measures == [Measure::Rows] && alone, view.main_money()) {
            self.question.measures = vec![Measure::Of(Agg::Sum, c)];
        }
        let [Measure::Of(_, column)] = self.question.measures[..] else { return false };
        // `youngest and oldest`: both ends.
        if view.says(Word::Highest) && view.says(Word::Lowest) && dims.is_empty() {
            self.question.measures = vec![Measure::Of(Agg::Max, column), Measure::Of(Agg::Min, column)];
            return true;
        }
        if view.role(column) != Role::Measure {
            return false;
        }
        let table = self.question.table;
        let row_like = |c: &ColRef| view.row_like(*c) && c.table == table;
        let rows = view.one_row() || view.told_apart() || dims.iter().any(row_like);
        if !rows && !dims.is_empty() {
            return false;
        }
        if !rows {
            self.cost += 0.3;
        }
        let kept: Vec<Group> =
            dims.iter().filter(|c| !row_like(c) && c.table == table).take(1).map(|c| Group::By(*c)).collect();
        self.question.groups = kept;
        let named = view.says_any(&[Word::Which, Word::Who])
            || !dims.is_empty()
            || view.says_row() && view.most_said();
        self.question.intent = Intent::ExtremeRow { named };
        self.question.limit = Some(1);
        true
    }

    /// `monthly average`, `平均每天多少单`.
    pub fn mean_per(&mut self, figures: &Figures, timing: &Timing<'_>) -> bool {
        let view = self.view;
        // `how much do we get a year`
        let a_period = view.says_any(&[Word::HowMuch, Word::HowMany])
            && view
                .items
                .iter()
                .any(|i| matches!(i.text.as_str(), "a year" | "a month" | "a week" | "a day"));
        let (Some(grain), true) = (timing.grain, view.says(Word::Mean) || a_period) else { return false };
        let by = view.items.iter().any(|i| {
            matches!(i.word(), Some(Word::Month | Word::Week | Word::Day | Word::Quarter | Word::Year))
                && (i.text.starts_with("by ")
                    || i.text.starts_with('各')
                    || i.text.starts_with('按')
                    || i.text.contains(" by "))
        });
        if view.superlative().is_some()
            || by
            || view.says_any(&[Word::Trend, Word::Which])
            || !timing.dims.is_empty()
        {
            return false;
        }
        self.need_measure(figures);
        match &mut self.question.measures[..] {
            [Measure::Rows | Measure::CountYes(_) | Measure::Of(Agg::Distinct, _)] => {}
            [Measure::Of(agg, c)]
                if view.scope.column(*c).default_agg == crate::glossary::DefaultAgg::Sum =>
            {
                *agg = Agg::Sum;
            }
            _ => return false,
        }
        self.question.groups.clear();
        self.question.intent = Intent::MeanPer(grain);
        true
    }

    /// `how many donors gave more than 2 times`: those whose rows are that many.
    pub fn come_again(&mut self) -> bool {
        let Some(often) = self.view.often else { return false };
        let counted = self.question.measures.iter().find_map(|m| match m {
            Measure::Of(Agg::Distinct, c) => Some(*c),
            _ => None,
        });
        let group = counted.or(match self.question.groups[..] {
            [Group::By(c)] => Some(c),
            _ => None,
        });
        let person = || crate::weigh::people::person(self.view.scope);
        let Some(group) = group.or_else(person).filter(|c| !self.view.row_like(*c)) else {
            self.cost += 6.0;
            return true;
        };
        self.question.groups = vec![Group::By(group)];
        self.question.measures = vec![Measure::Rows];
        self.question.having = Some(often);
        true
    }

    /// `which shops sold more than 1000`: a bound on the groups.
    pub fn having(&mut self, figures: &Figures, dims: &[ColRef]) {
        let view = self.view;
        let [bound] = &view.bounds[..] else { return };
        let group = dims.first().is_some_and(|d| !view.row_like(*d));
        if !group || !view.says_any(&[Word::Which, Word::List, Word::Who]) || view.superlative().is_some() {
            return;
        }
        let Some(column) = bound.column else { return };
        if figures.measures.is_empty() {
            self.question.measures = vec![Measure::Of(figures::default_agg(view, column), column)];
        }
        self.question.filters.retain(|f| !matches!(f, Filter::Number { column: c, .. } if *c == column));
        self.question.having = Some((bound.cmp, bound.value));
    }

    /// The column of which exactly two values were named, each by words of its own.
    pub fn two_values(&self) -> Option<ColRef> {
        let column = self.question.filters.iter().find_map(|f| match f {
            Filter::In { column, values, negated: false } if values.len() == 2 => Some(*column),
            _ => None,
        })?;
        let view = self.view;
        let named = |i: &usize| view.items[*i].value_columns().any(|c| c == column);
        ((0..view.items.len()).filter(named).count() == 2).then_some(column)
    }

    /// `华东和华南`: two values of one column side by side.
    pub fn compare_values(&mut self) {
        let view = self.view;
        let many = self.question.filters.iter().find_map(|f| match f {
            Filter::In { column, values, negated: false } if values.len() > 1 => Some(*column),
            _ => None,
        });
        let Some(column) = many else { return };
        let items: Vec<usize> =
            (0..view.items.len()).filter(|i| view.items[*i].value_columns().any(|c| c == column)).collect();
        let said = items.len();
        let apart = items.windows(2).any(|w| !view.same_clause(w[0], w[1]));
        // `through agents or by phone`: either way, counted together.
        let either = [" or ", "或"].iter().any(|w| view.whole.contains(w))
            && view.says_any(&[Word::HowMany, Word::HowMuch, Word::Sum, Word::Count]);
        let summed = !apart && (view.says_together() || either);
        let by = (0..view.items.len()).any(|i| view.word(i) == Some(Word::By) && !items.contains(&(i + 1)));
        if said > 1
            && !self.question.groups.contains(&Group::By(column))
            && self.question.groups.len() < 2
            && (!summed || by || view.says_any(&[Word::Compare, Word::Highest, Word::Lowest, Word::Which]))
        {
            self.question.groups.push(Group::By(column));
        }
    }
}
