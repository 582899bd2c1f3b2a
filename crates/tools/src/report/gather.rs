//! What a document is made from, out of the store: questions, answers, calls, evidence, code, pictures and tables, as one
//! JSON value and the files it names.

use std::path::Path;

use ba_protocol::api::AgentResponse;
use ba_protocol::{CodeId, ConversationId, Event, RunEvent, RunId};
use ba_sandbox::Input;
use ba_store::{EventScope, Store, StoreError};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{ReportError, ReportFormat, ReportRequest};
use crate::conversation_tables::known_tables;

const PAGE: u32 = 500;
const EVIDENCE_BYTES: usize = 64 << 20;
/// Answers of one document; more are an archive, not a report.
const MAX_PARTS: usize = 200;
const MAX_PICTURES: usize = 200;
const PICTURE_BYTES: u64 = 24 << 20;
const TABLE_BYTES: u64 = 256 << 20;
const PICTURES: [&str; 6] = ["png", "jpg", "jpeg", "gif", "webp", "bmp"];

pub(super) struct Gathered {
    pub document: Value,
    pub inputs: Vec<Input>,
}

/// One question and what came of it.
struct Part {
    run: RunId,
    question: String,
    asked: Timestamp,
    status: &'static str,
    error: Option<String>,
    answer: Option<AgentResponse>,
    calls: Vec<Value>,
}

pub(super) async fn gather(
    store: &Store,
    request: &ReportRequest,
    echarts: Option<&Path>,
) -> Result<Gathered, ReportError> {
    let id = &request.conversation;
    let conversation = store.conversation(&request.owner, id).await.map_err(missing)?;
    let mut parts = parts(store, id).await?;
    if let Some(run) = &request.run {
        parts.retain(|part| part.run == *run);
        if parts.is_empty() {
            return Err(ReportError::NotFound(format!("run {run} not found in conversation {id}")));
        }
    } else {
        parts = chosen(store, id, parts).await?;
    }
    if !parts.iter().any(|part| part.answer.is_some()) {
        return Err(ReportError::Empty("there is no complete answer to export yet".to_owned()));
    }
    if parts.len() > MAX_PARTS {
        parts.drain(..parts.len() - MAX_PARTS);
    }
    let mut inputs = Vec::new();
    let pictures = pictures(store, id, &parts, &mut inputs).await?;
    let tables = match request.format {
        ReportFormat::Ipynb => tables(store, id, &mut inputs).await?,
        _ => Vec::new(),
    };
    let mut document = json!({
        "title": if request.run.is_some() { parts.first().map(|p| p.question.clone()) } else { Some(conversation.title) },
        "conversation_id": id, "language": request.language, "audience": request.audience.as_str(), "made_at": minute(Timestamp::now()),
        "pictures": pictures, "tables": tables, "uploads": uploads(store, id).await?,
    });
    if let Some(path) = echarts {
        inputs.push(Input { names: vec!["echarts.js".to_owned()], path: path.to_owned() });
        document["echarts"] = json!("echarts.js");
    }
    let mut all = Vec::new();
    for part in parts {
        all.push(in_full(store, id, part).await?);
    }
    document["parts"] = Value::Array(all);
    Ok(Gathered { document, inputs })
}

fn missing(error: StoreError) -> ReportError {
    if error.is_not_found() { ReportError::NotFound(error.to_string()) } else { error.into() }
}

fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

async fn parts(store: &Store, conversation: &ConversationId) -> Result<Vec<Part>, ReportError> {
    let mut parts: Vec<Part> = Vec::new();
    let mut after = 0;
    loop {
        let page = store.events_after(EventScope::Conversation(conversation), after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(parts) };
        after = last.seq;
        for event in page {
            add(&mut parts, event);
        }
    }
}

/// Of a turn that was asked again, the version that counts, in the place of the first.
async fn chosen(
    store: &Store,
    conversation: &ConversationId,
    mut parts: Vec<Part>,
) -> Result<Vec<Part>, ReportError> {
    let versions = store.turn_versions(conversation).await?;
    if versions.is_empty() {
        return Ok(parts);
    }
    let order: Vec<RunId> = parts.iter().map(|part| part.run.clone()).collect();
    let version = |run: &RunId| versions.iter().find(|version| &version.run_id == run);
    parts.retain(|part| !version(&part.run).is_some_and(|v| v.superseded));
    parts.sort_by_key(|part| {
        let turn = version(&part.run).map_or(&part.run, |version| &version.turn_id);
        order.iter().position(|run| run == turn)
    });
    Ok(parts)
}

