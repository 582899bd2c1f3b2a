//! Prints how the audit does on both halves of its set, and how long a large report takes.
//! `cargo run --release -p ba-audit --example measure [name]` also lists what went wrong in the half written for
//! working on the rules, for the reports whose name contains the word.

#![allow(clippy::print_stdout, clippy::expect_used, clippy::panic)]

#[path = "../tests/set/score.rs"]
mod score;
#[path = "../tests/set/mod.rs"]
mod set;

fn main() {
    let list = std::env::args().nth(1);
    for (name, cases) in [("dev", set::dev()), ("held", set::held())] {
        println!("{name}: {}", score::score(&cases));
    }
    if let Some(word) = list {
        score::explain(&set::dev(), &word).iter().for_each(|line| println!("{line}"));
    }
}
