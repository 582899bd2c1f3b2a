//! What each named column is for: measured, counted, grouped by, or a condition.

use crate::lex::ColRef;
use crate::question::{Agg, Cmp, Grain, Measure, Note};
use crate::read::draft::{Reader, Wanted};
use crate::read::measures::person;
use crate::read::rates::ratio;
use crate::read::tokens::{Tok, Token};
use crate::table::Role;
use crate::word::Word;

impl Reader<'_> {
    pub(super) fn read_columns(&mut self) {
        let mut agg: Option<Agg> = None;
        for i in 0..self.tokens.len() {
            match &self.tokens[i].tok {
                Tok::Word(w) => {
                    // `median gift size overall`: over all of them.
                    let all = *w == Word::Sum && agg.is_some() && self.tokens[i].text != "total";
                    if let Some(a) = w.agg().filter(|_| !all) {
                        let joined = self.before(i) == Some(Word::And);
                        if joined && let Some(Wanted::Plain(column, Some(_))) = self.draft.measures.last() {
                            let again = Wanted::Plain(*column, Some(a));
                            self.draft.measures.push(again);
                        } else if !self.give_to_last(i, a) {
                            self.draft.more_aggs.extend(agg.filter(|_| joined));
                            // `median, overall`: the sum only says that all rows count.
                            if a != Agg::Sum || agg.is_none() {
                                agg = Some(a);
                            }
                        }
                    } else if *w == Word::By {
                        self.draft.loose_agg = self.draft.loose_agg.or(agg.take());
                    }
                    self.count_rows(i, *w);
                }
                Tok::Pctl(p) => agg = Some(Agg::Percentile(*p)),
                Tok::Ratio(_) if self.single_amount(i).is_some() => {
                    let money = self.single_amount(i).map(|c| Wanted::Plain(c, agg.take()));
                    self.draft.measures.extend(money);
                }
                Tok::Ratio(concept) => {
                    if let Some(measure) = ratio(self.scope, *concept) {
                        self.draft.measures.push(Wanted::Fixed(measure));
                    }
                    agg = None;
                }
                Tok::Lacking(concept) => self.count_lacking(i, *concept),
                Tok::RowNoun => self.read_row_noun(i),
                Tok::Per(column) => {
                    self.draft.per_unit = Some(*column);
                    self.draft.measures.push(Wanted::Plain(*column, None));
                    agg = None;
                }
                Tok::Table => self.read_file_word(i),
                // `rentals with damage`, where there is a `damage fee`.
                Tok::Thing(column) if self.is_had(i, *column) => {
                    self.draft.conditioned.push(*column);
                    self.draft.numbers.push((Some(*column), crate::question::Cmp::Gt, 0.0));
                }
                Tok::Col(column, other) if !self.used[i] => {
                    let (column, other) = (*column, *other);
                    if let Some(other) = other {
                        let said = self.tokens[i].text.clone();
                        self.draft.notes.push(Note::Column { said, taken: column, other });
                    } else if self.is_far_fetched(i, column) {
                        let said = self.tokens[i].text.clone();
                        self.draft.notes.push(Note::ReadAs { said, taken: column });
                    }
                    self.read_column(i, column, &mut agg);
                }
                _ => {}
            }
        }
        if let (Some(last), Some(Wanted::Plain(column, slot @ None))) = (agg, self.draft.measures.last_mut())
            && !self.draft.more_aggs.is_empty()
        {
            *slot = Some(last);
            let column = *column;
            let more = std::mem::take(&mut self.draft.more_aggs);
            self.draft.measures.extend(more.into_iter().map(|a| Wanted::Plain(column, Some(a))));
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
        let counting =
            |w: Option<Word>| matches!(w, Some(Word::HowMany | Word::Count | Word::HowMuch | Word::Sum));
        let counted = w == Word::Rows
            && (counting(self.before(i))
                || matches!(self.after(i), Some(Word::CountSuffix | Word::HowMany | Word::HowMuch))
                || self.most(i)
                || self.tokens[i].text.ends_with('数'));
        // `接诊量`: how often it was done.
        let done = w == Word::CountSuffix
            && matches!(self.tokens[i].text.as_str(), "量" | "次数" | "人次")
            && self.tokens[i].start > i.checked_sub(1).map_or(0, |j| self.tokens[j].end)
            && self.draft.measures.is_empty();
        if (counted || done || self.tokens[i].text == "行数" || self.tokens[i].text == "条数")
            && !self.draft.measures.contains(&Wanted::Fixed(Measure::Rows))
        {
            self.draft.measures.push(Wanted::Fixed(Measure::Rows));
        }
    }

    fn read_column(&mut self, i: usize, column: ColRef, agg: &mut Option<Agg>) {
        let by = matches!(self.before(i), Some(Word::By | Word::Which | Word::Who | Word::MostCommon))
            || self.joined_to_dim(i);
        let by = by && !self.asks_whose(i, column);
        let column = self.kind_of_thing(i, self.doer(i, column));
        match self.scope.role(column) {
            Role::Measure if agg.is_none() && self.is_had(i, column) => {
                self.used[i] = true;
                self.draft.conditioned.push(column);
                self.draft.numbers.push((Some(column), crate::question::Cmp::Gt, 0.0));
            }
            Role::Measure if self.is_verb_of_rows(i, column) || self.did_it(i) => self.used[i] = true,
            Role::Measure if agg.is_none() && self.repeats_bound(i, column) => self.used[i] = true,
            Role::Measure
                if self.done_so_often(i, column)
                    || self.object_of_flag(i)
                    || self.verb_of_figure(i, column)
                    || self.bounded_thing(i, column) =>
            {
                self.used[i] = true;
            }
            Role::Measure if self.holds_some(i, column) => {
                self.used[i] = true;
                self.draft.numbers.push((Some(column), Cmp::Gt, 0.0));
                self.draft.conditioned.push(column);
            }
            Role::Measure if self.names_what_rows_are(i, column) => self.read_row_noun(i),
            Role::Measure if self.spent_per(i) => {
                let main = self.scope.in_scope[0];
                let money = crate::units::main_money(&self.scope.tables[main]);
                self.draft
                    .measures
                    .extend(money.map(|c| Wanted::Plain(ColRef { table: main, column: c }, None)));
                self.draft.per_unit = Some(column);
                self.draft.measures.push(Wanted::Plain(column, None));
            }
            Role::Measure if self.is_unit_of_another(i, column) => {
                self.draft.per_unit = Some(column);
                self.draft.measures.push(Wanted::Plain(column, None));
            }
            Role::Measure
                if !self.scope.column(column).full.contains("rate") && self.rate_of_figure(i, column) => {}
            // `消费次数`: how often, not how much.
            Role::Measure
                if matches!(self.after(i), Some(Word::Count | Word::CountSuffix))
                    && self.tokens[i + 1].text != "量"
                    && self.tokens[i + 1].text != "数"
                    && self.tokens[i + 1].start == self.tokens[i].end =>
            {
                self.draft.measures.push(Wanted::Fixed(Measure::Rows));
            }
            Role::Measure => {
                self.draft.part_of |= self.follows_share(i);
                let by = self.before(i) == Some(Word::By)
                    || self.before(i) == Some(Word::Count) && i > 1 && self.before(i - 1) == Some(Word::By);
                let selling = self.draft.says_any(&[Word::BestSelling, Word::WorstSelling]);
                let ranked = selling
                    || self.draft.says_any(&[
                        Word::Top,
                        Word::Bottom,
                        Word::Highest,
                        Word::Lowest,
                        Word::Rank,
                    ]);
                // `top 3 countries by number of nights`: what they are ranked by.
                let ranks = by
                    && self.before(i) == Some(Word::Count)
                    && ranked
                    && (selling || !self.draft.dims.is_empty())
                    || by && ranked && self.ranked_by(i);
                let categorical = self.scope.column(column).distinct <= 30 && by && !self.is_only_measure(i);
                if ranks {
                    self.draft.measures.push(Wanted::Plain(column, Some(Agg::Sum)));
                } else if categorical {
                    self.draft.dims.push(column);
                    self.draft.grouped = true;
                } else {
                    let counted =
                        self.before_values(i) == Some(Word::HowMany) && !self.draft.says(Word::Mean);
                    let summed = counted || self.is_taken_in(i, column);
                    let agg = agg.take().or(summed.then_some(Agg::Sum));
                    for more in std::mem::take(&mut self.draft.more_aggs) {
                        self.draft.measures.push(Wanted::Plain(column, Some(more)));
                    }
                    self.draft.measures.push(Wanted::Plain(column, agg));
                }
            }
            // `per trade`: the rows are trades.
            Role::Time
                if self.before(i) == Some(Word::By)
                    && self.tokens[i - 1].text == "per"
                    && self.names_event(i) =>
            {
                self.draft.names_rows = true;
            }
            Role::Time => {
                self.draft.dates.push(column);
                let said = &self.tokens[i].text;
                self.draft.events |= names_event(said);
                if matches!(self.before(i), Some(Word::By | Word::Which)) && self.draft.grain.is_none() {
                    self.draft.grain = Some(Grain::Day);
                }
            }
            Role::Flag if self.is_set_aside(i) => self.used[i] = true,
            Role::Flag => self.read_flag(i, column, by && self.before(i) != Some(Word::Who)),
            Role::Dimension | Role::Id => self.read_dimension(i, column, by, agg),
        }
    }

    fn names_event(&self, i: usize) -> bool {
        names_event(&self.tokens[i].text)
    }

    /// `A占B`: a share between two figures.
    fn follows_share(&self, i: usize) -> bool {
        let words = &self.tokens[..i];
        let share = words.iter().rposition(|t| t.tok == Tok::Word(Word::Share));
        share.is_some_and(|s| {
            let between = |j: usize| matches!(self.word(Some(j)), None | Some(Word::Sum | Word::HowMuch));
            (s + 1..i).all(between) && !self.draft.measures.is_empty()
        })
    }

    fn is_only_measure(&self, i: usize) -> bool {
        let other = |(j, t): (usize, &Token)| {
            j != i
                && match &t.tok {
                    Tok::Col(c, _) => self.scope.role(*c) == Role::Measure,
                    Tok::Ratio(_) | Tok::Word(Word::HowMany | Word::Count) => true,
                    _ => false,
                }
        };
        !self.tokens.iter().enumerate().any(other)
    }

    /// `by region and product`: what `by` holds for.
    fn joined_to_dim(&self, i: usize) -> bool {
        i >= 2
            && self.before(i) == Some(Word::And)
            && self.col(i - 2).is_some_and(|c| self.draft.dims.contains(&c) && self.draft.grouped)
    }

    /// `the most customers`, `客户最多的`.
    pub(super) fn most(&self, i: usize) -> bool {
        let lead = self.lead(i);
        let before = matches!(self.word(lead), Some(Word::Highest | Word::Lowest))
            && lead.is_some_and(|j| matches!(self.tokens[j].text.as_str(), "most" | "fewest" | "least"));
        let after = self
            .tokens
            .get(i + 1)
            .is_some_and(|t| matches!(t.text.trim_end_matches(['的', '是']), "最多" | "最少"))
            && self.close(i, i + 1);
        before || after
    }

    fn other_dim(&self, i: usize) -> bool {
        self.tokens.iter().enumerate().any(|(j, t)| {
            j != i
                && !self.used[j]
                && match &t.tok {
                    Tok::Col(c, _) => matches!(self.scope.role(*c), Role::Dimension | Role::Id | Role::Flag),
                    Tok::Word(Word::Who) => person(self.scope).is_some(),
                    Tok::Word(w) => is_grain(*w),
                    _ => false,
                }
        })
    }

    fn read_dimension(&mut self, i: usize, column: ColRef, by: bool, agg: &mut Option<Agg>) {
        let touching = |j: usize| self.tokens[j].start == self.tokens[i].end;
        let suffix = self.after(i) == Some(Word::CountSuffix) && touching(i + 1)
            || self.after(i) == Some(Word::Count) && if by { touching(i + 1) } else { self.close(i, i + 1) }
            || self.asked_after(i);
        let suffix = self.counts_despite_quantity(i) || suffix && !self.people_of(i, column);
        let narrowed = !by && self.is_narrowed(i, column);
        if !suffix && (self.is_set_aside(i) || narrowed || self.owner_of_next(i, column)) {
            self.used[i] = true;
            return;
        }
        // `how long do customers rent for`: all of them together.
        if !by && self.is_subject(i) {
            self.used[i] = true;
            return;
        }
        // `total sales for all outlets`: of all together.
        if by && self.draft.says(Word::Sum) && i > 0 && self.tokens[i - 1].text == "for all" {
            self.used[i] = true;
            return;
        }
        // `how many times did a service …`: rows.
        if !by
            && self.tokens.iter().any(|t| t.text == "how many times")
            && matches!(self.before_values(i), Some(Word::Count))
        {
            self.used[i] = true;
            return;
        }
        // `有多少户欠费？按房号算`: different ones are counted.
        if by && self.counted_by(i) {
            let measure = Measure::Of(Agg::Distinct, column);
            self.draft.measures.retain(|m| *m != Wanted::Fixed(Measure::Rows));
            self.draft.measures.push(Wanted::Fixed(measure));
            return;
        }
        // `how many room nights`: the nights are counted.
        if !by && !suffix && self.figure_follows(i) && self.before_values(i) == Some(Word::HowMany) {
            self.used[i] = true;
            return;
        }
        if self.counts_pieces(i, column) || !suffix && self.described_noun(i, by) && !self.before_counts(i) {
            self.used[i] = true;
            self.draft.names_rows |= self.tokens[i].rows;
            return;
        }
        let lead = self.before_values(i);
        let counted = matches!(lead, Some(Word::HowMany | Word::Count | Word::Distinct))
            || suffix
            || lead == Some(Word::HowMuch) && !self.before_is_english(i);
        let per_id = self.before(i) == Some(Word::By)
            && self.tokens[i - 1].text == "per"
            && self.scope.role(column) == Role::Id
            && self.draft.says(Word::Mean);
        let each =
            ["per", "每", "每个", "每台", "每辆", "每位", "每名", "每家", "每一个", "每件", "每张", "each"];
        let per_row = self.before(i) == Some(Word::By)
            && each.contains(&self.tokens[i - 1].text.as_str())
            && (self.draft.says_any(&[Word::Mean, Word::Median, Word::Stddev, Word::Spend]) || agg.is_some())
            && (self.count_of(column) == Measure::Rows || self.tokens[i].rows && self.is_modifier(i, column));
        if self.each_of_many(i, column) {
            self.draft.per_entity = Some(column);
        } else if per_row {
            // The mean over rows is the mean per such thing.
            self.draft.names_rows = true;
            if self.draft.says(Word::HowMuch) && agg.is_none() {
                self.draft.loose_agg = self.draft.loose_agg.or(Some(Agg::Mean));
            }
        } else if per_id {
            self.per(column);
        } else if (counted || self.most(i)) && !by && self.is_modifier(i, column) {
            // `how many guests` is not told by `guest country`.
            if self.tokens[i].rows || self.rows_are_such(i, column) {
                self.read_row_noun(i);
            } else if counted {
                self.draft.lacking.push((usize::MAX, self.tokens[i].text.clone()));
            }
        } else if (counted || self.most(i) && self.other_dim(i)) && (!by || suffix) {
            let text = self.tokens[i].text.as_str();
            let words = &self.scope.column(column).words;
            // `接诊量` of `接诊医生`, `多少人次`: how often.
            let often = self.tokens.get(i + 1).is_some_and(|t| t.text == "量")
                && words.starts_with(text)
                && words != text
                || self.tokens.iter().any(|t| t.text.ends_with("人次"));
            let measure = if often || self.counts_rows(i, column) {
                Measure::Rows
            } else if self.before(i) == Some(Word::Distinct) {
                Measure::Of(Agg::Distinct, self.count_column(column))
            } else {
                self.count_of(column)
            };
            self.draft.measures.push(Wanted::Fixed(measure));
            self.name_rows(i);
            *agg = None;
        } else if self.is_row_noun(i, column, by) {
            self.draft.names_rows |= self.count_of(column) == Measure::Rows;
            self.name_rows(i);
        } else if !self.describes_figure(i, by)
            && (by || !self.is_modifier(i, column))
            && !self.draft.dims.contains(&column)
        {
            self.draft.dims.push(column);
            self.draft.grouped |= by;
        }
    }

    /// The word before a name, values in between aside: `how many female employees`.
    pub(super) fn before_values(&self, i: usize) -> Option<Word> {
        self.word(self.lead(i))
    }

    fn lead(&self, i: usize) -> Option<usize> {
        let skipped = |j: usize| match self.tokens[j].tok {
            Tok::Val(..) | Tok::Table => true,
            Tok::Col(..) => self.used[j] || self.flag_between(j),
            _ => false,
        };
        (0..i).rev().find(|j| !skipped(*j))
    }

    fn flag_between(&self, j: usize) -> bool {
        self.col(j).is_some_and(|c| self.scope.role(c) == Role::Flag)
    }

    pub(super) fn before_is_english(&self, i: usize) -> bool {
        i > 0 && self.tokens[i - 1].text.is_ascii()
    }

    /// `订单数量` counts orders although 数量 is a column as well.
    fn counts_despite_quantity(&mut self, i: usize) -> bool {
        let next = self.tokens.get(i + 1);
        let touching = next.is_some_and(|t| {
            t.text == "数量" && t.start == self.tokens[i].end && matches!(t.tok, Tok::Col(..))
        });
        if touching {
            self.used[i + 1] = true;
        }
        touching
    }
}

/// `admissions`, not `admission date`.
fn names_event(said: &str) -> bool {
    !["date", "time", "日期", "时间", "year", "年份", "month", "月份"].iter().any(|w| said.contains(w))
}

fn is_grain(w: Word) -> bool {
    matches!(
        w,
        Word::Hour | Word::Day | Word::Weekday | Word::Week | Word::Month | Word::Quarter | Word::Year
    )
}
