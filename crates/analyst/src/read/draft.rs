//! From tokens to a draft: which columns are measured, grouped by, filtered. Patterns over neighbouring tokens;
//! nothing here knows SQL.

use std::collections::HashSet;

use crate::glossary::ConceptRole;
use crate::lex::ColRef;
use crate::question::{Agg, ChartKind, Cmp, Grain, Measure, Note, Order};
use crate::read::tokens::{Scope, Tok, Token};
use crate::table::Role;
use crate::timex::When;
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
    /// `by` or `which` came with a dimension.
    pub grouped: bool,
    pub notes: Vec<Note>,
}

impl Draft {
    pub fn says(&self, word: Word) -> bool {
        self.words.contains(&word)
    }

    pub fn says_any(&self, words: &[Word]) -> bool {
        words.iter().any(|w| self.says(*w))
    }
}

struct Reader<'a> {
    scope: &'a Scope<'a>,
    tokens: &'a [Token],
    used: Vec<bool>,
    draft: Draft,
}

pub fn draft(scope: &Scope<'_>, tokens: &[Token]) -> Draft {
    let mut reader = Reader { scope, tokens, used: vec![false; tokens.len()], draft: Draft::default() };
    reader.collect_words();
    reader.read_times();
    reader.read_values();
    reader.read_numbers();
    reader.read_columns();
    reader.draft
}

