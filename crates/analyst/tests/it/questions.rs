//! The questions of `examples/eval` and `examples/unseen`, judged as `ba-agent eval` judges it.

use ba_analyst::eval::{self, Case, score};

use crate::support::Bench;

fn folder(set: &str) -> String {
    format!("{}/../../examples/{set}", env!("CARGO_MANIFEST_DIR"))
}

fn cases(set: &str, splits: &[&str]) -> Vec<Case> {
    let text = std::fs::read_to_string(format!("{}/questions.jsonl", folder(set))).unwrap();
    eval::read(&text).unwrap().into_iter().filter(|c| splits.contains(&c.split.as_str())).collect()
}

/// The ids of the questions answered wrongly, with what was wrong.
fn wrong(set: &str, splits: &[&str]) -> (usize, Vec<String>) {
    let cases = cases(set, splits);
    let mut bench = Bench::new();
    let mut loaded: Vec<String> = Vec::new();
    let mut failures = Vec::new();
    for case in &cases {
        if loaded != case.files {
            let files: Vec<String> = case.files.iter().map(|f| format!("{}/{f}", folder(set))).collect();
            bench.load(&files);
            loaded.clone_from(&case.files);
        }
        let run = bench.ask(&case.earlier, &case.question);
        assert!(run.rounds <= 6, "{}", case.id);
        if let Err(problem) = score::judge(&case.expect, &run.report.content) {
            failures.push(format!("{} {}: {problem}", case.id, case.question));
        }
    }
    (cases.len(), failures)
}

#[test]
fn the_sixty_questions_about_the_sample_data_are_answered() {
    let (asked, failures) = wrong("eval", &["develop", "held-out-questions"]);
    assert_eq!(asked, 60);
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn tables_the_rules_were_not_written_for_stay_answered() {
    let (asked, failures) = wrong("eval", &["held-out-tables", "second-tables", "third-tables"]);
    assert_eq!(asked, 110);
    assert!(failures.len() * 20 <= asked, "{failures:#?}");
}

#[test]
fn questions_beyond_reach_get_no_figure() {
    let (asked, failures) =
        wrong("eval", &["beyond-develop", "beyond-held-out", "second-beyond", "third-beyond"]);
    assert_eq!(asked, 85);
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn tables_of_other_trades_stay_answered() {
    let (asked, failures) = wrong("unseen", &["develop", "locked", "third", "fourth"]);
    assert_eq!(asked, 296);
    assert!(failures.len() * 20 <= asked, "{failures:#?}");
}

#[test]
fn tables_of_other_trades_are_not_asked_too_much() {
    let (asked, failures) =
        wrong("unseen", &["develop-beyond", "locked-beyond", "third-beyond", "fourth-beyond"]);
    assert_eq!(asked, 77);
    assert!(failures.is_empty(), "{failures:#?}");
}
