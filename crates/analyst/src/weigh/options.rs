//! The parts each item may play in a reading, with what it costs to believe so. One item at a time, by its neighbours.

use crate::lex::ColRef;
use crate::question::Grain;
use crate::table::Role;
use crate::timex::When;
use crate::units;
use crate::weigh::bounds;
use crate::weigh::columns::{column, thing, value};
use crate::weigh::implied::{implied_measure, mean_per};
use crate::weigh::items::Sense;
use crate::weigh::lacking::lacking;
use crate::weigh::unknown;
use crate::weigh::unmarked;
use crate::weigh::view::View;
use crate::word::{Beyond, Word};

#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Nothing,
    Figure(ColRef),
    /// The figure an adjective is about.
    Implied(ColRef),
    Rows,
    Kinds(ColRef),
    Group(ColRef),
    Is(ColRef, Vec<String>, bool),
    Yes(ColRef, bool),
    Ratio(usize),
    /// Divided by this column.
    Per(ColRef),
    /// Divided by how many different ones there are.
    PerEach(ColRef),
    Empty(ColRef),
    Filled(ColRef),
    /// `no claims`: none.
    Zero(ColRef),
    /// `with a waitlist`: some.
    Some(ColRef),
    Date(ColRef),
    Grain(Grain),
    When(When),
}

pub fn options(view: &View<'_>, i: usize) -> Vec<(Part, f32)> {
    let mut out: Vec<(Part, f32)> = Vec::new();
    if view.spent[i] || view.set_aside(i) {
        return vec![(Part::Nothing, 0.0)];
    }
    for (sense, far) in &view.items[i].senses {
        let found = match sense {
            Sense::Column(c) if said_before(view, i, *c) => vec![(Part::Nothing, 0.0)],
            Sense::Column(c) => column(view, i, *c),
            Sense::Value(c, values) => value(view, i, *c, values),
            Sense::Thing(c) => thing(view, i, *c),
            Sense::Per(c) => vec![(Part::Per(*c), 0.0), (Part::Nothing, 1.5)],
            // `单笔金额的中位数`: of the amounts themselves.
            Sense::Ratio(_) if one_by_one(view).is_some() => one_by_one(view).into_iter().collect(),
            Sense::Ratio(r) => vec![(Part::Ratio(*r), 0.0), (Part::Nothing, 2.5)],
            Sense::Lacking(c) => lacking(view, i, *c),
            Sense::Row if view.counted(i) => counted_row(view, i),
            Sense::Row => row(view, i),
            Sense::OtherRow if view.counted(i) => vec![(Part::Nothing, 3.0)],
            Sense::OtherRow => vec![(Part::Nothing, if view.marked(i) { 2.0 } else { 0.3 })],
            Sense::Table if figure_named(view, i) => vec![(Part::Nothing, 1.0)],
            Sense::Table if view.marked(i) => vec![(Part::Nothing, 1.5)],
            Sense::Table | Sense::Percentile(_) => vec![(Part::Nothing, 0.0)],
            Sense::Stop | Sense::Passed | Sense::Unknown => vec![(Part::Nothing, unknown::cost(view, i))],
            // `the Granite Works rentals`, in a reading that leaves that table out.
            Sense::Elsewhere => vec![(Part::Nothing, 1.5)],
            Sense::Unit(u) => unit(view, i, *u),
            Sense::Word(w) => word(view, i, *w),
            Sense::Number(_) => vec![(Part::Nothing, 3.0)],
            // `Fall 2024` may be a term of the table.
            Sense::Time(w) => {
                let named = view.items[i].value_columns().next().is_some();
                vec![(Part::When(*w), if named { 0.3 } else { 0.0 })]
            }
            Sense::Beyond(Beyond::Chat) => vec![(Part::Nothing, 0.8)],
            // `写客户名称`, `words translated`: in what form, and what was done.
            Sense::Beyond(Beyond::Write) if asks_form(view, i) => vec![(Part::Nothing, 0.3)],
            // `caused by a deploy`: a value says so.
            Sense::Beyond(Beyond::Cause)
                if view.items[i].text == "caused" && view.tail(i, 4) == " by " && view.says(Word::Share) =>
            {
                vec![(Part::Nothing, 0.3)]
            }
            // `if it follows a linear trend, what should we expect`: the method is said, nothing is judged.
            Sense::Beyond(Beyond::Judgement | Beyond::Advice) if view.says(Word::Linear) => {
                vec![(Part::Nothing, 0.1)]
            }
            Sense::Beyond(_) => vec![(Part::Nothing, 6.0)],
        };
        for (part, cost) in found {
            let steers = matches!(sense, Sense::Word(_));
            let far = if part == Part::Nothing && !steers { 0.0 } else { *far };
            match out.iter_mut().find(|(p, _)| *p == part) {
                Some(same) => same.1 = same.1.min(cost + far),
                None => out.push((part, cost + far)),
            }
        }
    }
    out.sort_by(|a, b| a.1.total_cmp(&b.1));
    out.truncate(6);
    out
}

