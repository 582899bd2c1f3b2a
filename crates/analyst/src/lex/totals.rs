//! Figures over all rows or over all groups, and words that only say which kind of figure follows. Knows the columns by
//! what the dictionary tells of them; decides nothing about what is asked.

use std::sync::LazyLock;

use regex::Regex;

use super::english::{columns, is_group};
use super::{Dictionary, Meaning, Mention};
use crate::word::Word;

/// `how many flights` of a file of flights, though a few numbers come up again and again: rows. `class sessions` of a file
/// of sessions: sessions, whatever the class.
pub(super) fn count_rows(text: &[char], mentions: &mut [Mention], dictionary: &Dictionary) {
    let asks = |m: &Mention| {
        let count = |m: &Meaning| matches!(m, Meaning::Word(Word::HowMany | Word::Count));
        m.meanings.iter().any(count) && m.text != "how many times" && m.text != "times"
    };
    let close = |a: &Mention, b: &Mention| b.start >= a.end && b.start - a.end <= 1;
    let head = |m: &Mention| {
        let said = crate::names::stem(&m.text);
        let named =
            |t: usize| dictionary.facts.heads.iter().any(|(h, n)| *h == t && crate::names::stem(n) == said);
        m.meanings.iter().find_map(|m| match m {
            Meaning::RowNoun(t) if named(*t) => Some(*t),
            _ => None,
        })
    };
    // `sales of six or more tickets: how many were there`
    static LAST: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?:how many|count|number)(?: were there| was that| are there| is that| in total| in all| of them| altogether| all told| do we have| did we have)?\s*[?.!]*$").ok()
    });
    let joined: String = text.iter().collect();
    if LAST.as_ref().is_some_and(|r| r.is_match(joined.trim_end())) {
        let first = mentions.iter().position(|m| {
            m.meanings
                .iter()
                .any(|m| matches!(m, Meaning::RowNoun(_) | Meaning::Column(..) | Meaning::Concept(_)))
        });
        if let Some((at, table)) = first.and_then(|at| Some((at, head(&mentions[at])?))) {
            mentions[at].meanings = vec![Meaning::RowNoun(table)];
        }
    }
    for i in 1..mentions.len() {
        let recurring = |m: &Mention| {
            let found = columns(m, dictionary);
            !found.is_empty() && found.iter().all(|c| dictionary.facts.recurring.contains(c))
        };
        let asked = asks(&mentions[i - 1]) && close(&mentions[i - 1], &mentions[i]);
        if !asked || !mentions[i].text.is_ascii() || !recurring(&mentions[i]) {
            continue;
        }
        if let Some(table) = head(&mentions[i]) {
            mentions[i].meanings = vec![Meaning::RowNoun(table)];
            continue;
        }
        let rows = |m: &Mention| m.meanings.iter().any(|m| matches!(m, Meaning::RowNoun(_)));
        let group = is_group(&mentions[i], dictionary);
        if group && mentions.get(i + 1).is_some_and(|n| close(&mentions[i], n) && rows(n)) {
            mentions[i].meanings = vec![Meaning::Stop];
        }
    }
}

/// `total across all garages`, `for all the shops together`: over all of them, not for each.
pub(super) fn all_together(text: &[char], mentions: &mut [Mention], dictionary: &Dictionary) {
    const EACH: [Word; 10] = [
        Word::Which,
        Word::Compare,
        Word::Rank,
        Word::Top,
        Word::Bottom,
        Word::Highest,
        Word::Lowest,
        Word::Distribution,
        Word::Share,
        Word::Correlation,
    ];
    let says =
        |mentions: &[Mention], w: Word| mentions.iter().any(|m| m.meanings.contains(&Meaning::Word(w)));
    if EACH.iter().any(|w| says(mentions, *w)) {
        return;
    }
    let total = says(mentions, Word::Sum) || says(mentions, Word::HowMany) || says(mentions, Word::HowMuch);
    for i in 0..mentions.len() {
        if !is_group(&mentions[i], dictionary) && !names_group(&mentions[i], dictionary) {
            continue;
        }
        let before: String = text[..mentions[i].start].iter().collect();
        let after: String = text[mentions[i].end..].iter().collect();
        let before = before.trim_end();
        let ends = |with: &[&str]| with.iter().any(|w| before.ends_with(w));
        let whole = ends(&[
            "across all",
            "across all the",
            "across all our",
            "across all of the",
            "across all of our",
        ]);
        let across = total && ends(&["across", "across the", "across our"]);
        let all = ends(&["all", "all the", "all our", "all of the", "all of our"]);
        let after = after.trim_start();
        let joined = all
            && ["together", "combined", "taken together", "put together"]
                .iter()
                .any(|w| after.starts_with(w));
        if !(whole || across || joined) {
            continue;
        }
        mentions[i].meanings = vec![Meaning::Stop];
        let by = |m: &Mention| m.meanings.iter().any(|m| matches!(m, Meaning::Word(Word::By)));
        if let Some(j) =
            (0..i).rev().find(|j| mentions[*j].start + 22 >= mentions[i].start).filter(|j| by(&mentions[*j]))
        {
            mentions[j].meanings = vec![Meaning::Stop];
        }
    }
}

