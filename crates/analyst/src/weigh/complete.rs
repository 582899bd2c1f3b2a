//! From the parts of a reading to a question, with the price of everything said that the question does not answer to.

use jiff::civil::Date;

use crate::lex::ColRef;
use crate::question::{
    Agg, ChartKind, Cmp, Filter, Grain, Group, Intent, Measure, Note, Order, Question, Refusal,
};
use crate::scope;
use crate::table::Role;
use crate::timex::Days;
use crate::weigh::figures::{self, Figures};
use crate::weigh::items::Sense;
use crate::weigh::options::Part;
use crate::weigh::timing::{self, Timing, pick_date, resolve_times, set_order};
use crate::weigh::view::View;
use crate::weigh::{ahead, firsts, growth, misfit, people, share, special, survey, times, unmarked};
use crate::word::Word;

/// What it costs to leave out something that limits the rows: more than any answer may.
const LOST: f32 = 6.0;

/// A question and what it costs to believe it, or why there is none.
pub type Completed = Result<(Question, f32), Refusal>;

/// A question under way, with what it costs so far.
pub struct Built<'a> {
    pub view: &'a View<'a>,
    pub question: Question,
    pub cost: f32,
    /// The filters with the item each came from.
    pub placed: Vec<(usize, Filter)>,
}

pub fn complete(view: &View<'_>, parts: &[(usize, Part)]) -> Completed {
    let mut built = Built::new(view);
    if let Some((intent, cost)) = survey::survey(view, parts) {
        built.question.intent = intent;
        built.cost += cost;
        return built.finish();
    }
    if view.says_any(&[Word::Describe, Word::Columns, Word::Preview]) {
        return Err(Refusal::NothingAsked);
    }
    built.add_filters(parts);
    let mut dims = groups(view, parts, &mut built.cost);
    built.both_ways(&mut dims);
    let grain = parts.iter().find_map(|(_, p)| match p {
        Part::Grain(g) => Some(*g),
        _ => None,
    });
    built.unnamed_group(&mut dims, grain);
    built.note_choices(parts);
    let figures = built.measure(parts);
    let values = built.placed.iter().filter_map(|(_, f)| match f {
        Filter::In { column, values, negated: false } => Some((*column, values.first()?.clone())),
        _ => None,
    });
    let dates = parts.iter().filter_map(|(_, p)| if let Part::Date(c) = p { Some(*c) } else { None });
    let mut timing = Timing {
        dims: dims.clone(),
        grain,
        dates: dates.collect(),
        values: values.collect(),
        ..Timing::of(view, times::times(view, parts))
    };
    let date = pick_date(&timing, &mut built.question.notes);
    built.question.date = date;
    if (grain.is_some() || !timing.times.is_empty()) && date.is_none() {
        return Err(Refusal::NoDate);
    }
    let span = date.and_then(|d| view.scope.column(d).date_span());
    let days = resolve_times(&timing, span, &mut built.question.notes)?;
    let days = timing::settle(&mut timing, days);
    let days = times::base(view, days, span);
    built.set_intent(&figures, &timing, &days, span)?;
    built.place_times(days, date);
    built.finish()
}

pub fn chart(view: &View<'_>) -> Option<ChartKind> {
    let kinds = [
        (Word::ChartLine, ChartKind::Line),
        (Word::ChartBar, ChartKind::Bar),
        (Word::ChartPie, ChartKind::Pie),
        (Word::ChartScatter, ChartKind::Scatter),
        (Word::ChartBox, ChartKind::Box),
        (Word::ChartTable, ChartKind::None),
    ];
    kinds.iter().find(|(w, _)| view.says(*w)).map(|(_, k)| *k)
}

fn groups(view: &View<'_>, parts: &[(usize, Part)], cost: &mut f32) -> Vec<ColRef> {
    let mut dims: Vec<ColRef> = Vec::new();
    for (_, part) in parts {
        if let Part::Group(c) = part
            && !dims.contains(c)
        {
            dims.push(*c);
        }
    }
    if dims.len() > 2 {
        *cost += 2.0;
        dims.truncate(2);
    }
    if dims.len() == 2 && view.superlative().is_some() {
        *cost += 0.6;
    }
    dims
}

impl<'a> Built<'a> {
    pub fn new(view: &'a View<'a>) -> Self {
        let question = Question {
            table: view.scope.in_scope[0],
            joins: Vec::new(),
            intent: Intent::Value,
            measures: Vec::new(),
            groups: Vec::new(),
            filters: Vec::new(),
            having: None,
            order: view.superlative().unwrap_or(Order::Descending),
            limit: view.limit,
            chart: chart(view),
            date: None,
            notes: Vec::new(),
        };
        Self { view, question, cost: 0.0, placed: Vec::new() }
    }
}

