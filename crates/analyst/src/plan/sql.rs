//! Pieces of SQL in the dialect of the main table: names, values, conditions, aggregates. Text from a question or a table
//! goes into a statement here and in `dialect` only; everything is quoted.

use jiff::civil::Date;

use super::dialect::Dialect;
use crate::lex::ColRef;
use crate::question::{Agg, Filter, Grain, Group, Join, Measure, Question};
use crate::scope::Scope;
use crate::table::{DateForm, Kind};
use crate::timex::Days;

pub struct Sql<'a> {
    pub scope: &'a Scope<'a>,
    pub dialect: Dialect,
    joined: bool,
    table: String,
    from: String,
}

impl<'a> Sql<'a> {
    pub fn new(scope: &'a Scope<'a>, question: &Question) -> Self {
        let dialect = scope.tables[question.table].dialect;
        let table = |t: usize| dialect.table(&scope.tables[t].sql_name);
        let joined = !question.joins.is_empty();
        let mut from = table(question.table);
        let mut sql = Self { scope, dialect, joined, table: from.clone(), from: String::new() };
        if joined {
            sql.table = format!("t{}", question.table);
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

    /// All columns of the main table, beside others.
    pub fn all(&self) -> String {
        if self.dialect == Dialect::DuckDb { "*".to_owned() } else { format!("{}.*", self.table) }
    }

    pub fn col(&self, at: ColRef) -> String {
        let column = self.dialect.name(&self.scope.column(at).name);
        if self.joined { format!("t{}.{column}", at.table) } else { column }
    }

    /// A column as a date, whatever its form.
    pub fn day(&self, at: ColRef) -> String {
        let column = self.col(at);
        let held = self.scope.tables[at.table].text_dates && self.dialect == Dialect::DuckDb;
        match self.scope.column(at).kind {
            Kind::Date(DateForm::YearMonth) => self.dialect.month_text(&column),
            Kind::Date(DateForm::Year) => self.dialect.year_number(&column),
            Kind::Date(_) if held => format!("CAST({column} AS TIMESTAMP)"),
            _ => column,
        }
    }

    /// The start of the period a row falls into, as a date.
    pub fn period_start(&self, at: ColRef, grain: Grain) -> String {
        self.dialect.start(&self.day(at), grain)
    }

    /// The label of a period, which also sorts in time.
    pub fn period(&self, at: ColRef, grain: Grain) -> String {
        let day = self.day(at);
        match grain {
            Grain::Hour => self.dialect.hour(&day),
            Grain::Weekday => self.dialect.weekday(&day),
            _ => self.dialect.label(&self.period_start(at, grain), grain),
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
            (Kind::Text, Some(v)) => format!("{} = {}", self.col(at), self.dialect.literal(v)),
            (_, Some(_)) => format!("{} = 1", self.col(at)),
        }
    }

    /// An aggregate over the rows that meet a condition.
    pub fn measure(&self, measure: &Measure, only: Option<&str>) -> String {
        let dialect = self.dialect;
        match measure {
            Measure::Rows => dialect.count(only),
            Measure::Of(agg, c) => dialect.only(|v| self.aggregate(*agg, v), &self.col(*c), only),
            Measure::CountYes(c) => {
                let both = only.map_or_else(|| self.yes(*c), |o| format!("{} AND {o}", self.yes(*c)));
                dialect.count(Some(&both))
            }
            Measure::RateYes(c) => self.rate(*c, &self.yes(*c), only),
            Measure::RateIs { column, value } => {
                let is = format!("{} = {}", self.col(*column), dialect.literal(value));
                self.rate(*column, &is, only)
            }
            Measure::Formula { op, left, right } => {
                let each = format!("{} {} {}", self.col(*left), op.sign(), self.col(*right));
                dialect.only(|v| format!("sum({v})"), &each, only)
            }
            Measure::Ratio { numerator, denominator, .. } => {
                format!(
                    "{} / nullif({}, 0)",
                    dialect.double(&self.measure(numerator, only)),
                    self.measure(denominator, only)
                )
            }
        }
    }

    fn aggregate(&self, agg: Agg, value: &str) -> String {
        match agg {
            Agg::Sum => format!("sum({value})"),
            Agg::Mean => self.dialect.mean(value),
            Agg::Median => self.dialect.quantile(value, 0.5),
            Agg::Max => format!("max({value})"),
            Agg::Min => format!("min({value})"),
            Agg::Distinct => format!("count(DISTINCT {value})"),
            Agg::StdDev => format!("stddev_samp({value})"),
            Agg::Variance => format!("var_samp({value})"),
            Agg::Percentile(p) => self.dialect.quantile(value, p),
        }
    }

    /// The share of the filled rows that are so.
    fn rate(&self, column: ColRef, is: &str, only: Option<&str>) -> String {
        let (one, nought) = self.dialect.one();
        let column = self.col(column);
        let each = format!("CASE WHEN {column} IS NULL THEN NULL WHEN {is} THEN {one} ELSE {nought} END");
        self.dialect.only(|v| format!("avg({v})"), &each, only)
    }

    pub fn condition(&self, filter: &Filter) -> String {
        match filter {
            Filter::In { column, values, negated } => {
                let list: Vec<String> = values.iter().map(|v| self.dialect.literal(v)).collect();
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
        let at = |d: Date| self.dialect.date(d);
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
