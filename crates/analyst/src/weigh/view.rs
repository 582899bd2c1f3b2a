//! What stands around each item: the words that mark a group, a count, a condition. Patterns of neighbours only.

use std::collections::HashSet;

use crate::lex::ColRef;
use crate::norm::is_cjk;
use crate::question::Cmp;
use crate::scope::Scope;
use crate::table::Role;
use crate::units::{self, Unit};
use crate::weigh::bounds::{self, Bound};
use crate::weigh::defined::{self, Defined};
use crate::weigh::firsts;
use crate::weigh::items::{Item, Sense};
use crate::word::Word;

pub struct View<'a> {
    pub scope: &'a Scope<'a>,
    pub text: &'a [char],
    /// The text as one string.
    pub whole: String,
    pub items: Vec<Item>,
    pub words: HashSet<Word>,
    pub bounds: Vec<Bound>,
    /// Items that a bound, a limit or a negation has used up.
    pub spent: Vec<bool>,
    pub limit: Option<usize>,
    /// Dimensions said with how many there are: `三家门店`.
    pub listed: Vec<usize>,
    /// `80 % of revenue`: how much some of them make up.
    pub part: Option<f64>,
    /// `3 month rolling`.
    pub window: Option<usize>,
    /// A figure the question itself defines.
    pub defined: Option<Defined>,
    /// One column against another: `actual hours over planned hours`.
    pub against: Vec<(ColRef, Cmp, ColRef)>,
    /// `more than 2 times`: how often those come up that are counted.
    pub often: Option<(Cmp, f64)>,
    /// Whose first time is asked about.
    pub firsts: Option<ColRef>,
    /// Columns the question before was limited by.
    pub kept: Vec<ColRef>,
    pub english: bool,
}

/// What stands after a value that is left out: `machine repairs excluded`.
const LEFT_OUT: [&str; 12] = [
    "excluded",
    "not included",
    "aside",
    "left out",
    "除外",
    "不算",
    "不计",
    "去掉",
    "排除",
    "剔除",
    "不含",
    "不包括",
];

impl<'a> View<'a> {
    pub fn new(scope: &'a Scope<'a>, text: &'a [char], items: Vec<Item>) -> Self {
        let mut words: HashSet<Word> = items.iter().filter_map(Item::word).collect();
        let said = |texts: &[&str]| items.iter().any(|i| texts.iter().any(|t| i.text.starts_with(t)));
        let whole: String = text.iter().collect();
        if said(&["total of", "the total"]) {
            words.insert(Word::Sum);
        }
        if said(&["how many different", "how many distinct", "how many unique"]) {
            words.insert(Word::Distinct);
        }
        if said(&["最快", "fastest", "quickest"]) {
            words.insert(Word::Fastest);
        }
        if ["排一下", "排个", "从高到低", "从大到小", "从多到少", "排一排", "排下", "排列"]
            .iter()
            .any(|w| whole.contains(w))
        {
            words.insert(Word::Rank);
        }
        const PASSED: [&str; 9] = [
            "ignore the blank",
            "ignore blank",
            "ignoring blank",
            "ignoring the blank",
            "excluding blank",
            "skip blank",
            "忽略空",
            "不算空",
            "空的不算",
        ];
        if PASSED.iter().any(|w| whole.contains(w)) {
            words.remove(&Word::Missing);
        }
        // `minutes spent in the museum` is no money.
        if ["minutes spent", "hours spent", "time spent", "days spent", "nights spent"]
            .iter()
            .any(|w| whole.contains(w))
        {
            words.remove(&Word::Spend);
        }
        // `customers who haven't paid`: nobody is asked for.
        let relative = |i: usize| {
            items[i].text == "who"
                && i > 0
                && items[i].start == items[i - 1].end + 1
                && !items[i].breaks
                && !items[i - 1].is_idle()
                && items[i - 1].word().is_none()
        };
        let asked = (0..items.len()).any(|i| items[i].word() == Some(Word::Who) && !relative(i));
        if !asked {
            words.remove(&Word::Who);
        }
        let english = !text.iter().any(|c| is_cjk(*c));
        let spent = vec![false; items.len()];
        let mut view = Self {
            scope,
            text,
            whole,
            items,
            words,
            bounds: Vec::new(),
            spent,
            limit: None,
            listed: Vec::new(),
            part: None,
            window: None,
            defined: None,
            against: Vec::new(),
            often: None,
            firsts: None,
            kept: Vec::new(),
            english,
        };
        bounds::read(&mut view);
        defined::read(&mut view);
        view.firsts = firsts::whose(&view);
        if view.more_than_before() {
            view.words.insert(Word::Growth);
        }
        view
    }

    pub fn says(&self, word: Word) -> bool {
        self.words.contains(&word)
    }