/// A median or the like of what is otherwise a mean of all: the money of each row.
fn one_by_one(view: &View<'_>) -> Option<(Part, f32)> {
    use crate::question::Agg;
    let spread = view.aggs().iter().any(|(_, a)| !matches!(a, Agg::Mean | Agg::Sum | Agg::Distinct));
    view.main_money().filter(|_| spread).map(|c| (Part::Figure(c), 0.2))
}

/// `how many apartments`: rows, unless a value, a figure or people of that name are there.
fn counted_row(view: &View<'_>, i: usize) -> Vec<(Part, f32)> {
    let item = &view.items[i];
    let text = item.text.as_str();
    // `收到多少捐款`: how much it comes to.
    if let Some(c) =
        view.main_money().filter(|_| ["款", "费", "薪", "工资"].iter().any(|e| text.ends_with(e)))
    {
        return vec![(Part::Figure(c), 0.1), (Part::Rows, 0.8)];
    }
    let value = item.senses.iter().any(|(s, far)| matches!(s, Sense::Value(..)) && *far < 0.5);
    let figure = item.columns().any(|c| view.role(c) == Role::Measure && headed(view, c, text));
    let people = view.counts_people(i);
    let again =
        item.columns().any(|c| matches!(view.role(c), Role::Id | Role::Dimension) && !view.row_like(c));
    let cost = if view.says(Word::Distinct) || view.asks_kinds(i) {
        3.0
    } else if value || figure || people && again {
        0.5
    } else {
        0.0
    };
    let sold = view.says(Word::Sell) && view.quantity().is_some();
    if sold {
        return vec![(Part::Nothing, 0.1), (Part::Rows, cost + 0.5)];
    }
    if view.says(Word::Distinct) {
        return vec![(Part::Nothing, 0.3), (Part::Rows, cost)];
    }
    vec![(Part::Rows, cost)]
}

fn bare_ends(name: &str, text: &str) -> bool {
    name.strip_prefix(text).is_some_and(|rest| !matches!(rest, "" | "数" | "量" | "数量"))
}

/// The word is what a name ends with, units aside: `takings` of `total takings gbp`.
pub fn headed(view: &View<'_>, c: ColRef, text: &str) -> bool {
    let name = crate::names::without_unit(&view.scope.column(c).full);
    let head = name.rsplit(' ').next().unwrap_or(name);
    if text.is_ascii() {
        return crate::names::stem(head) == crate::names::stem(text.rsplit(' ').next().unwrap_or(text));
    }
    const ENDINGS: [&str; 13] =
        ["数量", "金额", "费用", "时长", "次数", "总额", "时间", "天数", "量", "数", "额", "费", "率"];
    // `订单` are rows, whatever `订单金额` says of them.
    if text.ends_with(['单', '票', '笔', '次', '户', '人']) && bare_ends(name, text) {
        return false;
    }
    let bare = ENDINGS.iter().find_map(|e| name.strip_suffix(e)).unwrap_or(name);
    bare == text || name.ends_with(text)
}

fn figure_named(view: &View<'_>, i: usize) -> bool {
    view.items[i].columns().any(|c| view.role(c) == Role::Measure && headed(view, c, &view.items[i].text))
}

/// Another word names a figure in this unit, which then only says what it is told in.
fn restates(view: &View<'_>, i: usize, unit: units::Unit) -> bool {
    view.items.iter().enumerate().any(|(k, m)| {
        k != i
            && m.columns().any(|c| {
                view.role(c) == Role::Measure
                    && units::of(view.scope.column(c)) == Some(unit)
                    && headed(view, c, &m.text)
            })
    })
}

