//! How figures are spread: distributions, correlation, outliers.

use super::chart::{Chart, Shape};
use super::format::{number, percent, text};
use super::{Answer, Cell, Desk, TableView};
use crate::observe::Grid;
use crate::plan::label;
use crate::question::Measure;

impl Desk<'_> {
    /// [group,] n, min, q1, median, q3, max, mean, sd
    pub(super) fn distribution(&self, grid: &Grid, bins: Option<&Grid>) -> Answer {
        let g = self.question.groups.len().min(1);
        let five = |r: usize| -> Option<[f64; 5]> {
            Some([
                grid.number(r, g + 1)?,
                grid.number(r, g + 2)?,
                grid.number(r, g + 3)?,
                grid.number(r, g + 4)?,
                grid.number(r, g + 5)?,
            ])
        };
        let Some(all) = five(0) else { return self.nothing() };
        let Measure::Of(_, column) = self.first() else { return self.nothing() };
        let name = text(label::column(self.scope, column));
        let mean = grid.number(0, g + 6).map_or_else(|| "–".to_owned(), number);
        let mut answer = if g == 0 {
            Answer::only(if self.zh() {
                format!(
                    "{name}的中位数为 **{}**，中间一半在 {} 到 {} 之间，范围 {} 到 {}，平均 {mean}{}",
                    number(all[2]),
                    number(all[1]),
                    number(all[3]),
                    number(all[0]),
                    number(all[4]),
                    self.limits()
                )
            } else {
                format!(
                    "The median of {name} is **{}**; the middle half lies between {} and {}, the range is {} to {}, the mean {mean}{}",
                    number(all[2]),
                    number(all[1]),
                    number(all[3]),
                    number(all[0]),
                    number(all[4]),
                    self.limits()
                )
            })
        } else {
            let who = text(grid.cell(0, 0).unwrap_or(""));
            Answer::only(if self.zh() {
                format!("{name}中位数最高的是 **{who}**（{}）{}", number(all[2]), self.limits())
            } else {
                format!("**{who}** has the highest median {name} ({}){}", number(all[2]), self.limits())
            })
        };
        let mut kinds = vec![Cell::Text; g];
        kinds.extend([Cell::Number; 8]);
        answer.table = Some(TableView::new(grid, &kinds));
        answer.chart = Some(match bins {
            Some(bins)
                if self.question.chart != Some(crate::question::ChartKind::Box) && bins.rows.len() > 1 =>
            {
                let labels = (0..bins.rows.len())
                    .map(|r| {
                        format!(
                            "{}–{}",
                            number(bins.number(r, 0).unwrap_or(0.0)),
                            number(bins.number(r, 1).unwrap_or(0.0))
                        )
                    })
                    .collect();
                Chart {
                    title: label::column(self.scope, column).to_owned(),
                    percent: false,
                    shape: Shape::Bar {
                        labels,
                        series: vec![(self.t("数量", "count").to_owned(), bins.numbers(2))],
                    },
                }
            }
            _ => {
                let labels =
                    if g == 0 { vec![label::column(self.scope, column).to_owned()] } else { grid.texts(0) };
                let boxes = (0..grid.rows.len()).filter_map(five).collect();
                Chart {
                    title: label::column(self.scope, column).to_owned(),
                    percent: false,
                    shape: Shape::Box { labels, boxes },
                }
            }
        });
        answer
    }

    pub(super) fn correlation(&self, grid: &Grid, points: Option<&Grid>) -> Answer {
        let (Some(r), Some(n)) = (grid.number(0, 0), grid.number(0, 1)) else {
            return Answer::only(self.t("数据不足或其中一列没有变化，无法计算相关系数", "There is too little data, or one column never changes, so there is no correlation to give").to_owned());
        };
        let [Measure::Of(_, a), Measure::Of(_, b)] = self.question.measures[..] else {
            return self.nothing();
        };
        let [x, y] = [a, b].map(|c| label::column(self.scope, c).to_owned());
        let (a, b) = (text(&x), text(&y));
        let strength = match r.abs() {
            x if x >= 0.8 => self.t("强", "strong"),
            x if x >= 0.5 => self.t("中等", "moderate"),
            x if x >= 0.2 => self.t("弱", "weak"),
            _ => self.t("几乎没有", "almost no"),
        };
        let sign = if r >= 0.0 { self.t("正", "positive") } else { self.t("负", "negative") };
        let mut answer = Answer::only(if self.zh() {
            format!(
                "{a}与{b}的皮尔逊相关系数为 **{r:.3}**（{strength}{sign}相关，{} 行）{}",
                number(n),
                self.limits()
            )
        } else {
            format!(
                "The Pearson correlation of {a} and {b} is **{r:.3}** ({strength} {sign} correlation, {} rows){}",
                number(n),
                self.limits()
            )
        });
        answer.findings.push(self.t("相关不等于因果。", "Correlation is not causation.").to_owned());
        if let Some(points) = points {
            let dots: Vec<(f64, f64)> = (0..points.rows.len())
                .filter_map(|i| Some((points.number(i, 0)?, points.number(i, 1)?)))
                .collect();
            let low = dots.iter().map(|d| d.0).fold(f64::MAX, f64::min);
            let high = dots.iter().map(|d| d.0).fold(f64::MIN, f64::max);
            let line = grid
                .number(0, 2)
                .zip(grid.number(0, 3))
                .filter(|_| low < high)
                .map(|(s, i)| [(low, s * low + i), (high, s * high + i)]);
            answer.chart = Some(Chart {
                title: format!("{x} × {y}"),
                percent: false,
                shape: Shape::Scatter { x, y, points: dots, line },
            });
        }
        answer
    }

    pub(super) fn outliers(&self, grid: &Grid, rows: Option<&Grid>) -> Answer {
        if !self.question.groups.is_empty() {
            return self.odd_periods(grid);
        }
        let Measure::Of(_, column) = self.first() else { return self.nothing() };
        let get = |c| grid.number(0, c);
        let (Some(low), Some(high), Some(below), Some(above), Some(n)) =
            (get(0), get(1), get(2), get(3), get(4))
        else {
            return self.nothing();
        };
        let name = text(label::column(self.scope, column));
        let share = if n > 0.0 { percent((below + above) / n) } else { "0%".to_owned() };
        let mut answer = Answer::only(if self.zh() {
            format!(
                "{name}有 **{}** 个异常值（占 {share}）：低于 {} 的 {} 个，高于 {} 的 {} 个{}",
                number(below + above),
                number(low),
                number(below),
                number(high),
                number(above),
                self.limits()
            )
        } else {
            format!(
                "{name} has **{}** outliers ({share}): {} below {}, {} above {}{}",
                number(below + above),
                number(below),
                number(low),
                number(above),
                number(high),
                self.limits()
            )
        });
        answer.findings.push(
            self.t(
                "判据：超出四分位距 1.5 倍（IQR）。",
                "Rule: more than 1.5 interquartile ranges outside the quartiles.",
            )
            .to_owned(),
        );
        answer.table = rows.filter(|r| !r.rows.is_empty()).map(|r| TableView::new(r, &[]));
        answer
    }

    fn odd_periods(&self, grid: &Grid) -> Answer {
        let odd: Vec<usize> =
            (0..grid.rows.len()).filter(|r| grid.number(*r, 2).is_some_and(|z| z.abs() >= 2.0)).collect();
        let listed: Vec<String> = odd
            .iter()
            .take(6)
            .map(|r| {
                format!(
                    "**{}** ({})",
                    text(grid.cell(*r, 0).unwrap_or("")),
                    number(grid.number(*r, 1).unwrap_or(0.0))
                )
            })
            .collect();
        let name = self.measure_name(&self.first());
        let mut answer = Answer::only(match (odd.is_empty(), self.zh()) {
            (true, true) => format!("{name}没有偏离均值 2 个标准差以上的时期{}", self.limits()),
            (true, false) => format!(
                "No period of {name} is more than 2 standard deviations from the mean{}",
                self.limits()
            ),
            (false, true) => {
                format!("{name}有 **{}** 个异常时期：{}{}", odd.len(), listed.join("、"), self.limits())
            }
            (false, false) => format!(
                "{name} has **{}** unusual periods: {}{}",
                odd.len(),
                listed.join(", "),
                self.limits()
            ),
        });
        answer.table = Some(TableView::new(grid, &[Cell::Text, Cell::Number, Cell::Number]));
        answer.chart = Some(Chart {
            title: self.title(),
            percent: false,
            shape: Shape::Line { labels: grid.texts(0), series: vec![(self.title(), grid.numbers(1))] },
        });
        answer
    }
}
