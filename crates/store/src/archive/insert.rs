//! The one transaction of an import. Every id is ours or re-checked: runs get new ids, events new numbers.

use std::collections::HashMap;
use std::path::Path;

use ba_protocol::event::Event;
use ba_protocol::file::IngestStatus;
use ba_protocol::{ConversationId, RunEvent, RunId, Turn, UserId};
use jiff::Timestamp;
use tempfile::TempPath;

use super::import::ImportReport;
use super::lines::Lines;
use super::manifest::{CALLS, CallEntry, EVENTS, Manifest, ROUNDS};
use crate::blob::{self, BlobId, Staged};
use crate::conversations::{clean_title, now, to_micros};
use crate::db::{Session, params};
use crate::error::{Result, StoreError};
use crate::filename::{clean_filename, extension};
use crate::runs::json;
use crate::types::{Conversation, RunStatus};
use crate::{languages, turns, uploads};

pub(super) struct Incoming {
    pub id: ConversationId,
    pub owner: UserId,
    pub manifest: Manifest,
    /// Rounds, events and calls.
    pub lines: HashMap<&'static str, TempPath>,
    /// In the order uploads, codes, artifacts.
    pub staged: Vec<Staged>,
}

impl Incoming {
    fn lines(&self, name: &'static str, what: &'static str) -> Result<Lines> {
        Lines::open(self.lines.get(name).map(|path| -> &Path { path }), what)
    }
}

pub(super) async fn insert(s: &mut dyn Session, incoming: Incoming) -> Result<(ImportReport, Vec<BlobId>)> {
    let conversation = Conversation {
        id: incoming.id.clone(),
        owner: incoming.owner.clone(),
        title: clean_title(&incoming.manifest.title),
        created_at: to_micros(incoming.manifest.created_at),
        updated_at: now(),
    };
    s.execute(
        "INSERT INTO conversations (id, owner, title, created_at, updated_at, next_seq)
         VALUES ($1, $2, $3, $4, $5, 1)",
        params![
            &conversation.id,
            &conversation.owner,
            conversation.title.as_str(),
            conversation.created_at,
            conversation.updated_at
        ],
    )
    .await?;
    let runs = insert_runs(s, &incoming).await?;
    insert_events(s, &incoming, &runs).await?;
    insert_calls(s, &incoming, &runs).await?;
    let rounds = insert_rounds(s, &incoming, &runs).await?;
    let blobs = insert_files(s, &incoming).await?;
    let report = ImportReport {
        conversation,
        rounds,
        uploads: incoming.manifest.uploads.len(),
        codes: incoming.manifest.codes.len(),
        artifacts: incoming.manifest.artifacts.len(),
    };
    Ok((report, blobs))
}

/// A run never comes in open: an archive must not make the server work.
async fn insert_runs(s: &mut dyn Session, incoming: &Incoming) -> Result<HashMap<RunId, RunId>> {
    let mut renamed = HashMap::new();
    for run in &incoming.manifest.runs {
        let id = RunId::random();
        let status = if run.status.is_open() { RunStatus::Cancelled } else { run.status };
        s.execute(
            "INSERT INTO runs (id, conversation_id, message, state, status, usage_info, created_at, updated_at)
             VALUES ($1, $2, $3, '{}', $4, $5, $6, $6)",
            params![
                &id,
                &incoming.id,
                run.message.as_str(),
                status.as_str(),
                json(&run.usage)?,
                to_micros(run.created_at)
            ],
        )
        .await?;
        if renamed.insert(run.id.clone(), id).is_some() {
            return Err(StoreError::Invalid(format!("the archive lists run {} twice", run.id)));
        }
    }
    for run in incoming.manifest.runs.iter().filter(|run| run.superseded || run.turn_id.is_some()) {
        let turn = run.turn_id.as_ref().map(|turn| self::renamed(&renamed, turn)).transpose()?;
        s.execute(
            "UPDATE runs SET turn_id = $2, superseded = $3 WHERE id = $1",
            params![self::renamed(&renamed, &run.id)?, turn.map(ToString::to_string), run.superseded],
        )
        .await?;
    }
    Ok(renamed)
}

