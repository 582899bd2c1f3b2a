//! The price of what a finished question does not answer to: a word that was said and is no part of it, a figure of another kind.

use crate::lex::ColRef;
use crate::question::{Agg, Filter, Group, Intent, Measure, Question};
use crate::table::Role;
use crate::units;
use crate::weigh::items::Sense;
use crate::weigh::view::View;
use crate::word::Word;

/// What the finished question does not answer to.
pub fn misfit(view: &View<'_>, question: &Question) -> f32 {
    let asked = Asked::new(view, question);
    asked.added_up()
        + asked.money()
        + asked.sold()
        + asked.measured_in()
        + asked.number()
        + asked.change()
        + asked.share()
        + asked.aggregates()
        + asked.emptied()
        + asked.two_counts()
        + asked.groups()
        + asked.dates()
}

struct Asked<'a> {
    view: &'a View<'a>,
    question: &'a Question,
    /// The columns whose figures are told.
    figures: Vec<ColRef>,
}

impl<'a> Asked<'a> {
    fn new(view: &'a View<'a>, question: &'a Question) -> Self {
        let figure = |m: &Measure| match m {
            Measure::Of(Agg::Distinct, _) => None,
            Measure::Of(_, c) | Measure::Formula { left: c, .. } => Some(*c),
            Measure::Ratio { numerator, .. } => match **numerator {
                Measure::Of(_, c) => Some(c),
                _ => None,
            },
            _ => None,
        };
        Self { view, question, figures: question.measures.iter().filter_map(figure).collect() }
    }

    fn is_money(&self, c: ColRef) -> bool {
        units::is_money(self.view.scope.column(c))
    }

    /// Rates and prices have no sum.
    fn added_up(&self) -> f32 {
        let sums = self.question.measures.iter().filter_map(|m| match m {
            Measure::Of(Agg::Sum, c) => Some(*c),
            _ => None,
        });
        sums.map(|c| {
            let column = self.view.scope.column(c);
            let rate = self.view.is_rate(c);
            let price = column.has_concept("price") && !column.has_concept("revenue");
            2.0 * f32::from(rate) + 0.8 * f32::from(price)
        })
        .sum()
    }

    /// What was made is not what was sold.
    fn sold(&self) -> f32 {
        let made = |c: &ColRef| {
            let name = &self.view.scope.column(*c).full;
            ["产量", "生产", "produced", "output"].iter().any(|w| name.contains(w))
        };
        if self.view.says(Word::Sell) && self.figures.iter().any(made) { 2.5 } else { 0.0 }
    }

    /// `how much` wants an amount, `多少钱` one of money.
    fn money(&self) -> f32 {
        let view = self.view;
        let mut cost = 0.0;
        let paid = view.items.iter().any(|i| matches!(i.text.as_str(), "多少钱" | "多少元" | "多少块钱"));
        // `优惠一共多少钱`: an amount by its name alone.
        let named = |c: &ColRef| view.place(*c).is_some();
        if paid && !self.figures.iter().any(|c| self.is_money(*c)) {
            let told = self.figures.iter().any(|c| named(c) && units::of(view.scope.column(*c)).is_none());
            cost += if told { 0.6 } else { 2.0 };
        }
        if view.items.iter().any(|i| i.text == "how much") && self.figures.is_empty() {
            cost += 1.5;
        }
        cost
    }

