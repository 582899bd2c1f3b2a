//! Superlatives and aggregates as they stand in the question: the order they ask for, and whether they are about one row.

use crate::question::{Agg, Order};
use crate::weigh::items::Sense;
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
        self.items.iter().any(|i| {
            matches!(i.text.trim_end_matches(['的', '是']), "most" | "fewest" | "least" | "最多" | "最少")
        })
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
        let text: String = self.text.iter().collect();
        if ALONE.iter().any(|a| text.contains(a)) {
            return true;
        }
        let row = |k: usize| {
            self.items[k].senses.iter().any(|(s, _)| *s == Sense::Row)
                && self.items[k]
                    .columns()
                    .all(|c| self.scope.column(c).distinct * 10 >= self.scope.tables[c.table].rows * 9)
                && !(self.items[k].text.is_ascii() && self.items[k].text.ends_with('s'))
        };
        (0..self.items.len()).any(|i| {
            let text = self.items[i].text.trim_end_matches(['的', '是']);
            matches!(self.word(i), Some(Word::Highest | Word::Lowest))
                && !matches!(text, "most" | "fewest" | "least" | "最多" | "最少")
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

    /// Aggregates that were said, with where.
    pub fn aggs(&self) -> Vec<(usize, Agg)> {
        let of = |i: usize| {
            if let Some(p) = self.items[i].senses.iter().find_map(|(s, _)| match s {
                Sense::Percentile(p) => Some(*p),
                _ => None,
            }) {
                return Some(Agg::Percentile(p));
            }
            Some(match self.word(i)? {
                Word::Mean => Agg::Mean,
                Word::Median => Agg::Median,
                Word::Max => Agg::Max,
                Word::Min => Agg::Min,
                Word::Stddev => Agg::StdDev,
                Word::Variance => Agg::Variance,
                _ => return None,
            })
        };
        (0..self.items.len()).filter_map(|i| of(i).map(|a| (i, a))).collect()
    }
}
