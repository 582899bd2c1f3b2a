//! Charts of a report that cannot draw: source that never closes, or an option without any data. Runs nothing, and passes
//! whatever a program could still fill in.

use std::sync::LazyLock;

use regex::Regex;

use crate::chart;
use crate::layout::Layout;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartFault {
    /// Brackets or quotes that nothing closes.
    Unclosed,
    NoData,
}

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

static EMPTY: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r#"["']?data["']?\s*:\s*\[\s*\]"#));
/// Data that comes from somewhere else than a literal list.
static FILLED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r#"["']?data["']?\s*:\s*[^\[\s]|["']?data["']?\s*:\s*\[\s*[^\]\s]|dataset|\.map\(|\.push\(|\bfetch\("#,
    )
});

/// The faulty charts of a report, by their number from 1.
pub fn chart_faults(report: &str) -> Vec<(usize, ChartFault)> {
    let layout = Layout::of(report);
    let mut found = Vec::new();
    let charts = layout.charts.iter().filter(|span| {
        let source = &report[(*span).clone()];
        !report[..span.start].trim_end().ends_with('>')
            || source.contains("setOption")
            || source.contains("echarts")
    });
    for (at, span) in charts.enumerate() {
        let source = &report[span.clone()];
        if !closes(source) {
            found.push((at + 1, ChartFault::Unclosed));
        } else if matches(&EMPTY, source)
            && !matches(&FILLED, source)
            && chart::read(report, span.clone()).points.is_empty()
        {
            found.push((at + 1, ChartFault::NoData));
        }
    }
    found
}

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|p| p.is_match(text))
}

/// Whether all brackets and quotes outside strings, comments and patterns are closed.
fn closes(source: &str) -> bool {
    let bytes = source.as_bytes();
    let (mut open, mut at, mut before) = (Vec::new(), 0, b'(');
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'"' | b'\'' | b'`' => match string_end(bytes, at, byte) {
                Some(end) => at = end,
                None => return false,
            },
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |i| at + i);
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                match bytes[at + 2..].windows(2).position(|w| w == b"*/") {
                    Some(i) => at += i + 3,
                    None => return false,
                }
            }
            // A pattern stands where a value would; elsewhere it is a division.
            b'/' if b"(,=:[!&|?{};".contains(&before) => {
                at = string_end(bytes, at, b'/').unwrap_or(at);
            }
            b'{' | b'[' | b'(' => open.push(byte),
            b'}' | b']' | b')' => {
                let opened = if byte == b')' { b'(' } else { byte - 2 };
                if open.pop() != Some(opened) {
                    return false;
                }
            }
            _ => {}
        }
        if !bytes.get(at).is_none_or(u8::is_ascii_whitespace) {
            before = bytes[at];
        }
        at += 1;
    }
    open.is_empty()
}

/// The closing mark of a string that opens at `at`.
fn string_end(bytes: &[u8], at: usize, quote: u8) -> Option<usize> {
    let mut i = at + 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 1,
            b'\n' if quote != b'`' => return None,
            b if b == quote => return Some(i),
            _ => {}
        }
        i += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(inner: &str) -> String {
        format!("结论\n<div id=\"c\"></div>\n<script>var c = echarts.init(e); c.setOption({inner}</script>")
    }

    #[test]
    fn a_chart_that_never_closes_or_has_no_data_is_found() {
        let broken = "{series: [{type: 'bar', data: [1, 2]});";
        assert_eq!(chart_faults(&script(broken)), [(1, ChartFault::Unclosed)]);
        assert_eq!(
            chart_faults(&script("{xAxis: {data: []}, series: [{type: 'bar', data: []}]});")),
            [(1, ChartFault::NoData)]
        );
        assert_eq!(
            chart_faults("```echarts\n{\"series\": [{\"data\": [1, 2}]}\n```"),
            [(1, ChartFault::Unclosed)]
        );
        let second = format!("{}\n{}", script("{series: [{data: [1]}]});"), script(broken));
        assert_eq!(chart_faults(&second), [(2, ChartFault::Unclosed)]);
    }

    #[test]
    fn what_may_draw_is_let_pass() {
        for inner in [
            "{series: [{data: [1, 2]}]});",
            "{series: [{data: rows}]});",
            "{xAxis: {data: []}, series: [{data: []}]}); rows.map(r => c.appendData(r));",
            "{dataset: {source: rows}, series: [{type: 'bar'}]});",
            "{label: {formatter: v => v.replace(/['\"{]/g, '')}, series: [{data: [1]}]}); // it's }",
            "{title: {text: `a ${b} {`}, series: [{data: [4 / 2, 6 / 3]}]});",
        ] {
            assert_eq!(chart_faults(&script(inner)), [], "{inner}");
        }
        assert_eq!(chart_faults("没有图。<script>if (a {</script>"), [], "a script that draws nothing");
    }

    #[test]
    fn hostile_source_ends() {
        for text in [
            "<script>echarts/",
            "<script>echarts'",
            "<script>setOption(`",
            "<script>echarts/*",
            "```echarts\n\\",
        ] {
            chart_faults(text);
        }
    }
}
