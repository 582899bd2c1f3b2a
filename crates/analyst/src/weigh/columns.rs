//! The parts a name in the tables may play: a figure, a group, a condition, what is counted, or nothing but a description.

use crate::lex::ColRef;
use crate::table::Role;
use crate::units;
use crate::weigh::items::{Item, Sense};
use crate::weigh::options::{Part, column_plural, headed};
use crate::weigh::view::View;
use crate::word::Word;

pub fn column(view: &View<'_>, i: usize, c: ColRef) -> Vec<(Part, f32)> {
    match view.role(c) {
        Role::Measure => measure(view, i, c),
        Role::Flag => flag(view, i, c),
        Role::Time => time(view, i, c),
        Role::Dimension | Role::Id => dimension(view, i, c),
    }
}

fn measure(view: &View<'_>, i: usize, c: ColRef) -> Vec<(Part, f32)> {
    let none = view.near_missing(i) || view.negated(i);
    if none && view.scope.column(c).nulls == 0 && view.scope.column(c).counts_from_zero() {
        return vec![(Part::Zero(c), 0.1), (Part::Figure(c), 1.5)];
    }
    if view.near_missing(i) || no_value(view, i, c) {
        return vec![(Part::Empty(c), 0.0), (Part::Figure(c), 2.0)];
    }
    let column = view.scope.column(c);
    let tail = view.tail(i, 1);
    let head = view.head(i);
    if column.nulls > 0 && tail == "的" && head.ends_with('有') && !head.ends_with("没有") {
        return vec![(Part::Filled(c), 0.1), (Part::Figure(c), 1.0)];
    }
    // `loans that were renewed`, where it is told how often.
    let being = ["were", "was", "been", "got"].iter().any(|w| head.ends_with(w));
    let count_asked = view.says_any(&[Word::HowMany, Word::Count, Word::Share]);
    // `how many kg were donated`: how much, not how often.
    let in_its_unit =
        (0..view.items.len()).any(|k| view.unit(k).is_some_and(|u| units::of(column) == Some(u)));
    let done = being && view.items[i].text.ends_with("ed");
    if column.counts_from_zero() && done && count_asked && !in_its_unit {
        return vec![(Part::Some(c), 0.2), (Part::Figure(c), 1.0)];
    }
    if column.counts_from_zero() && had(view, i) {
        return vec![(Part::Some(c), 0.2), (Part::Figure(c), 0.9)];
    }
    if view.bounds.iter().any(|b| b.column == Some(c)) {
        return vec![(Part::Nothing, 0.0), (Part::Figure(c), 0.7)];
    }
    // `哪一类费用`: the kinds of it.
    if let Some(kinds) = view.marked(i).then(|| kinds_of(view, i, c)).flatten() {
        return kinds;
    }
    // `没结清学费`: what a flag is about.
    let about_flag = view.before(i).is_some_and(|k| {
        view.items[k].end == view.items[i].start
            && view.items[k].columns().any(|d| view.role(d) == Role::Flag)
    });
    if about_flag {
        return vec![(Part::Nothing, 0.2), (Part::Figure(c), 0.5)];
    }
    // `spend on energy` is money.
    let other_money = view.says(Word::Spend) && !units::is_money(column) && view.main_money().is_some();
    if other_money {
        return vec![(Part::Nothing, 0.4), (Part::Figure(c), 0.9)];
    }
    // `订单数量`: how many orders.
    let after_row = i > 0 && view.items[i - 1].end == view.items[i].start && view.items[i - 1].names_row();
    if after_row && matches!(view.items[i].text.as_str(), "数量" | "总数" | "数" | "量") {
        return vec![(Part::Nothing, 0.0), (Part::Figure(c), 0.6)];
    }
    // `electricity` of a consumption by kind: the kind first; `handled` is a verb.
    let exact = view.items[i].senses.iter().any(|(s, far)| *s == Sense::Column(c) && *far < 0.01);
    let value =
        !exact && view.items[i].senses.iter().any(|(s, far)| matches!(s, Sense::Value(..)) && *far < 0.15);
    let verb = view.items[i].text.is_ascii()
        && view.items[i].text.ends_with("ed")
        && !headed(view, c, &view.items[i].text);
    // `late deliveries`, `share of late ones`: an adjective, where a flag says so.
    let flagged = view.items[i].columns().any(|d| view.role(d) == Role::Flag);
    let before_row = view.items.get(i + 1).is_some_and(Item::names_row);
    let adjective = flagged && (before_row || view.says_any(&[Word::Share, Word::Rate]));
    // `which of our volunteers` asks for people, not for a number of them.
    let which_of = view.whole.contains("which of") && view.says_any(&[Word::Highest, Word::Lowest]);
    // `overdue loans`, where it is told by how many days.
    if before_row
        && column.counts_from_zero()
        && view.items[i].text.is_ascii()
        && !view.says_any(&[Word::Highest, Word::Lowest])
    {
        return vec![(Part::Some(c), 0.2), (Part::Figure(c), 0.5)];
    }
    let who = which_of && view.role(c) == Role::Measure && !column.full.contains(' ')
        || view.marked(i)
            && crate::read::asked::is_people(&view.items[i].text)
            && view.lead(i).is_some_and(|k| view.word(k) == Some(Word::Which));
    let apart = if who {
        1.5
    } else if value || verb || adjective {
        0.5
    } else {
        0.0
    };
    // `charge per km`: divided by it.
    if view.per_before(i) {
        return vec![(Part::Per(c), 0.1), (Part::Figure(c), 1.5)];
    }
    let by = view.lead(i).is_some_and(|k| view.word(k) == Some(Word::By));
    let few = view.scope.column(c).distinct <= 30;
    // `lost bags`: what a value tells of.
    let told = i > 0
        && view.items[i - 1].end + 1 == view.items[i].start
        && view.items[i - 1].value_columns().next().is_some()
        && view.items[i - 1].columns().next().is_none();
    let nothing = if verb {
        0.8
    } else if told {
        1.0
    } else {
        2.2
    };
    let mut out = vec![(Part::Figure(c), apart), (Part::Nothing, nothing)];
    if by && few && view.superlative().is_none() {
        out.push((Part::Group(c), 0.3));
        out[0].1 = 0.6;
    }
    out
}

