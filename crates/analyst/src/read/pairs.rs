//! Figures made of two: one column per unit of another, one as a part of another, the rate of one value.
//! And nouns that only say what a row is.

use crate::lex::ColRef;
use crate::names::stem;
use crate::question::{Agg, Measure, PART, PER};
use crate::read::draft::{Draft, Reader, Wanted};
use crate::read::tokens::{Scope, Tok, Token};
use crate::table::Role;
use crate::word::Word;

impl Reader<'_> {
    /// `the cancellation rate`, `入职率`: the part of the rows that have a value.
    pub(super) fn rate_of_value(&mut self, i: usize, column: ColRef, value: &str) -> bool {
        let rated = self.after(i) == Some(Word::Rate) && self.close(i, i + 1);
        if rated {
            self.draft.measures.push(Wanted::Fixed(Measure::RateIs { column, value: value.to_owned() }));
            self.used[i] = true;
            self.swallow_name(i, column);
        }
        rated
    }

    /// `cost per click`, `每个客户的成本`: this column is what the other one is divided by.
    pub(super) fn is_unit_of_another(&self, i: usize, column: ColRef) -> bool {
        let said_per = self.before(i) == Some(Word::By)
            && matches!(self.tokens[i - 1].text.as_str(), "per" | "每" | "每个" | "每一个");
        let additive = self.scope.column(column).default_agg == crate::glossary::DefaultAgg::Sum
            || crate::units::of(self.scope.column(column)) == Some(crate::units::Unit::Night);
        let figure = |j: usize| {
            j != i
                && !self.used[j]
                && self.col(j).is_some_and(|c| c != column && self.scope.role(c) == Role::Measure)
        };
        said_per && additive && (0..self.tokens.len()).any(figure)
    }

    /// `average spend per guest`: money over a column, where no figure is named.
    pub(super) fn spent_per(&self, i: usize) -> bool {
        let per = self.before(i) == Some(Word::By) && self.tokens[i - 1].text == "per";
        let figure = |j: usize| j != i && self.col(j).is_some_and(|c| self.scope.role(c) == Role::Measure);
        per && self.draft.says_any(&[Word::Spend, Word::Earn, Word::Sell])
            && !(0..self.tokens.len()).any(figure)
    }

    /// `how much of our spend went to certified vendors, in percent of total cost`: a part of the amount, not of the rows.
    pub(super) fn shares_amount(&self) -> bool {
        let amount = |j: usize| {
            let added = |c: &ColRef| {
                self.scope.role(*c) == Role::Measure
                    && (self.scope.column(*c).default_agg == crate::glossary::DefaultAgg::Sum
                        || crate::units::of(self.scope.column(*c)).is_some_and(crate::units::is_time))
            };
            // `the percentage of hours that …`
            let of_it =
                |c: &ColRef| self.scope.role(*c) == Role::Measure && self.before(j) == Some(Word::Share);
            !self.used[j]
                && self.tokens[j].text.is_ascii()
                && self.col(j).filter(|c| added(c) || of_it(c)).is_some()
        };
        self.draft.says(Word::Share)
            && !self.draft.says_any(&[Word::Rate, Word::And, Word::By])
            && self.draft.values.is_empty()
            && (0..self.tokens.len()).any(amount)
    }

    /// A negation that is followed by nothing it could exclude changes the rows in an unknown way.
    pub(super) fn negation_leads_nowhere(&mut self, i: usize) {
        let next =
            self.tokens[i + 1..].iter().find(|t| !matches!(t.tok, Tok::Word(Word::Exclude | Word::And)));
        // `don't have a score`: rows where it is missing.
        let valued =
            matches!(self.tokens.get(i + 2).map(|t| &t.tok), Some(Tok::Val(..) | Tok::Word(Word::Equal)));
        let lacks = |c: &ColRef| match self.scope.role(*c) {
            Role::Measure => true,
            Role::Dimension | Role::Id => {
                let said = self.tokens[i].text.as_str();
                let held = self.scope.column(*c).nulls > 0;
                let numbered = self.scope.role(*c) == Role::Id;
                !valued
                    && (said.starts_with("without") && !numbered
                        || held && ["no", "没有", "没", "无", "缺", "缺少"].contains(&said))
            }
            Role::Time => !matches!(self.tokens.get(i + 2).map(|t| &t.tok), Some(Tok::Time(_))),
            _ => false,
        };
        if let Some(column) = self.col(i + 1).filter(lacks)
            && self.close_enough(i)
        {
            if self.scope.column(column).nulls > 0 {
                self.draft.empty.push(column);
                self.used[i + 1] = true;
            } else if self.scope.column(column).counts_from_zero() {
                self.draft.numbers.push((Some(column), crate::question::Cmp::Eq, 0.0));
                self.draft.conditioned.push(column);
                self.used[i + 1] = true;
            } else {
                self.draft.dangling.push(self.tokens[i].text.clone());
            }
            return;
        }
        // `没有交付的任务`: what was not done is no value or column, but a word in between.
        if self.tokens[i].text == "no" && next.is_some_and(|t| matches!(t.tok, Tok::Val(..))) {
            self.draft.dangling.push("no".to_owned());
            return;
        }
        let verbal = ["没", "没有", "还没", "还没有", "未", "尚未", "并未", "不"]
            .contains(&self.tokens[i].text.as_str());
        let contracted = self.tokens[i].text.ends_with("n't") || self.tokens[i].text == "never";
        let gap = next.map_or(0, |t| t.start.saturating_sub(self.tokens[i].end));
        let timed = next.is_some_and(|t| matches!(t.tok, Tok::Time(_)));
        // `没交物业费`: of those who have it to pay, which no value says.
        let unpaid = gap == 1
            && self.text.get(self.tokens[i].end).is_some_and(|c| "交缴付".contains(*c))
            && next.is_some_and(|t| matches!(t.tok, Tok::Val(..)));
        if verbal && (gap > 1 || unpaid) || contracted && (gap > 12 || timed) {
            self.draft.dangling.push(self.tokens[i].text.clone());
            return;
        }
        let reaches = next.is_some_and(|t| {
            matches!(
                t.tok,
                Tok::Val(..)
                    | Tok::Col(..)
                    | Tok::Num(_)
                    | Tok::Time(_)
                    | Tok::Word(Word::Missing | Word::Duplicates)
            )
        });
        if !reaches {
            self.draft.dangling.push(self.tokens[i].text.clone());
        }
    }

    pub(super) fn causes_are_told(&self) -> bool {
        self.tokens.iter().any(|t| match &t.tok {
            Tok::Word(Word::HowMany) => true,
            Tok::Val(c, _) => {
                ["cause", "reason", "原因"].iter().any(|w| self.scope.column(*c).full.contains(w))
            }
            _ => false,
        })
    }

    fn close_enough(&self, i: usize) -> bool {
        self.tokens[i + 1].start.saturating_sub(self.tokens[i].end) <= 8
    }

    /// `不良率`: a figure over the whole it is a part of, when the table says what that is.
    pub(super) fn rate_of_figure(&mut self, i: usize, column: ColRef) -> bool {
        let rated = self.after(i) == Some(Word::Rate)
            && self.tokens[i + 1].start.saturating_sub(self.tokens[i].end) <= 1;
        if !rated {
            // `listen-through rate`: some rate, but not of this alone.
            if self.after(i) == Some(Word::Rate) && self.tokens[i + 1].start - self.tokens[i].end <= 12 {
                self.draft.dangling.push(self.tokens[i + 1].text.clone());
            }
            return false;
        }
        // `nightly rate` is the column `Rate per Night`.
        let root = stem(&self.tokens[i].text);
        let both = |c: &crate::table::Column| {
            let words: Vec<String> = c.full.split(' ').map(stem).collect();
            c.role == Role::Measure && words.contains(&root) && words.contains(&stem("rate"))
        };
        if let Some(named) = self.scope.tables[column.table].columns.iter().position(both) {
            self.draft.measures.push(Wanted::Plain(ColRef { table: column.table, column: named }, None));
            return true;
        }
        let quantity = self.scope.concept_columns("quantity").into_iter().map(|(c, _)| c);
        let whole = quantity.filter(|c| *c != column).find(|c| self.holds_more(*c, column));
        let whole = whole.or_else(|| self.whole_of(column)).or_else(|| self.whole_of_kin(column));
        match whole {
            Some(whole) => {
                let sum = |c| Box::new(Measure::Of(Agg::Sum, c));
                let ratio = Measure::Ratio { concept: PART, numerator: sum(column), denominator: sum(whole) };
                self.draft.measures.push(Wanted::Fixed(ratio));
            }
            None => self.draft.dangling.push(format!("{}{}", self.tokens[i].text, self.tokens[i + 1].text)),
        }
        true
    }

    fn holds_more(&self, whole: ColRef, part: ColRef) -> bool {
        let high = |c: ColRef| self.scope.column(c).max.as_deref().and_then(crate::observe::number);
        high(whole).zip(high(part)).is_none_or(|(w, p)| w >= p)
    }

    /// `scrap units` are a part of the one larger column of units.
    fn whole_of_kin(&self, part: ColRef) -> Option<ColRef> {
        let table = &self.scope.tables[part.table];
        let own = &table.columns[part.column].full;
        let shares = |c: &crate::table::Column| {
            c.role == Role::Measure
                && c.kind == crate::table::Kind::Integer
                && c.full != *own
                && c.full.is_ascii()
                && c.full.split(' ').any(|w| own.split(' ').any(|o| stem(o) == stem(w)))
        };
        let at = |column: &usize| ColRef { table: part.table, column: *column };
        let found = table.indices(shares);
        found.first().filter(|_| found.len() == 1).map(at).filter(|whole| self.holds_more(*whole, part))
    }

    /// What a count is a part of: the count that reaches highest, as `sent` does for `opens`.
    fn whole_of(&self, part: ColRef) -> Option<ColRef> {
        let table = &self.scope.tables[part.table];
        let high = |i: &usize| table.columns[*i].high();
        let counts = |c: &crate::table::Column| {
            c.role == Role::Measure
                && c.kind == crate::table::Kind::Integer
                && c.default_agg == crate::glossary::DefaultAgg::Sum
                && !crate::units::is_money(c)
                && crate::units::of(c).is_none()
        };
        let found = table.indices(counts);
        let best = found.iter().max_by(|a, b| high(a).total_cmp(&high(b))).copied()?;
        let part_counts = found.contains(&part.column);
        (best != part.column && part_counts).then_some(ColRef { table: part.table, column: best })
    }

    /// `实际工时超过计划工时`, `above average`: a bound that is no number.
    pub(super) fn read_comparisons(&mut self) {
        for i in 0..self.tokens.len() {
            let bound = self.word(Some(i)).and_then(crate::read::draft::comparison).is_some();
            // `60岁及以上`: said of the number before.
            if i > 0 && matches!(self.tokens[i - 1].tok, Tok::Num(_)) && self.close(i - 1, i) {
                continue;
            }
            let text = self.tokens[i].text.as_str();
            let sure = text.contains("than")
                || ["超过", "多于", "少于", "低于", "高于", "不到", "大于", "小于"].contains(&text);
            let next = self.tokens.get(i + 1).map(|t| &t.tok);
            let reaches = matches!(
                next,
                Some(
                    Tok::Num(_)
                        | Tok::Col(..)
                        | Tok::Val(..)
                        | Tok::Time(_)
                        | Tok::Pctl(_)
                        | Tok::Ratio(_)
                        | Tok::Word(Word::Mean | Word::Median | Word::Sum | Word::Which)
                )
            );
            // `more than once`
            if bound && sure && !reaches {
                self.draft.dangling.push(self.tokens[i].text.clone());
            }
        }
        for i in 1..self.tokens.len() {
            let Some(cmp) = self.word(Some(i)).and_then(crate::read::draft::comparison) else { continue };
            // `60岁及以上被保人`: the bound is the number's.
            let text = self.tokens[i].text.as_str();
            if matches!(self.tokens[i - 1].tok, Tok::Num(_)) && text.ends_with(['上', '下', '的']) {
                continue;
            }
            let figure =
                |j: usize| self.col(j).filter(|c| self.scope.role(*c) == Role::Measure && !self.used[j]);
            let back = if i > 1 && self.word(Some(i - 1)) == Some(Word::Equal) { i - 2 } else { i - 1 };
            if let (Some(left), Some(right)) = (figure(back), figure(i + 1)) {
                self.draft.against.push((left, cmp, right));
                self.used[back] = true;
                self.used[i + 1] = true;
            } else if let Some(right) = figure(i + 1).filter(|_| self.close_enough(i)) {
                // `items below their reorder point`: the stock is, where there is one.
                let stock =
                    self.scope.concept_columns("stock").into_iter().map(|(c, _)| c).find(|c| *c != right);
                match stock.filter(|c| self.scope.role(*c) == Role::Measure) {
                    Some(left) => self.draft.against.push((left, cmp, right)),
                    None => self.draft.dangling.push(self.tokens[i].text.clone()),
                }
                self.used[i + 1] = true;
            } else if matches!(self.after(i), Some(Word::Mean | Word::Median)) {
                self.draft.dangling.push(self.tokens[i].text.clone());
            }
        }
    }

    /// What rows are called: counted, or nothing more than a noun.
    pub(super) fn read_row_noun(&mut self, i: usize) {
        let each = self.before(i) == Some(Word::By);
        let counted = matches!(self.before_values(i), Some(Word::HowMany | Word::Count | Word::HowMuch))
            || self.after(i) == Some(Word::CountSuffix)
            || self.asked_after(i)
            || self.most(i);
        // `how far did we drive`: a figure, not a number of drives.
        let far = self.draft.implied.is_some() && self.before_values(i) == Some(Word::HowMuch);
        let counted = counted && !each && !far;
        self.draft.names_rows = true;
        self.name_rows(i);
        // `birthday parties`: such rows, counted once.
        if let Some(Wanted::Fixed(Measure::CountYes(flag))) = self.draft.measures.last()
            && i > 0
            && self.col(i - 1) == Some(*flag)
        {
            self.draft.flags.push((*flag, true));
            self.draft.measures.pop();
        }
        // `expenses by department`: what they come to.
        const MONEY: [&str; 15] = [
            "expense",
            "expenses",
            "spending",
            "expenditure",
            "expenditures",
            "donations",
            "contributions",
            "refunds",
            "payments",
            "takings",
            "billings",
            "earnings",
            "支出",
            "开支",
            "费用",
        ];
        let main = self.scope.in_scope[0];
        let table = &self.scope.tables[main];
        let root = stem(&self.tokens[i].text);
        // `refunds`, where there is a `refund amount`.
        let own = |c: &crate::table::Column| {
            crate::units::is_money(c) && crate::names::head(&c.full).is_some_and(|h| stem(h) == root)
        };
        let money = table.columns.iter().position(own).or_else(|| crate::units::main_money(table));
        let shared = self.draft.says(Word::Share) && !self.draft.says(Word::Growth);
        if let Some(column) = money.filter(|_| !counted && MONEY.contains(&self.tokens[i].text.as_str()))
            && self.draft.plain_measures().is_empty()
            && !shared
            && !self.draft.says_any(&[Word::HowMany, Word::Count, Word::List, Word::Gt, Word::Lt])
        {
            self.draft.measures.push(Wanted::Plain(ColRef { table: main, column }, None));
        }
        let rows = Wanted::Fixed(Measure::Rows);
        if counted && !self.draft.measures.contains(&rows) {
            self.draft.measures.push(rows);
        }
    }

    pub(super) fn name_rows(&mut self, i: usize) {
        let text = &self.tokens[i].text;
        let singular = match text.strip_suffix("ies").filter(|_| text.is_ascii()) {
            Some(bare) => format!("{bare}y"),
            None if text.is_ascii() => text.strip_suffix('s').unwrap_or(text).to_owned(),
            None => text.clone(),
        };
        self.draft.nouns.push(singular);
    }

    /// A word of the file's name counts nothing: asked how many there are of it, the table does not say.
    pub(super) fn read_file_word(&mut self, i: usize) {
        let asked = matches!(self.before(i), Some(Word::HowMany | Word::Count));
        let noun_follows = matches!(
            self.tokens.get(i + 1).map(|t| &t.tok),
            Some(Tok::Col(..) | Tok::RowNoun | Tok::Val(..) | Tok::Word(Word::Rows))
        );
        if asked && !noun_follows {
            self.draft.lacking.push((usize::MAX, self.tokens[i].text.clone()));
        }
    }
}

