//! Words with two senses, of which the words around them tell the right one: a value or a date, a value or a period,
//! a value that says what is measured as well. Never drops a word.

use crate::glossary::ConceptRole;
use crate::lex::{ColRef, Lexed, Meaning, Mention};
use crate::read::draft::{Draft, Wanted};
use crate::read::tokens::{Scope, Tok};
use crate::table::Role;
use crate::word::Word;

/// `ended at River Park`, where trips start and end at the same places: the end that was said.
pub(super) fn prefer_end(scope: &Scope<'_>, lexed: &Lexed, mention: &Mention, ranked: &mut [(u8, Tok)]) {
    const FROM: [&str; 16] = [
        "from",
        "start",
        "started",
        "starting",
        "starts",
        "begin",
        "began",
        "begins",
        "beginning",
        "leave",
        "left",
        "leaving",
        "depart",
        "departed",
        "departing",
        "originating",
    ];
    const TO: [&str; 15] = [
        "to",
        "end",
        "ended",
        "ending",
        "ends",
        "finish",
        "finished",
        "finishing",
        "arrive",
        "arrived",
        "arriving",
        "into",
        "towards",
        "heading",
        "terminated",
    ];
    const FIRST: [&str; 7] = ["start", "origin", "from", "departure", "pickup", "source", "sender"];
    const LAST: [&str; 7] = ["end", "destination", "to", "arrival", "dropoff", "receiver", "target"];
    let before: String = lexed.text[..mention.start].iter().collect();
    let words = before.rsplit(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).take(3);
    let said = words
        .into_iter()
        .find_map(|w| if FROM.contains(&w) { Some(FIRST) } else { TO.contains(&w).then_some(LAST) });
    let Some(said) = said else { return };
    let best = ranked.iter().map(|(r, _)| *r).max().unwrap_or(0);
    for (rank, tok) in ranked.iter_mut() {
        if let Tok::Val(column, _) = tok
            && *rank == best
            && scope.column(*column).full.split(' ').any(|w| said.contains(&w))
        {
            *rank = rank.saturating_add(1);
        }
    }
}

/// Puts the reading first that the rest of the question asks for.
pub(super) fn prefer(scope: &Scope<'_>, lexed: &Lexed, mention: &Mention, ranked: &mut [(u8, Tok)]) {
    let value = ranked.iter().position(|(_, t)| matches!(t, Tok::Val(..)));
    let Some(value) = value else { return };
    let best = ranked.iter().map(|(r, _)| *r).max().unwrap_or(0);
    let dated =
        ranked.iter().any(|(r, t)| *r == best && matches!(t, Tok::Col(c, _) if scope.role(*c) == Role::Time));
    let period = ranked.iter().position(|(_, t)| matches!(t, Tok::Word(w) if is_period(*w)));
    if dated && !asks_when(lexed) {
        // `已经入职的`: who has the status; `2024年入职的` goes by the date.
        ranked[value].0 = best.saturating_add(1);
    } else if let Some(period) = period
        && beside_figure(scope, lexed, mention)
    {
        // `monthly revenue` is by month, `billed monthly` is not.
        ranked[period].0 = best.saturating_add(1);
    }
}

fn is_period(w: Word) -> bool {
    matches!(w, Word::Hour | Word::Day | Word::Week | Word::Month | Word::Quarter | Word::Year)
}

fn asks_when(lexed: &Lexed) -> bool {
    let timed = |m: &Meaning| match m {
        Meaning::Time(_) => true,
        Meaning::Word(w) => {
            is_period(*w)
                || matches!(
                    w,
                    Word::Trend | Word::Earliest | Word::Latest | Word::Yoy | Word::Mom | Word::Growth
                )
        }
        _ => false,
    };
    lexed.mentions.iter().any(|m| m.meanings.iter().any(timed))
}

/// A figure right after a word, or right before it: `monthly revenue`, `revenue monthly`.
fn beside_figure(scope: &Scope<'_>, lexed: &Lexed, mention: &Mention) -> bool {
    let figure = |m: &Mention| {
        // `pay monthly`: how, not how much by month.
        let verb = |m: &Meaning| matches!(m, Meaning::Word(Word::Spend | Word::Earn | Word::Sell));
        if m.meanings.iter().any(verb) {
            return false;
        }
        m.meanings.iter().any(|meaning| match meaning {
            Meaning::Column(c, _) => scope.in_scope.contains(&c.table) && scope.role(*c) == Role::Measure,
            Meaning::Concept(i) => {
                let concept = &scope.glossary.concepts[*i];
                concept.role == ConceptRole::Ratio
                    || concept.role == ConceptRole::Measure && !scope.columns_for(concept).is_empty()
            }
            Meaning::Word(w) => matches!(w, Word::Trend | Word::Growth | Word::Mean | Word::Sum),
            _ => false,
        })
    };
    let after = lexed.mentions.iter().find(|m| m.start >= mention.end && m.start - mention.end <= 1);
    let before = lexed.mentions.iter().find(|m| m.end <= mention.start && mention.start - m.end <= 1);
    after.is_some_and(figure) || before.is_some_and(figure)
}

/// `the most electricity`, where that is a value: the figure the word is about besides.
pub(super) fn figure_of_value(scope: &Scope<'_>, lexed: &Lexed) -> Option<ColRef> {
    let said_money = lexed.text.contains(&'钱') || lexed.text.contains(&'元');
    let mut found = lexed.mentions.iter().filter_map(|m| {
        let value = |m: &Meaning| matches!(m, Meaning::Value(c, _, 3..) if scope.in_scope.contains(&c.table));
        if !m.meanings.iter().any(value) {
            return None;
        }
        m.meanings.iter().find_map(|meaning| match meaning {
            Meaning::Concept(i) if scope.glossary.concepts[*i].role == ConceptRole::Measure => {
                scope.concept_columns(&scope.glossary.concepts[*i].id).first().map(|(c, _)| *c)
            }
            _ => None,
        })
    });
    let named = found.next();
    named.or_else(|| used_up(scope, lexed)).filter(|_| !said_money)
}

/// `uses the least water`: what is used is measured by the one column of usage.
fn used_up(scope: &Scope<'_>, lexed: &Lexed) -> Option<ColRef> {
    const VERBS: [&str; 9] =
        ["use", "uses", "used", "using", "consume", "consumes", "consumed", "burn", "burns"];
    let text: String = lexed.text.iter().collect();
    let english = text.split(|c: char| !c.is_alphanumeric()).any(|w| VERBS.contains(&w));
    let chinese = ["用了", "用的", "消耗", "耗"].iter().any(|w| text.contains(w));
    let valued =
        lexed.mentions.iter().any(|m| m.meanings.iter().any(|m| matches!(m, Meaning::Value(_, _, 3..))));
    let columns = scope.concept_columns("energy");
    columns.first().map(|(c, _)| *c).filter(|_| (english || chinese) && valued && columns.len() == 1)
}

/// Measures what a value is about when nothing else is measured.
pub(super) fn add_figure_of_value(draft: &mut Draft) {
    let asks = draft.says_any(&[
        Word::HowMuch,
        Word::Highest,
        Word::Lowest,
        Word::Sum,
        Word::Trend,
        Word::Compare,
        Word::By,
    ]) || draft.grain.is_some()
        || draft.loose_agg.is_some();
    let counts = draft.says_any(&[Word::HowMany, Word::Count, Word::Spend, Word::Earn, Word::Sell]);
    if let Some(column) = draft.value_figure.filter(|_| draft.measures.is_empty() && asks && !counts) {
        draft.measures.push(Wanted::Plain(column, None));
    }
}
