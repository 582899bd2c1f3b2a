//! The questions of `evals/`, judged as `ba-agent eval` judges them: what works stays working.

use std::sync::atomic::{AtomicUsize, Ordering};

use ba_eval::{Case, score};

use crate::support::{Bench, cases};

const SET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../evals");

/// Those answered wrongly, with what was wrong.
fn wrong(of: &[Case]) -> Vec<String> {
    let groups: Vec<&[Case]> = of.chunk_by(|a, b| a.files == b.files).collect();
    let next = AtomicUsize::new(0);
    let reader = || {
        let mut bench = Bench::new();
        let mut failures = Vec::new();
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            bench.load(&group[0].files);
            for case in *group {
                let run = bench.ask(&case.earlier, &case.question);
                assert!(run.rounds <= 6, "{}", case.id);
                if let Err(problem) = score::judge(&case.expect, &run.report.content) {
                    failures.push(format!("{} {}: {problem}", case.id, case.question));
                }
            }
        }
        failures
    };
    std::thread::scope(|scope| {
        let readers = [scope.spawn(reader), scope.spawn(reader)];
        readers.into_iter().flat_map(|r| r.join().unwrap()).collect()
    })
}

#[test]
fn eight_hundred_questions_stay_answered_or_declined_as_they_should() {
    let (_folder, mut all) = cases(SET);
    assert_eq!(all.len(), 800);
    all.sort_by(|a, b| a.files.cmp(&b.files));
    let of = |wanted: &dyn Fn(&Case) -> bool| all.iter().filter(|c| wanted(c)).cloned().collect::<Vec<_>>();
    let samples = of(&|c| c.split == "samples");
    let beyond = of(&|c| c.expect.refuse);
    let within = of(&|c| !c.expect.refuse && c.split != "samples");
    let failures = wrong(&samples);
    assert!(!samples.is_empty() && failures.is_empty(), "{failures:#?}");
    let failures = wrong(&beyond);
    assert!(failures.len() * 50 <= beyond.len(), "of {}: {failures:#?}", beyond.len());
    let failures = wrong(&within);
    assert!(failures.len() * 14 <= within.len(), "of {}: {failures:#?}", within.len());
}
