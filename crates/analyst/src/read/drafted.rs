//! What the words of a question were found to say, before it is a question. Holds no rules.

use std::collections::HashSet;

use crate::lex::ColRef;
use crate::question::{Agg, ChartKind, Cmp, Grain, Measure, Note, Order};
use crate::timex::When;
use crate::units::Unit;
use crate::word::{Beyond, Word};

/// A measure whose aggregate may not have been said.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    Plain(ColRef, Option<Agg>),
    Fixed(Measure),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    pub measures: Vec<Wanted>,
    pub dims: Vec<ColRef>,
    pub grain: Option<Grain>,
    pub values: Vec<(ColRef, String, bool)>,
    pub numbers: Vec<(Option<ColRef>, Cmp, f64)>,
    /// `more than 50 employees`: a bound on a count.
    pub counts: Option<(Cmp, f64)>,
    pub flags: Vec<(ColRef, bool)>,
    pub times: Vec<When>,
    pub dates: Vec<ColRef>,
    pub words: HashSet<Word>,
    pub limit: Option<usize>,
    pub order: Option<Order>,
    pub chart: Option<ChartKind>,
    pub loose_agg: Option<Agg>,
    pub lacking: Vec<(usize, String)>,
    pub beyond: Vec<Beyond>,
    pub stray_numbers: Vec<f64>,
    /// A column named beside a condition on it.
    pub conditioned: Vec<ColRef>,
    /// Columns whose names begin with a word of the question.
    pub things: Vec<ColRef>,
    /// `多少件`: units, not rows.
    pub asks_units: bool,
    /// A date named by what happened on it: `admissions`.
    pub events: bool,
    /// `the cheapest`: the figure a superlative is about.
    pub implied: Option<ColRef>,
    /// `the most`: a sum, not a mean.
    pub most: bool,
    /// `the share of …`: the part is named after the word, as in English.
    pub share_leads: bool,
    /// `per click`: the column another one is divided by.
    pub per_unit: Option<ColRef>,
    /// `A占B`: one figure as a part of another.
    pub part_of: bool,
    /// `without a score`.
    pub empty: Vec<ColRef>,
    /// `一共`, `加起来`.
    pub added_up: bool,
    /// `A占B`, where B is a value: columns that limit the whole.
    pub wholes: Vec<ColRef>,
    /// `每位会员平均`.
    pub per_entity: Option<ColRef>,
    /// `几种`: kinds, not rows.
    pub asks_kinds: bool,
    /// `多派了`: something done to each row.
    pub acts: bool,
    /// `各占`.
    pub each_share: bool,
    /// `有会员卡号的`.
    pub filled: Vec<ColRef>,
    /// `没登记`: what was not recorded.
    pub unrecorded: Option<ColRef>,
    /// `actual hours over planned hours`.
    pub against: Vec<(ColRef, Cmp, ColRef)>,
    /// Words that limit the rows in a way that was not understood.
    pub dangling: Vec<String>,
    /// The words that named rows, in the singular.
    pub nouns: Vec<String>,
    /// `median and average`: those before the last.
    pub more_aggs: Vec<Agg>,
    /// `best` is true, `worst` false: what is better depends on the figure.
    pub judged: Option<bool>,
    /// `多少人`.
    pub asks_people: bool,
    /// `多少户`.
    pub asks_homes: bool,
    /// `…的还有多少`.
    pub asks_rows: bool,
    /// `占总额`: a part of the amount, not of the rows.
    pub amounts: bool,
    /// What a row is was named.
    pub names_rows: bool,
    /// `most popular`: chosen often, whatever it sells for.
    pub popular: bool,
    /// `how many days`, `多少公里`.
    pub asks_unit: Option<Unit>,
    /// `how much`, `多少钱`.
    pub asks_money: bool,
    /// `the value of`, where no column is called so.
    pub asks_worth: bool,
    /// `the most blocked work`: how many such rows.
    pub most_such: bool,
    /// `an average day`.
    pub mean_period: bool,
    /// `the share of the won amount that came from referrals`: the part is said last.
    pub part_last: bool,
    /// `数学60分以上的比例`: the bound makes the part.
    pub part_bound: bool,
    /// `明年`.
    pub next_year: bool,
    /// `how long`: a mean unless said otherwise.
    pub long: bool,
    /// Figures that words passed over hint at.
    pub hints: Vec<ColRef>,
    /// Words were passed over: nothing more may be guessed.
    pub unsure: bool,
    /// Columns of which one word named several values.
    pub together: Vec<ColRef>,
    /// What a value is about besides: `electricity` of a consumption.
    pub value_figure: Option<ColRef>,
    /// `件最多`: a count, where no column holds such a number.
    pub most_of: bool,
    /// `by` or `which` came with a dimension.
    pub grouped: bool,
    /// What is asked whether it comes up again.
    pub repeated: Option<ColRef>,
    /// `合计`, `together`: several times or values as one.
    pub adds_up: bool,
    /// `the largest order`: one row, not a group.
    pub row_extreme: bool,
    /// Whose first time is asked about.
    pub firsts: Option<ColRef>,
    /// A figure the question itself defines.
    pub formula: Option<Measure>,
    /// `customer ids`: the numbers themselves, not the names.
    pub names_numbers: bool,
    pub notes: Vec<Note>,
}

impl Draft {
    pub fn says(&self, word: Word) -> bool {
        self.words.contains(&word)
    }

    pub fn says_any(&self, words: &[Word]) -> bool {
        words.iter().any(|w| self.says(*w))
    }

    /// The figures that are columns as they stand.
    pub fn plain_measures(&self) -> Vec<ColRef> {
        let plain = self.measures.iter().filter_map(|wanted| match wanted {
            Wanted::Plain(column, _) => Some(*column),
            Wanted::Fixed(_) => None,
        });
        plain.collect()
    }
}