/// `sessions that had a waitlist`, `有欠费的`: some of it.
fn had(view: &View<'_>, i: usize) -> bool {
    let head = view.head(i);
    let asked = view.says_any(&[Word::HowMany, Word::Count, Word::Share]);
    asked
        && [
            "had a",
            "had an",
            "had any",
            "with a",
            "with an",
            "with any",
            "have a",
            "have any",
            "had some",
            "with some",
            "有",
        ]
        .iter()
        .any(|h| head.ends_with(h) && !head.ends_with("没有"))
}

/// `no deposit`, `没有评分`: an empty cell, where there are such.
fn no_value(view: &View<'_>, i: usize, c: ColRef) -> bool {
    view.scope.column(c).nulls > 0 && view.negated(i)
}

fn flag(view: &View<'_>, i: usize, c: ColRef) -> Vec<(Part, f32)> {
    let none = view.before(i).is_some_and(|k| {
        matches!(view.items[k].text.as_str(), "had no" | "has no" | "have no" | "without any" | "no")
    });
    // `短信没发的`, of a column 短信已发
    let undone = view.items.get(i + 1).is_some_and(|n| {
        n.word() == Some(Word::Exclude)
            && n.start == view.items[i].end
            && view.tail(i + 1, 1).chars().all(|v| view.scope.column(c).name.contains(v))
    });
    let yes = !view.negated(i) && !none && !undone;
    let again = view.items.iter().enumerate().any(|(k, m)| k != i && m.columns().any(|d| d == c));
    let denied = yes
        && view
            .items
            .iter()
            .enumerate()
            .any(|(k, m)| k != i && m.columns().any(|d| d == c) && view.negated(k));
    let sided = view.says_any(&[Word::Compare, Word::And, Word::By]);
    let part = first_word(view, i, c);
    let nothing = if denied && !sided {
        0.1
    } else if again || part > 0.0 {
        0.7
    } else {
        1.8
    };
    let mut out = vec![(Part::Yes(c, yes), part), (Part::Nothing, nothing)];
    let by = view.marked(i)
        && view.lead(i).is_some_and(|k| matches!(view.word(k), Some(Word::By | Word::Which | Word::And)));
    out.push((Part::Group(c), if by { 0.0 } else { 2.5 }));
    if by {
        out[0].1 = 0.8;
    }
    out
}

