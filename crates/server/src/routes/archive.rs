//! A conversation out as one archive, and in again (SPEC A6).

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use ba_protocol::ConversationId;
use futures::StreamExt;
use serde::Serialize;
use tokio::io::AsyncWriteExt;
use tokio_util::io::ReaderStream;
use utoipa::ToSchema;

use super::download;
use crate::auth::Caller;
use crate::envelope::{Data, Path};
use crate::error::{ApiError, Result};
use crate::forget::logs_of;
use crate::state::AppState;

#[derive(Debug, Serialize, ToSchema)]
pub struct Imported {
    pub conversation_id: ConversationId,
    pub title: String,
    pub rounds: usize,
    pub uploads: usize,
    pub codes: usize,
    pub artifacts: usize,
}

/// Everything of a conversation as a tar archive: history, files, code, log.
#[utoipa::path(get, path = "/conversations/{conversation_id}/export", tag = "conversations", operation_id = "exportConversation",
    params(("conversation_id" = ConversationId, Path, example = "conv_a87365d8983d")),
    responses((status = 200, description = "The archive", content_type = "application/x-tar", body = Vec<u8>)))]
pub async fn export(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<ConversationId>,
) -> Result<Response> {
    let conversation = state.own(&caller.user, &id).await?;
    let logs = match &state.deps.log_dir {
        Some(folder) => {
            state.deps.agent.flush_log().await;
            logs_of(folder, &id).await
        }
        None => Vec::new(),
    };
    let path = state.deps.store.export(&caller.user, &id, &logs).await?;
    let opened = tokio::fs::File::open(&path).await;
    // Open handles outlive the name, so nothing stays behind however the client leaves.
    let _ = tokio::fs::remove_file(&path).await;
    let file = opened.map_err(ApiError::internal)?;
    let size = file.metadata().await.map_err(ApiError::internal)?.len();
    let mut response = Body::from_stream(ReaderStream::with_capacity(file, 64 * 1024)).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-tar"));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(size));
    let title = ba_store::filename::clean_filename(&conversation.title);
    download::guard(&mut response, &format!("{title}-{id}.tar"));
    Ok(response)
}

/// A new conversation from an exported archive. The body is the archive itself.
#[utoipa::path(post, path = "/conversations/import", tag = "conversations", operation_id = "importConversation",
    request_body(content = Vec<u8>, content_type = "application/x-tar"),
    responses((status = 200, body = Data<Imported>)))]
pub async fn import(State(state): State<AppState>, caller: Caller, body: Body) -> Result<Data<Imported>> {
    let limit = state.config.limits.import_bytes;
    let name = format!("import-{}.tar", uuid::Uuid::new_v4().simple());
    let archive = Temporary(state.deps.store.root().join(name));
    write(body, &archive.0, limit).await?;
    let report = state.deps.store.import(&caller.user, &archive.0).await?;
    // Its uploads are read in again, by the worker.
    state.wake_worker.notify_one();
    Ok(Data::of(Imported {
        conversation_id: report.conversation.id,
        title: report.conversation.title,
        rounds: report.rounds,
        uploads: report.uploads,
        codes: report.codes,
        artifacts: report.artifacts,
    }))
}

/// A file that goes however the request ends.
struct Temporary(std::path::PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

async fn write(body: Body, path: &std::path::Path, limit: u64) -> Result<()> {
    let file = ba_store::create_file(path).map_err(ApiError::internal)?;
    let mut file = tokio::fs::File::from_std(file);
    let mut stream = body.into_data_stream();
    let mut size = 0u64;
    while let Some(chunk) = stream.next().await {
        let chunk = chunk
            .map_err(|_| ApiError::bad_request("invalid_body", "the body could not be read to its end"))?;
        size += chunk.len() as u64;
        if size > limit {
            return Err(ApiError::too_large(limit));
        }
        file.write_all(&chunk).await.map_err(ApiError::internal)?;
    }
    file.flush().await.map_err(ApiError::internal)
}
