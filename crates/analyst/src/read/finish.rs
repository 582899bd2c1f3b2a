//! From a draft to a question: the intent, defaults where nothing was said, and refusals where nothing sound can be
//! computed. Every choice made here is noted for the user.

use jiff::civil::Date;

use crate::glossary::DefaultAgg;
use crate::lex::ColRef;
use crate::question::{Agg, Filter, Grain, Group, Intent, Measure, Note, Order, Question, Refusal};
use crate::read::asked::add_asked;
use crate::read::draft::{Draft, Wanted};
use crate::read::measures::{add_implied, default_column, measures, need_measure, person};
use crate::read::pairs::about_nouns;
use crate::read::tokens::Scope;
use crate::read::{growth, scope, special};
use crate::table::{DateForm, Kind, Role};
use crate::timex::Days;
use crate::word::Word;

pub fn finish(scope: &Scope<'_>, mut draft: Draft) -> Result<Question, Refusal> {
    let main = *scope.in_scope.first().ok_or(Refusal::NoTable)?;
    let joins = scope::joins(scope.tables, &scope.in_scope)?;
    if let Some((_, said)) = draft.lacking.first() {
        return Err(Refusal::NoColumn(said.clone()));
    }
    let spends_numbers = draft.says_any(&[Word::Forecast, Word::Next, Word::Moving, Word::Pareto]);
    if let (Some(stray), false) = (draft.stray_numbers.first(), spends_numbers) {
        return Err(Refusal::Unknown(vec![stray.to_string()]));
    }
    if !draft.dangling.is_empty() && !draft.says(Word::Missing) {
        return Err(Refusal::Unknown(draft.dangling));
    }
    if draft.unsure && draft.says(Word::Who) && draft.dims.is_empty() && person(scope).is_none() {
        return Err(Refusal::NothingAsked);
    }
    lacks_value(scope, &mut draft);
    add_asked(scope, &mut draft)?;
    add_implied(scope, &mut draft);
    let mut question = Question {
        table: main,
        intent: Intent::Value,
        measures: Vec::new(),
        groups: Vec::new(),
        filters: Vec::new(),
        having: None,
        order: draft.order.unwrap_or(Order::Descending),
        limit: draft.limit,
        chart: draft.chart,
        date: None,
        notes: std::mem::take(&mut draft.notes),
        joins,
    };
    for join in &question.joins {
        question.notes.push(Note::Joined { table: join.table, key: join.left });
    }
    if whole_table(&draft, &mut question) {
        return Ok(question);
    }
    drop_named_period(scope, &mut draft);
    let date = pick_date(scope, &draft, main, &mut question.notes);
    question.date = date;
    let span = date.and_then(|d| scope.column(d).date_span());
    let times = resolve_times(&draft, span, &mut question.notes)?;
    if draft.grain.is_some() && date.is_none() || !draft.times.is_empty() && date.is_none() {
        return Err(Refusal::NoDate);
    }
    question.measures = measures(scope, &mut draft, &mut question.notes);
    question.filters = filters(&draft);
    set_order(scope, &draft, &mut question);
    set_numbers(scope, &draft, &mut question)?;
    question.having = question.having.or(draft.counts);
    set_intent(scope, &draft, &mut question, &times, span)?;
    if rate_is_lost(scope, &draft, &question) {
        return Err(Refusal::NothingAsked);
    }
    place_times(&mut question, times, date);
    Ok(question)
}

/// `how many tickets have no score`: rows without one, not a survey of the table.
fn lacks_value(scope: &Scope<'_>, draft: &mut Draft) {
    let asks = draft.says_any(&[Word::HowMany, Word::Count, Word::Which, Word::List, Word::Share]);
    let counted = draft.measures.iter().any(|m| matches!(m, Wanted::Fixed(Measure::Rows)));
    if !draft.says(Word::Missing) || !asks || !(counted || draft.names_rows) {
        return;
    }
    let Some(column) = draft.plain_measures().last().copied().or(draft.dims.last().copied()) else { return };
    let found = scope.column(column);
    if found.nulls > 0 {
        draft.empty.push(column);
    } else if found.counts_from_zero() {
        draft.numbers.push((Some(column), crate::question::Cmp::Eq, 0.0));
    } else {
        return;
    }
    draft.words.remove(&Word::Missing);
    draft.measures.retain(|m| !matches!(m, Wanted::Plain(c, _) if *c == column));
    draft.dims.retain(|d| *d != column);
}