/// A word for what a column tells rows apart by.
fn names_group(mention: &Mention, dictionary: &Dictionary) -> bool {
    let found = columns(mention, dictionary);
    !found.is_empty() && found.iter().all(|c| dictionary.facts.groups.contains(c))
}

fn is_word(m: &Mention, wanted: &[Word]) -> bool {
    m.meanings.iter().any(|m| matches!(m, Meaning::Word(w) if wanted.contains(w)))
}

/// `total fuel` where a column is called `total`: the sum of the fuel. `income from extras`: the extras.
pub(super) fn leave_figures_to_columns(text: &[char], mentions: &mut [Mention], dictionary: &Dictionary) {
    let figure = |m: &Mention| columns(m, dictionary).iter().any(|c| dictionary.facts.figures.contains(c));
    let money = |m: &Mention| {
        let found = columns(m, dictionary);
        !found.is_empty() && found.iter().all(|c| dictionary.facts.money.contains(c))
    };
    for i in 0..mentions.len().saturating_sub(1) {
        let between: String =
            text[mentions[i].end..mentions[i + 1].start.max(mentions[i].end)].iter().collect();
        let named = mentions[i].meanings.iter().any(|m| matches!(m, Meaning::Column(..)));
        let touching = matches!(between.as_str(), " " | " of " | " of the " | " of all ");
        if is_word(&mentions[i], &[Word::Sum]) && named && touching && figure(&mentions[i + 1]) {
            mentions[i].meanings.retain(|m| matches!(m, Meaning::Word(_)));
            continue;
        }
        const KINDS: [&str; 14] = [
            "income from",
            "income",
            "revenue",
            "sales",
            "takings",
            "earnings",
            "money",
            "spend",
            "spent",
            "spending",
            "cost",
            "costs",
            "proceeds",
            "revenues",
        ];
        let kind = KINDS.contains(&mentions[i].text.as_str());
        let linked = matches!(between.trim(), "from" | "on" | "from the" | "on the" | "of" | "of the")
            || mentions[i].text.ends_with(" from") && between == " ";
        let exact = |m: &Mention| m.meanings.iter().any(|m| matches!(m, Meaning::Column(_, 4)));
        if kind && linked && exact(&mentions[i + 1]) && money(&mentions[i + 1]) && !named {
            mentions[i].meanings = vec![Meaning::Stop];
        }
    }
}

/// `the most returned items` of a file of returns: those with the most rows.
pub(super) fn most_done(text: &[char], mentions: &mut Vec<Mention>, dictionary: &Dictionary) {
    let found = mentions.iter().position(|m| m.text == "most" || m.text.starts_with("most "));
    let Some(at) = found else { return };
    let rest: String = text[mentions[at].start..].iter().collect();
    let Some(done) = rest.strip_prefix("most ").and_then(|r| r.split(' ').next()) else { return };
    let heads = &dictionary.facts.heads;
    let same = |h: &String| crate::names::stem(h) == crate::names::stem(done);
    if done.ends_with("ed") && heads.iter().any(|(_, h)| same(h)) {
        let start = mentions[at].start;
        let end = start + "most ".len() + done.chars().count();
        mentions.retain(|m| m.end <= start || m.start >= end);
        let meanings = vec![Meaning::Word(Word::MostCommon)];
        mentions.push(Mention { start, end, text: format!("most {done}"), meanings });
        mentions.sort_by_key(|m| m.start);
    }
}

