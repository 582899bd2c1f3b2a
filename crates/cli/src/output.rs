//! Words to people: standard output for answers, standard error for everything else.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is where the program speaks")]

use std::io::{IsTerminal, Write};

use opentelemetry_sdk::trace::SdkTracer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

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
/// Spans of runs go to the tracer alone, whatever is logged.
pub fn start_logging(verbose: u8, tracer: Option<SdkTracer>) {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    let spans = ba_agent::spans::TARGET;
    let logged = EnvFilter::new(format!("{level},sqlx=warn,hyper=warn,{spans}=off"));
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    let traced = tracer.map(|tracer| {
        let only_spans = Targets::new().with_target(spans, tracing::Level::INFO);
        tracing_opentelemetry::layer()
            .with_tracer(tracer)
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(only_spans)
    });
    tracing_subscriber::registry().with(log.with_filter(logged)).with(traced).init();
}
