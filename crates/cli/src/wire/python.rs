//! Prepares the Python environment with a progress display and starts the sandbox. Where it cannot start, the tools
//! that need it refuse and say why; everything else works.

use ba_config::Config;
use ba_sandbox::{
    PrepareOptions, PrepareStep, PythonEnv, Sandbox, SandboxConfig, SandboxError, prepare_python,
};
use ba_tools::Python;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

pub async fn start(config: &Config) -> Python {
    match try_start(config).await {
        Ok(sandbox) => Python::Ready(sandbox),
        Err(error) => {
            output::note(&format!("Python is off: {error}. `ba-agent doctor` says how to fix it."));
            Python::Refused(error.to_string())
        }
    }
}

pub async fn try_start(config: &Config) -> Result<Sandbox, SandboxError> {
    let env = prepare(config).await?;
    let mut wanted = SandboxConfig::new(env, config.data_dir.join("sandbox"));
    wanted.pool = config.python.pool;
    wanted.max_jobs = config.python.max_jobs;
    wanted.memory_limit = config.python.memory_mb << 20;
    Sandbox::start(wanted).await
}

pub async fn prepare(config: &Config) -> Result<PythonEnv, SandboxError> {
    let options = PrepareOptions {
        cache: config.python.cache_dir.clone(),
        env_override: config.python.env.clone(),
        python: None,
    };
    let bar = if output::is_terminal() { ProgressBar::new(100) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_bar} {percent}% {msg}") {
        bar.set_style(style);
    }
    let last = parking_lot::Mutex::new(String::new());
    let on_step = |step: PrepareStep| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a hundred")]
        bar.set_position((step.fraction.clamp(0.0, 1.0) * 100.0) as u64);
        bar.set_message(step.message.clone());
        // Without a terminal, each new phase of long work is a line; the quick check of a ready one is not.
        let mut last = last.lock();
        if bar.is_hidden() && *last != step.message && step.fraction > 0.0 && step.fraction < 1.0 {
            output::note(&step.message);
            *last = step.message;
        }
    };
    let env = prepare_python(&options, &on_step).await;
    bar.finish_and_clear();
    env
}
