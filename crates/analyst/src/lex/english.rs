//! What English sentences say by more than one word: names in short forms, units as nouns, cells without a value, one
//! period over another, talk about the question itself. Decides nothing about what is asked.

use std::sync::LazyLock;

use regex::Regex;

use super::{ColRef, Dictionary, Meaning, Mention};
use crate::norm::is_word;
use crate::word::Word;

type Hits = Vec<(usize, usize, Meaning)>;

/// Who wants to know and why, how the answer should look, which rule is meant where there is only one.
const TALK: [&str; 11] = [
    r"\((?:in )?(?:days|hours|hrs|minutes|mins|seconds|secs|weeks|months|years)\)",
    r"\bin (?:days|hours|minutes|seconds|months)\b",
    r"\b(?:(?:use|using|with|by|per|via|on|under|apply|applying|according to)\s+)?(?:the |a )?1\.5\s*(?:x|×|\*|times)?\s*(?:the )?(?:iqr|interquartile range)(?:\s+(?:rule|method|fences?|criterion|test))?\b",
    r"\b(?:using|with|by|use|per|under)\s+(?:the )?(?:iqr|interquartile(?: range)?|tukey)(?:\s+(?:rule|method|fences?|criterion|test))?\b",
    r"\bwhere (?:do|does|did) (?:our|the|most(?: of)?(?: our| the)?|all(?: our| the)?)\s+\w+(?:\s\w+)? (?:come|came) from\b",
    r"[,;(]\s*not (?:by |just )?(?:the |its |their |an? )?(?:codes?|ids?|numbers?|sku|keys?)\b",
    r"^\s*(?:so |ok |hi |hello |hey |morning |right |well )*,?\s*(?:the |my |our |a )?(?:big )?(?:boss|manager|board|ceo|cfo|coo|md|gm|director|finance|accounts|accountant|auditors?|owner|chairman|chair|(?:\w+ )?report|head office|hq|treasurer|committee|trustees|council|investors?|bank|landlord|marketing|hr|funders?|insurer|insurers)(?: team| people| guys| folks| lady| guy)? (?:needs|need|wants|want|asked|is asking|are asking|asks|ask|would like|keeps asking|wanted|needed)(?: to know| to see| for| about| me| us)*(?: this| it| that)?(?: first)?\b\s*[:,-]?",
    r"\b(?:this is |it's |its |just |only )?(?:for|in|going into|goes into|to put in|to go in) (?:the|a|an|my|our|this|next)(?: \w+)? (?:report|meeting|deck|presentation|newsletter|audit|tax return|application|bid|briefing|dashboard|slides?|slide deck|email|website|board pack|funders?|trustees|auditors?|accountant|press release|grant)\b",
    r"\b(?:i|we) (?:just |only |really |also )?(?:need|want|would like|'d like) (?:it |this |that |the answer )?(?:as|in) (?:a |an |the )?(?:number|figure|percentage|percent|list|table)\b",
    r"\b(?:ignore|ignoring|skip|skipping|disregard|disregarding|leave out|leaving out|omit|omitting|without counting|not counting) (?:the |any |all |all the )?(?:blanks?|empty (?:ones|cells|rows|values|entries)|missing (?:ones|values|rows|data|entries)|nulls?|null values|unknowns|gaps)\b",
    r"\bwhere (?:it is |it's |they are |one is )?(?:available|known|recorded|present|given|there is one)\b",
];

/// Right before a column: a row has no value of it.
const OPENS: &str = r"(?:\b(?:with|have|has|had|having|got|there's|there is|there was|show|shows|carry|carries)\s+)?\b(?:no|(?:without|lacking|lacks?|missing|minus)(?: an?| any| the| their| its)?|(?:don'?t|doesn'?t|didn'?t|do not|does not|did not|do|does|did|haven'?t|hasn'?t|hadn'?t)(?: we| they| you| i)?(?: not)? (?:have|know|show|list|carry|state|record|recorded|give|leave|got|hold|say)(?: an?| any| the| their| its)?|(?:nobody|no one|no-one|nothing|noone|none) (?:in|under|as|for)(?: the)?|(?:aren'?t|isn'?t|weren'?t|wasn'?t|not|never|n't been|haven'?t been|hasn'?t been) (?:yet )?(?:tied|linked|attached|associated|assigned|connected|matched|mapped|allocated|attributed|tagged|given|belonging)(?: up)?(?: to| with)?(?: an?| any| the)?|unknown|unrecorded|unspecified|undefined|undocumented|blank|empty|null)\s+$";
/// Right after a column: it has no value.
const CLOSES: &str = r"^\s*(?:(?:field|column|cell|value|entry|box|slot|bit|info|information|details?)s?\s+)?(?:(?:is|are|was|were|being|been|left|has|have|had|that|which|still|just|comes?|came|shows?|=|:)\s+)*(?:up\s+|as\s+)?(?:blanks?|empty|missing|unknown|null|none|n/a|unrecorded|unspecified|undefined|absent|(?:not|never|isn'?t|aren'?t|wasn'?t|weren'?t|hasn'?t been|haven'?t been|not been|never been|n't)(?: yet| been)* (?:recorded|known|given|listed|filled(?: in| out)?|entered|specified|provided|stated|noted|logged|captured|present|supplied|populated|completed|documented|on record|written down|put in|set))\b";
/// What may follow a column no value of which is there.
const TAILS: &str = r"^\s+(?:(?:being|been|is|was|were|has been|ever)\s+)*(?:listed|recorded|given|set|entered|filled in|filled out|on file|on record|noted|logged|attached|assigned|available|specified|provided|stated|shown|filled|against (?:it|them)|at all|known|written down|in (?:it|them))\b";