impl Reader<'_> {
    fn word(&self, i: Option<usize>) -> Option<Word> {
        match self.tokens.get(i?)?.tok {
            Tok::Word(w) => Some(w),
            _ => None,
        }
    }

    fn before(&self, i: usize) -> Option<Word> {
        self.word(i.checked_sub(1))
    }

    fn after(&self, i: usize) -> Option<Word> {
        self.word(Some(i + 1))
    }

    fn col(&self, i: usize) -> Option<ColRef> {
        match self.tokens.get(i)?.tok {
            Tok::Col(c, _) => Some(c),
            _ => None,
        }
    }

    /// Nothing but a joining word between two tokens.
    fn close(&self, i: usize, j: usize) -> bool {
        self.tokens[j].start.saturating_sub(self.tokens[i].end) <= 2
    }

    fn collect_words(&mut self) {
        for (i, token) in self.tokens.iter().enumerate() {
            match &token.tok {
                Tok::Word(w) => self.note_word(i, *w),
                Tok::Beyond(b) => self.draft.beyond.push(*b),
                Tok::Pctl(p) => self.draft.loose_agg = Some(Agg::Percentile(*p)),
                Tok::Lacking(c) => self.draft.lacking.push((*c, token.text.clone())),
                _ => {}
            }
        }
    }

    fn note_word(&mut self, i: usize, w: Word) {
        self.draft.words.insert(w);
        let grain = match w {
            Word::Hour => Some(Grain::Hour),
            Word::Day => Some(Grain::Day),
            Word::Week => Some(Grain::Week),
            Word::Weekday => Some(Grain::Weekday),
            Word::Month => Some(Grain::Month),
            Word::Quarter => Some(Grain::Quarter),
            Word::Year => Some(Grain::Year),
            _ => None,
        };
        // `12 months` counts, it does not group.
        let counted = i > 0 && matches!(self.tokens[i - 1].tok, Tok::Num(_)) && self.before(i - 1) != Some(Word::By);
        if grain.is_some() && !counted && self.draft.grain.is_none() {
            self.draft.grain = grain;
        }
        let chart = match w {
            Word::ChartLine => Some(ChartKind::Line),
            Word::ChartBar => Some(ChartKind::Bar),
            Word::ChartPie => Some(ChartKind::Pie),
            Word::ChartScatter => Some(ChartKind::Scatter),
            Word::ChartBox => Some(ChartKind::Box),
            Word::ChartTable => Some(ChartKind::None),
            _ => None,
        };
        self.draft.chart = chart.or(self.draft.chart);
        match w {
            Word::Bottom | Word::Lowest | Word::Ascending | Word::WorstSelling | Word::Slowest => self.draft.order = Some(Order::Ascending),
            Word::Top | Word::Highest | Word::Descending | Word::BestSelling | Word::Fastest | Word::MostCommon => {
                self.draft.order = self.draft.order.or(Some(Order::Descending));
            }
            _ => {}
        }
    }

    fn read_times(&mut self) {
        for token in self.tokens {
            if let Tok::Time(when) = token.tok {
                self.draft.times.push(when);
            }
        }
        // A year said apart from its month: `in March … 2024`.
        let years: Vec<_> = self.draft.times.iter().filter_map(|t| t.year()).collect();
        if let [year] = years[..]
            && self.draft.times.len() > 1
            && self.draft.times.iter().any(|t| t.lacks_year())
        {
            self.draft.times.retain(|t| t.year().is_none());
            for time in &mut self.draft.times {
                *time = time.in_year(year);
            }
        }
    }

    fn read_values(&mut self) {
        let mut excluding = false;
        for i in 0..self.tokens.len() {
            match &self.tokens[i].tok {
                Tok::Word(Word::Exclude) => excluding = true,
                Tok::Word(Word::And) => {}
                Tok::Val(column, value) => {
                    self.draft.values.push((*column, value.clone(), excluding));
                    self.used[i] = true;
                    self.swallow_name(i, *column);
                }
                Tok::Col(c, _) if excluding && self.scope.role(*c) == Role::Dimension => {}
                Tok::Col(c, _) if excluding && self.scope.role(*c) == Role::Flag => {}
                _ => excluding = false,
            }
        }
    }

    /// `地区为华东`, `the East region`: the column's name beside its value says nothing more.
    fn swallow_name(&mut self, i: usize, column: ColRef) {
        let mut j = i;
        if j > 0 && self.before(i) == Some(Word::Equal) {
            j -= 1;
        }
        if j > 0 && self.col(j - 1) == Some(column) && !matches!(self.before(j - 1), Some(Word::By | Word::Which)) && self.close(j - 1, j) {
            self.used[j - 1] = true;
        }
        let next_is_name = self.col(i + 1).is_some_and(|c| c == column || self.same_concept(c, column));
        if next_is_name && self.close(i, i + 1) && self.after(i + 1) != Some(Word::CountSuffix) && self.scope.role(column) != Role::Id {
            self.used[i + 1] = true;
        }
    }

    fn same_concept(&self, a: ColRef, b: ColRef) -> bool {
        self.scope.column(a).concepts.iter().any(|(id, _)| self.scope.column(b).has_concept(id))
    }

    fn read_numbers(&mut self) {
        let mut i = 0;
        while i < self.tokens.len() {
            if let Tok::Num(n) = self.tokens[i].tok {
                i = self.read_number(i, n);
            } else {
                i += 1;
            }
        }
    }

    fn read_number(&mut self, i: usize, n: f64) -> usize {
        if let Some(Tok::Num(m)) = self.tokens.get(i + 2).map(|t| &t.tok)
            && matches!(self.after(i), Some(Word::And | Word::To))
            && (self.after(i) == Some(Word::To) || self.before(i) == Some(Word::Between))
        {
            let column = self.subject(i);
            self.draft.numbers.push((column, Cmp::Ge, n));
            self.draft.numbers.push((column, Cmp::Le, *m));
            return i + 3;
        }
        let before = self.before(i).and_then(comparison);
        let after = self.after(i).and_then(comparison).filter(|_| self.close(i, i + 1));
        let after = after.filter(|_| matches!(self.tokens[i + 1].text.as_str(), "以上" | "以上的" | "以下" | "以下的" | "及以上" | "及以下" | "or more" | "or less" | "or fewer"));
        let cmp = after.map(|c| if c == Cmp::Gt { Cmp::Ge } else if c == Cmp::Lt && self.tokens[i + 1].text.starts_with("以下") { Cmp::Le } else { c });
        if let Some(cmp) = cmp.or(before) {
            let column = self.subject(i);
            self.draft.numbers.push((column, cmp, n));
            return i + 1;
        }
        let whole = n.fract() == 0.0 && (1.0..=1000.0).contains(&n);
        let near = [self.before(i), self.after(i)];
        let ranking = |w: &Option<Word>| {
            matches!(w, Some(Word::Top | Word::Bottom | Word::Highest | Word::Lowest | Word::BestSelling | Word::WorstSelling | Word::Preview))
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a small whole number")]
        if whole && near.iter().any(ranking) {
            self.draft.limit = Some(n as usize);
        } else if self.before(i) == Some(Word::Equal) && i >= 2 && self.col(i - 2).is_some_and(|c| self.scope.column(c).is_numeric()) {
            let column = self.subject(i);
            self.draft.numbers.push((column, Cmp::Eq, n));
        } else {
            self.draft.stray_numbers.push(n);
        }
        i + 1
    }

    /// The numeric column a condition is about: the nearest before it, else the next one.
    fn subject(&mut self, i: usize) -> Option<ColRef> {
        let numeric = |j: &usize| self.col(*j).filter(|c| self.scope.role(*c) == Role::Measure);
        let found = (i.saturating_sub(4)..i).rev().find(|j| numeric(j).is_some()).or_else(|| (i + 1..(i + 3).min(self.tokens.len())).find(|j| numeric(j).is_some()));
        let column = found.and_then(|j| self.col(j));
        if let (Some(j), Some(c)) = (found, column) {
            self.used[j] = true;
            self.draft.conditioned.push(c);
        }
        column
    }

    fn read_columns(&mut self) {
        let mut agg: Option<Agg> = None;
        for i in 0..self.tokens.len() {
            match &self.tokens[i].tok {
                Tok::Word(w) => {
                    if let Some(a) = aggregate(*w) {
                        if !self.give_to_last(i, a) {
                            agg = Some(a);
                        }
                    } else if *w == Word::By {
                        agg = None;
                    }
                    self.count_rows(i, *w);
                }
                Tok::Pctl(p) => agg = Some(Agg::Percentile(*p)),
                Tok::Ratio(concept) => {
                    if let Some(measure) = ratio(self.scope, *concept) {
                        self.draft.measures.push(Wanted::Fixed(measure));
                    }
                    agg = None;
                }
                Tok::Lacking(concept) => self.count_lacking(i, *concept),
                Tok::Col(column, other) if !self.used[i] => {
                    let (column, other) = (*column, *other);
                    if let Some(other) = other {
                        let said = self.tokens[i].text.clone();
                        self.draft.notes.push(Note::Column { said, taken: column, other });
                    }
                    self.read_column(i, column, &mut agg);
                }
                _ => {}
            }
        }
        if agg.is_some() {
            self.draft.loose_agg = self.draft.loose_agg.or(agg);
        }
    }

    /// `价格平均值`: the aggregate follows its measure.
    fn give_to_last(&mut self, i: usize, agg: Agg) -> bool {
        let follows = i > 0 && self.col(i - 1).is_some() && self.tokens[i].start == self.tokens[i - 1].end;
        if let (true, Some(Wanted::Plain(_, slot @ None))) = (follows, self.draft.measures.last_mut()) {
            *slot = Some(agg);
            return true;
        }
        false
    }

    fn count_rows(&mut self, i: usize, w: Word) {
        let counting = |w: Option<Word>| matches!(w, Some(Word::HowMany | Word::Count | Word::HowMuch | Word::Sum));
        let counted = w == Word::Rows && (counting(self.before(i)) || self.after(i) == Some(Word::CountSuffix) || self.tokens[i].text.ends_with('数'));
        if (counted || self.tokens[i].text == "行数" || self.tokens[i].text == "条数") && !self.draft.measures.contains(&Wanted::Fixed(Measure::Rows)) {
            self.draft.measures.push(Wanted::Fixed(Measure::Rows));
        }
    }

    /// `how many orders` of a table without order numbers: its rows, when a row is such a thing.
    fn count_lacking(&mut self, i: usize, concept: usize) {
        let role = self.scope.glossary.concepts[concept].role;
        let people = self.scope.glossary.concepts[concept].id == "employee";
        let table = &self.scope.tables[self.scope.in_scope[0]];
        let named = self.scope.glossary.concepts[concept].names.iter().any(|n| n.len() > 3 && crate::norm::name_words(&table.filename).contains(n.as_str()));
        let counting = matches!(self.before(i), Some(Word::HowMany | Word::Count | Word::HowMuch)) || self.after(i) == Some(Word::CountSuffix) || self.tokens[i].text == "人数";
        if role == ConceptRole::Entity && (named || people) {
            self.draft.lacking.retain(|(c, _)| *c != concept);
            if counting {
                self.draft.measures.push(Wanted::Fixed(Measure::Rows));
            }
        }
    }

    fn read_column(&mut self, i: usize, column: ColRef, agg: &mut Option<Agg>) {
        let by = matches!(self.before(i), Some(Word::By | Word::Which | Word::Who | Word::MostCommon)) || self.joined_to_dim(i);
        match self.scope.role(column) {
            Role::Measure => {
                let categorical = self.scope.column(column).distinct <= 30 && self.before(i) == Some(Word::By) && !self.is_only_measure(i);
                if categorical {
                    self.draft.dims.push(column);
                    self.draft.grouped = true;
                } else {
                    let wanted = Wanted::Plain(column, agg.take());
                    self.draft.measures.push(wanted);
                }
            }
            Role::Time => {
                self.draft.dates.push(column);
                if matches!(self.before(i), Some(Word::By | Word::Which)) && self.draft.grain.is_none() {
                    self.draft.grain = Some(Grain::Day);
                }
            }
            Role::Flag => self.read_flag(i, column, by),
            Role::Dimension | Role::Id => self.read_dimension(i, column, by, agg),
        }
    }

    fn is_only_measure(&self, i: usize) -> bool {
        let other = |(j, t): (usize, &Token)| {
            j != i && match &t.tok {
                Tok::Col(c, _) => self.scope.role(*c) == Role::Measure,
                Tok::Ratio(_) | Tok::Word(Word::HowMany | Word::Count) => true,
                _ => false,
            }
        };
        !self.tokens.iter().enumerate().any(other)
    }

    /// `by region and product`: what `by` holds for.
    fn joined_to_dim(&self, i: usize) -> bool {
        i >= 2 && self.before(i) == Some(Word::And) && self.col(i - 2).is_some_and(|c| self.draft.dims.contains(&c) && self.draft.grouped)
    }

    fn read_flag(&mut self, i: usize, column: ColRef, by: bool) {
        let counted = matches!(self.before(i), Some(Word::HowMany | Word::Count)) || matches!(self.after(i), Some(Word::CountSuffix | Word::Count)) || self.before(i) == Some(Word::HowMuch);
        let rated = matches!(self.after(i), Some(Word::Rate | Word::Share)) || self.draft.says_any(&[Word::Share, Word::Rate]);
        let negated = matches!(self.before(i), Some(Word::Exclude)) || i > 0 && matches!(self.tokens[i - 1].text.as_str(), "未" | "没有");
        if by {
            self.draft.dims.push(column);
            self.draft.grouped = true;
        } else if rated {
            self.draft.measures.push(Wanted::Fixed(Measure::RateYes(column)));
        } else if counted || self.most(i) {
            self.draft.measures.push(Wanted::Fixed(Measure::CountYes(column)));
        } else {
            self.draft.flags.push((column, !negated));
        }
    }

    /// `the most customers`, `客户最多的`.
    fn most(&self, i: usize) -> bool {
        let before = matches!(self.before(i), Some(Word::Highest | Word::Lowest)) && matches!(self.tokens[i - 1].text.as_str(), "most" | "fewest" | "least" | "最多" | "最少");
        let after = self.tokens.get(i + 1).is_some_and(|t| matches!(t.text.as_str(), "最多" | "最少")) && self.close(i, i + 1);
        before || after
    }

    fn other_dim(&self, i: usize) -> bool {
        self.tokens.iter().enumerate().any(|(j, t)| {
            j != i && !self.used[j] && match &t.tok {
                Tok::Col(c, _) => matches!(self.scope.role(*c), Role::Dimension | Role::Id | Role::Flag),
                Tok::Word(Word::Day | Word::Week | Word::Month | Word::Quarter | Word::Year) => true,
                _ => false,
            }
        })
    }

    fn read_dimension(&mut self, i: usize, column: ColRef, by: bool, agg: &mut Option<Agg>) {
        let suffix = self.after(i) == Some(Word::CountSuffix) && self.tokens[i + 1].start == self.tokens[i].end
            || self.counts_despite_quantity(i)
            || self.after(i) == Some(Word::Count) && self.close(i, i + 1);
        let counted = matches!(self.before(i), Some(Word::HowMany | Word::Count | Word::Distinct)) || suffix || self.before(i) == Some(Word::HowMuch) && !self.before_is_english(i);
        let per_id = self.before(i) == Some(Word::By) && self.tokens[i - 1].text == "per" && self.scope.role(column) == Role::Id && self.draft.says(Word::Mean);
        if per_id {
            self.per(column);
        } else if (counted || self.most(i) && self.other_dim(i)) && (!by || suffix) {
            let best = self.count_column(column);
            let total_of_rows = self.scope.column(best).distinct >= self.scope.tables[best.table].rows;
            let measure = if total_of_rows && self.before(i) != Some(Word::Distinct) { Measure::Rows } else { Measure::Of(Agg::Distinct, best) };
            self.draft.measures.push(Wanted::Fixed(measure));
            *agg = None;
        } else if !self.draft.dims.contains(&column) {
            self.draft.dims.push(column);
            self.draft.grouped |= by;
        }
    }

    fn before_is_english(&self, i: usize) -> bool {
        i > 0 && self.tokens[i - 1].text.is_ascii()
    }

    /// `订单数量` counts orders although 数量 is a column as well.
    fn counts_despite_quantity(&mut self, i: usize) -> bool {
        let next = self.tokens.get(i + 1);
        let touching = next.is_some_and(|t| t.text == "数量" && t.start == self.tokens[i].end && matches!(t.tok, Tok::Col(..)));
        if touching {
            self.used[i + 1] = true;
        }
        touching
    }

    /// Counting goes by number, not by name, where there is one.
    fn count_column(&self, column: ColRef) -> ColRef {
        let concepts = &self.scope.column(column).concepts;
        let id = concepts.iter().flat_map(|(c, _)| self.scope.concept_columns(c)).find(|(c, q)| *q == 3 && self.scope.role(*c) == Role::Id && c.table == column.table);
        id.map_or(column, |(c, _)| c)
    }

    /// `average revenue per customer`: the total over the number of customers.
    fn per(&mut self, entity: ColRef) {
        if let Some(Wanted::Plain(column, _)) = self.draft.measures.pop() {
            let numerator = Box::new(Measure::Of(Agg::Sum, column));
            let denominator = Box::new(Measure::Of(Agg::Distinct, entity));
            self.draft.measures.push(Wanted::Fixed(Measure::Ratio { concept: usize::MAX, numerator, denominator }));
        } else {
            self.draft.dims.push(entity);
        }
    }
}