/// The one figure whose name begins with what the rows were called: `claim amount` for claims.
pub(super) fn about_nouns(scope: &Scope<'_>, draft: &Draft) -> Option<ColRef> {
    let main = *scope.in_scope.first()?;
    let table = &scope.tables[main];
    let begins = |c: &crate::table::Column| {
        let rest = draft.nouns.iter().find_map(|n| c.full.strip_prefix(n.as_str()));
        c.role == Role::Measure && rest.is_some_and(|r| r.starts_with(' '))
    };
    let found = table.indices(begins);
    found.first().filter(|_| found.len() == 1).map(|column| ColRef { table: main, column: *column })
}

/// `share of the V1 amount … V2`: V1 belongs to the whole, V2 is the part.
pub(super) fn part_comes_last(scope: &Scope<'_>, tokens: &[Token]) -> bool {
    let value = |t: &Token| matches!(t.tok, Tok::Val(..));
    let noun = |t: &Token| match t.tok {
        Tok::Col(c, _) => matches!(scope.role(c), Role::Measure | Role::Id),
        Tok::RowNoun => true,
        _ => false,
    };
    let Some(share) = tokens.iter().position(|t| t.tok == Tok::Word(Word::Share)) else { return false };
    let first = tokens.iter().enumerate().skip(share).find(|(_, t)| value(t)).map(|(i, _)| i);
    let named = first.and_then(|f| tokens.iter().enumerate().skip(f).find(|(_, t)| noun(t)).map(|(i, _)| i));
    named.is_some_and(|n| tokens[n..].iter().any(value))
}

