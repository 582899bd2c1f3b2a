//! What it costs to pass over a word nothing is known about: little for a verb or an adjective, too much for the noun that
//! is counted, measured or grouped by. This is how questions beyond the tables are recognised.

use crate::norm::is_cjk;
use crate::weigh::items::{Item, Sense};
use crate::weigh::view::View;
use crate::word::Word;

/// More than any reading may cost.
const BLOCKED: f32 = 6.0;

pub fn cost(view: &View<'_>, i: usize) -> f32 {
    let item = &view.items[i];
    // What became of something is never passed over.
    let fate = crate::plain::tells_a_fate(&item.text)
        || view.scope.glossary.fates.iter().any(|f| f.chars().count() > 1 && item.text.contains(f.as_str()));
    if fate && !explained(view, item) {
        return BLOCKED;
    }
    if explained(view, item) {
        return 0.5;
    }
    if apart(view, i) {
        return 0.9;
    }
    if item.text.chars().next().is_some_and(is_cjk) { chinese(view, i) } else { english(view, i) }
}

/// Characters that are no part of a noun.
const PARTICLES: &str = "的了是在有和与要会都也就还把被从到给吗呢吧里中上下内又并且而让请我你他她它这那该此所以于由其之着过得地再才只很最更个位名各每一不没";

/// What it costs to pass over a word that mostly changes nothing.
pub fn of_no_meaning(view: &View<'_>, i: usize) -> f32 {
    let item = &view.items[i];
    let before = i.checked_sub(1).map(|k| &view.items[k]);
    let seldom = if view.scope.glossary.seldom.contains(&item.text) { 0.6 } else { 0.0 };
    // `turned away`: it did become of them.
    let seldom = if seldom > 0.0 && item.text.contains(' ') { 2.0 } else { seldom };
    if view.english {
        // `how many docks does it have`: a noun here, though it may be a verb elsewhere.
        let counted = before.is_some_and(|b| b.word() == Some(Word::HowMany));
        let verb = view.items.get(i + 1).is_some_and(|n| {
            ["do", "does", "did", "are", "were", "have", "has"]
                .iter()
                .any(|v| n.text.split(' ').next() == Some(v))
        });
        return if counted && verb && item.text.len() > 3 && !item.text.contains(' ') {
            BLOCKED
        } else {
            seldom
        };
    }
    // `招聘费`, `店员`: another thing than what the word before it names.
    let noun = before.is_some_and(|b| {
        b.end == item.start
            && b.senses.iter().any(|(s, _)| matches!(s, Sense::Column(_) | Sense::Value(..) | Sense::Row))
    });
    if noun && matches!(item.text.as_str(), "费" | "价" | "款" | "薪" | "证" | "员" | "长" | "师") {
        return 2.3;
    }
    // `停了几次电`
    let counted = before
        .is_some_and(|b| b.end == item.start && b.word() == Some(Word::HowMany) && view.counts_rows(i - 1));
    if counted
        && item.text.chars().count() == 1
        && !PARTICLES.contains(item.text.as_str())
        && item.text != "货"
    {
        return 2.3;
    }
    // `外地人`: characters that only together say something.
    let apart = |k: usize| {
        let other = &view.items[k];
        other.text.chars().count() == 1 && view.scope.glossary.seldom.contains(&other.text)
    };
    let beside = i > 0 && view.items[i - 1].end == item.start && apart(i - 1)
        || view.items.get(i + 1).is_some_and(|n| n.start == item.end) && apart(i + 1);
    if seldom > 0.0 && item.text.chars().count() == 1 && beside { 1.2 } else { seldom }
}

/// `差评（评分2分及以下）`: the brackets say what is meant.
fn explained(view: &View<'_>, item: &Item) -> bool {
    let rest: String = view.text[item.end..].iter().take(24).collect();
    rest.trim_start_matches(|c: char| c.is_alphabetic() || c == ' ' || c == '?').starts_with(['(', '（'])
        && view.text[item.end..].iter().any(|c| matches!(c, ')' | '）'))
}

/// In a clause of its own that tells nothing about the tables: `老板问，…`, `grant report needs this: …`.
fn apart(view: &View<'_>, i: usize) -> bool {
    let clause: Vec<&Item> =
        view.items.iter().enumerate().filter(|(k, _)| view.same_clause(*k, i)).map(|(_, m)| m).collect();
    let tells = |m: &&&Item| {
        m.senses.iter().any(|(s, _)| {
            matches!(
                s,
                Sense::Column(_)
                    | Sense::Value(..)
                    | Sense::Number(_)
                    | Sense::Time(_)
                    | Sense::Ratio(_)
                    | Sense::Lacking(_)
            )
        }) || matches!(
            m.word(),
            Some(
                Word::HowMany
                    | Word::HowMuch
                    | Word::Which
                    | Word::Who
                    | Word::By
                    | Word::Highest
                    | Word::Lowest
                    | Word::Sum
                    | Word::Mean
                    | Word::Count
                    | Word::Share
            )
        )
    };
    clause.len() < view.items.len() && clause.iter().find(tells).is_none()
}