fn add(parts: &mut Vec<Part>, event: Event) {
    if let RunEvent::RunStarted { message, .. } = event.event {
        parts.push(Part {
            run: event.run_id,
            question: message,
            asked: event.at,
            status: "running",
            error: None,
            answer: None,
            calls: Vec::new(),
        });
        return;
    }
    let Some(part) = parts.iter_mut().rev().find(|part| part.run == event.run_id) else { return };
    match event.event {
        RunEvent::ToolStarted { tool_call_id, tool_name, arguments, .. } => {
            part.calls
                .push(json!({"tool_call_id": tool_call_id, "tool_name": tool_name, "arguments": arguments}));
        }
        RunEvent::ToolFinished(finished) => {
            let id = finished.tool_call_id.as_str();
            if let Some(call) = part.calls.iter_mut().rev().find(|call| call["tool_call_id"] == id) {
                call["success"] = json!(finished.success);
            }
        }
        RunEvent::Report(answer) => {
            part.status = "complete";
            part.answer = Some(*answer);
        }
        RunEvent::RunFailed { error } => {
            part.status = "failed";
            part.error = Some(error.message);
        }
        RunEvent::RunCancelled { .. } => part.status = "cancelled",
        _ => {}
    }
}

async fn in_full(store: &Store, id: &ConversationId, part: Part) -> Result<Value, ReportError> {
    let mut evidence = Vec::new();
    for kept in store.evidence(std::slice::from_ref(&part.run), EVIDENCE_BYTES).await? {
        evidence.push(serde_json::from_str::<Value>(&kept.evidence).unwrap_or(Value::Null));
    }
    let code = match &part.answer {
        Some(answer) => code(store, id, answer).await?,
        None => Vec::new(),
    };
    Ok(json!({
        "run_id": part.run, "question": part.question, "asked_at": minute(part.asked), "status": part.status,
        "error": part.error, "answer": part.answer, "calls": part.calls, "evidence": evidence, "code": code,
    }))
}

/// The code that an answer shows or saved, each once.
async fn code(store: &Store, id: &ConversationId, answer: &AgentResponse) -> Result<Vec<Value>, ReportError> {
    let referred = answer.metadata.code_refs.iter().map(|c| (&c.code_id, None, &c.description));
    let saved = answer.metadata.saved_codes.iter().map(|c| (&c.code_id, Some(c.version), &c.description));
    let mut found: Vec<Value> = Vec::new();
    let mut seen: Vec<CodeId> = Vec::new();
    for (code_id, version, description) in referred.chain(saved) {
        if seen.contains(code_id) {
            continue;
        }
        seen.push(code_id.clone());
        match store.code(id, code_id, version).await {
            Ok((file, text)) => found.push(json!({
                "code_id": code_id, "language": file.language, "code": text,
                "description": if description.is_empty() { &file.description } else { description },
            })),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

/// Pictures that an answer names, under names of our own; one too large is only named.
async fn pictures(
    store: &Store,
    id: &ConversationId,
    parts: &[Part],
    inputs: &mut Vec<Input>,
) -> Result<Map<String, Value>, ReportError> {
    let mut found = Map::new();
    for artifact in store.artifacts(id).await? {
        let kind = artifact.file_type.to_ascii_lowercase();
        let named = |a: &AgentResponse| {
            a.response.contains(&artifact.name)
                || a.metadata.file_refs.iter().any(|file| file.filename == artifact.name)
        };
        if !PICTURES.contains(&kind.as_str())
            || found.len() >= MAX_PICTURES
            || !parts.iter().filter_map(|part| part.answer.as_ref()).any(named)
        {
            continue;
        }
        let mut picture = json!({"size": artifact.size});
        if artifact.size <= PICTURE_BYTES {
            let name = format!("picture{}.{kind}", found.len());
            let path = store.artifact_path(id, &artifact.name).await?;
            inputs.push(Input { names: vec![name.clone()], path });
            picture["path"] = json!(name);
        }
        found.insert(artifact.name, picture);
    }
    Ok(found)
}

/// The tables that the answers' SQL and Python read, for a notebook that runs by itself.
async fn tables(
    store: &Store,
    id: &ConversationId,
    inputs: &mut Vec<Input>,
) -> Result<Vec<Value>, ReportError> {
    let mut left = TABLE_BYTES;
    let mut found = Vec::new();
    let known =
        known_tables(store, id).await.map_err(|failure| ReportError::Internal(failure.to_string()))?;
    for (i, table) in known.into_iter().enumerate() {
        let size = std::fs::metadata(&table.source.parquet).map_or(u64::MAX, |meta| meta.len());
        let mut entry = json!({"names": table.source.names, "filename": table.filename, "size": size});
        if size <= left {
            left -= size;
            let name = format!("table{i}.parquet");
            inputs.push(Input { names: vec![name.clone()], path: table.source.parquet });
            entry["path"] = json!(name);
        }
        found.push(entry);
    }
    Ok(found)
}

async fn uploads(store: &Store, id: &ConversationId) -> Result<Vec<Value>, ReportError> {
    let all = store.uploads(id).await?;
    let told = |u: ba_protocol::Upload| json!({"file_id": u.file_id, "filename": u.filename, "size": u.size});
    Ok(all.into_iter().map(told).collect())
}