static TALKS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| TALK.iter().filter_map(|p| Regex::new(p).ok()).collect());
static OPEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(OPENS).ok());
static CLOSE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(CLOSES).ok());
static TAIL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(TAILS).ok());

/// Talk about the question, and columns named by short forms or by how long something takes.
pub(super) fn add(text: &[char], joined: &str, dictionary: &Dictionary, hits: &mut Hits) {
    let at = |byte: usize| joined[..byte].chars().count();
    let counts = ["how many", "number of", "count"].iter().any(|w| joined.contains(w));
    for (i, talk) in TALKS.iter().enumerate() {
        // `how many, ignoring the blanks` asks for fewer rows.
        if i >= TALK.len() - 2 && counts {
            continue;
        }
        hits.extend(talk.find_iter(joined).map(|m| (at(m.start()), at(m.end()), Meaning::Stop)));
    }
    let words = words(text);
    for first in 0..words.len() {
        let mut row: Vec<String> = Vec::new();
        for (i, (start, _, word)) in words.iter().enumerate().skip(first).take(6) {
            let apart = i > first && (start - words[i - 1].1 != 1 || !matches!(text[start - 1], ' ' | '-'));
            if apart {
                break;
            }
            row.push(word.clone());
        }
        // `more than 2 hours to fix`: the hours belong to the number.
        let numbered = first > 0 && words[first - 1].2.bytes().all(|b| b.is_ascii_digit());
        if numbered && crate::units::ending(&row[0]).is_some() {
            continue;
        }
        for (length, meaning) in dictionary.named_by_words(&row) {
            let hit = (words[first].0, words[first + length - 1].1, meaning);
            if !hits.contains(&hit) {
                hits.push(hit);
            }
        }
    }
}

/// `not paid`, where a column says who paid: `not` and the column.
pub(super) fn split_denials(hits: &mut Hits) {
    let named: Vec<(usize, usize)> = hits
        .iter()
        .filter(|(_, _, m)| matches!(m, Meaning::Column(_, 4) | Meaning::Value(_, _, 4)))
        .map(|(s, e, _)| (*s, *e))
        .collect();
    let denied = |start: usize, end: usize| named.iter().any(|(s, e)| *e == end && *s > start);
    hits.retain(|(s, e, m)| *m != Meaning::Word(Word::Exclude) || !denied(*s, *e));
}

fn words(text: &[char]) -> Vec<(usize, usize, String)> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let start = at;
        while at < text.len() && is_word(text[at]) && text[at].is_ascii() {
            at += 1;
        }
        if at > start {
            out.push((start, at, text[start..at].iter().collect()));
        } else {
            at += 1;
        }
    }
    out
}

/// The columns a mention may stand for.
pub(super) fn columns(mention: &Mention, dictionary: &Dictionary) -> Vec<ColRef> {
    let of = |m: &Meaning| match m {
        Meaning::Column(at, _) => vec![*at],
        Meaning::Concept(i) => {
            let stands = dictionary.facts.concepts.iter().filter(|(c, _)| c == i);
            stands.map(|(_, at)| *at).collect()
        }
        _ => Vec::new(),
    };
    mention.meanings.iter().flat_map(of).collect()
}

