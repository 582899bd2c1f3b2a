//! Understands a conversation's questions over the profiles of its tables: words in, one [`Question`] or a
//! [`Refusal`] out. Pure; the same words and tables always give the same question.

mod aside;
pub(crate) mod asked;
mod both;
pub(crate) mod chinese;
mod columns;
pub(crate) mod conditions;
pub mod draft;
mod drafted;
mod extremes;
pub mod finish;
mod firsts;
mod flags;
mod formula;
pub mod growth;
mod guard;
mod holders;
mod kindred;
mod lacking;
pub(crate) mod measures;
mod nouns;
mod numbers;
mod pairs;
pub(crate) mod periods;
pub(crate) mod rates;
pub mod scope;
mod sense;
mod share;
mod special;
pub mod tokens;
mod undated;
pub(crate) mod unmarked;

use crate::budget::{Budget, LONGEST};
use crate::glossary::Glossary;
use crate::judge;
use crate::lex::{Dictionary, Lexed, lex};
use crate::question::{Note, Question, Refusal};
use crate::table::Table;
use crate::word::{Beyond, Word};
use draft::{Draft, Wanted};
use tokens::{Scope, Tok, Token};

/// What the tables and the vocabulary say about one text.
pub struct Understanding {
    pub question: Result<Question, Refusal>,
    /// Words still unknown: worth a look into the values of the tables.
    pub unknown: Vec<String>,
    /// A word that asks for figures was said.
    pub asks: bool,
    /// What the best reading looks like, for the judge; nothing where only patterns read it.
    pub marks: Vec<String>,
    /// Which reader it was, for those who measure.
    pub reader: &'static str,
    /// What it cost ([`Budget`]).
    pub work: u64,
}

/// Reads the last question, in the light of those before it.
pub fn understand(
    glossary: &Glossary,
    dictionary: &Dictionary,
    tables: &[Table],
    earlier: &[String],
    question: &str,
) -> Understanding {
    if question.chars().count() > LONGEST {
        let question = Err(Refusal::TooLong);
        return Understanding {
            question,
            unknown: Vec::new(),
            asks: true,
            marks: Vec::new(),
            reader: "budget",
            work: 0,
        };
    }
    let budget = Budget::default();
    let mut previous: Option<(Vec<usize>, Draft)> = None;
    let mut weighed: Option<Question> = None;
    for text in earlier.iter().filter(|t| t.chars().count() <= LONGEST) {
        let lexed = lex(text, dictionary);
        let read = read_one(glossary, tables, &lexed, previous.as_ref(), text);
        let (answer, ..) = choose(glossary, tables, &lexed, &read, weighed.as_ref(), &budget);
        weighed = answer.ok().or(weighed);
        if let Ok((scope, draft)) = read {
            let usable = draft.beyond.is_empty() && lexed.unknown.is_empty();
            if usable {
                previous = Some((scope, draft));
            }
        }
    }
    let lexed = lex(question, dictionary);
    let unknown = lexed.unknown.iter().chain(&lexed.ignored).cloned().collect();
    let asks = lexed.mentions.iter().any(|m| m.meanings.iter().any(asks_figures));
    let read = read_one(glossary, tables, &lexed, previous.as_ref(), question);
    let (question, marks, reader) = choose(glossary, tables, &lexed, &read, weighed.as_ref(), &budget);
    let work = budget.spent();
    Understanding { question, unknown, asks, marks, reader, work }
}

/// Readings that say something more far-fetched than this are right half of the time only.
const DEAR: f32 = 1.95;

