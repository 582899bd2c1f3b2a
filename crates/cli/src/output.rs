//! Words to people: standard output for answers, standard error for everything else.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is where the program speaks")]

use std::io::{IsTerminal, Write};

/// A line of an answer. A closed pipe ends quietly.
pub fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// A line beside the answer: progress, warnings.
pub fn note(text: &str) {
    eprintln!("{text}");
}

pub fn complain(text: &str) {
    eprintln!("ba-agent: {text}");
}

pub fn is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Warnings by default; `-v` for what happens, `-vv` for everything. Never on standard output.
pub fn start_logging(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    let filter = tracing_subscriber::EnvFilter::new(format!("{level},sqlx=warn,hyper=warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false).init();
}
