//! A report for the terminal: charts are named instead of spelled out, code references show their id.

use std::sync::LazyLock;

use ba_protocol::api::AgentResponse;
use ba_protocol::text;
use regex::Regex;

static CHART: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?is)(?:<div[^>]*>\s*(?:</div>)?\s*)*<script\b[^>]*>.*?</script>\s*(?:</div>\s*)*").ok()
});

pub fn report(response: &AgentResponse) -> String {
    let mut text = response.response.trim_end().to_owned();
    if let Some(chart) = CHART.as_ref() {
        let mark = if is_chinese(&text) {
            "［图表：在页面中查看］\n"
        } else {
            "[chart: see it in the page]\n"
        };
        text = chart.replace_all(&text, mark).into_owned();
    }
    for code in &response.metadata.code_refs {
        let shown = format!("[{} · {}]", code.code_id, code.description);
        text = text.replace(&format!("{{{{CODE:{}}}}}", code.index), &shown);
    }
    for file in &response.metadata.file_refs {
        text = text.replace(&format!("{{{{FILE:{}}}}}", file.index), &format!("[{}]", file.filename));
    }
    text
}

/// Doubtful figures listed; the rest are counted.
const MAX_LISTED: usize = 20;

/// Where the figures come from, in one line, and those that nothing proves.
pub fn proof(response: &AgentResponse) -> Vec<String> {
    let chinese = is_chinese(&response.response);
    let Some(audit) = &response.metadata.audit else { return Vec::new() };
    let mut lines: Vec<String> = audit.summary(chinese).into_iter().collect();
    for figure in audit.marked().take(MAX_LISTED) {
        lines.push(format!("? {}: {}", text::one_line(&figure.text), figure.doubt(chinese)));
    }
    match (audit.unproven + audit.mismatch).saturating_sub(MAX_LISTED) {
        0 => {}
        more if chinese => lines.push(format!("? 另有 {more} 个")),
        more => lines.push(format!("? and {more} more")),
    }
    if let Some(witness) = &response.metadata.witness {
        let mark = if witness.agrees { "=" } else { "≠" };
        lines.push(format!("{mark} {}", text::one_line(&witness.line(chinese))));
    }
    lines
}

fn is_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_becomes_one_line() {
        let html = "华东最高\n\n<div id=\"c\" style=\"height:1px\"></div>\n<script>(function(){var o={};})();</script>\n\n- 完";
        let found = CHART.as_ref().unwrap().replace_all(html, "［图表］\n");
        assert_eq!(found, "华东最高\n\n［图表］\n- 完");
        assert!(!CHART.as_ref().unwrap().is_match("a < b 且 <b>粗体</b>"));
    }
}
