//! Learns what tells questions beyond the tables from questions they can answer, and writes it to `data/judge.tsv`:
//! `learn [SET]`, a folder or an archive of questions (`evals/archive.tar.zst` when not given), without those locked. First says how well it does on questions of authors it did not learn from.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a developer's tool"
)]

#[allow(dead_code, reason = "shared with other programs")]
#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};

use ba_analyst::judge;
use ba_eval::Case;

/// Marks seen less often tell nothing.
const SEEN: usize = 3;
/// Authors are left out in this many turns.
const TURNS: usize = 8;
const SWEEPS: usize = 60;

struct Asked {
    marks: Vec<String>,
    beyond: bool,
    /// Whoever wrote it: all of one author are left out together.
    author: String,
}

fn main() {
    let set = std::env::args().nth(1);
    let (_folder, mut cases) = support::cases(set.as_deref().unwrap_or(support::ARCHIVE));
    cases.retain(|c| c.split != "locked");
    let mut asked = outlined(&cases);
    asked.retain(|a| !a.marks.is_empty());
    tell(&asked);
    let weights = fit(&asked.iter().collect::<Vec<_>>());
    let lines: BTreeMap<&String, &f32> = weights.iter().filter(|(_, w)| w.abs() >= 0.005).collect();
    let text: String = lines.iter().map(|(mark, weight)| format!("{mark}\t{weight:.2}\n")).collect();
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/data/judge.tsv"), &text).unwrap();
    println!("{} questions, {} marks kept", asked.len(), lines.len());
}

/// The marks of all questions, by as many readers as there are processors.
fn outlined(cases: &[Case]) -> Vec<Asked> {
    let tables: Vec<&[Case]> = cases.chunk_by(|a, b| a.files == b.files).collect();
    let next = AtomicUsize::new(0);
    let reader = || {
        let mut bench = support::Bench::new();
        let mut out = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(of) = tables.get(at) else { return out };
            bench.load(&of[0].files);
            let asked = of.iter().map(|case| Asked {
                marks: bench.marks(&case.earlier, &case.question),
                beyond: case.expect.refuse,
                author: case.author.clone(),
            });
            out.push((at, asked.collect::<Vec<_>>()));
        }
    };
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..std::thread::available_parallelism().map_or(1, usize::from))
            .map(|_| scope.spawn(reader))
            .collect();
        // In the order of the sets, so that the same questions always give the same weights.
        let parts: BTreeMap<usize, Vec<Asked>> =
            readers.into_iter().flat_map(|r| r.join().unwrap()).collect();
        parts.into_values().flatten().collect()
    })
}

/// What becomes of the questions of each author when only the others are learnt from.
fn tell(asked: &[Asked]) {
    let mut authors: Vec<&String> = asked.iter().map(|a| &a.author).collect();
    authors.sort_unstable();
    authors.dedup();
    let turn_of: HashMap<&String, usize> = authors.iter().enumerate().map(|(i, a)| (*a, i % TURNS)).collect();
    let mut scores = Vec::new();
    for turn in 0..TURNS {
        let others: Vec<&Asked> = asked.iter().filter(|a| turn_of[&a.author] != turn).collect();
        let weights = fit(&others);
        let weights: HashMap<&str, f32> = weights.iter().map(|(m, w)| (m.as_str(), *w)).collect();
        let left = asked.iter().filter(|a| turn_of[&a.author] == turn);
        scores.extend(left.map(|a| (a.beyond, judge::score(&weights, &a.marks))));
    }
    println!("from  declined of those beyond  of the others");
    for from in [-2.5, -2.0, -1.6, -1.3, -1.0, -0.5, 0.0] {
        let part = |beyond: bool| {
            let of: Vec<f32> = scores.iter().filter(|s| s.0 == beyond).map(|s| s.1).collect();
            format!(
                "{:6.2} % of {}",
                100.0 * of.iter().filter(|s| **s >= from).count() as f64 / of.len() as f64,
                of.len()
            )
        };
        println!("{from:4.1}  {}  {}", part(true), part(false));
    }
}

/// Logistic regression with a ridge, one weight at a time.
fn fit(asked: &[&Asked]) -> HashMap<String, f32> {
    let mut seen: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, one) in asked.iter().enumerate() {
        for mark in &one.marks {
            seen.entry(mark).or_default().push(i);
        }
    }
    seen.retain(|_, at| at.len() >= SEEN);
    seen.insert(judge::ALWAYS, (0..asked.len()).collect());
    let mut score = vec![0.0_f64; asked.len()];
    let mut weights: BTreeMap<&str, f64> = seen.keys().map(|m| (*m, 0.0)).collect();
    for _ in 0..SWEEPS {
        for (mark, at) in &seen {
            let weight = weights.get_mut(mark).unwrap();
            let ridge = if *mark == judge::ALWAYS { 0.0 } else { 1.0 };
            let (mut slope, mut curve) = (ridge * *weight, ridge + 1e-6);
            for i in at {
                let likely = 1.0 / (1.0 + (-score[*i]).exp());
                slope += likely - f64::from(u8::from(asked[*i].beyond));
                curve += likely * (1.0 - likely);
            }
            let step = (-slope / curve).clamp(-1.0, 1.0);
            *weight += step;
            for i in at {
                score[*i] += step;
            }
        }
    }
    weights.into_iter().map(|(m, w)| (m.to_owned(), w as f32)).collect()
}
