//! SQL for the analyses with a name: growth, distribution, correlation, outliers, Pareto, cohorts, funnels, quality.

use super::sql::where_clause;
use super::{MANY, Planner, Query};
use crate::lex::ColRef;
use crate::question::{Against, Agg, Filter, Grain, Group, Intent, Measure, Order};
use crate::table::Role;
use crate::timex::Days;

impl Planner<'_> {
    fn time_group(&self) -> Option<(ColRef, Grain)> {
        self.question.groups.iter().find_map(|g| match g {
            Group::Time(c, grain) => Some((*c, *grain)),
            Group::By(_) => None,
        })
    }

    /// The measure by period start, as a common table expression `s(t, v)`.
    fn series(&self, date: ColRef, grain: Grain, filters: &[Filter]) -> String {
        let mut conditions: Vec<String> = filters.iter().map(|f| self.sql.condition(f)).collect();
        conditions.push(format!("{} IS NOT NULL", self.sql.col(date)));
        format!(
            "WITH s AS (\n  SELECT {} AS t, {} AS v\n  FROM {}{}\n  GROUP BY 1\n)",
            self.sql.period_start(date, grain),
            self.sql.measure(&self.first(), None),
            self.sql.from(),
            where_clause(&conditions),
        )
    }

    /// period, figure, running figure
    pub(super) fn windowed(&self) -> Query {
        let Some((date, grain)) = self.time_group() else { return self.grouped() };
        let (window, title) = match self.question.intent {
            Intent::Moving(n) => (
                format!("avg(v) OVER (ORDER BY t ROWS BETWEEN {} PRECEDING AND CURRENT ROW)", n - 1),
                format!("{} {n}", self.lang.pick("移动平均", "moving average")),
            ),
            _ => ("sum(v) OVER (ORDER BY t)".to_owned(), self.lang.pick("累计", "running total").to_owned()),
        };
        let sql = format!(
            "{}\nSELECT {} AS {}, v AS {}, {window} AS {}\nFROM s\nORDER BY t\nLIMIT {MANY}",
            self.series(date, grain, &self.question.filters),
            self.sql.dialect.label("t", grain),
            self.group_label(Group::Time(date, grain)),
            self.label(&self.first()),
            self.sql.dialect.name(&title),
        );
        Query::new("main", sql, MANY)
    }

    /// mean over periods, number of periods, smallest, largest
    pub(super) fn mean_per(&self, grain: Grain) -> Query {
        let Some(date) = self.question.date else { return self.value() };
        let zh = |a, b| self.named(a, b);
        let sql = format!(
            "{}\nSELECT avg(v) AS {}, count(*) AS {}, min(v) AS {}, max(v) AS {}\nFROM s",
            self.series(date, grain, &self.question.filters),
            zh("平均", "mean"),
            zh("期数", "periods"),
            zh("最小", "smallest"),
            zh("最大", "largest"),
        );
        Query::new("main", sql, 1)
    }

    /// period, figure, figure before, growth
    pub(super) fn growth_series(&self, against: Against) -> Query {
        let Some((date, grain)) = self.time_group() else { return self.value() };
        let (times, rest): (Vec<Filter>, Vec<Filter>) =
            self.question.filters.iter().cloned().partition(|f| matches!(f, Filter::Days { .. }));
        let step = match (against, grain) {
            (Against::YearBefore, _) | (_, Grain::Year) => (1, "YEAR"),
            (_, Grain::Quarter) => (3, "MONTH"),
            (_, Grain::Week) => (7, "DAY"),
            (_, Grain::Month) => (1, "MONTH"),
            _ => (1, "DAY"),
        };
        let kept: Vec<String> = times
            .iter()
            .filter_map(|f| match f {
                Filter::Days { days, .. } => Some(days),
                _ => None,
            })
            .flat_map(|d| {
                let at = |d| self.sql.dialect.date(d);
                [d.from.map(|a| format!("s.t >= {}", at(a))), d.to.map(|b| format!("s.t < {}", at(b)))]
            })
            .flatten()
            .collect();
        let zh = |a, b| self.named(a, b);
        let before = if against == Against::YearBefore {
            zh("去年同期", "year before")
        } else {
            zh("上期", "previous")
        };
        let growth = match against {
            Against::YearBefore => zh("同比", "year over year"),
            Against::PreviousPeriod => zh("环比", "growth"),
        };
        let sql = format!(
            "{}\nSELECT {} AS {}, s.v AS {}, p.v AS {before}, {} / nullif(abs(p.v), 0) AS {growth}\nFROM s LEFT JOIN s AS p ON p.t = {}{}\nORDER BY s.t\nLIMIT {MANY}",
            self.series(date, grain, &rest),
            self.sql.dialect.label("s.t", grain),
            self.group_label(Group::Time(date, grain)),
            self.label(&self.first()),
            self.sql.dialect.double("s.v - p.v"),
            self.sql.dialect.before("s.t", step),
            where_clause(&kept),
        );
        Query::new("main", sql, MANY)
    }

    /// [group,] before, after, difference, growth
    pub(super) fn change(&self, before: &Days, after: &Days, date: ColRef) -> Query {
        let measure = self.first();
        let side = |days: &Days| self.sql.measure(&measure, Some(&self.sql.within(date, days)));
        let key = self.question.groups.first();
        let group =
            key.map_or(String::new(), |g| format!("{} AS {}, ", self.sql.group(*g), self.group_label(*g)));
        let by = if key.is_some() { "\n  GROUP BY 1" } else { "" };
        let order = if self.question.order == Order::Ascending { "ASC" } else { "DESC" };
        let tail = if key.is_some() {
            format!("\nORDER BY {}", self.sql.dialect.nulls_last(5, "a - b", order))
        } else {
            String::new()
        };
        let zh = |a, b| self.named(a, b);
        let sql = format!(
            "SELECT x.*, a - b AS {}, {} / nullif(abs(b), 0) AS {}\nFROM (\n  SELECT {group}{} AS b, {} AS a\n  FROM {}{}{by}\n) AS x{tail}\nLIMIT {MANY}",
            zh("变化", "change"),
            self.sql.dialect.double("a - b"),
            zh("增长率", "growth"),
            side(before),
            side(after),
            self.sql.from(),
            self.where_all(),
        );
        Query::new("main", sql, MANY)
    }

    /// [group,] n, min, q1, median, q3, max, mean, sd; then bin start, bin end, n
    pub(super) fn distribution(&self) -> Vec<Query> {
        let Measure::Of(_, column) = self.first() else { return vec![self.grouped()] };
        let c = self.sql.col(column);
        let zh = |a, b| self.named(a, b);
        let key = self.question.groups.first();
        let group = key.map_or(String::new(), |g| {
            format!("{} AS {},\n       ", self.sql.group(*g), self.group_label(*g))
        });
        let tail = if key.is_some() { "\nGROUP BY 1\nORDER BY 5 DESC NULLS LAST\nLIMIT 50" } else { "" };
        let (q1, q3) = (zh("Q1", "Q1"), zh("Q3", "Q3"));
        let summary = format!(
            "SELECT {group}count({c}) AS {}, min({c}) AS {}, quantile_cont({c}, 0.25) AS {q1}, median({c}) AS {}, quantile_cont({c}, 0.75) AS {q3}, max({c}) AS {}, avg({c}) AS {}, stddev_samp({c}) AS {}\nFROM {}{}{tail}",
            zh("数量", "count"),
            zh("最小", "min"),
            zh("中位数", "median"),
            zh("最大", "max"),
            zh("平均", "mean"),
            zh("标准差", "std dev"),
            self.sql.from(),
            self.where_all(),
        );
        let mut queries = vec![Query::new("main", summary, 50)];
        if key.is_none() {
            let (low, high) = (zh("from", "from"), zh("to", "to"));
            let bins = format!(
                "WITH x AS (\n  SELECT CAST({c} AS DOUBLE) AS v\n  FROM {}{}\n), r AS (\n  SELECT min(v) AS lo, max(v) AS hi FROM x\n), b AS (\n  SELECT least(floor((v - lo) / nullif((hi - lo) / 20, 0)), 19) AS k, lo, (hi - lo) / 20 AS w FROM x, r WHERE v IS NOT NULL\n)\nSELECT lo + k * w AS {low}, lo + (k + 1) * w AS {high}, count(*) AS n\nFROM b\nWHERE k IS NOT NULL\nGROUP BY lo, w, k\nORDER BY k",
                self.sql.from(),
                self.where_all(),
            );
            queries.push(Query::new("bins", bins, 30));
        }
        queries
    }

    /// r, n, slope, intercept; then points
    pub(super) fn correlation(&self) -> Vec<Query> {
        let columns: Vec<ColRef> = self
            .question
            .measures
            .iter()
            .filter_map(|m| match m {
                Measure::Of(_, c) => Some(*c),
                _ => None,
            })
            .collect();
        let [a, b] = columns[..] else { return vec![self.value()] };
        let (x, y) = (self.sql.col(a), self.sql.col(b));
        let (from, filter) = (self.sql.from(), self.where_all());
        let both = if filter.is_empty() {
            format!("\nWHERE {x} IS NOT NULL AND {y} IS NOT NULL")
        } else {
            format!("{filter}\n  AND {x} IS NOT NULL AND {y} IS NOT NULL")
        };
        vec![
            Query::new(
                "main",
                format!(
                    "SELECT corr({y}, {x}) AS r, count(*) AS n, regr_slope({y}, {x}) AS slope, regr_intercept({y}, {x}) AS intercept\nFROM {from}{both}"
                ),
                1,
            ),
            Query::new(
                "points",
                format!(
                    "SELECT {x} AS {}, {y} AS {}\nFROM {from}{both}\nORDER BY hash({x}, {y})\nLIMIT 300",
                    self.sql.dialect.name(&self.sql.scope.column(a).name),
                    self.sql.dialect.name(&self.sql.scope.column(b).name)
                ),
                300,
            ),
        ]
    }

    /// rows: low, high, count below, count above, n; then the rows. Series: period, figure, distance from the mean in sd.
    pub(super) fn outliers(&self) -> Vec<Query> {
        if let Some((date, grain)) = self.time_group() {
            let sql = format!(
                "{}\nSELECT {} AS {}, v AS {}, (v - avg(v) OVER ()) / nullif(stddev_samp(v) OVER (), 0) AS z\nFROM s\nORDER BY t\nLIMIT {MANY}",
                self.series(date, grain, &self.question.filters),
                self.sql.dialect.label("t", grain),
                self.group_label(Group::Time(date, grain)),
                self.label(&self.first()),
            );
            return vec![Query::new("main", sql, MANY)];
        }
        let Measure::Of(_, column) = self.first() else { return vec![self.value()] };
        let c = self.sql.col(column);
        let (from, filter) = (self.sql.from(), self.where_all());
        let bounds = format!(
            "WITH q AS (\n  SELECT quantile_cont({c}, 0.25) AS q1, quantile_cont({c}, 0.75) AS q3\n  FROM {from}{filter}\n), b AS (\n  SELECT q1 - 1.5 * (q3 - q1) AS lo, q3 + 1.5 * (q3 - q1) AS hi FROM q\n)"
        );
        let zh = |a, b| self.named(a, b);
        let outside = if filter.is_empty() {
            format!("\nWHERE {c} < lo OR {c} > hi")
        } else {
            format!("{filter}\n  AND ({c} < lo OR {c} > hi)")
        };
        vec![
            Query::new(
                "main",
                format!(
                    "{bounds}\nSELECT any_value(lo) AS {}, any_value(hi) AS {}, count(*) FILTER (WHERE {c} < lo) AS {}, count(*) FILTER (WHERE {c} > hi) AS {}, count({c}) AS {}\nFROM {from}, b{filter}",
                    zh("下界", "lower bound"),
                    zh("上界", "upper bound"),
                    zh("低于下界", "below"),
                    zh("高于上界", "above"),
                    zh("总数", "count")
                ),
                1,
            ),
            Query::new(
                "rows",
                format!(
                    "{bounds}\nSELECT * EXCLUDE (lo, hi)\nFROM {from}, b{outside}\nORDER BY greatest(lo - {c}, {c} - hi) DESC\nLIMIT 20"
                ),
                20,
            ),
        ]
    }

    /// group, figure, share, cumulative share, class
    pub(super) fn pareto(&self) -> Query {
        let key = self.question.groups.first().copied();
        let group = key.map_or("'-'".to_owned(), |g| self.sql.group(g));
        let zh = |a, b| self.named(a, b);
        let sql = format!(
            "WITH g AS (\n  SELECT {group} AS k, {} AS v\n  FROM {}{}\n  GROUP BY 1\n), c AS (\n  SELECT k, v, {} / nullif(sum(v) OVER (), 0) AS share, {} / nullif(sum(v) OVER (), 0) AS cum\n  FROM g WHERE v > 0\n)\nSELECT k AS {}, v AS {}, share AS {}, cum AS {}, CASE WHEN cum - share < 0.8 THEN 'A' WHEN cum - share < 0.95 THEN 'B' ELSE 'C' END AS {}\nFROM c\nORDER BY v DESC, k\nLIMIT {MANY}",
            self.sql.measure(&self.first(), None),
            self.sql.from(),
            self.where_all(),
            self.sql.dialect.double("v"),
            self.sql.dialect.double("sum(v) OVER (ORDER BY v DESC, k)"),
            key.map_or("k".to_owned(), |g| self.group_label(g)),
            self.label(&self.first()),
            zh("占比", "share"),
            zh("累计占比", "cumulative share"),
            zh("类别", "class"),
        );
        Query::new("main", sql, MANY)
    }

    /// cohort month, months since, how many
    pub(super) fn cohort(&self, entity: ColRef, date: ColRef) -> Query {
        let (e, d) = (self.sql.col(entity), self.sql.period_start(date, Grain::Month));
        let sql = format!(
            "WITH a AS (\n  SELECT DISTINCT {e} AS e, {d} AS m\n  FROM {}{}\n), f AS (\n  SELECT e, min(m) AS first FROM a GROUP BY e\n)\nSELECT strftime(first, '%Y-%m') AS cohort, date_diff('month', first, m) AS months, count(*) AS n\nFROM a JOIN f USING (e)\nWHERE e IS NOT NULL AND m IS NOT NULL\nGROUP BY 1, 2\nORDER BY 1, 2",
            self.sql.from(),
            self.where_all(),
        );
        Query::new("main", sql, 5000)
    }

    /// [period,] how many, how many
    pub(super) fn first_seen(&self, entity: ColRef, date: ColRef) -> Query {
        let (times, rest): (Vec<Filter>, Vec<Filter>) =
            self.question.filters.iter().cloned().partition(|f| matches!(f, Filter::Days { .. }));
        let mut conditions: Vec<String> = rest.iter().map(|f| self.sql.condition(f)).collect();
        conditions.push(format!("{} IS NOT NULL", self.sql.col(entity)));
        let kept: Vec<String> = times
            .iter()
            .filter_map(|f| if let Filter::Days { days, .. } = f { Some(days) } else { None })
            .flat_map(|d| {
                let at = |d| self.sql.dialect.date(d);
                [d.from.map(|a| format!("d >= {}", at(a))), d.to.map(|b| format!("d < {}", at(b)))]
            })
            .flatten()
            .collect();
        let period = self.time_group().map(|(_, grain)| {
            let start = self.sql.dialect.label(&self.sql.dialect.start("d", grain), grain);
            format!("{start} AS {}, ", self.group_label(Group::Time(date, grain)))
        });
        let tail = if period.is_some() { "\nGROUP BY 1\nORDER BY 1" } else { "" };
        let key = period.unwrap_or_default();
        let sql = format!(
            "WITH f AS (\n  SELECT {} AS e, min({}) AS d\n  FROM {}{}\n  GROUP BY 1\n)\nSELECT {key}count(*) AS {}, count(*) AS {}\nFROM f{}{tail}",
            self.sql.col(entity),
            self.sql.day(date),
            self.sql.from(),
            where_clause(&conditions),
            self.label(&self.first()),
            self.rows_label(),
            where_clause(&kept),
        );
        Query::new("main", sql, MANY)
    }

    /// [group,] steps…
    pub(super) fn funnel(&self) -> Query {
        let key = self.question.groups.first();
        let group =
            key.map_or(String::new(), |g| format!("{} AS {}, ", self.sql.group(*g), self.group_label(*g)));
        let columns: Vec<String> = self
            .question
            .measures
            .iter()
            .map(|m| format!("{} AS {}", self.sql.measure(m, None), self.label(m)))
            .collect();
        let tail = if key.is_some() { "\nGROUP BY 1\nORDER BY 2 DESC\nLIMIT 50" } else { "" };
        Query::new(
            "main",
            format!(
                "SELECT {group}{}\nFROM {}{}{tail}",
                columns.join(", "),
                self.sql.from(),
                self.where_all()
            ),
            50,
        )
    }

    /// month, figure
    pub(super) fn forecast(&self) -> Query {
        let Some((date, grain)) = self.time_group() else { return self.value() };
        let sql = format!(
            "{}\nSELECT {} AS {}, v AS {}\nFROM s\nORDER BY t\nLIMIT {MANY}",
            self.series(date, grain, &self.question.filters),
            self.sql.dialect.label("t", grain),
            self.group_label(Group::Time(date, grain)),
            self.label(&self.first()),
        );
        Query::new("main", sql, MANY)
    }

    /// rows, then the empty cells of each column
    pub(super) fn missing(&self) -> Query {
        let table = &self.sql.scope.tables[self.question.table];
        let columns: Vec<String> = table
            .columns
            .iter()
            .take(200)
            .map(|c| {
                format!(
                    "count(*) - count({}) AS {}",
                    self.sql.dialect.name(&c.name),
                    self.sql.dialect.name(&c.name)
                )
            })
            .collect();
        Query::new(
            "main",
            format!(
                "SELECT count(*) AS {},\n       {}\nFROM {}",
                self.rows_label(),
                columns.join(",\n       "),
                self.sql.dialect.table(&table.sql_name)
            ),
            1,
        )
    }

    /// rows, distinct rows
    /// value, rows, how many such values
    pub(super) fn repeats(&self, column: ColRef, once: bool) -> Query {
        let mut conditions: Vec<String> =
            self.question.filters.iter().map(|f| self.sql.condition(f)).collect();
        conditions.push(format!("{} IS NOT NULL", self.sql.col(column)));
        let sql = format!(
            "SELECT {} AS {}, count(*) AS {}, count(*) OVER () AS n\nFROM {}{}\nGROUP BY 1\nHAVING count(*) {} 1\nORDER BY 2 DESC, 1",
            self.sql.col(column),
            self.group_label(Group::By(column)),
            self.rows_label(),
            self.sql.from(),
            where_clause(&conditions),
            if once { "=" } else { ">" },
        );
        Query::new("main", sql, MANY)
    }

    pub(super) fn duplicates(&self) -> Query {
        let table = self.sql.dialect.table(&self.sql.scope.tables[self.question.table].sql_name);
        let zh = |a, b| self.named(a, b);
        let sql = format!(
            "SELECT count(*) AS {}, (SELECT count(*) FROM (SELECT DISTINCT * FROM {table}) AS d) AS {}\nFROM {table}",
            zh("行数", "rows"),
            zh("不重复行数", "distinct rows")
        );
        Query::new("main", sql, 1)
    }

    /// main: per measure sum, mean, min, max; then the main measure by group and by month
    pub(super) fn describe(&self) -> Vec<Query> {
        let table = &self.sql.scope.tables[self.question.table];
        let measures: Vec<usize> = table.indices(|c| c.role == Role::Measure).into_iter().take(8).collect();
        let from = self.sql.dialect.table(&table.sql_name);
        let mut queries = Vec::new();
        if !measures.is_empty() {
            let double = |value: &str| self.sql.dialect.double(value);
            let of = |i: &usize| {
                let c = self.sql.dialect.name(&table.columns[*i].name);
                format!(
                    "SELECT {} AS c, {} AS s, {} AS m, {} AS lo, {} AS hi FROM {from}",
                    self.sql.dialect.literal(&table.columns[*i].name),
                    double(&format!("sum({c})")),
                    double(&self.sql.dialect.mean(&c)),
                    double(&format!("min({c})")),
                    double(&format!("max({c})")),
                )
            };
            let parts: Vec<String> = measures.iter().map(of).collect();
            queries.push(Query::new("main", parts.join("\nUNION ALL\n"), 20));
        } else {
            queries.push(Query::new(
                "main",
                format!("SELECT 'rows' AS c, count(*) AS s, NULL AS m, NULL AS lo, NULL AS hi FROM {from}"),
                1,
            ));
        }
        let measure = self.main_measure();
        let value = self.sql.measure(&measure, None);
        if let Some(dim) = self.main_dimension() {
            queries.push(Query::new("groups", format!("SELECT {0} AS {0}, {value} AS {1}\nFROM {from}\nWHERE {0} IS NOT NULL\nGROUP BY 1\nORDER BY {2}\nLIMIT 20", self.sql.dialect.name(&table.columns[dim].name), self.label(&measure), self.sql.dialect.nulls_last(2, &value, "DESC")), 20));
        }
        if let Some(date) = table.main_date() {
            let at = ColRef { table: self.question.table, column: date };
            queries.push(Query::new("months", format!("SELECT {} AS {}, {value} AS {}\nFROM {from}\nWHERE {} IS NOT NULL\nGROUP BY 1\nORDER BY 1\nLIMIT 400", self.sql.period(at, Grain::Month), self.group_label(Group::Time(at, Grain::Month)), self.label(&measure), self.sql.col(at)), 400));
        }
        queries
    }

    /// What an overview is about: sales where there are some, else the first number, else rows.
    fn main_measure(&self) -> Measure {
        let t = self.question.table;
        let table = &self.sql.scope.tables[t];
        let by_concept = ["revenue", "salary", "purchases", "quantity"]
            .iter()
            .find_map(|id| table.with_concept(id).first().map(|(c, _)| *c));
        let column = by_concept.or_else(|| table.indices(|c| c.role == Role::Measure).first().copied());
        match column {
            Some(column) if table.columns[column].role == Role::Measure => {
                let agg = if table.columns[column].default_agg == crate::glossary::DefaultAgg::Mean {
                    Agg::Mean
                } else {
                    Agg::Sum
                };
                Measure::Of(agg, ColRef { table: t, column })
            }
            _ => Measure::Rows,
        }
    }

    fn main_dimension(&self) -> Option<usize> {
        let table = &self.sql.scope.tables[self.question.table];
        let dims = table.indices(|c| c.role == Role::Dimension && (2..=50).contains(&c.distinct));
        let known = ["region", "department", "category", "channel", "country", "product"]
            .iter()
            .find_map(|id| table.with_concept(id).first().map(|(c, _)| *c).filter(|c| dims.contains(c)));
        known.or_else(|| dims.first().copied())
    }
}
