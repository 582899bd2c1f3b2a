//! Analyses with a name of their own: correlation, funnel, cohort, forecast, Pareto, outliers, distribution.

use jiff::civil::Date;

use crate::glossary::ConceptRole;
use crate::lex::ColRef;
use crate::question::{Agg, Grain, Group, Intent, Measure, Question, Refusal};
use crate::read::draft::Draft;
use crate::read::measures::need_measure;
use crate::read::tokens::Scope;
use crate::table::Role;
use crate::timex::Days;
use crate::word::Word;

/// Analyses with a name of their own. True when the question is one.
pub(super) fn special_intent(
    scope: &Scope<'_>,
    draft: &Draft,
    question: &mut Question,
    times: &[Days],
    span: Option<(Date, Date)>,
) -> Result<bool, Refusal> {
    let numeric: Vec<ColRef> = draft.plain_measures();
    if draft.says_any(&[Word::Repeated, Word::Once]) {
        return repeats(draft, question).map(|()| true);
    }
    if draft.says(Word::Correlation) {
        if numeric.len() < 2 {
            return Err(Refusal::NeedsTwoMeasures);
        }
        question.measures = numeric.iter().take(2).map(|c| Measure::Of(Agg::Mean, *c)).collect();
        question.intent = Intent::Correlation;
        return Ok(true);
    }
    if draft.says(Word::Funnel) {
        return funnel(scope, draft, question).map(|()| true);
    }
    if draft.says(Word::Cohort) {
        return cohort(scope, draft, question).map(|()| true);
    }
    let asks_ahead = draft.says(Word::Next)
        && !draft.measures.is_empty()
        && draft.dims.is_empty()
        && draft.flags.is_empty();
    let forecasts = draft.says_any(&[Word::Forecast, Word::Linear]);
    if draft.says(Word::Next) && !forecasts && !asks_ahead {
        return Err(Refusal::Beyond(crate::word::Beyond::Judgement));
    }
    if forecasts || asks_ahead {
        return forecast(scope, draft, question, times, span).map(|()| true);
    }
    if draft.says(Word::Pareto) {
        question.groups = draft.dims.iter().take(1).map(|d| Group::By(*d)).collect();
        // `how many vendors make up 80% of the cost`: of those that are counted.
        if let (true, [Measure::Of(Agg::Distinct, counted), ..]) =
            (question.groups.is_empty(), &question.measures[..])
        {
            question.groups.push(Group::By(*counted));
            question.measures.remove(0);
            if question.measures.is_empty() && draft.names_rows {
                question.measures.push(Measure::Rows);
            }
        }
        if let (true, true, [Measure::Rows, _, ..]) =
            (question.groups.is_empty(), draft.says(Word::HowMany), &question.measures[..])
        {
            let table = &scope.tables[question.table];
            let each = table.columns.iter().position(|c| c.role == Role::Id && c.distinct >= table.rows);
            let column = each.ok_or(Refusal::NothingAsked)?;
            question.groups.push(Group::By(ColRef { table: question.table, column }));
            question.measures.remove(0);
        }
        if question.groups.is_empty() {
            let product =
                scope.concept_columns("product").into_iter().chain(scope.concept_columns("customer")).next();
            let (column, _) = product.ok_or(Refusal::NothingAsked)?;
            question.groups.push(Group::By(column));
        }
        // `how many customers make up 80% of the tickets`: of the rows.
        if let ([Group::By(by)], [Measure::Of(Agg::Distinct, counted)]) =
            (&question.groups[..], &question.measures[..])
            && by == counted
        {
            question.measures = vec![Measure::Rows];
        }
        need_measure(scope, draft, question)?;
        question.intent = Intent::Pareto { part: part_of_all(draft) };
        return Ok(true);
    }
    if draft.says(Word::Outlier) {
        question.groups =
            draft.grain.zip(question.date).map(|(g, d)| Group::Time(d, g)).into_iter().collect();
        need_measure(scope, draft, question)?;
        if !matches!(question.measures.first(), Some(Measure::Of(..))) {
            return Err(Refusal::NothingAsked);
        }
        question.intent = Intent::Outliers;
        return Ok(true);
    }
    if draft.says_any(&[Word::Distribution, Word::Range])
        && matches!(question.measures.first(), Some(Measure::Of(agg, _)) if *agg != Agg::Distinct)
        && draft.grain.is_none()
    {
        question.groups = draft.dims.iter().take(1).map(|d| Group::By(*d)).collect();
        question.intent = Intent::Distribution;
        return Ok(true);
    }
    Ok(false)
}

