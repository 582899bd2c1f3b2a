//! Makes the Python environment ready ahead of time, with a progress display. Used by `scripts/prepare-python`.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "a command-line program")]

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use ba_sandbox::{PrepareOptions, prepare_python};

#[tokio::main]
async fn main() -> ExitCode {
    let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = path("XDG_CACHE_HOME").or_else(|| path("HOME").map(|home| home.join(".cache")));
    let options = PrepareOptions {
        cache: cache.unwrap_or_else(std::env::temp_dir).join("ba-agent"),
        env_override: path("BA_PYTHON_ENV"),
        python: None,
    };
    let live = std::io::stderr().is_terminal();
    let result = prepare_python(&options, &|step| {
        let line = format!("[{:3.0} %] {}", step.fraction * 100.0, step.message);
        if live {
            eprint!("\r\x1b[2K{line}");
            let _ = std::io::stderr().flush();
        } else {
            eprintln!("{line}");
        }
    })
    .await;
    if live {
        eprintln!();
    }
    match result {
        Ok(env) => {
            println!("{}", env.prefix.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
