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

/// What is logged. `sqlx` warns of slow statements with their whole text, values included: that is not for a log.
fn filter(level: &str) -> EnvFilter {
    EnvFilter::new(format!("{level},sqlx=error,hyper=warn,{}=off", ba_agent::spans::TARGET))
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
    let log = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(is_terminal())
        .with_target(false);
    let logged = filter(level);
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn slow_statements_stay_out_of_the_log_and_warnings_do_not() {
        for level in ["warn", "info", "debug"] {
            let kept = Kept::default();
            let writer = kept.clone();
            let log = tracing_subscriber::fmt::layer().with_writer(move || writer.clone());
            let subscriber = tracing_subscriber::registry().with(log.with_filter(filter(level)));
            tracing::subscriber::with_default(subscriber, || {
                tracing::warn!(target: "sqlx::query", statement = "SELECT 'secret value'", "slow statement");
                tracing::warn!("disk is slow");
            });
            let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
            assert!(text.contains("disk is slow"), "{level}: {text}");
            assert!(!text.contains("secret value"), "{level}: {text}");
        }
    }
}