/// `80% of`, `half of`: how much they make up.
fn part_of_all(draft: &Draft) -> f64 {
    draft.stray_numbers.iter().copied().find(|n| *n > 0.0 && *n < 1.0).unwrap_or(0.8)
}

/// `how many invoice numbers appear more than once`: values that several rows have.
fn repeats(draft: &Draft, question: &mut Question) -> Result<(), Refusal> {
    let column = match (&question.measures[..], &draft.dims[..]) {
        ([Measure::Of(Agg::Distinct, column)], []) => *column,
        ([] | [Measure::Rows], [column]) => *column,
        ([] | [Measure::Rows], []) => draft.repeated.ok_or(Refusal::NothingAsked)?,
        _ => return Err(Refusal::NothingAsked),
    };
    if draft.grain.is_some() || question.having.is_some() {
        return Err(Refusal::NothingAsked);
    }
    question.measures = vec![Measure::Rows];
    question.groups = vec![Group::By(column)];
    question.intent = Intent::Repeats { column, once: draft.says(Word::Once) };
    Ok(())
}

fn funnel(scope: &Scope<'_>, draft: &Draft, question: &mut Question) -> Result<(), Refusal> {
    const STEPS: [&str; 6] = ["visits", "clicks", "signups", "carts", "checkouts", "purchases"];
    let mut steps: Vec<ColRef> = Vec::new();
    for id in STEPS {
        steps.extend(
            scope
                .concept_columns(id)
                .iter()
                .map(|(c, _)| *c)
                .filter(|c| scope.role(*c) == Role::Measure && !steps.contains(c))
                .take(1)
                .collect::<Vec<_>>(),
        );
    }
    steps.sort_by_key(|c| c.column);
    if steps.len() < 2 {
        return Err(Refusal::NoColumn("funnel".to_owned()));
    }
    question.groups = draft.dims.iter().take(1).map(|d| Group::By(*d)).collect();
    question.measures = steps.iter().map(|c| Measure::Of(Agg::Sum, *c)).collect();
    question.intent = Intent::Funnel { steps };
    Ok(())
}

fn cohort(scope: &Scope<'_>, draft: &Draft, question: &mut Question) -> Result<(), Refusal> {
    let date = question.date.ok_or(Refusal::NoDate)?;
    let named = draft.dims.iter().copied().find(|d| matches!(scope.role(*d), Role::Id | Role::Dimension));
    let is_entity = |c: &ColRef| {
        scope
            .column(*c)
            .concepts
            .iter()
            .any(|(id, _)| scope.glossary.concept(id).is_some_and(|k| k.role == ConceptRole::Entity))
    };
    let customer = scope.concept_columns("customer").first().map(|(c, _)| *c);
    let entity =
        named.filter(is_entity).or(customer).ok_or_else(|| Refusal::NoColumn("customer".to_owned()))?;
    question.groups.clear();
    question.intent = Intent::Cohort { entity, date };
    Ok(())
}

fn forecast(
    scope: &Scope<'_>,
    draft: &Draft,
    question: &mut Question,
    times: &[Days],
    span: Option<(Date, Date)>,
) -> Result<(), Refusal> {
    let date = question.date.ok_or(Refusal::NoDate)?;
    let (first, last) = span.ok_or(Refusal::NoDate)?;
    let months = |a: Date, b: Date| {
        usize::try_from(
            (i32::from(b.year()) - i32::from(a.year())) * 12 + i32::from(b.month()) - i32::from(a.month()),
        )
        .unwrap_or(0)
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small number")]
    let said = draft.stray_numbers.first().map(|n| n.clamp(1.0, 1000.0) as usize);
    let unit = match draft.grain {
        _ if draft.next_year => 12,
        Some(Grain::Quarter) => 3,
        Some(Grain::Year) => 12,
        _ => 1,
    };
    let asked = times.iter().filter(|d| d.to.is_some_and(|t| t > last)).max_by_key(|d| d.to);
    let periods = match asked.and_then(|d| d.to) {
        Some(end) => months(last, end).saturating_sub(1).max(1),
        None => said.unwrap_or(1) * unit,
    };
    let known = months(first, last) + 1;
    if periods > 12
        || periods * 2 > known
        || matches!(draft.grain, Some(Grain::Day | Grain::Week | Grain::Hour))
    {
        return Err(Refusal::TooFar { months: known.min(24) / 2 });
    }
    need_measure(scope, draft, question)?;
    question.measures.truncate(1);
    question.groups = vec![Group::Time(date, Grain::Month)];
    // `for January`: that month, not all until then.
    let one = asked.and_then(|d| Some(months(d.from?, d.to?) == 1));
    question.intent = Intent::Forecast { periods, linear: draft.says(Word::Linear), last: one == Some(true) };
    Ok(())
}
