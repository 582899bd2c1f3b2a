//! `ba-agent export` and `import`: a conversation as one archive, so that nothing is locked in.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use ba_config::Config;
use ba_protocol::UserId;
use ba_store::Store;

use super::conversation_id;
use crate::args::{ExportArgs, ImportArgs};
use crate::{output, wire};

pub async fn export(config: &Config, args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let id = conversation_id(&args.conversation)?;
    let store = wire::open_store(config).await?;
    let owner = owner(&store, args.user.as_deref()).await?;
    let made = store.export(&owner, &id, Some(&wire::log_dir(config))).await?;
    let extension = made.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
    let to = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{id}.{extension}")));
    std::fs::copy(&made, &to).with_context(|| to.display().to_string())?;
    let _ = std::fs::remove_file(made);
    output::say(&to.display().to_string());
    Ok(ExitCode::SUCCESS)
}

pub async fn import(config: &Config, args: &ImportArgs) -> anyhow::Result<ExitCode> {
    let store = wire::open_store(config).await?;
    let owner = owner(&store, args.user.as_deref()).await?;
    let report = store.import(&owner, &args.archive).await?;
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

async fn owner(store: &Store, name: Option<&str>) -> anyhow::Result<UserId> {
    match name {
        None => Ok(UserId::local()),
        Some(name) => Ok(store.user_by_name(name).await?.id),
    }
}
