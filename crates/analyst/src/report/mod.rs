//! From results to a report: the answer in one sentence, a table, a chart, findings, the reading that was chosen, the
//! method. Uses only figures that are in the results.

mod answers;
pub mod chart;
mod compare;
pub mod format;
pub mod notes;
mod quality;
pub mod refuse;
mod series;
mod spread;
mod structure;

use std::collections::HashMap;

use ba_protocol::CodeBlock;
use ba_protocol::structured::Report;

use crate::norm::Lang;
use crate::observe::Grid;
use crate::plan::Query;
use crate::question::{Intent, Question};
use crate::scope::Scope;
use chart::Chart;

/// Rows of a table shown in a report; the download has them all.
const SHOWN_ROWS: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    Text,
    Number,
    Percent,
    /// A share with its sign.
    Growth,
}

/// A table for people: cells are already safe text.
#[derive(Debug, Clone, PartialEq)]
pub struct TableView {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub total: usize,
    pub cut: bool,
}

impl TableView {
    /// Formats a grid; columns without a kind are text, numbers where they look like it.
    fn new(grid: &Grid, kinds: &[Cell]) -> Self {
        let shown = |row: usize, column: usize| {
            let raw = grid.cell(row, column);
            let kind = kinds.get(column).copied().unwrap_or(Cell::Text);
            match (kind, raw.and_then(crate::observe::number)) {
                (Cell::Number, Some(n)) => format::number(n),
                (Cell::Percent, Some(n)) => format::percent(n),
                (Cell::Growth, Some(n)) => format::growth(n),
                _ => format::text(raw.unwrap_or("–")),
            }
        };
        let rows =
            (0..grid.rows.len()).map(|r| (0..grid.names.len()).map(|c| shown(r, c)).collect()).collect();
        Self {
            header: grid.names.iter().map(|n| format::text(n)).collect(),
            rows,
            total: grid.rows.len(),
            cut: grid.cut,
        }
    }

    fn markdown(&self, lang: Lang) -> String {
        let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let mut out = vec![line(&self.header), line(&vec!["---".to_owned(); self.header.len()])];
        let newest = self.is_series();
        let from = if newest { self.rows.len().saturating_sub(SHOWN_ROWS) } else { 0 };
        out.extend(self.rows.iter().skip(from).take(SHOWN_ROWS).map(|r| line(r)));
        if self.rows.len() > SHOWN_ROWS || self.cut {
            out.push(String::new());
            out.push(match lang {
                Lang::Zh => format!(
                    "（显示{} {} 行，共 {}{} 行）",
                    if newest { "最近" } else { "前" },
                    SHOWN_ROWS.min(self.rows.len()),
                    self.total,
                    if self.cut { "+" } else { "" }
                ),
                Lang::En => format!(
                    "({} {} of {}{} rows)",
                    if newest { "last" } else { "first" },
                    SHOWN_ROWS.min(self.rows.len()),
                    self.total,
                    if self.cut { "+" } else { "" }
                ),
            });
        }
        out.join("\n")
    }

    /// Whether the rows go forward in time: then the newest are what a shortened table keeps.
    fn is_series(&self) -> bool {
        let times: Vec<&str> = self.rows.iter().filter_map(|r| r.first()).map(String::as_str).collect();
        let forward = times.windows(2).all(|pair| pair[0] <= pair[1]) && times.first() < times.last();
        forward && times.iter().all(|text| is_time(text))
    }
}

/// `2024`, `2024-03`, `2024-03-05`, `2024-Q1`: texts that sort as the times they name.
fn is_time(text: &str) -> bool {
    let year = |s: &str| s.len() == 4 && (s.starts_with("19") || s.starts_with("20"));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let quarter = |s: &str| matches!(s.as_bytes(), [b'Q', b'1'..=b'4']);
    let mut parts = text.split(' ').next().unwrap_or_default().split('-');
    let begins = parts.next().is_some_and(|first| year(first) && digits(first));
    begins && parts.all(|part| quarter(part) || (part.len() == 2 && digits(part)))
}

/// The parts of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    pub headline: String,
    pub table: Option<TableView>,
    pub chart: Option<Chart>,
    pub findings: Vec<String>,
}

impl Answer {
    fn only(headline: String) -> Self {
        Self { headline, ..Self::default() }
    }
}

/// What an answer is written from.
pub struct Desk<'a> {
    pub scope: &'a Scope<'a>,
    pub question: &'a Question,
    pub lang: Lang,
    pub queries: &'a [Query],
    pub results: &'a HashMap<&'static str, Grid>,
    /// Makes ids unique within a conversation.
    pub turn: usize,
    /// A file the run has made for download.
    pub download: Option<&'a str>,
}

