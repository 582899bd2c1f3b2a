//! The question as a row of items, each with all it may mean in the tables in reach. Chooses nothing.

use std::collections::HashSet;

use crate::glossary::ConceptRole;
use crate::lex::{ColRef, Lexed, Meaning, Mention};
use crate::norm::{is_cjk, is_word};
use crate::scope::Scope;
use crate::timex::{Piece, When, YearRef};
use crate::units::Unit;
use crate::weigh::phrases;
use crate::word::{Beyond, Word};

/// One thing a phrase may mean.
#[derive(Debug, Clone, PartialEq)]
pub enum Sense {
    Column(ColRef),
    Value(ColRef, Vec<String>),
    /// What a figure's name begins with.
    Thing(ColRef),
    /// One of what a column counts: `每箱`.
    Per(ColRef),
    Ratio(usize),
    /// A concept no column stands for.
    Lacking(usize),
    /// What a row is called.
    Row,
    /// What a row of another table is called.
    OtherRow,
    Table,
    Unit(Unit),
    Word(Word),
    Number(f64),
    Percentile(f64),
    Time(When),
    Beyond(Beyond),
    Stop,
    /// A name in a table that is out of reach.
    Elsewhere,
    Unknown,
    /// Unknown, but of a kind that changes no figure.
    Passed,
}

#[derive(Debug, Clone)]
pub struct Item {
    pub start: usize,
    pub end: usize,
    pub text: String,
    /// With how far-fetched each is: 0 for the name itself.
    pub senses: Vec<(Sense, f32)>,
    /// A comma, a bracket or the like comes before it.
    pub breaks: bool,
}

impl Item {
    pub fn word(&self) -> Option<Word> {
        let named =
            self.senses.iter().any(|(s, far)| *far < 0.1 && matches!(s, Sense::Column(_) | Sense::Value(..)));
        self.senses.iter().find_map(|(s, _)| match s {
            Sense::Word(w) if !named => Some(*w),
            _ => None,
        })
    }

    /// A steering word that may also be a name in the tables: `drops`, `total`.
    pub fn is_open(&self) -> bool {
        let name =
            |s: &Sense| matches!(s, Sense::Row | Sense::Column(_) | Sense::Value(..) | Sense::Ratio(_));
        self.senses.iter().any(|(s, _)| matches!(s, Sense::Word(_)))
            && self.senses.iter().any(|(s, _)| name(s))
    }

    /// Takes the word, or all but the word.
    pub fn settle(&mut self, word: bool) {
        self.senses.retain(|(s, _)| matches!(s, Sense::Word(_)) == word);
        // The name is what the table's owner calls it.
        for (sense, far) in &mut self.senses {
            if matches!(sense, Sense::Word(_)) {
                *far = 0.25;
            }
        }
    }

    pub fn is_idle(&self) -> bool {
        self.senses.iter().all(|(s, _)| matches!(s, Sense::Stop | Sense::Passed))
    }

    pub fn columns(&self) -> impl Iterator<Item = ColRef> + '_ {
        self.senses.iter().filter_map(|(s, _)| match s {
            Sense::Column(c) => Some(*c),
            _ => None,
        })
    }

    pub fn value_columns(&self) -> impl Iterator<Item = ColRef> + '_ {
        self.senses.iter().filter_map(|(s, _)| match s {
            Sense::Value(c, _) => Some(*c),
            _ => None,
        })
    }
}

pub fn items(scope: &Scope<'_>, lexed: &Lexed) -> Vec<Item> {
    let mut out: Vec<Item> = lexed
        .mentions
        .iter()
        .map(|m| Item {
            start: m.start,
            end: m.end,
            text: m.text.clone(),
            senses: senses(scope, m),
            breaks: false,
        })
        .collect();
    for (start, end) in gaps(&lexed.text, &lexed.mentions) {
        let text: String = lexed.text[start..end].iter().collect();
        let passed = lexed.ignored.contains(&text);
        let sense = if passed { Sense::Passed } else { Sense::Unknown };
        out.push(Item { start, end, text, senses: vec![(sense, 0.0)], breaks: false });
    }
    let letters: Vec<Item> = out.iter().filter_map(|i| letter(scope, &lexed.text, i)).collect();
    out.extend(letters);
    out.sort_by_key(|i| i.start);
    phrases::join(scope, &lexed.text, &mut out);
    years(&mut out);
    tell_apart(scope, lexed, &mut out);
    let mut last = 0;
    for item in &mut out {
        item.breaks = last == 0
            || lexed.text[last..item.start.max(last)].iter().any(|c| ",;:?!().。，；：？！（）".contains(*c));
        last = item.end;
    }
    out
}