/// The reading that was weighed, where it leaves little unexplained. Analyses it does not know are the patterns' work, and so
/// are the words that decline what nobody understood.
fn choose(
    glossary: &Glossary,
    tables: &[Table],
    lexed: &Lexed,
    read: &Result<(Vec<usize>, Draft), Refusal>,
    previous: Option<&Question>,
    budget: &Budget,
) -> (Result<Question, Refusal>, Vec<String>, &'static str) {
    let patterns = || {
        let (in_scope, draft) = read.clone()?;
        let question = finish_one(glossary, tables, in_scope, draft, lexed)?;
        if is_divisor(&question, lexed) { Err(Refusal::NothingAsked) } else { Ok(question) }
    };
    // Figures the question defines, first times and one column against another are patterns' work.
    let defined =
        |draft: &Draft| draft.formula.is_some() || draft.firsts.is_some() || !draft.against.is_empty();
    // No reading may lose the time it was asked by.
    let keep_time = |question: Question| match read {
        Ok((_, draft)) => {
            let undated = matches!(patterns(), Err(Refusal::NoDate));
            undated::keep_time(tables, draft, question, undated)
        }
        Err(_) => Ok(question),
    };
    let elsewhere = match read {
        Ok((_, draft)) => defined(draft),
        Err(refusal) => matches!(refusal, Refusal::Beyond(_)),
    };
    if tables.is_empty() || elsewhere {
        return (patterns().and_then(keep_time), Vec::new(), "elsewhere");
    }
    let Some(weighed) = crate::weigh::weigh(glossary, tables, lexed, previous, budget) else {
        if !budget.spend(0) {
            return (Err(Refusal::TooLong), Vec::new(), "budget");
        }
        return (patterns().and_then(keep_time), Vec::new(), "no-weigh");
    };
    // Something said is in no table: whatever could be made of the question would be a guess.
    let (question, reader) = if judge::is_beyond(&weighed.marks) {
        (patterns().and_then(|_| Err(puzzled(lexed))), "judge")
    } else if weighed.strained >= DEAR {
        (patterns(), "dear")
    } else {
        (Ok(weighed.question), "weigh")
    };
    (question.and_then(keep_time), weighed.marks, reader)
}

/// What is said where no reading is good enough: the words nothing is known about, if there are any.
fn puzzled(lexed: &Lexed) -> Refusal {
    let unknown: Vec<String> = lexed.unknown.iter().chain(&lexed.ignored).cloned().collect();
    if unknown.is_empty() { Refusal::NotInTables } else { Refusal::Unknown(unknown) }
}

/// `fuel per kWh`, where nothing says how much fuel: what it is divided by is no answer.
fn is_divisor(question: &Question, lexed: &Lexed) -> bool {
    use crate::lex::Meaning;
    let [crate::question::Measure::Of(_, figure)] = question.measures[..] else { return false };
    let names = |m: &Meaning| matches!(m, Meaning::Column(c, _) if *c == figure);
    let per = |w: &[crate::lex::Mention]| w[0].text == "per" && w[1].meanings.iter().any(names);
    lexed.mentions.windows(2).any(per)
}

fn asks_figures(meaning: &crate::lex::Meaning) -> bool {
    const ASKING: [Word; 12] = [
        Word::HowMany,
        Word::HowMuch,
        Word::Sum,
        Word::Mean,
        Word::By,
        Word::Month,
        Word::Trend,
        Word::Count,
        Word::Highest,
        Word::Lowest,
        Word::Share,
        Word::Rank,
    ];
    matches!(meaning, crate::lex::Meaning::Word(w) if ASKING.contains(w))
}

fn finish_one(
    glossary: &Glossary,
    tables: &[Table],
    in_scope: Vec<usize>,
    draft: Draft,
    lexed: &Lexed,
) -> Result<Question, Refusal> {
    if let Some(beyond) = draft.beyond.first() {
        return Err(Refusal::Beyond(*beyond));
    }
    let defined = |w: &str| draft.formula.is_some() && formula::names_a_figure(w);
    let unknown: Vec<String> = lexed.unknown.iter().filter(|w| !defined(w)).cloned().collect();
    if !unknown.is_empty() {
        return Err(Refusal::Unknown(unknown));
    }
    let scope = Scope { glossary, tables, in_scope };
    let mut question = finish::finish(&scope, draft)?;
    question.notes.extend(lexed.ignored.iter().cloned().map(Note::Ignored));
    for (written, read) in &lexed.mended {
        question.notes.push(Note::Spelling { written: written.clone(), read: read.clone() });
    }
    Ok(question)
}

