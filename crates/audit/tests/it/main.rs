//! The audit as a whole: the set and its floors, hostile reports, the gate's words.

#[path = "../set/mod.rs"]
mod set;

#[test]
fn the_set_is_large_enough() {
    let (held, dev) = (set::held(), set::dev());
    let faults: usize = held.iter().chain(&dev).map(|c| c.faults.len()).sum();
    assert!(
        held.len() + dev.len() >= 300 && faults >= 1_000,
        "{} reports, {faults} faults",
        held.len() + dev.len()
    );
}
