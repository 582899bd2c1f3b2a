//! The parts a name to group by may play: the group, what is counted, an empty cell, or only what a value belongs to.

use crate::lex::ColRef;
use crate::table::Role;
use crate::weigh::columns::no_value;
use crate::weigh::items::Sense;
use crate::weigh::options::{Part, column_plural, headed};
use crate::weigh::view::View;
use crate::word::Word;

pub fn dimension(view: &View<'_>, i: usize, c: ColRef) -> Vec<(Part, f32)> {
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
    // `缸号有没有重复`
    if view.says_any(&[Word::Duplicates, Word::Repeated, Word::Once]) && !view.marked(i) {
        return vec![(Part::Group(c), 0.1), (Part::Kinds(c), 0.4), (Part::Nothing, 1.5)];
    }
    // `按就诊记录算`: row by row.
    let rows = view.items.get(i + 1).is_some_and(|n| n.word() == Some(Word::Rows));
    let by_row = rows || ["算", "来算"].iter().any(|w| tail.starts_with(w));
    if view.marked(i) && by_row && view.row_like(c) {
        return vec![(Part::Nothing, 0.1), (Part::Group(c), 1.5)];
    }
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
        let ranked = view.superlative().is_some();
        if per && row_like && !ranked && !view.aggs().is_empty() {
            return vec![(Part::Nothing, 0.0), (Part::Group(c), 1.5)];
        }
        // `average spend per customer`: over all of them.
        let scalar = per && view.says(Word::Mean) && !ranked;
        let person = crate::weigh::people::is_people(&view.items[i].text) || column.role == Role::Id;
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
        // `宝宝` of 宝宝姓名: each of them.
        let called = crate::names::numbered(&column.full) == Some(text);
        let part = text != column.words
            && !called
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
    } else if view.before_superlative(i) && !(row_like && view.english && view.most_said()) {
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
pub fn kinds_of(view: &View<'_>, i: usize, c: ColRef) -> Option<Vec<(Part, f32)>> {
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
