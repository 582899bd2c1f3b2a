//! Runs every known question set against the analyst with stand-in tools and says what became of them: `regress OUT [NAME…]`.
//! OUT gets a line a question (set, id, outcome, what was said), so that two versions can be compared with `diff`; NAMEs choose
//! sets. Results of tools are remembered beside OUT in `tape/`: from the second run on it takes little more than the reading.
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

use ba_analyst::eval::{Case, score};

struct Asked {
    set: String,
    case: Case,
}

fn main() {
    let mut args = std::env::args().skip(1);
    let out = args.next().expect("where to write the outcomes");
    let names: Vec<String> = args.collect();
    let mut asked = all();
    asked.retain(|a| names.is_empty() || names.contains(&a.set));
    let tape = Path::new(&out).parent().unwrap().join("tape");
    let mut groups: BTreeMap<Vec<String>, Vec<Asked>> = BTreeMap::new();
    for one in asked {
        groups.entry(one.case.files.clone()).or_default().push(one);
    }
    let groups: Vec<Vec<Asked>> = groups.into_values().collect();
    let next = AtomicUsize::new(0);
    let reader = || {
        let mut bench = support::Bench::remembering(tape.clone());
        let mut lines = Vec::new();
        while let Some(of) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            bench.load(&of[0].case.files);
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

/// All sets under `examples/`, with the paths of their files.
fn all() -> Vec<Asked> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").canonicalize().unwrap();
    let mut folders: Vec<_> = ["eval", "unseen", "plain", "beyond"].iter().map(|n| root.join(n)).collect();
    let fresh = std::fs::read_dir(root.join("fresh")).unwrap().map(|e| e.unwrap().path());
    folders.extend(fresh.filter(|p| p.is_dir()));
    let mut out = Vec::new();
    for folder in folders {
        let text = std::fs::read_to_string(folder.join("questions.jsonl")).unwrap();
        let set = folder.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        for mut case in ba_analyst::eval::read(&text).unwrap() {
            let path = |f: &String| folder.join(f).canonicalize().unwrap().to_string_lossy().into_owned();
            case.files = case.files.iter().map(path).collect();
            out.push(Asked {
                set: set.split('/').next().unwrap().to_owned() + "/" + set.split('/').nth(1).unwrap_or(""),
                case,
            });
        }
    }
    out
}

struct Line {
    set: String,
    beyond: bool,
    outcome: &'static str,
    text: String,
    millis: f64,
}

fn line(bench: &mut support::Bench, one: &Asked) -> Line {
    let start = Instant::now();
    let run = bench.ask(&one.case.earlier, &one.case.question);
    let millis = start.elapsed().as_secs_f64() * 1e3;
    let content = &run.report.content;
    let outcome = match score::judge(&one.case.expect, content) {
        Ok(()) => "right",
        Err(_) if !score::has_figure(content) => "declined",
        Err(_) => "wrong",
    };
    let said = score::first_paragraph(content).replace(['\n', '\t'], " ");
    let sql = run.sql.join(" ;; ").replace(['\n', '\t'], " ");
    let beyond = one.case.expect.refuse;
    let text = format!(
        "{}\t{}\t{}\t{outcome}\t{}\t{}\t{said}\t{sql}",
        one.set,
        one.case.id,
        if beyond { "beyond" } else { "within" },
        run.reader,
        one.case.question.replace(['\n', '\t'], " ")
    );
    Line { set: one.set.clone(), beyond, outcome, text, millis }
}

fn summarise(lines: &[Line], seconds: f64) {
    let mut table: BTreeMap<(String, bool), BTreeMap<&str, usize>> = BTreeMap::new();
    for line in lines {
        for set in [line.set.split('/').next().unwrap(), "all"] {
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