/// `kg by variety` names the column in kilograms; `500 kg` and `weight in kg` only say in what.
pub(super) fn settle_units(text: &[char], mentions: &mut [Mention], dictionary: &Dictionary) {
    let unit_of = |m: &Mention| {
        let named = m.meanings.iter().any(|m| matches!(m, Meaning::Column(_, 2)));
        m.meanings.iter().find_map(|m| match m {
            Meaning::Unit(u) if named => Some(*u),
            _ => None,
        })
    };
    for i in 0..mentions.len() {
        let Some(unit) = unit_of(&mentions[i]) else { continue };
        let held = |c: &ColRef| dictionary.facts.measured.iter().any(|(at, u)| at == c && *u == unit);
        let number = |m: &Mention| m.meanings.iter().any(|m| matches!(m, Meaning::Number(_)));
        let counted = i > 0 && number(&mentions[i - 1]) && mentions[i].start - mentions[i - 1].end <= 1;
        let counted = counted || mentions[i].start > 0 && text[mentions[i].start - 1].is_ascii_digit();
        let elsewhere = mentions
            .iter()
            .enumerate()
            .any(|(j, m)| j != i && unit_of(m).is_none() && columns(m, dictionary).iter().any(held));
        // `what did a pound of food cost`: one of them, not all.
        let before: String = text[..mentions[i].start].iter().collect();
        let one = [" a ", " an ", " one "].iter().any(|w| before.ends_with(w));
        if counted || elsewhere || one {
            mentions[i].meanings.retain(|m| !matches!(m, Meaning::Column(_, 2)));
        } else {
            mentions[i].meanings.retain(|m| !matches!(m, Meaning::Unit(_)));
        }
    }
}

/// `2024 over 2023` compares; `shipments going to Dubai` foretell nothing.
pub(super) fn settle_neighbours(mentions: &mut [Mention]) {
    let time = |m: &Mention| m.meanings.iter().any(|m| matches!(m, Meaning::Time(_)));
    let value = |m: &Mention| m.meanings.iter().any(|m| matches!(m, Meaning::Value(_, _, 3..)));
    for i in 0..mentions.len() {
        let next = mentions.get(i + 1).filter(|n| n.start - mentions[i].end <= 5);
        let over = mentions[i].text == "over" && i > 0 && time(&mentions[i - 1]) && next.is_some_and(time);
        const LINKS: [&str; 8] =
            ["going to", "due to", "because of", "caused by", "reason", "reasons", "cause", "down to"];
        let bound = LINKS.contains(&mentions[i].text.as_str()) && next.is_some_and(value);
        if over {
            mentions[i].meanings = vec![Meaning::Word(Word::Compare)];
        } else if bound {
            mentions[i].meanings = vec![Meaning::Stop];
        }
    }
}

/// `no reserve listed`, `campaign id empty`, `don't know the age`: rows without a value of a column.
pub(super) fn find_gaps(text: &[char], mentions: &mut Vec<Mention>, dictionary: &Dictionary) {
    let gappy: Vec<(usize, usize)> = mentions
        .iter()
        .filter(|m| columns(m, dictionary).iter().any(|c| dictionary.facts.gappy.contains(c)))
        .map(|m| (m.start, m.end))
        .collect();
    for (start, end) in gappy {
        let before: String = text[..start].iter().collect();
        let after: String = text[end..].iter().collect();
        let length = |s: &str| s.chars().count();
        if let Some(found) = OPEN.as_ref().and_then(|r| r.find(&before)) {
            let from = length(&before[..found.start()]);
            replace(mentions, from, from + length(found.as_str().trim_end()), Meaning::Word(Word::Missing));
            if let Some(tail) = TAIL.as_ref().and_then(|r| r.find(&after)) {
                replace(mentions, end + 1, end + length(tail.as_str()), Meaning::Stop);
            }
            ask_how_many(mentions);
            return;
        }
        if let Some(found) = CLOSE.as_ref().and_then(|r| r.find(&after)) {
            let lead = length(found.as_str()) - length(found.as_str().trim_start());
            // Said after the column or before it, it is the same.
            replace(mentions, end + lead, end + length(found.as_str()), Meaning::Stop);
            if start > 0 && mentions.iter().all(|m| m.end < start || m.start >= start) {
                replace(mentions, start - 1, start, Meaning::Word(Word::Missing));
            } else {
                replace(mentions, end + lead, end + length(found.as_str()), Meaning::Word(Word::Missing));
            }
            return;
        }
    }
}

/// `lots with no reserve listed`: how many, where nothing else is asked.
fn ask_how_many(mentions: &mut Vec<Mention>) {
    let asks = |m: &Meaning| matches!(m, Meaning::Word(w) if !matches!(w, Word::Missing | Word::Exclude | Word::And | Word::Only | Word::Rows));
    if !mentions.iter().any(|m| m.meanings.iter().any(asks)) {
        let meanings = vec![Meaning::Word(Word::Count)];
        mentions.insert(0, Mention { start: 0, end: 0, text: "count".to_owned(), meanings });
    }
}

