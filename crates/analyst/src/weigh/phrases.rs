//! Words that name one thing only together: `collection date` of a column Collected, `contract value` of a contract price.

use crate::lex::ColRef;
use crate::names::{numbered as numbered_name, stem, without_unit};
use crate::norm::is_cjk;
use crate::scope::Scope;
use crate::table::Role;
use crate::weigh::items::{Item, Sense};
use crate::word::Word;

pub fn join(scope: &Scope<'_>, text: &[char], items: &mut Vec<Item>) {
    broken_down(items);
    dates(scope, text, items);
    heads(scope, items);
    short_names(scope, items);
    initials(scope, text, items);
    parts_of_names(scope, items);
}

/// `break fees down by sector`: nothing goes down.
fn broken_down(items: &mut [Item]) {
    let broken =
        items.iter().position(|i| matches!(i.text.as_str(), "break" | "broken" | "breaking" | "split"));
    for item in items.iter_mut().skip(broken.unwrap_or(usize::MAX)) {
        match item.text.as_str() {
            "down" => item.senses = vec![(Sense::Stop, 0.0)],
            "down by" => item.senses = vec![(Sense::Word(Word::By), 0.0)],
            _ => {}
        }
    }
}

/// `arrival date` of a column that is called Arrival, `sold date` of one called `sold_on`.
pub fn date_called(scope: &Scope<'_>, main: usize, name: &str) -> Option<ColRef> {
    let said = Some(stem(name)).filter(|s| !s.is_empty())?;
    let told = |full: &str| {
        let bare = ["date", "on", "at", "time"].iter().find_map(|e| full.strip_suffix(e)).unwrap_or(full);
        stem(bare.trim_end()) == said
    };
    let column = scope.tables[main].columns.iter().position(|c| c.role == Role::Time && told(&c.full))?;
    Some(ColRef { table: main, column })
}

/// The same where the first word is also something else: `by sold date`.
fn dates(scope: &Scope<'_>, text: &[char], items: &mut Vec<Item>) {
    let main = scope.in_scope[0];
    let mut i = 1;
    while i < items.len() {
        let found = matches!(items[i].text.as_str(), "date" | "dates")
            .then(|| {
                let head: String = text[..items[i].start].iter().collect();
                let word = head.trim_end().rsplit(' ').next().unwrap_or("").to_owned();
                date_called(scope, main, word.trim_start_matches('(')).map(|c| (c, word))
            })
            .flatten();
        if let Some((c, word)) = found {
            let start = items[i].start.saturating_sub(1 + word.chars().count());
            let whole = format!("{word} {}", items[i].text);
            items[i].senses = vec![(Sense::Column(c), 0.0)];
            if items[i - 1].start >= start {
                items[i] = Item { start, text: whole, ..items[i].clone() };
                items.remove(i - 1);
                continue;
            }
        }
        i += 1;
    }
}

/// `contract value`, `system size`, `milk yield`: a general noun after the first word of a figure's name.
fn heads(scope: &Scope<'_>, items: &mut [Item]) {
    const GENERAL: [&str; 12] = [
        "value", "values", "size", "sizes", "amount", "amounts", "yield", "level", "levels", "figure",
        "figures", "worth",
    ];
    let main = scope.in_scope[0];
    for i in 1..items.len() {
        let (before, after) = items.split_at_mut(i);
        let (Some(first), Some(head)) = (before.last_mut(), after.first_mut()) else { continue };
        let own = head
            .senses
            .iter()
            .any(|(s, far)| matches!(s, Sense::Value(..)) || matches!(s, Sense::Column(_)) && *far < 0.15);
        if !GENERAL.contains(&head.text.as_str()) || head.start != first.end + 1 || own {
            continue;
        }
        let begins = |c: &crate::table::Column| {
            let opening = c.full.split(' ').next().unwrap_or("");
            c.role == Role::Measure && opening.len() > 2 && stem(opening) == stem(&first.text)
        };
        let found = scope.tables[main].indices(begins);
        if let [column] = found[..] {
            first.senses = vec![(Sense::Column(ColRef { table: main, column }), 0.1)];
            head.senses = vec![(Sense::Stop, 0.0)];
        }
    }
}

