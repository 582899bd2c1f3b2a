//! A conversation's files: list, read with profile, describe, read in again, delete, watch ingest (SPEC A4, B8).

use axum::extract::State;
use axum::response::Response;
use axum::response::sse::Event;
use ba_protocol::file::{IngestOptions, IngestStatus};
use ba_protocol::reading::BadChoice;
use ba_protocol::{Artifact, ConversationId, Upload, UploadId};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::RecvError;
use utoipa::{IntoParams, ToSchema};

use super::conversations::Deleted;
use crate::auth::Caller;
use crate::envelope::{Body, Data, Path, Query};
use crate::error::{ApiError, Result};
use crate::file_events::FileEvent;
use crate::state::AppState;
use crate::{ingest, sse};

/// As the store keeps it.
const MAX_DESCRIPTION: usize = 500;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct InConversation {
    #[param(example = "conv_a87365d8983d")]
    pub conversation_id: ConversationId,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct FileList {
    /// Uploads, oldest first; their profiles come with `GET /files/{file_id}`.
    pub files: Vec<Upload>,
    /// What tools produced.
    pub artifacts: Vec<Artifact>,
}

/// Uploads and artifacts of a conversation.
#[utoipa::path(get, path = "/files", tag = "files", operation_id = "listFiles", params(InConversation),
    responses((status = 200, body = Data<FileList>)))]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Query(place): Query<InConversation>,
) -> Result<Data<FileList>> {
    state.own(&caller.user, &place.conversation_id).await?;
    let store = &state.deps.store;
    let files = store.upload_list(&place.conversation_id).await?;
    let artifacts = store.artifacts(&place.conversation_id).await?;
    Ok(Data::of(FileList { files, artifacts }))
}

/// One upload with its profile: tables, columns, quality notes, a preview.
#[utoipa::path(get, path = "/files/{file_id}", tag = "files", operation_id = "readFile",
    params(("file_id" = UploadId, Path, example = "upload_001"), InConversation),
    responses((status = 200, body = Data<Upload>)))]
pub async fn read(
    State(state): State<AppState>,
    caller: Caller,
    Path(file_id): Path<UploadId>,
    Query(place): Query<InConversation>,
) -> Result<Data<Upload>> {
    state.own(&caller.user, &place.conversation_id).await?;
    Ok(Data::of(state.deps.store.upload(&place.conversation_id, file_id.as_str()).await?))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Describe {
    /// One line for people and the model; empty takes it away.
    #[schema(max_length = 500, example = "2024年销售数据")]
    pub description: String,
}

/// Say what an upload is.
#[utoipa::path(patch, path = "/files/{file_id}", tag = "files", operation_id = "describeFile",
    params(("file_id" = UploadId, Path, example = "upload_001"), InConversation), request_body = Describe,
    responses((status = 200, body = Data<Upload>)))]
pub async fn describe(
    State(state): State<AppState>,
    caller: Caller,
    Path(file_id): Path<UploadId>,
    Query(place): Query<InConversation>,
    Body(describe): Body<Describe>,
) -> Result<Data<Upload>> {
    state.own(&caller.user, &place.conversation_id).await?;
    let text = description(&describe.description)?;
    Ok(Data::of(state.deps.store.describe_upload(&place.conversation_id, &file_id, text).await?))
}

/// A description that fits, or why it does not.
pub(super) fn description(given: &str) -> Result<&str> {
    if given.chars().count() > MAX_DESCRIPTION {
        let message = format!("a description has at most {MAX_DESCRIPTION} characters");
        return Err(ApiError::bad_request("description_too_long", message));
    }
    Ok(given)
}

/// Read an upload again with other choices; `{}` goes back to finding everything out.
///
/// Answers like an upload does: small files with their new profile, others while they are being read. A choice that
/// cannot be followed is refused and the file stays as it was; one that the reading itself finds wrong makes the file
/// `failed` with the reason, until other choices are made.
#[utoipa::path(post, path = "/files/{file_id}/ingest", tag = "files", operation_id = "ingestFile",
    params(("file_id" = UploadId, Path, example = "upload_001"), InConversation),
    request_body(content = IngestOptions, example = json!({"encoding": "big5", "header_row": 3})),
    responses((status = 200, body = Data<Upload>)))]
