//! Charts by reference (SPEC W4): `<chart data="call_2" kind="bar" x="…" y="…"/>` becomes `{{CHART:N}}` and an ECharts option whose data
//! are the stored result of that call. The model types no figure of it; a tag that cannot be drawn becomes a readable note.

mod data;
mod option;
mod tag;

use std::fmt;

use ba_audit::Evidence;
use ba_protocol::api::ChartRef;

use super::fences::{self, Piece};
use super::shown;
use data::Frame;
use tag::Tag;

/// Charts of one answer.
const MAX_CHARTS: usize = 20;

/// Why a chart cannot be drawn. `Display` is what a person reads in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChartFault {
    NoData,
    UnknownCall { call: String, known: Vec<String> },
    NoTable { call: String },
    UnknownColumn { column: String, columns: Vec<String> },
    NotNumeric { column: String },
    UnknownKind { kind: String },
    BadOption { problem: String },
    TooMany,
}

/// A chart tag that cannot be drawn: the tag, and why. For whoever asks the model to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultyChart {
    pub tag: String,
    pub fault: ChartFault,
}

pub(super) struct Resolved {
    pub text: String,
    pub charts: Vec<ChartRef>,
    pub faults: Vec<FaultyChart>,
}

/// Whether a report has a chart tag at all: most have none, and need no evidence.
pub fn wanted(content: &str) -> bool {
    content.contains("<chart")
}

/// The chart tags of a report that cannot be drawn from this evidence (nearest call first).
pub fn faults(content: &str, evidence: &Evidence) -> Vec<FaultyChart> {
    resolve(content, evidence).faults
}

/// Replaces every chart tag outside of fences, and defuses placeholders that the model typed itself.
pub(super) fn resolve(content: &str, evidence: &Evidence) -> Resolved {
    let mut found =
        Resolved { text: String::with_capacity(content.len()), charts: Vec::new(), faults: Vec::new() };
    for piece in fences::split(content) {
        match piece {
            Piece::Fence { whole, .. } => found.text.push_str(whole),
            Piece::Prose(prose) => {
                let prose = prose.replace("{{CHART:", "{\u{2060}{CHART:");
                let mut rest = prose.as_str();
                while let Some((before, tag, after)) = tag::next(rest) {
                    found.text.push_str(before);
                    found.place(&tag, evidence);
                    rest = after;
                }
                found.text.push_str(rest);
            }
        }
    }
    found
}

impl Resolved {
    fn place(&mut self, tag: &Tag<'_>, evidence: &Evidence) {
        let index = self.charts.len() + 1;
        match drawn(tag, evidence, index) {
            Ok(chart) => {
                self.charts.push(chart);
                // A paragraph of its own: a chart is a block.
                self.text.push_str(&format!("\n\n{{{{CHART:{index}}}}}\n\n"));
            }
            Err(fault) => {
                self.text.push_str(&format!("（{fault}）"));
                self.faults.push(FaultyChart { tag: shown(tag.whole), fault });
            }
        }
    }
}

fn drawn(tag: &Tag<'_>, evidence: &Evidence, index: usize) -> Result<ChartRef, ChartFault> {
    if index > MAX_CHARTS {
        return Err(ChartFault::TooMany);
    }
    let call = tag.get("data").filter(|call| !call.is_empty()).ok_or(ChartFault::NoData)?;
    let named: Vec<&str> = tag.columns();
    let frame = Frame::find(evidence, call, &named)?;
    match tag.body {
        Some(body) => option::given(tag, body, &frame, index),
        None => option::built(tag, &frame, index),
    }
}

impl fmt::Display for ChartFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| names.iter().map(|name| shown(name)).collect::<Vec<_>>().join(", ");
        match self {
            Self::NoData => write!(f, "图表没有写明数据来自哪个调用 / the chart names no call"),
            Self::UnknownCall { call, known } => write!(
                f,
                "图表的数据 {} 不存在，可用的有 / no such call; there are: {}",
                plain(call),
                plain(&list(known))
            ),
            Self::NoTable { call } => {
                write!(f, "{} 没有返回表格，无法画图 / that call returned no table", plain(call))
            }
            Self::UnknownColumn { column, columns } => write!(
                f,
                "图表用到的列 {} 不在结果里，结果的列是 / no such column; the columns are: {}",
                plain(column),
                plain(&list(columns))
            ),
            Self::NotNumeric { column } => {
                write!(f, "图表的列 {} 里没有数字 / the column holds no numbers", plain(column))
            }
            Self::UnknownKind { kind } => write!(
                f,
                "不支持的图表类型 {}，可用 / kind must be one of: {}",
                plain(kind),
                option::KINDS.join(", ")
            ),
            Self::BadOption { problem } => {
                write!(f, "图表的 option 读不懂 / the option cannot be read: {}", plain(problem))
            }
            Self::TooMany => {
                write!(f, "一个回答最多 {MAX_CHARTS} 张图 / at most {MAX_CHARTS} charts in one answer")
            }
        }
    }
}

/// Without characters that Markdown or HTML would act on.
fn plain(text: &str) -> String {
    shown(text).replace(['<', '>', '&', '[', ']', '`', '*', '{', '}', '\\', '|'], "")
}

#[cfg(test)]
mod tests;
