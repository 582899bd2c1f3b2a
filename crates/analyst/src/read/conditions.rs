//! Bounds, dates and conditions of a question, and readings that would answer something else: a period that is part of a
//! name, a rate nothing was found for. Chooses no figure.

use jiff::civil::Date;

use crate::glossary::DefaultAgg;
use crate::lex::ColRef;
use crate::question::{Agg, Cmp, Filter, Grain, Intent, Measure, Note, Order, Question, Refusal};
use crate::read::draft::{Draft, Wanted};
use crate::read::measures::default_column;
use crate::read::pairs::about_nouns;
use crate::read::tokens::Scope;
use crate::table::{DateForm, Kind, Role};
use crate::timex::Days;
use crate::word::Word;

/// `how many tickets have no score`: rows without one, not a survey of the table.
pub(super) fn lacks_value(scope: &Scope<'_>, draft: &mut Draft) {
    let asks = draft.says_any(&[Word::HowMany, Word::Count, Word::Which, Word::List, Word::Share]);
    let counted = draft.measures.iter().any(|m| matches!(m, Wanted::Fixed(Measure::Rows)));
    let counted = counted || draft.unrecorded.is_some();
    if !draft.says(Word::Missing) || !asks || !(counted || draft.names_rows) {
        return;
    }
    let named = draft.plain_measures().last().copied().or(draft.dims.last().copied());
    let Some(column) = draft.unrecorded.or(named) else { return };
    let found = scope.column(column);
    if found.nulls > 0 {
        draft.empty.push(column);
    } else if found.counts_from_zero() {
        draft.numbers.push((Some(column), Cmp::Eq, 0.0));
    } else {
        return;
    }
    draft.words.remove(&Word::Missing);
    draft.measures.retain(|m| !matches!(m, Wanted::Plain(c, _) if *c == column));
    draft.dims.retain(|d| *d != column);
    draft.dates.retain(|d| *d != column);
}

/// A rate that nothing was found for is not answered with something else.
pub(super) fn rate_is_lost(scope: &Scope<'_>, draft: &Draft, question: &Question) -> bool {
    let named = |c: ColRef| {
        let full = &scope.column(c).full;
        full.contains("rate") || full.contains("ratio") || full.contains('率') || full.contains('比')
    };
    let rated = |m: &Measure| match m {
        Measure::RateYes(_) | Measure::RateIs { .. } | Measure::Ratio { .. } => true,
        Measure::Of(_, c) => named(*c),
        _ => false,
    };
    let shared = matches!(
        question.intent,
        Intent::Share | Intent::ShareOf { .. } | Intent::Cohort { .. } | Intent::Funnel { .. }
    ) || draft.says_any(&[
        Word::Growth,
        Word::Yoy,
        Word::Mom,
        Word::Correlation,
        Word::Forecast,
        Word::Linear,
    ]);
    draft.says(Word::Rate) && !shared && !question.measures.iter().any(rated)
}

/// `study hours per week` of a column that says so needs no dates.
pub(super) fn drop_named_period(scope: &Scope<'_>, draft: &mut Draft) {
    let dated = scope.in_scope.iter().any(|t| scope.tables[*t].main_date().is_some());
    let word = match draft.grain {
        Some(Grain::Week) => "week",
        Some(Grain::Month) => "month",
        Some(Grain::Day) => "day",
        Some(Grain::Hour) => "hour",
        Some(Grain::Year) => "year",
        _ => return,
    };
    let monthly = |c: &ColRef| {
        let full = &scope.column(*c).full;
        full.starts_with("monthly ") || full.starts_with('月')
    };
    // `每个月工资发多少` of a column of monthly pay.
    let paid = draft.grain == Some(Grain::Month)
        && draft.says(Word::HowMuch)
        && draft.plain_measures().iter().any(monthly);
    if paid || !dated && draft.plain_measures().iter().any(|c| scope.column(*c).full.contains(word)) {
        draft.grain = None;
    }
}

/// The slowest takes longest, and the worst delay is the longest.
pub(crate) fn set_order(scope: &Scope<'_>, draft: &Draft, question: &mut Question) {
    const BAD: [&str; 10] = [
        "duration",
        "delay",
        "wait",
        "transit",
        "resolution_time",
        "response",
        "downtime",
        "defects",
        "absences",
        "cost",
    ];
    let Some(Measure::Of(_, column)) = question.measures.first() else { return };
    let found = scope.column(*column);
    let named = ["周期", "时长", "天数", "时间"].iter().any(|e| found.words.ends_with(e));
    let timed = crate::units::of(found).is_some_and(crate::units::is_time);
    if !named && !timed && !BAD.iter().any(|id| found.has_concept(id)) || draft.grain.is_some() {
        return;
    }
    let slow = draft.says(Word::Slowest) || draft.judged == Some(false);
    let fast = draft.says(Word::Fastest) || draft.judged == Some(true);
    if slow {
        question.order = Order::Descending;
    } else if fast {
        question.order = Order::Ascending;
    }
}