/// `trips that ended at River Park`, `units produced`: of several columns the one that other words hint at.
fn tell_apart(scope: &Scope<'_>, lexed: &Lexed, items: &mut [Item]) {
    let text: String = lexed.text.iter().collect();
    let said: HashSet<String> = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| w.len() > 2)
        .map(crate::names::stem)
        .collect();
    // `dropped off` of `dropoff_zone`
    let words: Vec<&str> = text.split(' ').collect();
    let said: HashSet<String> = said
        .into_iter()
        .chain(words.windows(2).map(|w| format!("{}{}", crate::names::stem(w[0]), w[1])))
        .collect();
    for item in items {
        let own: HashSet<String> = item.text.split(' ').map(crate::names::stem).collect();
        numbered_first(scope, item);
        for (sense, far) in &mut item.senses {
            let column = match sense {
                Sense::Value(c, _) => *c,
                Sense::Column(c) if *far > 0.25 => *c,
                _ => continue,
            };
            let name = scope.column(column).full.clone();
            if name.split(' ').map(crate::names::stem).any(|w| said.contains(&w) && !own.contains(&w)) {
                *far = (*far - 0.15).max(0.0);
            }
        }
        larger_first(scope, item);
    }
}

/// `cranes`, where each has a number and a kind: the number stands for it.
fn numbered_first(scope: &Scope<'_>, item: &mut Item) {
    let text = item.text.strip_suffix('s').unwrap_or(&item.text).to_owned();
    for (sense, far) in &mut item.senses {
        if let Sense::Column(c) = sense
            && *far > 0.25
            && crate::names::numbered(&scope.column(*c).full) == Some(text.as_str())
        {
            *far -= 0.1;
        }
    }
}

/// `units`, where some are produced and some scrapped: all of them before a part.
fn larger_first(scope: &Scope<'_>, item: &mut Item) {
    let high = |c: ColRef| scope.column(c).high();
    let figure = |c: ColRef| scope.role(c) == crate::table::Role::Measure;
    let most = item.columns().filter(|c| figure(*c)).map(high).fold(0.0, f64::max);
    for (sense, far) in &mut item.senses {
        if let Sense::Column(c) = sense
            && figure(*c)
            && *far > 0.25
            && high(*c) < most
        {
            *far += 0.15;
        }
    }
}

/// `growth 2024 over 2023`: a year, though `over` makes it look like a number.
fn years(items: &mut [Item]) {
    let grows = items.iter().any(|i| matches!(i.word(), Some(Word::Growth | Word::Yoy | Word::Compare)));
    let timed = items.iter().any(|i| i.senses.iter().any(|(s, _)| matches!(s, Sense::Time(_))));
    for item in items.iter_mut().filter(|_| grows) {
        for (sense, _) in &mut item.senses {
            if let Sense::Number(n) = sense
                && n.fract() == 0.0
                && (2000.0..2100.0).contains(n)
                && (timed || item.text.len() == 4)
            {
                #[expect(clippy::cast_possible_truncation, reason = "a year")]
                let year = *n as i16;
                *sense = Sense::Time(When::In(Piece::Year(YearRef::Number(year))));
            }
        }
    }
}

fn gaps(text: &[char], mentions: &[Mention]) -> Vec<(usize, usize)> {
    let covered: HashSet<usize> = mentions.iter().flat_map(|m| m.start..m.end).collect();
    let mut out = Vec::new();
    let mut i = 0;
    while i < text.len() {
        let kind: fn(char) -> bool = if is_cjk(text[i]) { is_cjk } else { is_word };
        if covered.contains(&i) || !kind(text[i]) {
            i += 1;
            continue;
        }
        let start = i;
        while i < text.len() && !covered.contains(&i) && (kind(text[i]) || text[i] == '\'') {
            i += 1;
        }
        if i - start >= 2 || is_cjk(text[start]) {
            out.push((start, i));
        }
    }
    out
}

