//! Analyses with a name of their own: correlation, funnel, cohort, outliers, Pareto, distribution, moving and running totals, repeats.

use crate::glossary::ConceptRole;
use crate::lex::ColRef;
use crate::question::{Agg, Grain, Group, Intent, Measure, Refusal};
use crate::table::Role;
use crate::weigh::complete::Built;
use crate::weigh::figures::Figures;
use crate::word::Word;

/// Whether the question is one of these, and now says so.
pub fn settle(
    built: &mut Built<'_>,
    figures: &Figures,
    dims: &[ColRef],
    grain: Option<Grain>,
) -> Result<bool, Refusal> {
    let view = built.view;
    let numeric: Vec<ColRef> = built
        .question
        .measures
        .iter()
        .filter_map(|m| match m {
            Measure::Of(agg, c) if *agg != Agg::Distinct && view.role(*c) == Role::Measure => Some(*c),
            _ => None,
        })
        .collect();
    if view.says(Word::Correlation) {
        if numeric.len() < 2 {
            return Err(Refusal::NeedsTwoMeasures);
        }
        built.cost += 0.8 * f32::from(numeric.len() > 2);
        built.question.measures = numeric.iter().take(2).map(|c| Measure::Of(Agg::Mean, *c)).collect();
        built.question.groups.clear();
        built.question.intent = Intent::Correlation;
        return Ok(true);
    }
    if view.says(Word::Funnel) {
        return funnel(built, dims).map(|()| true);
    }
    if view.says(Word::Cohort) {
        return cohort(built, dims).map(|()| true);
    }
    if view.says(Word::Outlier) {
        built
            .question
            .measures
            .retain(|m| *m != Measure::Rows && !matches!(m, Measure::Of(Agg::Distinct, _)));
        built.question.groups =
            grain.zip(built.question.date).map(|(g, d)| Group::Time(d, g)).into_iter().collect();
        built.need_measure(figures);
        if !matches!(built.question.measures[..], [Measure::Of(..)]) {
            built.cost += 4.0;
        }
        built.question.intent = Intent::Outliers;
        return Ok(true);
    }
    if let Some(part) = view.part.or(view.says(Word::Pareto).then_some(0.8)) {
        pareto(built, figures, dims, part);
        return Ok(true);
    }
    if view.says_any(&[Word::Duplicates, Word::Repeated, Word::Once]) {
        return Ok(repeats(built, dims));
    }
    let spread = view.says_any(&[Word::Distribution, Word::Range]) && grain.is_none();
    if spread && (dims.is_empty() || numeric.len() == 1 && dims.len() == 1) {
        if numeric.len() != 1 {
            built.cost += 4.0;
        }
        built.question.intent = Intent::Distribution;
        return Ok(true);
    }
    let series = grain.or_else(|| view.says(Word::Moving).then_some(Grain::Month));
    let running = view.says(Word::Cumulative) && grain.is_some();
    if let (Some(grain), Some(date), true) = (series, built.question.date, view.says(Word::Moving) || running)
    {
        built.need_measure(figures);
        for measure in &mut built.question.measures {
            if let Measure::Of(agg @ Agg::Mean, _) = measure {
                *agg = Agg::Sum;
            }
        }
        built.question.groups = vec![Group::Time(date, grain)];
        built.question.intent =
            if running { Intent::Cumulative } else { Intent::Moving(view.window.unwrap_or(3)) };
        return Ok(true);
    }
    Ok(false)
}

/// `how many customers make up 80 % of revenue`.
fn pareto(built: &mut Built<'_>, figures: &Figures, dims: &[ColRef], part: f64) {
    let counted = built.question.measures.iter().find_map(|m| match m {
        Measure::Of(Agg::Distinct, c) => Some(*c),
        _ => None,
    });
    // `how many POs make up 80 %`: single rows.
    let rows = built.question.measures.contains(&Measure::Rows);
    let group = dims.first().copied().or(counted).or_else(|| built.row_id().filter(|_| rows));
    built.question.measures.retain(|m| !matches!(m, Measure::Of(Agg::Distinct, _)));
    if built.question.measures.len() > 1 {
        built.question.measures.retain(|m| *m != Measure::Rows);
    }
    built.need_measure(figures);
    let scope = built.view.scope;
    let goods =
        || scope.concept_columns("product").into_iter().chain(scope.concept_columns("customer")).next();
    match group.or_else(|| goods().map(|(c, _)| c)) {
        Some(group) => built.question.groups = vec![Group::By(group)],
        None => built.cost += 5.0,
    }
    if group.is_none() {
        built.cost += 0.8;
    }
    for measure in &mut built.question.measures {
        if let Measure::Of(agg @ Agg::Mean, _) = measure {
            *agg = Agg::Sum;
        }
    }
    built.question.intent = Intent::Pareto { part };
}

/// `how many invoice numbers come up twice`: values that several rows have.
fn repeats(built: &mut Built<'_>, dims: &[ColRef]) -> bool {
    let counted = built.question.measures.iter().find_map(|m| match m {
        Measure::Of(Agg::Distinct, c) => Some(*c),
        _ => None,
    });
    let Some(column) = counted.or(dims.first().copied()) else {
        if built.view.says(Word::Duplicates) {
            built.question.intent = Intent::Duplicates;
        } else {
            built.cost += 9.0;
        }
        return true;
    };
    built.question.measures = vec![Measure::Rows];
    built.question.groups = vec![Group::By(column)];
    built.question.intent = Intent::Repeats { column, once: built.view.says(Word::Once) };
    true
}

/// Visits, clicks, purchases: the steps the table has a column for.
fn funnel(built: &mut Built<'_>, dims: &[ColRef]) -> Result<(), Refusal> {
    const STEPS: [&str; 6] = ["visits", "clicks", "signups", "carts", "checkouts", "purchases"];
    let view = built.view;
    let mut steps: Vec<ColRef> = Vec::new();
    for id in STEPS {
        let found = view.scope.concept_columns(id).into_iter().map(|(c, _)| c);
        let step = found.filter(|c| view.role(*c) == Role::Measure).find(|c| !steps.contains(c));
        steps.extend(step);
    }
    steps.sort_by_key(|c| c.column);
    if steps.len() < 2 {
        return Err(Refusal::NoColumn("funnel".to_owned()));
    }
    built.question.groups = dims.iter().take(1).map(|d| Group::By(*d)).collect();
    built.question.measures = steps.iter().map(|c| Measure::Of(Agg::Sum, *c)).collect();
    built.question.intent = Intent::Funnel { steps };
    Ok(())
}

/// Who came back: of the customers, unless others are named.
fn cohort(built: &mut Built<'_>, dims: &[ColRef]) -> Result<(), Refusal> {
    let scope = built.view.scope;
    let date = built.question.date.ok_or(Refusal::NoDate)?;
    let is_entity = |c: &ColRef| {
        let known = |id: &str| scope.glossary.concept(id).is_some_and(|k| k.role == ConceptRole::Entity);
        matches!(scope.role(*c), Role::Id | Role::Dimension)
            && scope.column(*c).concepts.iter().any(|(id, _)| known(id))
    };
    let customer = scope.concept_columns("customer").first().map(|(c, _)| *c);
    let entity = dims.iter().copied().find(is_entity).or(customer);
    let entity = entity.ok_or_else(|| Refusal::NoColumn("customer".to_owned()))?;
    built.question.groups.clear();
    built.question.intent = Intent::Cohort { entity, date };
    Ok(())
}
