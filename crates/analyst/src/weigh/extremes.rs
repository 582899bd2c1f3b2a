//! Superlatives and aggregates as they stand in the question: the order they ask for, and whether they are about one row.

use crate::question::{Agg, Order};
use crate::weigh::items::{Item, Sense};
use crate::weigh::view::View;
use crate::word::Word;

impl View<'_> {
    pub fn superlative(&self) -> Option<Order> {
        let grows = self.says_any(&[Word::Growth, Word::Yoy, Word::Mom]);
        let quick = if grows { Word::Slowest } else { Word::Fastest };
        let slow = if grows { Word::Fastest } else { Word::Slowest };
        if self.says_any(&[Word::Lowest, Word::Bottom, Word::WorstSelling, Word::Ascending, quick])
            && !self.says_any(&[Word::Highest, Word::Top, slow])
        {
            return Some(Order::Ascending);
        }
        self.says_any(&[
            Word::Highest,
            Word::Top,
            Word::BestSelling,
            Word::MostCommon,
            Word::Busiest,
            Word::Rank,
            Word::Descending,
            slow,
        ])
        .then_some(Order::Descending)
    }

    /// A superlative stands right after: `门店最多`.
    pub fn before_superlative(&self, i: usize) -> bool {
        self.after(i).is_some_and(|n| {
            self.same_clause(i, n) && matches!(self.word(n), Some(Word::Highest | Word::Lowest))
        })
    }

    /// `the most`, `最多`.
    pub fn most_said(&self) -> bool {
        self.items.iter().any(Item::is_most)
    }

    /// A superlative about single rows: `单笔`, `a single order`, `the largest order`, `哪一单`.
    pub fn one_row(&self) -> bool {
        const ALONE: [&str; 20] = [
            "一条",
            "单笔",
            "单次",
            "单场",
            "一单",
            "一笔",
            "一场",
            "一次",
            "哪单",
            "哪笔",
            "哪场",
            "哪次",
            "哪一条",
            "那笔",
            "那单",
            "single",
            "individual",
            " ever ",
            "one-off",
            "any one",
        ];
        if ALONE.iter().any(|a| self.whole.contains(a)) {
            return true;
        }
        let row = |k: usize| {
            self.items[k].names_row()
                && self.items[k].columns().all(|c| self.row_like(c))
                && !(self.items[k].text.is_ascii() && self.items[k].text.ends_with('s'))
        };
        (0..self.items.len()).any(|i| {
            matches!(self.word(i), Some(Word::Highest | Word::Lowest))
                && !self.items[i].is_most()
                && self.after(i).is_some_and(|k| self.same_clause(i, k) && row(k))
        })
    }

    /// `the longest delay, and which flight`: the row is asked for apart from the superlative.
    pub fn told_apart(&self) -> bool {
        let superlative = (0..self.items.len()).find(|i| {
            matches!(self.word(*i), Some(Word::Highest | Word::Lowest))
                && !self.items[*i].text.contains("most")
        });
        let which = (0..self.items.len()).find(|i| {
            matches!(self.word(*i), Some(Word::Which | Word::Who)) && self.items[*i].text != "what"
        });
        matches!((superlative, which), (Some(s), Some(w)) if s < w && !self.same_clause(s, w))
    }

    /// Aggregates other than the sum that were said, with where.
    pub fn aggs(&self) -> Vec<(usize, Agg)> {
        let of = |i: usize| {
            if let Some(p) = self.items[i].senses.iter().find_map(|(s, _)| match s {
                Sense::Percentile(p) => Some(*p),
                _ => None,
            }) {
                return Some(Agg::Percentile(p));
            }
            self.word(i).and_then(Word::agg).filter(|agg| *agg != Agg::Sum)
        };
        (0..self.items.len()).filter_map(|i| of(i).map(|a| (i, a))).collect()
    }
}
