//! What an answer lacks beside proven figures (SPEC V4, issue of the completion gate): the asked form, a chart that draws,
//! files that exist, and a word on checks that failed. Pure; a small list of faults goes into the one gate turn.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use ba_audit::{Body, ChartFault, Evidence, chart_faults};
use ba_protocol::audit::Audit;
use ba_protocol::file::NoteLevel;
use ba_protocol::text::{one_line, shorten};
use ba_protocol::turn::Round;
use regex::Regex;

use super::shape::{self, Shape};

/// Faults told of at once.
const MAX_FAULTS: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Shape(Shape),
    /// The chart by its number from 1.
    Chart(usize, ChartFault),
    /// A `<chart>` names a call without a table.
    ChartCall {
        call: String,
        known: Vec<String>,
    },
    ChartColumn {
        call: String,
        column: String,
        known: Vec<String>,
    },
    /// The option inside a `<chart>` is no JSON.
    ChartOption {
        call: String,
        problem: String,
    },
    NoFile(String),
    /// What a check said of a result the answer uses, and the text does not say.
    Unsaid {
        call: String,
        note: String,
    },
}

/// An answer as it would be delivered, and what it was made from.
pub struct Delivered<'a> {
    pub question: &'a str,
    /// The report as the model wrote it.
    pub written: &'a str,
    /// As it would be delivered.
    pub text: &'a str,
    pub warnings: &'a [String],
    /// Names under which files of the conversation can be had.
    pub files: &'a [String],
    /// The run made pictures.
    pub pictures: bool,
    pub evidence: &'a Evidence,
    pub steps: &'a [Round],
    pub audit: Option<&'a Audit>,
}

/// All faults of an answer, up to a cap.
pub fn find(delivered: &Delivered<'_>) -> Vec<Fault> {
    let asked = shape::missing(delivered.question, delivered.written, delivered.pictures);
    let mut found: Vec<Fault> = asked.into_iter().map(Fault::Shape).collect();
    found.extend(chart_faults(delivered.text).into_iter().map(|(at, why)| Fault::Chart(at, why)));
    found.extend(references(delivered.written, delivered.evidence));
    found.extend(files(delivered));
    found.extend(unsaid(delivered));
    found.truncate(MAX_FAULTS);
    found
}

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

static CHART: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r#"(?s)<chart\b((?:[^>"']|"[^"]*"|'[^']*')*?)(?:/\s*>|>(.*?)</chart\s*>)"#));
static ATTRIBUTE: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r#"([A-Za-z_]+)\s*=\s*(?:"([^"]*)"|'([^']*)')"#));
static FENCE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"(?s)```.*?(?:```|\z)"));

/// Charts by reference (SPEC W4) whose call, columns or option are not there.
fn references(written: &str, evidence: &Evidence) -> Vec<Fault> {
    let text = FENCE.as_ref().map_or(written.into(), |f| f.replace_all(written, ""));
    let mut found = Vec::new();
    for chart in CHART.iter().flat_map(|c| c.captures_iter(&text)) {
        let inside = chart.get(1).map_or("", |m| m.as_str());
        let attribute = |name: &str| {
            let named = ATTRIBUTE.iter().flat_map(|a| a.captures_iter(inside));
            let found = named.filter(|a| &a[1] == name).find_map(|a| a.get(2).or(a.get(3)));
            found.map(|m| m.as_str().trim().to_owned())
        };
        let call = attribute("data").unwrap_or_default();
        let columns = columns_of(&call, evidence);
        if columns.is_empty() {
            found.push(Fault::ChartCall { call: shown(&call), known: calls(evidence) });
            continue;
        }
        let named = ["x", "series", "y"].into_iter().filter_map(attribute);
        let lists: Vec<String> = named.collect();
        let wanted = lists.iter().flat_map(|list| match columns.contains(list.as_str()) {
            true => vec![list.as_str()],
            false => list.split([',', '，']).map(str::trim).collect(),
        });
        for column in wanted.filter(|c| !c.is_empty() && !columns.contains(c)) {
            let known = columns.iter().take(20).map(|c| shown(c)).collect();
            found.push(Fault::ChartColumn { call: shown(&call), column: shown(column), known });
        }
        if let Some(option) = chart.get(2).map(|m| m.as_str().trim()).filter(|o| !o.is_empty())
            && let Err(error) = serde_json::from_str::<serde_json::Value>(option)
        {
            found.push(Fault::ChartOption { call: shown(&call), problem: error.to_string() });
        }
    }
    found
}

