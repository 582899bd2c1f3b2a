//! Sample data, loaded into a conversation with one click.

use axum::extract::State;
use ba_protocol::ConversationId;
use serde::Deserialize;
use tokio::io::AsyncReadExt;
use utoipa::ToSchema;

use super::upload::Uploaded;
use crate::auth::Caller;
use crate::envelope::{Body, Data};
use crate::error::{ApiError, Result};
use crate::ingest;
use crate::service::Sample;
use crate::state::AppState;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadSample {
    #[schema(example = "retail")]
    name: String,
    /// A new one when absent.
    #[serde(default)]
    conversation_id: Option<ConversationId>,
}

/// Copy a sample's files into a conversation.
#[utoipa::path(post, path = "/samples/load", tag = "files", operation_id = "loadSample", request_body = LoadSample,
    responses((status = 200, body = Data<Uploaded>)))]
pub async fn load(
    State(state): State<AppState>,
    caller: Caller,
    Body(wanted): Body<LoadSample>,
) -> Result<Data<Uploaded>> {
    let sample = state.deps.samples.iter().find(|sample| sample.info.name == wanted.name);
    let sample = sample.ok_or_else(|| ApiError::not_found("sample"))?;
    let conversation_id = match wanted.conversation_id {
        Some(id) => state.own(&caller.user, &id).await?.id,
        // Without a title: the first question gives it one, as with files of one's own.
        None => state.deps.store.create(&caller.user, "").await?.id,
    };
    let mut files = Vec::new();
    for path in &sample.files {
        files.push(copy(&state, &conversation_id, sample, path).await?);
    }
    let files = ingest::start(&state, files).await;
    Ok(Data::of(Uploaded { conversation_id, files, rejected: vec![] }))
}

async fn copy(
    state: &AppState,
    conversation: &ConversationId,
    sample: &Sample,
    path: &std::path::Path,
) -> Result<ba_protocol::Upload> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("sample");
    let mut file = tokio::fs::File::open(path).await.map_err(ApiError::internal)?;
    let mut writer = state.deps.store.begin_upload(conversation, name, None).await?;
    writer.describe(&sample.info.title);
    let mut buffer = vec![0u8; 256 * 1024];
    loop {
        let read = file.read(&mut buffer).await.map_err(ApiError::internal)?;
        if read == 0 {
            break;
        }
        writer.write(&buffer[..read]).await?;
    }
    Ok(writer.finish().await?)
}