impl Built<'_> {
    pub fn add_filters(&mut self, parts: &[(usize, Part)]) {
        for (i, part) in parts {
            let filter = match part {
                Part::Is(column, values, negated) => {
                    let same = self.placed.iter_mut().find_map(|(_, f)| match f {
                        Filter::In { column: c, values, negated: n } if c == column && n == negated => {
                            Some(values)
                        }
                        _ => None,
                    });
                    if let Some(known) = same {
                        let new = values.iter().filter(|v| !known.contains(v)).cloned().collect::<Vec<_>>();
                        known.extend(new);
                        continue;
                    }
                    Filter::In { column: *column, values: values.clone(), negated: *negated }
                }
                Part::Yes(column, yes) => Filter::Yes { column: *column, yes: *yes },
                Part::Empty(column) => Filter::Empty { column: *column },
                Part::Filled(column) => Filter::Filled { column: *column },
                Part::Zero(column) => Filter::Number { column: *column, cmp: Cmp::Eq, value: 0.0 },
                Part::Some(column) => Filter::Number { column: *column, cmp: Cmp::Gt, value: 0.0 },
                _ => continue,
            };
            if !self.placed.iter().any(|(_, f)| *f == filter) {
                self.placed.push((*i, filter));
            }
        }
        // `outside of California (CA)`: the same said again.
        let denied: Vec<(ColRef, Vec<String>)> = self
            .placed
            .iter()
            .filter_map(|(_, f)| match f {
                Filter::In { column, values, negated: true } => Some((*column, values.clone())),
                _ => None,
            })
            .collect();
        // `东店和非东店`: two groups, which one filter cannot tell.
        let again = |f: &Filter| matches!(f, Filter::In { column, values, negated: false } if denied.iter().any(|(c, v)| c == column && v == values));
        if self.view.says_any(&[Word::And, Word::Compare]) && self.placed.iter().any(|(_, f)| again(f)) {
            self.cost += LOST;
        }
        self.placed.retain(|(_, f)| !again(f));
        for (left, cmp, right) in &self.view.against {
            self.placed.push((usize::MAX, Filter::Columns { left: *left, cmp: *cmp, right: *right }));
        }
        for bound in &self.view.bounds {
            match bound.column {
                Some(column) => self
                    .placed
                    .push((usize::MAX, Filter::Number { column, cmp: bound.cmp, value: bound.value })),
                None => self.cost += LOST,
            }
        }
    }

    /// Where another column would have done as well, the user is told.
    fn note_choices(&mut self, parts: &[(usize, Part)]) {
        for (i, part) in parts {
            let (Part::Figure(taken) | Part::Group(taken)) = part else { continue };
            let item = &self.view.items[*i];
            let far = |c: ColRef| {
                item.senses
                    .iter()
                    .filter(|(s, _)| *s == Sense::Column(c))
                    .map(|(_, f)| *f)
                    .fold(9.0, f32::min)
            };
            let other = item.columns().find(|c| {
                c != taken && self.view.role(*c) == self.view.role(*taken) && far(*c) - far(*taken) < 0.1
            });
            if let Some(other) = other.filter(|o| o.table == taken.table) {
                let said = item.text.clone();
                self.question.notes.push(Note::Column { said, taken: *taken, other });
            }
        }
    }

    /// `members and non-members`: both answers of a flag are groups.
    fn both_ways(&mut self, dims: &mut Vec<ColRef>) {
        let said = |yes: bool| {
            self.placed.iter().filter_map(move |(_, f)| match f {
                Filter::Yes { column, yes: y } if *y == yes => Some(*column),
                _ => None,
            })
        };
        let Some(both) = said(true).find(|c| said(false).any(|d| d == *c)) else { return };
        self.placed.retain(|(_, f)| !matches!(f, Filter::Yes { column, .. } if *column == both));
        if !dims.contains(&both) {
            dims.push(both);
        }
        if !self.view.says_any(&[Word::Compare, Word::And, Word::By, Word::Highest, Word::Gt]) {
            self.cost += 1.5;
        }
    }

    /// The figures of the reading, with what is asked beside them.
    fn measure(&mut self, parts: &[(usize, Part)]) -> Figures {
        let view = self.view;
        let figures = Figures::new(view, parts, &mut self.cost);
        self.question.measures.clone_from(&figures.measures);
        // `how many members are there and how much do they pay`: both.
        let counted = |m: &Measure| matches!(m, Measure::Rows | Measure::Of(Agg::Distinct, _));
        let counts = !figures.measures.is_empty() && figures.measures.iter().all(counted);
        if let (true, Some(c)) = (view.asks_amount() && counts, figures::money_for(view)) {
            self.cost += 0.4;
            self.question.measures.push(Measure::Of(Agg::Sum, c));
        }
        for (i, part) in &figures.per {
            if let Part::PerEach(column) = part
                && view.scope.column(*column).nulls > 0
            {
                self.placed.push((*i, Filter::Filled { column: *column }));
            }
        }
        figures
    }

    fn set_intent(
        &mut self,
        figures: &Figures,
        timing: &Timing<'_>,
        days: &[Days],
        span: Option<(Date, Date)>,
    ) -> Result<(), Refusal> {
        let view = self.view;
        let dims = &timing.dims[..];
        self.question.filters = self.placed.iter().map(|(_, f)| f.clone()).collect();
        self.question.groups = dims.iter().map(|d| Group::By(*d)).collect();
        if ahead::settle(self, figures, dims, days, span)?
            || special::settle(self, figures, dims, timing.grain)?
        {
            return Ok(());
        }
        if firsts::settle(self, timing)? {
            return Ok(());
        }
        if self.list_rows(dims, timing.grain) {
            return Ok(());
        }
        if self.extreme_row(figures, dims, timing.grain) {
            return Ok(());
        }
        // `2025春拍比2024秋拍变化了多少`: two values side by side, no two times.
        let pair = self.two_values().filter(|_| view.says_any(&[Word::Growth, Word::Compare]));
        let grown = match pair {
            Some(_) => None,
            None => growth::growth(timing, days, self.question.date, span),
        };
        if let Some(intent) = grown {
            if let (Intent::GrowthSeries(_), Some(date)) = (&intent, self.question.date) {
                self.question.groups = vec![Group::Time(date, timing.grain.unwrap_or(Grain::Month))];
            }
            self.question.intent = intent;
            self.need_measure(figures);
            return Ok(());
        }
        if pair.is_none() && share::settle(self, days) {
            self.need_measure(figures);
            return Ok(());
        }
        if self.mean_per(figures, timing) {
            return Ok(());
        }
        if !self.come_again() {
            self.having(figures, dims);
        }
        if let (Some(grain), Some(date)) = (timing.grain, self.question.date) {
            self.question.groups.truncate(1);
            self.question.groups.insert(0, Group::Time(date, grain));
        } else if view.says(Word::Trend) && pair.is_none() {
            let date = self.question.date.ok_or(Refusal::NoDate)?;
            self.question.groups.truncate(1);
            self.question.groups.insert(0, Group::Time(date, Grain::Month));
        }
        self.compare_values();
        self.need_measure(figures);
        figures::mean_and_total(view, figures, &mut self.question.measures);
        let timed = self.question.groups.iter().any(|g| matches!(g, Group::Time(..)));
        let ranked = view.superlative().is_some();
        self.question.intent = match (self.question.groups.is_empty(), ranked, timed) {
            (true, _, _) => Intent::Value,
            (_, true, _) => Intent::Rank,
            (_, _, true) => Intent::Trend,
            _ => Intent::Breakdown,
        };
        if self.question.intent == Intent::Value {
            let picked =
                self.question.measures.iter().any(|m| matches!(m, Measure::Of(Agg::Max | Agg::Min, _)));
            if ranked && !picked {
                self.cost += 3.0;
            }
            if self.asks_which() {
                self.cost += 2.5;
            }
            let kinds = view.says(Word::Distinct)
                || self.question.measures.iter().any(|m| matches!(m, Measure::Of(Agg::Distinct, _)));
            let divided = self.question.measures.iter().any(|m| matches!(m, Measure::Ratio { .. }));
            // `were bought by holders`
            let passive = [" were ", " was "].iter().any(|w| view.whole.contains(w));
            let done = |i: usize| passive && view.done_by(i);
            // `between 50 and 400 GBP each`
            let trails = |i: usize| view.items[i].text == "each" && i + 1 == view.items.len();
            let by = (0..view.items.len()).any(|i| view.word(i) == Some(Word::By) && !done(i) && !trails(i));
            if by && !view.of_rows() && !kinds && !divided {
                self.cost += 1.5;
            }
        }
        Ok(())
    }

    fn asks_which(&self) -> bool {
        self.view.items.iter().any(|i| i.word() == Some(Word::Which) && i.text != "what" && i.text != "什么")
    }

    /// Gives a question without a figure one, at a price.
    pub fn need_measure(&mut self, figures: &Figures) {
        if !self.question.measures.is_empty() {
            return;
        }
        let (measure, cost) = figures::default(self.view, figures, &self.question);
        self.cost += cost;
        // `fuel per kWh`: nothing to divide.
        if !figures.per.is_empty() && cost > 0.45 {
            self.cost += 2.5;
        }
        if cost > 0.5 {
            self.question.notes.push(Note::DefaultMeasure(measure.clone()));
        }
        self.question.measures.push(measure);
        figures::divided(&figures.per, &mut self.question.measures);
    }

    fn place_times(&mut self, days: Vec<Days>, date: Option<ColRef>) {
        let Some(date) = date else { return };
        match self.question.intent {
            Intent::Change { .. } | Intent::Forecast { .. } => {}
            // A time that is the part of a share does not limit the whole.
            Intent::ShareOf { ref parts } if matches!(parts[..], [Filter::Days { .. }]) => {
                let whole = days.into_iter().map(|days| Filter::Days { column: date, days });
                self.question.filters.extend(whole.filter(|f| !parts.contains(f)).collect::<Vec<_>>());
            }
            _ => {
                if days.len() > 1 {
                    self.cost += 4.0;
                }
                let filters = days.into_iter().map(|days| Filter::Days { column: date, days });
                self.question.filters.extend(filters);
            }
        }
    }

    pub fn finish(mut self) -> Completed {
        let view = self.view;
        set_order(view, &mut self.question);
        self.cost += misfit::misfit(view, &self.question);
        if self.question.limit.is_some_and(|n| n > 1)
            && !matches!(self.question.intent, Intent::Rank | Intent::Trend | Intent::Share)
        {
            self.cost += 1.5;
        }
        // A bound of nothing: `above average`.
        let bounds = (0..view.items.len()).any(|i| {
            let text = view.items[i].text.as_str();
            let bound = matches!(view.word(i), Some(Word::Gt | Word::Ge | Word::Lt | Word::Le));
            bound && !view.spent[i] && !matches!(text, "over" | "more than" | "under" | "超" | "up to")
        });
        if bounds && !view.says_any(&[Word::Growth, Word::Compare]) {
            self.cost += LOST;
        }
        if view.denies_nothing() {
            self.cost += LOST;
        }
        let plain =
            matches!(self.question.intent, Intent::Value | Intent::Breakdown | Intent::Rank | Intent::Trend);
        if let (true, [Measure::Of(Agg::Mean, c)]) =
            (plain && view.aggs().is_empty(), &self.question.measures[..])
        {
            self.question.notes.push(Note::DefaultAgg(Agg::Mean, *c));
        }
        let numbers = view.items.iter().any(|i| {
            i.columns().any(|c| view.role(c) == Role::Id)
                && ["id", "number", "code", "no", "编号", "号", "编码", "代码", "ref"]
                    .iter()
                    .any(|e| i.text.ends_with(e))
        });
        // A count of rows of which nothing is said.
        let main = self.question.table;
        let used = figures::columns(&self.question);
        if self.question.measures == [Measure::Rows]
            && !used.is_empty()
            && used.iter().all(|c| c.table != main)
            && !view.says_row()
        {
            self.cost += 0.6;
        }
        self.join()?;
        unmarked::name_groups(view.scope, numbers, &mut self.question);
        if view.says(Word::Who) {
            people::name_people(view.scope, &mut self.question);
        }
        for join in &self.question.joins {
            self.question.notes.push(Note::Joined { table: join.table, key: join.left });
        }
        scope::prune(view.scope, &mut self.question)?;
        let unknown = view.items.iter().filter(|i| {
            i.senses.iter().any(|(s, _)| matches!(s, Sense::Unknown | Sense::Lacking(_) | Sense::Passed))
        });
        let unknown: Vec<Note> = unknown.map(|i| Note::Ignored(i.text.clone())).collect();
        self.question.notes.extend(unknown);
        Ok((self.question, self.cost))
    }

    /// The joins that the columns in use need.
    fn join(&mut self) -> Result<(), Refusal> {
        let mut used: Vec<usize> = vec![self.question.table];
        for c in figures::columns(&self.question) {
            if !used.contains(&c.table) {
                used.push(c.table);
            }
        }
        self.question.joins = scope::joins(self.view.scope.tables, &used)?;
        Ok(())
    }
}