pub async fn ingest_again(
    State(state): State<AppState>,
    caller: Caller,
    Path(file_id): Path<UploadId>,
    Query(place): Query<InConversation>,
    Body(options): Body<IngestOptions>,
) -> Result<Data<Upload>> {
    state.own(&caller.user, &place.conversation_id).await?;
    let options = options.checked().map_err(refused)?;
    let before = state.deps.store.upload(&place.conversation_id, file_id.as_str()).await?;
    options.fits(&before.ingest_options, before.profile.as_ref()).map_err(refused)?;
    // A task of its own: a client that vanishes must not leave a file that waits for nobody.
    let reading = tokio::spawn(async move {
        let upload = state.deps.store.ingest_again(&place.conversation_id, &file_id, &options).await?;
        let mut read = ingest::start(&state, vec![upload]).await;
        read.pop().ok_or_else(|| ApiError::internal("no file came back from ingest"))
    });
    reading.await.map_err(ApiError::internal)?.map(Data::of)
}

fn refused(choice: BadChoice) -> ApiError {
    ApiError::bad_request(choice.code, choice.message)
}

/// Remove an upload.
#[utoipa::path(delete, path = "/files/{file_id}", tag = "files", operation_id = "deleteFile",
    params(("file_id" = UploadId, Path, example = "upload_001"), InConversation),
    responses((status = 200, body = Data<Deleted>)))]
pub async fn delete(
    State(state): State<AppState>,
    caller: Caller,
    Path(file_id): Path<UploadId>,
    Query(place): Query<InConversation>,
) -> Result<Data<Deleted>> {
    state.own(&caller.user, &place.conversation_id).await?;
    state.deps.store.delete_upload(&place.conversation_id, &file_id).await?;
    Ok(Data::of(Deleted { deleted: true }))
}

/// Remove a file that a tool or an export made.
#[utoipa::path(delete, path = "/files/artifacts/{name}", tag = "files", operation_id = "deleteArtifact",
    params(("name" = String, Path, example = "sales_report.xlsx"), InConversation),
    responses((status = 200, body = Data<Deleted>)))]
pub async fn delete_artifact(
    State(state): State<AppState>,
    caller: Caller,
    Path(name): Path<String>,
    Query(place): Query<InConversation>,
) -> Result<Data<Deleted>> {
    state.own(&caller.user, &place.conversation_id).await?;
    state.deps.store.delete_artifact(&place.conversation_id, &name).await?;
    Ok(Data::of(Deleted { deleted: true }))
}

/// Progress of files being read in: `file.progress`, and `file.done` when one is ready or failed.
/// Ends when no file is being read.
#[utoipa::path(get, path = "/files/events", tag = "files", operation_id = "fileEvents", params(InConversation),
    responses((status = 200, description = "Events of ingest", content_type = "text/event-stream", body = String)))]
pub async fn events(
    State(state): State<AppState>,
    caller: Caller,
    Query(place): Query<InConversation>,
) -> Result<Response> {
    state.own(&caller.user, &place.conversation_id).await?;
    let mut watch = state.file_events.watch(&place.conversation_id);
    let store = state.deps.store.clone();
    let uploads = store.upload_list(&place.conversation_id).await?;
    let stream = async_stream::stream! {
        let mut waiting: Vec<UploadId> = Vec::new();
        for upload in uploads {
            if upload.status == IngestStatus::Processing {
                waiting.push(upload.file_id);
            } else {
                yield to_event(&FileEvent::Done(Box::new(Upload { profile: None, ..upload })));
            }
        }
        while !waiting.is_empty() {
            match watch.recv().await {
                Ok(event) => {
                    if let FileEvent::Done(upload) = &event {
                        waiting.retain(|id| *id != upload.file_id);
                    }
                    yield to_event(&event);
                }
                // A slow reader: what it missed of progress is past, and the store knows which files are done.
                Err(RecvError::Lagged(_)) => {
                    let Ok(now) = store.upload_list(&place.conversation_id).await else { return };
                    for upload in now.iter().filter(|upload| upload.status != IngestStatus::Processing) {
                        if waiting.contains(&upload.file_id) {
                            yield to_event(&FileEvent::Done(Box::new(upload.clone())));
                        }
                    }
                    waiting.retain(|id| {
                        now.iter().any(|u| u.file_id == *id && u.status == IngestStatus::Processing)
                    });
                }
                Err(RecvError::Closed) => return,
            }
        }
    };
    Ok(sse::respond(&state, stream))
}

fn to_event(event: &FileEvent) -> Event {
    let (name, data) = match event {
        FileEvent::Progress { file_id, fraction, message } => (
            "file.progress",
            serde_json::json!({"file_id": file_id, "fraction": fraction, "message": message}).to_string(),
        ),
        FileEvent::Done(upload) => ("file.done", serde_json::to_string(upload).unwrap_or_default()),
    };
    Event::default().event(name).data(data)
}