fn senses(scope: &Scope<'_>, mention: &Mention) -> Vec<(Sense, f32)> {
    let mut out: Vec<(Sense, f32)> = Vec::new();
    let main = scope.in_scope[0];
    let joined = |c: &ColRef| if c.table == main { 0.0 } else { 0.2 };
    for meaning in &mention.meanings {
        let found = match meaning {
            Meaning::Column(c, q) if scope.in_scope.contains(&c.table) => {
                Some((Sense::Column(*c), joined(c) + if *q >= 4 { 0.0 } else { 0.4 }))
            }
            Meaning::Value(c, v, q) if scope.in_scope.contains(&c.table) => {
                let far = joined(c)
                    + match q {
                        4 => 0.05,
                        3 => 0.2,
                        _ => 0.5,
                    };
                let same = out.iter_mut().find_map(|(s, f)| match s {
                    Sense::Value(d, values) if d == c && (*f - far).abs() < 0.01 => Some(values),
                    _ => None,
                });
                match same {
                    Some(values) => {
                        values.push(v.clone());
                        None
                    }
                    None => Some((Sense::Value(*c, vec![v.clone()]), far)),
                }
            }
            Meaning::Thing(c) if scope.in_scope.contains(&c.table) => Some((Sense::Thing(*c), 0.3)),
            Meaning::Concept(i) => {
                let dated = mention.text.strip_suffix(" date");
                match dated.and_then(|d| phrases::date_called(scope, main, d)) {
                    Some(c) => out.push((Sense::Column(c), 0.1)),
                    None => out.extend(concept(scope, *i, main, &mention.text)),
                }
                None
            }
            Meaning::Word(w) => Some((Sense::Word(*w), 0.0)),
            Meaning::Beyond(b) => Some((Sense::Beyond(*b), 0.0)),
            Meaning::Table(_) => Some((Sense::Table, 0.2)),
            Meaning::RowNoun(t) if *t == main && !named_elsewhere(scope, main, &mention.text) => {
                Some((Sense::Row, 0.0))
            }
            Meaning::RowNoun(t) => {
                // `entries` may be of any table, and then of this one.
                let own = mention.meanings.contains(&Meaning::RowNoun(main));
                if *t != main && (!own || named_elsewhere(scope, main, &mention.text)) {
                    out.extend(key_of(scope, main, *t).map(|c| (Sense::Column(c), 0.3)));
                }
                Some((Sense::OtherRow, 0.0))
            }
            Meaning::Unit(u) => Some((Sense::Unit(*u), 0.0)),
            Meaning::Number(n) => Some((Sense::Number(*n), 0.0)),
            Meaning::Percentile(p) => Some((Sense::Percentile(*p), 0.0)),
            Meaning::Time(w) => Some((Sense::Time(*w), 0.0)),
            Meaning::Stop => Some((Sense::Stop, 0.0)),
            Meaning::Per(c) if scope.in_scope.contains(&c.table) => Some((Sense::Per(*c), 0.0)),
            Meaning::Per(_) | Meaning::Column(..) | Meaning::Value(..) | Meaning::Thing(_) => None,
        };
        if let Some(found) = found
            && !out.iter().any(|(s, _)| *s == found.0)
        {
            out.push(found);
        }
    }
    if out.iter().any(|(s, _)| *s == Sense::Row) {
        out.retain(|(s, _)| *s != Sense::OtherRow);
    }
    for (sense, far) in &mut out {
        if let Sense::Column(c) = sense
            && crate::weigh::unmarked::only_planned(scope, *c, &mention.text)
        {
            *far += 0.5;
        }
    }
    // A word that asks is nothing else.
    let asks = |s: &Sense| {
        matches!(
            s,
            Sense::Word(
                Word::HowMany
                    | Word::HowMuch
                    | Word::Which
                    | Word::Who
                    | Word::Funnel
                    | Word::Cohort
                    | Word::Forecast
            )
        )
    };
    if out.iter().any(|(s, _)| asks(s))
        && !out.iter().any(|(s, far)| matches!(s, Sense::Column(_)) && *far < 0.05)
    {
        out.retain(|(s, _)| asks(s));
    }
    // `时段` of 开始时段 is no hour of the clock.
    let grouped = |s: &Sense| matches!(s, Sense::Column(c) if scope.role(*c) == crate::table::Role::Dimension && scope.column(*c).full.ends_with(&mention.text));
    if !mention.text.is_ascii() && out.iter().any(|(s, _)| grouped(s)) {
        out.retain(|(s, _)| !matches!(s, Sense::Word(Word::Hour)));
    }
    // A concept that is lacking matters only where nothing else is meant.
    if out.iter().any(|(s, _)| !matches!(s, Sense::Lacking(_))) {
        out.retain(|(s, _)| !matches!(s, Sense::Lacking(_)));
    }
    // `paid us` is no country.
    const WORDS: [&str; 14] =
        ["us", "in", "or", "me", "hi", "ok", "oh", "ma", "pa", "id", "de", "la", "no", "so"];
    if WORDS.contains(&mention.text.as_str()) {
        out.retain(|(s, far)| !matches!(s, Sense::Value(..)) || *far < 0.1);
    }
    if out.len() > 1 {
        out.retain(|(s, _)| *s != Sense::Stop);
    }
    if out.is_empty() {
        let named = !WORDS.contains(&mention.text.as_str())
            && mention.meanings.iter().any(|m| matches!(m, Meaning::Column(..) | Meaning::Value(..)));
        out.push((if named { Sense::Elsewhere } else { Sense::Stop }, 0.0));
    }
    out
}