fn known_noun(item: &Item) -> bool {
    item.senses
        .iter()
        .any(|(s, _)| matches!(s, Sense::Column(_) | Sense::Value(..) | Sense::Row | Sense::Ratio(_)))
}

fn chinese(view: &View<'_>, i: usize) -> f32 {
    let item = &view.items[i];
    let size = word_size(view, i);
    let marked = view.before(i).filter(|k| view.items[*k].end == item.start).and_then(|k| view.word(k));
    // `开过几次庭`
    if marked == Some(Word::HowMany) && size == 1 {
        return 2.5;
    }
    if matches!(marked, Some(Word::HowMany | Word::By | Word::Which | Word::HowMuch)) && size > 1 {
        // `多少台手机`: a thing that is counted piece by piece, where rows are such.
        let piece = view.before(i).is_some_and(|k| {
            view.items[k].text.ends_with(['台', '部', '辆', '套', '件', '张', '份', '单', '笔', '场'])
        });
        return if piece && marked == Some(Word::HowMany) { 1.4 } else { BLOCKED };
    }
    let next = view.items.get(i + 1).filter(|n| n.start == item.end);
    // `还欠着的`: a state, which changes what is counted.
    let tail = view.tail(i, 2);
    if size == 1 && (tail.starts_with('着') || tail.starts_with("的")) {
        return 2.5;
    }
    // `店员`: not the shop.
    let compound = i > 0
        && view.items[i - 1].end == item.start
        && view.items[i - 1].text.chars().count() == 1
        && known_noun(&view.items[i - 1]);
    if size == 1 && compound {
        2.5
    } else if size == 1 {
        1.2
    } else if size == 2 && next.is_some_and(known_noun) {
        2.2
    } else {
        3.2
    }
}

/// `人工`, of which only `工` is unknown: how long the word is that a character belongs to.
fn word_size(view: &View<'_>, i: usize) -> usize {
    let item = &view.items[i];
    let size = item.text.chars().count();
    let joins = |k: usize| {
        let part = &view.items[k];
        part.text.chars().count() == 1
            && part.senses.iter().all(|(s, _)| {
                matches!(
                    s,
                    Sense::Stop | Sense::Passed | Sense::Unknown | Sense::Word(Word::Spend | Word::Earn)
                )
            })
            && !part.text.chars().any(|c| PARTICLES.contains(c))
    };
    let before = i > 0 && view.items[i - 1].end == item.start && joins(i - 1);
    let after = view.items.get(i + 1).is_some_and(|n| n.start == item.end) && joins(i + 1);
    size + usize::from(before) + usize::from(after)
}

fn english(view: &View<'_>, i: usize) -> f32 {
    const SUBJECTS: [&str; 7] = ["we", "they", "i", "you", "to", "who", "that"];
    // `were stolen`: what became of them, which nothing tells.
    const BEING: [&str; 9] = ["was", "were", "been", "is", "are", "be", "got", "get", "being"];
    let item = &view.items[i];
    let next = view.items.get(i + 1).filter(|n| !n.breaks && n.start <= item.end + 1);
    let head = view.head(i);
    let last = head.rsplit(' ').next().unwrap_or("");
    const OTHERS: [&str; 9] =
        ["other", "to", "with", "against", "than", "competitor", "competitors", "industry", "national"];
    if last == "other" || view.says(Word::Compare) && OTHERS.contains(&last) {
        return BLOCKED;
    }
    // `spend on plumbing repairs`
    if view
        .before(i)
        .is_some_and(|k| view.word(k) == Some(Word::Spend) && view.items[k].text.ends_with(" on"))
    {
        return BLOCKED;
    }
    if next.is_some_and(known_noun) {
        return 1.3;
    }
    // `the cost of all kit`
    if last == "all" {
        return 1.0;
    }
    if BEING.contains(&last) {
        return 4.0;
    }
    if item.text.ends_with("ly") {
        return 1.0;
    }
    if SUBJECTS.contains(&last) || item.text.ends_with("ing") {
        return 1.3;
    }
    let lead = view.lead(i).and_then(|k| view.word(k));
    if matches!(
        lead,
        Some(
            Word::HowMany
                | Word::By
                | Word::Which
                | Word::Count
                | Word::HowMuch
                | Word::Sum
                | Word::Mean
                | Word::Share
        )
    ) {
        return BLOCKED;
    }
    if item.text.ends_with("ed") { 2.2 } else { 3.2 }
}
