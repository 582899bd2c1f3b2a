//! A question by month, or about a trend, where no column holds dates: by the column that names just that period, or not
//! at all. Never lets the time fall out of a question.

use super::draft::Draft;
use crate::lex::ColRef;
use crate::question::{Filter, Grain, Group, Intent, Question, Refusal};
use crate::table::{Role, Table};
use crate::word::Word;

/// More values than this are no calendar.
const MOST_PERIODS: u64 = 60;

/// The question, if it keeps the time that was asked for. `undated` tells that the patterns found no date for it.
pub(super) fn keep_time(
    tables: &[Table],
    draft: &Draft,
    mut question: Question,
    undated: bool,
) -> Result<Question, Refusal> {
    let held = std::iter::once(question.table).chain(question.joins.iter().map(|j| j.table));
    let dated = held.into_iter().any(|t| tables[t].columns.iter().any(|c| c.role == Role::Time));
    let timed = question.groups.iter().any(|g| matches!(g, Group::Time(..)))
        || question.filters.iter().any(|f| matches!(f, Filter::Days { .. }));
    let trend = draft.says(Word::Trend) && question.groups.is_empty();
    if dated || timed || !undated && !trend {
        return Ok(question);
    }
    let simple = matches!(question.intent, Intent::Value | Intent::Breakdown | Intent::Rank | Intent::Trend);
    let named = draft.grain.and_then(|grain| period_column(&tables[question.table], grain));
    let Some(column) = named.filter(|_| simple && draft.times.is_empty()) else {
        return Err(Refusal::NoDate);
    };
    let group = Group::By(ColRef { table: question.table, column });
    if !question.groups.contains(&group) {
        question.groups.truncate(1);
        question.groups.insert(0, group);
    }
    if question.intent == Intent::Value {
        question.intent = Intent::Breakdown;
    }
    Ok(question)
}

/// The column called what was asked for: `季度`, and nothing that is only near.
fn period_column(table: &Table, grain: Grain) -> Option<usize> {
    let names: &[&str] = match grain {
        Grain::Month => &["month", "month name", "months", "月", "月份"],
        Grain::Quarter => &["quarter", "qtr", "quarters", "季度"],
        Grain::Year => &["year", "fiscal year", "年", "年份", "年度"],
        Grain::Week => &["week", "week number", "周", "周次"],
        Grain::Weekday => &["weekday", "day of week", "星期", "周几"],
        Grain::Day | Grain::Hour => &[],
    };
    let fits = |c: &crate::table::Column| {
        names.contains(&c.words.as_str()) && (2..=MOST_PERIODS).contains(&c.distinct)
    };
    table.columns.iter().position(fits)
}
