//! `ba-agent export` and `import`: a conversation as one archive, so that nothing is locked in.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use ba_agent::NoSink;
use ba_config::Config;
use ba_tools::Python;

use super::{WrongUse, conversation_id, owner};
use crate::args::{ExportArgs, ImportArgs};
use crate::{output, wire};

pub async fn export(config: &Config, args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let id = conversation_id(&args.conversation)?;
    let store = wire::open_store(config).await?;
    let owner = owner(&store, args.user.as_deref()).await?;
    let logs = ba_server::logs_of(&wire::log_dir(config), &id).await;
    let made = store.export(&owner, &id, &logs).await?;
    let name = format!("{id}.tar");
    let to = match &args.output {
        None => PathBuf::from(name),
        Some(folder) if folder.is_dir() => folder.join(name),
        Some(file) => file.clone(),
    };
    let copied = std::fs::copy(&made, &to);
    let _ = std::fs::remove_file(made);
    copied.map_err(|error| WrongUse(format!("{}: {error}", to.display())))?;
    output::say(&to.display().to_string());
    Ok(ExitCode::SUCCESS)
}

/// Its uploads are read in at once where Python works; else by the next server.
pub async fn import(config: &Config, args: &ImportArgs) -> anyhow::Result<ExitCode> {
    if !args.archive.is_file() {
        return Err(WrongUse(format!("no file {}", args.archive.display())).into());
    }
    let store = wire::open_store(config).await?;
    let owner = owner(&store, args.user.as_deref()).await?;
    let report = store.import(&owner, &args.archive).await?;
    if report.uploads > 0 {
        read_in(config, &report.conversation.id).await.context("reading the uploads in")?;
    }
    output::say(&format!(
        "{} {}: {} rounds, {} uploads, {} code files, {} artifacts",
        report.conversation.id,
        report.conversation.title,
        report.rounds,
        report.uploads,
        report.codes,
        report.artifacts
    ));
    Ok(ExitCode::SUCCESS)
}

async fn read_in(config: &Config, conversation: &ba_protocol::ConversationId) -> anyhow::Result<()> {
    let models = wire::models::models(config, None).await?;
    let app = wire::app(config, models, Arc::new(NoSink)).await?;
    match &app.python {
        Python::Ready(_) => wire::ingest::read_in_all(&app, conversation).await?,
        Python::Refused(why) => {
            output::note(&format!("! the uploads are read in when a server starts; not now, because {why}"));
        }
    }
    if let Python::Ready(sandbox) = app.python {
        sandbox.shutdown().await;
    }
    Ok(())
}