/// What a row is called, said without being counted: mostly who or what the question is about.
fn row(view: &View<'_>, i: usize) -> Vec<(Part, f32)> {
    let plural = view.items[i].text.is_ascii() && column_plural(&view.items[i].text);
    // `sales £ by shop`: the money.
    if view.tail(i, 3).trim_start().starts_with(['£', '$', '€', '¥']) {
        return vec![(Part::Nothing, 1.0)];
    }
    // A value or a figure of that name is meant first.
    let named = view.items[i].senses.iter().any(|(s, far)| match s {
        Sense::Value(..) => *far < 0.5,
        Sense::Column(c) => view.role(*c) == Role::Measure && headed(view, *c, &view.items[i].text),
        _ => false,
    });
    if named {
        return vec![(Part::Nothing, 1.0), (Part::Rows, 0.9)];
    }
    let grouped = view.marked(i)
        && view.items[i]
            .columns()
            .any(|c| matches!(view.role(c), Role::Id | Role::Dimension) && !view.row_like(c));
    if grouped {
        return vec![(Part::Nothing, 1.5)];
    }
    let opens =
        view.before(i).is_none_or(|k| view.word(k).is_some_and(|w| matches!(w, Word::Sum | Word::List)));
    let summed = view.says(Word::Sum) && !view.says_any(&[Word::HowMany, Word::Count]);
    let deals = view.says_any(&[Word::Sell, Word::Spend, Word::Earn]);
    let counted = if summed || deals {
        1.3
    } else if view.says(Word::Share) || plural && opens {
        0.3
    } else {
        0.7
    };
    vec![(Part::Nothing, if plural && opens { 0.1 } else { 0.0 }), (Part::Rows, counted)]
}

pub fn column_plural(text: &str) -> bool {
    text.ends_with('s') && !text.ends_with("ss") && !text.ends_with("us")
}

fn asks_form(view: &View<'_>, i: usize) -> bool {
    let item = &view.items[i];
    let named = view.items.get(i + 1).is_some_and(|n| n.start == item.end && n.columns().next().is_some());
    item.text == "写" && named || item.text.ends_with("ed")
}

/// `csat score`, where both words name one column: the second adds nothing.
fn said_before(view: &View<'_>, i: usize, c: ColRef) -> bool {
    let far = |k: usize| {
        let found = view.items[k].senses.iter().filter(|(s, _)| *s == Sense::Column(c)).map(|(_, f)| *f);
        found.fold(f32::MAX, f32::min)
    };
    view.english
        && i > 0
        && view.role(c) == Role::Measure
        && view.items[i].start == view.items[i - 1].end + 1
        && !view.items[i].breaks
        && far(i - 1) < 0.05
        && far(i) > 0.05
}

fn unit(view: &View<'_>, i: usize, unit: units::Unit) -> Vec<(Part, f32)> {
    match (view.per_before(i), view.in_unit(unit)) {
        (true, Some(c)) => return vec![(Part::Per(c), 0.0)],
        (true, None) => return vec![(Part::Nothing, 4.0)],
        _ => {}
    }
    let main = view.scope.in_scope[0];
    let no_money = !view.scope.tables[main].columns.iter().any(units::is_money);
    if unit == units::Unit::Money && no_money {
        return vec![(Part::Nothing, 3.0)];
    }
    let quantity = view.quantity().filter(|_| unit != units::Unit::Money);
    if let (None, Some(c), true) = (view.in_unit(unit), quantity, asked_before(view, i)) {
        // How many kilos is seldom how many pieces.
        let far = match unit {
            units::Unit::Piece => 0.6,
            units::Unit::Kilogram | units::Unit::Tonne if !view.english => 1.3,
            _ => 2.3,
        };
        return vec![(Part::Figure(c), far), (Part::Nothing, 2.3)];
    }
    let Some(c) = view.in_unit(unit) else {
        // `how many tonnes`, where nothing is weighed.
        let asked = asked_before(view, i) && unit != units::Unit::Money;
        let cost = if asked {
            4.0
        } else if unit == units::Unit::Money {
            0.3
        } else {
            0.8
        };
        return vec![(Part::Nothing, cost)];
    };
    if restates(view, i, unit) {
        return vec![(Part::Nothing, 0.0), (Part::Figure(c), 0.7)];
    }
    let asked = asked_before(view, i);
    let first = view.before(i).is_none();
    let figure = if asked || first { 0.0 } else { 0.4 };
    vec![(Part::Figure(c), figure), (Part::Nothing, if asked || first { 1.5 } else { 0.3 })]
}

fn asked_before(view: &View<'_>, i: usize) -> bool {
    matches!(
        view.before(i).and_then(|k| view.word(k)),
        Some(
            Word::HowMany
                | Word::HowMuch
                | Word::Sum
                | Word::Mean
                | Word::Median
                | Word::Highest
                | Word::Lowest
        )
    )
}

