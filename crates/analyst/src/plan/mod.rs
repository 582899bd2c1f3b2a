//! From a question to SQL: one or a few read-only statements whose result columns have a fixed order that the report
//! relies on. Pure text; runs nothing.

mod analyses;
pub mod dialect;
pub mod label;
pub mod sql;

use crate::norm::Lang;
use crate::question::{Filter, Group, Intent, Measure, Order, Question};
use crate::scope::Scope;
use sql::{Sql, where_clause};

/// Groups fetched when none were named: enough for any table people read.
pub const MANY: usize = 1000;

/// One statement to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Short, unique among the statements of one question.
    pub id: &'static str,
    pub sql: String,
    pub max_rows: usize,
}

impl Query {
    fn new(id: &'static str, sql: String, max_rows: usize) -> Self {
        Self { id, sql, max_rows }
    }
}

/// The statements that answer a question; none when the profile already does.
pub fn plan(scope: &Scope<'_>, question: &Question, lang: Lang) -> Vec<Query> {
    let planner = Planner { sql: Sql::new(scope, question), question, lang };
    planner.queries()
}

impl Planner<'_> {
    fn queries(&self) -> Vec<Query> {
        let (planner, question) = (self, self.question);
        match &question.intent {
            Intent::Value => vec![planner.value()],
            Intent::Breakdown | Intent::Rank | Intent::Trend => vec![planner.grouped()],
            Intent::Share => vec![planner.share()],
            Intent::ShareOf { parts } => vec![planner.share_of(parts)],
            Intent::Cumulative | Intent::Moving(_) => vec![planner.windowed()],
            Intent::MeanPer(grain) => vec![planner.mean_per(*grain)],
            Intent::GrowthSeries(against) => vec![planner.growth_series(*against)],
            Intent::Change { before, after, date, .. } => vec![planner.change(before, after, *date)],
            Intent::Distribution => planner.distribution(),
            Intent::Correlation => planner.correlation(),
            Intent::Outliers => planner.outliers(),
            Intent::Pareto { .. } => vec![planner.pareto()],
            Intent::FirstSeen { entity, date } => vec![planner.first_seen(*entity, *date)],
            Intent::Cohort { entity, date } => vec![planner.cohort(*entity, *date)],
            Intent::Funnel { .. } => vec![planner.funnel()],
            Intent::Forecast { .. } => vec![planner.forecast()],
            Intent::Missing => vec![planner.missing()],
            Intent::Repeats { column, once } => vec![planner.repeats(*column, *once)],
            Intent::Duplicates => vec![planner.duplicates()],
            Intent::Describe => planner.describe(),
            Intent::Columns => Vec::new(),
            Intent::Preview => vec![planner.preview()],
            Intent::Rows => planner.rows(),
            Intent::ExtremeRow { .. } => vec![planner.extreme_row()],
        }
    }
}

struct Planner<'a> {
    sql: Sql<'a>,
    question: &'a Question,
    lang: Lang,
}