fn read_one(
    glossary: &Glossary,
    tables: &[Table],
    lexed: &Lexed,
    previous: Option<&(Vec<usize>, Draft)>,
    text: &str,
) -> Result<(Vec<usize>, Draft), Refusal> {
    if asks_the_future(text) {
        return Err(Refusal::Beyond(Beyond::Judgement));
    }
    if let Some(beyond) = early_beyond(lexed) {
        return Err(Refusal::Beyond(beyond));
    }
    let chosen = scope::choose(glossary, tables, lexed, previous.map(|(s, _)| s.as_slice()))?;
    let scope = Scope { glossary, tables, in_scope: chosen.in_scope.clone() };
    let tokens = tokens::tokens(&scope, lexed);
    let mut new = draft::draft(&scope, &tokens, lexed);
    new.notes.extend(chosen.note);
    match previous {
        Some((old_scope, old)) if is_follow_up(&new, &tokens, text) => {
            // The words may be about the table of the question before.
            let scope = Scope { glossary, tables, in_scope: old_scope.clone() };
            let tokens = tokens::tokens(&scope, lexed);
            let mut new = draft::draft(&scope, &tokens, lexed);
            if !old.measures.is_empty() && only_narrows(&scope, &new, &tokens) {
                new.measures.clear();
            }
            Ok((old_scope.clone(), merge(&scope, old, new)))
        }
        _ => Ok((chosen.in_scope, new)),
    }
}

/// `Will it …?`: nobody's table knows.
fn asks_the_future(text: &str) -> bool {
    let text = crate::norm::normal(text);
    let text = text.trim();
    let foretold = ["forecast", "predict", "projection", "estimate", "linear", "straight"]
        .iter()
        .any(|w| text.contains(w));
    // `how much would a new one cost`: nobody's table knows that, either.
    let supposed = ["how much would ", "how many would ", "what would ", "how long would "]
        .iter()
        .any(|w| text.contains(w))
        && !text.contains("would you")
        && !text.contains("would be the");
    if supposed && !foretold {
        return true;
    }
    text.starts_with("will ")
        || text.contains(" will ") && !foretold
        || text.contains("会") && (text.ends_with("吗") || text.ends_with("吗?"))
}

/// Chat and the like, when nothing about the tables is said beside it.
fn early_beyond(lexed: &Lexed) -> Option<Beyond> {
    use crate::lex::Meaning;
    let about_data = lexed.mentions.iter().any(|m| {
        m.meanings.iter().any(|m| {
            matches!(
                m,
                Meaning::Column(..)
                    | Meaning::Value(..)
                    | Meaning::Concept(_)
                    | Meaning::Table(_)
                    | Meaning::RowNoun(_)
            )
        })
    });
    let beyond = lexed.mentions.iter().flat_map(|m| &m.meanings).find_map(|m| match m {
        Meaning::Beyond(b) => Some(*b),
        _ => None,
    });
    beyond.filter(|_| !about_data)
}

/// A question that only makes sense after another one.
fn is_follow_up(draft: &Draft, tokens: &[Token], text: &str) -> bool {
    let opens = tokens.first().is_some_and(|t| {
        matches!(t.tok, Tok::Word(Word::WhatAbout | Word::Instead | Word::Only | Word::Exclude | Word::And))
    });
    let says = draft.says_any(&[Word::Instead, Word::WhatAbout]);
    let names_measure = !draft.measures.is_empty()
        || draft.says_any(&[
            Word::Describe,
            Word::Missing,
            Word::Duplicates,
            Word::Columns,
            Word::Preview,
            Word::Cohort,
            Word::Funnel,
        ]);
    let short = text.chars().count() <= 40;
    let chart_only = draft.chart.is_some() && draft.measures.is_empty() && draft.dims.is_empty();
    let fragment =
        !names_measure && short && !draft.says_any(&[Word::HowMany, Word::Which, Word::Who, Word::List]);
    let changes_agg = short && draft.loose_agg.is_some() && draft.measures.is_empty();
    (opens || says) && short || chart_only || fragment || changes_agg
}

