//! The last look before an answer: a word that was understood and yet is no part of the finished question means that the
//! question was misread. Then there is no answer rather than a wrong figure.

use crate::question::{Agg, Group, Intent, Measure, Question};
use crate::read::draft::Draft;
use crate::read::tokens::Scope;
use crate::word::Word;

/// Whether something that was said got lost.
pub(super) fn lost(scope: &Scope<'_>, draft: &Draft, question: &Question) -> bool {
    spread_lost(draft, question)
        || share_lost(scope, draft, question)
        || growth_lost(draft, question)
        || superlative_lost(draft, question)
        || number_lost(draft, question)
        || period_lost(draft, question)
}

fn plain(intent: &Intent) -> bool {
    matches!(intent, Intent::Value | Intent::Breakdown | Intent::Rank | Intent::Trend)
}

/// `median`, `standard deviation`, `p90`: never a sum instead.
fn spread_lost(draft: &Draft, question: &Question) -> bool {
    if !plain(&question.intent) && !matches!(question.intent, Intent::ShareOf { .. } | Intent::Share) {
        return false;
    }
    let has = |agg: Agg| question.measures.iter().any(|m| matches!(m, Measure::Of(a, _) if *a == agg));
    let pctl = matches!(draft.loose_agg, Some(Agg::Percentile(_)))
        && !question.measures.iter().any(|m| matches!(m, Measure::Of(Agg::Percentile(_), _)));
    draft.says(Word::Median) && !has(Agg::Median)
        || draft.says(Word::Stddev) && !has(Agg::StdDev)
        || draft.says(Word::Variance) && !has(Agg::Variance)
        || pctl
        || draft.says(Word::Mean) && !averaged(question)
}

fn averaged(question: &Question) -> bool {
    question.measures.iter().any(|m| {
        !matches!(m, Measure::Rows | Measure::CountYes(_) | Measure::Of(Agg::Sum | Agg::Distinct, _))
    })
}

fn share_lost(scope: &Scope<'_>, draft: &Draft, question: &Question) -> bool {
    let part = |m: &Measure| match m {
        Measure::RateYes(_) | Measure::RateIs { .. } | Measure::Ratio { .. } => true,
        Measure::Of(_, c) => {
            let column = scope.column(*c);
            ["rate", "ratio", "share", "percent", "pct", "%", "率", "比", "占"]
                .iter()
                .any(|w| column.full.contains(w) || column.name.contains(w))
        }
        _ => false,
    };
    draft.says(Word::Share) && plain(&question.intent) && !question.measures.iter().any(part)
}

fn growth_lost(draft: &Draft, question: &Question) -> bool {
    draft.says_any(&[Word::Yoy, Word::Mom]) && plain(&question.intent)
        || draft.says(Word::Growth) && matches!(question.intent, Intent::Value | Intent::Breakdown)
}

fn superlative_lost(draft: &Draft, question: &Question) -> bool {
    let extreme = |m: &Measure| matches!(m, Measure::Of(Agg::Max | Agg::Min, _));
    draft.says_any(&[
        Word::Highest,
        Word::Lowest,
        Word::BestSelling,
        Word::WorstSelling,
        Word::MostCommon,
        Word::Busiest,
        Word::Fastest,
        Word::Slowest,
    ]) && question.intent == Intent::Value
        && !question.measures.iter().any(extreme)
}

/// `the top 5`, where nothing is ranked.
fn number_lost(draft: &Draft, question: &Question) -> bool {
    draft.limit.is_some() && question.intent == Intent::Value
}

/// `a month`, where nothing goes by month.
fn period_lost(draft: &Draft, question: &Question) -> bool {
    let timed = question.groups.iter().any(|g| matches!(g, Group::Time(..)));
    draft.grain.is_some() && question.intent == Intent::Value && !timed
}
