//! A conversation's files: list, read with profile, delete, watch ingest (SPEC A4).

use axum::extract::State;
use axum::response::Response;
use axum::response::sse::Event;
use ba_protocol::file::IngestStatus;
use ba_protocol::{Artifact, ConversationId, Upload, UploadId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::conversations::Deleted;
use crate::auth::Caller;
use crate::envelope::{Data, Path, Query};
use crate::error::Result;
use crate::file_events::FileEvent;
use crate::sse;
use crate::state::AppState;

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
    let mut files = store.uploads(&place.conversation_id).await?;
    for file in &mut files {
        file.profile = None;
    }
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
    let uploads = store.uploads(&place.conversation_id).await?;
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
            // A missed event is made up for by the next one, or by asking the store.
            let Ok(event) = watch.recv().await else { return };
            if let FileEvent::Done(upload) = &event {
                waiting.retain(|id| *id != upload.file_id);
            }
            yield to_event(&event);
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