impl Planner<'_> {
    fn label(&self, measure: &Measure) -> String {
        self.sql.dialect.name(&label::measure(self.sql.scope, measure, self.lang))
    }

    fn group_label(&self, group: Group) -> String {
        self.sql.dialect.name(&label::group(self.sql.scope, group, self.lang))
    }

    fn rows_label(&self) -> String {
        self.sql.dialect.name(self.lang.pick("行数", "rows"))
    }

    fn where_all(&self) -> String {
        self.sql.where_all(&self.question.filters)
    }

    fn first(&self) -> Measure {
        self.question.measures.first().cloned().unwrap_or(Measure::Rows)
    }

    /// measures…, rows
    fn value(&self) -> Query {
        let mut columns: Vec<String> = self
            .question
            .measures
            .iter()
            .map(|m| format!("{} AS {}", self.sql.measure(m, None), self.label(m)))
            .collect();
        columns.push(format!("count(*) AS {}", self.rows_label()));
        Query::new(
            "main",
            format!("SELECT {}\nFROM {}{}", columns.join(",\n       "), self.sql.from(), self.where_all()),
            10,
        )
    }

    /// groups…, measures…, rows
    fn grouped(&self) -> Query {
        let q = self.question;
        let mut columns: Vec<String> =
            q.groups.iter().map(|g| format!("{} AS {}", self.sql.group(*g), self.group_label(*g))).collect();
        columns
            .extend(q.measures.iter().map(|m| format!("{} AS {}", self.sql.measure(m, None), self.label(m))));
        columns.push(format!("count(*) AS {}", self.rows_label()));
        let keys: Vec<String> = (1..=q.groups.len()).map(|i| i.to_string()).collect();
        let first_measure = q.groups.len() + 1;
        let direction = if q.order == Order::Ascending { "ASC" } else { "DESC" };
        let by_time = matches!(q.groups.first(), Some(Group::Time(..))) && q.intent != Intent::Rank;
        let value = self.sql.measure(&self.first(), None);
        let order = if by_time {
            keys.join(", ")
        } else {
            format!("{}, 1", self.sql.dialect.nulls_last(first_measure, &value, direction))
        };
        let having = q.having.map_or(String::new(), |(cmp, v)| {
            format!("\nHAVING {} {} {v}", self.sql.measure(&self.first(), None), cmp.sql())
        });
        let mut conditions: Vec<String> = q.filters.iter().map(|f| self.sql.condition(f)).collect();
        conditions.extend(q.groups.iter().map(|g| match g {
            Group::By(c) | Group::Time(c, _) => format!("{} IS NOT NULL", self.sql.col(*c)),
        }));
        // Years of days stay whole.
        let timed = q.groups.iter().any(|g| matches!(g, Group::Time(..)));
        let most = if timed { 5 * MANY } else { MANY };
        let limit = q.limit.filter(|_| q.intent == Intent::Rank && q.groups.len() == 1).unwrap_or(most);
        let sql = format!(
            "SELECT {}\nFROM {}{}\nGROUP BY {}{having}\nORDER BY {order}\nLIMIT {limit}",
            columns.join(",\n       "),
            self.sql.from(),
            where_clause(&conditions),
            keys.join(", "),
        );
        Query::new("main", sql, most)
    }

    /// group, measure, share of the whole
    fn share(&self) -> Query {
        let group =
            self.question.groups.iter().find(|g| matches!(g, Group::By(_))).or(self.question.groups.first());
        let group = group.copied();
        let key = group.map_or("'-'".to_owned(), |g| self.sql.group(g));
        let key_label = group.map_or("\"-\"".to_owned(), |g| self.group_label(g));
        let measure = self.sql.measure(&self.first(), None);
        let share = self.named("占比", "share");
        let direction = if self.question.order == Order::Ascending { "ASC" } else { "DESC" };
        let sql = format!(
            "SELECT {key} AS {key_label},\n       {measure} AS {},\n       {} / nullif(sum({measure}) OVER (), 0) AS {share}\nFROM {}{}\nGROUP BY 1\nORDER BY {}, 1\nLIMIT {MANY}",
            self.label(&self.first()),
            self.sql.dialect.double(&measure),
            self.sql.from(),
            self.where_all(),
            self.sql.dialect.nulls_last(2, &measure, direction),
        );
        Query::new("main", sql, MANY)
    }

    /// part, whole, share
    fn share_of(&self, parts: &[Filter]) -> Query {
        let condition: Vec<String> = parts.iter().map(|f| self.sql.condition(f)).collect();
        let condition = condition.join(" AND ");
        let part = self.sql.measure(&self.first(), Some(&condition));
        let whole = self.sql.measure(&self.first(), None);
        let (a, b, c) =
            (self.named("部分", "part"), self.named("总体", "whole"), self.named("占比", "share"));
        let sql = format!(
            "SELECT {part} AS {a},\n       {whole} AS {b},\n       {} / nullif({whole}, 0) AS {c}\nFROM {}{}",
            self.sql.dialect.double(&part),
            self.sql.from(),
            self.where_all(),
        );
        Query::new("main", sql, 1)
    }

    /// The name of a result's column, quoted as this database quotes names.
    fn named(&self, zh: &str, en: &str) -> String {
        self.sql.dialect.name(self.lang.pick(zh, en))
    }

    fn preview(&self) -> Query {
        let limit = self.question.limit.unwrap_or(10).min(100);
        Query::new("main", format!("SELECT *\nFROM {}\nLIMIT {limit}", self.sql.from()), 100)
    }

    /// the rows themselves; how many there are
    fn rows(&self) -> Vec<Query> {
        let by = match self.question.measures.first() {
            Some(Measure::Of(_, c)) => Some(*c),
            _ => self.question.filters.iter().find_map(|f| match f {
                Filter::Number { column, .. } => Some(*column),
                _ => None,
            }),
        };
        let direction = if self.question.order == Order::Ascending { "ASC" } else { "DESC" };
        let order = by.map_or(String::new(), |c| {
            let column = self.sql.col(c);
            format!("\nORDER BY {column} IS NULL, {column} {direction}")
        });
        let limit = self.question.limit.unwrap_or(100);
        vec![
            Query::new(
                "main",
                format!("SELECT *\nFROM {}{}{order}\nLIMIT {limit}", self.sql.from(), self.where_all()),
                MANY,
            ),
            Query::new(
                "count",
                format!(
                    "SELECT count(*) AS {}\nFROM {}{}",
                    self.rows_label(),
                    self.sql.from(),
                    self.where_all()
                ),
                1,
            ),
        ]
    }

    /// the figure, then the whole row
    fn extreme_row(&self) -> Query {
        let Measure::Of(_, column) = self.first() else { return self.value() };
        let column_sql = self.sql.col(column);
        let direction = if self.question.order == Order::Ascending { "ASC" } else { "DESC" };
        let mut filters: Vec<String> = self.question.filters.iter().map(|f| self.sql.condition(f)).collect();
        filters.push(format!("{column_sql} IS NOT NULL"));
        let limit = self.question.limit.unwrap_or(1);
        let alias = label::extreme(self.sql.scope, column, self.question.order, self.lang);
        let alias = self.sql.dialect.name(&alias);
        let sql = format!(
            "SELECT {column_sql} AS {alias}, {}\nFROM {}{}\nORDER BY {column_sql} {direction}\nLIMIT {limit}",
            self.sql.all(),
            self.sql.from(),
            where_clause(&filters)
        );
        Query::new("main", sql, 100)
    }
}
