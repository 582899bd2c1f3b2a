//! Numbers and what they bound: `more than 30 minutes`, `3件及以上`, `between 5 and 10`, `top 5`. Spends the items it reads.

use crate::lex::ColRef;
use crate::question::Cmp;
use crate::table::{Column, Role};
use crate::units::{self, Unit};
use crate::weigh::items::Sense;
use crate::weigh::view::View;
use crate::word::Word;

/// A bound on a figure; without one, nothing is known that could be bounded.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    pub column: Option<ColRef>,
    pub cmp: Cmp,
    pub value: f64,
}

pub fn read(view: &mut View<'_>) {
    for i in 0..view.items.len() {
        let Some(n) = number(view, i).filter(|_| !view.spent[i]) else { continue };
        if between(view, i, n) {
            continue;
        }
        if special(view, i, n) {
            view.spent[i] = true;
            continue;
        }
        if let Some(k) = all_of_them(view, i, n) {
            view.listed.push(k);
            view.spent[i] = true;
            continue;
        }
        if let Some(bound) = bound(view, i, n) {
            // `longer than 2 hours (over 120 minutes)`
            if !view.bounds.contains(&bound) {
                view.bounds.push(bound);
            }
            view.spent[i] = true;
        } else if !view.spent[i] && limits(view, i, n) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
            let limit = n as usize;
            view.limit = Some(limit);
            view.spent[i] = true;
        }
    }
}

fn number(view: &View<'_>, i: usize) -> Option<f64> {
    let senses = &view.items.get(i)?.senses;
    if senses.iter().any(|(s, _)| matches!(s, Sense::Time(_))) {
        return None;
    }
    senses.iter().find_map(|(s, _)| match s {
        Sense::Number(n) => Some(*n),
        _ => None,
    })
}

/// `80 % of revenue`, `3 month rolling`, `1.5 IQR`: numbers of analyses with a name of their own.
fn special(view: &mut View<'_>, i: usize, n: f64) -> bool {
    let tail = view.tail(i, usize::MAX);
    if view.says(Word::Outlier) && (1.0..=3.0).contains(&n) && n.fract() > 0.0 {
        return true;
    }
    if is_each(view, i) {
        return true;
    }
    let ahead = view.says_any(&[Word::Forecast, Word::Linear, Word::Next]) && (1.0..=1000.0).contains(&n);
    let rolls = view.says(Word::Moving) && (2.0..=60.0).contains(&n);
    if (rolls || ahead) && n.fract() == 0.0 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small window")]
        let window = n as usize;
        view.window = Some(window);
        return true;
    }
    let top = view.before(i).is_some_and(|k| matches!(view.word(k), Some(Word::Top | Word::Bottom)));
    if top {
        return false;
    }
    const MAKES: [&str; 15] = [
        "占了",
        "占到",
        "占总",
        "make up",
        "makes up",
        "account for",
        "accounts for",
        "generate",
        "bring in",
        "贡献",
        "撑起",
        "二八",
        "帕累托",
        "pareto",
        "drive",
    ];
    let percent = n < 1.0 || tail.trim_start().starts_with("percent") && n < 100.0;
    if percent
        && (0.1..1.0).contains(&(if n < 1.0 { n } else { n / 100.0 }))
        && MAKES.iter().any(|w| view.whole.contains(w))
    {
        view.part = Some(if n < 1.0 { n } else { n / 100.0 });
        return true;
    }
    false
}

/// `四个季度`, `12个月`: each of them.
pub fn is_each(view: &View<'_>, i: usize) -> bool {
    let near = view.after(i).filter(|k| view.items[*k].start <= view.items[i].end + 2);
    match near.and_then(|k| view.word(k)) {
        Some(Word::Quarter) => number(view, i) == Some(4.0),
        Some(Word::Month) => number(view, i) == Some(12.0),
        _ => false,
    }
}