fn word(view: &View<'_>, i: usize, word: Word) -> Vec<(Part, f32)> {
    let text = view.items[i].text.as_str();
    let spoken = || mean_per(text).filter(|_| word == Word::Mean);
    let grain = word.grain().or_else(spoken);
    let hours = hours_used(view).filter(|_| text == "hours");
    let by = view.before(i).is_some_and(|k| view.word(k) == Some(Word::By));
    if let (Some(c), false) = (hours, by) {
        return vec![(Part::Figure(c), 0.1), (Part::Nothing, 0.6)];
    }
    if let Some(grain) = grain {
        const SAID: [&str; 16] = [
            "ly", "per ", "by ", "each ", "a month", "a day", "a week", "a year", "每", "按", "各", "逐",
            "哪", "度", "单月", "均",
        ];
        let said = SAID.iter().any(|s| text.contains(s) && text.len() > s.len() - 1);
        let number = view.before(i).is_some_and(|k| {
            view.items[k].end + 1 >= view.items[i].start
                && !bounds::is_each(view, k)
                && view.items[k].senses.iter().any(|(s, _)| matches!(s, Sense::Number(_)))
        });
        let asked = view
            .before(i)
            .and_then(|k| view.word(k))
            .is_some_and(|w| matches!(w, Word::HowMany | Word::HowMuch));
        // `服务费每月合计`, of a fee a month.
        let monthly = |c: ColRef| {
            ["/月", "每月", "per month", "monthly"]
                .iter()
                .any(|w| view.scope.column(c).name.to_lowercase().contains(w))
        };
        if grain == Grain::Month
            && view.says(Word::Sum)
            && view.items.iter().any(|m| m.columns().any(monthly))
        {
            return vec![(Part::Nothing, 0.1), (Part::Grain(grain), 0.4)];
        }
        if view.of_rows() {
            return vec![(Part::Nothing, 0.4), (Part::Grain(grain), 1.0)];
        }
        if view.undated() && !number && !asked && !view.named_period(grain) {
            return vec![(view.period_column(grain).map_or(Part::Grain(grain), Part::Group), 0.0)];
        }
        return if number || asked {
            vec![(Part::Nothing, 0.1), (Part::Grain(grain), 2.0)]
        } else if said || view.marked(i) || view.before_superlative(i) {
            vec![(Part::Grain(grain), 0.0), (Part::Nothing, 1.8)]
        } else if view.says_any(&[Word::HowMany]) || view.said_again(i) {
            vec![(Part::Grain(grain), 1.4), (Part::Nothing, 0.4)]
        } else {
            vec![(Part::Grain(grain), 0.9), (Part::Nothing, 0.8)]
        };
    }
    if matches!(
        word,
        Word::HowMany | Word::HowMuch | Word::Highest | Word::Lowest | Word::Fastest | Word::Slowest
    ) {
        if let Some(unit) = units::ending(text).filter(|u| restates(view, i, *u)) {
            let figure = view.in_unit(unit).map(|c| (Part::Figure(c), 0.4));
            return std::iter::once((Part::Nothing, 0.0)).chain(figure).collect();
        }
        if let Some(c) =
            units::ending(text).filter(|u| *u != units::Unit::Person).and_then(|u| view.in_unit(u))
        {
            return vec![(Part::Figure(c), 0.2), (Part::Nothing, 0.9)];
        }
        // `平均每场有多少人看` of 观看人数
        let seen = |c: &ColRef| {
            view.says(Word::Mean)
                || view.tail(i, 1).chars().all(|t| view.scope.column(*c).name.contains(t))
                    && !view.tail(i, 1).is_empty()
        };
        if let Some(c) = view.in_unit(units::Unit::Person).filter(|c| text.ends_with("多少人") && seen(c))
        {
            return vec![(Part::Figure(c), 0.2), (Part::Nothing, 0.5)];
        }
        let spoken = units::ending(text)
            .is_some_and(|u| !units::is_time(u) && u != units::Unit::Person && u != units::Unit::Money);
        if let (true, Some(c)) = (spoken, view.quantity()) {
            return vec![(Part::Figure(c), 0.5), (Part::Nothing, 0.9)];
        }
        let implied =
            implied_measure(text).iter().map(|id| view.scope.concept_columns(id)).find(|c| !c.is_empty());
        // How long something took is not how long one waited for it.
        const APART: [&str; 8] = ["wait", "delay", "late", "lead", "等", "延", "候", "逾期"];
        let waits = |c: &ColRef| APART.iter().any(|w| view.scope.column(*c).full.contains(w));
        let implied = implied.map(|found| {
            let kept: Vec<(ColRef, u8)> = found.iter().copied().filter(|(c, _)| !waits(c)).collect();
            if kept.is_empty() { found } else { kept }
        });
        if let Some((c, _)) = implied.and_then(|c| c.first().copied()) {
            // `the most expensive purchase`: by what it came to, not by the piece.
            let piece = ["unit", "单价", "per ", "each", "/"]
                .iter()
                .any(|w| view.scope.column(c).name.to_lowercase().contains(w));
            let of_row = view.after(i).is_some_and(|k| view.items[k].names_row());
            let c = view.main_money().filter(|_| piece && of_row).unwrap_or(c);
            return vec![(Part::Implied(c), 0.1), (Part::Nothing, 0.2)];
        }
    }
    // `英语最高分`
    let scored = matches!(word, Word::Max | Word::Min) && text.ends_with('分');
    let first = || view.scope.concept_columns("score").first().map(|(c, _)| *c);
    if let Some(c) = first().or_else(|| bounds::marks(view)).filter(|_| scored) {
        return vec![(Part::Figure(c), 0.1), (Part::Nothing, 0.3)];
    }
    let asks = |k: Option<usize>| {
        k.filter(|k| view.same_clause(*k, i))
            .is_some_and(|k| matches!(view.word(k), Some(Word::HowMany | Word::HowMuch | Word::Count)))
    };
    if word == Word::Rows && (asks(view.before(i)) || asks(view.after(i))) {
        return vec![(Part::Rows, 0.0), (Part::Nothing, 0.6)];
    }
    if word == Word::Missing {
        return missing(view, text);
    }
    if word == Word::HowMany || word == Word::Count && !text.starts_with("number") && !text.ends_with(" of") {
        return how_many(view, i);
    }
    vec![(Part::Nothing, 0.0)]
}