/// `deliver` alone does not say `delivered late`.
fn first_word(view: &View<'_>, i: usize, c: ColRef) -> f32 {
    let name = &view.scope.column(c).full;
    let text = view.items[i].text.as_str();
    let Some((first, _)) = name.split_once(' ') else { return 0.0 };
    let same = crate::names::stem(first) == crate::names::stem(text);
    if same && !matches!(first, "is" | "has" | "was") && !text.contains(' ') { 1.2 } else { 0.0 }
}

fn time(view: &View<'_>, i: usize, c: ColRef) -> Vec<(Part, f32)> {
    if view.near_missing(i) || no_value(view, i, c) {
        return vec![(Part::Empty(c), 0.0), (Part::Date(c), 1.5)];
    }
    vec![(Part::Date(c), 0.1), (Part::Nothing, 0.6)]
}

fn dimension(view: &View<'_>, i: usize, c: ColRef) -> Vec<(Part, f32)> {
    // `customers ordered`: what they did, not an order.
    let text = view.items[i].text.as_str();
    if view.english && text.ends_with("ed") && !headed(view, c, text) && !view.near_missing(i) {
        return vec![(Part::Nothing, 0.3), (Part::Group(c), 1.5)];
    }
    let beside = |k: Option<usize>| {
        k.is_some_and(|k| view.same_clause(k, i) && view.items[k].value_columns().any(|v| v == c))
    };
    let near_equal = |k: Option<usize>| {
        k.filter(|k| view.word(*k) == Some(Word::Equal)).is_some_and(|k| beside(view.after(k)))
    };
    let tail = view.tail(i, 3);
    if ["算", "去重", "计算", "统计", "来算"].iter().any(|w| tail.starts_with(w))
        && view.says_any(&[Word::HowMany, Word::Count, Word::HowMuch])
    {
        return vec![(Part::Kinds(c), 0.0), (Part::Group(c), 0.8)];
    }
    let head = view.head(i);
    let held = head.ends_with('有') && !head.ends_with("没有") && tail.starts_with('的');
    if held && view.scope.column(c).nulls > 0 {
        return vec![(Part::Filled(c), 0.1), (Part::Group(c), 1.5)];
    }
    if view.listed.contains(&i) && view.says_together() {
        return vec![(Part::Nothing, 0.0), (Part::Group(c), 0.6)];
    }
    if view.listed.contains(&i) {
        return vec![(Part::Group(c), 0.0), (Part::Nothing, 1.5)];
    }
    // `other plumbers`: not those of the table.
    let others = head.ends_with(" other") && !view.says(Word::Exclude) && !head.contains("all other");
    if others {
        return vec![(Part::Nothing, 2.5), (Part::Group(c), 2.5)];
    }
    let marked = view.marked(i);
    if marked && view.says(Word::Distinct) && view.says_any(&[Word::HowMany, Word::Count]) {
        return vec![(Part::Kinds(c), 0.0), (Part::Group(c), 1.0)];
    }
    if !marked && (beside(view.before(i)) || beside(view.after(i)) || near_equal(view.after(i))) {
        return vec![(Part::Nothing, 0.0), (Part::Group(c), 1.6)];
    }
    if view.near_missing(i) || no_value(view, i, c) {
        return vec![(Part::Empty(c), 0.0), (Part::Group(c), 2.0)];
    }
    let column = view.scope.column(c);
    let row_like = view.row_like(c);
    let compound = view.after(i).is_some_and(|n| view.modifies(i, n));
    if compound {
        return vec![(Part::Nothing, 0.1), (Part::Group(c), 1.2)];
    }
    if marked {
        // `average bids per lot`, where every row is a lot.
        let per = view.lead(i).is_some_and(|k| {
            let text = view.items[k].text.as_str();
            matches!(text, "per" | "each" | "every") || text.starts_with('每')
        });
        let scalar = per && view.says(Word::Mean) && view.superlative().is_none();
        if scalar && row_like {
            return vec![(Part::Nothing, 0.0), (Part::Group(c), 1.5)];
        }
        // `average spend per customer`: over all of them.
        let person = crate::read::asked::is_people(&view.items[i].text) || column.role == Role::Id;
        if scalar && (column.distinct > 30 || person) {
            return vec![(Part::PerEach(c), 0.0), (Part::Group(c), 0.8)];
        }
        return kinds_of(view, i, c).unwrap_or_else(|| vec![(Part::Group(c), 0.0), (Part::Nothing, 2.0)]);
    }
    // `几个校区的课消各是多少`: each of them.
    let apart = ["各是", "分别", "各有", "各为", "各多少", "各自"].iter().any(|w| view.whole.contains(w));
    let few = view.lead(i).is_some_and(|k| view.items[k].text.starts_with('几'));
    if view.counted(i) && few && apart {
        return vec![(Part::Group(c), 0.1), (Part::Kinds(c), 1.0)];
    }
    if view.counted(i) {
        let also_row = view.items[i].names_row();
        let people = view.counts_people(i);
        let also_row = also_row && (row_like || !people);
        let pieces = matches!(view.items[i].text.as_str(), "items" | "goods" | "pieces" | "products")
            && !view.bounds.is_empty();
        // `案件` of `案件状态`: what has one, not the states.
        let text = view.items[i].text.as_str();
        let part = text != column.words
            && !headed(view, c, text)
            && column.role == Role::Dimension
            && view.items[i].senses.iter().any(|(s, far)| *s == Sense::Column(c) && *far > 0.2);
        let also_row = also_row || part;
        if view.asks_kinds(i) {
            return vec![(Part::Kinds(c), 0.0), (Part::Rows, 1.5)];
        }
        let (kinds, all) = match (row_like || also_row || pieces, view.says(Word::Distinct)) {
            (_, true) => (0.0, 3.0),
            (true, _) => (0.9, 0.0),
            _ => (0.0, 1.0),
        };
        return vec![(Part::Kinds(c), kinds), (Part::Rows, all), (Part::Group(c), 2.0)];
    }
    if view.of_all(i) && view.says(Word::Compare) {
        return vec![(Part::Group(c), 0.0), (Part::Nothing, 1.0)];
    }
    if view.of_all(i) {
        return vec![(Part::Nothing, 0.0), (Part::Group(c), 1.6)];
    }
    let after_value = view.before(i).is_some_and(|k| {
        view.same_clause(k, i)
            && view.items[k].end + 1 >= view.items[i].start
            && (view.items[k].value_columns().next().is_some()
                || view.items[k].columns().any(|c| view.role(c) == Role::Flag))
    });
    let scalar = view.says_any(&[Word::Sum, Word::Mean, Word::Median, Word::HowMuch, Word::HowMany])
        && view.superlative().is_none();
    // `谁负责的客户最多`: how many of them each has.
    if view.says(Word::Who) && view.before_superlative(i) && view.most_said() {
        return vec![(Part::Kinds(c), 0.1), (Part::Rows, 0.4), (Part::Group(c), 1.0)];
    }
    let (group, nothing) = if after_value {
        (1.8, 0.2)
    } else if view.before_superlative(i) {
        (0.4, 2.0)
    } else if row_like || column.role == Role::Id {
        (2.2, 0.6)
    } else if scalar {
        (1.7, 0.8)
    } else if view.english && !column_plural(&view.items[i].text) {
        (1.6, 0.9)
    } else {
        (1.0, 1.1)
    };
    vec![(Part::Group(c), group), (Part::Nothing, nothing)]
}