/// `三家门店`, where there are three: each of them.
fn all_of_them(view: &View<'_>, i: usize, n: f64) -> Option<usize> {
    let top = view.before(i).is_some_and(|k| matches!(view.word(k), Some(Word::Top | Word::Bottom)));
    let k = view.after(i).filter(|k| view.items[*k].start <= view.items[i].end + 2 && !top)?;
    #[expect(clippy::cast_precision_loss, reason = "a few groups")]
    let all = |c: ColRef| {
        matches!(view.role(c), Role::Dimension | Role::Id)
            && (view.scope.column(c).distinct as f64 - n).abs() < 0.5
    };
    (n >= 2.0 && view.items[k].columns().any(all)).then_some(k)
}

fn limits(view: &View<'_>, i: usize, n: f64) -> bool {
    let near = |k: Option<usize>| k.filter(|k| view.same_clause(*k, i)).is_some_and(|k| ranks(view.word(k)));
    // `which five meters have the highest usage`
    let counted = view.after(i).is_some_and(|k| {
        view.items[k].start <= view.items[i].end + 3
            && (view.items[k].names_row()
                || view.items[k].columns().any(|c| matches!(view.role(c), Role::Dimension | Role::Id)))
            && (k + 1..view.items.len()).any(|j| view.same_clause(k, j) && ranks(view.word(j)))
    });
    n.fract() == 0.0
        && (1.0..=1000.0).contains(&n)
        && (near(view.before(i)) || near(view.after(i)) || n > 1.0 && counted)
}

fn ranks(word: Option<Word>) -> bool {
    matches!(
        word,
        Some(Word::Top | Word::Bottom | Word::Highest | Word::Lowest | Word::BestSelling | Word::Rank)
    )
}

pub fn compares(word: Option<Word>) -> Option<Cmp> {
    Some(match word? {
        Word::Gt => Cmp::Gt,
        Word::Ge => Cmp::Ge,
        Word::Lt => Cmp::Lt,
        Word::Le => Cmp::Le,
        _ => return None,
    })
}

/// `between 5 and 10`, `5到10元之间`.
fn between(view: &mut View<'_>, i: usize, low: f64) -> bool {
    // `1万元到2万元`
    let past = view.after(i).map(|k| if view.unit(k).is_some() { view.after(k) } else { Some(k) });
    let Some(joint) = past.flatten().filter(|k| matches!(view.word(*k), Some(Word::And | Word::To))) else {
        return false;
    };
    let Some((j, high)) = view.after(joint).and_then(|j| number(view, j).map(|n| (j, n))) else {
        return false;
    };
    let lead = view.before(i).filter(|k| view.word(*k) == Some(Word::Between));
    let tail = view.tail(j, 4);
    if lead.is_none() && !tail.contains("之间") && view.word(joint) != Some(Word::To) {
        return false;
    }
    let unit = unit_after(view, j).or_else(|| unit_after(view, i));
    let unit = unit.or_else(|| units::ending(view.tail(j, 5).trim()));
    let Some(column) = subject(view, i, unit, false).or_else(|| subject(view, j, unit, false)) else {
        return false;
    };
    let unit_of = |k: usize| Some(k + 1).filter(|n| *n < view.items.len() && view.unit(*n).is_some());
    let units = [unit_of(i), unit_of(j)];
    for k in [Some(i), Some(j), Some(joint), lead].into_iter().chain(units).flatten() {
        view.spent[k] = true;
    }
    let scale = |n: f64| scaled(view, j, n, unit, column);
    let (low, high) = (scale(low), scale(high));
    view.bounds.push(Bound { column: Some(column), cmp: Cmp::Ge, value: low });
    view.bounds.push(Bound { column: Some(column), cmp: Cmp::Le, value: high });
    true
}

