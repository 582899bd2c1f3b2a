//! The reader: makes many whole readings of a question and takes the one that leaves the least unexplained. Every
//! phrase may play several parts, each at a price; what a reading cannot explain costs, too.

mod ahead;
mod bounds;
mod columns;
mod complete;
mod defined;
mod dimension;
mod extremes;
mod figures;
mod firsts;
mod follow;
mod growth;
mod implied;
mod intents;
pub mod items;
mod lacking;
mod measure;
mod misfit;
mod options;
mod outline;
mod people;
mod phrases;
mod said;
mod share;
mod special;
mod subjects;
mod survey;
mod times;
mod timing;
mod unknown;
mod unmarked;
pub mod view;

use crate::budget::Budget;
use crate::glossary::Glossary;
use crate::lex::Lexed;
use crate::question::{Question, Refusal};
use crate::scope::{self, Scope};
use crate::table::Table;
pub use options::Part;
use view::View;

/// Readings kept while parts are chosen.
const BEAM: usize = 400;

#[derive(Debug, Clone)]
pub struct Weighed {
    pub question: Question,
    /// What is left unexplained: below 1 is sure, above 4 a guess.
    pub cost: f32,
    /// The same without what words cost that are no part of the reading: how far-fetched what it does say is.
    pub strained: f32,
    /// What the reading looks like, for the judge.
    pub marks: Vec<String>,
}

/// The cheapest reading of a question, or why it has none.
pub fn weigh(
    glossary: &Glossary,
    tables: &[Table],
    lexed: &Lexed,
    previous: Option<&Question>,
    budget: &Budget,
) -> Result<Weighed, Refusal> {
    let most = tables.iter().map(|t| t.rows).max().unwrap_or(0);
    let mut best: Result<Weighed, Refusal> = Err(Refusal::NothingAsked);
    for main in 0..tables.len() {
        let others = (0..tables.len()).filter(|t| *t != main && scope::joins(tables, &[main, *t]).is_ok());
        let in_scope = std::iter::once(main).chain(others).collect();
        let scope = Scope { glossary, tables, in_scope };
        let found = weigh_in(&scope, lexed, previous.filter(|q| q.table == main), budget);
        let Ok(mut found) = found else {
            best = better(best, found);
            continue;
        };
        // What follows stays with its table.
        let follows = found.question.notes.contains(&crate::question::Note::FollowUp);
        if tables[main].rows < most && !follows {
            found.cost += small_table(&scope, lexed);
        }
        best = better(best, Ok(found));
    }
    best
}

/// The cheaper of two readings; of two reasons against one, the first that says more than that nothing was asked.
fn better(one: Result<Weighed, Refusal>, other: Result<Weighed, Refusal>) -> Result<Weighed, Refusal> {
    match (&one, &other) {
        (Ok(a), Ok(b)) if b.cost < a.cost => other,
        (Err(_), Ok(_)) | (Err(Refusal::NothingAsked), _) => other,
        _ => one,
    }
}

/// Items whose word may be meant or not are read both ways.
const TWO_WAYS: usize = 3;

fn weigh_in(
    scope: &Scope<'_>,
    lexed: &Lexed,
    previous: Option<&Question>,
    budget: &Budget,
) -> Result<Weighed, Refusal> {
    let items = items::items(scope, lexed);
    let open: Vec<usize> = (0..items.len()).filter(|i| items[*i].is_open()).take(TWO_WAYS).collect();
    let mut best = Err(Refusal::NothingAsked);
    for choice in 0..1_u32 << open.len() {
        let mut chosen = items.clone();
        for (bit, i) in open.iter().enumerate() {
            chosen[*i].settle(choice >> bit & 1 == 1);
        }
        let mut view = View::new(scope, &lexed.text, chosen);
        view.kept = previous.iter().flat_map(|q| &q.filters).flat_map(scope::columns).collect();
        best = better(best, weigh_view(&view, previous, budget));
    }
    best
}

/// What the parts of a reading make of the question.
struct Reading {
    parts: Vec<(usize, Part)>,
    question: Question,
    /// What it costs to believe the parts, and what they leave unanswered.
    said: f32,
    left: f32,
}

