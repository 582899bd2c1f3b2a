//! The table itself: missing values, duplicates, columns, first rows, overview.

use super::chart::{Chart, Shape};
use super::format::{count, number, percent, text};
use super::{Answer, Cell, Desk, TableView};
use crate::observe::Grid;
use crate::table::{Kind, Role};

impl Desk<'_> {
    pub(super) fn missing(&self, grid: &Grid) -> Answer {
        let rows = grid.number(0, 0).unwrap_or(0.0);
        let mut gaps: Vec<(String, f64)> =
            (1..grid.names.len()).filter_map(|c| Some((grid.names[c].clone(), grid.number(0, c)?))).collect();
        let total: f64 = gaps.iter().map(|g| g.1).sum();
        gaps.sort_by(|a, b| b.1.total_cmp(&a.1));
        let with: Vec<&(String, f64)> = gaps.iter().filter(|g| g.1 > 0.0).collect();
        let listed: Vec<String> =
            with.iter().take(5).map(|(n, v)| format!("{} ({})", text(n), number(*v))).collect();
        let mut answer = Answer::only(match (with.is_empty(), self.zh()) {
            (true, true) => format!("没有缺失值（{} 行，{} 列）", number(rows), gaps.len()),
            (true, false) => {
                format!("There are **0** missing values ({} rows, {} columns)", number(rows), gaps.len())
            }
            (false, true) => format!(
                "共有 **{}** 个缺失值，分布在 {} 列：{}",
                number(total),
                with.len(),
                listed.join("、")
            ),
            (false, false) => format!(
                "There are **{}** missing values in {} columns: {}",
                number(total),
                with.len(),
                listed.join(", ")
            ),
        });
        let header = [self.t("列", "column"), self.t("缺失", "missing"), self.t("缺失率", "share")]
            .map(str::to_owned)
            .to_vec();
        let view: Vec<Vec<String>> =
            gaps.iter().map(|(n, v)| vec![text(n), number(*v), percent(v / rows.max(1.0))]).collect();
        answer.table = Some(TableView { header, total: view.len(), rows: view, cut: false });
        if !with.is_empty() {
            let (labels, values) = with.iter().map(|g| (g.0.clone(), Some(g.1))).unzip();
            answer.chart = Some(Chart {
                title: self.t("缺失值", "missing values").to_owned(),
                percent: false,
                shape: Shape::Bar { labels, series: vec![(self.t("缺失", "missing").to_owned(), values)] },
            });
        }
        answer
    }

    /// Values that several rows have, and how many there are.
    pub(super) fn repeats(&self, grid: &Grid, column: crate::lex::ColRef, once: bool) -> Answer {
        let found = number(grid.number(0, 2).unwrap_or(0.0));
        let named = &self.scope.column(column).name;
        let limits = self.limits();
        let mut answer = Answer::only(if self.zh() {
            format!("**{found}** 个{named}{}{limits}", if once { "只出现一次" } else { "出现不止一次" })
        } else {
            format!(
                "**{found}** different {named} appear {} once{limits}",
                if once { "only" } else { "more than" }
            )
        });
        if !grid.rows.is_empty() {
            answer.table = Some(TableView::new(grid, &[Cell::Text, Cell::Number]));
        }
        answer
    }

    pub(super) fn duplicates(&self, grid: &Grid) -> Answer {
        let (Some(rows), Some(distinct)) = (grid.number(0, 0), grid.number(0, 1)) else {
            return self.nothing();
        };
        Answer::only(if self.zh() {
            format!(
                "完全重复的行有 **{}** 行（共 {} 行，去重后 {} 行）",
                number(rows - distinct),
                number(rows),
                number(distinct)
            )
        } else {
            format!(
                "There are **{}** duplicate rows ({} rows, {} distinct)",
                number(rows - distinct),
                number(rows),
                number(distinct)
            )
        })
    }

    pub(super) fn columns(&self) -> Answer {
        let table = &self.scope.tables[self.question.table];
        let mut answer = Answer::only(if self.zh() {
            format!(
                "{} 有 **{}** 列，{} 行",
                text(&table.filename),
                table.columns.len(),
                number(count(table.rows))
            )
        } else {
            format!(
                "{} has **{}** columns and {} rows",
                text(&table.filename),
                table.columns.len(),
                number(count(table.rows))
            )
        });
        let header = [
            self.t("列", "column"),
            self.t("类型", "type"),
            self.t("不同值", "distinct"),
            self.t("缺失", "missing"),
            self.t("示例", "examples"),
        ]
        .map(str::to_owned)
        .to_vec();
        let kind = |k: Kind, role: Role| match (k, role) {
            (_, Role::Flag) => self.t("是否", "yes/no"),
            (Kind::Integer | Kind::Number, _) => self.t("数值", "number"),
            (Kind::Date(_), _) => self.t("日期", "date"),
            _ => self.t("文本", "text"),
        };
        let rows: Vec<Vec<String>> = table
            .columns
            .iter()
            .map(|c| {
                let examples: Vec<String> = c.values.iter().take(3).map(|v| text(v)).collect();
                vec![
                    text(&c.name),
                    kind(c.kind, c.role).to_owned(),
                    c.distinct.to_string(),
                    c.nulls.to_string(),
                    examples.join(", "),
                ]
            })
            .collect();
        answer.table = Some(TableView { header, total: rows.len(), rows, cut: false });
        answer
    }

    pub(super) fn preview(&self, grid: &Grid) -> Answer {
        let mut answer = Answer::only(if self.zh() {
            format!("前 {} 行如下", grid.rows.len())
        } else {
            format!("The first {} rows", grid.rows.len())
        });
        answer.table = Some(TableView::new(grid, &[]));
        answer
    }

    pub(super) fn describe(&self, grid: &Grid, groups: Option<&Grid>, months: Option<&Grid>) -> Answer {
        let table = &self.scope.tables[self.question.table];
        let span = table.main_date().and_then(|c| table.columns[c].date_span());
        let dates = span.map_or(String::new(), |(a, b)| {
            if self.zh() { format!("，时间 {a} 至 {b}") } else { format!(", {a} to {b}") }
        });
        let mut answer = Answer::only(if self.zh() {
            format!(
                "{} 共 **{}** 行、**{}** 列{dates}",
                text(&table.filename),
                number(count(table.rows)),
                table.columns.len()
            )
        } else {
            format!(
                "{} has **{}** rows and **{}** columns{dates}",
                text(&table.filename),
                number(count(table.rows)),
                table.columns.len()
            )
        });
        let mut named = grid.clone();
        named.names = [
            self.t("指标", "measure"),
            self.t("合计", "sum"),
            self.t("平均", "mean"),
            self.t("最小", "min"),
            self.t("最大", "max"),
        ]
        .map(str::to_owned)
        .to_vec();
        answer.table = Some(TableView::new(
            &named,
            &[Cell::Text, Cell::Number, Cell::Number, Cell::Number, Cell::Number],
        ));
        if let Some(g) = groups.filter(|g| !g.rows.is_empty()) {
            let (name, value) =
                (text(g.cell(0, 0).unwrap_or("")), g.number(0, 1).map_or(String::new(), number));
            answer.findings.push(if self.zh() {
                format!("按{}看，{}最高的是 {name}（{value}）。", text(&g.names[0]), text(&g.names[1]))
            } else {
                format!("By {}, {} is highest for {name} ({value}).", text(&g.names[0]), text(&g.names[1]))
            });
        }
        let gaps: u64 = table.columns.iter().map(|c| c.nulls).sum();
        answer.findings.push(if self.zh() {
            format!("缺失值 {gaps} 个。")
        } else {
            format!("{gaps} missing values.")
        });
        let drawn = months
            .filter(|m| m.rows.len() > 1)
            .map(|m| (m, true))
            .or_else(|| groups.filter(|g| g.rows.len() > 1).map(|g| (g, false)));
        if let Some((grid, timed)) = drawn {
            let series = vec![(grid.names[1].clone(), grid.numbers(1))];
            let shape = if timed {
                Shape::Line { labels: grid.texts(0), series }
            } else {
                Shape::Bar { labels: grid.texts(0), series }
            };
            answer.chart = Some(Chart { title: grid.names[1].clone(), percent: false, shape });
        }
        answer
    }
}
