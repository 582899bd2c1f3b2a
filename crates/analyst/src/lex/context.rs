//! What the words around a phrase say about it: a value inside a phrase of the vocabulary, a preposition before a value,
//! a number said again in brackets. Knows no table.

use super::{Dictionary, Meaning, Mention};
use crate::word::Word;

/// `保留两位小数`, `单位用万元`: how the answer should look, no condition.
pub(super) fn forms_of_answer(text: &str, patterns: &[regex::Regex]) -> Vec<(usize, usize, Meaning)> {
    let at = |byte: usize| text[..byte].chars().count();
    let found = patterns.iter().flat_map(|p| p.find_iter(text));
    found.map(|m| (at(m.start()), at(m.end()), Meaning::Stop)).collect()
}

/// Words that name a department or a trade as well as a figure: the figure is meant.
const FIGURES: [&str; 6] = ["sales", "sale", "order", "orders", "销售", "订单"];

/// `electricity consumption`, where `electricity` is a value: it limits the rows, and `consumption` is the figure.
pub(super) fn keep_values(text: &[char], hits: &mut Vec<(usize, usize, Meaning)>) {
    let values: Vec<(usize, usize)> = hits
        .iter()
        .filter(|(s, e, m)| e - s >= 2 && matches!(m, Meaning::Value(_, _, 4)))
        .filter(|(s, e, _)| !FIGURES.contains(&text[*s..*e].iter().collect::<String>().as_str()))
        .map(|(s, e, _)| (*s, *e))
        .collect();
    let figures: Vec<(usize, usize)> = hits
        .iter()
        .filter(|(_, _, m)| matches!(m, Meaning::Concept(_) | Meaning::Column(..)))
        .map(|(s, e, _)| (*s, *e))
        .collect();
    let holds = |start: usize, end: usize| {
        let value = values.iter().find(|(s, e)| *s == start && *e < end);
        value.is_some_and(|(_, v)| figures.iter().any(|(s, e)| (*v..=v + 1).contains(s) && *e == end))
    };
    hits.retain(|(s, e, m)| !matches!(m, Meaning::Concept(_)) || !holds(*s, *e));
}

/// `各类别`: `各` and `类别`, not `各类` and a rest.
pub(super) fn keep_names(hits: &mut Vec<(usize, usize, Meaning)>) {
    let asking = |m: &Meaning| matches!(m, Meaning::Word(Word::By | Word::Which | Word::HowMany));
    let cut = |start: usize, end: usize| {
        hits.iter().find_map(|(s, e, m)| {
            let named = matches!(m, Meaning::Concept(_) | Meaning::Column(..) | Meaning::RowNoun(_));
            (named && start < *s && *s < end && end < *e).then_some(*s)
        })
    };
    let amount = |m: &Meaning| matches!(m, Meaning::Word(Word::HowMuch));
    let whole = |start: usize, end: usize| {
        hits.iter().any(|(s, e, m)| *s == start && *e == end && (asking(m) || amount(m)))
    };
    let lost: Vec<(usize, usize)> = hits
        .iter()
        .filter(|(s, e, m)| asking(m) && cut(*s, *e).is_some_and(|at| whole(*s, at)))
        .map(|(s, e, _)| (*s, *e))
        .collect();
    let rows = |m: &Meaning| matches!(m, Meaning::RowNoun(_));
    hits.retain(|(s, e, m)| !((asking(m) || rows(m)) && lost.contains(&(*s, *e))));
}

/// `占总金额`, where a column is called `总金额`: `占` and the column.
pub(super) fn keep_wholes(hits: &mut Vec<(usize, usize, Meaning)>) {
    let share = |m: &Meaning| matches!(m, Meaning::Word(Word::Share));
    let whole = |start: usize, end: usize| {
        hits.iter().any(|(s, e, m)| {
            matches!(m, Meaning::Column(_, 4))
                && start < *s
                && *s < end
                && end <= *e
                && hits.iter().any(|(a, b, m)| *a == start && b == s && share(m))
        })
    };
    let lost: Vec<(usize, usize)> =
        hits.iter().filter(|(s, e, m)| share(m) && whole(*s, *e)).map(|(s, e, _)| (*s, *e)).collect();
    hits.retain(|(s, e, m)| !(share(m) && lost.contains(&(*s, *e))));
}