/// `chamber C`: a value of one letter, said after its column.
fn letter(scope: &Scope<'_>, text: &[char], item: &Item) -> Option<Item> {
    let at = item.end + 1;
    let said = *text.get(at)?;
    let alone = text.get(item.end) == Some(&' ') && text.get(at + 1).is_none_or(|c| !is_word(*c));
    if !said.is_ascii_alphabetic() || !alone || said == 'a' && text.get(at + 1) == Some(&' ') {
        return None;
    }
    let one = |c: ColRef| {
        let value = scope
            .column(c)
            .values
            .iter()
            .find(|v| v.chars().count() == 1 && v.eq_ignore_ascii_case(&said.to_string()))?;
        Some(Sense::Value(c, vec![value.clone()]))
    };
    let sense = item.columns().find_map(one)?;
    Some(Item { start: at, end: at + 1, text: said.to_string(), senses: vec![(sense, 0.0)], breaks: false })
}

/// `claims` of a file of policies, where another file is called so.
fn named_elsewhere(scope: &Scope<'_>, main: usize, text: &str) -> bool {
    let stem = crate::names::stem(text);
    let called = |t: usize| crate::norm::normal(&scope.tables[t].rows_called).contains(stem.as_str());
    stem.chars().count() > 1 && !called(main) && (0..scope.tables.len()).any(|t| t != main && called(t))
}

/// `which host`, where another table describes hosts: the number they go by.
fn key_of(scope: &Scope<'_>, main: usize, other: usize) -> Option<ColRef> {
    let join = crate::scope::joins(scope.tables, &[main, other]).ok()?.pop()?;
    Some(join.left)
}

fn concept(scope: &Scope<'_>, index: usize, main: usize, text: &str) -> Vec<(Sense, f32)> {
    let concept = &scope.glossary.concepts[index];
    if concept.role == ConceptRole::Ratio {
        let works = crate::scope::ratio(scope, index).is_some();
        return vec![(if works { Sense::Ratio(index) } else { Sense::Lacking(index) }, 0.1)];
    }
    let columns = scope.columns_for(concept);
    // `harvest weight`, where the rows are harvests and a column is called weight.
    let last = text.rsplit_once(' ').map(|(_, last)| last);
    let headed = |c: &crate::table::Column| {
        c.role == crate::table::Role::Measure && Some(crate::names::without_unit(&c.full)) == last
    };
    if let (true, [column]) = (columns.is_empty(), &scope.tables[main].indices(headed)[..]) {
        return vec![(Sense::Column(ColRef { table: main, column: *column }), 0.3)];
    }
    if columns.is_empty() {
        return vec![(Sense::Lacking(index), 0.0)];
    }
    let far = |c: ColRef, q: u8| {
        let quality = match q {
            3.. => 0.1,
            2 => 0.35,
            _ => 0.6,
        };
        quality + if c.table == main { 0.0 } else { 0.2 }
    };
    // `零售价` is not 成本单价.
    let other_price = |c: ColRef| {
        const KINDS: [&str; 9] = ["零售", "批发", "成本", "进价", "进货", "出厂", "市场", "采购", "团购"];
        let name = &scope.column(c).name;
        let said = KINDS.iter().find(|k| text.contains(**k));
        let held = KINDS.iter().find(|k| name.contains(**k));
        // What was paid for goods is told where they are bought.
        let bought = scope.tables[c.table]
            .columns
            .iter()
            .any(|d| ["供应商", "进货", "采购", "入库"].iter().any(|w| d.name.contains(w)));
        let own = matches!(said, Some(&("成本" | "进价" | "进货" | "出厂" | "市场" | "采购")));
        match (said, held) {
            (Some(a), Some(b)) if a != b => 2.5,
            (Some(_), None) if own && !bought && concept.id == "price" => 2.5,
            _ => 0.0,
        }
    };
    // `品种`: 品类 before 客户类型.
    let alike = |c: ColRef| text.chars().any(|t| crate::norm::is_cjk(t) && scope.column(c).name.contains(t));
    let any_alike = columns.iter().any(|(c, _)| alike(*c));
    let unlike = |c: ColRef| if any_alike && !alike(c) { 0.1 } else { 0.0 };
    columns.into_iter().map(|(c, q)| (Sense::Column(c), far(c, q) + other_price(c) + unlike(c))).collect()
}
