//! Which table a question is about, and which others must be joined to it.

use crate::glossary::Glossary;
use crate::lex::{ColRef, Lexed, Meaning, Mention};
use crate::question::{Agg, Filter, Group, Intent, Join, Measure, Note, Question, Refusal};
use crate::read::tokens::{explains, fit};
use crate::table::{Role, Table};
use crate::word::Word;

pub struct Chosen {
    /// The main table first.
    pub in_scope: Vec<usize>,
    pub note: Option<Note>,
}

pub fn choose(
    glossary: &Glossary,
    tables: &[Table],
    lexed: &Lexed,
    before: Option<&[usize]>,
) -> Result<Chosen, Refusal> {
    if tables.is_empty() {
        return Err(Refusal::NoTable);
    }
    let fits: Vec<u32> = (0..tables.len()).map(|t| fit(t, tables, glossary, lexed)).collect();
    let best = fits.iter().copied().max().unwrap_or(0);
    if best == 0 {
        let largest = (0..tables.len()).max_by_key(|t| tables[*t].rows).unwrap_or(0);
        let last = before.and_then(|b| b.first().copied()).unwrap_or(largest);
        let note = (tables.len() > 1).then_some(Note::Table { taken: last });
        return Ok(Chosen { in_scope: before.map_or(vec![last], <[usize]>::to_vec), note });
    }
    let ties: Vec<usize> = (0..tables.len()).filter(|t| fits[*t] == best).collect();
    let kept = before.and_then(|b| b.first()).filter(|t| ties.contains(t));
    let main = kept.or_else(|| ties.iter().max_by_key(|t| tables[**t].rows)).copied().unwrap_or(0);
    let mut in_scope = vec![main];
    for mention in &lexed.mentions {
        let covered = in_scope.iter().any(|t| explains(*t, tables, glossary, mention) >= 2);
        if covered {
            continue;
        }
        let helper = (0..tables.len())
            .filter(|t| !in_scope.contains(t))
            .max_by_key(|t| explains(*t, tables, glossary, mention));
        // A part of a name is enough where nothing else is known about the word.
        let unknown = in_scope.iter().all(|t| explains(*t, tables, glossary, mention) == 0)
            && mention
                .meanings
                .iter()
                .all(|m| matches!(m, Meaning::Column(..) | Meaning::Concept(_) | Meaning::Table(_)));
        let least = if unknown { 2 } else { 3 };
        if let Some(other) = helper.filter(|t| explains(*t, tables, glossary, mention) >= least) {
            in_scope.push(other);
        }
    }
    add_money(tables, lexed, &mut in_scope);
    let note =
        (ties.len() > 1 && in_scope.len() == 1 && kept.is_none()).then_some(Note::Table { taken: main });
    Ok(Chosen { in_scope: orient(tables, in_scope), note })
}

/// `how much has Acme been billed`, where one table knows Acme and another one the amounts.
fn add_money(tables: &[Table], lexed: &Lexed, in_scope: &mut Vec<usize>) {
    let asks = |m: &Mention| {
        m.text == "how much"
            || m.meanings.iter().any(|m| matches!(m, Meaning::Word(Word::Earn | Word::Spend)))
    };
    let [main] = in_scope[..] else { return };
    let costs = |t: usize| tables[t].columns.iter().any(crate::units::is_money);
    if tables.len() == 2
        && lexed.mentions.iter().any(asks)
        && !costs(main)
        && let Some(other) = (0..2).find(|t| *t != main && crate::units::main_money(&tables[*t]).is_some())
        && key_between(tables, other, main).is_some()
    {
        *in_scope = vec![other, main];
    }
}

/// A figure of the described side would be added up once for each row of the other: the join is left out where nothing of
/// the main table is used, else there is no answer.
pub fn prune(scope: &crate::read::tokens::Scope<'_>, question: &mut Question) -> Result<(), Refusal> {
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

pub(crate) fn columns(filter: &Filter) -> Vec<ColRef> {
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

/// The table with more rows is the one facts are in; the other describes its keys.
fn orient(tables: &[Table], mut in_scope: Vec<usize>) -> Vec<usize> {
    if let [a, b] = in_scope[..]
        && key_between(tables, a, b).is_none()
        && key_between(tables, b, a).is_some()
    {
        in_scope.swap(0, 1);
    }
    in_scope
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