/// `哪类设备`, `which type of machine`: the column of kinds, where there is one.
fn kinds_of(view: &View<'_>, i: usize, c: ColRef) -> Option<Vec<(Part, f32)>> {
    let marker = &view.items[view.lead(i)?].text;
    let asks = marker.ends_with('类')
        || marker.ends_with("类型")
        || marker.ends_with("类的")
        || marker.ends_with("种类");
    let head = view.head(i);
    let english = ["kind of", "type of", "sort of", "kinds of", "types of"].iter().any(|w| head.ends_with(w));
    if !asks && !english {
        return None;
    }
    let table = &view.scope.tables[c.table];
    let noun = &view.items[i].text;
    let kind = |d: &crate::table::Column| {
        d.role == Role::Dimension
            && [
                "类型", "类别", "类", "种类", "型", "分类", "品类", "项目", "type", "kind", "category",
                "class",
            ]
            .iter()
            .any(|e| d.words.ends_with(e))
    };
    let found = table.indices(kind);
    if found.contains(&c.column) {
        return None;
    }
    let named: Vec<usize> =
        found.iter().copied().filter(|d| table.columns[*d].words.contains(noun.as_str())).collect();
    let column = match (&named[..], &found[..]) {
        ([one], _) | (_, [one]) => *one,
        _ => return None,
    };
    Some(vec![(Part::Group(ColRef { table: c.table, column }), 0.1), (Part::Group(c), 0.9)])
}