/// What a number is said in: a unit, or the classifier of pieces, people, times.
fn unit_after(view: &View<'_>, i: usize) -> Option<Unit> {
    let follow = view.items.get(i + 1).filter(|f| f.start <= view.items[i].end + 1);
    let plain = follow.filter(|_| number(view, i + 1).is_none());
    let said = plain.and_then(|f| view.unit(i + 1).or_else(|| units::ending(&f.text)));
    let tail = view.tail(i, 2);
    let tail = tail.trim_start();
    if view.head(i).ends_with(['$', '€', '£', '¥', '￥']) {
        return Some(Unit::Money);
    }
    let spoken = [
        ("件", Unit::Piece),
        ("晚", Unit::Night),
        ("夜", Unit::Night),
        ("天", Unit::Day),
        ("日", Unit::Day),
        ("人", Unit::Person),
        ("元", Unit::Money),
        ("块", Unit::Money),
        ("小时", Unit::Hour),
        ("分钟", Unit::Minute),
        ("公里", Unit::Kilometre),
        ("公斤", Unit::Kilogram),
        ("吨", Unit::Tonne),
    ];
    let spoken = spoken.iter().find(|(w, _)| tail.starts_with(w)).map(|(_, u)| *u);
    said.or(spoken).or_else(|| units::ending(&view.items[i].text))
}

/// The figure that is counted in what follows a number: `3盒`, `5次`, `30岁`, `10 years`.
fn counted_in(view: &View<'_>, i: usize) -> Option<ColRef> {
    let tail = view.tail(i, 8);
    let said = view.items[i].text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
    let tail = format!("{said}{}", tail.trim_start());
    let main = view.scope.in_scope[0];
    let table = &view.scope.tables[main];
    let one = |found: Vec<usize>| match found[..] {
        [column] => Some(ColRef { table: main, column }),
        _ => None,
    };
    let figure = |c: &Column| c.role == Role::Measure;
    let of = |id: &str| one(table.indices(|c| figure(c) && c.has_concept(id)));
    let older = view
        .before(i)
        .is_some_and(|k| ["older", "younger"].iter().any(|w| view.items[k].text.starts_with(w)));
    if older || tail.starts_with('岁') || tail.starts_with("years old") {
        return of("age");
    }
    if tail.starts_with('分') && !tail.starts_with("分钟") {
        return marks(view);
    }
    if tail.starts_with('年') || tail.starts_with("year") || tail.starts_with("yrs") {
        return one(table.indices(|c| {
            figure(c)
                && (["年限", "工龄", "年"].iter().any(|e| c.words.ends_with(e))
                    || c.full.contains("years")
                    || c.full.contains("yrs"))
        }));
    }
    if tail.starts_with('次') {
        return one(table.indices(|c| figure(c) && c.words.ends_with("次数")));
    }
    let classifiers = &view.scope.glossary.classifiers;
    let piece = classifiers.pieces.iter().any(|p| tail.starts_with(p.as_str()));
    if piece {
        let word: String = tail.chars().take(1).collect();
        return one(table.indices(|c| figure(c) && c.name.contains(&format!("({word})"))))
            .or_else(|| of("quantity"));
    }
    None
}

/// The only column of marks: `70分以上`, `最高分`.
pub fn marks(view: &View<'_>) -> Option<ColRef> {
    const ENDINGS: [&str; 4] = ["分", "评分", "成绩", "分数"];
    let main = view.scope.in_scope[0];
    let table = &view.scope.tables[main];
    let one = |fits: &dyn Fn(&Column) -> bool| match table.indices(|c| c.role == Role::Measure && fits(c))[..]
    {
        [column] => Some(ColRef { table: main, column }),
        _ => None,
    };
    one(&|c| c.has_concept("score"))
        .or_else(|| one(&|c| c.has_concept("rating")))
        .or_else(|| one(&|c| ENDINGS.iter().any(|e| c.words.ends_with(e))))
}