/// Questions about the table as a whole need nothing else.
pub(super) fn whole_table(draft: &Draft, question: &mut Question) -> bool {
    let bare = draft.measures.is_empty() && draft.dims.is_empty();
    let intent = if draft.says(Word::Missing) {
        Intent::Missing
    } else if draft.says(Word::Duplicates) {
        Intent::Duplicates
    } else if draft.says(Word::Columns) && !draft.says(Word::Sum) {
        Intent::Columns
    } else if draft.says(Word::Preview) && bare {
        Intent::Preview
    } else if draft.says(Word::Describe) && bare && draft.values.is_empty() && draft.times.is_empty() {
        Intent::Describe
    } else {
        return false;
    };
    question.intent = intent;
    true
}

/// `cancelled in 2024`, where there is a `cancel_date`: when that came about, not when the row began.
fn date_of_value(scope: &Scope<'_>, draft: &Draft, main: usize) -> Option<ColRef> {
    let values: Vec<&str> =
        draft.values.iter().filter(|(c, _, no)| c.table == main && !no).map(|(_, v, _)| v.as_str()).collect();
    let nouns = draft.nouns.iter().map(|n| crate::names::stem(n)).collect::<Vec<_>>();
    let uses_time = draft.grain.is_some() || !draft.times.is_empty();
    // `bookings in March` go by the booking date.
    let noun = |e: &str| uses_time && nouns.contains(&crate::names::stem(e));
    let told = |c: &crate::table::Column| {
        let event =
            [" date", " time", " at", " on", "日期", "时间"].iter().find_map(|e| c.full.strip_suffix(e));
        let same = |e: &str, value: &str| {
            let value = crate::norm::normal(value);
            if e.is_ascii() {
                crate::names::same_word(e, &value) || crate::names::related(e, &value)
            } else {
                e.chars().count() >= 2 && value.trim_start_matches(['已', '被']).trim_end_matches('了') == e
            }
        };
        c.role == Role::Time && event.is_some_and(|e| values.iter().any(|v| same(e, v)))
    };
    let named =
        |c: &crate::table::Column| c.role == Role::Time && c.full.strip_suffix(" date").is_some_and(noun);
    let columns = &scope.tables[main].columns;
    let column = columns.iter().position(told).or_else(|| columns.iter().position(named))?;
    Some(ColRef { table: main, column })
}

pub(crate) fn pick_date(
    scope: &Scope<'_>,
    draft: &Draft,
    main: usize,
    notes: &mut Vec<Note>,
) -> Option<ColRef> {
    if let Some(named) = draft.dates.first() {
        return Some(*named);
    }
    if let Some(told) = date_of_value(scope, draft, main) {
        return Some(told);
    }
    let dated = scope
        .in_scope
        .iter()
        .find_map(|t| scope.tables[*t].main_date().map(|column| ColRef { table: *t, column }))?;
    let uses_time = draft.grain.is_some()
        || !draft.times.is_empty()
        || draft.says_any(&[Word::Trend, Word::Yoy, Word::Mom, Word::Growth, Word::Forecast, Word::Linear]);
    let others = scope.tables[main].indices(|c| c.role == Role::Time);
    if let Some(other) =
        others.iter().find(|c| **c != dated.column).filter(|_| uses_time && dated.table == main)
    {
        notes.push(Note::DateColumn { taken: dated, other: ColRef { table: main, column: *other } });
    }
    Some(dated)
}

pub(crate) fn resolve_times(
    draft: &Draft,
    span: Option<(Date, Date)>,
    notes: &mut Vec<Note>,
) -> Result<Vec<Days>, Refusal> {
    let Some((first, last)) = span else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    for when in &draft.times {
        let Some(days) = when.resolve(last) else { continue };
        let misses = days.from.is_some_and(|f| f > last) || days.to.is_some_and(|t| t <= first);
        if misses && !draft.says_any(&[Word::Forecast, Word::Linear, Word::Next]) {
            return Err(Refusal::OutsideDates {
                asked: days.label,
                first: first.to_string(),
                last: last.to_string(),
            });
        }
        if days.relative {
            notes.push(Note::Relative { last: last.to_string(), label: days.label.clone() });
        } else if days.assumed_year && first.year() != last.year() {
            notes.push(Note::AssumedYear { label: days.label.clone() });
        }
        out.push(days);
    }
    Ok(out)
}

