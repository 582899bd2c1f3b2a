//! Columns that share a noun (`Units Produced`, `Scrap Units`): the other words of the question tell which is meant,
//! and without any the waste is not. Touches no token that says a whole name.

use std::collections::HashSet;

use crate::lex::{ColRef, Lexed};
use crate::names::{stem, without_unit};
use crate::read::tokens::{Scope, Tok, Token};
use crate::table::Role;

/// What is lost, sent back or refused: never meant by the bare noun.
const WASTE: [&str; 22] = [
    "scrap",
    "scrapped",
    "defect",
    "defective",
    "reject",
    "rejected",
    "waste",
    "wasted",
    "lost",
    "damaged",
    "returned",
    "return",
    "cancelled",
    "canceled",
    "refund",
    "refunded",
    "faulty",
    "rework",
    "reworked",
    "spoiled",
    "failed",
    "bad",
];

/// Gives a noun that several figures share to the one the question is about.
pub(super) fn tell_apart(scope: &Scope<'_>, lexed: &Lexed, tokens: &mut [Token]) {
    let text: String = lexed.text.iter().collect();
    let mut said: HashSet<String> =
        text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| w.len() > 2).map(stem).collect();
    if ["came back", "come back", "sent back", "brought back", "gave back"].iter().any(|w| text.contains(w)) {
        said.extend(["return", "returned"].map(stem));
    }
    for token in tokens {
        let Tok::Col(taken, _) = token.tok else { continue };
        let noun = token.text.as_str();
        if !noun.is_ascii() || noun.contains(' ') || scope.role(taken) != Role::Measure {
            continue;
        }
        if let Some(meant) = meant(scope, taken, &stem(noun), &said) {
            token.tok = Tok::Col(meant, None);
        }
    }
}

fn meant(scope: &Scope<'_>, taken: ColRef, noun: &str, said: &HashSet<String>) -> Option<ColRef> {
    let table = &scope.tables[taken.table];
    let words = |column: usize| without_unit(&table.columns[column].full).split(' ').collect::<Vec<_>>();
    let shares = |column: usize| {
        let words = words(column);
        words.len() > 1 && words.iter().any(|w| stem(w) == noun)
    };
    let kin: Vec<usize> = table.indices(|c| c.role == Role::Measure);
    // `how many cases were returned`: what was sent back has a column of its own.
    let sent_back = |c: usize| {
        let others = words(c).into_iter().filter(|w| stem(w) != noun);
        others.into_iter().any(|w| WASTE.contains(&w) && said.contains(&stem(w)))
    };
    if let Some(column) = kin.iter().copied().find(|c| shares(*c) && sent_back(*c)) {
        return (column != taken.column).then_some(ColRef { table: taken.table, column });
    }
    // A column called just so is the one.
    if kin.iter().any(|c| words(*c).len() == 1 && stem(words(*c)[0]) == noun) || !shares(taken.column) {
        return None;
    }
    let kin: Vec<usize> = kin.into_iter().filter(|c| shares(*c)).collect();
    let others =
        |c: usize| words(c).into_iter().filter(|w| stem(w) != noun && w.len() > 2).collect::<Vec<_>>();
    let hits = |c: usize| others(c).iter().filter(|w| said.contains(&stem(w))).count();
    let waste = |c: usize| others(c).iter().any(|w| WASTE.contains(w)) && hits(c) == 0;
    // The first of the best; the one taken stays where nothing speaks against it.
    let score = |c: usize| (hits(c), !waste(c), c == taken.column);
    let best = kin.iter().copied().rev().max_by_key(|c| score(*c))?;
    (best != taken.column).then_some(ColRef { table: taken.table, column: best })
}
