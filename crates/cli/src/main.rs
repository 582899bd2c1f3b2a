//! The `ba-agent` command. Wires everything together; the only place with `anyhow`.

mod args;
mod commands;
mod output;
mod telemetry;
mod wire;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};

/// A turn makes thousands of small values; the system's allocator took a tenth of its time (docs/benchmarks.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// SPEC K6: wrong use or configuration.
const WRONG_USE: u8 = 2;
const FAILED: u8 = 1;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let config = match args::configuration(&arguments) {
        Ok(config) => config,
        Err(error) => {
            output::complain(&format!("configuration: {error}"));
            return ExitCode::from(WRONG_USE);
        }
    };
    let telemetry = match config.otlp.as_ref().map(telemetry::Telemetry::start).transpose() {
        Ok(telemetry) => telemetry,
        Err(error) => {
            output::complain(&format!("{error:#}"));
            return ExitCode::from(WRONG_USE);
        }
    };
    output::start_logging(arguments.verbose, telemetry.as_ref().map(telemetry::Telemetry::tracer));
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::complain(&format!("cannot start: {error}"));
            return ExitCode::from(FAILED);
        }
    };
    let outcome = runtime.block_on(async {
        match arguments.command {
            Command::Serve(_) => commands::serve::run(config).await,
            Command::Mcp(mcp) => commands::mcp::run(config, mcp).await,
            Command::Ask(ask) => commands::ask::run(config, ask).await,
            Command::Eval(eval) => commands::eval::run(config, eval).await,
            Command::Doctor => commands::doctor::run(config).await,
            Command::Logs(logs) => commands::logs::run(&config, &logs).await,
            Command::Trace(trace) => commands::trace::run(&config, &trace).await,
            Command::Context(context) => commands::context::run(config, &context).await,
            Command::Verify(verify) => commands::verify::run(config, &verify).await,
            Command::Report(report) => commands::report::run(config, &report).await,
            Command::User(user) => commands::user::run(&config, user).await,
            Command::Key(key) => commands::key::run(&config, key).await,
            Command::Skill(skill) => commands::skill::run(&config, skill),
            Command::Feedback(feedback) => commands::feedback::run(&config, &feedback).await,
            Command::Export(export) => commands::archive::export(&config, &export).await,
            Command::Import(import) => commands::archive::import(&config, &import).await,
        }
    });
    // Work that is still going on in the background must not hold the process.
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    if let Some(telemetry) = telemetry {
        telemetry.finish();
    }
    match outcome {
        Ok(code) => code,
        Err(error) => {
            output::complain(&format!("{error:#}"));
            ExitCode::from(if commands::is_wrong_use(&error) { WRONG_USE } else { FAILED })
        }
    }
}
