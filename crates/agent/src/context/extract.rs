//! Compression without a model: the lines that matter, by importance score (SPEC X4, EXTRACT), or the first words
//! (TRUNCATE). The weights are explained in `docs/context.md`.

use std::sync::LazyLock;

use ba_protocol::text::{one_line, shorten};
use ba_protocol::{FileFacts, ToolResult, Turn, synopsis};
use regex::Regex;

use super::tokens::MemoCounter;

const MAX_LINE: usize = 240;
const OBSERVATION: usize = 160;
/// Tokens that hold a question and a figure with its words.
const SENTENCE: usize = 40;

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
        // A decision that later turns rely on.
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

/// What a span's line of names begins with.
pub(super) const NAMES: &str = "名称：";

/// A line that may be kept, and how much it would be missed.
pub(super) struct Line {
    text: String,
    score: i32,
}

impl Line {
    fn new(kind: &str, text: &str, bonus: i32) -> Self {
        let score = importance(text) + bonus;
        Self { text: format!("{kind}{}", shorten(one_line(text).trim(), MAX_LINE)), score }
    }

    /// A line of a digest that is being merged: results go before answers, names are told anew.
    pub(super) fn written(line: &str) -> Self {
        let score = match line {
            _ if line.starts_with(NAMES) => -1,
            _ if line.starts_with("工具：") => importance(line).min(2) - 1,
            _ if line.starts_with("问：") => importance(line).min(4),
            _ => importance(line) + 1,
        };
        Self { text: line.to_owned(), score }
    }
}

/// The best lines within `budget` tokens, in their order. Of equal ones the later.
pub(super) fn best(lines: impl IntoIterator<Item = Line>, budget: usize, counter: &MemoCounter) -> String {
    let mut ranked: Vec<(usize, Line)> = lines.into_iter().enumerate().filter(|(_, l)| l.score > 0).collect();
    ranked.sort_by(|a, b| b.1.score.cmp(&a.1.score).then(b.0.cmp(&a.0)));
    let mut kept: Vec<(usize, String)> = Vec::new();
    let mut spent = 0;
    // One line must not take the place of all others.
    let longest = if ranked.len() > 1 && budget > SENTENCE { budget / 2 } else { budget };
    for (at, line) in ranked {
        let text = cut(&line.text, longest, counter);
        // A rule that every answer repeats is worth its place once.
        if kept.iter().any(|(_, other)| *other == text) {
            continue;
        }
        let tokens = counter.count(&text) + 1;
        if spent + tokens <= budget {
            spent += tokens;
            kept.push((at, text));
        } else if kept.is_empty() {
            kept.push((at, cut(&text, budget, counter)));
            break;
        }
    }
    kept.sort_by_key(|(at, _)| *at);
    kept.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// Whole lines from the start, as many as fit.
pub(super) fn fitting(text: &str, budget: usize, counter: &MemoCounter) -> String {
    let mut kept = String::new();
    let mut spent = 0;
    for line in text.lines() {
        let tokens = counter.count(line) + 1;
        if spent + tokens > budget {
            if kept.is_empty() && budget > 8 {
                kept = cut(line, budget, counter);
            }
            break;
        }
        spent += tokens;
        kept.push_str(if kept.is_empty() { "" } else { "\n" });
        kept.push_str(line);
    }
    kept
}

/// A line cut to a budget, never inside a figure: half a figure is a wrong one.
fn cut(line: &str, budget: usize, counter: &MemoCounter) -> String {
    let tokens = counter.count(line).max(1);
    if tokens <= budget {
        return line.to_owned();
    }
    let chars = line.chars().count() * budget / tokens;
    let kept: String = line.chars().take(chars).collect();
    let of_a_figure = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '%');
    let next = line.chars().nth(chars);
    let kept = if next.is_some_and(of_a_figure) { kept.trim_end_matches(of_a_figure) } else { kept.as_str() };
    format!("{}…", kept.trim_end())
}

/// Each turn's question, its most important lines, and one line per tool result, as far as they fit. Where a turn's share
/// holds no sentence, the most important lines of all of them.
pub fn extract(turns: &[Turn], budget: usize, counter: &MemoCounter) -> String {
    let share = budget / turns.len().max(1);
    if share < SENTENCE {
        let lines = turns.iter().flat_map(|turn| {
            let question = shorten(one_line(&turn.user_message).trim(), MAX_LINE);
            let answer = turn.final_answer.as_deref().unwrap_or("").lines().map(str::trim);
            let said = answer.filter(|l| !l.is_empty()).map(|l| Line::new("答：", l, 1));
            std::iter::once(Line::written(&format!("问：{question}"))).chain(said)
        });
        return best(lines, budget, counter);
    }
    let mut texts: Vec<String> = Vec::new();
    for turn in turns {
        let question = shorten(one_line(&turn.user_message).trim(), MAX_LINE);
        let answer = turn.final_answer.as_deref().unwrap_or("");
        let lines = answer.lines().map(str::trim).filter(|l| !l.is_empty()).map(|l| Line::new("答：", l, 0));
        let asked = if importance(&question) >= 0 {
            cut(&format!("问：{question}"), share / 3, counter)
        } else {
            String::new()
        };
        let mut left = share.saturating_sub(counter.count(&asked) + 1);
        let said = best(lines, left, counter);
        left = left.saturating_sub(counter.count(&said) + 1);
        let results = fitting(shortened_observations(turn).trim_end(), left, counter);
        texts.extend([asked, said, results]);
    }
    texts.retain(|t| !t.is_empty());
    texts.join("\n")
}

/// The first words of each question and answer.
pub(super) fn truncate(turns: &[Turn], budget: usize, counter: &MemoCounter) -> String {
    let share = budget / turns.len().max(1);
    let texts = turns.iter().map(|turn| {
        let answer = turn.final_answer.as_deref().unwrap_or("");
        let question = shorten(one_line(&turn.user_message).trim(), 120);
        let text = format!("问：{question}\n答：{}", shorten(one_line(answer).trim(), 200));
        fitting(&format!("{text}\n{}", shortened_observations(turn)), share, counter)
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// One line per result: enough to know what was asked and to ask again.
pub(super) fn shortened_observations(turn: &Turn) -> String {
    let mut text = String::new();
    for (call, result) in turn.steps.iter().flat_map(|s| s.tool_calls.iter().zip(&s.results)) {
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
