//! How a whole is made up: Pareto, cohorts, funnels.

use super::chart::{Chart, Shape};
use super::format::{count, number, percent, text};
use super::{Answer, Cell, Desk, TableView};
use crate::observe::Grid;
use crate::plan::label;
use crate::question::Measure;

impl Desk<'_> {
    pub(super) fn pareto(&self, grid: &Grid, part: f64) -> Answer {
        // Those before which the part is not yet reached.
        let short = |r: &usize| {
            grid.number(*r, 3).zip(grid.number(*r, 2)).is_some_and(|(cum, share)| cum - share < part - 1e-9)
        };
        let a = (0..grid.rows.len()).filter(short).count();
        let Some(cum) = a.checked_sub(1).and_then(|r| grid.number(r, 3)) else { return self.nothing() };
        let held = percent(count(a as u64) / count(grid.rows.len().max(1) as u64));
        let mut answer = Answer::only(if self.zh() {
            format!(
                "{} 个{}中的前 **{a}** 个（{held}）贡献了 **{}** 的{}{}",
                grid.rows.len(),
                self.group_names(),
                percent(cum),
                self.measure_name(&self.first()),
                self.limits()
            )
        } else {
            format!(
                "The top **{a}** of {} {} ({held}) bring **{}** of {}{}",
                grid.rows.len(),
                self.group_names(),
                percent(cum),
                self.measure_name(&self.first()),
                self.limits()
            )
        });
        answer.findings.push(
            self.t(
                "A 类累计到 80%，B 类到 95%，其余为 C 类。",
                "Class A reaches 80 %, B reaches 95 %, the rest is C.",
            )
            .to_owned(),
        );
        answer.table =
            Some(TableView::new(grid, &[Cell::Text, Cell::Number, Cell::Percent, Cell::Percent, Cell::Text]));
        answer.chart = Some(Chart {
            title: self.title(),
            percent: false,
            shape: Shape::Pareto {
                labels: grid.texts(0),
                values: grid.numbers(1),
                cumulative: grid.numbers(3),
            },
        });
        answer
    }

    /// cohort, months since, how many
    pub(super) fn cohort(&self, grid: &Grid) -> Answer {
        let mut cohorts: Vec<String> = Vec::new();
        let mut sizes: Vec<f64> = Vec::new();
        let mut cells = Vec::new();
        let mut next_month: Vec<(f64, f64)> = Vec::new();
        for r in 0..grid.rows.len() {
            let (Some(cohort), Some(months), Some(n)) =
                (grid.cell(r, 0), grid.number(r, 1), grid.number(r, 2))
            else {
                continue;
            };
            if months == 0.0 {
                cohorts.push(cohort.to_owned());
                sizes.push(n);
            }
            let Some(at) = cohorts.iter().position(|c| c == cohort) else { continue };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a small number of months"
            )]
            let month = months as usize;
            if month <= 12 && at < 24 {
                cells.push((at, month, n / sizes[at].max(1.0)));
            }
            if month == 1 {
                next_month.push((n, sizes[at]));
            }
        }
        if cohorts.is_empty() {
            return self.nothing();
        }
        let kept: f64 = next_month.iter().map(|x| x.0).sum::<f64>()
            / next_month.iter().map(|x| x.1).sum::<f64>().max(1.0);
        let mut answer = Answer::only(if self.zh() {
            format!(
                "按首次出现月份分为 {} 个同期群，次月平均留存率为 **{}**{}",
                cohorts.len(),
                percent(kept),
                self.limits()
            )
        } else {
            format!(
                "{} cohorts by month of first appearance; on average **{}** come back in the next month{}",
                cohorts.len(),
                percent(kept),
                self.limits()
            )
        });
        let width = cells.iter().map(|c| c.1).max().unwrap_or(0);
        let header = [self.t("首月", "cohort").to_owned(), self.t("人数", "size").to_owned()]
            .into_iter()
            .chain((1..=width).map(|m| format!("+{m}")))
            .collect();
        let rows = cohorts
            .iter()
            .enumerate()
            .take(24)
            .map(|(i, c)| {
                let of = |m: usize| {
                    cells.iter().find(|x| x.0 == i && x.1 == m).map_or(String::new(), |x| percent(x.2))
                };
                [text(c), number(sizes[i])].into_iter().chain((1..=width).map(of)).collect()
            })
            .collect();
        answer.table = Some(TableView { header, rows, total: cohorts.len(), cut: false });
        let columns = (0..=width).map(|m| format!("+{m}")).collect();
        answer.chart = Some(Chart {
            title: self.t("留存率（%）", "retention (%)").to_owned(),
            percent: false,
            shape: Shape::Heat { rows: cohorts.into_iter().take(24).collect(), columns, cells },
        });
        answer
    }

    pub(super) fn funnel(&self, grid: &Grid) -> Answer {
        let g = self.question.groups.len().min(1);
        let steps: Vec<String> = self
            .question
            .measures
            .iter()
            .map(|m| match m {
                Measure::Of(_, c) => label::column(self.scope, *c).to_owned(),
                _ => String::new(),
            })
            .collect();
        let n = steps.len();
        let rates = |r: usize| -> Option<f64> {
            Some(grid.number(r, g + n - 1)? / grid.number(r, g)?).filter(|v| v.is_finite())
        };
        let Some(overall) = rates(0) else { return self.nothing() };
        if g == 1 {
            let mut best: Vec<(String, f64)> =
                (0..grid.rows.len()).filter_map(|r| Some((grid.cell(r, 0)?.to_owned(), rates(r)?))).collect();
            best.sort_by(|a, b| b.1.total_cmp(&a.1));
            let Some(first) = best.first() else { return self.nothing() };
            let mut answer = Answer::only(if self.zh() {
                format!(
                    "总转化率最高的{}是 **{}**（{}）{}",
                    self.group_names(),
                    text(&first.0),
                    percent(first.1),
                    self.limits()
                )
            } else {
                format!(
                    "**{}** has the best overall conversion by {} ({}){}",
                    text(&first.0),
                    self.group_names(),
                    percent(first.1),
                    self.limits()
                )
            });
            answer.table = Some(TableView::new(grid, &[Cell::Text]));
            let (labels, values) = best.into_iter().map(|(l, v)| (l, Some(v))).unzip();
            answer.chart = Some(Chart {
                title: self.t("总转化率", "overall conversion").to_owned(),
                percent: true,
                shape: Shape::Bar {
                    labels,
                    series: vec![(self.t("总转化率", "overall conversion").to_owned(), values)],
                },
            });
            return answer;
        }
        let values: Vec<f64> = (0..n).filter_map(|i| grid.number(0, i)).collect();
        let worst = (1..values.len())
            .min_by(|a, b| (values[*a] / values[a - 1]).total_cmp(&(values[*b] / values[b - 1])));
        let drop = worst.map_or(String::new(), |i| {
            if self.zh() {
                format!(
                    "；流失最多的一步是 {} → {}（只有 {} 通过）",
                    text(&steps[i - 1]),
                    text(&steps[i]),
                    percent(values[i] / values[i - 1])
                )
            } else {
                format!(
                    "; the weakest step is {} → {} ({} pass)",
                    text(&steps[i - 1]),
                    text(&steps[i]),
                    percent(values[i] / values[i - 1])
                )
            }
        });
        let mut answer = Answer::only(if self.zh() {
            format!(
                "从 {} 到 {} 的总转化率为 **{}**{drop}{}",
                text(&steps[0]),
                text(&steps[n - 1]),
                percent(overall),
                self.limits()
            )
        } else {
            format!(
                "Overall conversion from {} to {} is **{}**{drop}{}",
                text(&steps[0]),
                text(&steps[n - 1]),
                percent(overall),
                self.limits()
            )
        });
        let header = [
            self.t("步骤", "step"),
            self.t("数量", "count"),
            self.t("较上一步", "of the step before"),
            self.t("较第一步", "of the first step"),
        ]
        .map(str::to_owned)
        .to_vec();
        let rows = values
            .iter()
            .enumerate()
            .map(|(i, v)| {
                vec![
                    text(&steps[i]),
                    number(*v),
                    if i == 0 { String::new() } else { percent(v / values[i - 1]) },
                    percent(v / values[0]),
                ]
            })
            .collect();
        answer.table = Some(TableView { header, rows, total: n, cut: false });
        answer.chart = Some(Chart {
            title: self.t("转化漏斗", "funnel").to_owned(),
            percent: false,
            shape: Shape::Funnel(steps.into_iter().zip(values).collect()),
        });
        answer
    }
}
