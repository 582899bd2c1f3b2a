//! Asks the offline analyst questions over files without the rest of the product: `ask FILE… < questions`, one a line.
//! A line that starts with `+` follows up on the line before. Needs Python with DuckDB, named by BA_TEST_PYTHON.
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

use std::io::BufRead;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|a| a != "--full").collect();
    let full = std::env::args().any(|a| a == "--full");
    let mut bench = support::Bench::new();
    bench.load(&files);
    let mut history: Vec<String> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (follow, question) = line.strip_prefix('+').map_or((false, line.as_str()), |q| (true, q));
        if question.trim().is_empty() {
            continue;
        }
        if !follow {
            history.clear();
        }
        let run = bench.ask(&history, question.trim());
        history.push(question.trim().to_owned());
        println!(
            "Q {}\nA {}",
            line,
            if full { run.report.content.clone() } else { support::answer(&run.report.content) }
        );
        println!("  [{} rounds] {}\n", run.rounds, run.sql.join(" ;; ").replace('\n', " "));
    }
}
