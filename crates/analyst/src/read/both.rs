//! Two figures asked for in one question: `多少笔，金额合计多少`. Adds the count that the other figure would hide.

use crate::question::{Agg, Measure};
use crate::read::draft::{Reader, Wanted};
use crate::read::tokens::Tok;
use crate::table::Role;
use crate::word::Word;

impl Reader<'_> {
    /// A count asked for in a clause of its own, beside a figure in another.
    pub(super) fn read_both(&mut self) {
        let counted = |w: &Wanted| {
            matches!(w, Wanted::Fixed(Measure::Rows | Measure::CountYes(_) | Measure::Of(Agg::Distinct, _)))
        };
        let figure = self.draft.measures.iter().position(|w| !counted(w));
        if figure.is_none() {
            self.read_money_beside_count();
            self.refuse_second_count();
        }
        if self.draft.measures.iter().any(counted) || figure.is_none() {
            return;
        }
        for i in 0..self.tokens.len() {
            if self.word(Some(i)) != Some(Word::HowMany) || self.names_unit(i) {
                continue;
            }
            let (from, to) = self.clause(i);
            let figure_in = |from: usize, to: usize| {
                self.tokens.iter().any(|t| {
                    t.start >= from
                        && t.end <= to
                        && matches!(t.tok, Tok::Col(c, _) if self.scope.role(c) == Role::Measure)
                })
            };
            let asked_in = |from: usize, to: usize| {
                self.tokens.iter().any(|t| {
                    (t.start >= to || t.end <= from)
                        && matches!(
                            t.tok,
                            Tok::Word(Word::HowMuch | Word::HowMany | Word::Sum | Word::Mean | Word::Which)
                        )
                })
            };
            let elsewhere = figure_in(0, from) || figure_in(to, self.text.len());
            // An amount is not counted in notes.
            let piece = self.tokens[i].text.ends_with(['笔', '单', '家', '票', '张', '份', '条', '起', '例']);
            if (piece || !figure_in(from, to)) && elsewhere && asked_in(from, to) {
                // The order of the questions is the order of the answers.
                let rows = Wanted::Fixed(Measure::Rows);
                if figure_in(0, from) {
                    self.draft.measures.push(rows)
                } else {
                    self.draft.measures.insert(0, rows)
                }
                return;
            }
        }
    }

    /// `how many members are there and how much do they pay`: the amount of money, or no answer.
    fn read_money_beside_count(&mut self) {
        let many = (0..self.tokens.len()).find(|i| self.word(Some(*i)) == Some(Word::HowMany));
        let much = (0..self.tokens.len())
            .find(|i| matches!(self.tokens[*i].text.as_str(), "how much" | "多少钱" | "多少元"));
        let (Some(many), Some(much)) = (many, much) else { return };
        if self.clause(many) == self.clause(much) {
            return;
        }
        let main = self.scope.in_scope[0];
        let cost = self.scope.concept_columns("cost").first().map(|(c, _)| *c);
        let cost = cost.filter(|_| self.draft.says(Word::Spend));
        let money = crate::units::main_money(&self.scope.tables[main]);
        let money = cost.or(money.map(|column| crate::lex::ColRef { table: main, column }));
        match money {
            Some(column) => {
                if self.draft.measures.is_empty() {
                    self.draft.measures.push(Wanted::Fixed(Measure::Rows));
                }
                let wanted = Wanted::Plain(column, Some(Agg::Sum));
                if many < much {
                    self.draft.measures.push(wanted)
                } else {
                    self.draft.measures.insert(0, wanted)
                }
            }
            None => self.draft.dangling.push(self.tokens[much].text.clone()),
        }
    }

    /// `展会来的客户有多少，签约的有几家`: the second is a part of the first; one figure for both would be wrong.
    fn refuse_second_count(&mut self) {
        let asks = |i: &usize| matches!(self.word(Some(*i)), Some(Word::HowMany | Word::HowMuch));
        let asked: Vec<usize> = (0..self.tokens.len()).filter(asks).collect();
        let (Some(&first), Some(&last)) = (asked.first(), asked.last()) else { return };
        let (one, other) = (self.clause(first), self.clause(last));
        let limited = |clause: (usize, usize)| -> Vec<crate::lex::ColRef> {
            let inside = self.tokens.iter().filter(|t| t.start >= clause.0 && t.end <= clause.1);
            inside.filter_map(|t| if let Tok::Val(c, _) = t.tok { Some(c) } else { None }).collect()
        };
        let (a, b) = (limited(one), limited(other));
        if one != other && !b.is_empty() && self.draft.measures.len() < 2 && !b.iter().all(|c| a.contains(c))
        {
            self.draft.dangling.push(self.tokens[last].text.clone());
        }
    }

    /// `件最多`, `人最多`: a word that counts, right before.
    pub(super) fn counts_before(&self, i: usize) -> bool {
        let start = self.tokens[i].start;
        let before = start.checked_sub(1).and_then(|at| self.text.get(at));
        // `价格件最多` is no word: the counter stands after `的`, a verb or a place.
        let inside =
            i > 0 && self.tokens[i - 1].end == start && matches!(self.tokens[i - 1].tok, Tok::Col(..));
        before.is_some_and(|c| "人件单票笔次趟户家个".contains(*c)) && !inside
    }

    /// `的人最多`, where `人次最多` counts visits.
    pub(super) fn counts_people_before(&self, i: usize) -> bool {
        let at = self.tokens[i].start.checked_sub(1);
        at.and_then(|at| self.text.get(at)) == Some(&'人')
    }

    /// `多少公斤` asks for a weight, not for rows.
    fn names_unit(&self, i: usize) -> bool {
        use crate::units::{Unit, ending};
        let unit = ending(&self.tokens[i].text).or_else(|| self.unit_after(self.tokens[i].end));
        unit.is_some_and(|u| !matches!(u, Unit::Person | Unit::Piece))
    }

    /// Where the clause around a word begins and ends.
    fn clause(&self, i: usize) -> (usize, usize) {
        let (start, end) = (self.tokens[i].start, self.tokens[i].end);
        let and = |j: &usize| self.word(Some(*j)) == Some(Word::And);
        let breaks =
            self.text.iter().enumerate().filter(|(_, c)| matches!(c, ',' | ';' | '、')).map(|(at, _)| at);
        let breaks: Vec<usize> =
            breaks.chain((0..self.tokens.len()).filter(and).map(|j| self.tokens[j].start)).collect();
        let from = breaks.iter().filter(|b| **b < start).max().copied().unwrap_or(0);
        let to = breaks.iter().filter(|b| **b >= end).min().copied().unwrap_or(self.text.len());
        (from, to)
    }
}
