//! `ba-agent ask`: one question, answered in the terminal. Exit code by outcome (SPEC K4, K6).

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use ba_agent::AgentError;
use ba_config::Config;
use ba_protocol::api::{AgentResponse, QueryRequest};
use ba_protocol::file::IngestStatus;
use ba_protocol::{ConversationId, Upload, UploadId, UserId, text};
use tokio::io::AsyncReadExt;

use super::progress::TerminalSink;
use super::{WrongUse, conversation_id};
use crate::args::AskArgs;
use crate::output;
use crate::wire::{self, App};

pub async fn run(config: Config, ask: AskArgs) -> anyhow::Result<ExitCode> {
    for file in &ask.files {
        if !file.is_file() {
            return Err(WrongUse(format!("no file {}", file.display())).into());
        }
    }
    let wanted = ask.conversation.as_deref().map(conversation_id).transpose()?;
    let models = wire::models::models(&config, ask.record.as_deref()).await?;
    let app = wire::app(&config, models, Arc::new(TerminalSink::new(ask.json))).await?;
    let owner = UserId::local();
    let (conversation, files) = upload(&app, &owner, wanted, &ask.question, &ask.files).await?;
    let query = QueryRequest {
        message: ask.question.clone(),
        conversation_id: conversation,
        file_ids: files,
        model: ask.model.clone(),
        output_level: None,
        replaces: None,
    };
    let outcome = told(&app, &ask, answer(&app, &owner, query).await).await;
    app.agent.shutdown(Duration::from_secs(1)).await;
    if let ba_tools::Python::Ready(sandbox) = app.python {
        sandbox.shutdown().await;
    }
    outcome
}

async fn told(
    app: &App,
    ask: &AskArgs,
    answer: Result<AgentResponse, AgentError>,
) -> anyhow::Result<ExitCode> {
    let response = answer?;
    print(&response, ask.json)?;
    if let Some(folder) = &ask.save {
        save(app, &response, folder).await?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn answer(
    app: &App,
    owner: &UserId,
    query: QueryRequest,
) -> Result<AgentResponse, AgentError> {
    let admitted = app.agent.admit(owner, query).await?;
    tokio::select! {
        answer = app.agent.wait(owner, &admitted.run_id) => answer,
        _ = tokio::signal::ctrl_c() => {
            app.agent.cancel(&admitted.run_id).await?;
            app.agent.wait(owner, &admitted.run_id).await
        }
    }
}

/// Uploads and ingests files, into the named conversation or a new one called by its question.
pub(super) async fn upload(
    app: &App,
    owner: &UserId,
    wanted: Option<ConversationId>,
    question: &str,
    paths: &[PathBuf],
) -> anyhow::Result<(Option<ConversationId>, Vec<UploadId>)> {
    if paths.is_empty() {
        return Ok((wanted, Vec::new()));
    }
    let is_new = wanted.is_none();
    let conversation = match wanted {
        Some(id) => app.store.conversation(owner, &id).await?.id,
        None => app.store.create(owner, &text::shorten(&text::one_line(question), 40)).await?.id,
    };
    let mut files = Vec::new();
    for path in paths {
        let upload = take_in(app, &conversation, path).await?;
        files.push(upload.file_id);
        if upload.status == IngestStatus::Ready {
            continue;
        }
        // A question about a file that is not there would get an answer about something else.
        for file in &files {
            app.store.delete_upload(&conversation, file).await?;
        }
        if is_new {
            app.store.delete(owner, &conversation).await?;
        }
        let reason = upload.error.unwrap_or_else(|| "it could not be read".to_owned());
        return Err(WrongUse(format!("{} cannot be used: {reason}", path.display())).into());
    }
    Ok((Some(conversation), files))
}

/// One file, stored and read in.
async fn take_in(app: &App, conversation: &ConversationId, path: &Path) -> anyhow::Result<Upload> {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut source = tokio::fs::File::open(path).await.with_context(|| path.display().to_string())?;
    let mut writer = app.store.begin_upload(conversation, &name, None).await?;
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let read = source.read(&mut buffer).await?;
        if read == 0 {
            break;
        }
        writer.write(&buffer[..read]).await?;
    }
    let upload = writer.finish().await?;
    Ok(wire::ingest::read_in(app, &upload).await?)
}

fn print(response: &AgentResponse, json: bool) -> anyhow::Result<()> {
    if json {
        let body = serde_json::json!({"success": true, "data": response});
        output::say(&serde_json::to_string_pretty(&body)?);
        return Ok(());
    }
    output::say(&super::readable::report(response));
    super::readable::proof(response).iter().for_each(|line| output::note(line));
    for data in &response.metadata.data_notes {
        output::note(&format!("※ {}", text::one_line(&data.line())));
    }
    for warning in &response.metadata.warnings {
        output::note(&format!("! {warning}"));
    }
    match &response.metadata.needs_clarification {
        Some(asked) => {
            for (number, choice) in asked.choices.iter().enumerate() {
                output::note(&format!("{}. {choice}", number + 1));
            }
            output::note(&format!(
                "answer with: ba-agent ask \"…\" --conversation {}",
                response.conversation_id
            ));
        }
        None => response.metadata.recommended_questions.iter().for_each(|q| output::note(&format!("🤔 {q}"))),
    }
    for link in &response.metadata.download_links {
        output::note(&format!("📦 {link} (copy it with --save FOLDER)"));
    }
    output::note(&format!("conversation: {}", response.conversation_id));
    Ok(())
}

async fn save(app: &App, response: &AgentResponse, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for artifact in &response.artifacts {
        let from = app.store.artifact_path(&response.conversation_id, &artifact.name).await?;
        let to = folder.join(artifact.name.replace('/', "_"));
        std::fs::copy(&from, &to).with_context(|| to.display().to_string())?;
        output::note(&format!("saved {}", to.display()));
    }
    Ok(())
}