impl Desk<'_> {
    pub(crate) fn zh(&self) -> bool {
        self.lang == Lang::Zh
    }

    pub(crate) fn t<'b>(&self, zh: &'b str, en: &'b str) -> &'b str {
        self.lang.pick(zh, en)
    }

    /// The answer, or nothing when a result that is needed is missing.
    pub fn answer(&self) -> Option<Answer> {
        if self.question.intent == Intent::Columns {
            return Some(self.columns());
        }
        let grid = self.results.get("main")?;
        let other = |id: &str| self.results.get(id);
        Some(match &self.question.intent {
            Intent::Value => self.value(grid),
            Intent::FirstSeen { .. } if self.question.groups.is_empty() => self.value(grid),
            Intent::Breakdown | Intent::Rank | Intent::Trend | Intent::FirstSeen { .. } => self.grouped(grid),
            Intent::Share => self.share(grid),
            Intent::ShareOf { parts } => self.share_of(grid, parts),
            Intent::Cumulative | Intent::Moving(_) => self.windowed(grid),
            Intent::MeanPer(grain) => self.mean_per(grid, *grain),
            Intent::GrowthSeries(against) => self.growth_series(grid, *against),
            Intent::Change { before, after, together, .. } => self.change(grid, before, after, *together),
            Intent::Distribution => self.distribution(grid, other("bins")),
            Intent::Correlation => self.correlation(grid, other("points")),
            Intent::Outliers => self.outliers(grid, other("rows")),
            Intent::Pareto { part } => self.pareto(grid, *part),
            Intent::Cohort { .. } => self.cohort(grid),
            Intent::Funnel { .. } => self.funnel(grid),
            Intent::Forecast { periods, linear, last } => self.forecast(grid, *periods, *linear, *last),
            Intent::Missing => self.missing(grid),
            Intent::Repeats { column, once } => self.repeats(grid, *column, *once),
            Intent::Duplicates => self.duplicates(grid),
            Intent::Describe => self.describe(grid, other("groups"), other("months")),
            Intent::Columns => return None,
            Intent::Preview => self.preview(grid),
            Intent::Rows => self.rows(grid, other("count").and_then(|g| g.number(0, 0))),
            Intent::ExtremeRow { named } => self.extreme_row(grid, *named),
        })
    }

    /// The whole report.
    pub fn report(&self) -> Option<Report> {
        let answer = self.answer()?;
        let end = self.t("。", ".");
        let mut parts = vec![format!("{}{end}", answer.headline)];
        let notes = self.notes();
        if !notes.is_empty() {
            parts.push(notes.iter().map(|n| format!("> {n}")).collect::<Vec<_>>().join("\n"));
        }
        if let Some(table) = &answer.table {
            parts.push(table.markdown(self.lang));
        }
        if let Some(chart) = answer.chart.clone().and_then(|c| c.reshaped(self.question.chart)) {
            parts.push(chart.html(&format!("chart_{}_1", self.turn), self.lang));
        }
        if !answer.findings.is_empty() {
            parts.push(answer.findings.iter().map(|f| format!("- {f}")).collect::<Vec<_>>().join("\n"));
        }
        let code_blocks = self.code();
        parts.push(self.method(&code_blocks));
        parts.push(refuse::signature(self.lang).to_owned());
        Some(Report {
            content: parts.join("\n\n"),
            recommended_questions: self.recommended(),
            download_links: self.download.map(str::to_owned).into_iter().collect(),
            code_blocks,
            ..Report::default()
        })
    }

    fn code(&self) -> Vec<CodeBlock> {
        let block = |query: &Query| CodeBlock {
            code_id: format!("code_offline_{}_{}", self.turn, query.id),
            code: query.sql.clone(),
            language: "sql".to_owned(),
            description: self.t("离线分析器执行的查询", "The query the offline analyst ran").to_owned(),
        };
        self.queries.iter().map(block).collect()
    }

    fn method(&self, code: &[CodeBlock]) -> String {
        let table = &self.scope.tables[self.question.table];
        let refs: Vec<String> = code.iter().map(|c| format!("<code_ref>{}</code_ref>", c.code_id)).collect();
        let name = format::text(&table.filename);
        let said = match (refs.is_empty(), self.lang) {
            (true, Lang::Zh) => format!("**方法**：读取 {name} 的结构信息。"),
            (true, Lang::En) => format!("**Method**: read from the profile of {name}."),
            (false, Lang::Zh) => format!("**方法**：对 {name} 执行 SQL 计算。{}", refs.join(" ")),
            (false, Lang::En) => format!("**Method**: SQL over {name}. {}", refs.join(" ")),
        };
        self.filled().map_or(said.clone(), |filled| format!("{said} {filled}"))
    }

    /// Cells that were merged in the file hold what they showed. Doubts, totals left out and labels filled down travel with
    /// every answer as data notes; this step does not.
    fn filled(&self) -> Option<String> {
        let joined = self.question.joins.iter().map(|j| j.table);
        let used = std::iter::once(self.question.table).chain(joined);
        let notes = used.flat_map(|t| &self.scope.tables[t].cleaned).filter(|n| n.code == "merged_filled");
        let columns = notes.filter_map(|n| n.values.get("columns")?.as_array());
        let mut names: Vec<String> = columns.flatten().filter_map(|c| c.as_str()).map(format::text).collect();
        names.dedup();
        (!names.is_empty()).then(|| match self.lang {
            Lang::Zh => format!("读入时已按合并单元格填充：{}。", names.join("、")),
            Lang::En => format!("Merged cells were filled when the file was read: {}.", names.join(", ")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(first: impl Fn(usize) -> String) -> String {
        let rows: Vec<Vec<String>> = (0..30).map(|i| vec![first(i), i.to_string()]).collect();
        let header = vec!["t".to_owned(), "n".to_owned()];
        TableView { header, total: rows.len(), rows, cut: false }.markdown(Lang::En)
    }

    #[test]
    fn a_shortened_series_keeps_its_newest_rows() {
        let months = view(|i| format!("{}-{:02}", 2022 + i / 12, i % 12 + 1));
        assert!(months.contains("| 2024-06 | 29 |") && !months.contains("| 2022-01 |"), "{months}");
        assert!(months.ends_with("(last 20 of 30 rows)"));
        let names = view(|i| format!("shop {i:02}"));
        assert!(names.contains("| shop 00 | 0 |") && names.ends_with("(first 20 of 30 rows)"), "{names}");
        let backward = view(|i| format!("{}", 2099 - i));
        assert!(backward.contains("| 2099 | 0 |") && backward.ends_with("(first 20 of 30 rows)"));
    }
}
