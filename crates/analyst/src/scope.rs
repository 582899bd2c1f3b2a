//! The tables a question is read over: the main one and those joined to it. Which key joins two of them, and which joins a
//! question may not use.

use crate::glossary::{Concept, Glossary};
use crate::lex::ColRef;
use crate::question::{Agg, Filter, Group, Intent, Join, Measure, Note, Question, Refusal};
use crate::table::{Column, Role, Table};

pub struct Scope<'a> {
    pub glossary: &'a Glossary,
    pub tables: &'a [Table],
    /// The main table first, then those joined to it.
    pub in_scope: Vec<usize>,
}

impl Scope<'_> {
    pub fn column(&self, at: ColRef) -> &Column {
        &self.tables[at.table].columns[at.column]
    }

    pub fn role(&self, at: ColRef) -> Role {
        self.column(at).role
    }

    /// Columns of the tables in scope that stand for a concept, the surest first.
    pub fn concept_columns(&self, id: &str) -> Vec<(ColRef, u8)> {
        let of = |&t: &usize| {
            self.tables[t]
                .with_concept(id)
                .into_iter()
                .map(move |(column, q)| (ColRef { table: t, column }, q))
        };
        self.in_scope.iter().flat_map(of).collect()
    }

    /// Columns that stand for a concept or, failing that, for one that will do instead.
    pub fn columns_for(&self, concept: &Concept) -> Vec<(ColRef, u8)> {
        let own = self.concept_columns(&concept.id);
        if !own.is_empty() {
            return own;
        }
        let instead = concept.or.iter().map(|id| self.concept_columns(id)).find(|c| !c.is_empty());
        instead.unwrap_or_default().into_iter().map(|(c, q)| (c, q.min(2))).collect()
    }

    /// The first of several concepts (`a|b`) that a column stands for.
    pub fn first_of<'t>(&self, terms: &'t str) -> Option<&'t str> {
        terms.split('|').find(|t| !self.concept_columns(t.strip_prefix("count:").unwrap_or(t)).is_empty())
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
    let (n, d) = (scope.first_of(n).unwrap_or(n), scope.first_of(d).unwrap_or(d));
    Some(Measure::Ratio { concept, numerator: Box::new(term(n)?), denominator: Box::new(term(d)?) })
}

/// A figure of the described side would be added up once for each row of the other: the join is left out where nothing of
/// the main table is used, else there is no answer.
pub fn prune(scope: &Scope<'_>, question: &mut Question) -> Result<(), Refusal> {
    let [join] = &question.joins[..] else { return Ok(()) };
    let (main, other) = (question.table, join.table);
    let key = join.left;
    let mut used: Vec<ColRef> = Vec::new();
    let rows = question.measures.iter().any(|m| figures(m, &mut used));
    let repeats = used.iter().any(|c| c.table == other);
    used.extend(question.groups.iter().map(|g| match g {
        Group::By(c) | Group::Time(c, _) => *c,
    }));
    used.extend(question.filters.iter().flat_map(columns));
    if let Intent::ShareOf { parts } = &question.intent {
        used.extend(parts.iter().flat_map(columns));
    }
    if !repeats || scope.column(key).distinct >= scope.tables[main].rows {
        return Ok(());
    }
    if rows
        || used.iter().any(|c| c.table == main)
        || !matches!(
            question.intent,
            Intent::Value
                | Intent::Breakdown
                | Intent::Rank
                | Intent::Trend
                | Intent::ShareOf { .. }
                | Intent::Share
        )
    {
        return Err(Refusal::NothingAsked);
    }
    question.table = other;
    question.joins.clear();
    question.notes.retain(|n| !matches!(n, Note::Joined { .. }));
    Ok(())
}

/// The columns a figure adds up; whether it counts rows.
fn figures(measure: &Measure, used: &mut Vec<ColRef>) -> bool {
    match measure {
        Measure::Rows => true,
        Measure::Of(Agg::Distinct | Agg::Max | Agg::Min, _) => false,
        Measure::Of(_, c)
        | Measure::CountYes(c)
        | Measure::RateYes(c)
        | Measure::RateIs { column: c, .. } => {
            used.push(*c);
            false
        }
        Measure::Formula { left, right, .. } => {
            used.extend([*left, *right]);
            false
        }
        Measure::Ratio { numerator, denominator, .. } => {
            let rows = figures(numerator, used);
            figures(denominator, used) || rows
        }
    }
}

pub fn columns(filter: &Filter) -> Vec<ColRef> {
    match filter {
        Filter::In { column, .. }
        | Filter::Number { column, .. }
        | Filter::Empty { column }
        | Filter::Filled { column }
        | Filter::Days { column, .. }
        | Filter::Yes { column, .. } => vec![*column],
        Filter::Columns { left, right, .. } => vec![*left, *right],
    }
}

/// The joins that bring the other tables to the main one.
pub fn joins(tables: &[Table], in_scope: &[usize]) -> Result<Vec<Join>, Refusal> {
    let Some((main, others)) = in_scope.split_first() else { return Err(Refusal::NoTable) };
    let join = |other: &usize| {
        let key = key_between(tables, *main, *other);
        key.map(|(left, right)| Join { table: *other, left, right })
            .ok_or(Refusal::NoJoin { first: *main, second: *other })
    };
    others.iter().map(join).collect()
}

/// A column of `main` and one of `other` that mean the same and name each row of `other` once, so that no row doubles.
fn key_between(tables: &[Table], main: usize, other: usize) -> Option<(ColRef, ColRef)> {
    if tables[main].connection != tables[other].connection {
        return None;
    }
    let keyed = |c: usize| {
        let column = &tables[other].columns[c];
        column.role != Role::Measure && column.distinct >= tables[other].rows && column.nulls == 0
    };
    // A column both tables have by name is their key: `policy_no` is then not sought in `claim_no`, though both are numbers of papers.
    let shared =
        |l: usize| tables[other].columns.iter().any(|right| tables[main].columns[l].words == right.words);
    let named =
        (0..tables[main].columns.len()).any(|l| tables[main].columns[l].role == Role::Id && shared(l));
    let mut best: Option<(u8, ColRef, ColRef)> = None;
    for (l, left) in tables[main].columns.iter().enumerate() {
        for (r, right) in tables[other].columns.iter().enumerate().filter(|(r, _)| keyed(*r)) {
            let same_name = left.words == right.words;
            let same_thing = left
                .concepts
                .iter()
                .any(|(id, q)| *q == 3 && right.concepts.iter().any(|(k, p)| k == id && *p == 3))
                && left.role == right.role
                && !named;
            let score = if same_name { 2 } else { u8::from(same_thing) };
            if score > 0 && left.role != Role::Measure && best.as_ref().is_none_or(|b| score > b.0) {
                best = Some((score, ColRef { table: main, column: l }, ColRef { table: other, column: r }));
            }
        }
    }
    best.map(|(_, l, r)| (l, r))
}
