//! Figures that nothing proves, as Markdown footnotes of an OpenAI-compatible answer. Writes no mark where it would
//! break what stands there: code, scripts and tags.

use std::ops::Range;

use ba_protocol::Audit;
use ba_protocol::text::one_line;

/// Footnotes written; the rest are counted in the summary.
const MAX_NOTES: usize = 50;

/// The report with its marks, and what comes after it: the notes and one line of counts.
pub fn add(report: &str, audit: &Audit) -> (String, String) {
    let chinese = report.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let Some(summary) = audit.summary(chinese) else { return (report.to_owned(), String::new()) };
    let closed = closed_to_marks(report);
    let mut ends = report.char_indices().map(|(at, _)| at).chain([report.len()]).enumerate();
    let (mut text, mut notes) = (String::with_capacity(report.len()), String::new());
    let mut written = 0;
    for (number, figure) in (1..).zip(audit.marked().take(MAX_NOTES)) {
        let Some((_, end)) = ends.by_ref().find(|(character, _)| *character == figure.end) else { break };
        // A mark elsewhere than behind its figure would be worse than none.
        if !closed.iter().any(|range| range.contains(&end)) {
            text.push_str(&report[written..end]);
            text.push_str(&format!("[^{number}]"));
            written = end;
        }
        let shown = one_line(&figure.text).replace(['<', '`', '['], " ");
        notes.push_str(&format!("\n\n[^{number}]: {shown}: {}", figure.doubt(chinese)));
    }
    text.push_str(&report[written..]);
    (text, format!("\n\n_{summary}_{notes}"))
}

/// Fenced code, scripts, styles and tags.
fn closed_to_marks(report: &str) -> Vec<Range<usize>> {
    let mut closed = Vec::new();
    let mut open: Option<(usize, &str)> = None;
    let mut at = 0;
    for line in report.split_inclusive('\n') {
        let start = line.trim_start();
        let fence = ["```", "~~~"].into_iter().find(|f| start.starts_with(f));
        match (open, fence) {
            (None, Some(fence)) => open = Some((at, fence)),
            (Some((from, with)), Some(fence)) if with == fence => {
                closed.push(from..at + line.len());
                open = None;
            }
            _ => {}
        }
        at += line.len();
    }
    closed.extend(open.map(|(from, _)| from..report.len() + 1));
    let lower = report.to_ascii_lowercase();
    for (opening, closing) in [("<script", "</script"), ("<style", "</style"), ("<", ">")] {
        let mut from = 0;
        while let Some(found) = lower[from..].find(opening).map(|f| f + from) {
            let end = lower[found..].find(closing).map_or(report.len(), |e| found + e);
            closed.push(found..end + 1);
            from = end.max(found + 1);
        }
    }
    closed
}

#[cfg(test)]
mod tests {
    use ba_protocol::audit::{FigureProof, FigureState, NotAudited};

    use super::*;

    fn audit(report: &str, figures: &[(&str, FigureState)]) -> Audit {
        let found = figures.iter().map(|(text, state)| {
            let start = report[..report.find(text).unwrap()].chars().count();
            FigureProof {
                text: (*text).to_owned(),
                start,
                end: start + text.chars().count(),
                state: *state,
                proof: None,
                context: String::new(),
                nearest: None,
            }
        });
        Audit::of(found.collect(), NotAudited::default())
    }

    #[test]
    fn marks_stand_behind_their_figures_and_not_in_charts() {
        let report =
            "华东 150,600 元，合计 999,999 元。\n```echarts\n{data: [77777]}\n```\n<script>88888</script>完";
        let figures = [
            ("150,600", FigureState::Proven),
            ("999,999", FigureState::Unproven),
            ("77777", FigureState::Mismatch),
            ("88888", FigureState::Unproven),
        ];
        let (text, after) = add(report, &audit(report, &figures));
        assert_eq!(text, report.replace("999,999", "999,999[^1]"));
        assert!(after.starts_with(
            "\n\n_4 个数字：1 个来自结果，0 个由结果算得，2 个未证实，1 个与名称不符_\n\n[^1]: 999,999: "
        ));
        assert!(after.contains("[^2]: 77777: 这个值在结果中属于别的名称") && after.contains("[^3]: 88888"));
    }

    #[test]
    fn without_figures_nothing_is_added() {
        assert_eq!(add("hello", &Audit::default()), ("hello".to_owned(), String::new()));
    }
}