/// A rate that nothing was found for is not answered with something else.
fn rate_is_lost(scope: &Scope<'_>, draft: &Draft, question: &Question) -> bool {
    let named = |c: ColRef| {
        let full = &scope.column(c).full;
        full.contains("rate") || full.contains("ratio") || full.contains('率') || full.contains('比')
    };
    let rated = |m: &Measure| match m {
        Measure::RateYes(_) | Measure::RateIs { .. } | Measure::Ratio { .. } => true,
        Measure::Of(_, c) => named(*c),
        _ => false,
    };
    let shared =
        matches!(
            question.intent,
            Intent::Share | Intent::ShareOf { .. } | Intent::Cohort { .. } | Intent::Funnel { .. }
        ) || draft.says_any(&[Word::Growth, Word::Yoy, Word::Mom, Word::Correlation, Word::Forecast]);
    draft.says(Word::Rate) && !shared && !question.measures.iter().any(rated)
}

/// `study hours per week` of a column that says so needs no dates.
fn drop_named_period(scope: &Scope<'_>, draft: &mut Draft) {
    let dated = scope.in_scope.iter().any(|t| scope.tables[*t].main_date().is_some());
    let word = match draft.grain {
        Some(Grain::Week) => "week",
        Some(Grain::Month) => "month",
        Some(Grain::Day) => "day",
        Some(Grain::Hour) => "hour",
        Some(Grain::Year) => "year",
        _ => return,
    };
    if !dated && draft.plain_measures().iter().any(|c| scope.column(*c).full.contains(word)) {
        draft.grain = None;
    }
}