/// `各班` of 班级, `哪门课` of 课程, `哪个站` of 急救站: one character for the one column that ends or begins with it.
fn short_names(scope: &Scope<'_>, items: &mut Vec<Item>) {
    let main = scope.in_scope[0];
    let table = &scope.tables[main];
    let called = |c: char| {
        let group = |d: &crate::table::Column| d.role == Role::Dimension;
        let named = |fits: &dyn Fn(&str) -> bool| {
            let found = table.indices(|d| group(d) && fits(without_unit(&d.full)));
            if let [column] = found[..] { Some(ColRef { table: main, column }) } else { None }
        };
        named(&|n| n.chars().count() > 1 && n.ends_with(c))
            .or_else(|| named(&|n| n.chars().count() > 1 && n.starts_with(c)))
    };
    let asks = |i: &Item| matches!(i.word(), Some(Word::By | Word::Which));
    let names_group = |i: &Item| {
        i.columns().any(|c| matches!(scope.role(c), Role::Dimension | Role::Id | Role::Flag))
            && i.senses.iter().any(|(s, far)| matches!(s, Sense::Column(_)) && *far < 0.3)
    };
    for item in items.iter_mut() {
        numbered(table, main, item);
    }
    for i in 0..items.len() {
        let chars: Vec<char> = items[i].text.chars().collect();
        let one = match chars[..] {
            [c] if i > 0 && asks(&items[i - 1]) && items[i - 1].end == items[i].start && is_cjk(c) => c,
            ['各' | '每' | '哪' | '按', c] if asks(&items[i]) && is_cjk(c) => c,
            _ => continue,
        };
        let groups = |n: &Item| n.columns().any(|c| matches!(scope.role(c), Role::Dimension | Role::Id));
        let followed = items.get(i + 1).is_some_and(|n| n.start == items[i].end && groups(n));
        if followed || names_group(&items[i]) || "个种类款家位名天月年周日季次单笔条些样".contains(one)
        {
            continue;
        }
        let Some(c) = called(one) else { continue };
        if chars.len() == 1 {
            items[i].senses = vec![(Sense::Column(c), 0.1)];
            continue;
        }
        let whole = items[i].clone();
        let middle = whole.start + 1;
        items[i] = Item { end: middle, text: chars[0].to_string(), ..whole.clone() };
        let named = vec![(Sense::Column(c), 0.1)];
        items.insert(i + 1, Item { start: middle, text: one.to_string(), senses: named, ..whole });
    }
}

/// `牛` of 牛号.
fn numbered(table: &crate::table::Table, main: usize, item: &mut Item) {
    let unknown = |s: &Sense| matches!(s, Sense::Unknown | Sense::Passed);
    if item.text.chars().count() != 1 || !item.senses.iter().all(|(s, _)| unknown(s)) {
        return;
    }
    let called =
        |name: &str| numbered_name(name).or_else(|| name.strip_suffix('名')) == Some(item.text.as_str());
    if let [column] = table.indices(|c| called(&c.full))[..] {
        item.senses = vec![(Sense::Column(ColRef { table: main, column }), 0.1)];
    }
}

/// `somatic cell count` of `scc_thousand`: the first letters.
fn initials(scope: &Scope<'_>, text: &[char], items: &mut Vec<Item>) {
    let main = scope.in_scope[0];
    let whole: String = text.iter().collect();
    if !whole.is_ascii() {
        return;
    }
    let mut words: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    for word in whole.split(' ') {
        words.push((at, word.trim_matches(|c: char| !c.is_ascii_alphanumeric())));
        at += word.len() + 1;
    }
    for (c, column) in scope.tables[main].columns.iter().enumerate() {
        for short in column.full.split(' ').filter(|w| (3..=5).contains(&w.len())) {
            let spells = |of: &&[(usize, &str)]| {
                of.iter().zip(short.chars()).all(|((_, word), letter)| word.starts_with(letter))
                    && of.iter().all(|(_, word)| word.len() > 2)
            };
            let Some(found) = words.windows(short.len()).find(spells) else { continue };
            let (start, end) = (found[0].0, found[short.len() - 1].0 + found[short.len() - 1].1.len());
            let unknown = |i: &Item| {
                i.start >= start && i.end <= end && i.senses.iter().any(|(s, _)| *s == Sense::Unknown)
            };
            if !items.iter().any(unknown) {
                continue;
            }
            items.retain(|i| i.end <= start || i.start >= end);
            let place = items.iter().position(|i| i.start >= end).unwrap_or(items.len());
            let senses = vec![(Sense::Column(ColRef { table: main, column: c }), 0.1)];
            items.insert(
                place,
                Item { start, end, text: whole[start..end].to_owned(), senses, breaks: false },
            );
            return;
        }
    }
}

/// `promo code redemptions` of `promo_redemptions`: a word of the name that stands apart from the rest of it.
fn parts_of_names(scope: &Scope<'_>, items: &mut [Item]) {
    let unknown = |i: &Item| i.senses.iter().all(|(s, _)| matches!(s, Sense::Unknown | Sense::Passed));
    for i in 0..items.len() {
        if !unknown(&items[i]) || !items[i].text.is_ascii() {
            continue;
        }
        let own = stem(&items[i].text);
        let named = |c: ColRef| {
            let column = scope.column(c);
            let said = |w: &str| w.len() > 2 && stem(w) == own;
            column.full.split(' ').any(said) || column.words.split(' ').any(said)
        };
        let near = (i + 1..items.len().min(i + 3)).find(|k| items[*k].columns().any(named));
        let Some(end) = near else { continue };
        for item in &mut items[i..end] {
            if unknown(item) {
                item.senses = vec![(Sense::Stop, 0.0)];
            }
        }
    }
}
