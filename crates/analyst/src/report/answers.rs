//! The answers to plain questions: a value, groups, a ranking, a series.

use super::chart::{Chart, Series, Shape};
use super::format::{growth, number, percent, text, weekday};
use super::{Answer, Cell, Desk, TableView};
use crate::observe::Grid;
use crate::plan::label;
use crate::question::{Filter, Grain, Group, Intent, Measure, Order};

impl Desk<'_> {
    pub(super) fn figure(&self, measure: &Measure, value: f64) -> String {
        if label::is_percent(self.scope, measure) { percent(value) } else { number(value) }
    }

    pub(super) fn cell_kind(&self, measure: &Measure) -> Cell {
        if label::is_percent(self.scope, measure) { Cell::Percent } else { Cell::Number }
    }

    pub(super) fn measure_name(&self, measure: &Measure) -> String {
        text(&label::measure(self.scope, measure, self.lang))
    }

    pub(super) fn first(&self) -> Measure {
        self.question.measures.first().cloned().unwrap_or(Measure::Rows)
    }

    /// `2024、地区=华东`: what the figures are limited to.
    pub(super) fn limits(&self) -> String {
        let parts: Vec<String> = self.question.filters.iter().map(|f| self.limit(f)).collect();
        match (parts.is_empty(), self.zh()) {
            (true, _) => String::new(),
            (_, true) => format!("（{}）", parts.join("，")),
            (_, false) => format!(" ({})", parts.join(", ")),
        }
    }

    pub(super) fn limit(&self, filter: &Filter) -> String {
        let name = |c| text(label::column(self.scope, c));
        match filter {
            Filter::In { column, values, negated } => {
                let list: Vec<String> = values.iter().map(|v| text(v)).collect();
                format!("{} {} {}", name(*column), if *negated { "≠" } else { "=" }, list.join(" / "))
            }
            Filter::Number { column, cmp, value } => {
                format!("{} {} {}", name(*column), text(cmp.sql()), number(*value))
            }
            Filter::Filled { column } => {
                format!("{} {}", name(*column), self.t("不为空", "is not empty"))
            }
            Filter::Empty { column } => format!("{} {}", name(*column), self.t("为空", "is empty")),
            Filter::Columns { left, cmp, right } => {
                format!("{} {} {}", name(*left), text(cmp.sql()), name(*right))
            }
            Filter::Days { days, .. } => text(&days.label),
            Filter::Yes { column, yes } => {
                format!("{} = {}", name(*column), if *yes { self.t("是", "yes") } else { self.t("否", "no") })
            }
        }
    }

    pub(super) fn value(&self, grid: &Grid) -> Answer {
        let n = self.question.measures.len();
        let rows = grid.number(0, n).unwrap_or(0.0);
        if rows == 0.0 {
            return Answer::only(format!(
                "{}{}",
                self.t("没有符合条件的数据", "No rows match"),
                self.limits()
            ));
        }
        let parts: Vec<String> =
            self.question
                .measures
                .iter()
                .enumerate()
                .map(|(i, m)| {
                    let dated = grid.cell(0, i).filter(|_| grid.number(0, i).is_none()).map(text);
                    let value =
                        grid.number(0, i).map(|v| self.figure(m, v)).or(dated).unwrap_or_else(|| {
                            self.t("无（该列为空）", "none (the column is empty)").to_owned()
                        });
                    if self.zh() {
                        format!("{}为 **{value}**", self.measure_name(m))
                    } else {
                        format!("{} is **{value}**", self.measure_name(m))
                    }
                })
                .collect();
        let headline = format!("{}{}", parts.join(self.t("，", ", ")), self.limits());
        let mut answer = Answer::only(headline);
        answer.findings.push(if self.zh() {
            format!("依据 {} 行数据。", number(rows))
        } else {
            format!("Based on {} rows.", number(rows))
        });
        answer
    }

    pub(super) fn group_text(&self, group: Group, raw: &str) -> String {
        match group {
            Group::Time(_, Grain::Weekday) => weekday(raw, self.lang),
            _ => raw.to_owned(),
        }
    }

    /// The grid with group labels for people.
    fn view(&self, grid: &Grid, kinds: &[Cell]) -> TableView {
        let mut view = TableView::new(grid, kinds);
        for (c, group) in self.question.groups.iter().enumerate() {
            for (r, row) in view.rows.iter_mut().enumerate() {
                if let Some(cell) = row.get_mut(c) {
                    *cell = text(&self.group_text(*group, grid.cell(r, c).unwrap_or("")));
                }
            }
        }
        view
    }

    fn grouped_kinds(&self) -> Vec<Cell> {
        let mut kinds = vec![Cell::Text; self.question.groups.len()];
        kinds.extend(self.question.measures.iter().map(|m| self.cell_kind(m)));
        kinds.push(Cell::Number);
        kinds
    }

    pub(super) fn grouped(&self, grid: &Grid) -> Answer {
        if grid.rows.is_empty() {
            return Answer::only(format!(
                "{}{}",
                self.t("没有符合条件的数据", "No rows match"),
                self.limits()
            ));
        }
        let g = self.question.groups.len();
        let mut answer = Answer::only(self.best_and_worst(grid, g));
        let kinds = self.grouped_kinds();
        answer.table = Some(self.view(grid, &kinds));
        answer.chart = self.group_chart(grid, g);
        answer.findings = self.group_findings(grid, g);
        answer
    }

    fn row_name(&self, grid: &Grid, row: usize) -> String {
        let names: Vec<String> = self
            .question
            .groups
            .iter()
            .enumerate()
            .map(|(c, group)| text(&self.group_text(*group, grid.cell(row, c).unwrap_or(""))))
            .collect();
        names.join(" · ")
    }

    fn best_and_worst(&self, grid: &Grid, g: usize) -> String {
        let measure = self.first();
        let name = self.measure_name(&measure);
        let said: Vec<(usize, f64)> =
            (0..grid.rows.len()).filter_map(|r| grid.number(r, g).map(|v| (r, v))).collect();
        let limits = self.limits();
        if let (Some((cmp, bound)), count) = (self.question.having, said.len()) {
            let names: Vec<String> = said
                .iter()
                .take(5)
                .map(|(r, v)| format!("{} ({})", self.row_name(grid, *r), self.figure(&measure, *v)))
                .collect();
            return if self.zh() {
                format!(
                    "共有 **{count}** 个{}的{name} {} {}：{}{limits}",
                    self.group_names(),
                    text(cmp.sql()),
                    number(bound),
                    names.join("、")
                )
            } else {
                format!(
                    "**{count}** {} have {name} {} {}: {}{limits}",
                    self.group_names(),
                    text(cmp.sql()),
                    number(bound),
                    names.join(", ")
                )
            };
        }
        let max =
            said.iter().copied().fold(
                None,
                |best: Option<(usize, f64)>, x| if best.is_none_or(|b| x.1 > b.1) { Some(x) } else { best },
            );
        let min =
            said.iter().copied().fold(
                None,
                |best: Option<(usize, f64)>, x| if best.is_none_or(|b| x.1 < b.1) { Some(x) } else { best },
            );
        let (Some(max), Some(min)) = (max, min) else {
            return self.t("各组都没有数值", "No group has a figure").to_owned();
        };
        let show = |(r, v): (usize, f64)| {
            format!(
                "**{}**{}{}{}",
                self.row_name(grid, r),
                self.t("（", " ("),
                self.figure(&measure, v),
                self.t("）", ")")
            )
        };
        if let Some(limit) = self.question.limit.filter(|l| *l > 1) {
            let listed: Vec<String> = said.iter().take(limit.min(10)).map(|x| show(*x)).collect();
            let which = if self.question.order == Order::Ascending {
                self.t("最低", "lowest")
            } else {
                self.t("最高", "highest")
            };
            return if self.zh() {
                format!(
                    "{name}{which}的 {} 个{}：{}{limits}",
                    said.len().min(limit),
                    self.group_names(),
                    listed.join("、")
                )
            } else {
                format!(
                    "The {} {} with the {which} {name}: {}{limits}",
                    said.len().min(limit),
                    self.group_names(),
                    listed.join(", ")
                )
            };
        }
        let ties = |v: f64| said.iter().filter(|x| (x.1 - v).abs() < f64::EPSILON * v.abs().max(1.0)).count();
        let tie = |v: f64| {
            if ties(v) > 1 {
                if self.zh() {
                    format!("（{} 个并列）", ties(v))
                } else {
                    format!(" ({} tied)", ties(v))
                }
            } else {
                String::new()
            }
        };
        let ascending = self.question.order == Order::Ascending;
        let (lead, other) = if ascending { (min, max) } else { (max, min) };
        let words = if ascending {
            [self.t("最低", "lowest"), self.t("最高", "highest")]
        } else {
            [self.t("最高", "highest"), self.t("最低", "lowest")]
        };
        if said.len() == 1 {
            return if self.zh() {
                format!(
                    "{}的{name}为 **{}**{limits}",
                    self.row_name(grid, lead.0),
                    self.figure(&measure, lead.1)
                )
            } else {
                format!(
                    "{name} of {} is **{}**{limits}",
                    self.row_name(grid, lead.0),
                    self.figure(&measure, lead.1)
                )
            };
        }
        if ties(lead.1) == said.len() && !grid.cut {
            let (n, value) = (said.len(), self.figure(&measure, lead.1));
            return if self.zh() {
                format!("{n} 个{}的{name}都是 **{value}**{limits}", self.group_names())
            } else {
                format!("{name} is the same for all {n} {}: **{value}**{limits}", self.group_names())
            };
        }
        // Where only the first groups were fetched, the other end is not known.
        if grid.cut || grid.rows.len() >= crate::plan::MANY && self.question.intent == Intent::Rank {
            return if self.zh() {
                format!("{name}{}的是{}{}{limits}", words[0], show(lead), tie(lead.1))
            } else {
                format!("{} has the {} {name}{}{limits}", show(lead), words[0], tie(lead.1))
            };
        }
        let apart = if said.len() == 2 { self.apart(max.1, min.1) } else { String::new() };
        if self.zh() {
            format!(
                "{name}{}的是{}{}，{}的是{}{apart}{limits}",
                words[0],
                show(lead),
                tie(lead.1),
                words[1],
                show(other)
            )
        } else {
            format!(
                "{} has the {} {name}{}; {} has the {}{apart}{limits}",
                show(lead),
                words[0],
                tie(lead.1),
                show(other),
                words[1]
            )
        }
    }

    /// How far two groups lie apart, seen from either.
    fn apart(&self, high: f64, low: f64) -> String {
        if low <= 0.0 || high <= low {
            return String::new();
        }
        let gap = self.figure(&self.first(), high - low);
        let (above, below) = (growth((high - low) / low), growth((low - high) / high));
        if self.zh() {
            format!("，相差 {gap}（高的比低的 {above}，低的比高的 {below}）")
        } else {
            format!("; they differ by {gap} ({above} against the lower, {below} against the higher)")
        }
    }

    pub(super) fn group_names(&self) -> String {
        let names: Vec<String> =
            self.question.groups.iter().map(|g| text(&label::group(self.scope, *g, self.lang))).collect();
        names.join(" × ")
    }

    fn group_chart(&self, grid: &Grid, g: usize) -> Option<Chart> {
        let measure = self.first();
        let title = label::measure(self.scope, &measure, self.lang);
        let timed = matches!(self.question.groups.first(), Some(Group::Time(..)));
        let (labels, series) = if g == 2 {
            self.pivot(grid)
        } else {
            let labels = (0..grid.rows.len())
                .map(|r| self.group_text(self.question.groups[0], grid.cell(r, 0).unwrap_or("")))
                .collect();
            let same = self
                .question
                .measures
                .iter()
                .enumerate()
                .filter(|(_, m)| self.cell_kind(m) == self.cell_kind(&measure));
            (
                labels,
                same.take(3)
                    .map(|(i, m)| (label::measure(self.scope, m, self.lang), grid.numbers(g + i)))
                    .collect(),
            )
        };
        if grid.rows.len() < 2 {
            return None;
        }
        let ordered_time = timed && self.question.intent != crate::question::Intent::Rank;
        let shape = if ordered_time && labels_are_time(self.question.groups[0]) {
            Shape::Line { labels, series }
        } else {
            Shape::Bar { labels, series }
        };
        Some(Chart { title, percent: label::is_percent(self.scope, &measure), shape })
    }

    /// The second group as series over the first.
    fn pivot(&self, grid: &Grid) -> (Vec<String>, Vec<Series>) {
        let mut labels: Vec<String> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for r in 0..grid.rows.len() {
            let (a, b) = (grid.cell(r, 0).unwrap_or("").to_owned(), grid.cell(r, 1).unwrap_or("").to_owned());
            if !labels.contains(&a) {
                labels.push(a);
            }
            if !names.contains(&b) && names.len() < 8 {
                names.push(b);
            }
        }
        let find = |a: &str, b: &str| {
            (0..grid.rows.len())
                .find(|r| grid.cell(*r, 0) == Some(a) && grid.cell(*r, 1) == Some(b))
                .and_then(|r| grid.number(r, 2))
        };
        let series = names.iter().map(|b| (b.clone(), labels.iter().map(|a| find(a, b)).collect())).collect();
        let labels = labels.iter().map(|l| self.group_text(self.question.groups[0], l)).collect();
        (labels, series)
    }

    fn group_findings(&self, grid: &Grid, g: usize) -> Vec<String> {
        let measure = self.first();
        let values: Vec<f64> = grid.numbers(g).into_iter().flatten().collect();
        let mut out = Vec::new();
        let additive = matches!(
            measure,
            Measure::Rows | Measure::CountYes(_) | Measure::Of(crate::question::Agg::Sum, _)
        );
        let total: f64 = values.iter().sum();
        if additive
            && !grid.cut
            && values.len() > 1
            && total > 0.0
            && self.question.limit.is_none()
            && self.question.having.is_none()
        {
            let top = values.iter().copied().fold(f64::MIN, f64::max);
            out.push(if self.zh() {
                format!("{} 组合计 {}，最高的一组占 {}。", values.len(), number(total), percent(top / total))
            } else {
                format!(
                    "{} groups, {} in total; the highest holds {}.",
                    values.len(),
                    number(total),
                    percent(top / total)
                )
            });
        }
        let timed = g == 1
            && matches!(
                self.question.groups[0],
                Group::Time(_, Grain::Day | Grain::Week | Grain::Month | Grain::Quarter | Grain::Year)
            );
        if let (true, Some(first), Some(last)) = (
            timed && self.question.intent == crate::question::Intent::Trend && values.len() > 1,
            values.first(),
            values.last(),
        ) && *first != 0.0
        {
            let change = (last - first) / first.abs();
            out.push(if self.zh() {
                format!(
                    "从 {} 的 {} 到 {} 的 {}，变化 {}。",
                    self.row_name(grid, 0),
                    self.figure(&measure, *first),
                    self.row_name(grid, grid.rows.len() - 1),
                    self.figure(&measure, *last),
                    growth(change)
                )
            } else {
                format!(
                    "From {} in {} to {} in {}: {}.",
                    self.figure(&measure, *first),
                    self.row_name(grid, 0),
                    self.figure(&measure, *last),
                    self.row_name(grid, grid.rows.len() - 1),
                    growth(change)
                )
            });
        }
        if let (2, false) = (values.len(), timed) {
            let difference = values[0] - values[1];
            let ratio = if values[1] == 0.0 {
                String::new()
            } else {
                format!(" ({})", growth(difference / values[1].abs()))
            };
            out.push(if self.zh() {
                format!(
                    "{}比{}多 {}{ratio}。",
                    self.row_name(grid, 0),
                    self.row_name(grid, 1),
                    self.figure(&measure, difference)
                )
            } else {
                format!(
                    "{} minus {}: {}{ratio}.",
                    self.row_name(grid, 0),
                    self.row_name(grid, 1),
                    self.figure(&measure, difference)
                )
            });
        }
        out
    }
}

fn labels_are_time(group: Group) -> bool {
    matches!(group, Group::Time(_, grain) if grain != Grain::Weekday)
}
