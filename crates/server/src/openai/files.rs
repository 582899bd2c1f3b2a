//! Files of OpenAI clients: `/v1/files`, and the file parts of messages. Here a file belongs to a conversation; a client's
//! file id names both, and a question about files of several conversations gets them together in one.

use axum::Json;
use axum::extract::{Request, State};
use ba_protocol::{ConversationId, Upload, UploadId};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::Caller;
use crate::envelope::Path;
use crate::error::{ApiError, Result};
use crate::ingest;
use crate::routes::upload;
use crate::state::AppState;

/// Files in one message; more are a mistake.
const MAX_FILES: usize = 20;
/// Conversations that a list of files looks through, the latest first.
const LOOK_BACK: u32 = 50;

/// A file of a message: by the id that `/v1/files` gave, or with its bytes.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct Attached {
    #[serde(default)]
    #[schema(example = "file-a87365d8983d-001")]
    pub file_id: Option<String>,
    #[serde(default)]
    #[schema(example = "sales.csv")]
    pub filename: Option<String>,
    /// Base64, plain or as a `data:` address.
    #[serde(default)]
    pub file_data: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OpenAiFile {
    #[schema(example = "file-a87365d8983d-001")]
    pub id: String,
    #[schema(example = "file")]
    pub object: &'static str,
    pub bytes: u64,
    pub created_at: i64,
    pub filename: String,
    #[schema(example = "user_data")]
    pub purpose: &'static str,
    #[schema(example = "processed")]
    pub status: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OpenAiFiles {
    #[schema(example = "list")]
    pub object: &'static str,
    pub data: Vec<OpenAiFile>,
    pub has_more: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OpenAiDeleted {
    pub id: String,
    pub object: &'static str,
    pub deleted: bool,
}

impl OpenAiFile {
    fn of(upload: &Upload) -> Self {
        let status = match upload.status {
            ba_protocol::file::IngestStatus::Failed { .. } => "error",
            ba_protocol::file::IngestStatus::Processing => "uploaded",
            _ => "processed",
        };
        Self {
            id: id_of(upload),
            object: "file",
            bytes: upload.size,
            created_at: upload.created_at.as_second(),
            filename: upload.filename.clone(),
            purpose: "user_data",
            status,
        }
    }
}

/// `file-<conversation>-<upload>`: both without their own first words.
fn id_of(upload: &Upload) -> String {
    let bare = |id: &str| id.split_once('_').map_or(id, |(_, rest)| rest).to_owned();
    format!("file-{}-{}", bare(upload.conversation_id.as_str()), bare(upload.file_id.as_str()))
}

/// A file of the caller's own; another's is not found.
async fn find(state: &AppState, caller: &Caller, id: &str) -> Result<Upload> {
    let missing = || ApiError::not_found(&format!("file {}", ba_protocol::text::shorten(id, 60)));
    let (conversation, upload) =
        id.strip_prefix("file-").and_then(|rest| rest.split_once('-')).ok_or_else(missing)?;
    let conversation = ConversationId::parse(&format!("conv_{conversation}")).map_err(|_| missing())?;
    let upload = UploadId::parse(&format!("upload_{upload}")).map_err(|_| missing())?;
    state.own(&caller.user, &conversation).await.map_err(|_| missing())?;
    Ok(state.deps.store.upload(&conversation, upload.as_str()).await?)
}

/// Keep a file for later questions: the form's `file`; other fields are let pass.
#[utoipa::path(post, path = "/v1/files", tag = "openai", operation_id = "openaiUploadFile",
    request_body(content = inline(upload::UploadForm), content_type = "multipart/form-data"),
    responses((status = 200, description = "The file, with the id that messages name", body = OpenAiFile)))]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    request: Request,
) -> Result<Json<OpenAiFile>> {
    let taken = upload::receive(state, caller, None, request).await?;
    let file = taken.files.first().ok_or_else(|| ApiError::bad_request("no_file", "the form has no file"))?;
    Ok(Json(OpenAiFile::of(file)))
}

/// The caller's files, the latest first.
#[utoipa::path(get, path = "/v1/files", tag = "openai", operation_id = "openaiListFiles",
    responses((status = 200, description = "Files of the latest conversations", body = OpenAiFiles)))]
