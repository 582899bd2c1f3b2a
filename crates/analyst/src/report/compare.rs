//! Parts of a whole, changes between periods, single rows.

use super::chart::{Chart, Shape};
use super::format::{growth, number, percent, text};
use super::{Answer, Cell, Desk, TableView};
use crate::observe::Grid;
use crate::plan::label;
use crate::question::{Agg, Filter, Group, Measure, Order};
use crate::table::Kind;
use crate::timex::Days;

/// Figures of two periods may be added up.
fn is_additive(measure: &Measure) -> bool {
    matches!(measure, Measure::Rows | Measure::CountYes(_) | Measure::Of(Agg::Sum, _))
}

impl Desk<'_> {
    pub(super) fn share(&self, grid: &Grid) -> Answer {
        let measure = self.first();
        let value = grid.number(0, 1).map_or(String::new(), |v| self.figure(&measure, v));
        let mut answer = Answer::only(match (grid.cell(0, 0), grid.number(0, 2)) {
            (Some(_), Some(_)) if self.question.limit.is_some_and(|n| n > 1) => self.share_of_first(grid),
            (Some(name), Some(share)) if self.zh() => format!(
                "**{}**的{}占比{}，为 **{}**（{value}）{}",
                text(name),
                self.measure_name(&measure),
                if self.question.order == Order::Ascending { "最低" } else { "最高" },
                percent(share),
                self.limits()
            ),
            (Some(name), Some(share)) => format!(
                "**{}** has the {} share of {}: **{}** ({value}){}",
                text(name),
                if self.question.order == Order::Ascending { "smallest" } else { "largest" },
                self.measure_name(&measure),
                percent(share),
                self.limits()
            ),
            _ => format!("{}{}", self.t("没有符合条件的数据", "No rows match"), self.limits()),
        });
        answer.table = Some(TableView::new(grid, &[Cell::Text, self.cell_kind(&measure), Cell::Percent]));
        let parts: Vec<(String, f64)> = (0..grid.rows.len())
            .filter_map(|r| {
                Some((grid.cell(r, 0).unwrap_or("").to_owned(), crate::observe::tidy(grid.number(r, 1)?)))
            })
            .collect();
        let few = parts.len() <= 8 && parts.iter().all(|(_, v)| *v >= 0.0);
        let shape = if few {
            Shape::Pie(parts)
        } else {
            let (labels, values) = parts.into_iter().map(|(l, v)| (l, Some(v))).unzip();
            Shape::Bar { labels, series: vec![(label::measure(self.scope, &measure, self.lang), values)] }
        };
        answer.chart =
            Some(Chart { title: label::measure(self.scope, &measure, self.lang), percent: false, shape });
        answer
    }

    /// `前10大客户`: what the first so many hold together.
    fn share_of_first(&self, grid: &Grid) -> String {
        let n = self.question.limit.unwrap_or(1).min(grid.rows.len());
        let sum = |column: usize| (0..n).filter_map(|r| grid.number(r, column)).sum::<f64>();
        let (name, value) = (self.measure_name(&self.first()), self.figure(&self.first(), sum(1)));
        let low = self.question.order == Order::Ascending;
        if self.zh() {
            let which = if low { "后" } else { "前" };
            let group = self.group_names();
            format!("{which} {n} 个{group}的{name}共占 **{}**（{value}）{}", percent(sum(2)), self.limits())
        } else {
            let which = if low { "bottom" } else { "top" };
            format!(
                "The {which} {n} by {} hold **{}** of {name} together ({value}){}",
                self.group_names(),
                percent(sum(2)),
                self.limits()
            )
        }
    }

    pub(super) fn share_of(&self, grid: &Grid, parts: &[Filter]) -> Answer {
        let measure = self.first();
        let part: Vec<String> = parts.iter().map(|f| self.limit(f)).collect();
        let (Some(a), Some(b), Some(share)) = (grid.number(0, 0), grid.number(0, 1), grid.number(0, 2))
        else {
            return Answer::only(format!(
                "{}{}",
                self.t("没有符合条件的数据", "No rows match"),
                self.limits()
            ));
        };
        let mut answer = Answer::only(if self.zh() {
            format!(
                "{}占{}的 **{}**（{} / {}）{}",
                part.join("，"),
                self.measure_name(&measure),
                percent(share),
                self.figure(&measure, a),
                self.figure(&measure, b),
                self.limits()
            )
        } else {
            format!(
                "{} is **{}** of {} ({} of {}){}",
                part.join(", "),
                percent(share),
                self.measure_name(&measure),
                self.figure(&measure, a),
                self.figure(&measure, b),
                self.limits()
            )
        });
        answer.findings.push(if self.zh() {
            format!("部分 {}，总体 {}。", self.figure(&measure, a), self.figure(&measure, b))
        } else {
            format!("Part {}, whole {}.", self.figure(&measure, a), self.figure(&measure, b))
        });
        let rest = b - a;
        if rest >= 0.0 && a >= 0.0 {
            let parts_text: Vec<String> = parts
                .iter()
                .map(|f| match f {
                    Filter::In { values, .. } => values.join(" / "),
                    _ => self.t("符合条件", "matching").to_owned(),
                })
                .collect();
            answer.chart = Some(Chart {
                title: label::measure(self.scope, &measure, self.lang),
                percent: false,
                shape: Shape::Pie(vec![
                    (parts_text.join(", "), a),
                    (self.t("其他", "other").to_owned(), rest),
                ]),
            });
        }
        answer
    }

    pub(super) fn change(&self, grid: &Grid, before: &Days, after: &Days, together: bool) -> Answer {
        let measure = self.first();
        let g = self.question.groups.len().min(1);
        let mut named = grid.clone();
        for (i, days) in [before, after].into_iter().enumerate() {
            if let Some(name) = named.names.get_mut(g + i) {
                name.clone_from(&days.label);
            }
        }
        let sentence = |r: usize| {
            let (b, a) = (grid.number(r, g), grid.number(r, g + 1));
            let (Some(b), Some(a)) = (b, a) else {
                return self
                    .t(
                        "其中一期没有数据，无法比较",
                        "one of the periods has no data, so they cannot be compared",
                    )
                    .to_owned();
            };
            let rate = grid.number(r, g + 3).map_or_else(|| "–".to_owned(), growth);
            if self.zh() {
                format!(
                    "{} 为 **{}**，{} 为 {}，变化 {}（**{rate}**）",
                    text(&after.label),
                    self.figure(&measure, a),
                    text(&before.label),
                    self.figure(&measure, b),
                    self.figure(&measure, a - b)
                )
            } else {
                format!(
                    "**{}** in {}, {} in {}: a change of {} (**{rate}**)",
                    self.figure(&measure, a),
                    text(&after.label),
                    self.figure(&measure, b),
                    text(&before.label),
                    self.figure(&measure, a - b)
                )
            }
        };
        let sum = grid.number(0, 0).zip(grid.number(0, 1)).filter(|_| together && is_additive(&measure));
        let sum = sum.map_or(String::new(), |(b, a)| {
            format!("{} **{}**", self.t("；合计", "; together"), self.figure(&measure, a + b))
        });
        let mut answer = if g == 0 {
            Answer::only(format!(
                "{}{} {}{sum}{}",
                self.measure_name(&measure),
                self.t("：", ":"),
                sentence(0),
                self.limits()
            ))
        } else {
            let who = text(grid.cell(0, 0).unwrap_or(""));
            let which = if self.question.order == Order::Ascending {
                self.t("增长最慢（或下降最多）", "grew the least (or fell the most)")
            } else {
                self.t("增长最快", "grew the most")
            };
            Answer::only(if self.zh() {
                format!("**{who}**的{}{which}：{}{}", self.measure_name(&measure), sentence(0), self.limits())
            } else {
                format!(
                    "**{who}** {which} in {}: {}{}",
                    self.measure_name(&measure),
                    sentence(0),
                    self.limits()
                )
            })
        };
        let mut kinds = vec![Cell::Text; g];
        kinds.extend([
            self.cell_kind(&measure),
            self.cell_kind(&measure),
            self.cell_kind(&measure),
            Cell::Growth,
        ]);
        answer.table = Some(TableView::new(&named, &kinds));
        let title = label::measure(self.scope, &measure, self.lang);
        let shape = if g == 0 {
            Shape::Bar {
                labels: vec![before.label.clone(), after.label.clone()],
                series: vec![(title.clone(), vec![grid.number(0, 0), grid.number(0, 1)])],
            }
        } else {
            Shape::Bar {
                labels: grid.texts(0),
                series: vec![(before.label.clone(), grid.numbers(1)), (after.label.clone(), grid.numbers(2))],
            }
        };
        answer.chart = Some(Chart { title, percent: label::is_percent(self.scope, &measure), shape });
        answer
    }

    pub(super) fn rows(&self, grid: &Grid, count: Option<f64>) -> Answer {
        let total = count.unwrap_or_else(|| f64::from(u32::try_from(grid.rows.len()).unwrap_or(u32::MAX)));
        let mut answer = Answer::only(if self.zh() {
            format!("符合条件的记录共 **{}** 条{}", number(total), self.limits())
        } else {
            format!("**{}** rows match{}", number(total), self.limits())
        });
        answer.table = Some(TableView::new(grid, &[]));
        answer
    }

    pub(super) fn extreme_row(&self, grid: &Grid, named: bool) -> Answer {
        let Some(value) = grid.number(0, 0) else {
            return Answer::only(format!(
                "{}{}",
                self.t("没有符合条件的数据", "No rows match"),
                self.limits()
            ));
        };
        let figure = text(grid.names.first().map_or("", String::as_str));
        let cells: Vec<String> = (1..grid.names.len())
            .take(6)
            .filter_map(|c| Some(format!("{}: {}", text(&grid.names[c]), text(grid.cell(0, c)?))))
            .collect();
        let row = cells.join(self.t("，", ", "));
        let asked = self.question.groups.iter().find_map(|g| match g {
            Group::By(c) if c.table == self.question.table => grid.cell(0, c.column + 1).map(text),
            _ => None,
        });
        let who = self.name_column().and_then(|c| grid.cell(0, c + 1)).map(text).filter(|_| named);
        let who = asked.or(who);
        let mut answer = Answer::only(match (who, self.zh()) {
            (Some(who), true) => {
                // `最大销量` → `销量最大`
                let (most, name) =
                    figure.split_at(figure.char_indices().nth(2).map_or(figure.len(), |(at, _)| at));
                format!("**{who}** 的{name}{most}，为 **{}**（{row}）{}", number(value), self.limits())
            }
            (Some(who), false) => {
                format!("**{who}** has the {figure}, **{}** ({row}){}", number(value), self.limits())
            }
            (None, true) => format!("{figure}为 **{}**，对应的记录：{row}{}", number(value), self.limits()),
            (None, false) => format!("{figure} is **{}**, in the row {row}{}", number(value), self.limits()),
        });
        answer.table = Some(TableView::new(grid, &[Cell::Number]));
        answer
    }

    /// The column that names a row: a title or name, else what is different in each row.
    fn name_column(&self) -> Option<usize> {
        let table = &self.scope.tables[self.question.table];
        let unique = |c: &crate::table::Column| c.kind == Kind::Text && c.distinct * 10 >= table.rows * 9;
        let called = |c: &crate::table::Column| {
            ["name", "title", "姓名", "名称", "标题"].iter().any(|n| c.words.ends_with(n))
        };
        let named = table.columns.iter().position(|c| called(c) && unique(c));
        named.or_else(|| table.columns.iter().position(unique))
    }
}
