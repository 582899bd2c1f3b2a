//! Counts on a half of the set: faults caught, honest figures bound and wrongly marked.

#![allow(dead_code, reason = "the tests and the example each use a part")]

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use ba_audit::{Audit, FigureProof, Options, audit};

use crate::set::Case;

#[derive(Debug, Default)]
pub struct Score {
    pub reports: usize,
    pub honest: usize,
    pub bound: usize,
    /// Honest figures marked, and marks on what is no figure at all.
    pub wrong: usize,
    pub faults: usize,
    pub caught: usize,
    pub kinds: BTreeMap<&'static str, (usize, usize)>,
}

fn percent(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

impl Score {
    pub fn caught(&self) -> f64 {
        percent(self.caught, self.faults)
    }

    pub fn bound(&self) -> f64 {
        percent(self.bound, self.honest)
    }

    pub fn wrong(&self) -> f64 {
        percent(self.wrong, self.honest)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} reports, {} figures: {:.2} % bound, {:.2} % wrongly marked; ",
            self.reports,
            self.honest,
            self.bound(),
            self.wrong()
        )?;
        write!(f, "{} faults: {:.2} % caught", self.faults, self.caught())?;
        self.kinds.iter().try_for_each(|(kind, (caught, all))| write!(f, "\n    {kind}: {caught} of {all}"))
    }
}

/// Proofs that overlap a span of bytes.
fn over<'a>(audit: &'a Audit, report: &str, span: &Range<usize>) -> Vec<&'a FigureProof> {
    let from = report[..span.start].chars().count();
    let to = from + report[span.clone()].chars().count();
    audit.figures.iter().filter(|f| f.start < to && from < f.end).collect()
}

pub fn score(cases: &[Case]) -> Score {
    let mut score = Score { reports: cases.len(), ..Score::default() };
    for case in cases {
        let found = audit(&case.report, &case.evidence, Options::default());
        let mut marks = found.marked().count();
        for span in &case.figures {
            let proofs = over(&found, &case.report, span);
            score.honest += 1;
            let marked = proofs.iter().filter(|p| p.state.is_marked()).count();
            marks -= marked;
            score.wrong += usize::from(marked > 0);
            score.bound += usize::from(!proofs.is_empty() && marked == 0);
        }
        score.wrong += marks;
        for fault in &case.faults {
            let found = audit(&fault.report, &case.evidence, Options::default());
            let caught = fault
                .wrong
                .iter()
                .any(|s| over(&found, &fault.report, s).iter().any(|p| p.state.is_marked()));
            score.faults += 1;
            score.caught += usize::from(caught);
            let kind = score.kinds.entry(fault.kind).or_default();
            kind.0 += usize::from(caught);
            kind.1 += 1;
        }
    }
    score
}

/// What went wrong, line by line.
pub fn explain(cases: &[Case], word: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for case in cases.iter().filter(|c| c.name.contains(word)) {
        let found = audit(&case.report, &case.evidence, Options::default());
        let place = |report: &str, span: &Range<usize>| {
            let start = report[..span.start].rfind('\n').map_or(0, |i| i + 1);
            let end = report[span.end..].find('\n').map_or(report.len(), |i| span.end + i);
            format!("{}⟦{}⟧{}", &report[start..span.start], &report[span.clone()], &report[span.end..end])
        };
        for span in &case.figures {
            let proofs = over(&found, &case.report, span);
            if proofs.is_empty() || proofs.iter().any(|p| p.state.is_marked()) {
                let state = proofs.first().map(|p| (p.state, &p.nearest));
                lines.push(format!("{} HONEST {state:?}: {}", case.name, place(&case.report, span)));
            }
        }
        let spans: Vec<_> = case.figures.iter().collect();
        for proof in found.marked() {
            let inside =
                spans.iter().any(|s| over(&found, &case.report, s).iter().any(|p| p.start == proof.start));
            if !inside {
                lines.push(format!("{} NO FIGURE: {} in {}", case.name, proof.text, proof.context));
            }
        }
        for fault in &case.faults {
            let found = audit(&fault.report, &case.evidence, Options::default());
            let caught = fault
                .wrong
                .iter()
                .any(|s| over(&found, &fault.report, s).iter().any(|p| p.state.is_marked()));
            if !caught {
                let span = &fault.wrong[0];
                let proof: Vec<String> = over(&found, &fault.report, span)
                    .iter()
                    .map(|p| serde_json::to_string(&p.proof).unwrap_or_default())
                    .collect();
                lines.push(format!(
                    "{} MISSED {}: {} -- {}",
                    case.name,
                    fault.kind,
                    place(&fault.report, span),
                    proof.join(" ")
                ));
            }
        }
    }
    lines
}