/// `total hours`, `average minutes`: the one column in that unit, no time of day.
pub(super) fn name_lengths(mentions: &mut [Mention], dictionary: &Dictionary) {
    const ASKED: [Word; 6] = [Word::Mean, Word::Sum, Word::Median, Word::Max, Word::Min, Word::Stddev];
    for i in 1..mentions.len() {
        let (before, this) = (&mentions[i - 1], &mentions[i]);
        let asked = is_word(before, &ASKED) && this.start == before.end + 1 || before.text == "most";
        let plural = matches!(
            this.text.as_str(),
            "hours" | "hrs" | "minutes" | "mins" | "days" | "nights" | "seconds"
        );
        if !asked || !plural || !is_word(this, &[Word::Hour, Word::Day, Word::Week, Word::Month]) {
            continue;
        }
        let unit = crate::units::ending(&this.text);
        let found = dictionary.facts.measured.iter().filter(|(_, u)| Some(*u) == unit).map(|(at, _)| *at);
        if let [at] = found.collect::<Vec<_>>()[..] {
            mentions[i].meanings = vec![Meaning::Column(at, 2)];
        }
    }
}

/// Stuff that is weighed or measured out.
const STUFF: [&str; 74] = [
    "milk",
    "water",
    "fruit",
    "food",
    "grain",
    "wheat",
    "rice",
    "sugar",
    "flour",
    "meat",
    "fish",
    "oil",
    "gas",
    "petrol",
    "diesel",
    "coffee",
    "tea",
    "beer",
    "wine",
    "juice",
    "honey",
    "cheese",
    "butter",
    "cream",
    "sand",
    "gravel",
    "concrete",
    "cement",
    "steel",
    "iron",
    "waste",
    "rubbish",
    "trash",
    "garbage",
    "plastic",
    "paper",
    "cardboard",
    "glass",
    "metal",
    "wood",
    "timber",
    "lumber",
    "coal",
    "salt",
    "feed",
    "hay",
    "straw",
    "seed",
    "produce",
    "vegetables",
    "veg",
    "potatoes",
    "apples",
    "grapes",
    "compost",
    "soil",
    "mulch",
    "cargo",
    "freight",
    "stuff",
    "material",
    "electricity",
    "power",
    "energy",
    "heat",
    "blood",
    "plasma",
    "paint",
    "ice",
    "fuel",
    "goods",
    "recycling",
    "refuse",
    "crop",
];

/// `litres of milk`: the column says how much of it. Only a word for goods of any kind stands for that column by itself: how
/// much water an orchard got is not what it bore.
pub(super) fn stuff(word: &str, mentions: &[Mention], dictionary: &Dictionary) -> Option<Meaning> {
    const ANY: [&str; 8] = ["fruit", "food", "produce", "goods", "cargo", "crop", "veg", "stuff"];
    let [bulk] = dictionary.facts.bulk[..] else { return None };
    if !STUFF.contains(&word) {
        return None;
    }
    let figure = |m: &Mention| columns(m, dictionary).contains(&bulk);
    let asked = |m: &Mention| {
        is_word(m, &[Word::HowMuch, Word::Sum, Word::Share, Word::Mean])
            || matches!(m.text.as_str(), "most" | "least")
    };
    if mentions.iter().any(figure) {
        return Some(Meaning::Stop);
    }
    // `how much did the food cost`: a figure no column tells.
    if mentions.iter().any(|m| m.text != word && super::english::lacks_column(m, dictionary)) {
        return None;
    }
    (ANY.contains(&word) && mentions.iter().any(asked)).then_some(Meaning::Column(bulk, 2))
}

/// The same for words that are concepts no column stands for.
pub(super) fn name_stuff(mentions: &mut [Mention], dictionary: &Dictionary) {
    for i in 0..mentions.len() {
        if super::english::lacks_column(&mentions[i], dictionary)
            && let Some(meaning) = stuff(&mentions[i].text.clone(), mentions, dictionary)
        {
            mentions[i].meanings = vec![meaning];
        }
    }
}