/// Puts one mention where others were.
fn replace(mentions: &mut Vec<Mention>, start: usize, end: usize, meaning: Meaning) {
    mentions.retain(|m| m.end <= start || m.start >= end);
    let text = if meaning == Meaning::Stop { String::new() } else { "missing".to_owned() };
    mentions.push(Mention { start, end, text, meanings: vec![meaning] });
    mentions.sort_by_key(|m| m.start);
}

/// `equipment type` where a column is called `type`: what no column stands for, before one that says which.
pub(super) fn pass_over_modifiers(text: &[char], mentions: &mut [Mention], dictionary: &Dictionary) {
    for i in 1..mentions.len() {
        let (before, head) = (&mentions[i - 1], &mentions[i]);
        let close = head.start == before.end + 1 && text[before.end] == ' ';
        if close && lacks_column(before, dictionary) && is_group(head, dictionary) {
            mentions[i - 1].meanings = vec![Meaning::Stop];
        }
    }
}

/// `how long does a car sit on the lot`, where a column is called `days on lot`: that figure, no group.
pub(super) fn find_lengths(mentions: &mut [Mention], dictionary: &Dictionary) {
    let asked =
        mentions.iter().position(|m| matches!(m.text.as_str(), "how long" | "how quickly" | "how fast"));
    let Some(asked) = asked else { return };
    let mut found: Vec<(usize, ColRef)> = Vec::new();
    for (i, mention) in mentions.iter().enumerate().skip(asked + 1) {
        let word = vec![mention.text.clone()];
        found.extend(dictionary.takes_so_long(&word).map(|at| (i, at)));
    }
    if let [(i, at)] = found[..] {
        mentions[i].meanings = vec![Meaning::Column(at, 4)];
    }
}

/// Words beside others that only say more of the same: `lapsed` beside a lapse reason, `customer` of `customer country`,
/// `all lots`, the verb `book`, the day of `daily entries`.
pub(super) fn pass_over_repeats(text: &[char], mentions: &mut [Mention], dictionary: &Dictionary) {
    let word = |m: &Mention, wanted: &[Word]| {
        m.meanings.iter().any(|m| matches!(m, Meaning::Word(w) if wanted.contains(w)))
    };
    let rows =
        |m: &Mention| m.meanings.iter().any(|m| matches!(m, Meaning::RowNoun(_) | Meaning::Word(Word::Rows)));
    let asks = mentions.iter().any(|m| word(m, &[Word::HowMany, Word::Count]));
    for i in 0..mentions.len() {
        let partial =
            mentions[i].meanings.iter().all(|m| matches!(m, Meaning::Value(_, _, ..=2) | Meaning::Stop));
        if (partial || lacks_column(&mentions[i], dictionary))
            && is_reasoned(&mentions[i].text, mentions, dictionary)
        {
            mentions[i].meanings = vec![Meaning::Stop];
            continue;
        }
        let next_to = |a: usize, b: usize| mentions[b].start == mentions[a].end + 1;
        let next = mentions.get(i + 1).filter(|_| next_to(i, i + 1));
        let said: String = text[..mentions[i].start].iter().collect();
        let said = said.trim_end();
        let all = ["all", "all the", "all our", "all of the", "all of our"].iter().any(|a| {
            said.strip_suffix(a).is_some_and(|b| b.is_empty() || b.trim_end().ends_with([',', '(', '-']))
        });
        let unique = |m: &Mention| {
            let found = columns(m, dictionary);
            !found.is_empty() && found.iter().all(|c| dictionary.facts.unique.contains(c))
        };
        let everything = all && (unique(&mentions[i]) || rows(&mentions[i]));
        let sent = matches!(mentions[i].text.as_str(), "send" | "sends" | "write" | "draft" | "translate");
        // `book` may be a verb; what something `cost` is a figure.
        let figure =
            |m: &Meaning| matches!(m, Meaning::Concept(c) if dictionary.facts.quantities.contains(c));
        let noun = lacks_column(&mentions[i], dictionary) && !mentions[i].meanings.iter().any(figure);
        let verb = (noun || sent) && crate::tolerate::is_verb(text, mentions[i].start, mentions);
        let daily =
            asks && word(&mentions[i], &[Word::Day, Word::Week, Word::Month]) && next.is_some_and(rows);
        let owner = i > 0
            && word(&mentions[i - 1], &[Word::By])
            && next_to(i - 1, i)
            && !mentions[i].text.ends_with('s')
            && mentions[i].text.is_ascii()
            && is_owner(&mentions[i], dictionary)
            && next.is_some_and(|n| is_group(n, dictionary) && !is_owner(n, dictionary));
        if everything || verb || daily || owner {
            mentions[i].meanings = vec![Meaning::Stop];
        }
    }
}

