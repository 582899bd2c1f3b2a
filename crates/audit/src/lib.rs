//! Traces every figure of a report to the evidence it came from, or marks it. Pure: text and tables in, verdicts out;
//! no IO, no model.

mod among;
mod bind;
mod chart;
mod cues;
mod drawn;
pub mod evidence;
mod figures;
mod gate;
mod index;
mod layout;
mod lines;
mod number;
mod period;
mod rebase;
mod rows;
mod scope;
mod shows;
mod skip;
mod told;
mod verdict;
mod words;

pub use drawn::{ChartFault, chart_faults};
pub use evidence::{Body, Evidence, Source, SourceKind};
pub use gate::{Language, MAX_LISTED, gate_request};
pub use shows::{Shows, shows};
pub use verdict::{Audit, FigureProof, NotAudited, Operand, Proof, State};

use layout::{Layout, Span};

/// How much of a report is audited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    pub max_bytes: usize,
    pub max_figures: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_bytes: 200_000, max_figures: 20_000 }
    }
}

/// Binds every figure of a report to the evidence, up to the caps; what lies beyond is said in `not_audited`.
pub fn audit(report: &str, evidence: &Evidence, options: Options) -> Audit {
    let whole = report;
    let report = cut(report, options.max_bytes);
    let layout = Layout::of(report);
    let index = index::Index::new(evidence);
    let mut mentions = index.trie.mentions(report);
    mentions.extend(index.short_labels(report, &layout));
    mentions.sort_by_key(|m| m.span.start);
    let mut found = figures::find(report, &layout, &mentions, options.max_figures);
    found.figures.retain(|figure| !figures::is_code(report, figure, &index.codes));
    rebase::rebase(report, &mut found.figures, &index);
    let page = scope::Page {
        report,
        layout: &layout,
        sentences: figures::sentences(report, &layout),
        mentions,
        periods: found.periods,
        figures: found.figures.iter().map(|f| f.number.span.clone()).collect(),
        units: found.figures.iter().map(|f| f.number.unit).collect(),
        index: &index,
    };
    let output = bind::Output::new(&index);
    let mut bound: Vec<bind::Bound> =
        found.figures.iter().map(|figure| bind::bind(&page, &output, figure)).collect();
    let terms = lines::bind(&page, &found.figures, &mut bound);
    among::bind(&page, &found.figures, &terms, &mut bound);
    let mut counted = Counter { report, at: 0, characters: 0 };
    let mut proofs: Vec<FigureProof> = found
        .figures
        .iter()
        .zip(bound)
        .map(|(figure, bound)| {
            let span = figure.number.span.clone();
            let (start, end) = (counted.upto(span.start), counted.upto(span.end));
            let context = if bound.state.is_marked() { context(&page, figure) } else { String::new() };
            let text = report[span].to_owned();
            FigureProof {
                text,
                start,
                end,
                state: bound.state,
                proof: bound.proof,
                context,
                nearest: bound.nearest,
            }
        })
        .collect();
    let left = NotAudited {
        characters: whole[report.len()..].chars().count(),
        figures: found.over,
        charts: found.charts_cut,
        evidence: evidence.cut,
    };
    let rows = rows::of(&proofs, evidence);
    // It has told the tables of a call apart, and is no part of what is kept.
    for figure in &mut proofs {
        if let Some(Proof::Cell { value, .. }) = &mut figure.proof {
            *value = None;
        }
    }
    Audit { rows, ..Audit::of(proofs, left) }
}

/// At most so many bytes, cut at a line where there is one.
fn cut(report: &str, max: usize) -> &str {
    if report.len() <= max {
        return report;
    }
    let mut end = max;
    while !report.is_char_boundary(end) {
        end -= 1;
    }
    let line = report[..end].rfind('\n').filter(|l| *l > end / 2);
    &report[..line.unwrap_or(end)]
}

/// The words a marked figure stands in, shortened.
fn context(page: &scope::Page<'_>, figure: &figures::Figure) -> String {
    const MAX: usize = 160;
    let words: Vec<&str> = page.around(figure).into_iter().map(|s: Span| page.report[s].trim()).collect();
    let text = words.join(" / ").replace('\n', " ");
    let mut short: String = text.chars().take(MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Bytes to characters, going forward; a step back starts again.
struct Counter<'r> {
    report: &'r str,
    at: usize,
    characters: usize,
}

impl Counter<'_> {
    fn upto(&mut self, byte: usize) -> usize {
        if byte < self.at {
            (self.at, self.characters) = (0, 0);
        }
        self.characters += self.report[self.at..byte].chars().count();
        self.at = byte;
        self.characters
    }
}