/// `数学60分以上的比例`: a bound said after all values and right before the share.
pub(super) fn bound_comes_last(tokens: &[Token]) -> bool {
    let share = tokens.iter().position(|t| t.tok == Tok::Word(Word::Share) && !t.text.is_ascii());
    let Some(share) = share else { return false };
    let last = tokens[..share].iter().rev().find(|t| matches!(t.tok, Tok::Num(_) | Tok::Val(..)));
    last.is_some_and(|t| matches!(t.tok, Tok::Num(_)))
        && !tokens[share..].iter().any(|t| matches!(t.tok, Tok::Val(..)))
}

fn is_rate(wanted: &Wanted) -> bool {
    matches!(wanted, Wanted::Fixed(Measure::RateYes(_) | Measure::RateIs { .. } | Measure::Ratio { .. }))
}

/// Turns the two figures of a draft into one where the words between them say so.
pub(super) fn pair_up(draft: &mut Draft) {
    if let [Wanted::Plain(a, x), Wanted::Plain(b, y)] = &draft.measures[..]
        && a == b
        && (x == y || x.is_none() || y.is_none())
    {
        // `顺丰的运费占全部运费`: one figure, said twice.
        let agg = x.or(*y);
        draft.measures = vec![Wanted::Plain(*a, agg)];
        draft.part_of = false;
    }
    // `收缴率，就是A除以B`, `A divided by B`.
    if draft.says(Word::Divided) {
        let rated = draft.says_any(&[Word::Rate, Word::Share]);
        match draft.plain_measures()[..] {
            [_, _] if draft.measures.len() == 2 && rated => draft.part_of = true,
            [_, unit] if draft.measures.len() == 2 => draft.per_unit = Some(unit),
            // `签收率，已签收的除以总数`: the rate was told already.
            _ if draft.measures.iter().any(is_rate) => {}
            _ => draft.dangling.push("÷".to_owned()),
        }
    }
    let columns: Vec<ColRef> = draft.plain_measures();
    let ([first, second], true) = (&columns[..], draft.measures.len() == 2) else { return };
    let ratio = |concept: usize, n: ColRef, d: ColRef| {
        let sum = |c| Box::new(Measure::Of(Agg::Sum, c));
        vec![Wanted::Fixed(Measure::Ratio { concept, numerator: sum(n), denominator: sum(d) })]
    };
    if let Some(unit) = draft.per_unit.filter(|u| u == first || u == second) {
        let other = if unit == *first { *second } else { *first };
        draft.measures = ratio(PER, other, unit);
        draft.loose_agg = None;
    } else if draft.part_of {
        draft.measures = ratio(PART, *first, *second);
        draft.words.remove(&Word::Share);
        draft.loose_agg = None;
    }
}
