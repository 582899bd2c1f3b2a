//! Numbers in a question: bounds, ranges, how many to show, and which column they are about.

use crate::lex::ColRef;
use crate::names::{seconds, stem};
use crate::question::{Cmp, Measure};
use crate::read::draft::{Reader, Wanted, comparison};
use crate::read::tokens::Tok;
use crate::table::{Kind, Role};
use crate::units;
use crate::word::Word;

impl Reader<'_> {
    pub(super) fn read_numbers(&mut self) {
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
            let said_last = self.following(i + 2).is_some() || self.unit_said(i + 2).is_some();
            let column = self.subject(if said_last { i + 2 } else { i });
            self.draft.numbers.push((column, Cmp::Ge, n));
            self.draft.numbers.push((column, Cmp::Le, *m));
            return i + 3;
        }
        if self.tightens_bound(i, n) {
            return i + 1;
        }
        let before = self.before(i).and_then(comparison);
        let after = self.after(i).and_then(comparison).filter(|_| self.close(i, i + 1));
        let after = after.filter(|_| {
            matches!(
                self.tokens[i + 1].text.as_str(),
                "以上"
                    | "以上的"
                    | "以下"
                    | "以下的"
                    | "及以上"
                    | "及以下"
                    | "or more"
                    | "or less"
                    | "or fewer"
            )
        });
        let after_unit = self.bound_after_unit(i);
        let cmp = after_unit.or(after.map(|c| {
            if c == Cmp::Gt {
                Cmp::Ge
            } else if c == Cmp::Lt && self.tokens[i + 1].text.starts_with("以下") {
                Cmp::Le
            } else {
                c
            }
        }));
        if let Some(cmp) = cmp.or(before).map(|c| self.bound_said_again(i, c)) {
            if self.counts_things(i) || self.counts_times(i) {
                self.draft.counts = Some((cmp, n));
                return i + 1;
            }
            let column = self.subject(i);
            let n = self.in_units_of(i, n, column);
            self.draft.numbers.push((column, cmp, n));
            return i + 1;
        }
        let whole = n.fract() == 0.0 && (1.0..=1000.0).contains(&n);
        let near = [self.before(i), self.after(i)];
        let ranking = |w: &Option<Word>| {
            matches!(
                w,
                Some(
                    Word::Top
                        | Word::Bottom
                        | Word::Highest
                        | Word::Lowest
                        | Word::BestSelling
                        | Word::WorstSelling
                        | Word::Preview
                )
            )
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be a small whole number"
        )]
        if whole && near.iter().any(ranking) {
            self.draft.limit = Some(n as usize);
        } else if whole && self.limits(i) {
            // `which three campaigns … the least`
            self.draft.limit = Some(n as usize);
        } else if self.before(i) == Some(Word::Equal)
            && i >= 2
            && self.col(i - 2).is_some_and(|c| self.scope.column(c).is_numeric())
        {
            let column = self.subject(i);
            self.draft.numbers.push((column, Cmp::Eq, n));
        } else if let Some(column) = self.by_unit(i).filter(|c| self.scope.column(*c).distinct <= 30) {
            // `400毫升的`
            self.draft.conditioned.push(column);
            self.draft.numbers.push((Some(column), Cmp::Eq, n));
        } else if let Some((at, column)) = self.exact_count(i) {
            self.used[at] = true;
            self.draft.numbers.push((Some(column), Cmp::Eq, n));
        } else if let Some(all) = self.col(i + 1).filter(|c| self.names_all(*c, n)) {
            // `三个水厂`, where there are three: all of them, one by one where they are compared.
            const APART: [Word; 7] =
                [Word::Compare, Word::Rank, Word::By, Word::Highest, Word::Lowest, Word::Which, Word::Share];
            self.used[i + 1] = true;
            self.draft.nouns.push(self.scope.column(all).full.clone());
            if self.draft.says_any(&APART) {
                self.draft.dims.push(all);
                self.draft.grouped = true;
            }
        } else {
            self.draft.stray_numbers.push(n);
        }
        i + 1
    }

    /// `30岁以下（不含30岁）`, `from 5 to 10, excluding 10`: whether the bound itself counts.
    fn tightens_bound(&mut self, i: usize, n: f64) -> bool {
        let out = self.before(i) == Some(Word::Exclude);
        let before: String = self.text[..self.tokens[i].start].iter().collect();
        let kept =
            ["(含", "(包含", "(包括", "including ", "inclusive of "].iter().any(|w| before.ends_with(w));
        let Some((_, cmp, _)) = self.draft.numbers.iter_mut().rev().find(|(_, _, m)| *m == n) else {
            return false;
        };
        *cmp = match (*cmp, out, kept) {
            (Cmp::Le, true, _) => Cmp::Lt,
            (Cmp::Ge, true, _) => Cmp::Gt,
            (Cmp::Lt, _, true) => Cmp::Le,
            (Cmp::Gt, _, true) => Cmp::Ge,
            (same, _, _) => same,
        };
        out || kept
    }

    /// `7 nights or longer`, `30 minutes or less`, `4 or higher`: the bound comes last.
    fn bound_after_unit(&self, i: usize) -> Option<Cmp> {
        let bound = |j: usize| {
            let said =
                self.tokens.get(j).is_some_and(|t| t.text.starts_with("or ") || t.text.starts_with("and "));
            self.word(Some(j)).and_then(comparison).filter(|_| said)
        };
        let near = |j: usize, most: usize| {
            self.tokens.get(j).is_some_and(|t| t.start.saturating_sub(self.tokens[j - 1].end) <= most)
        };
        // Units are no tokens any more.
        let spoken = self.unit_after(self.tokens[i].end).is_some();
        let unit = match self.tokens.get(i + 1).map(|t| &t.tok) {
            Some(Tok::Col(c, _)) => self.scope.role(*c) == Role::Measure,
            Some(Tok::Word(Word::Day | Word::Week | Word::Month | Word::Year | Word::Hour)) => true,
            _ => false,
        };
        bound(i + 1)
            .filter(|_| near(i + 1, if spoken { 15 } else { 1 }))
            .or_else(|| bound(i + 2).filter(|_| unit && near(i + 1, 1) && near(i + 2, 1)))
    }

    /// `more than 3 guests`, `7 or more nights`: the figure a number is said of, right after it.
    fn following(&self, i: usize) -> Option<usize> {
        let bound = self.tokens.get(i + 1).is_some_and(|t| t.text.starts_with("or "));
        let j = if bound && self.after(i).and_then(comparison).is_some() { i + 2 } else { i + 1 };
        let near = self.tokens.get(j)?.start.saturating_sub(self.tokens[j - 1].end) == 1;
        let figure = self.col(j).is_some_and(|c| self.scope.role(c) == Role::Measure);
        (near && figure && self.tokens[j].text.is_ascii()).then_some(j)
    }

    /// `total cost of orders between 5 and 10`: the figure is asked for as well as bounded.
    fn asked_of_rows(&self, figure: usize, i: usize) -> bool {
        let rows = |t: &crate::read::tokens::Token| match t.tok {
            Tok::RowNoun => true,
            Tok::Col(c, _) => self.scope.role(c) == Role::Id,
            _ => t.rows,
        };
        figure < i && self.tokens[figure].text.is_ascii() && self.tokens[figure + 1..i].iter().any(rows)
    }

    /// `bookings that stay 7 nights or longer`: the verb is about the figure that is bounded, and asks for nothing.
    pub(super) fn repeats_bound(&self, i: usize, column: ColRef) -> bool {
        let root = stem(&self.tokens[i].text);
        let named = self.scope.column(column).full.split(' ').any(|w| stem(w) == root);
        let bounded = self.draft.numbers.iter().any(|(c, _, _)| *c == Some(column));
        bounded && !named && self.draft.says(Word::HowMany) && self.tokens[i].text.is_ascii()
    }

    /// `which drinks make up 80% of the cups`: the fewest that do.
    pub(super) fn read_part_of_all(&mut self) {
        let part = self.draft.stray_numbers.iter().any(|n| *n > 0.0 && *n < 1.0);
        let asks = self.draft.says_any(&[Word::HowMany, Word::Which, Word::Who, Word::HowMuch]);
        let whose = !self.draft.dims.is_empty()
            || self
                .draft
                .measures
                .iter()
                .any(|m| matches!(m, Wanted::Fixed(Measure::Of(crate::question::Agg::Distinct, _))));
        if part && asks && whose && self.draft.says(Word::Share) && self.draft.numbers.is_empty() {
            self.draft.words.insert(Word::Pareto);
        }
    }

    fn limits(&self, i: usize) -> bool {
        let ranked = |t: &crate::read::tokens::Token| {
            matches!(t.tok, Tok::Word(Word::Highest | Word::Lowest | Word::BestSelling | Word::WorstSelling))
        };
        let things = match self.tokens.get(i + 1).map(|t| &t.tok) {
            Some(Tok::Col(c, _)) => self.scope.role(*c) != Role::Measure,
            Some(Tok::RowNoun) => true,
            _ => false,
        };
        things && self.tokens.iter().any(ranked)
    }

    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    fn names_all(&self, column: ColRef, n: f64) -> bool {
        self.scope.role(column) == Role::Dimension && self.scope.column(column).distinct as f64 == n
    }

    /// `3 bedroom homes`: a whole number right before a column of few whole numbers.
    fn exact_count(&self, i: usize) -> Option<(usize, ColRef)> {
        let few = |j: usize| {
            let column = self.col(j)?;
            let found = self.scope.column(column);
            let whole = found.kind == Kind::Integer && found.role == Role::Measure && found.distinct <= 30;
            whole.then_some((j, column))
        };
        let after = few(i + 1).filter(|_| self.close(i, i + 1));
        // `a term of 60 months`
        let before =
            i.checked_sub(1).filter(|j| self.tokens[i].start - self.tokens[*j].end <= 4).and_then(few);
        after.or(before)
    }

    /// `more than 50 employees`: the number counts things.
    fn counts_things(&mut self, i: usize) -> bool {
        let Some(column) = self.col(i + 1).filter(|_| self.close(i, i + 1)) else { return false };
        // `超过600分钟的报修`: a length, whatever follows.
        if self.tokens[i].text.ends_with('分')
            || self.unit_said(i).is_some_and(|u| !matches!(u, units::Unit::Person | units::Unit::Piece))
        {
            return false;
        }
        let measured = |j: usize| self.col(j).is_some_and(|c| self.scope.role(c) == Role::Measure);
        if (i.saturating_sub(4)..i).any(measured) {
            return false;
        }
        let thing = matches!(self.scope.role(column), Role::Dimension | Role::Id);
        if thing {
            self.used[i + 1] = true;
            let rows = self.counts_rows(i + 1, column);
            let measure = if rows { Measure::Rows } else { self.count_of(column) };
            self.draft.measures.push(Wanted::Fixed(measure));
        }
        thing
    }

    /// `more than 5 times`, `超过3次`: how often, where no column holds such a number.
    fn counts_times(&mut self, i: usize) -> bool {
        let next = self.tokens.get(i + 1);
        let after: String = self.text[self.tokens[i].end..].iter().take(6).collect();
        let times =
            after.trim_start().starts_with("times") || after.starts_with('次') || after.starts_with('回');
        let rows = next.is_some_and(|t| t.tok == Tok::RowNoun) && self.close(i, i + 1);
        let measured = |j: usize| self.col(j).is_some_and(|c| self.scope.role(c) == Role::Measure);
        let figure =
            (i.saturating_sub(4)..i).any(measured) || self.only_in(units::Unit::Piece).is_some() && !rows;
        if !(times || rows) || figure || self.draft.measures.contains(&Wanted::Fixed(Measure::Rows)) {
            return false;
        }
        self.draft.measures.push(Wanted::Fixed(Measure::Rows));
        true
    }

    /// `longer than 5 minutes` of a column in seconds is 300.
    fn in_units_of(&self, i: usize, n: f64, column: Option<ColRef>) -> f64 {
        // `8%` of a column that goes to 100.
        let high = column.and_then(|c| self.scope.column(c).max.as_deref().and_then(crate::observe::number));
        if self.tokens[i].text.contains('%') && high.is_some_and(|h| h > 1.0) {
            return n * 100.0;
        }
        let said = seconds(&self.tokens[i].text).or_else(|| self.unit_said(i).and_then(units::seconds));
        let held = column.and_then(|c| {
            let column = self.scope.column(c);
            let named = seconds(&column.words).or_else(|| seconds(&crate::norm::normal(&column.name)));
            named.or_else(|| units::of(column).and_then(units::seconds))
        });
        // `超过8%` of a column that holds 8 for it.
        let percent = self.text[self.tokens[i].start..self.tokens[i].end].contains(&'%');
        let hundred = column.map(|c| self.scope.column(c)).is_some_and(|c| {
            let high = c.max.as_deref().and_then(crate::observe::number);
            high.is_some_and(|h| h > 1.5)
                && (c.unit.as_deref() == Some("%") || c.name.contains('%') || c.words.ends_with('率'))
        });
        if percent && hundred {
            return n * 100.0;
        }
        said.zip(held).map_or(n, |(said, held)| n * said / held)
    }

    /// `longer than 1000 km`: the only column in kilometres.
    fn by_unit(&self, i: usize) -> Option<ColRef> {
        self.only_in(self.unit_said(i)?)
    }

    /// The unit a number is said with.
    fn unit_said(&self, i: usize) -> Option<units::Unit> {
        let token = &self.tokens[i];
        self.unit_after(token.end).or_else(|| units::ending(&token.text)).or_else(|| {
            let next = self.tokens.get(i + 1).filter(|t| t.start.saturating_sub(token.end) <= 1);
            next.and_then(|t| units::ending(&t.text))
        })
    }

    /// `欠费超过5000元`: the amount that is named, whatever the main one is.
    fn money_named(&self, i: usize) -> bool {
        let near = (i.saturating_sub(3)..i).filter_map(|j| self.col(j));
        self.unit_said(i) == Some(units::Unit::Money)
            && near.into_iter().any(|c| units::is_money(self.scope.column(c)))
    }

    /// A bound in a unit that is about no column named nearby: how long in another unit of time, a weight without one;
    /// else about nothing in the table.
    fn by_kind_of_unit(&mut self, i: usize) -> Option<ColRef> {
        let unit = self.unit_said(i)?;
        let main = *self.scope.in_scope.first()?;
        if units::seconds(unit).is_some() {
            return self.lasting_by_verb(i, main).or_else(|| self.what_lasts());
        }
        let concept = match unit {
            units::Unit::Kilogram | units::Unit::Tonne => "weight",
            units::Unit::Kilometre | units::Unit::Mile => "distance",
            units::Unit::KilowattHour => "energy",
            _ => return None,
        };
        let unitless = |c: &ColRef| c.table == main && units::of(self.scope.column(*c)).is_none();
        let found = self.scope.concept_columns(concept).into_iter().map(|(c, _)| c).find(unitless);
        if found.is_none() {
            self.draft.dangling.push(self.tokens[i].text.clone());
        }
        found
    }

    /// `delayed more than 1 hour`, where `delayed` is a value: the delay.
    fn lasting_by_verb(&self, i: usize, main: usize) -> Option<ColRef> {
        let said: Vec<String> = self.tokens[i.saturating_sub(3)..i]
            .iter()
            .filter(|t| matches!(t.tok, Tok::Val(..)))
            .map(|t| stem(&t.text))
            .collect();
        let about = |c: &crate::table::Column| {
            units::of(c).is_some_and(units::is_time) && c.full.split(' ').any(|w| said.contains(&stem(w)))
        };
        let found = self.scope.tables[main].indices(about);
        found.first().filter(|_| found.len() == 1).map(|column| ColRef { table: main, column: *column })
    }

    /// `for 6 or more people`: the one column that says how many they were.
    fn party_bound(&mut self, i: usize) -> Option<ColRef> {
        const PARTIES: [&str; 14] = [
            "party size",
            "group size",
            "guests",
            "travellers",
            "travelers",
            "passengers",
            "attendees",
            "participants",
            "covers",
            "people",
            "persons",
            "adults",
            "players",
            "number of people",
        ];
        let next = (i + 1..(i + 3).min(self.tokens.len()))
            .find(|j| matches!(self.tokens[*j].text.as_str(), "people" | "persons" | "guests" | "pax"))?;
        let main = *self.scope.in_scope.first()?;
        let party = |c: &crate::table::Column| c.role == Role::Measure && PARTIES.contains(&c.full.as_str());
        let found = self.scope.tables[main].indices(party);
        let column = found.first().filter(|_| found.len() == 1)?;
        let said = self.tokens[next].text.clone();
        self.draft.lacking.retain(|(_, text)| *text != said);
        self.used[next] = true;
        Some(ColRef { table: main, column: *column })
    }

    /// `90分以上`: the only column of marks, where none is named.
    fn marks_bound(&mut self, i: usize) -> Option<ColRef> {
        if !self.tokens[i].text.ends_with('分') {
            return None;
        }
        let near = |j: &usize| self.col(*j).is_some_and(|c| self.scope.role(c) == Role::Measure);
        if (i.saturating_sub(4)..i).any(|j| near(&j)) {
            return None;
        }
        let marks = self.scope.concept_columns("score");
        let marks: Vec<ColRef> =
            marks.into_iter().map(|(c, _)| c).filter(|c| self.scope.role(*c) == Role::Measure).collect();
        if marks.len() != 1 {
            self.draft.dangling.push(self.tokens[i].text.clone());
        }
        marks.first().copied().filter(|_| marks.len() == 1)
    }

    /// The numeric column a condition is about: the nearest before it, else the next one.
    fn subject(&mut self, i: usize) -> Option<ColRef> {
        let implied = i.checked_sub(1).and_then(|j| match self.tokens[j].text.as_str() {
            "older than" | "younger than" => Some("age"),
            "cheaper than" | "贵于" => Some("price"),
            "longer than" | "shorter than" => Some("duration"),
            _ => None,
        });
        let aged = ["岁", "years old", "year old"].iter().any(|u| self.tokens[i].text.ends_with(u));
        let implied = if aged { Some("age") } else { implied };
        if let Some(column) = implied.and_then(|id| self.scope.concept_columns(id).first().map(|(c, _)| *c)) {
            self.draft.conditioned.push(column);
            return Some(column);
        }
        if let Some(j) = self.following(i) {
            self.used[j] = true;
            self.draft.conditioned.extend(self.col(j));
            return self.col(j);
        }
        let people = self.party_bound(i);
        if let Some(column) = people
            .or_else(|| self.marks_bound(i))
            .or_else(|| self.age_bound(i))
            .or_else(|| self.by_unit(i).filter(|_| !self.money_named(i)))
        {
            let said =
                (i.saturating_sub(4)..(i + 3).min(self.tokens.len())).find(|j| self.col(*j) == Some(column));
            if let Some(j) = said.filter(|j| !self.asked_of_rows(*j, i)) {
                self.used[j] = true;
            }
            self.draft.conditioned.push(column);
            return Some(column);
        }
        let numeric = |j: &usize| self.col(*j).filter(|c| self.scope.role(*c) == Role::Measure);
        let found = (i.saturating_sub(4)..i)
            .rev()
            .find(|j| numeric(j).is_some())
            .or_else(|| (i + 1..(i + 3).min(self.tokens.len())).find(|j| numeric(j).is_some()));
        let column = found.and_then(|j| self.col(j));
        if let (Some(j), Some(c)) = (found, column) {
            self.used[j] = !self.asked_of_rows(j, i);
            self.draft.conditioned.push(c);
            return column;
        }
        let other = self.by_kind_of_unit(i);
        self.draft.conditioned.extend(other);
        other
    }
}
