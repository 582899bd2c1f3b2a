//! From a draft to a question: the intent, defaults where nothing was said, and refusals where nothing sound can be
//! computed. Every choice made here is noted for the user.

use jiff::civil::Date;

use crate::glossary::DefaultAgg;
use crate::lex::ColRef;
use crate::question::{Agg, Filter, Grain, Group, Intent, Measure, Note, Order, Question, Refusal};
use crate::read::asked::{add_asked, add_worth, pay_in_money};
use crate::read::conditions::{
    drop_named_period, filters, hours_of_days, lacks_value, pick_date, rate_is_lost, resolve_times,
    set_numbers, set_order, whole_table,
};
use crate::read::draft::{Draft, Wanted};
use crate::read::measures::{add_implied, measures, need_measure, person};
use crate::read::tokens::Scope;
use crate::read::{
    chinese, extremes, firsts, growth, guard, periods, rates, scope, sense, share, special, unmarked,
};
use crate::table::{DateForm, Kind, Role};
use crate::timex::Days;
use crate::word::Word;

pub fn finish(scope: &Scope<'_>, mut draft: Draft) -> Result<Question, Refusal> {
    let main = *scope.in_scope.first().ok_or(Refusal::NoTable)?;
    let joins = scope::joins(scope.tables, &scope.in_scope)?;
    if let Some((_, said)) = draft.lacking.first() {
        return Err(Refusal::NoColumn(said.clone()));
    }
    let spends_numbers =
        draft.says_any(&[Word::Forecast, Word::Linear, Word::Next, Word::Moving, Word::Pareto]);
    if let (Some(stray), false) = (draft.stray_numbers.first(), spends_numbers) {
        return Err(Refusal::Unknown(vec![stray.to_string()]));
    }
    // `fuel per passenger`, where nothing says how much fuel.
    if draft.per_unit.is_some() && draft.plain_measures() == draft.per_unit.into_iter().collect::<Vec<_>>() {
        return Err(Refusal::NothingAsked);
    }
    if !draft.dangling.is_empty() && !draft.says(Word::Missing) {
        return Err(Refusal::Unknown(draft.dangling));
    }
    if draft.unsure && draft.says(Word::Who) && draft.dims.is_empty() && person(scope).is_none() {
        return Err(Refusal::NothingAsked);
    }
    if draft.says_any(&[Word::Growth, Word::Yoy, Word::Mom]) {
        // `by how many percent did it grow`
        draft.words.remove(&Word::Share);
    }
    lacks_value(scope, &mut draft);
    share::part_of_total(scope, &mut draft);
    sense::add_figure_of_value(&mut draft);
    pay_in_money(scope, &mut draft)?;
    add_worth(scope, &mut draft)?;
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
    hours_of_days(scope, &mut draft, date)?;
    question.date = date;
    let span = date.and_then(|d| scope.column(d).date_span());
    let times = resolve_times(&draft, span, &mut question.notes)?;
    let mut times = periods::settle(&mut draft, times);
    if draft.grain.is_some() && date.is_none() || !draft.times.is_empty() && date.is_none() {
        return Err(Refusal::NoDate);
    }
    question.measures = measures(scope, &mut draft, &mut question.notes);
    question.filters = filters(&draft);
    rates::settle(&draft, &mut question);
    set_order(scope, &draft, &mut question);
    set_numbers(scope, &draft, &mut question)?;
    question.having = question.having.or(draft.counts);
    set_intent(scope, &draft, &mut question, &times, span)?;
    periods::share_of_time(&draft, &mut question, &mut times, date);
    rates::count_groups(&draft, &mut question);
    // A bound on groups where there are none would be lost.
    let grouped = !question.groups.is_empty();
    if question.having.is_some() && !grouped {
        return Err(Refusal::NothingAsked);
    }
    chinese::divide_by_entity(scope, &draft, &mut question);
    // A group that got its name here is no number any more, so that people are not named twice.
    unmarked::name_groups(scope, draft.names_numbers, &mut question);
    name_people(scope, &draft, &mut question);
    if rate_is_lost(scope, &draft, &question) {
        return Err(Refusal::NothingAsked);
    }
    if guard::lost(scope, &draft, &question) {
        return Err(Refusal::NothingAsked);
    }
    place_times(&mut question, times, date)?;
    scope::prune(scope, &mut question)?;
    Ok(question)
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
    if extremes::both_ends(scope, draft, question)
        || extremes::one_row(scope, draft, question)
        || firsts::first_seen(scope, draft, question)?
    {
        return Ok(());
    }
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
    share(scope, draft, question);
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
    // `on average how many orders a day`
    let counted = matches!(
        question.measures[..],
        [Measure::Rows | Measure::CountYes(_) | Measure::Of(Agg::Distinct, _)]
    );
    let asked =
        draft.says(Word::Mean) || draft.mean_period && draft.says_any(&[Word::HowMany, Word::HowMuch]);
    let ranked = draft.says_any(&[Word::Highest, Word::Lowest, Word::Trend, Word::By, Word::Which]);
    if counted && asked && !ranked && draft.dims.is_empty() && date.is_some() {
        return Some(Intent::MeanPer(grain));
    }
    if let ([Measure::Of(Agg::Sum, _)], true) = (&question.measures[..], asked && draft.mean_period)
        && !ranked
        && draft.dims.is_empty()
        && date.is_some()
    {
        return Some(Intent::MeanPer(grain));
    }
    let Some(Measure::Of(agg @ Agg::Mean, column)) = question.measures.first_mut() else { return None };
    let said_mean = draft.says(Word::Mean)
        && draft.measures.iter().any(|w| matches!(w, Wanted::Plain(_, a) if a.is_some()))
        || draft.loose_agg == Some(Agg::Mean);
    let additive =
        !draft.dims.contains(column) && said_mean && scope.column(*column).default_agg == DefaultAgg::Sum;
    let by_time =
        draft.says_any(&[Word::Trend, Word::By, Word::Which]) && !draft.says(Word::Sum) && !draft.mean_period;
    if !additive || by_time || date.is_none() {
        return None;
    }
    *agg = Agg::Sum;
    Some(Intent::MeanPer(grain))
}

