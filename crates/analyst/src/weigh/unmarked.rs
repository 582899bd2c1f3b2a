//! Of two columns that differ only in a mark, the one meant when the mark is not said: what happened rather than what
//! was planned, a thing's name rather than its number. Changes nothing where the question says which.

use crate::lex::ColRef;
use crate::names::without_unit;
use crate::question::{Group, Join, Note, Question};
use crate::scope::{self, Scope};
use crate::table::{Role, Table};

const PLANNED: [&str; 22] = [
    "计划",
    "预计",
    "预期",
    "目标",
    "预算",
    "预估",
    "估计",
    "理论",
    "标准",
    "应",
    "原",
    "planned",
    "plan",
    "target",
    "budget",
    "budgeted",
    "expected",
    "estimated",
    "forecast",
    "scheduled",
    "original",
    "due",
];
const DONE: [&str; 9] = ["实际", "实", "已", "最终", "actual", "actually", "real", "realised", "paid"];

/// `est_hours`, 计划工时: what was meant to be.
pub fn is_planned(table: &Table, column: usize) -> bool {
    marked(table, column, &PLANNED).is_some()
}

/// A planned or owed figure, where the same was also done, and nothing said that the plan is meant.
pub fn only_planned(scope: &Scope<'_>, column: ColRef, said: &str) -> bool {
    let table = &scope.tables[column.table];
    if scope.role(column) != Role::Measure {
        return false;
    }
    let Some((mark, noun)) = marked(table, column.column, &PLANNED) else { return false };
    let done = |c: usize| {
        table.columns[c].role == Role::Measure
            && (marked(table, c, &DONE).is_some_and(|(_, n)| n == noun) || name(table, c) == noun)
    };
    !said.contains(mark.as_str()) && (0..table.columns.len()).any(done)
}

fn name(table: &Table, column: usize) -> String {
    without_unit(&table.columns[column].full).to_owned()
}

/// The mark a column's name has, and the name without it.
fn marked(table: &Table, column: usize, marks: &[&str]) -> Option<(String, String)> {
    let name = name(table, column);
    marks.iter().find_map(|mark| {
        if mark.is_ascii() {
            let rest: Vec<&str> = name.split(' ').filter(|w| w != mark).collect();
            (rest.len() < name.split(' ').count() && !rest.is_empty())
                .then(|| ((*mark).to_owned(), rest.join(" ")))
        } else {
            let rest = name.strip_prefix(mark)?;
            (!rest.is_empty()).then(|| ((*mark).to_owned(), rest.to_owned()))
        }
    })
}

/// Groups by number become groups by name where each number has one name and each name one number.
pub fn name_groups(scope: &Scope<'_>, asked_by_number: bool, question: &mut Question) {
    if asked_by_number {
        return;
    }
    for i in 0..question.groups.len() {
        let Group::By(number) = question.groups[i] else { continue };
        if scope.role(number) != Role::Id {
            continue;
        }
        let beside = name_beside(&scope.tables[number.table], number)
            .or_else(|| only_name(scope, number).filter(|_| number.table != question.table));
        if let Some(name) = beside {
            question.groups[i] = Group::By(name);
        } else if let Some((join, name)) = name_elsewhere(scope, question, number) {
            question.notes.push(Note::Joined { table: join.table, key: join.left });
            question.joins.push(join);
            question.groups[i] = Group::By(name);
        }
    }
}

/// `customer` of `customer id`, `团长` of `团长编号`; nothing for a plain `id`.
fn thing(name: &str) -> Option<&str> {
    const NUMBERS: [&str; 13] = [
        " id", " no", " number", " code", " key", " ref", "编号", "代码", "编码", "工号", "号码", "号", "id",
    ];
    let thing = NUMBERS.iter().find_map(|n| name.strip_suffix(n))?.trim_end();
    (!thing.is_empty()).then_some(thing)
}

fn is_name_of(thing: &str, name: &str) -> bool {
    let rest = name.strip_prefix(thing).map(str::trim_start);
    rest.is_some_and(|r| matches!(r, "" | "name" | "full name" | "姓名" | "名称" | "名" | "名字"))
}

fn name_beside(table: &Table, number: ColRef) -> Option<ColRef> {
    let column = &table.columns[number.column];
    let thing = thing(&column.full)?;
    let found = table
        .columns
        .iter()
        .position(|c| c.role != Role::Measure && c.distinct == column.distinct && is_name_of(thing, &c.full));
    found.map(|column| ColRef { table: number.table, column })
}

/// The one column of names beside the key of a table that describes: `艺名` of `主播ID`.
fn only_name(scope: &Scope<'_>, key: ColRef) -> Option<ColRef> {
    let table = &scope.tables[key.table];
    if scope.column(key).distinct < table.rows {
        return None;
    }
    let found = table.indices(|c| {
        let name = c.words.ends_with('名')
            || c.words.ends_with("名称")
            || c.full == "name"
            || c.full.ends_with(" name")
            || c.full.ends_with("title");
        c.role != Role::Measure && name && c.distinct * 10 >= table.rows * 8
    });
    match found[..] {
        [column] => Some(ColRef { table: key.table, column }),
        _ => None,
    }
}

/// The name in the table that describes such numbers, one row each.
fn name_elsewhere(scope: &Scope<'_>, question: &Question, number: ColRef) -> Option<(Join, ColRef)> {
    // Joins start at the main table.
    if number.table != question.table {
        return None;
    }
    let joined: Vec<usize> = question.joins.iter().map(|j| j.table).collect();
    let thing = thing(&scope.column(number).full).unwrap_or(&scope.column(number).full);
    (0..scope.tables.len()).filter(|t| *t != number.table && !joined.contains(t)).find_map(|other| {
        let join = scope::joins(scope.tables, &[number.table, other]).ok()?.pop()?;
        let table = &scope.tables[other];
        let called =
            |c: &str| matches!(c, "name" | "full name" | "company" | "company name" | "姓名" | "名称");
        let named = |c: &crate::table::Column| {
            c.role != Role::Measure
                && c.distinct == table.rows
                && (is_name_of(thing, &c.full) || called(&c.full))
        };
        let only = || only_name(scope, join.right).map(|c| c.column);
        let named = table.columns.iter().position(named).or_else(only)?;
        (join.left == number).then_some((join, ColRef { table: other, column: named }))
    })
}
