//! Runs a question set against the offline analyst with stand-in tools: `score examples/eval [split]`.
//! The product's own `ba-agent eval` does the same with the real tools; this is quicker while writing rules.
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

use ba_analyst::eval::{report, score};

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().expect("the folder of the set");
    let splits: Vec<String> = args.collect();
    let text = std::fs::read_to_string(format!("{folder}/questions.jsonl")).unwrap();
    let mut cases = ba_analyst::eval::read(&text).unwrap();
    cases.retain(|c| splits.is_empty() || splits.contains(&c.split));
    let mut bench = support::Bench::new();
    let mut loaded: Vec<String> = Vec::new();
    let mut outcomes = Vec::new();
    for case in cases {
        if loaded != case.files {
            bench.load(&case.files.iter().map(|f| format!("{folder}/{f}")).collect::<Vec<_>>());
            loaded.clone_from(&case.files);
        }
        let start = std::time::Instant::now();
        let run = bench.ask(&case.earlier, &case.question);
        let problem = score::judge(&case.expect, &run.report.content).err();
        outcomes.push(report::Outcome {
            right: problem.is_none(),
            problem,
            id: case.id,
            split: case.split,
            question: case.question,
            answer: score::first_paragraph(&run.report.content),
            rounds: run.rounds as u64,
            tokens: 0,
            seconds: start.elapsed().as_secs_f64(),
        });
    }
    println!("{}", report::Summary::new("offline (stand-in tools)", outcomes).markdown());
}
