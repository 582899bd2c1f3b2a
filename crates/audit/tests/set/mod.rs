//! The audit set: reports written by hand over made-up tables, rendered with many numbers, and faults put into them.
//! Deterministic; every fault is checked to make the report untrue before it counts.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "the set is test data; a mistake in it must stop the tests"
)]
#![allow(dead_code, reason = "the tests and the example each use a part")]

pub mod expr;
pub mod fault;
pub mod table;
pub mod template;

use ba_audit::evidence::Evidence;
use fault::Fault;
use template::{Piece, Template};

/// How many times each written report is rendered, each time with other numbers.
pub const ROUNDS: u64 = 4;

/// One honest report.
pub struct Case {
    pub name: String,
    pub report: String,
    pub evidence: Evidence,
    /// Bytes of each figure in the report.
    pub figures: Vec<std::ops::Range<usize>>,
    pub faults: Vec<Fault>,
}

pub fn held() -> Vec<Case> {
    cases(include_str!("held.txt"), 7001)
}

pub fn dev() -> Vec<Case> {
    cases(include_str!("dev.txt"), 1001)
}

/// Written after the rules, by somebody who had not looked at them again.
pub fn fresh() -> Vec<Case> {
    cases(include_str!("fresh.txt"), 4003)
}

/// Reports in the manner of language models over results that were really computed from the sample tables, by another
/// author, who had seen what counts as evidence and none of the rules.
pub fn stranger() -> Vec<Case> {
    rendered(include_str!("stranger.txt"), 9001, 1)
}

/// Written before the rules were widened for `stranger`, in other trades and other manners, with figures of two steps.
pub fn second() -> Vec<Case> {
    rendered(include_str!("second.txt"), 11_003, 1)
}

/// Written with `second`, and looked at only when the rules had been widened for that one too.
pub fn third() -> Vec<Case> {
    rendered(include_str!("third.txt"), 13_007, 1)
}

fn cases(text: &str, seed: u64) -> Vec<Case> {
    rendered(text, seed, ROUNDS)
}

fn rendered(text: &str, seed: u64, rounds: u64) -> Vec<Case> {
    let mut all = Vec::new();
    for (at, template) in template::read(text).iter().enumerate() {
        for round in 0..rounds {
            all.push(case(template, round, Random(seed + at as u64 * 97 + round * 7919)));
        }
    }
    all
}

fn case(template: &Template, round: u64, mut random: Random) -> Case {
    let world = template.world(&mut random);
    let pieces = template.pieces(&world);
    let (report, figures) = template::render(&pieces);
    let faults = fault::faults(&pieces, &world, template.chinese, &mut random);
    let figures = figures.into_iter().map(|(span, _)| span).collect();
    Case {
        name: format!("{}/{round}", template.name),
        report,
        evidence: template.evidence(&world),
        figures,
        faults,
    }
}

/// A small generator of numbers, so that the set is the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * ((self.next() >> 11) as f64 / (1u64 << 53) as f64)
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Whether a piece of a report is a figure.
pub fn is_figure(piece: &Piece) -> bool {
    matches!(piece, Piece::Figure { .. })
}