/// A ratio concept over the columns in scope.
pub fn ratio(scope: &Scope<'_>, concept: usize) -> Option<Measure> {
    let (n, d) = scope.glossary.concepts[concept].terms.as_ref()?;
    let term = |t: &str| match t.strip_prefix("count:") {
        Some(entity) => {
            let columns = scope.concept_columns(entity);
            let id = columns.iter().find(|(c, _)| scope.role(*c) == Role::Id).or(columns.first());
            Some(id.map_or(Measure::Rows, |(c, _)| Measure::Of(Agg::Distinct, *c)))
        }
        None => scope.concept_columns(t).first().map(|(c, _)| Measure::Of(Agg::Sum, *c)),
    };
    Some(Measure::Ratio { concept, numerator: Box::new(term(n)?), denominator: Box::new(term(d)?) })
}

fn comparison(w: Word) -> Option<Cmp> {
    Some(match w {
        Word::Gt => Cmp::Gt,
        Word::Ge => Cmp::Ge,
        Word::Lt => Cmp::Lt,
        Word::Le => Cmp::Le,
        _ => return None,
    })
}

fn aggregate(w: Word) -> Option<Agg> {
    Some(match w {
        Word::Sum => Agg::Sum,
        Word::Mean => Agg::Mean,
        Word::Median => Agg::Median,
        Word::Max => Agg::Max,
        Word::Min => Agg::Min,
        Word::Stddev => Agg::StdDev,
        Word::Variance => Agg::Variance,
        _ => return None,
    })
}
