//! Runs every known question against the analyst with stand-in tools and says what became of them: `regress OUT [SET] [--every N]`.
//! SET is a folder or an archive of questions (`evals/archive.tar.zst` when not given); `--every 10` asks a tenth of them. OUT gets
//! a line a question (author, id, outcome, reader, what was said), so that two versions can be compared with `diff`. Results of
//! tools are remembered beside OUT in `tape/`: from the second run on it takes little more than the reading.
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

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ba_eval::{Case, score};

fn main() {
    let mut args = std::env::args().skip(1);
    let out = args.next().expect("where to write the outcomes");
    let rest: Vec<String> = args.collect();
    let every = rest.iter().position(|a| a == "--every");
    let step: usize = every.map_or(1, |at| rest[at + 1].parse().unwrap());
    let set = rest.first().filter(|a| *a != "--every").map_or(support::ARCHIVE, String::as_str);
    let (_folder, cases) = support::cases(set);
    let tape = Path::new(&out).parent().unwrap().join("tape");
    let mut groups: BTreeMap<Vec<String>, Vec<Case>> = BTreeMap::new();
    for case in cases.into_iter().step_by(step) {
        groups.entry(case.files.clone()).or_default().push(case);
    }
    let groups: Vec<Vec<Case>> = groups.into_values().collect();
    let next = AtomicUsize::new(0);
    let reader = || {
        let mut bench = support::Bench::remembering(tape.clone());
        let mut lines = Vec::new();
        while let Some(of) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            bench.load(&of[0].files);
            lines.extend(of.iter().map(|one| line(&mut bench, one)));
        }
        lines
    };
    let start = Instant::now();
    let mut lines: Vec<Line> = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..std::thread::available_parallelism().map_or(1, usize::from))
            .map(|_| scope.spawn(reader))
            .collect();
        readers.into_iter().flat_map(|r| r.join().unwrap()).collect()
    });
    lines.sort_by(|a, b| a.text.cmp(&b.text));
    let text: String = lines.iter().map(|l| format!("{}\n", l.text)).collect();
    std::fs::write(&out, text).unwrap();
    summarise(&lines, start.elapsed().as_secs_f64());
}

struct Line {
    set: String,
    beyond: bool,
    outcome: &'static str,
    text: String,
    millis: f64,
}

fn line(bench: &mut support::Bench, case: &Case) -> Line {
    let start = Instant::now();
    let run = bench.ask(&case.earlier, &case.question);
    let millis = start.elapsed().as_secs_f64() * 1e3;
    let content = &run.report.content;
    let outcome = match score::judge(&case.expect, content) {
        Ok(()) => "right",
        Err(_) if !score::has_figure(content) => "declined",
        Err(_) => "wrong",
    };
    let said = score::first_paragraph(content).replace(['\n', '\t'], " ");
    let sql = run.sql.join(" ;; ").replace(['\n', '\t'], " ");
    let beyond = case.expect.refuse;
    let text = format!(
        "{}\t{}\t{}\t{outcome}\t{}\t{}\t{said}\t{sql}",
        case.author,
        case.id,
        if beyond { "beyond" } else { "within" },
        run.reader,
        case.question.replace(['\n', '\t'], " ")
    );
    Line { set: case.author.clone(), beyond, outcome, text, millis }
}

fn summarise(lines: &[Line], seconds: f64) {
    let mut table: BTreeMap<(String, bool), BTreeMap<&str, usize>> = BTreeMap::new();
    for line in lines {
        for set in [line.set.split(' ').next().unwrap(), "all"] {
            *table.entry((set.to_owned(), line.beyond)).or_default().entry(line.outcome).or_default() += 1;
        }
    }
    println!(
        "{:10} {:7} {:>6} {:>6} {:>8} {:>6} {:>8}",
        "set", "", "asked", "right", "declined", "wrong", "right %"
    );
    for ((set, beyond), counts) in &table {
        let of = |name: &str| counts.get(name).copied().unwrap_or(0);
        let asked: usize = counts.values().sum();
        println!(
            "{set:10} {:7} {asked:6} {:6} {:8} {:6} {:8.2}",
            if *beyond { "beyond" } else { "within" },
            of("right"),
            of("declined"),
            of("wrong"),
            100.0 * of("right") as f64 / asked as f64
        );
    }
    let mut millis: Vec<f64> = lines.iter().map(|l| l.millis).collect();
    millis.sort_by(f64::total_cmp);
    let at = |p: f64| millis[((millis.len() - 1) as f64 * p) as usize];
    println!(
        "{seconds:.0} s; a question {:.1} ms (median), {:.1} ms (99 %), {:.1} ms (longest)",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}