fn weigh_view(view: &View<'_>, previous: Option<&Question>, budget: &Budget) -> Result<Weighed, Refusal> {
    let mut readings: Vec<(Vec<(usize, Part)>, f32)> = vec![(Vec::new(), 0.0)];
    for i in 0..view.items.len() {
        let options = options::options(view, i);
        if !budget.spend(readings.len() * options.len()) {
            return Err(Refusal::TooLong);
        }
        let mut next = Vec::with_capacity(readings.len() * options.len());
        for (parts, cost) in &readings {
            for (part, more) in &options {
                let mut parts = parts.clone();
                if *part != Part::Nothing {
                    parts.push((i, part.clone()));
                }
                next.push((parts, cost + more));
            }
        }
        next.sort_by(|a, b| a.1.total_cmp(&b.1));
        next.truncate(BEAM);
        readings = next;
    }
    let idle: f32 = (0..view.items.len()).filter(|i| view.is_idle(*i)).map(|i| unknown::cost(view, i)).sum();
    let mut best: Option<Reading> = None;
    let mut refused = Refusal::NothingAsked;
    for (parts, cost) in readings {
        if best.as_ref().is_some_and(|b| cost >= b.said + b.left) {
            break;
        }
        if !budget.spend(view.items.len()) {
            return Err(Refusal::TooLong);
        }
        // Words that go on from the question before are seldom a question of their own.
        let apart = if previous.is_some() && follow::goes_on(view) { 1.0 } else { 0.0 };
        let alone = complete::complete(view, &parts).map(|(question, more)| (question, more + apart));
        if let (Err(why), Refusal::NothingAsked) = (&alone, &refused) {
            refused = why.clone();
        }
        let following = previous.and_then(|q| follow::follow(view, &parts, q));
        for (question, more) in alone.into_iter().chain(following) {
            if best.as_ref().is_none_or(|b| cost + more < b.said + b.left) {
                best = Some(Reading { parts: parts.clone(), question, said: cost, left: more });
            }
        }
    }
    let Reading { parts, question, said, left } = best.ok_or(refused)?;
    let marks = outline::outline(view, &parts, said, left, &question);
    Ok(Weighed { question, cost: said + left, strained: said + left - idle, marks })
}

/// Facts are in the larger table; the smaller one only describes them, unless it is what was named.
fn small_table(scope: &Scope<'_>, lexed: &Lexed) -> f32 {
    use crate::lex::Meaning;
    let main = scope.in_scope[0];
    let own = |m: &Meaning| matches!(m, Meaning::RowNoun(t) | Meaning::Table(t) if *t == main);
    let other = |m: &Meaning| matches!(m, Meaning::RowNoun(t) | Meaning::Table(t) if *t != main);
    let named = lexed.mentions.iter().any(|m| m.meanings.iter().any(own) && !m.meanings.iter().any(other));
    // `几场`, where the other table is one of 场次.
    let asked =
        lexed.mentions.iter().find(|m| m.meanings.contains(&Meaning::Word(crate::word::Word::HowMany)));
    let one = asked
        .and_then(|m| m.text.chars().last())
        .filter(|c| crate::norm::is_cjk(*c) && !"个人位名家".contains(*c));
    let holds = |t: usize, c: char| {
        let table = &scope.tables[t];
        table.rows_called.contains(c) || table.columns.first().is_some_and(|first| first.name.contains(c))
    };
    // `多少节课`: what stands after the classifier.
    let noun = asked.and_then(|m| lexed.text.get(m.end)).copied().filter(|c| crate::norm::is_cjk(*c));
    let other = |c: char| !holds(main, c) && (0..scope.tables.len()).any(|t| holds(t, c));
    // `拜访了多少次`: what was done.
    let verb: String = asked.map_or_else(String::new, |m| {
        let head: String = lexed.text[..m.start].iter().collect();
        let head = head.trim_end_matches(['了', '过', '的', '有']);
        head.chars().rev().take(2).collect::<Vec<_>>().into_iter().rev().collect()
    });
    let does = |t: usize| verb.chars().count() == 2 && scope.tables[t].rows_called.contains(&verb);
    let done = !does(main) && (0..scope.tables.len()).any(does);
    let elsewhere = done || one.into_iter().chain(noun).any(other);
    if elsewhere {
        return 0.9;
    }
    if named { 0.1 } else { 0.45 }
}
