//! Counts and rates said side by side, and counts of groups: `how many were reopened, and what share`, `how many donors gave more
//! than 5 times`.

use crate::question::{Agg, Filter, Group, Intent, Measure, Question};
use crate::read::draft::Draft;
use crate::read::tokens::Scope;
use crate::table::Role;
use crate::word::Word;

/// A rate is of all rows, not of those it is about; asked how many as well, those are counted.
pub(super) fn settle(draft: &Draft, question: &mut Question) {
    let rates: Vec<Measure> = question.measures.clone();
    for rate in &rates {
        match rate {
            Measure::RateIs { column, value } => question.filters.retain(|f| {
                !matches!(f, Filter::In { column: c, values, negated: false } if c == column && *values == [value.clone()])
            }),
            Measure::RateYes(flag) => {
                question.filters.retain(|f| !matches!(f, Filter::Yes { column, .. } if column == flag));
                let rows = question.measures.iter().position(|m| *m == Measure::Rows);
                if let (Some(rows), true) = (rows, draft.says(Word::HowMany)) {
                    question.measures[rows] = Measure::CountYes(*flag);
                }
            }
            _ => {}
        }
    }
}

/// `how many states had more than 50 gifts`: such groups.
pub(super) fn count_groups(draft: &Draft, question: &mut Question) {
    if draft.counts.is_none() || !question.groups.is_empty() || question.intent != Intent::Value {
        return;
    }
    let counted = question.measures.iter().position(|m| matches!(m, Measure::Of(Agg::Distinct, _)));
    let Some(at) = counted.filter(|_| question.measures.len() > 1) else { return };
    if let Measure::Of(_, column) = question.measures.remove(at) {
        question.groups = vec![Group::By(column)];
        question.intent = Intent::Breakdown;
    }
}

/// A ratio concept over the columns in scope.
pub(crate) fn ratio(scope: &Scope<'_>, concept: usize) -> Option<Measure> {
    let (n, d) = scope.glossary.concepts[concept].terms.as_ref()?;
    let term = |t: &str| match t.strip_prefix("count:") {
        Some(entity) => {
            let columns = scope.concept_columns(entity);
            let id = columns.iter().find(|(c, _)| scope.role(*c) == Role::Id).or(columns.first());
            Some(id.map_or(Measure::Rows, |(c, _)| Measure::Of(Agg::Distinct, *c)))
        }
        None => scope.concept_columns(t).first().map(|(c, _)| Measure::Of(Agg::Sum, *c)),
    };
    let (n, d) = (scope.first_of(n).unwrap_or(n), scope.first_of(d).unwrap_or(d));
    Some(Measure::Ratio { concept, numerator: Box::new(term(n)?), denominator: Box::new(term(d)?) })
}