    pub fn says_any(&self, words: &[Word]) -> bool {
        words.iter().any(|w| self.says(*w))
    }

    pub fn word(&self, i: usize) -> Option<Word> {
        self.items.get(i)?.word()
    }

    pub fn role(&self, c: ColRef) -> Role {
        self.scope.role(c)
    }

    /// The nearest item before that is not idle.
    pub fn before(&self, i: usize) -> Option<usize> {
        (0..i).rev().find(|j| !self.items[*j].is_idle())
    }

    pub fn after(&self, i: usize) -> Option<usize> {
        (i + 1..self.items.len()).find(|j| !self.items[*j].is_idle())
    }

    /// No clause ends between two items.
    pub fn same_clause(&self, i: usize, j: usize) -> bool {
        let (a, b) = if i < j { (i, j) } else { (j, i) };
        !self.items[a + 1..=b].iter().any(|item| item.breaks)
    }

    /// The item that leads a phrase: conditions, numbers and adjectives before `i` are passed over.
    pub fn lead(&self, i: usize) -> Option<usize> {
        let mut j = i;
        loop {
            let k = self.before(j)?;
            if !self.same_clause(k, i) {
                return None;
            }
            let item = &self.items[k];
            let passes =
                item.word().is_none() && item.senses.iter().any(|(s, _)| {
                    matches!(s, Sense::Value(..) | Sense::Number(_) | Sense::Unknown | Sense::Time(_))
                        || matches!(s, Sense::Column(c) if matches!(self.role(*c), Role::Flag | Role::Time))
                }) || self.modifies(k, j);
            if !passes || i - k > 5 {
                return Some(k);
            }
            j = k;
        }
    }

    /// `customer country`, `class sessions`: a noun right before another one that it only describes.
    pub fn modifies(&self, i: usize, next: usize) -> bool {
        let told = |c: ColRef| !matches!(self.role(c), Role::Flag | Role::Time);
        let noun = |k: usize| {
            self.items[k].senses.iter().any(|(s, _)| {
                matches!(s, Sense::Row | Sense::Ratio(_)) || matches!(s, Sense::Column(c) if told(*c))
            })
        };
        // `客户所在区县`: where the customer is, not the customer.
        let of = |k: usize| {
            let between: String = self.text[self.items[i].end..self.items[k].start].iter().collect();
            let next = &self.items[k].text;
            matches!(between.trim_end_matches('的'), "所在" | "所属")
                || between.is_empty() && (next.starts_with("所在") || next.starts_with("所属"))
        };
        if !self.english {
            return next > i && next <= i + 2 && noun(next) && of(next);
        }
        self.english
            && next == i + 1
            && !self.items[next].text.ends_with("ed")
            && self.items[next].start - self.items[i].end <= 1
            && noun(next)
            && !(i > 0
                && self.asks_which(i - 1)
                && self.items[next].columns().any(|c| self.role(c) == Role::Measure))
            && self.items[i].word().is_none()
            && self.items[i].columns().any(|c| matches!(self.role(c), Role::Dimension | Role::Id))
    }

    fn asks_which(&self, i: usize) -> bool {
        matches!(self.word(i), Some(Word::Which | Word::Who))
            || self.items[i].is_idle() && i > 0 && self.asks_which(i - 1)
    }

    /// `bought by members`: who did it, not how it is grouped.
    pub fn done_by(&self, k: usize) -> bool {
        const DONE: [&str; 15] = [
            "bought", "sold", "made", "done", "taken", "given", "paid", "run", "held", "spent", "brought",
            "written", "driven", "seen", "won",
        ];
        let head = self.head(k);
        let last = head.rsplit(' ').next().unwrap_or("");
        let figure = k > 0 && self.names_figure(&self.items[k - 1]);
        self.items[k].text == "by"
            && !figure
            && (matches!(last, "were" | "was" | "is" | "are")
                || DONE.contains(&last)
                || last.len() > 4 && last.ends_with("ed") && !last.ends_with("need"))
    }

    /// What stands after `instead of`.
    pub fn set_aside(&self, i: usize) -> bool {
        (0..i).any(|k| {
            let tail: String = self.text[self.items[k].start..self.items[i].start].iter().collect();
            tail.starts_with("instead of") && self.same_clause(k, i)
        })
    }

