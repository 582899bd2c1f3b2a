//! The audit as a whole: the set and its floors, what the API and the gate say, hostile reports.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod hostile;
mod lines;
mod rules;
#[path = "../set/score.rs"]
mod score;
#[path = "../set/mod.rs"]
mod set;
mod speak;

#[test]
fn the_set_is_large_enough() {
    let (held, dev) = (set::held(), set::dev());
    let faults: usize = held.iter().chain(&dev).map(|c| c.faults.len()).sum();
    let reports = held.len() + dev.len();
    assert!(reports >= 300 && faults >= 1_000, "{reports} reports, {faults} faults");
}

/// Floors a little below what was reached; every fourth report, for the tests' sake. The example `measure` takes all.
#[test]
fn both_halves_stay_above_their_floors() {
    for (name, cases, bound, wrong, caught) in [
        ("dev", set::dev(), 99.0, 0.7, 99.3),
        ("held", set::held(), 97.0, 3.0, 98.9),
        ("stranger", set::stranger(), 96.5, 4.0, 98.5),
        ("second", set::second(), 92.5, 7.8, 98.5),
    ] {
        let some: Vec<_> = cases.into_iter().filter(|c| c.name.ends_with("/0")).collect();
        let score = score::score(&some);
        assert!(
            score.bound() >= bound && score.wrong() <= wrong && score.caught() >= caught,
            "{name}: {score}"
        );
    }
}