/// `前三名的学生是谁`: a number is no answer to who, where the table has the name besides.
pub(crate) fn name_people(scope: &Scope<'_>, draft: &Draft, question: &mut Question) {
    const NAMES: [&str; 6] = ["姓名", "名字", "学生姓名", "员工姓名", "name", "full name"];
    let ([Group::By(id)], true) = (&question.groups[..], draft.says(Word::Who)) else { return };
    let (id, table) = (*id, &scope.tables[id.table]);
    let numbers = table.columns[id.column].distinct;
    // One name for each number, but for namesakes.
    let named = |c: &crate::table::Column| {
        NAMES.contains(&c.full.as_str()) && c.distinct <= numbers && c.distinct * 5 >= numbers * 4
    };
    let name = table.columns.iter().position(named).map(|column| ColRef { table: id.table, column });
    if let Some(name) = name.filter(|n| *n != id && scope.role(id) == Role::Id) {
        question.groups.insert(0, Group::By(name));
        question.chart = question.chart.or(Some(crate::question::ChartKind::None));
    }
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
        && !added_up(draft)
        && (!draft.says(Word::Share) || draft.each_share)
    {
        question.groups.push(Group::By(column));
    }
}

/// `大杯和超大杯一共`: together, where nothing tells them apart.
fn added_up(draft: &Draft) -> bool {
    draft.says(Word::Sum)
        && draft.added_up
        && !draft.says_any(&[Word::By, Word::Compare, Word::Which, Word::Rank])
}

fn share(scope: &Scope<'_>, draft: &Draft, question: &mut Question) {
    let rated = question
        .measures
        .iter()
        .any(|m| matches!(m, Measure::RateYes(_) | Measure::RateIs { .. } | Measure::Ratio { .. }));
    if !draft.says(Word::Share) || rated {
        return;
    }
    // Parts of a whole are added up, whatever is usual for the column.
    for measure in &mut question.measures {
        if let Measure::Of(agg @ Agg::Mean, _) = measure
            && !draft.says(Word::Mean)
        {
            *agg = Agg::Sum;
        }
    }
    let parts = parts_of(draft, question);
    let grouped = question.groups.iter().any(|g| matches!(g, Group::By(_)));
    if grouped && (parts.is_empty() || draft.grouped || draft.each_share || draft.says(Word::By)) {
        // What differs in every row is what the shares are of, not what has them.
        if question.groups.len() > 1 {
            question.groups.retain(|g| !matches!(g, Group::By(c) if scope.role(*c) == Role::Id));
        }
        question.intent = Intent::Share;
    } else if !parts.is_empty() {
        add_up_parts(draft, question, &parts);
        question.filters.retain(|f| !parts.contains(f));
        question.groups.clear();
        question.intent = Intent::ShareOf { parts };
    }
}

/// Parts are added up; `what percent of loans have days overdue above zero` is a part of the loans.
fn add_up_parts(draft: &Draft, question: &mut Question, parts: &[Filter]) {
    if let [Measure::Of(agg @ (Agg::Mean | Agg::Sum), column)] = &mut question.measures[..] {
        let bounded = |f: &Filter| matches!(f, Filter::Number { column: c, .. } if c == column);
        if parts.iter().any(bounded) && draft.names_rows {
            question.measures = vec![Measure::Rows];
        } else if !draft.says(Word::Mean) {
            *agg = Agg::Sum;
        }
    }
}

/// The filters that make the part: of several values the one said next to the share, the others limit the whole.
fn parts_of(draft: &Draft, question: &Question) -> Vec<Filter> {
    let whole = |c: &ColRef| draft.wholes.contains(c);
    let positive = |f: &&Filter| match f {
        Filter::In { negated, column, .. } => !negated && !whole(column),
        _ => true,
    };
    let parts: Vec<Filter> = question.filters.iter().filter(positive).cloned().collect();
    let values: Vec<&Filter> = parts.iter().filter(|f| matches!(f, Filter::In { .. })).collect();
    let bounds = || parts.iter().filter(|f| matches!(f, Filter::Number { .. })).cloned();
    if draft.part_bound && !values.is_empty() && bounds().next().is_some() {
        return bounds().collect();
    }
    if values.len() < 2 {
        return parts;
    }
    let near = if draft.share_leads && !draft.part_last { values.first() } else { values.last() };
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
    let each = draft.grain.is_some() && !question.measures.is_empty();
    if draft.says(Word::List) && row_like && filtered && question.having.is_none() && !superlative && !each
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
fn place_times(question: &mut Question, times: Vec<Days>, date: Option<ColRef>) -> Result<(), Refusal> {
    let Some(date) = date else { return Ok(()) };
    match question.intent {
        Intent::Change { .. } | Intent::Forecast { .. } => {}
        // One of two would be lost.
        _ if times.len() > 1 => return Err(Refusal::NothingAsked),
        _ => question.filters.extend(times.into_iter().map(|days| Filter::Days { column: date, days })),
    }
    Ok(())
}
