//! The text that stands for a span of older turns: a summary where there is one, else the lines that matter; then the
//! names in use. Each within the span's budget, each made once.

use ba_protocol::Turn;

use super::extract::{self, Line};
use super::names::Names;
use super::plan::Span;
use super::summary::{self, WantedSummary};
use super::tokens::MemoCounter;
use super::{ContextInput, Strategy};

/// Part of a span's budget that names may take.
const NAMES_SHARE: usize = 4;

/// The span's message; where a summary would be better, it is added to `wanted`.
pub(super) fn message(
    span: &Span,
    input: &ContextInput<'_>,
    budget: usize,
    counter: &MemoCounter,
    wanted: &mut Vec<WantedSummary>,
) -> String {
    let text = text(span, input, budget, counter);
    if input.strategy == Strategy::Summarize
        && summary_of(span, input, counter).is_none()
        && !counter.is_refused(&span.key)
    {
        let summaries: Option<Vec<String>> =
            span.parts.iter().map(|part| summary_of(part, input, counter)).collect();
        // What was extracted is no source: it is shorter than what it stands for.
        let source = match summaries {
            Some(summaries) if !summaries.is_empty() => summaries.join("\n"),
            _ => summary::source(turns_of(span, input)),
        };
        wanted.push(WantedSummary { key: span.key.clone(), source });
    }
    let (first, last) = (span.from + 1, span.to);
    let again =
        if first == last { format!("answer_{first}") } else { format!("answer_{first} … answer_{last}") };
    format!("[历史摘要] 第 {first}–{last} 轮（原文可用 file_reader 重读：{again}）\n{text}")
}

fn turns_of<'a>(span: &Span, input: &ContextInput<'a>) -> &'a [Turn] {
    &input.turns[span.from..span.to]
}

fn summary_of(span: &Span, input: &ContextInput<'_>, counter: &MemoCounter) -> Option<String> {
    input.summaries.get(&span.key).cloned().or_else(|| counter.summary(&span.key))
}

fn text(span: &Span, input: &ContextInput<'_>, budget: usize, counter: &MemoCounter) -> String {
    if input.strategy == Strategy::Summarize
        && let Some(summary) = summary_of(span, input, counter)
    {
        return counter.digest(&format!("s/{budget}/{}/{}", span.key, summary.len()), || {
            with_names(span, input, budget, counter, |left| summarised(&summary, span, input, left, counter))
        });
    }
    let kind = if input.strategy == Strategy::Truncate { "t" } else { "e" };
    counter.digest(&format!("{kind}/{budget}/{}", span.key), || {
        with_names(span, input, budget, counter, |left| match (span.parts.as_slice(), input.strategy) {
            ([], Strategy::Truncate) => extract::truncate(turns_of(span, input), left, counter),
            ([], _) => extract::extract(turns_of(span, input), left, counter),
            (parts, _) => {
                let texts: Vec<String> =
                    parts.iter().map(|part| text(part, input, budget, counter)).collect();
                extract::best(texts.iter().flat_map(|t| t.lines()).map(Line::written), left, counter)
            }
        })
    })
}

/// Names first get their share, the rest is for what was said.
fn with_names(
    span: &Span,
    input: &ContextInput<'_>,
    budget: usize,
    counter: &MemoCounter,
    said: impl FnOnce(usize) -> String,
) -> String {
    let names = Names::of(turns_of(span, input)).line(budget / NAMES_SHARE, counter);
    let said = said(budget.saturating_sub(counter.count(&names)));
    match names.is_empty() {
        true => said,
        false => format!("{said}\n{}{names}", extract::NAMES),
    }
}

/// A summary with the tool results it rests on, as far as they fit.
fn summarised(
    summary: &str,
    span: &Span,
    input: &ContextInput<'_>,
    budget: usize,
    counter: &MemoCounter,
) -> String {
    let mut text = extract::fitting(summary.trim_end(), budget, counter);
    if span.parts.is_empty() {
        let left = budget.saturating_sub(counter.count(&text));
        let results: String = turns_of(span, input).iter().map(extract::shortened_observations).collect();
        let results = extract::fitting(results.trim_end(), left, counter);
        if !results.is_empty() {
            text = format!("{text}\n{results}");
        }
    }
    text
}