/// `and guests from the UK?`: people are named to say whose rows; the figure stays.
fn only_narrows(scope: &Scope<'_>, new: &Draft, tokens: &[Token]) -> bool {
    const FIGURES: [Word; 6] =
        [Word::HowMany, Word::HowMuch, Word::Count, Word::Sum, Word::Mean, Word::Median];
    let figure = |t: &Token| matches!(t.tok, Tok::Col(c, _) if scope.role(c) == crate::table::Role::Measure);
    let told = |i: usize| matches!(tokens.get(i + 1).map(|t| &t.tok), Some(Tok::Val(..)));
    let mut named = (0..tokens.len()).filter(|i| figure(&tokens[*i])).peekable();
    named.peek().is_some()
        && named.all(|i| asked::is_people(&tokens[i].text) && told(i))
        && new.loose_agg.is_none()
        && !new.says_any(&FIGURES)
}

/// The earlier question with what the new words change.
fn merge(scope: &Scope<'_>, old: &Draft, new: Draft) -> Draft {
    let mut out = old.clone();
    out.notes = new.notes.clone();
    out.notes.push(Note::FollowUp);
    if !new.measures.is_empty() {
        out.measures.clone_from(&new.measures);
        out.loose_agg = None;
        for w in [Word::Mean, Word::Median, Word::Stddev, Word::Variance, Word::Sum] {
            out.words.remove(&w);
        }
    }
    if let Some(agg) = new.loose_agg {
        for wanted in &mut out.measures {
            if let Wanted::Plain(_, slot) = wanted {
                *slot = Some(agg);
            }
        }
        out.loose_agg = Some(agg);
    }
    if !new.dims.is_empty() {
        out.dims.clone_from(&new.dims);
        if new.grain.is_none() {
            out.grain = None;
            for w in [Word::Trend, Word::Month, Word::Year, Word::Quarter, Word::Week, Word::Day] {
                out.words.remove(&w);
            }
        }
    }
    if new.grain.is_some() {
        out.grain = new.grain;
        if new.dims.is_empty() && new.says(Word::Instead) {
            out.dims.clear();
        }
        for w in [Word::Highest, Word::Lowest, Word::Top, Word::Bottom, Word::Which] {
            out.words.remove(&w);
        }
        out.limit = None;
        out.order = None;
    }
    for (column, value, negated) in &new.values {
        let same = |c: &crate::lex::ColRef| c == column;
        if !new.values.iter().take_while(|v| v.1 != *value).any(|v| v.0 == *column) {
            out.values.retain(|(c, _, _)| !same(c));
        }
        out.values.push((*column, value.clone(), *negated));
        // A group narrowed to one value is no group any more.
        if !negated && new.values.len() == 1 && scope.tables.len() > column.table && !new.says(Word::Compare)
        {
            out.dims.retain(|d| !same(d));
        }
    }
    if !new.times.is_empty() {
        // `and in the second half?`: of the same year.
        let year = old.times.first().and_then(|t| t.said_year());
        out.times = new.times.iter().map(|t| year.map_or(*t, |y| t.in_year(y))).collect();
    }
    if !new.numbers.is_empty() {
        out.numbers.clone_from(&new.numbers);
    }
    out.flags.extend(new.flags.iter().copied());
    out.chart = new.chart.or(out.chart);
    out.limit = new.limit.or(out.limit);
    out.order = new.order.or(out.order);
    out.words
        .extend(new.words.iter().filter(|w| !matches!(w, Word::WhatAbout | Word::Instead | Word::HowMuch)));
    out.beyond = new.beyond;
    out.lacking = new.lacking;
    out
}