async fn insert_events(s: &mut dyn Session, incoming: &Incoming, runs: &HashMap<RunId, RunId>) -> Result<()> {
    let mut next = 1u64;
    let mut events = incoming.lines(EVENTS, "event")?;
    while let Some(event) = events.next::<Event>()? {
        if event.event.is_durable() {
            let run = renamed(runs, &event.run_id)?;
            let kept = rewrite(event.event, &incoming.id, run);
            insert_event(s, &incoming.id, next, run, event.at, &kept).await?;
            next += 1;
        }
    }
    for run in incoming.manifest.runs.iter().filter(|r| r.status.is_open()) {
        let id = renamed(runs, &run.id)?;
        insert_event(s, &incoming.id, next, id, run.created_at, &RunEvent::RunCancelled { partial: None })
            .await?;
        next += 1;
    }
    s.execute("UPDATE conversations SET next_seq = $2 WHERE id = $1", params![&incoming.id, next])
        .await
        .map(|_| ())
}

async fn insert_event(
    s: &mut dyn Session,
    conversation: &ConversationId,
    seq: u64,
    run: &RunId,
    at: Timestamp,
    event: &RunEvent,
) -> Result<()> {
    s.execute(
        "INSERT INTO events (conversation_id, seq, run_id, at, event) VALUES ($1, $2, $3, $4, $5)",
        params![conversation, seq, run, to_micros(at), json(event)?],
    )
    .await
    .map(|_| ())
}

/// What tools were asked and answered, and the evidence that figures are proven by (SPEC V8).
async fn insert_calls(s: &mut dyn Session, incoming: &Incoming, runs: &HashMap<RunId, RunId>) -> Result<()> {
    let mut calls = incoming.lines(CALLS, "call")?;
    let mut position = 0u64;
    while let Some(call) = calls.next::<CallEntry>()? {
        let started = to_micros(call.started_at);
        let finished = call.result.as_ref().map(|_| started.as_microsecond());
        s.execute(
            "INSERT INTO calls (run_id, step, tool_call_id, position, tool_name, arguments, idempotent, started_at,
                                result, telemetry, evidence, finished_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            params![
                renamed(runs, &call.run_id)?,
                call.step,
                call.tool_call_id,
                position,
                call.tool_name,
                json(&call.arguments)?,
                call.idempotent,
                started,
                call.result.as_ref().map(json).transpose()?,
                call.telemetry.as_ref().map(json).transpose()?,
                call.evidence,
                finished
            ],
        )
        .await?;
        position += 1;
    }
    Ok(())
}

async fn insert_rounds(
    s: &mut dyn Session,
    incoming: &Incoming,
    runs: &HashMap<RunId, RunId>,
) -> Result<usize> {
    let mut count = 0;
    let mut lines = incoming.lines(ROUNDS, "round")?;
    while let Some(round) = lines.next::<serde_json::Value>()? {
        let round = turns::decode_value(incoming.manifest.rounds_version, round)?;
        let run = renamed(runs, &round.run_id)?;
        let round = Turn { run_id: run.clone(), ..round };
        s.execute(
            "INSERT INTO rounds (run_id, conversation_id, position, round, schema_version)
             VALUES ($1, $2, $3, $4, $5)",
            params![run, &incoming.id, count as u64, json(&round)?, turns::VERSION],
        )
        .await?;
        count += 1;
    }
    Ok(count)
}