fn columns_of<'e>(call: &str, evidence: &'e Evidence) -> BTreeSet<&'e str> {
    let is = |id: &str| id == call || id.strip_suffix(call).is_some_and(|before| before.ends_with('/'));
    let tables = evidence.sources.iter().filter(|s| !call.is_empty() && is(&s.id));
    tables
        .flat_map(|s| match &s.body {
            Body::Table { columns, rows, .. } if !rows.is_empty() => columns.as_slice(),
            _ => &[],
        })
        .map(String::as_str)
        .collect()
}

/// Calls of this run that returned rows.
fn calls(evidence: &Evidence) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for source in &evidence.sources {
        let full = matches!(&source.body, Body::Table { rows, .. } if !rows.is_empty());
        if full && !source.id.starts_with("earlier:") && !all.contains(&source.id) && all.len() < 20 {
            all.push(source.id.clone());
        }
    }
    all
}

static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\]\(\s*<?((?:sandbox:|file:)?[^()\s<>:]*\.(?:xlsx|xls|csv|tsv|pdf|docx|pptx|png|jpe?g|svg|html?|json|parquet|zip|ipynb|txt|md))>?\s*\)",
    )
});
/// Warnings of the response that name a file or code the answer refers to.
const MISSING: [&str; 3] = ["下载文件不存在: ", "引用的文件不存在: ", "引用的代码不存在: "];

fn files(delivered: &Delivered<'_>) -> Vec<Fault> {
    let warned = delivered.warnings.iter().filter_map(|w| MISSING.iter().find_map(|m| w.strip_prefix(m)));
    let mut names: Vec<String> = warned.map(str::to_owned).collect();
    for link in LINK.iter().flat_map(|l| l.captures_iter(delivered.written)).filter_map(|c| c.get(1)) {
        let decoded = decode(link.as_str());
        let last = decoded.rsplit(['/', ':']).next().unwrap_or(&decoded);
        if !delivered.files.iter().any(|f| f == last || *f == decoded) {
            names.push(shown(last));
        }
    }
    names.sort();
    names.dedup();
    names.into_iter().map(Fault::NoFile).collect()
}

/// `%E9%94%80.xlsx` as it is called.
fn decode(link: &str) -> String {
    let bytes = link.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| link.get(at + 1..at + 3)).flatten();
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// By the code of a check: words one of which a text that tells of it would use.
const SAID_BY: [(&str, &[&str]); 8] = [
    (
        "join_multiplied",
        &[
            "重复",
            "一对多",
            "多对多",
            "去重",
            "膨胀",
            "翻倍",
            "duplicat",
            "fan",
            "multipl",
            "one-to-many",
            "dedup",
        ],
    ),
    (
        "join_grew",
        &[
            "重复",
            "一对多",
            "多对多",
            "去重",
            "膨胀",
            "翻倍",
            "duplicat",
            "fan",
            "multipl",
            "one-to-many",
            "dedup",
        ],
    ),
    (
        "result_truncated",
        &["截断", "仅显示", "只显示", "前 ", "部分", "truncat", "first ", "only ", "partial", "top "],
    ),
    ("totals_included", &["合计", "小计", "总计", "汇总行", "total"]),
    (
        "blanks_left_out",
        &["空", "缺失", "未填", "剔除", "排除", "blank", "missing", "null", "empty", "exclud", "without"],
    ),
    ("duplicate_rows", &["重复", "去重", "duplicat", "repeat", "dedup", "distinct"]),
    ("duplicate_keys", &["重复", "去重", "duplicat", "repeat", "dedup", "distinct"]),
    ("numeric_text", &["文本", "转换", "字符串", "text", "cast", "convert", "string"]),
];

