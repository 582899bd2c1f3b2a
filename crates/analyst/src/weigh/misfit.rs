//! The price of what a finished question does not answer to: a word that was said and is no part of it, a figure of another kind.

use crate::lex::ColRef;
use crate::question::{Agg, Filter, Group, Intent, Measure, Question};
use crate::table::Role;
use crate::units;
use crate::weigh::items::Sense;
use crate::weigh::view::View;
use crate::word::Word;

/// What the finished question does not answer to.
pub fn misfit(view: &View<'_>, question: &Question) -> f32 {
    let mut misfit = 0.0;
    for measure in &question.measures {
        if let Measure::Of(agg, c) = measure {
            let column = view.scope.column(*c);
            let rate = column.unit.as_deref() == Some("%")
                || ["pct", "percent", "rate", "ratio", "率", "%", "折扣", "比例"]
                    .iter()
                    .any(|w| column.full.contains(w));
            if *agg == Agg::Sum && rate {
                misfit += 2.0;
            }
            if *agg == Agg::Sum && column.has_concept("price") && !column.has_concept("revenue") {
                misfit += 0.8;
            }
        }
    }
    let figure = |m: &Measure| match m {
        Measure::Of(Agg::Distinct, _) => None,
        Measure::Of(_, c) => Some(*c),
        Measure::Ratio { numerator, .. } => match **numerator {
            Measure::Of(_, c) => Some(c),
            _ => None,
        },
        _ => None,
    };
    let figures: Vec<ColRef> = question.measures.iter().filter_map(figure).collect();
    let paid = view.items.iter().any(|i| matches!(i.text.as_str(), "多少钱" | "多少元" | "多少块钱"));
    let is_money = |c: &ColRef| units::is_money(view.scope.column(*c));
    if paid && (figures.is_empty() || !figures.iter().any(is_money)) {
        misfit += 2.0;
    }
    if view.items.iter().any(|i| i.text == "how much") && figures.is_empty() {
        misfit += 1.5;
    }
    let counts = question
        .measures
        .iter()
        .any(|m| matches!(m, Measure::Rows | Measure::CountYes(_) | Measure::Of(Agg::Distinct, _)));
    let asked = view.items.iter().position(|i| {
        i.word() == Some(Word::HowMany)
            || i.word() == Some(Word::Count) && matches!(i.text.as_str(), "count" | "人数" | "单量" | "笔数")
    });
    // `how many nights`: the figure is what is counted.
    let direct = asked.is_some_and(|k| {
        (k..view.items.len().min(k + 4)).any(|j| {
            view.same_clause(k, j)
                && (figures.iter().any(|c| view.items[j].columns().any(|d| d == *c))
                    || view.unit(j).is_some())
        }) || units::ending(&view.items[k].text)
            .is_some_and(|u| figures.iter().any(|c| units::of(view.scope.column(*c)) == Some(u)))
            || view.scope.glossary.classifiers.asks_pieces(&view.items[k].text)
    });
    let plain = matches!(question.intent, Intent::Value | Intent::Breakdown | Intent::Rank | Intent::Trend);
    if asked.is_some() && !counts && !direct && plain && question.having.is_none() {
        misfit += 1.0;
    }
    if let Some(Measure::Of(Agg::Distinct, c)) = question.measures.first()
        && question.groups.contains(&Group::By(*c))
    {
        misfit += 3.0;
    }
    // `how many` wants a count, not an amount of money.
    if view.says(Word::HowMany)
        && !figures.is_empty()
        && figures.iter().all(is_money)
        && question.measures.len() == 1
    {
        misfit += 1.5;
    }
    let rated = |m: &Measure| {
        matches!(m, Measure::RateYes(_) | Measure::RateIs { .. } | Measure::Ratio { .. })
            || matches!(m, Measure::Of(_, c) if {
                let name = &view.scope.column(*c).full;
                ["rate", "ratio", "share", "percent", "pct", "率", "比", "占"].iter().any(|w| name.contains(w))
            })
    };
    let shared = matches!(
        question.intent,
        Intent::Pareto { .. }
            | Intent::Share
            | Intent::ShareOf { .. }
            | Intent::Change { .. }
            | Intent::GrowthSeries(_)
    );
    // `how much do we pay Hannah`: that is not what she brought in.
    let text: String = view.text.iter().collect();
    let cost = |c: &ColRef| {
        let column = view.scope.column(*c);
        ["cost", "salary", "fee", "spend", "wage", "expense", "budget"]
            .iter()
            .any(|w| column.full.contains(w) || column.has_concept(w))
    };
    let paying =
        ["do we pay ", "did we pay ", "should we pay ", "we are paying "].iter().any(|w| text.contains(w));
    if paying && figures.iter().any(is_money) && !figures.iter().any(cost) {
        misfit += 2.5;
    }
    // A figure of rows without a value.
    let empty =
        |c: &ColRef| question.filters.iter().any(|f| matches!(f, Filter::Empty { column } if column == c));
    if figures.iter().any(empty) {
        misfit += 3.0;
    }
    // Two counts of different rows get no single figure.
    let told = |k: usize| {
        (0..view.items.len())
            .any(|j| view.same_clause(k, j) && view.items[j].value_columns().next().is_some())
    };
    let counts: Vec<usize> =
        (0..view.items.len()).filter(|k| view.word(*k) == Some(Word::HowMany) && told(*k)).collect();
    let apart = matches!(counts[..], [a, b, ..] if !view.same_clause(a, b));
    if apart && question.measures.len() < 2 && question.groups.is_empty() {
        misfit += 2.5;
    }
    let changes = matches!(question.intent, Intent::Change { .. } | Intent::GrowthSeries(_));
    // `who dropped their phone`: nothing that grows was named.
    let timed = view.items.iter().any(|i| i.senses.iter().any(|(s, _)| matches!(s, Sense::Time(_))));
    if changes
        && !timed
        && question.measures == [Measure::Rows]
        && !view.says_any(&[Word::Yoy, Word::Mom, Word::HowMany, Word::Count])
    {
        misfit += 2.0;
    }
    if view.says_any(&[Word::Growth, Word::Mom, Word::Yoy]) && !changes {
        misfit += 4.0;
    }
    if view.says_any(&[Word::Share, Word::Rate]) && !shared && !question.measures.iter().any(rated) {
        misfit += 4.0;
    }
    for (_, agg) in view.aggs() {
        let kept = question.measures.iter().any(|m| matches!(m, Measure::Of(a, _) if *a == agg));
        let mean = agg == Agg::Mean
            && (matches!(question.intent, Intent::MeanPer(_) | Intent::Moving(_) | Intent::Correlation)
                || question.measures.iter().any(rated));
        if !kept && !mean {
            misfit += 4.0;
        }
    }
    for group in &question.groups {
        if let Group::By(c) = group {
            let column = view.scope.column(*c);
            let rows = view.scope.tables[c.table].rows;
            let extreme = matches!(question.intent, Intent::ExtremeRow { .. });
            if column.distinct * 10 >= rows * 9 && question.measures.contains(&Measure::Rows) && !extreme {
                misfit += 3.0;
            }
            if column.role == Role::Measure && column.distinct > 40 {
                misfit += 2.0;
            }
        }
    }
    // When people were hired is seldom when it happened.
    let personal = question.date.is_some_and(|d| view.scope.column(d).has_concept("hire_date"));
    if personal && question.groups.iter().any(|g| matches!(g, Group::Time(..))) && view.says(Word::Sum) {
        misfit += 1.5;
    }
    let fixed = question.filters.iter().filter_map(|f| match f {
        Filter::In { column, values, negated: false } if values.len() == 1 => Some(*column),
        Filter::Yes { column, .. } => Some(*column),
        _ => None,
    });
    for column in fixed {
        // One value is no group.
        if question.groups.contains(&Group::By(column)) {
            misfit += 1.5;
        }
    }
    misfit
}