/// The bound a number makes together with the words around it.
fn bound(view: &mut View<'_>, i: usize, n: f64) -> Option<Bound> {
    let end = view.items[i].end;
    // `more than €50`
    let signed = |k: usize| ["€", "$", "£", "¥", "￥"].contains(&view.items[k].text.as_str());
    let lead = view.before(i).and_then(|k| if signed(k) { view.before(k) } else { Some(k) });
    let sign = view.before(i).filter(|k| signed(*k));
    let lead = lead.filter(|k| view.same_clause(*k, i));
    // Units and classifiers may stand between: `3件及以上`, `10 years or more`.
    let near = |k: &usize| view.items[*k].start <= end + 9;
    let follow = (i + 1..view.items.len().min(i + 4)).filter(near).find(|k| {
        compares(view.word(*k)).is_some()
            && view.text[end..view.items[*k].start].iter().filter(|c| !c.is_whitespace()).count() <= 6
            && !view.items[i + 1..=*k].iter().any(|m| m.breaks)
    });
    // `6 or more people`
    let unit = unit_after(view, i).or_else(|| follow.and_then(|k| unit_after(view, k)));
    let said = match (lead.and_then(|k| compares(view.word(k))), follow) {
        (_, Some(k)) => Some((compares(view.word(k))?, k)),
        (Some(c), None) => lead.map(|k| (c, k)),
        _ => None,
    };
    let Some((cmp, at)) = said else { return equal(view, i, n, lead, unit) };
    // `at least one visit` limits nothing.
    let any = cmp == Cmp::Ge && (n - 1.0).abs() < f64::EPSILON;
    if any && view.items.get(i + 1).is_some_and(|n| n.names_row() && !view.names_figure(n)) {
        view.spent[at] = true;
        view.spent[i] = true;
        return None;
    }
    // `at least once`, `more than 2 times` count rows, which no column holds.
    let tail = view.tail(i, 7);
    let once = view.items[i].text == "once";
    let often = tail.starts_with(" times") || tail.starts_with('次');
    let column = subject(view, i, unit, false).filter(|_| !once);
    if often && counted_in(view, i).is_none() && view.often.is_none() {
        view.often = Some((cmp, n));
        let end = view.items[i].end + 7;
        for k in (0..view.items.len()).filter(|k| *k == at || *k > i && view.items[*k].end <= end) {
            view.spent[k] = true;
        }
        view.spent[i] = true;
        return None;
    }
    view.spent[at] = true;
    if let Some(sign) = sign {
        view.spent[sign] = true;
    }
    for k in i + 1..view.items.len().min(i + 3) {
        let people = units::ending(&view.items[k].text) == Some(Unit::Person) && column.is_some();
        if (view.unit(k).is_some() && view.items[k].start <= end + 1) || people {
            view.spent[k] = true;
        }
    }
    // `60岁以上` includes 60, unless said otherwise.
    let cmp = match (cmp, view.items[at].text.trim_end_matches('的')) {
        (Cmp::Gt, "以上") => Cmp::Ge,
        (Cmp::Lt, "以下") => Cmp::Le,
        (other, _) => other,
    };
    let cmp = inclusive(view, i, cmp);
    let value = column.map_or(n, |c| scaled(view, i, n, unit, c));
    Some(Bound { column, cmp, value })
}

/// `评分为5`, `year of study 1`, `variance of zero`.
fn equal(view: &mut View<'_>, i: usize, n: f64, lead: Option<usize>, unit: Option<Unit>) -> Option<Bound> {
    let said = lead.is_some_and(|k| view.word(k) == Some(Word::Equal));
    let column = subject(view, i, unit, true)?;
    let beside = lead.is_some_and(|k| {
        view.items[k].columns().any(|c| c == column) && view.items[k].end + 4 >= view.items[i].start
    });
    if !said && !beside || limits(view, i, n) {
        return None;
    }
    if let Some(k) = lead.filter(|_| said) {
        view.spent[k] = true;
    }
    let value = scaled(view, i, n, unit, column);
    Some(Bound { column: Some(column), cmp: Cmp::Eq, value })
}

