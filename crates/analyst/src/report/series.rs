//! Figures along time: running totals, averages per period, growth, forecasts.

use super::chart::{Chart, Shape};
use super::format::{growth, number, percent, text};
use super::{Answer, Cell, Desk, TableView};
use crate::forecast;
use crate::observe::Grid;
use crate::plan::label;
use crate::question::{Against, Grain};

impl Desk<'_> {
    pub(super) fn title(&self) -> String {
        label::measure(self.scope, &self.first(), self.lang)
    }

    pub(super) fn nothing(&self) -> Answer {
        Answer::only(format!("{}{}", self.t("没有符合条件的数据", "No rows match"), self.limits()))
    }

    /// period, figure, running figure
    pub(super) fn windowed(&self, grid: &Grid) -> Answer {
        let Some(last) = grid.rows.len().checked_sub(1) else { return self.nothing() };
        let (label, value) = (
            text(grid.cell(last, 0).unwrap_or("")),
            grid.number(last, 2).map_or_else(|| "–".to_owned(), number),
        );
        let what = text(grid.names.get(2).map_or("", String::as_str));
        let mut answer = Answer::only(if self.zh() {
            format!(
                "截至 {label}，{}的{what}为 **{value}**{}",
                self.measure_name(&self.first()),
                self.limits()
            )
        } else {
            format!(
                "By {label} the {what} of {} is **{value}**{}",
                self.measure_name(&self.first()),
                self.limits()
            )
        });
        answer.table = Some(TableView::new(grid, &[Cell::Text, Cell::Number, Cell::Number]));
        let series = vec![(grid.names[1].clone(), grid.numbers(1)), (grid.names[2].clone(), grid.numbers(2))];
        answer.chart = Some(Chart {
            title: self.title(),
            percent: false,
            shape: Shape::Line { labels: grid.texts(0), series },
        });
        answer
    }

    pub(super) fn mean_per(&self, grid: &Grid, grain: Grain) -> Answer {
        let (Some(mean), Some(n)) = (grid.number(0, 0), grid.number(0, 1)) else { return self.nothing() };
        let unit = label::grain(grain, self.lang);
        let mut answer = Answer::only(if self.zh() {
            format!(
                "{}按{unit}平均为 **{}**（共 {} 期）{}",
                self.measure_name(&self.first()),
                number(mean),
                number(n),
                self.limits()
            )
        } else {
            format!(
                "{} per {unit} averages **{}** over {} periods{}",
                self.measure_name(&self.first()),
                number(mean),
                number(n),
                self.limits()
            )
        });
        if let (Some(low), Some(high)) = (grid.number(0, 2), grid.number(0, 3)) {
            answer.findings.push(if self.zh() {
                format!("最小一期 {}，最大一期 {}。", number(low), number(high))
            } else {
                format!("Smallest {}, largest {}.", number(low), number(high))
            });
        }
        answer
    }

    /// period, figure, figure before, growth
    pub(super) fn growth_series(&self, grid: &Grid, against: Against) -> Answer {
        let rates: Vec<(usize, f64)> =
            (0..grid.rows.len()).filter_map(|r| grid.number(r, 3).map(|v| (r, v))).collect();
        let kind = match against {
            Against::YearBefore => self.t("同比", "year-over-year growth"),
            Against::PreviousPeriod => self.t("环比", "period-over-period growth"),
        };
        let Some((last, rate)) = rates.last().copied() else {
            return Answer::only(
                self.t(
                    "没有可比的前期数据，无法计算增长率",
                    "There is no earlier period to compare with, so no growth can be computed",
                )
                .to_owned(),
            );
        };
        let best = rates.iter().copied().fold((last, rate), |b, x| if x.1 > b.1 { x } else { b });
        let worst = rates.iter().copied().fold((last, rate), |b, x| if x.1 < b.1 { x } else { b });
        let at = |r: usize| text(grid.cell(r, 0).unwrap_or(""));
        let mut answer = Answer::only(if self.zh() {
            format!(
                "{}最近一期 {} 的{kind}为 **{}**；最高 {}（{}），最低 {}（{}）{}",
                self.measure_name(&self.first()),
                at(last),
                growth(rate),
                at(best.0),
                growth(best.1),
                at(worst.0),
                growth(worst.1),
                self.limits()
            )
        } else {
            format!(
                "{kind} of {} in the latest period, {}, is **{}**; the best is {} ({}), the worst {} ({}){}",
                self.measure_name(&self.first()),
                at(last),
                growth(rate),
                at(best.0),
                growth(best.1),
                at(worst.0),
                growth(worst.1),
                self.limits()
            )
        });
        answer.table = Some(TableView::new(grid, &[Cell::Text, Cell::Number, Cell::Number, Cell::Growth]));
        answer.chart = Some(Chart {
            title: format!("{} {}", self.title(), grid.names.get(3).map_or("", String::as_str)),
            percent: true,
            shape: Shape::Line {
                labels: grid.texts(0),
                series: vec![(grid.names[3].clone(), grid.numbers(3))],
            },
        });
        answer
    }

    pub(super) fn forecast(&self, grid: &Grid, periods: usize, linear: bool, last: bool) -> Answer {
        let known: Vec<f64> = grid.numbers(1).into_iter().flatten().collect();
        let Some(result) = forecast::forecast(&grid.texts(0), &known, periods, linear) else {
            return Answer::only(
                self.t(
                    "历史数据不足（至少需要 6 个月），不做预测",
                    "There is too little history (6 months are needed), so no forecast is made",
                )
                .to_owned(),
            );
        };
        let asked = if last { result.ahead.last() } else { result.ahead.first() };
        let Some((month, value)) = asked.cloned() else { return self.nothing() };
        let method = if result.seasonal {
            self.t("线性趋势 + 月度季节性", "linear trend with monthly seasonality")
        } else {
            self.t("线性趋势", "linear trend")
        };
        let total: f64 = result.ahead.iter().map(|x| x.1).sum();
        let mut answer = Answer::only(if periods == 1 || last {
            if self.zh() {
                format!(
                    "{} 的{}预测值约为 **{}**（{method}，是估计而非数据）{}",
                    text(&month),
                    self.measure_name(&self.first()),
                    number(coarse(value)),
                    self.limits()
                )
            } else {
                format!(
                    "{} in {} is forecast at about **{}** ({method}; an estimate, not data){}",
                    self.measure_name(&self.first()),
                    text(&month),
                    number(coarse(value)),
                    self.limits()
                )
            }
        } else if self.zh() {
            format!(
                "未来 {periods} 个月{}预测合计约为 **{}**（{method}，是估计而非数据）{}",
                self.measure_name(&self.first()),
                number(coarse(total)),
                self.limits()
            )
        } else {
            format!(
                "{} over the next {periods} months is forecast at about **{}** in all ({method}; an estimate, not data){}",
                self.measure_name(&self.first()),
                number(coarse(total)),
                self.limits()
            )
        });
        if let Some(error) = result.error {
            answer.findings.push(if self.zh() {
                format!("用同样的方法回测最后 {} 个月，平均误差 {}。", result.tested, percent(error))
            } else {
                format!(
                    "Tested on the last {} months, the same method was off by {} on average.",
                    result.tested,
                    percent(error)
                )
            });
        }
        let header = vec![text(&grid.names[0]), self.t("预测", "forecast").to_owned()];
        answer.table = Some(TableView {
            header,
            rows: result.ahead.iter().map(|(m, v)| vec![text(m), number(coarse(*v))]).collect(),
            total: periods,
            cut: false,
        });
        let labels: Vec<String> =
            grid.texts(0).into_iter().chain(result.ahead.iter().map(|a| a.0.clone())).collect();
        let history = known.iter().map(|v| Some(*v)).chain(result.ahead.iter().map(|_| None)).collect();
        let ahead = known
            .iter()
            .enumerate()
            .map(|(i, v)| (i + 1 == known.len()).then_some(*v))
            .chain(result.ahead.iter().map(|a| Some(coarse(a.1))))
            .collect();
        answer.chart = Some(Chart {
            title: self.title(),
            percent: false,
            shape: Shape::Line {
                labels,
                series: vec![
                    (self.t("实际", "actual").to_owned(), history),
                    (self.t("预测", "forecast").to_owned(), ahead),
                ],
            },
        });
        answer
    }
}

/// As many digits as an estimate deserves.
fn coarse(value: f64) -> f64 {
    if value.abs() < 1000.0 { (value * 100.0).round() / 100.0 } else { value.round() }
}