/// `通过内推入职`: by that way, where `通过的` would be what became of it.
pub(super) fn add_prepositions(text: &[char], hits: &mut Vec<(usize, usize, Meaning)>) {
    let value_at = |at: usize| hits.iter().any(|(s, _, m)| *s == at && matches!(m, Meaning::Value(..)));
    let said = ["通过", "经由", "经过"].map(|w| w.chars().collect::<Vec<char>>());
    let found: Vec<usize> = (0..text.len())
        .filter(|at| said.iter().any(|w| text[*at..].starts_with(w)) && value_at(at + 2))
        .collect();
    for at in found {
        let whole = |s: usize, e: usize| s == at && e == at + 2;
        hits.retain(|(s, e, m)| !(whole(*s, *e) && matches!(m, Meaning::Word(_) | Meaning::Beyond(_))));
        hits.push((at, at + 2, Meaning::Stop));
    }
}

/// `5 minutes (300 seconds)`: a number said again in brackets.
pub(super) fn pass_over_repeated(text: &[char], mentions: &mut [Mention]) {
    let number = |m: &Mention| matches!(m.meanings[..], [Meaning::Number(_)]);
    let bracketed = |m: &Mention| m.start > 0 && text[m.start - 1] == '(' && text.get(m.end) == Some(&')');
    for at in 1..mentions.len() {
        let (before, again) = (&mentions[at - 1], &mentions[at]);
        let shortly = number(before) && bracketed(again) && again.start - before.end <= 2;
        // `60岁以上（含60岁）`, `30岁以下的会员（不含30岁）`
        let open = (0..again.start).rev().find(|i| matches!(text[*i], '(' | ')'));
        let open = open.filter(|i| text[*i] == '(' && again.start - i <= 5);
        let same = |m: &Mention| m.meanings == again.meanings && open.is_some_and(|o| m.end <= o);
        if number(again) && (shortly || mentions[..at].iter().any(same)) {
            mentions[at].meanings = vec![Meaning::Stop];
            let word = &mut mentions[at - 1];
            if matches!(word.meanings[..], [Meaning::Word(Word::Exclude)]) {
                word.meanings = vec![Meaning::Stop];
            }
        }
    }
}

/// `快过期了`: `过` and `期` mean nothing alone, together they do.
pub(super) fn keep_fates(text: &[char], mentions: &mut Vec<Mention>, dictionary: &Dictionary) {
    for fate in &dictionary.fates {
        for start in 0..text.len().saturating_sub(fate.len() - 1) {
            let end = start + fate.len();
            if text[start..end] != fate[..] {
                continue;
            }
            let inside = |m: &Mention| m.start < end && m.end > start;
            let idle = |m: &Mention| {
                let silent = m.meanings.iter().all(|m| *m == Meaning::Stop) || m.text == "超";
                m.start >= start && m.end <= end && silent
            };
            if mentions.iter().filter(|m| inside(m)).all(idle) {
                mentions.retain(|m| !inside(m));
            }
        }
    }
}

/// `江景房` of `豪华江景房`, where only `景房` was found: the characters before belong to it.
pub(super) fn part_of_neighbour(text: &[char], start: usize, end: usize, mentions: &mut [Mention]) -> bool {
    let joined = |m: &Mention| -> Option<(usize, usize)> {
        let (from, to) = if m.start == end {
            (start, m.end)
        } else if m.end == start {
            (m.start, end)
        } else {
            return None;
        };
        let whole: String = text[from..to].iter().collect();
        let held =
            |m: &Meaning| matches!(m, Meaning::Value(_, v, _) if crate::norm::normal(v).contains(&whole));
        m.meanings.iter().any(held).then_some((from, to))
    };
    let found = mentions.iter().enumerate().find_map(|(at, m)| joined(m).map(|span| (at, span)));
    let Some((at, (from, to))) = found else { return false };
    let mention = &mut mentions[at];
    mention.text = text[from..to].iter().collect();
    let whole = mention.text.clone();
    mention
        .meanings
        .retain(|m| matches!(m, Meaning::Value(_, v, _) if crate::norm::normal(v).contains(&whole)));
    (mention.start, mention.end) = (from, to);
    true
}

/// `哪个班`, `每个班`: what a column is called by its first character, where the character alone says nothing.
pub(super) fn name_groups(mentions: &mut [Mention], dictionary: &Dictionary) {
    for at in 1..mentions.len() {
        let (before, this) = (&mentions[at - 1], &mentions[at]);
        // `哪个仓` of `始发仓`, where nothing else is a warehouse.
        let untold = |m: &Meaning| matches!(m, Meaning::Concept(i) if dictionary.hints.untold.contains(i));
        let bare = this.meanings.iter().all(|m| *m == Meaning::Stop || untold(m))
            && this.text.chars().count() == 1
            && this.text.chars().all(crate::norm::is_cjk);
        if bare
            && before.end == this.start
            && let Some(column) = dictionary.grouped_by(&this.text, std::slice::from_ref(before))
        {
            mentions[at].meanings = vec![column];
        }
    }
}
