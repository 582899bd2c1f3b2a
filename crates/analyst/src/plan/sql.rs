//! Pieces of DuckDB SQL: names, values, conditions, aggregates. The one place where text from a question or a table
//! goes into a statement; everything is quoted here.

use jiff::civil::Date;

use crate::lex::ColRef;
use crate::norm::Lang;
use crate::question::{Agg, Filter, Grain, Group, Join, Measure, Question};
use crate::read::tokens::Scope;
use crate::table::{DateForm, Kind};
use crate::timex::Days;

/// `"name"`, whatever the name holds.
pub fn name(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// `'value'`, whatever the value holds.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

pub struct Sql<'a> {
    pub scope: &'a Scope<'a>,
    pub lang: Lang,
    joined: bool,
    from: String,
}

impl<'a> Sql<'a> {
    pub fn new(scope: &'a Scope<'a>, question: &Question, lang: Lang) -> Self {
        let table = |t: usize| name(&scope.tables[t].sql_name);
        let joined = !question.joins.is_empty();
        let mut sql = Self { scope, lang, joined, from: String::new() };
        let mut from = table(question.table);
        if joined {
            from = format!("{from} AS t{}", question.table);
            for Join { table: other, left, right } in &question.joins {
                from.push_str(&format!(
                    "\nLEFT JOIN {} AS t{other} ON {} = {}",
                    table(*other),
                    sql.col(*left),
                    sql.col(*right)
                ));
            }
        }
        sql.from = from;
        sql
    }

    pub fn from(&self) -> &str {
        &self.from
    }

    pub fn col(&self, at: ColRef) -> String {
        let column = name(&self.scope.column(at).name);
        if self.joined { format!("t{}.{column}", at.table) } else { column }
    }

    /// A column as a date, whatever its form.
    pub fn day(&self, at: ColRef) -> String {
        let column = self.col(at);
        match self.scope.column(at).kind {
            Kind::Date(DateForm::YearMonth) => {
                format!("CAST(strptime(replace({column}, '/', '-') || '-01', '%Y-%m-%d') AS DATE)")
            }
            Kind::Date(DateForm::Year) => format!("make_date(CAST({column} AS INTEGER), 1, 1)"),
            _ => column,
        }
    }

    /// The start of the period a row falls into, as a date.
    pub fn period_start(&self, at: ColRef, grain: Grain) -> String {
        truncated(&self.day(at), grain)
    }

    /// The label of a period, which also sorts in time.
    pub fn period(&self, at: ColRef, grain: Grain) -> String {
        let day = self.day(at);
        match grain {
            Grain::Hour => format!("lpad(CAST(hour({day}) AS VARCHAR), 2, '0')"),
            Grain::Weekday => format!("CAST(isodow({day}) AS VARCHAR)"),
            _ => period_label(&self.period_start(at, grain), grain),
        }
    }

    pub fn group(&self, group: Group) -> String {
        match group {
            Group::By(c) => self.col(c),
            Group::Time(c, grain) => self.period(c, grain),
        }
    }

    pub fn yes(&self, at: ColRef) -> String {
        let column = self.scope.column(at);
        match (&column.kind, &column.yes) {
            (Kind::Bool, _) | (_, None) => self.col(at),
            (Kind::Text, Some(v)) => format!("{} = {}", self.col(at), literal(v)),
            (_, Some(_)) => format!("{} = 1", self.col(at)),
        }
    }

    /// An aggregate over the rows that meet a condition.
    pub fn measure(&self, measure: &Measure, only: Option<&str>) -> String {
        let filter = only.map_or(String::new(), |c| format!(" FILTER (WHERE {c})"));
        match measure {
            Measure::Rows => format!("count(*){filter}"),
            Measure::Of(agg, c) => {
                let column = self.col(*c);
                let call = match agg {
                    Agg::Sum => format!("sum({column})"),
                    Agg::Mean => format!("avg({column})"),
                    Agg::Median => format!("median({column})"),
                    Agg::Max => format!("max({column})"),
                    Agg::Min => format!("min({column})"),
                    Agg::Distinct => format!("count(DISTINCT {column})"),
                    Agg::StdDev => format!("stddev_samp({column})"),
                    Agg::Variance => format!("var_samp({column})"),
                    Agg::Percentile(p) => format!("quantile_cont({column}, {p})"),
                };
                format!("{call}{filter}")
            }
            Measure::CountYes(c) => {
                let both = only.map_or_else(|| self.yes(*c), |o| format!("{} AND {o}", self.yes(*c)));
                format!("count(*) FILTER (WHERE {both})")
            }
            Measure::RateYes(c) => {
                let column = self.col(*c);
                format!(
                    "avg(CASE WHEN {column} IS NULL THEN NULL WHEN {} THEN 1.0 ELSE 0.0 END){filter}",
                    self.yes(*c)
                )
            }
            Measure::RateIs { column, value } => {
                let column = self.col(*column);
                format!(
                    "avg(CASE WHEN {column} IS NULL THEN NULL WHEN {column} = {} THEN 1.0 ELSE 0.0 END){filter}",
                    literal(value)
                )
            }
            Measure::Formula { op, left, right } => {
                format!("sum({} {} {}){filter}", self.col(*left), op.sign(), self.col(*right))
            }
            Measure::Ratio { numerator, denominator, .. } => {
                format!(
                    "CAST({} AS DOUBLE) / nullif({}, 0)",
                    self.measure(numerator, only),
                    self.measure(denominator, only)
                )
            }
        }
    }

