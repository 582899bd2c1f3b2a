//! Prints how the audit does on both halves of its set, and how long a large report takes.
//! `cargo run --release -p ba-audit --example measure [word]` also lists what went wrong in the half written for working
//! on the rules, for the reports whose name contains the word.

#![allow(clippy::print_stdout, reason = "printing is what it is for")]

#[path = "../tests/set/large.rs"]
mod large;
#[path = "../tests/set/score.rs"]
mod score;
#[path = "../tests/set/mod.rs"]
mod set;

fn main() {
    let word = std::env::args().nth(1);
    for (figures, results) in [(100, 10), (200, 10), (100, 20)] {
        println!(
            "{figures} figures over {results} results of 1,000 rows: p50 {:.1} ms",
            large::p50(figures, results)
        );
    }
    if word.as_deref() == Some("time") {
        return;
    }
    let sets =
        [("dev", set::dev()), ("held", set::held()), ("fresh", set::fresh()), ("stranger", set::stranger())];
    for (name, cases) in sets {
        println!("{name}: {}", score::score(&cases));
    }
    if let Some(word) = word {
        let seen = [set::dev(), set::stranger()];
        seen.iter().flat_map(|cases| score::explain(cases, &word)).for_each(|line| println!("{line}"));
    }
}