pub fn value(view: &View<'_>, i: usize, c: ColRef, values: &[String]) -> Vec<(Part, f32)> {
    // `除了团队票，其他票种`: all that is left.
    let rest = matches!(view.items[i].text.as_str(), "其他" | "其它" | "其余" | "other" | "others");
    if rest && view.says(Word::Exclude) {
        return vec![(Part::Nothing, 0.0)];
    }
    // `cancelled ones included`
    let tail = view.tail(i, 16);
    if tail.contains("included") || tail.starts_with("也算") {
        return vec![(Part::Nothing, 0.1)];
    }
    // `Box office` as a figure is meant by its whole name.
    let named = view.items[i]
        .senses
        .iter()
        .any(|(s, far)| *far < 0.01 && matches!(s, Sense::Column(d) if view.role(*d) == Role::Measure));
    // What the question before was limited by is meant again.
    let kept = view.kept.contains(&c);
    let cost = if named {
        0.6
    } else if kept {
        -0.2
    } else {
        0.0
    };
    vec![(Part::Is(c, values.to_vec(), view.negated(i)), cost), (Part::Nothing, 2.5)]
}

pub fn thing(view: &View<'_>, i: usize, c: ColRef) -> Vec<(Part, f32)> {
    if view.bounds.iter().any(|b| b.column == Some(c)) {
        return vec![(Part::Nothing, 0.0)];
    }
    if view.near_missing(i) || view.negated(i) {
        let none = if view.scope.column(c).nulls > 0 { Part::Empty(c) } else { Part::Zero(c) };
        return vec![(none, 0.2), (Part::Nothing, 1.5)];
    }
    let mut out = vec![(Part::Nothing, 0.4), (Part::Figure(c), 0.9)];
    if view.counted(i) {
        out.push((Part::Rows, 1.2));
    }
    out
}