/// The slowest takes longest, and the worst delay is the longest.
fn set_order(scope: &Scope<'_>, draft: &Draft, question: &mut Question) {
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
    if !named && !BAD.iter().any(|id| found.has_concept(id)) || draft.grain.is_some() {
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
fn whole_table(draft: &Draft, question: &mut Question) -> bool {
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

fn pick_date(scope: &Scope<'_>, draft: &Draft, main: usize, notes: &mut Vec<Note>) -> Option<ColRef> {
    if let Some(named) = draft.dates.first() {
        return Some(*named);
    }
    let dated = scope
        .in_scope
        .iter()
        .find_map(|t| scope.tables[*t].main_date().map(|column| ColRef { table: *t, column }))?;
    let uses_time = draft.grain.is_some()
        || !draft.times.is_empty()
        || draft.says_any(&[Word::Trend, Word::Yoy, Word::Mom, Word::Growth, Word::Forecast]);
    let others = scope.tables[main].indices(|c| c.role == Role::Time);
    if let Some(other) =
        others.iter().find(|c| **c != dated.column).filter(|_| uses_time && dated.table == main)
    {
        notes.push(Note::DateColumn { taken: dated, other: ColRef { table: main, column: *other } });
    }
    Some(dated)
}

fn resolve_times(
    draft: &Draft,
    span: Option<(Date, Date)>,
    notes: &mut Vec<Note>,
) -> Result<Vec<Days>, Refusal> {
    let Some((first, last)) = span else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    for when in &draft.times {
        let Some(days) = when.resolve(last) else { continue };
        let misses = days.from.is_some_and(|f| f > last) || days.to.is_some_and(|t| t <= first);
        if misses && !draft.says_any(&[Word::Forecast, Word::Next]) {
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

fn filters(draft: &Draft) -> Vec<Filter> {
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
    let compared = draft.against.iter();
    out.extend(compared.map(|(left, cmp, right)| Filter::Columns { left: *left, cmp: *cmp, right: *right }));
    out.extend(draft.flags.iter().map(|(column, yes)| Filter::Yes { column: *column, yes: *yes }));
    out
}

/// A condition on a number holds for rows, or for groups when groups are asked for.
fn set_numbers(scope: &Scope<'_>, draft: &Draft, question: &mut Question) -> Result<(), Refusal> {
    let group =
        draft.dims.first().filter(|d| scope.column(**d).distinct * 10 < scope.tables[d.table].rows * 9);
    let asks_groups =
        draft.says_any(&[Word::Which, Word::List]) && group.is_some() && draft.numbers.len() == 1;
    for (column, cmp, value) in &draft.numbers {
        let fallback = question.measures.iter().find_map(|m| match m {
            Measure::Of(_, c) => Some(*c),
            _ => None,
        });
        // `borrowers under 30`: the one figure about borrowers.
        let thing = draft.things.first().copied().filter(|t| draft.things.iter().all(|o| o == t));
        let Some(column) = column
            .or(fallback)
            .or_else(|| about_nouns(scope, draft))
            .or(thing)
            .or_else(|| default_column(scope))
            .or_else(|| crate::units::main_money(&scope.tables[question.table]).map(|c| ColRef { table: question.table, column: c }))
        else {
            return Err(Refusal::NothingAsked);
        };
        if !plausible(scope, column, *value) {
            return Err(Refusal::NothingAsked);
        }
        let already: Option<usize> =
            question.measures.iter().position(|m| matches!(m, Measure::Of(_, c) if *c == column));
        if asks_groups
            || (column_is_counted(question)
                && group.is_some()
                && draft.dims.len() == 1
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

fn set_intent(
    scope: &Scope<'_>,
    draft: &Draft,
    question: &mut Question,
    times: &[Days],
    span: Option<(Date, Date)>,
) -> Result<(), Refusal> {
    if special::special_intent(scope, draft, question, times, span)? {
        return Ok(());
    }
    let date = question.date;
    question.groups = draft.dims.iter().take(2).map(|d| Group::By(*d)).collect();
    if let Some(intent) = growth::growth(draft, times, date, span) {
        need_measure(scope, draft, question)?;
        let grain = draft.grain.unwrap_or(Grain::Month);
        if let (Intent::GrowthSeries(_), Some(date)) = (&intent, date) {
            question.groups = vec![Group::Time(date, series_grain(draft, grain))];
        }
        question.intent = intent;
        return Ok(());
    }
    if let Some(intent) = mean_per(scope, draft, question, date) {
        question.intent = intent;
        return Ok(());
    }
    add_time_group(scope, draft, question, span);
    compare_values(draft, question);
    share(draft, question);
    if matches!(question.intent, Intent::Share | Intent::ShareOf { .. }) {
        need_measure(scope, draft, question)?;
        return Ok(());
    }
    plain_intent(scope, draft, question)
}

/// `average monthly revenue`, `月均销售额`.
fn mean_per(
    scope: &Scope<'_>,
    draft: &Draft,
    question: &mut Question,
    date: Option<ColRef>,
) -> Option<Intent> {
    let grain = draft.grain?;
    let Some(Measure::Of(agg @ Agg::Mean, column)) = question.measures.first_mut() else { return None };
    let said_mean = draft.says(Word::Mean)
        && draft.measures.iter().any(|w| matches!(w, Wanted::Plain(_, a) if a.is_some()))
        || draft.loose_agg == Some(Agg::Mean);
    let additive =
        !draft.dims.contains(column) && said_mean && scope.column(*column).default_agg == DefaultAgg::Sum;
    let by_time = draft.says_any(&[Word::Trend, Word::By, Word::Which]) && !draft.says(Word::Sum);
    if !additive || by_time || date.is_none() {
        return None;
    }
    *agg = Agg::Sum;
    Some(Intent::MeanPer(grain))
}

fn series_grain(draft: &Draft, grain: Grain) -> Grain {
    // `每月同比` and `年增长率`: the series is by month unless years were asked for.
    if draft.grain == Some(Grain::Year) && draft.says_any(&[Word::Month]) { Grain::Month } else { grain }
}

fn add_time_group(scope: &Scope<'_>, draft: &Draft, question: &mut Question, span: Option<(Date, Date)>) {
    let Some(date) = question.date else { return };
    let wants_line = draft.says_any(&[Word::Trend, Word::Cumulative, Word::Moving])
        || draft.chart == Some(crate::question::ChartKind::Line);
    let grain = draft.grain.or_else(|| (wants_line && draft.dims.len() < 2).then(|| auto_grain(draft, span)));
    let Some(grain) = grain else { return };
    let form = scope.column(date).kind;
    let grain = match form {
        Kind::Date(DateForm::Year) => Grain::Year,
        Kind::Date(DateForm::YearMonth)
            if matches!(grain, Grain::Day | Grain::Week | Grain::Hour | Grain::Weekday) =>
        {
            Grain::Month
        }
        _ => grain,
    };
    question.groups.truncate(1);
    question.groups.insert(0, Group::Time(date, grain));
}

fn auto_grain(draft: &Draft, span: Option<(Date, Date)>) -> Grain {
    let resolved = draft.times.first().zip(span).and_then(|(w, (_, last))| w.resolve(last));
    let span = resolved.and_then(|d| d.from.zip(d.to)).or(span);
    let days = span.and_then(|(a, b)| a.until(b).ok()).map_or(400, |s| s.get_days());
    match days {
        0..=62 => Grain::Day,
        63..=1900 => Grain::Month,
        _ => Grain::Year,
    }
}

/// `华东和华南`: two values of one column are shown side by side.
fn compare_values(draft: &Draft, question: &mut Question) {
    let many = question.filters.iter().find_map(|f| match f {
        Filter::In { column, values, negated: false } if values.len() > 1 => Some(*column),
        _ => None,
    });
    if let Some(column) = many
        && !question.groups.contains(&Group::By(column))
        && question.groups.len() < 2
        && !draft.together.contains(&column)
        && !draft.says(Word::Share)
    {
        question.groups.push(Group::By(column));
    }
}

fn share(draft: &Draft, question: &mut Question) {
    let rated = question
        .measures
        .iter()
        .any(|m| matches!(m, Measure::RateYes(_) | Measure::RateIs { .. } | Measure::Ratio { .. }));
    if !draft.says(Word::Share) || rated {
        return;
    }
    let parts = parts_of(draft, question);
    let grouped = question.groups.iter().any(|g| matches!(g, Group::By(_)));
    if grouped && (parts.is_empty() || draft.grouped || draft.says(Word::By)) {
        // Parts of a whole are added up, whatever is usual for the column.
        for measure in &mut question.measures {
            if let Measure::Of(agg @ Agg::Mean, _) = measure
                && !draft.says(Word::Mean)
            {
                *agg = Agg::Sum;
            }
        }
        question.intent = Intent::Share;
    } else if !parts.is_empty() {
        question.filters.retain(|f| !parts.contains(f));
        question.groups.clear();
        question.intent = Intent::ShareOf { parts };
    }
}

/// The filters that make the part: of several values the one said next to the share, the others limit the whole.
fn parts_of(draft: &Draft, question: &Question) -> Vec<Filter> {
    let positive = |f: &&Filter| !matches!(f, Filter::In { negated: true, .. });
    let parts: Vec<Filter> = question.filters.iter().filter(positive).cloned().collect();
    let values: Vec<&Filter> = parts.iter().filter(|f| matches!(f, Filter::In { .. })).collect();
    if values.len() < 2 {
        return parts;
    }
    let near = if draft.share_leads { values.first() } else { values.last() };
    near.map(|f| vec![(*f).clone()]).unwrap_or_default()
}

fn plain_intent(scope: &Scope<'_>, draft: &Draft, question: &mut Question) -> Result<(), Refusal> {
    let superlative = draft.says_any(&[
        Word::Highest,
        Word::Lowest,
        Word::Top,
        Word::Bottom,
        Word::BestSelling,
        Word::WorstSelling,
        Word::MostCommon,
        Word::Rank,
        Word::Busiest,
    ]);
    let timed = question.groups.iter().any(|g| matches!(g, Group::Time(..)));
    let lists = draft.says(Word::List) || draft.says(Word::Which);
    let row_like =
        draft.dims.first().is_none_or(|d| scope.column(*d).distinct * 10 >= scope.tables[d.table].rows * 9);
    let filtered = !question.filters.is_empty() || !draft.times.is_empty();
    if draft.says(Word::List) && row_like && filtered && question.having.is_none() && !superlative
        || lists
            && row_like
            && !(draft.numbers.is_empty() && draft.against.is_empty())
            && question.having.is_none()
            && !superlative
    {
        question.groups.clear();
        question.measures.retain(|m| matches!(m, Measure::Of(..)));
        question.intent = Intent::Rows;
        return Ok(());
    }
    if question.groups.is_empty() {
        let only_rows = question.measures.is_empty() && !draft.numbers.is_empty();
        if only_rows {
            question.intent = Intent::Rows;
            return Ok(());
        }
        if question.measures.is_empty() && draft.loose_agg.is_some() {
            need_measure(scope, draft, question)?;
        }
        return scalar_intent(draft, question);
    }
    need_measure(scope, draft, question)?;
    let each_row =
        |g: &Group| matches!(g, Group::By(c) if scope.column(*c).distinct >= scope.tables[c.table].rows);
    if question.measures == [Measure::Rows] && question.groups.iter().any(each_row) {
        return Err(Refusal::NothingAsked);
    }
    question.intent = if superlative {
        if question.limit.is_none()
            && draft.says_any(&[
                Word::Highest,
                Word::Lowest,
                Word::BestSelling,
                Word::WorstSelling,
                Word::MostCommon,
            ])
        {
            question.limit = None;
        }
        Intent::Rank
    } else if draft.says(Word::Cumulative) && timed {
        Intent::Cumulative
    } else if draft.says(Word::Moving) && timed {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to a small window"
        )]
        let window = draft.stray_numbers.first().map_or(3, |n| n.clamp(2.0, 60.0) as usize);
        Intent::Moving(window)
    } else if timed {
        Intent::Trend
    } else {
        Intent::Breakdown
    };
    Ok(())
}

fn scalar_intent(draft: &Draft, question: &mut Question) -> Result<(), Refusal> {
    let extreme = draft.says_any(&[Word::Highest, Word::Lowest]);
    // `trips from Berlin to Milan`: how many.
    if question.measures.is_empty()
        && draft.names_rows
        && !extreme
        && !question.filters.is_empty()
        && !draft.unsure
    {
        question.measures.push(Measure::Rows);
        question.notes.push(Note::DefaultMeasure(Measure::Rows));
    }
    if question.measures.is_empty() {
        return Err(Refusal::NothingAsked);
    }
    if let (true, [Measure::Of(_, _)]) = (extreme && draft.loose_agg.is_none(), &question.measures[..]) {
        question.intent = Intent::ExtremeRow { named: draft.says_any(&[Word::Which, Word::Who]) };
        question.limit = question.limit.or(Some(1));
    }
    Ok(())
}

/// Puts the times into the filters, unless the intent holds them itself.
fn place_times(question: &mut Question, times: Vec<Days>, date: Option<ColRef>) {
    let Some(date) = date else { return };
    match question.intent {
        Intent::Change { .. } | Intent::Forecast { .. } => {}
        _ => {
            question.filters.extend(times.into_iter().take(1).map(|days| Filter::Days { column: date, days }))
        }
    }
}
