//! Compression without a model: the lines that matter, by importance score (SPEC X4, EXTRACT), or the first words
//! (TRUNCATE). The weights are explained in `docs/context.md`.

use std::sync::LazyLock;

use ba_protocol::text::{one_line, shorten};
use ba_protocol::{FileFacts, Round, ToolResult, synopsis};
use regex::Regex;

use super::tokens::MemoCounter;

/// Tokens one older round may keep.
const PER_ROUND: usize = 160;
const MAX_LINE: usize = 240;
const OBSERVATION: usize = 160;

static PATTERNS: LazyLock<Vec<(Regex, i32)>> = LazyLock::new(|| {
    let table = [
        // A figure with a unit, a percentage, or thousands separators.
        (
            r"\d[\d,.]*\s*(?:%|％|万|亿|元|件|人|个|天|月|年|倍|pp|USD|CNY|RMB|[kKmM]\b)|[¥$€]\s*\d|\d{1,3}(?:,\d{3})+",
            3,
        ),
        (r"\d", 1),
        // The user corrects us.
        (
            r"(?i)不对|错了|应该是|改成|而不是|更正|纠正|口径|\b(?:actually|instead|wrong|incorrect|correction|should be|rather than)\b",
            5,
        ),
        // A decision that later rounds rely on.
        (
            r"(?i)决定|采用|以.{1,20}为准|排除|剔除|按照|约定|\b(?:decided?|we will|use the|exclude|treat|assume|definition)\b",
            3,
        ),
        // Files and columns.
        (
            r"(?i)`[^`]+`|\b[\w-]+\.(?:csv|tsv|xlsx?|json|parquet|py|sql|md|pdf)\b|\b(?:upload|code)_\w+|列名|字段|\bcolumn\b",
            3,
        ),
        (
            r"(?i)结论|因此|主要|最高|最低|增长|下降|异常|\b(?:conclusion|therefore|highest|lowest|grew|fell|overall)\b",
            2,
        ),
        // Chit-chat.
        (
            r"(?i)^\s*(?:谢谢|多谢|好的|你好|您好|不客气|没问题|嗯|thanks?|thank you|ok(?:ay)?|hello|hi|great|sure)\b?[\s!！。.~]*$",
            -10,
        ),
    ];
    table.into_iter().filter_map(|(p, w)| Regex::new(p).ok().map(|r| (r, w))).collect()
});

/// How much a line would be missed.
pub fn importance(line: &str) -> i32 {
    PATTERNS.iter().filter(|(pattern, _)| pattern.is_match(line)).map(|(_, weight)| weight).sum()
}

/// Each round's question, its most important lines, and one line per tool result.
pub fn extract(rounds: &[Round], counter: &MemoCounter) -> String {
    let mut text = String::new();
    for round in rounds {
        let mut lines: Vec<(i32, usize, String)> = Vec::new();
        let question = shorten(one_line(&round.user_message).trim(), MAX_LINE);
        let answer = round.final_answer.as_deref().unwrap_or("");
        for line in answer.lines().map(str::trim).filter(|l| !l.is_empty()) {
            lines.push((importance(line), lines.len(), shorten(&one_line(line), MAX_LINE)));
        }
        let mut kept: Vec<(usize, String)> = Vec::new();
        let mut spent = counter.count(&question);
        lines.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        for (score, at, line) in lines {
            let tokens = counter.count(&line);
            if score <= 0 || spent + tokens > PER_ROUND {
                continue;
            }
            spent += tokens;
            kept.push((at, line));
        }
        kept.sort_by_key(|(at, _)| *at);
        if importance(&question) >= 0 || !kept.is_empty() || !round.steps.is_empty() {
            text.push_str(&format!("问：{question}\n"));
        }
        for (_, line) in kept {
            text.push_str(&format!("答：{line}\n"));
        }
        text.push_str(&shortened_observations(round));
    }
    text.trim_end().to_owned()
}

/// The first words of each question and answer.
pub fn truncate(rounds: &[Round]) -> String {
    let mut text = String::new();
    for round in rounds {
        let answer = round.final_answer.as_deref().unwrap_or("");
        text.push_str(&format!(
            "问：{}\n答：{}\n",
            shorten(one_line(&round.user_message).trim(), 120),
            shorten(one_line(answer).trim(), 200)
        ));
        text.push_str(&shortened_observations(round));
    }
    text.trim_end().to_owned()
}

/// One line per result: enough to know what was asked and to ask again.
pub(super) fn shortened_observations(round: &Round) -> String {
    let mut text = String::new();
    for (call, result) in round.steps.iter().flat_map(|s| s.tool_calls.iter().zip(&s.results)) {
        let shown = match &result.file_facts {
            Some(facts) if result.success => file_line(facts),
            _ => {
                let asked = ["query", "path", "url", "skill_name"]
                    .iter()
                    .find_map(|k| call.arguments.get(*k)?.as_str());
                let asked = asked.map(|a| format!("{} → ", shorten(&one_line(a), 100))).unwrap_or_default();
                format!("{}: {asked}{}", call.tool_name, content_of(result))
            }
        };
        text.push_str(&format!("工具：{shown}\n"));
    }
    text
}

fn file_line(facts: &FileFacts) -> String {
    synopsis::line(facts)
}

/// The beginning of the observation without its tag, on one line. Words from outside stay behind: cut short, their mark would be lost.
fn content_of(result: &ToolResult) -> String {
    let inner = result.observation.split_once('\n').map_or("", |(_, rest)| rest);
    let inner = inner.split("<untrusted source=").next().unwrap_or_default();
    one_line(&shorten(inner.trim_end_matches("</tool_result>").trim(), OBSERVATION))
}
