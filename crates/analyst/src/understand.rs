//! Understands a conversation's questions over the profiles of its tables: words in, one [`Question`] or a
//! [`Refusal`] out. Pure; the same words and tables always give the same question.

use crate::budget::{Budget, LONGEST};
use crate::glossary::Glossary;
use crate::judge;
use crate::lex::{Dictionary, Lexed, Meaning, lex};
use crate::question::{Note, Question, Refusal};
use crate::table::Table;
use crate::weigh::weigh;
use crate::word::{Beyond, Word};

/// What the tables and the vocabulary say about one text.
pub struct Understanding {
    pub question: Result<Question, Refusal>,
    /// Words still unknown: worth a look into the values of the tables.
    pub unknown: Vec<String>,
    /// A word that asks for figures was said.
    pub asks: bool,
    /// What the best reading looks like, for the judge; nothing where there is none.
    pub marks: Vec<String>,
    /// Who decided, for those who measure.
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
    let budget = Budget::default();
    let mut previous: Option<Question> = None;
    for text in earlier.iter().filter(|t| t.chars().count() <= LONGEST) {
        let lexed = lex(text, dictionary);
        let (answer, ..) = read(glossary, tables, &lexed, text, previous.as_ref(), &budget);
        previous = answer.ok().or(previous);
    }
    if question.chars().count() > LONGEST {
        let (question, reader) = (Err(Refusal::TooLong), "budget");
        return Understanding { question, unknown: vec![], asks: true, marks: vec![], reader, work: 0 };
    }
    let lexed = lex(question, dictionary);
    let unknown = unknown(&lexed);
    let asks = lexed.mentions.iter().any(|m| m.meanings.iter().any(asks_figures));
    let (question, marks, reader) = read(glossary, tables, &lexed, question, previous.as_ref(), &budget);
    Understanding { question, unknown, asks, marks, reader, work: budget.spent() }
}

/// Readings that say something more far-fetched than this are wrong most of the time.
const DEAR: f32 = 2.45;

/// The lightest reading, unless it is beyond the tables or far-fetched; with its marks and who decided.
fn read(
    glossary: &Glossary,
    tables: &[Table],
    lexed: &Lexed,
    text: &str,
    previous: Option<&Question>,
    budget: &Budget,
) -> (Result<Question, Refusal>, Vec<String>, &'static str) {
    if let Some(beyond) = plainly_beyond(lexed, text) {
        return (Err(Refusal::Beyond(beyond)), Vec::new(), "beyond");
    }
    if tables.is_empty() {
        return (Err(Refusal::NoTable), Vec::new(), "none");
    }
    match weigh(glossary, tables, lexed, previous, budget) {
        Err(_) if !budget.spend(0) => (Err(Refusal::TooLong), Vec::new(), "budget"),
        Err(Refusal::NothingAsked) => (Err(puzzled(lexed)), Vec::new(), "none"),
        Err(refusal) => (Err(refusal), Vec::new(), "none"),
        Ok(weighed) if judge::is_beyond(&weighed.marks) => (Err(puzzled(lexed)), weighed.marks, "judge"),
        Ok(weighed) if weighed.strained >= DEAR => (Err(puzzled(lexed)), weighed.marks, "dear"),
        Ok(mut weighed) => {
            let mended = lexed.mended.iter().cloned();
            weighed.question.notes.extend(mended.map(|(written, read)| Note::Spelling { written, read }));
            (Ok(weighed.question), weighed.marks, "weigh")
        }
    }
}

fn unknown(lexed: &Lexed) -> Vec<String> {
    lexed.unknown.iter().chain(&lexed.ignored).cloned().collect()
}

/// What is said where no reading is good enough: what is asked that no table tells, else the words nothing is known about.
fn puzzled(lexed: &Lexed) -> Refusal {
    let unknown = unknown(lexed);
    match beyond(lexed) {
        Some(beyond) => Refusal::Beyond(beyond),
        None if unknown.is_empty() => Refusal::NotInTables,
        None => Refusal::Unknown(unknown),
    }
}

fn asks_figures(meaning: &Meaning) -> bool {
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
    matches!(meaning, Meaning::Word(w) if ASKING.contains(w))
}

/// Chat and the like, when nothing about the tables is said beside it; and what nobody's table knows.
fn plainly_beyond(lexed: &Lexed, text: &str) -> Option<Beyond> {
    if asks_the_future(text) {
        return Some(Beyond::Judgement);
    }
    let names = |m: &Meaning| {
        matches!(
            m,
            Meaning::Column(..)
                | Meaning::Value(..)
                | Meaning::Concept(_)
                | Meaning::Table(_)
                | Meaning::RowNoun(_)
        )
    };
    beyond(lexed).filter(|_| !lexed.mentions.iter().any(|m| m.meanings.iter().any(names)))
}

fn beyond(lexed: &Lexed) -> Option<Beyond> {
    lexed.mentions.iter().flat_map(|m| &m.meanings).find_map(|m| match m {
        Meaning::Beyond(b) => Some(*b),
        _ => None,
    })
}

/// `Will it …?`, `how much would a new one cost`.
fn asks_the_future(text: &str) -> bool {
    const FORETOLD: [&str; 6] = ["forecast", "predict", "projection", "estimate", "linear", "straight"];
    const SUPPOSED: [&str; 4] = ["how much would ", "how many would ", "what would ", "how long would "];
    let text = crate::norm::normal(text);
    let text = text.trim();
    let says = |words: &[&str]| words.iter().any(|w| text.contains(w));
    let supposed = says(&SUPPOSED) && !says(&["would you", "would be the"]);
    (supposed || text.contains(" will ")) && !says(&FORETOLD)
        || text.starts_with("will ")
        || text.contains('会') && (text.ends_with('吗') || text.ends_with("吗?"))
}