    /// `by X`, `which X`, `各X`, `top 5 X`.
    pub fn marked(&self, i: usize) -> bool {
        let Some(k) = self.lead(i) else { return false };
        let text = self.items[k].text.as_str();
        match self.items[k].word() {
            Some(Word::By) => !matches!(text, "across" | "for all" | "分别") && !self.done_by(k),
            Some(Word::Which) => text != "what" || self.after_what(k),
            Some(Word::Who | Word::Rank | Word::List | Word::MostCommon | Word::Busiest) => true,
            Some(Word::BestSelling | Word::WorstSelling) => true,
            Some(Word::Top | Word::Bottom | Word::Highest | Word::Lowest | Word::Fastest | Word::Slowest) => {
                let close = self.text[self.items[k].end..self.items[i].start].iter().collect::<String>();
                let counts = matches!(text, "most" | "least" | "fewest");
                let top = matches!(self.items[k].word(), Some(Word::Top | Word::Bottom));
                // `最高的五位会员`
                let numbered = close
                    .chars()
                    .all(|c| c.is_ascii_digit() || "一二两三四五六七八九十个位名家款种条单".contains(c));
                !counts && (self.english || top || numbered || close.contains('的'))
            }
            Some(Word::And) => self.before(k).is_some_and(|j| {
                j > 0
                    && self.items[j]
                        .columns()
                        .any(|c| matches!(self.role(c), Role::Dimension | Role::Id | Role::Flag))
                    && self.marked(j)
            }),
            _ => false,
        }
    }

    /// `what type sells best` groups; `what is the total` does not.
    fn after_what(&self, k: usize) -> bool {
        self.items.get(k + 1).is_some_and(|n| n.start - self.items[k].end <= 1 && !n.is_idle())
    }

    /// `how many X`, `number of X`, `X数`, `X有多少`.
    pub fn counted(&self, i: usize) -> bool {
        let lead = self.lead(i).and_then(|k| self.word(k));
        // `the most late deliveries`
        let most = self.lead(i).is_some_and(|k| {
            let between = &self.items[k + 1..i];
            matches!(self.items[k].text.as_str(), "most" | "fewest" | "least")
                && !between.iter().any(Item::is_idle)
        });
        // `招了多少学员`
        let how_much = self.lead(i).is_some_and(|k| {
            self.word(k) == Some(Word::HowMuch)
                && self.items[k].text.ends_with("多少")
                && self.items[k].end == self.items[i].start
        });
        let noun = self.items[i].names_row()
            || self.items[i].columns().any(|c| matches!(self.role(c), Role::Id | Role::Dimension));
        if how_much && noun {
            return true;
        }
        if most && matches!(lead, Some(Word::Highest | Word::Lowest)) {
            return true;
        }
        if matches!(lead, Some(Word::HowMany | Word::Count | Word::Distinct)) {
            return !self.lead(i).is_some_and(|k| self.counts_rows(k));
        }
        let Some(next) = self.after(i).filter(|n| self.same_clause(i, *n)) else { return false };
        let touching = self.items[next].start == self.items[i].end;
        match self.word(next) {
            Some(Word::CountSuffix | Word::Count) => touching || self.english,
            Some(Word::HowMuch) => !self.english && self.items[next].text.ends_with("有多少") && noun,
            Some(Word::Highest | Word::Lowest) => {
                touching && matches!(self.items[next].bare(), "最多" | "最少") && self.items[i].names_row()
            }
            _ if touching && matches!(self.items[next].text.as_str(), "数量" | "总数" | "数" | "量") => {
                self.items[i].names_row()
            }
            Some(Word::HowMany) => !self.english && !self.counts_rows(next),
            _ => false,
        }
    }

    /// `多少单`, `几人次`: rows, whatever stands before.
    pub fn counts_rows(&self, i: usize) -> bool {
        let text = self.items[i].text.as_str();
        self.scope.glossary.classifiers.asks_rows(text) || text.ends_with("人次") || text == "how many times"
    }

    /// `all X`, `any X`, `整个X`.
    pub fn of_all(&self, i: usize) -> bool {
        let head = self.head(i);
        let head = head.strip_suffix("our").or_else(|| head.strip_suffix("the")).unwrap_or(&head).trim_end();
        const ALL: [&str; 17] = [
            " all",
            "all",
            " any",
            "across",
            "every single",
            "whole",
            "entire",
            "所有",
            "全部",
            "全体",
            "整个",
            "任何",
            "全",
            "各个方面",
            "for all",
            "among",
            "between all",
        ];
        ALL.iter().any(|a| head.ends_with(a))
    }

    /// `not X`, `没X`, `excluding A and X`.
    pub fn negated(&self, i: usize) -> bool {
        let tail = self.tail(i, 16);
        if LEFT_OUT.iter().any(|w| tail.trim_start_matches([' ', '的', '都', '先']).starts_with(w)) {
            return true;
        }
        let mut j = i;
        while let Some(k) = self.before(j) {
            if !self.same_clause(k, i) || i - k > 6 {
                return false;
            }
            match self.word(k) {
                Some(Word::Exclude) => return true,
                Some(Word::And | Word::Only) => {}
                _ if self.items[k].value_columns().next().is_some() => {}
                _ => return false,
            }
            j = k;
        }
        false
    }

