//! Asks the offline analyst questions over files without the rest of the product: `ask FILE… < questions`, one a line.
//! A line that starts with `+` follows up on the line before. `--full` shows the whole report, `--why` what the judge saw. Needs Python with DuckDB, named by BA_TEST_PYTHON.
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
    let (flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let said = |flag: &str| flags.iter().any(|f| f == flag);
    let (full, why) = (said("--full"), said("--why"));
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
        if why {
            let marks = bench.marks(&history, question.trim());
            let reasons = ba_analyst::judge::reasons(&marks);
            let sum: f32 = reasons.iter().map(|r| r.1).sum();
            let told: Vec<String> = reasons.iter().map(|(m, w)| format!("{m} {w:+.2}")).collect();
            println!("J {sum:+.2}: {}", told.join(", "));
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
