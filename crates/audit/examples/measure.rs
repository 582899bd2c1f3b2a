//! Prints how the audit does on its sets, and how long a large report takes.
//! `cargo run --release -p ba-audit --example measure [set|time] [word]`: one set alone, and what went wrong in those of
//! its reports whose name contains the word.

#![allow(clippy::print_stdout, reason = "printing is what it is for")]

#[path = "../tests/set/large.rs"]
mod large;
#[path = "../tests/set/score.rs"]
mod score;
#[path = "../tests/set/mod.rs"]
mod set;

type Read = fn() -> Vec<set::Case>;

const SETS: [(&str, Read); 6] = [
    ("dev", set::dev),
    ("held", set::held),
    ("fresh", set::fresh),
    ("stranger", set::stranger),
    ("second", set::second),
    ("third", set::third),
];

fn main() {
    let one = std::env::args().nth(1);
    let word = std::env::args().nth(2);
    if one.as_deref().is_none_or(|o| o == "time") {
        for (figures, results) in [(100, 10), (200, 10), (100, 20)] {
            let p50 = large::p50(figures, results);
            println!("{figures} figures over {results} results of 1,000 rows: p50 {p50:.1} ms");
        }
    }
    for (name, read) in SETS.iter().filter(|(n, _)| one.as_deref().is_none_or(|o| o == *n)) {
        let cases = read();
        println!("{name}: {}", score::score(&cases));
        if let Some(word) = &word {
            score::explain(&cases, word).iter().for_each(|line| println!("{line}"));
        }
    }
}
