//! Whether an answer has the form the question asked for in so many words: a table, a chart, a number, named values, yes
//! or no. Doubtful cases pass.

use std::sync::LazyLock;

use ba_audit::{Shows, shows};
use regex::Regex;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    Table,
    Chart,
    /// How much or how many.
    Number,
    YesNo,
    /// `@name[value]`, as the question spelled it out.
    Named(String),
}

/// Named values asked for in one question.
const MAX_NAMED: usize = 20;

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

static TABLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)用表格|以表格|表格形式|列成表|做成表|做一?[个张]表|\bas a table\b|\bin (?:a )?tab(?:le|ular) form|\btabulate\b|\b(?:show|give|list|present|put|summari[sz]e)\b[^.?!]{0,60}\bin a table\b",
    )
});
static NO_TABLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:不要|不用|不需要|无需|别)[^，。；]{0,6}表|(?:no|without(?: a)?|not (?:in|as) a) tables?\b",
    )
});
static CHART: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)画[^，。；？]{0,12}图|绘制[^，。；？]{0,16}图|图表展示|用[^，。；？]{0,6}图(?:表)?(?:展示|表示|说明)|\b(?:draw|plot|chart|show|make|create|give)\b[^.?!]{0,60}\b(?:chart|graph|plot|histogram)\b|^\s*plot\b",
    )
});
static NO_CHART: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:不要|不用|不需要|无需|别)[^，。；]{0,6}图|\b(?:no|without(?: a| any)?|don't|do not)\b[^.?!]{0,20}\b(?:chart|graph|plot)s?\b",
    )
});
static DRAWN: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)<chart\b|\{\{CHART:|echarts|<svg\b|<canvas\b|!\[|\{\{FILE:|```mermaid"));
static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"(?i)是多少|有多少|共多少|总共多少|一共多少|有几[个名家条种]|^\s*(?:how many|how much)\b")
});
/// Words that stand for a number, or say why there is none.
static NUMBER_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)[零〇一二两三四五六七八九十百千万]|没有|无法|不能|不存在|缺少|未|请|\b(?:zero|none|no|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|not|cannot|can't|couldn't|unable|missing|which|please|hundred|thousand|million)\b",
    )
});
static YES_NO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r#"(?i)回答[“"']?是[”"']?(?:或者?|还是|/)[“"']?否|\b(?:answer|respond|reply)\b[^.?!]{0,30}["'“]?yes["'”]? or ["'“]?no"#,
    )
});
static SAID_YES_NO: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"(?i)[是否]|\b(?:yes|no)\b"));
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"@([A-Za-z_][A-Za-z0-9_]{0,63})\["));

fn has(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|p| p.is_match(text))
}

/// The forms a question asks for and its answer does not have. `pictures`: the run made some.
pub fn missing(question: &str, answer: &str, pictures: bool) -> Vec<Shape> {
    let mut found = Vec::new();
    if has(&TABLE, question) && !has(&NO_TABLE, question) && !holds_table(answer) {
        found.push(Shape::Table);
    }
    if has(&CHART, question) && !has(&NO_CHART, question) && !pictures && !has(&DRAWN, answer) {
        found.push(Shape::Chart);
    }
    if has(&YES_NO, question) && !has(&SAID_YES_NO, answer) {
        found.push(Shape::YesNo);
    }
    if has(&NUMBER, question) && shows(answer, 0.0) == Shows::NoFigure && !has(&NUMBER_WORDS, answer)
        // Numbers that are no figures to the audit, such as years, may be what was asked for.
        && !answer.chars().any(|c| c.is_ascii_digit())
    {
        found.push(Shape::Number);
    }
    let names = NAMED.iter().flat_map(|n| n.captures_iter(question)).filter_map(|c| c.get(1));
    let mut named: Vec<&str> = Vec::new();
    for name in names.map(|m| m.as_str()) {
        if !named.contains(&name) && named.len() < MAX_NAMED {
            named.push(name);
        }
    }
    found.extend(
        named.into_iter().filter(|n| !answer.contains(&format!("@{n}["))).map(|n| Shape::Named(n.to_owned())),
    );
    found
}

fn holds_table(answer: &str) -> bool {
    let ruled = |line: &str| {
        let line = line.trim();
        line.contains('|') && line.contains("--") && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
    };
    answer.contains("<table") || answer.lines().any(ruled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_in_words_is_missed() {
        let table = "| 地区 | 额 |\n|---|---:|\n| 华东 | 12 |";
        assert_eq!(missing("用表格列出各地区销售额", "华东 12，华南 15。", false), [Shape::Table]);
        assert_eq!(missing("Show sales by region in a table", "East 12, West 15.", false), [Shape::Table]);
        assert_eq!(missing("用表格列出各地区销售额", table, false), []);
        assert_eq!(missing("画一个柱状图：各地区销售额", table, false), [Shape::Chart]);
        assert_eq!(missing("Draw a bar chart of sales", "East 12.", false), [Shape::Chart]);
        assert_eq!(
            missing("Draw a bar chart of sales", "East 12.", true),
            [],
            "a picture is among the files"
        );
        assert_eq!(missing("画一个柱状图", "<chart data=\"call_1\" kind=\"bar\"/>", false), []);
        assert_eq!(missing("销售额是多少？", "销售情况良好。", false), [Shape::Number]);
        assert_eq!(missing("Answer yes or no: did it grow?", "Sales grew strongly.", false), [Shape::YesNo]);
        let format = "Answer as @mean_fare[x], @count[y] and @mean_fare[x] again.";
        assert_eq!(missing(format, "@mean_fare[34.65]", false), [Shape::Named("count".into())]);
    }

    #[test]
    fn what_may_be_right_passes() {
        for (question, answer) in [
            ("不要表格，用表格太长", "华东 12"),
            ("How many rows are in a table?", "12 rows"),
            ("各地区销售额，不要画图", "华东 12"),
            ("Sales by region, please do not draw a chart", "East 12"),
            ("有多少个地区？", "三个。"),
            ("How many shops closed?", "None of them closed."),
            ("利润是多少？", "表中没有利润列。"),
            ("图中的销售额", "12"),
            ("哪一年最高，是多少年前？", "2021 年。"),
            ("write to @alice", "ok"),
        ] {
            assert_eq!(missing(question, answer, false), [], "{question}");
        }
    }
}
