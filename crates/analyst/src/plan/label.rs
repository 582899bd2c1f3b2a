//! What figures and groups are called in tables, charts and sentences, in the language of the question.

use crate::lex::ColRef;
use crate::norm::{Lang, is_cjk};
use crate::question::{Agg, Grain, Group, Measure, Op, Order, PART};
use crate::scope::Scope;

pub fn column<'a>(scope: &'a Scope<'_>, at: ColRef) -> &'a str {
    &scope.column(at).name
}

pub fn measure(scope: &Scope<'_>, measure: &Measure, lang: Lang) -> String {
    let name = |c: &ColRef| column(scope, *c).to_owned();
    match (measure, lang) {
        (Measure::Rows, Lang::Zh) => "记录数".to_owned(),
        (Measure::Rows, Lang::En) => "number of rows".to_owned(),
        (Measure::Of(agg, c), Lang::Zh) => match agg {
            Agg::Sum => format!("{}合计", name(c)),
            Agg::Mean => format!("平均{}", name(c)),
            Agg::Median => format!("{}中位数", name(c)),
            Agg::Max => format!("最大{}", name(c)),
            Agg::Min => format!("最小{}", name(c)),
            Agg::Distinct => format!("{}数（去重）", name(c)),
            Agg::StdDev => format!("{}标准差", name(c)),
            Agg::Variance => format!("{}方差", name(c)),
            Agg::Percentile(p) => format!("{} P{:.0}", name(c), p * 100.0),
        },
        (Measure::Of(agg, c), Lang::En) => match agg {
            Agg::Sum => format!("total {}", name(c)),
            Agg::Mean => format!("average {}", name(c)),
            Agg::Median => format!("median {}", name(c)),
            Agg::Max => format!("maximum {}", name(c)),
            Agg::Min => format!("minimum {}", name(c)),
            Agg::Distinct => format!("distinct {}", name(c)),
            Agg::StdDev => format!("standard deviation of {}", name(c)),
            Agg::Variance => format!("variance of {}", name(c)),
            Agg::Percentile(p) => format!("P{:.0} of {}", p * 100.0, name(c)),
        },
        (Measure::CountYes(c), Lang::Zh) => format!("{}为“是”的数量", name(c)),
        (Measure::CountYes(c), Lang::En) => format!("rows with {}", name(c)),
        (Measure::RateYes(c), Lang::Zh) => format!("{}比例", name(c)),
        (Measure::RateYes(c), Lang::En) => format!("rate of {}", name(c)),
        (Measure::RateIs { column, value }, Lang::Zh) => format!("{}为“{value}”的比例", name(column)),
        (Measure::RateIs { column, value }, Lang::En) => format!("share of {} = {value}", name(column)),
        (Measure::Formula { op, left, right }, Lang::Zh) => {
            format!("{} {} {} 合计", name(left), shown(*op), name(right))
        }
        (Measure::Formula { op, left, right }, Lang::En) => {
            format!("total {} {} {}", name(left), shown(*op), name(right))
        }
        (Measure::Ratio { concept, numerator, denominator }, _) => {
            let named =
                scope.glossary.concepts.get(*concept).and_then(|k| {
                    k.names.iter().find(|n| n.chars().any(is_cjk) == (lang == Lang::Zh)).cloned()
                });
            named.unwrap_or_else(|| {
                format!(
                    "{} / {}",
                    self::measure(scope, numerator, lang),
                    self::measure(scope, denominator, lang)
                )
            })
        }
    }
}

fn shown(op: Op) -> char {
    match op {
        Op::Minus => '−',
        Op::Times => '×',
    }
}

pub fn group(scope: &Scope<'_>, group: Group, lang: Lang) -> String {
    match group {
        Group::By(c) => column(scope, c).to_owned(),
        Group::Time(_, grain) => self::grain(grain, lang).to_owned(),
    }
}

pub fn grain(grain: Grain, lang: Lang) -> &'static str {
    match (grain, lang) {
        (Grain::Hour, Lang::Zh) => "小时",
        (Grain::Day, Lang::Zh) => "日期",
        (Grain::Weekday, Lang::Zh) => "星期",
        (Grain::Week, Lang::Zh) => "周",
        (Grain::Month, Lang::Zh) => "月份",
        (Grain::Quarter, Lang::Zh) => "季度",
        (Grain::Year, Lang::Zh) => "年份",
        (Grain::Hour, Lang::En) => "hour",
        (Grain::Day, Lang::En) => "day",
        (Grain::Weekday, Lang::En) => "weekday",
        (Grain::Week, Lang::En) => "week",
        (Grain::Month, Lang::En) => "month",
        (Grain::Quarter, Lang::En) => "quarter",
        (Grain::Year, Lang::En) => "year",
    }
}

pub fn extreme(scope: &Scope<'_>, at: ColRef, order: Order, lang: Lang) -> String {
    let agg = if order == Order::Ascending { Agg::Min } else { Agg::Max };
    measure(scope, &Measure::Of(agg, at), lang)
}

/// A measure whose values are shares: shown as percentages.
pub fn is_percent(scope: &Scope<'_>, measure: &Measure) -> bool {
    match measure {
        Measure::RateYes(_) | Measure::RateIs { .. } | Measure::Ratio { concept: PART, .. } => true,
        Measure::Ratio { concept, .. } => scope.glossary.concepts.get(*concept).is_some_and(|k| {
            matches!(k.id.as_str(), "margin" | "conversion" | "signup_rate" | "cart_rate" | "ctr")
                || k.id.ends_with("_rate")
        }),
        _ => false,
    }
}
