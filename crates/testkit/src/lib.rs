//! What the tests of several crates share: the most memory that an attack on a budget makes a process hold.
#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "only tests use this crate")]

use std::process::Command;

/// Set in the process that is measured.
const MEASURED: &str = "BA_MEASURED";

/// A way into this process's memory, and what is sent over it.
pub struct Edge<'a> {
    pub name: &'a str,
    pub budget_mb: u64,
    /// At least ten times the budget, unless the protocol itself allows less.
    pub sent_mb: u64,
    /// What the process may grow by: the budget, and what copying and decoding take besides.
    pub most_mb: u64,
}

/// Runs `attack` on what `prepare` made, in a process of its own: the peak of memory is one number a process. `test` is the
/// full name of the calling test. `scripts/long-run` gathers the lines that this prints.
pub fn budget<T>(test: &str, edge: &Edge<'_>, prepare: impl FnOnce() -> T, attack: impl FnOnce(T)) {
    if std::env::var_os(MEASURED).is_some() {
        let prepared = prepare();
        // From here on the peak counts; where the kernel does not offer it, the peak so far is the start.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let before = peak_mb();
        attack(prepared);
        let Edge { name, budget_mb, sent_mb, most_mb } = edge;
        let grown = peak_mb().saturating_sub(before);
        println!("\nBUDGET | {name} | {budget_mb} | {sent_mb} | {grown} | {most_mb} |");
        assert!(grown <= *most_mb, "{name}: {grown} MB more were held for {sent_mb} MB that were sent");
        return;
    }
    let binary = std::env::current_exe().expect("this test's own program");
    let output = Command::new(binary)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(MEASURED, "1")
        .output()
        .expect("a process of its own");
    let told = String::from_utf8_lossy(&output.stdout);
    match told.lines().find(|line| line.starts_with("BUDGET | ")) {
        Some(line) if output.status.success() => println!("{line}"),
        _ => panic!("{test}: {told}\n{}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// The most memory this process held since the last reset, in megabytes.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("VmHWM");
    line.split_whitespace().next().and_then(|kb| kb.parse::<u64>().ok()).expect("kilobytes") / 1024
}
