//! `ba-agent report` (SPEC D1): an answer or a whole conversation as a document.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use ba_agent::NoSink;
use ba_config::Config;
use ba_protocol::{ReportFor, RunId, UserId};
use ba_tools::{ReportError, ReportFormat, ReportRequest};
use indicatif::ProgressBar;

use super::{WrongUse, conversation_id};
use crate::args::ReportArgs;
use crate::{output, wire};

pub async fn run(config: Config, args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let conversation = conversation_id(&args.conversation)?;
    let format = args.format.parse::<ReportFormat>().map_err(WrongUse)?;
    let run = args.run.as_deref().map(RunId::parse).transpose().map_err(|e| WrongUse(e.to_string()))?;
    if args.lang.as_deref().is_some_and(|lang| lang != "zh" && lang != "en") {
        return Err(WrongUse("--lang is zh or en".to_owned()).into());
    }
    let models = wire::models::models(&config, None).await?;
    let app = wire::app(&config, models, Arc::new(NoSink)).await?;
    let owner = match &args.user {
        None => UserId::local(),
        Some(name) => app.store.user_by_name(name).await?.id,
    };
    let language = args.lang.clone();
    let request = ReportRequest { owner, conversation, run, format, language, audience: ReportFor::Owner };
    let bar = if output::is_terminal() { ProgressBar::new(100) } else { ProgressBar::hidden() };
    let progress = |fraction: f64, message: &str| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a hundred")]
        bar.set_position((fraction * 100.0) as u64);
        bar.set_message(message.to_owned());
    };
    let made = wire::reports::reports(&config, &app).make(request, &progress).await;
    bar.finish_and_clear();
    let outcome = made.map_err(in_words).and_then(|made| {
        let to = target(args.output.clone(), &made.name);
        write(&made.path, &to)?;
        output::say(&to.display().to_string());
        Ok(ExitCode::SUCCESS)
    });
    app.agent.shutdown(std::time::Duration::from_secs(1)).await;
    if let ba_tools::Python::Ready(sandbox) = app.python {
        sandbox.shutdown().await;
    }
    outcome
}

fn in_words(error: ReportError) -> anyhow::Error {
    match error {
        ReportError::NotFound(what) => WrongUse(what).into(),
        other => other.into(),
    }
}

/// Text with pictures and a notebook with its data are archives: one that is called otherwise would not open.
fn target(wanted: Option<PathBuf>, made: &str) -> PathBuf {
    let Some(wanted) = wanted else { return PathBuf::from(made) };
    let archive = made.ends_with(".zip") && wanted.extension().is_some_and(|kind| kind != "zip");
    if archive { wanted.with_extension("zip") } else { wanted }
}

/// Whole or not at all: a copy beside the target, then renamed.
fn write(from: &std::path::Path, to: &std::path::Path) -> anyhow::Result<()> {
    let folder = to.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
    let named = || to.display().to_string();
    let mut partial = tempfile::NamedTempFile::new_in(folder).with_context(named)?;
    let mut file = std::fs::File::open(from).with_context(named)?;
    std::io::copy(&mut file, partial.as_file_mut()).with_context(named)?;
    use std::os::unix::fs::PermissionsExt;
    partial.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).with_context(named)?;
    partial.persist(to).map_err(|e| e.error).with_context(named)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_called_one() {
        let target = |wanted: &str, made: &str| target(Some(wanted.into()), made).display().to_string();
        assert_eq!(target("out/r.md", "answer.zip"), "out/r.zip");
        assert_eq!(target("r.md", "answer.md"), "r.md");
        assert_eq!(target("r", "answer.zip"), "r");
        assert_eq!(super::target(None, "answer.zip").display().to_string(), "answer.zip");
    }
}