/// Warnings of checks on results that figures of the answer rest on, of which the text says nothing.
fn unsaid(delivered: &Delivered<'_>) -> Vec<Fault> {
    let Some(audit) = delivered.audit else { return Vec::new() };
    let used = audit.used_calls();
    let text = delivered.text.to_lowercase();
    let mut found = Vec::new();
    for result in
        delivered.steps.iter().flat_map(|s| &s.results).filter(|r| used.contains(r.tool_call_id.as_str()))
    {
        for note in result.data_notes.iter().filter(|n| n.note.level == NoteLevel::Warn) {
            let words = SAID_BY.iter().find(|(code, _)| *code == note.note.code).map(|(_, words)| *words);
            if words.is_some_and(|words| !words.iter().any(|w| text.contains(w))) {
                let fault = Fault::Unsaid {
                    call: result.tool_call_id.clone(),
                    note: shorten(&one_line(&note.note.text), 200),
                };
                if !found.contains(&fault) {
                    found.push(fault);
                }
            }
        }
    }
    found
}

fn shown(text: &str) -> String {
    shorten(&one_line(text), 80)
}

impl Fault {
    /// One line of the request.
    pub fn line(&self, chinese: bool) -> String {
        let pick = |zh: String, en: String| if chinese { zh } else { en };
        match self {
            Fault::Shape(shape) => shape_line(shape, chinese),
            Fault::Chart(at, ChartFault::Unclosed) => pick(
                format!("第 {at} 个图表画不出来：它的代码里有没有闭合的括号或引号。"),
                format!("chart {at} does not draw: a bracket or quote in its code is never closed."),
            ),
            Fault::Chart(at, ChartFault::NoData) => {
                pick(format!("第 {at} 个图表没有数据。"), format!("chart {at} has no data."))
            }
            Fault::ChartCall { call, known } => pick(
                format!(
                    "图表引用了 `{call}`，但没有这样一个返回了数据行的调用；可用的有：{}。",
                    known.join("、")
                ),
                format!(
                    "a chart refers to `{call}`, but no call of that id returned rows; there are: {}.",
                    known.join(", ")
                ),
            ),
            Fault::ChartColumn { call, column, known } => pick(
                format!("图表引用了 {call} 的列 `{column}`，但没有这一列；可用的列：{}。", known.join("、")),
                format!(
                    "a chart refers to the column `{column}` of {call}, which has no such column; it has: {}.",
                    known.join(", ")
                ),
            ),
            Fault::ChartOption { call, problem } => pick(
                format!("引用 {call} 的图表，其中的配置不是合法的 JSON：{problem}。"),
                format!("the option of the chart on {call} is not valid JSON: {problem}."),
            ),
            Fault::NoFile(name) => pick(
                format!("报告链接的文件 `{name}` 不存在：先生成它，或者去掉链接。"),
                format!(
                    "the file `{name}` that the report links to does not exist: make it, or drop the link."
                ),
            ),
            Fault::Unsaid { call, note } => pick(
                format!(
                    "{call} 的结果有一项检查未通过，而报告没有说明：{note}。请改正计算，或者在报告中说明。"
                ),
                format!(
                    "a check on the result of {call} failed and the report does not say so: {note}. Correct the computation, or say it in the report."
                ),
            ),
        }
    }
}

fn shape_line(shape: &Shape, chinese: bool) -> String {
    let (zh, en) = match shape {
        Shape::Table => {
            ("用户要求用表格回答，报告里没有表格。", "a table was asked for; the report has none.")
        }
        Shape::Chart => ("用户要求画图，报告里没有图表。", "a chart was asked for; the report has none."),
        Shape::Number => {
            ("用户问的是一个数值，报告里没有给出数值。", "a number was asked for; the report gives none.")
        }
        Shape::YesNo => {
            ("用户要求回答是或否，报告里没有。", "yes or no was asked for; the report says neither.")
        }
        Shape::Named(name) => {
            return if chinese {
                format!("用户规定了回答格式 `@{name}[…]`，报告里没有这一项。")
            } else {
                format!("the answer was to hold `@{name}[…]`; it does not.")
            };
        }
    };
    if chinese { zh } else { en }.to_owned()
}

#[cfg(test)]
mod tests;