/// One of those the rows are about, by number or name.
fn is_owner(mention: &Mention, dictionary: &Dictionary) -> bool {
    let found = columns(mention, dictionary);
    !found.is_empty() && found.iter().any(|c| dictionary.facts.owners.contains(c))
}

/// Only concepts that no column stands for.
pub(super) fn lacks_column(mention: &Mention, dictionary: &Dictionary) -> bool {
    let lacking = |m: &Meaning| match m {
        Meaning::Concept(i) => !dictionary.facts.concepts.iter().any(|(c, _)| c == i),
        Meaning::Stop => true,
        _ => false,
    };
    mention.meanings.iter().any(|m| matches!(m, Meaning::Concept(_))) && mention.meanings.iter().all(lacking)
}

/// What a word nobody knows means is told right after it: `failed, say final mark under 50`, `sweetest (highest brix)`.
pub(super) fn is_explained(text: &[char], end: usize, mentions: &[Mention]) -> bool {
    static GLOSS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^(?: \w+){0,2}\s*[,;?-]?\s*(?:\((?:i\.?e\.?|say|meaning|that is|so)?|(?:say|i\.?e\.?|meaning|that is|defined as|as in|by which i mean)\b)").ok()
    });
    let after: String = text[end..].iter().collect();
    let Some(gloss) = GLOSS.as_ref().and_then(|r| r.find(&after)) else { return false };
    let from = end + gloss.as_str().chars().count();
    let rest = || mentions.iter().filter(|m| m.start >= from);
    let has = |f: &dyn Fn(&Meaning) -> bool| rest().any(|m| m.meanings.iter().any(f));
    let named = has(&|m| matches!(m, Meaning::Column(..) | Meaning::Concept(_)));
    let told = has(&|m| {
        matches!(m, Meaning::Number(_) | Meaning::Value(..))
            || matches!(m, Meaning::Word(Word::Highest | Word::Lowest | Word::Missing | Word::Divided))
    });
    named && told
}

/// A verb that a column of reasons is about, where one of its reasons is said: `lapsed over price`.
pub(super) fn is_reasoned(word: &str, mentions: &[Mention], dictionary: &Dictionary) -> bool {
    let said = |c: &ColRef| {
        mentions.iter().any(|m| m.meanings.iter().any(|m| matches!(m, Meaning::Value(at, _, 3..) if at == c)))
    };
    let late = |w: &str| matches!(w, "late" | "delayed" | "delay" | "delays");
    dictionary
        .facts
        .reasons
        .iter()
        .any(|(c, verb)| said(c) && (crate::names::same_word(word, verb) || late(word) && late(verb)))
}

/// A column that tells rows apart, by its own name.
pub(super) fn is_group(mention: &Mention, dictionary: &Dictionary) -> bool {
    let named = |m: &Meaning| matches!(m, Meaning::Column(at, 4) if dictionary.facts.groups.contains(at));
    mention.meanings.iter().any(named)
}

/// A noun nobody knows before a column called by what it is (`vehicle class`, `grant type`), in a question that asks by it.
pub(super) fn modifies_class(
    text: &[char],
    start: usize,
    end: usize,
    mentions: &[Mention],
    dictionary: &Dictionary,
) -> bool {
    const HEADS: [&str; 28] = [
        "type",
        "types",
        "kind",
        "category",
        "categories",
        "class",
        "classes",
        "name",
        "names",
        "status",
        "year",
        "date",
        "level",
        "group",
        "code",
        "number",
        "id",
        "method",
        "source",
        "state",
        "grade",
        "stage",
        "area",
        "zone",
        "region",
        "country",
        "city",
        "title",
    ];
    const ADJECTIVES: [&str; 11] = ["al", "ic", "ed", "ing", "y", "ous", "ive", "ful", "less", "able", "est"];
    let word: String = text[start..end].iter().collect();
    let noun = word.len() >= 4 && !ADJECTIVES.iter().any(|a| word.ends_with(a));
    let head = mentions.iter().find(|m| m.start == end + 1);
    let asked = mentions.iter().filter(|m| m.end < start).max_by_key(|m| m.end);
    let asked = asked.is_some_and(|m| {
        start - m.end <= 5
            && m.meanings.iter().any(|m| matches!(m, Meaning::Word(Word::By | Word::Which | Word::HowMany)))
    });
    noun && asked && head.is_some_and(|h| HEADS.contains(&h.text.as_str()) && is_group(h, dictionary))
}
