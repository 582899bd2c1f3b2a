//! Cost of `parse` per byte at growing sizes, for outputs that are proper, need repair, or are hostile.
//! Linear cost shows as a ratio near 1 between the largest and the smallest size. Run: `cargo bench -p ba-protocol`.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::hint::black_box;
use std::time::Instant;

type Make = fn(usize) -> String;

const SHAPES: [(&str, Make); 6] = [
    ("proper report", |n| report(&"text ".repeat(n / 5), "")),
    ("report to repair", |n| report(&"He said \"hi\" \n ".repeat(n / 15), ",")),
    ("single-quoted code", |n| {
        format!("{{'action':{{'type':'complete','content':'{}'}}}}", "it's x = [1, 2]\\n".repeat(n / 18))
    }),
    ("prose with braces", |n| "a {set, of} words, ".repeat(n / 19)),
    ("open quotes everywhere", |n| "{'".repeat(n / 2)),
    ("nested without end", |n| "{\"a\":".repeat(n / 5)),
];

fn report(content: &str, extra: &str) -> String {
    format!("{{\"current_round\":1,\"action\":{{\"type\":\"complete\",\"content\":\"{content}\"{extra}}}}}")
}

fn nanoseconds_per_byte(output: &str) -> f64 {
    let runs = (8_000_000 / output.len()).clamp(3, 200);
    let mut best = f64::MAX;
    for _ in 0..runs {
        let start = Instant::now();
        black_box(ba_protocol::parse(black_box(output)));
        best = best.min(start.elapsed().as_secs_f64());
    }
    best * 1e9 / f64::from(u32::try_from(output.len()).unwrap_or(u32::MAX))
}

fn main() {
    let sizes = [10_000, 100_000, 1_000_000, 10_000_000];
    println!(
        "{:<24}{:>10}{:>10}{:>10}{:>10}   10 MB / 10 kB",
        "ns per byte", "10 kB", "100 kB", "1 MB", "10 MB"
    );
    for (name, make) in SHAPES {
        let costs: Vec<f64> = sizes.iter().map(|n| nanoseconds_per_byte(&make(*n))).collect();
        print!("{name:<24}");
        costs.iter().for_each(|c| print!("{c:>10.2}"));
        println!("{:>17.2}", costs[3] / costs[0]);
    }
}