    /// A word for an empty cell is near.
    pub fn near_missing(&self, i: usize) -> bool {
        let missing = |k: usize| self.word(k) == Some(Word::Missing) && self.same_clause(i, k);
        // `had no X` is about what follows.
        let ahead = |k: usize| {
            ["had no", "has no", "have no", "without any", "缺少", "缺了", "漏了"]
                .contains(&self.items[k].text.as_str())
        };
        self.before(i).is_some_and(missing)
            || (i + 1..self.items.len().min(i + 8))
                .any(|k| missing(k) && !ahead(k) && self.nearest_empty(i, k))
    }

    /// No other column with empty cells stands nearer.
    fn nearest_empty(&self, i: usize, k: usize) -> bool {
        let empty = |j: usize| self.items[j].columns().any(|c| self.scope.column(c).nulls > 0);
        k <= i + 3 || empty(i) && !(i + 1..k).any(empty)
    }

    /// The column of the main table in a unit; of several the one with the largest figures, which the others are parts of.
    pub fn in_unit(&self, unit: Unit) -> Option<ColRef> {
        let main = self.scope.in_scope[0];
        let table = &self.scope.tables[main];
        let found = units::columns(table, unit);
        let high = |c: &usize| table.columns[*c].high();
        let parts = !units::is_time(unit) && unit != Unit::Money;
        let column = match found[..] {
            [one] => one,
            [] => return None,
            _ if parts => {
                let hinted: Vec<usize> =
                    found.iter().copied().filter(|c| self.hints_at(&table.columns[*c])).collect();
                match hinted[..] {
                    [one] => one,
                    _ => found.iter().copied().max_by(|a, b| high(a).total_cmp(&high(b)))?,
                }
            }
            _ => return None,
        };
        Some(ColRef { table: main, column })
    }

    /// `… that day`: a period said before.
    pub fn said_again(&self, i: usize) -> bool {
        let head = self.head(i);
        ["that", "same", "当", "那", "这"].iter().any(|w| head.ends_with(w))
    }

    pub fn main_money(&self) -> Option<ColRef> {
        let main = self.scope.in_scope[0];
        units::main_money(&self.scope.tables[main]).map(|column| ColRef { table: main, column })
    }

    /// A period to group by was said.
    pub fn grained(&self) -> bool {
        self.says_any(&[Word::Day, Word::Week, Word::Month, Word::Quarter, Word::Year, Word::Weekday])
            && !self.items.iter().any(|i| i.text.starts_with("in ") && i.word().is_some())
    }

    /// `per order`: over the rows.
    pub fn of_rows(&self) -> bool {
        (1..self.items.len()).any(|i| {
            let row = self.items[i]
                .senses
                .iter()
                .any(|(s, _)| matches!(s, Sense::Row | Sense::Table | Sense::Word(Word::Rows)));
            row && self.before(i).is_some_and(|k| {
                let text = self.items[k].text.as_str();
                let period = self.word(k).is_some_and(|w| w.grain().is_some());
                matches!(text, "per" | "each" | "every" | "in each") || text.starts_with('每') && !period
            })
        })
    }

    pub fn unit(&self, i: usize) -> Option<Unit> {
        self.items.get(i)?.senses.iter().find_map(|(s, _)| match s {
            Sense::Unit(u) => Some(*u),
            _ => None,
        })
    }

    /// A negation that nothing known follows: what it denies would be lost.
    pub fn denies_nothing(&self) -> bool {
        let deniable = |c: &ColRef| {
            self.scope.column(*c).nulls > 0
                || matches!(self.role(*c), Role::Flag | Role::Measure | Role::Time)
        };
        let known = |k: usize| {
            self.items[k].senses.iter().any(|(s, _)| {
                matches!(s, Sense::Value(..) | Sense::Thing(_) | Sense::Time(_) | Sense::Number(_))
                    || matches!(s, Sense::Column(c) if deniable(c))
            })
        };
        // In English only some words deny what stands before them.
        let trails = |i: usize| {
            !self.english
                || i > 0 && self.word(i - 1) == Some(Word::Equal)
                || LEFT_OUT.iter().any(|w| self.items[i].text.starts_with(w))
        };
        (0..self.items.len()).any(|i| {
            let near = self.items.len().min(i + 5);
            let denied = |k: usize| self.same_clause(i, k) && known(k);
            let ahead = (i + 1..near).any(|k| denied(k) && self.negated(k));
            let behind = trails(i) && (0..i).rev().take(2).any(denied);
            self.word(i) == Some(Word::Exclude) && !self.spent[i] && !ahead && !behind
        })
    }
}