    pub fn condition(&self, filter: &Filter) -> String {
        match filter {
            Filter::In { column, values, negated } => {
                let list: Vec<String> = values.iter().map(|v| literal(v)).collect();
                let column = self.col(*column);
                match (&list[..], negated) {
                    ([one], false) => format!("{column} = {one}"),
                    (_, false) => format!("{column} IN ({})", list.join(", ")),
                    (_, true) => format!("({column} NOT IN ({}) OR {column} IS NULL)", list.join(", ")),
                }
            }
            Filter::Number { column, cmp, value } => format!("{} {} {value}", self.col(*column), cmp.sql()),
            Filter::Filled { column } => format!("{} IS NOT NULL", self.col(*column)),
            Filter::Empty { column } => format!("{} IS NULL", self.col(*column)),
            Filter::Columns { left, cmp, right } => {
                format!("{} {} {}", self.col(*left), cmp.sql(), self.col(*right))
            }
            Filter::Days { column, days } => self.within(*column, days),
            Filter::Yes { column, yes: true } => self.yes(*column),
            // Where both are told, an empty cell is neither.
            Filter::Yes { column, yes: false } if self.scope.column(*column).distinct > 1 => {
                format!("NOT ({})", self.yes(*column))
            }
            Filter::Yes { column, yes: false } => format!("NOT coalesce({}, FALSE)", self.yes(*column)),
        }
    }

    pub fn within(&self, date: ColRef, days: &Days) -> String {
        let column = self.day(date);
        let at = |d: Date| format!("DATE '{d}'");
        let between = |a: Date, b: Date| format!("{column} >= {} AND {column} < {}", at(a), at(b));
        match (days.from, days.to) {
            (Some(a), Some(b)) if !days.also.is_empty() => {
                let all =
                    std::iter::once((a, b)).chain(days.also.iter().copied()).map(|(a, b)| between(a, b));
                format!("({})", all.collect::<Vec<_>>().join(" OR "))
            }
            (Some(a), Some(b)) => format!("{column} >= {} AND {column} < {}", at(a), at(b)),
            (Some(a), None) => format!("{column} >= {}", at(a)),
            (None, Some(b)) => format!("{column} < {}", at(b)),
            (None, None) => "TRUE".to_owned(),
        }
    }

    /// `\nWHERE …`, or nothing.
    pub fn where_all(&self, filters: &[Filter]) -> String {
        let conditions: Vec<String> = filters.iter().map(|f| self.condition(f)).collect();
        where_clause(&conditions)
    }
}

pub fn where_clause(conditions: &[String]) -> String {
    if conditions.is_empty() { String::new() } else { format!("\nWHERE {}", conditions.join("\n  AND ")) }
}

/// The start of the period a day falls into.
pub fn truncated(day: &str, grain: Grain) -> String {
    let unit = match grain {
        Grain::Hour => "hour",
        Grain::Day | Grain::Weekday => "day",
        Grain::Week => "week",
        Grain::Month => "month",
        Grain::Quarter => "quarter",
        Grain::Year => "year",
    };
    format!("CAST(date_trunc('{unit}', {day}) AS DATE)")
}

/// Writes a period start the way people do.
pub fn period_label(start: &str, grain: Grain) -> String {
    match grain {
        Grain::Month => format!("strftime({start}, '%Y-%m')"),
        Grain::Year => format!("strftime({start}, '%Y')"),
        Grain::Quarter => format!("strftime({start}, '%Y') || '-Q' || CAST(quarter({start}) AS VARCHAR)"),
        _ => format!("strftime({start}, '%Y-%m-%d')"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_and_values_stay_inside_their_quotes() {
        assert_eq!(name("a\"; DROP TABLE t; --"), "\"a\"\"; DROP TABLE t; --\"");
        assert_eq!(literal("x' OR '1'='1"), "'x'' OR ''1''=''1'");
    }
}