    /// `how many` wants a count, not an amount of money.
    fn number(&self) -> f32 {
        let (view, question) = (self.view, self.question);
        let mut cost = 0.0;
        let counts = question
            .measures
            .iter()
            .any(|m| matches!(m, Measure::Rows | Measure::CountYes(_) | Measure::Of(Agg::Distinct, _)));
        let asked = view.items.iter().position(|i| {
            i.word() == Some(Word::HowMany)
                || i.word() == Some(Word::Count)
                    && matches!(i.text.as_str(), "count" | "人数" | "单量" | "笔数")
        });
        let plain =
            matches!(question.intent, Intent::Value | Intent::Breakdown | Intent::Rank | Intent::Trend);
        if let Some(k) = asked
            && !counts
            && !self.counted_figure(k)
            && plain
            && question.having.is_none()
        {
            cost += 1.0;
        }
        if view.says(Word::HowMany)
            && plain
            && !self.figures.is_empty()
            && self.figures.iter().all(|c| self.is_money(*c))
            && question.measures.len() == 1
        {
            cost += 1.5;
        }
        if view.says(Word::Distinct) && plain && question.measures == [Measure::Rows] {
            cost += 2.0;
        }
        if let Some(Measure::Of(Agg::Distinct, c)) = question.measures.first()
            && question.groups.contains(&Group::By(*c))
        {
            cost += 3.0;
        }
        cost
    }

    /// `how many nights`: the figure is what is counted.
    fn counted_figure(&self, k: usize) -> bool {
        let view = self.view;
        (k..view.items.len().min(k + 4)).any(|j| {
            view.same_clause(k, j)
                && (self.figures.iter().any(|c| view.items[j].columns().any(|d| d == *c))
                    || view.unit(j).is_some())
        }) || units::ending(&view.items[k].text)
            .is_some_and(|u| self.figures.iter().any(|c| units::of(view.scope.column(*c)) == Some(u)))
            || view.scope.glossary.classifiers.asks_pieces(&view.items[k].text)
            || view.tallied(k).is_some_and(|c| self.figures.contains(&c))
    }

    /// Growth was asked for and is not told, or nothing that grows was named.
    fn change(&self) -> f32 {
        let (view, question) = (self.view, self.question);
        let changes =
            matches!(question.intent, Intent::Change { .. } | Intent::GrowthSeries(_)) || self.side_by_side();
        // `who dropped their phone`
        let timed = view.items.iter().any(|i| i.senses.iter().any(|(s, _)| matches!(s, Sense::Time(_))));
        if changes
            && !timed
            && question.measures == [Measure::Rows]
            && !view.says_any(&[Word::Yoy, Word::Mom, Word::HowMany, Word::Count])
        {
            return 2.0;
        }
        if view.says_any(&[Word::Growth, Word::Mom, Word::Yoy]) && !changes { 4.0 } else { 0.0 }
    }

    /// A figure that is itself a share.
    fn is_rate(&self, measure: &Measure) -> bool {
        matches!(measure, Measure::RateYes(_) | Measure::RateIs { .. } | Measure::Ratio { .. })
            || matches!(measure, Measure::Of(_, c) if self.view.is_rate(*c))
    }

    /// Two values of one column, of which is told how far they lie apart.
    fn side_by_side(&self) -> bool {
        let pair = |c: ColRef| {
            self.question.filters.iter().any(|f| {
                matches!(f, Filter::In { column, values, negated: false } if *column == c && values.len() == 2)
            })
        };
        let compared = self.view.says_any(&[Word::Growth, Word::Compare]);
        compared && matches!(self.question.groups[..], [Group::By(c)] if pair(c))
    }

    fn share(&self) -> f32 {
        let shared = matches!(
            self.question.intent,
            Intent::Pareto { .. }
                | Intent::Share
                | Intent::ShareOf { .. }
                | Intent::Change { .. }
                | Intent::GrowthSeries(_)
        );
        let said = self.view.says_any(&[Word::Share, Word::Rate]);
        let told = shared || self.side_by_side() || self.question.measures.iter().any(|m| self.is_rate(m));
        if said && !told { 4.0 } else { 0.0 }
    }