pub async fn list(State(state): State<AppState>, caller: Caller) -> Result<Json<OpenAiFiles>> {
    let store = &state.deps.store;
    let mut data = Vec::new();
    for conversation in store.conversations(&caller.user, None, LOOK_BACK, 0).await? {
        data.extend(store.uploads(&conversation.id).await?.iter().rev().map(OpenAiFile::of));
    }
    Ok(Json(OpenAiFiles { object: "list", data, has_more: false }))
}

/// One file.
#[utoipa::path(get, path = "/v1/files/{file_id}", tag = "openai", operation_id = "openaiReadFile",
    params(("file_id" = String, Path, example = "file-a87365d8983d-001")),
    responses((status = 200, description = "The file", body = OpenAiFile)))]
pub async fn read(
    State(state): State<AppState>,
    caller: Caller,
    Path(file_id): Path<String>,
) -> Result<Json<OpenAiFile>> {
    Ok(Json(OpenAiFile::of(&find(&state, &caller, &file_id).await?)))
}

/// Remove a file.
#[utoipa::path(delete, path = "/v1/files/{file_id}", tag = "openai", operation_id = "openaiDeleteFile",
    params(("file_id" = String, Path, example = "file-a87365d8983d-001")),
    responses((status = 200, description = "It is gone", body = OpenAiDeleted)))]
pub async fn delete(
    State(state): State<AppState>,
    caller: Caller,
    Path(file_id): Path<String>,
) -> Result<Json<OpenAiDeleted>> {
    let upload = find(&state, &caller, &file_id).await?;
    state.deps.store.delete_upload(&upload.conversation_id, &upload.file_id).await?;
    Ok(Json(OpenAiDeleted { id: file_id, object: "file", deleted: true }))
}

/// Puts a message's files where its question is asked: the conversation it belongs to, else that of its first file, else a
/// new one. A file that is there already is not put there twice.
pub async fn put(
    state: &AppState,
    caller: &Caller,
    known: Option<ConversationId>,
    files: Vec<Attached>,
) -> Result<(Option<ConversationId>, Vec<UploadId>)> {
    if files.len() > MAX_FILES {
        let message = format!("at most {MAX_FILES} files in one message");
        return Err(ApiError::bad_request("too_many_files", message));
    }
    let (mut place, mut ids, mut fresh) = (known, Vec::new(), Vec::new());
    for file in files {
        if let Some(id) = &file.file_id {
            let found = find(state, caller, id).await?;
            let here = place.get_or_insert_with(|| found.conversation_id.clone()).clone();
            if here == found.conversation_id {
                ids.push(found.file_id);
                continue;
            }
            let path = state.deps.store.upload_path(&found).await?;
            let bytes = tokio::fs::read(&path).await.map_err(ApiError::internal)?;
            fresh.push(upload::keep(state, &here, &found.filename, &bytes).await?);
            continue;
        }
        let (name, bytes) = decoded(&file)?;
        let here = match &place {
            Some(here) => here.clone(),
            None => place.insert(state.deps.store.create(&caller.user, "").await?.id).clone(),
        };
        fresh.push(upload::keep(state, &here, &name, &bytes).await?);
    }
    let settled = ingest::start(state, fresh).await;
    ids.extend(settled.into_iter().map(|upload| upload.file_id));
    Ok((place, ids))
}

fn decoded(file: &Attached) -> Result<(String, Vec<u8>)> {
    let wrong = |message: &str| ApiError::bad_request("invalid_file", message);
    let data =
        file.file_data.as_deref().ok_or_else(|| wrong("a file part has a `file_id` or `file_data`"))?;
    let name = file.filename.clone().ok_or_else(|| wrong("a file with `file_data` needs a `filename`"))?;
    let encoded = match data.strip_prefix("data:") {
        Some(rest) => rest.split_once(";base64,").ok_or_else(|| wrong("`file_data` is not base64"))?.1,
        None => data,
    };
    let bytes = STANDARD.decode(encoded.trim()).map_err(|_| wrong("`file_data` is not base64"))?;
    Ok((name, bytes))
}