/// `5年以上（含5年）`, `60岁以上（不含60）`: the brackets decide, and their number is read with it.
fn inclusive(view: &mut View<'_>, i: usize, cmp: Cmp) -> Cmp {
    let end = view.items[i].end;
    let tail = view.tail(i, usize::MAX);
    let digits: String = view.items[i].text.chars().take_while(char::is_ascii_digit).collect();
    let near = tail.char_indices().find(|(at, c)| {
        *c == '含'
            && (tail[..*at].chars().count() < 14
                || !digits.is_empty() && tail[at + '含'.len_utf8()..].starts_with(&digits))
    });
    let Some((at, _)) = near else { return cmp };
    let excludes = tail[..at].ends_with('不');
    let place = end + tail[..at].chars().count();
    for k in i + 1..view.items.len() {
        if view.items[k].start + 2 >= place && view.items[k].start <= place + 5 {
            view.spent[k] = true;
        }
    }
    match (cmp, excludes) {
        (Cmp::Gt | Cmp::Ge, true) => Cmp::Gt,
        (Cmp::Gt | Cmp::Ge, false) => Cmp::Ge,
        (Cmp::Lt | Cmp::Le, true) => Cmp::Lt,
        (Cmp::Lt | Cmp::Le, false) => Cmp::Le,
        (other, _) => other,
    }
}

/// The figure a bound is on: named beside it, or by what it is counted in.
fn subject(view: &View<'_>, i: usize, unit: Option<Unit>, near: bool) -> Option<ColRef> {
    let figure = |k: usize| {
        let mut best: Option<(ColRef, f32)> = None;
        for (sense, far) in &view.items[k].senses {
            let found = match sense {
                Sense::Column(c) if view.role(*c) == Role::Measure => Some((*c, *far)),
                Sense::Thing(c) => Some((*c, 0.9)),
                _ => None,
            };
            // Of several the one in the unit that was said.
            let fits = |c: ColRef| unit.is_some() && units::of(view.scope.column(c)) == unit;
            if let Some((c, far)) = found
                && best.is_none_or(|(b, f)| far < f && !fits(b) || fits(c) && !fits(b))
            {
                best = Some((c, far));
            }
        }
        best.map(|(c, _)| c)
    };
    let clause = |k: &usize| view.same_clause(*k, i);
    let suits = |c: &ColRef| {
        let of = units::of(view.scope.column(*c));
        match unit {
            None | Some(Unit::Piece) => true,
            Some(u) => of.is_none() || of == Some(u) || units::is_time(u) && of.is_some_and(units::is_time),
        }
    };
    let after = (i + 1..view.items.len().min(i + 4))
        .filter(clause)
        .take_while(|k| number(view, *k).is_none())
        .find_map(figure)
        .filter(suits);
    let reach = if near { 2 } else { 7 };
    let before = (i.saturating_sub(reach)..i).rev().filter(clause).find_map(figure).filter(suits);
    let named = if view.english { after.or(before) } else { before.or(after) };
    named.or_else(|| counted_in(view, i)).or_else(|| unit.and_then(|u| in_kind(view, u)))
}

/// The column in a unit, or the one in another unit of time.
fn in_kind(view: &View<'_>, unit: Unit) -> Option<ColRef> {
    let money = || view.main_money().filter(|_| unit == Unit::Money);
    view.in_unit(unit).or_else(money).or_else(|| {
        let main = view.scope.in_scope[0];
        units::is_time(unit)
            .then(|| units::only_duration(&view.scope.tables[main]))
            .flatten()
            .map(|column| ColRef { table: main, column })
    })
}

/// A number in the unit of its column: `1小时` over minutes, `10%` over 0–100, `100万` over 万元.
fn scaled(view: &View<'_>, i: usize, n: f64, unit: Option<Unit>, column: ColRef) -> f64 {
    let found = view.scope.column(column);
    let text: String = view.text[view.items[i].start..view.items[i].end].iter().collect();
    let high = found.high();
    if text.contains('%') && high > 1.5 {
        return n * 100.0;
    }
    // `over 400 thousand` of `scc_thousand`
    if n >= 1000.0 && n > high && found.full.contains("thousand") {
        return n / 1e3;
    }
    if text.contains('万') && found.name.contains('万') {
        return n / 1e4;
    }
    let factor = unit.and_then(units::seconds).zip(units::of(found).and_then(units::seconds));
    factor.map_or(n, |(said, held)| n * said / held)
}