    /// `多少天`, `how long`, `多大年纪`: what is told must be measured in it.
    fn measured_in(&self) -> f32 {
        let view = self.view;
        let plain = matches!(self.question.intent, Intent::Value | Intent::Breakdown | Intent::Rank);
        let rows = self.question.measures == [Measure::Rows];
        let timed = |c: &ColRef| units::of(view.scope.column(*c)).is_some_and(units::is_time);
        let dated = |c: &ColRef| view.role(*c) == Role::Time || view.scope.column(*c).has_concept("duration");
        let mut cost = 0.0;
        for item in view.items.iter().filter(|_| plain) {
            let Some(Word::HowMany | Word::HowMuch) = item.word() else { continue };
            let text = item.text.as_str();
            let long = matches!(text, "how long" | "多久" | "多长时间" | "要多久");
            if long && !self.figures.iter().any(|c| timed(c) || dated(c)) {
                cost += 2.0;
            }
            let aged = text.contains("年纪") || text.contains("how old") || text.contains("几岁");
            let age = |c: &ColRef| view.scope.column(*c).has_concept("age");
            if aged && !self.figures.iter().any(age) {
                cost += 3.0;
            }
            let unit = units::ending(text);
            let period =
                unit.is_some_and(units::is_time) && !self.figures.iter().any(|c| timed(c) || dated(c));
            let weighed = unit.is_some_and(|u| {
                !units::is_time(u)
                    && !matches!(u, units::Unit::Person | units::Unit::Piece | units::Unit::Money)
            });
            if (period || weighed && rows) && view.bounds.is_empty() {
                cost += 2.0;
            }
        }
        cost
    }

    /// An aggregate was said and another one is told.
    fn aggregates(&self) -> f32 {
        let question = self.question;
        let lost = |agg: &Agg| {
            let kept = question.measures.iter().any(|m| matches!(m, Measure::Of(a, _) if a == agg));
            let mean = *agg == Agg::Mean
                && (matches!(question.intent, Intent::MeanPer(_) | Intent::Moving(_) | Intent::Correlation)
                    || question.measures.iter().any(|m| self.is_rate(m)));
            !kept && !mean
        };
        self.view.aggs().iter().filter(|(_, agg)| lost(agg)).map(|_| 4.0).sum()
    }

    /// A figure of rows without a value.
    fn emptied(&self) -> f32 {
        let empty = |c: &ColRef| {
            self.question.filters.iter().any(|f| matches!(f, Filter::Empty { column } if column == c))
        };
        if self.figures.iter().any(empty) { 3.0 } else { 0.0 }
    }

    /// Two counts of different rows get no single figure.
    fn two_counts(&self) -> f32 {
        let view = self.view;
        let told = |k: usize| {
            (0..view.items.len())
                .any(|j| view.same_clause(k, j) && view.items[j].value_columns().next().is_some())
        };
        let counts: Vec<usize> =
            (0..view.items.len()).filter(|k| view.word(*k) == Some(Word::HowMany) && told(*k)).collect();
        let apart = matches!(counts[..], [a, b, ..] if !view.same_clause(a, b));
        if apart && self.question.measures.len() < 2 && self.question.groups.is_empty() { 2.5 } else { 0.0 }
    }

    /// Groups of single rows, of a figure's many values, or of the one value that all rows have.
    fn groups(&self) -> f32 {
        let (view, question) = (self.view, self.question);
        let extreme = matches!(question.intent, Intent::ExtremeRow { .. } | Intent::Repeats { .. });
        let mut cost = 0.0;
        for group in &question.groups {
            let Group::By(c) = group else { continue };
            if view.row_like(*c) && question.measures.contains(&Measure::Rows) && !extreme {
                cost += 3.0;
            }
            if view.role(*c) == Role::Measure && view.scope.column(*c).distinct > 40 {
                cost += 2.0;
            }
        }
        let fixed = question.filters.iter().filter_map(|f| match f {
            Filter::In { column, values, negated: false } if values.len() == 1 => Some(*column),
            Filter::Yes { column, .. } => Some(*column),
            _ => None,
        });
        cost + fixed.filter(|c| question.groups.contains(&Group::By(*c))).map(|_| 1.5).sum::<f32>()
    }

    /// When people were hired is seldom when it happened.
    fn dates(&self) -> f32 {
        let personal = self.question.date.is_some_and(|d| self.view.scope.column(d).has_concept("hire_date"));
        let timed = self.question.groups.iter().any(|g| matches!(g, Group::Time(..)));
        if personal && timed && self.view.says(Word::Sum) { 1.5 } else { 0.0 }
    }
}