pub(super) fn filters(draft: &Draft) -> Vec<Filter> {
    let mut out: Vec<Filter> = Vec::new();
    for (column, value, negated) in &draft.values {
        let same = out.iter_mut().find_map(|f| match f {
            Filter::In { column: c, values, negated: n } if c == column && n == negated => Some(values),
            _ => None,
        });
        match same {
            Some(values) if values.contains(value) => {}
            Some(values) => values.push(value.clone()),
            None => out.push(Filter::In { column: *column, values: vec![value.clone()], negated: *negated }),
        }
    }
    out.extend(draft.empty.iter().map(|column| Filter::Empty { column: *column }));
    out.extend(draft.filled.iter().map(|column| Filter::Filled { column: *column }));
    let compared = draft.against.iter();
    out.extend(compared.map(|(left, cmp, right)| Filter::Columns { left: *left, cmp: *cmp, right: *right }));
    out.extend(draft.flags.iter().map(|(column, yes)| Filter::Yes { column: *column, yes: *yes }));
    out
}

/// A condition on a number holds for rows, or for groups when groups are asked for.
pub(super) fn set_numbers(scope: &Scope<'_>, draft: &Draft, question: &mut Question) -> Result<(), Refusal> {
    let group =
        draft.dims.first().filter(|d| scope.column(**d).distinct * 10 < scope.tables[d.table].rows * 9);
    let asks_groups =
        draft.says_any(&[Word::Which, Word::List]) && group.is_some() && draft.numbers.len() == 1;
    for (column, cmp, value) in &draft.numbers {
        let fallback = question.measures.iter().find_map(|m| match m {
            Measure::Of(agg, c) if *agg != Agg::Distinct => Some(*c),
            _ => None,
        });
        // `borrowers under 30`: the one figure about borrowers.
        let thing = draft.things.first().copied().filter(|t| draft.things.iter().all(|o| o == t));
        let Some(column) = column
            .or(fallback)
            .or_else(|| about_nouns(scope, draft))
            .or(thing)
            .or_else(|| default_column(scope))
            .or_else(|| {
                crate::units::main_money(&scope.tables[question.table])
                    .map(|c| ColRef { table: question.table, column: c })
            })
        else {
            return Err(Refusal::NothingAsked);
        };
        if !plausible(scope, column, *value) {
            return Err(Refusal::NothingAsked);
        }
        let already: Option<usize> =
            question.measures.iter().position(|m| matches!(m, Measure::Of(_, c) if *c == column));
        // `60分以下人次最多的科目`: the bound is on rows, which are then counted.
        let counted = column_is_counted(question) || question.measures.is_empty();
        let counts_such = counted && draft.most && already.is_none();
        if counts_such && question.measures.is_empty() {
            question.measures.push(Measure::Rows);
        }
        if asks_groups && !counts_such
            || (column_is_counted(question)
                && group.is_some()
                && draft.dims.len() == 1
                && !counts_such
                && draft.says(Word::Which))
        {
            if already.is_none() {
                let agg =
                    draft.loose_agg.unwrap_or(if scope.column(column).default_agg == DefaultAgg::Mean {
                        Agg::Mean
                    } else {
                        Agg::Sum
                    });
                question.measures.insert(0, Measure::Of(agg, column));
            }
            question.having = Some((*cmp, *value));
            question.notes.push(Note::PerGroup);
        } else {
            question.filters.push(Filter::Number { column, cmp: *cmp, value: *value });
        }
    }
    Ok(())
}

/// A bound outside everything in the column was meant for something else. Groups may well lie beyond single rows.
fn plausible(scope: &Scope<'_>, column: ColRef, value: f64) -> bool {
    let column = scope.column(column);
    let bound = |v: &Option<String>| v.as_deref().and_then(crate::observe::number);
    value == 0.0
        || bound(&column.min).is_none_or(|low| value >= low.min(0.0) && (value >= low || low <= value * 10.0))
}

fn column_is_counted(question: &Question) -> bool {
    matches!(question.measures.first(), Some(Measure::Rows | Measure::Of(Agg::Distinct, _)))
}

/// Days tell no hours: another column may, or there is no answer.
pub(super) fn hours_of_days(
    scope: &Scope<'_>,
    draft: &mut Draft,
    date: Option<ColRef>,
) -> Result<(), Refusal> {
    let timed = date.is_some_and(|d| scope.column(d).kind == Kind::Date(DateForm::Timestamp));
    if draft.grain != Some(Grain::Hour) || timed {
        return Ok(());
    }
    let main = *scope.in_scope.first().ok_or(Refusal::NoTable)?;
    let tells = |c: &crate::table::Column| {
        c.distinct <= 24 && ["hour", "时段", "小时", "时间段"].iter().any(|w| c.full.contains(w))
    };
    let column = scope.tables[main].columns.iter().position(tells).ok_or(Refusal::NoDate)?;
    draft.dims.push(ColRef { table: main, column });
    draft.grain = None;
    Ok(())
}