async fn insert_files(s: &mut dyn Session, incoming: &Incoming) -> Result<Vec<BlobId>> {
    let mut linked = Vec::new();
    let mut staged = incoming.staged.iter();
    let manifest = &incoming.manifest;
    let mut next_upload = 1;
    for file in &manifest.uploads {
        let (bytes, blob) = link_next(s, &mut staged).await?;
        let mut upload = file.about.clone();
        let number = upload.file_id.as_str().trim_start_matches("upload_").parse::<u32>().unwrap_or(0);
        next_upload = next_upload.max(number.saturating_add(1));
        upload.conversation_id = incoming.id.clone();
        upload.filename = clean_filename(&upload.filename);
        upload.file_type = extension(&upload.filename);
        upload.description = uploads::clean_description(&upload.description);
        (upload.size, upload.sha256) = (bytes.size, bytes.sha256.clone());
        upload.created_at = to_micros(upload.created_at);
        upload.status = IngestStatus::Processing;
        upload.ingest_options = upload.ingest_options.checked().unwrap_or_default();
        uploads::insert_row(s, &upload, number, &blob).await?;
        uploads::enqueue_ingest(s, &incoming.id, &upload.file_id, incoming.owner.clone()).await?;
        linked.push(blob);
    }
    for file in &manifest.codes {
        let (bytes, blob) = link_next(s, &mut staged).await?;
        let code = &file.about;
        let language = languages::find(&code.language).unwrap_or(languages::FALLBACK);
        s.execute(
            "INSERT INTO codes (conversation_id, code_id, version, language, description, file_path, line_count,
                                char_count, size, blob_id, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            params![
                &incoming.id,
                &code.code_id,
                code.version.max(1),
                language.name,
                crate::code::describe(&code.description, ""),
                format!("data/{}.{}", code.code_id, language.extension),
                code.line_count,
                code.char_count,
                bytes.size,
                blob.as_str(),
                to_micros(code.created_at)
            ],
        )
        .await?;
        linked.push(blob);
    }
    for file in &manifest.artifacts {
        let (bytes, blob) = link_next(s, &mut staged).await?;
        let name = clean_filename(&file.about.name);
        s.execute(
            "INSERT INTO artifacts (conversation_id, name, file_type, size, blob_id, created_at)
             VALUES ($1, $2, $3, $4, $5, $6)",
            params![
                &incoming.id,
                name.as_str(),
                extension(&name),
                bytes.size,
                blob.as_str(),
                to_micros(file.about.created_at)
            ],
        )
        .await?;
        linked.push(blob);
    }
    s.execute("UPDATE conversations SET next_upload = $2 WHERE id = $1", params![&incoming.id, next_upload])
        .await?;
    Ok(linked)
}

async fn link_next<'s>(
    s: &mut dyn Session,
    staged: &mut (impl Iterator<Item = &'s Staged> + Send),
) -> Result<(&'s Staged, BlobId)> {
    let one = staged.next().ok_or_else(|| StoreError::Invalid("the archive lacks a file".to_owned()))?;
    let blob = blob::link(s, one).await?;
    Ok((one, blob))
}

fn renamed<'r>(runs: &'r HashMap<RunId, RunId>, id: &RunId) -> Result<&'r RunId> {
    runs.get(id)
        .ok_or_else(|| StoreError::Invalid(format!("the archive names run {id}, which it does not hold")))
}

/// Events carry ids inside; they must name the new conversation and run.
fn rewrite(event: RunEvent, conversation: &ConversationId, run: &RunId) -> RunEvent {
    match event {
        RunEvent::RunStarted { message, file_ids, .. } => {
            let (run_id, conversation_id) = (run.clone(), conversation.clone());
            RunEvent::RunStarted { run_id, conversation_id, message, file_ids }
        }
        RunEvent::Turn(mut answer) => {
            (answer.conversation_id, answer.run_id) = (conversation.clone(), run.clone());
            RunEvent::Turn(answer)
        }
        RunEvent::Report(mut answer) => {
            (answer.conversation_id, answer.run_id) = (conversation.clone(), run.clone());
            RunEvent::Report(answer)
        }
        other => other,
    }
}