/// `hours`: those that were worked before those that were planned.
fn hours_used(view: &View<'_>) -> Option<ColRef> {
    let found = view.in_unit(units::Unit::Hour)?;
    let table = &view.scope.tables[found.table];
    if !unmarked::is_planned(table, found.column) {
        return Some(found);
    }
    let hours = |c: &crate::table::Column| c.role == Role::Measure && c.full.split(' ').any(|w| w == "hours");
    let used: Vec<usize> =
        table.indices(hours).into_iter().filter(|c| !unmarked::is_planned(table, *c)).collect();
    match used[..] {
        [column] => Some(ColRef { table: found.table, column }),
        _ => Some(found),
    }
}

/// `how many` without a noun, `几单`: rows; with one, that is what is counted.
fn how_many(view: &View<'_>, i: usize) -> Vec<(Part, f32)> {
    if !view.english {
        let rows = view.counts_rows(i);
        // `一共多少单`, where a column says how many there were: 订单数.
        if let Some(c) = view.tallied(i) {
            return vec![(Part::Figure(c), 0.0), (Part::Rows, 0.7), (Part::Nothing, 0.5)];
        }
        return vec![
            (Part::Nothing, if rows { 0.5 } else { 0.1 }),
            (Part::Rows, if rows { 0.0 } else { 0.5 }),
        ];
    }
    let noun =
        view.items.get(i + 1..).unwrap_or_default().iter().take(4).take_while(|n| !n.breaks).any(|n| {
            n.senses.iter().any(|(s, _)| {
                matches!(
                    s,
                    Sense::Row | Sense::OtherRow | Sense::Lacking(_) | Sense::Thing(_) | Sense::Unit(_)
                ) || matches!(s, Sense::Column(c) if view.role(*c) != Role::Flag)
            })
        });
    let quantity = view.quantity().is_some();
    let goods = quantity && view.says(Word::Sell) && !noun
        || quantity && view.items.get(i + 1).is_some_and(|n| view.is_goods(n));
    vec![
        (Part::Nothing, 0.1),
        (
            Part::Rows,
            if noun {
                1.2
            } else if goods {
                0.8
            } else {
                0.1
            },
        ),
    ]
}

/// `没评分`, where a column is called `顾客评分`: the word names what is empty.
fn missing(view: &View<'_>, text: &str) -> Vec<(Part, f32)> {
    let main = view.scope.in_scope[0];
    let rest = ["还没有", "没有", "还没", "没", "未", "漏", "缺"]
        .iter()
        .find_map(|w| text.strip_prefix(w))
        .unwrap_or("");
    let table = &view.scope.tables[main];
    let found = table.indices(|c| rest.chars().count() >= 2 && c.nulls > 0 && c.name.contains(rest));
    match found[..] {
        [column] => vec![(Part::Empty(ColRef { table: main, column }), 0.0)],
        _ => vec![(Part::Nothing, 0.0)],
    }
}
