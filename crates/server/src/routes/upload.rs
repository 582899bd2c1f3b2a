//! Uploads: multipart, streamed to disk, many files at once (SPEC A4, F1).
//!
//! Nothing is parsed here; ingest does that, in the sandbox. A file the client did not finish leaves nothing behind.

use axum::extract::multipart::{Field, MultipartError, MultipartRejection};
use axum::extract::{FromRequest, Multipart, Request, State};
use axum::http::StatusCode;
use ba_protocol::api::ErrorInfo;
use ba_protocol::{ConversationId, Upload};
use ba_store::filename::{clean_filename, extension};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::files::description;
use crate::auth::Caller;
use crate::envelope::{Data, Query};
use crate::error::{ApiError, Result};
use crate::ingest;
use crate::paced_body::BodyError;
use crate::part_heads::{HeadBudget, HeadTooLong};
use crate::state::AppState;

/// What people may upload (SPEC F1).
pub const FILE_TYPES: [&str; 37] = [
    "csv", "tsv", "xlsx", "xls", "json", "jsonl", "parquet", "txt", "md", "py", "sql", "pdf", "xlsm", "xlsb",
    "ods", "ndjson", "gz", "zip", "docx", "html", "htm", "sqlite", "sqlite3", "db", "duckdb", "ddb",
    "feather", "arrow", "ipc", "orc", "dta", "sav", "zsav", "sas7bdat", "xpt", "tab", "markdown",
];

/// Parts that are not files: more than these are a mistake or an attack.
const MAX_OTHER_PARTS: usize = 20;
/// Faults of one file, which the others of a request do not suffer from.
const REFUSED_ALONE: &[&str] = &["unsupported_file_type", "too_large", "empty_file", "quota_exceeded"];
const MAX_TEXT_BYTES: usize = 4000;

/// The multipart form, for the API document.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the form; the parts are streamed, never held")]
pub struct UploadForm {
    /// Repeatable.
    #[schema(format = Binary, content_media_type = "application/octet-stream")]
    file: Vec<u8>,
    /// Before the files. A new conversation when absent.
    conversation_id: Option<String>,
    /// What the files after it are.
    description: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Uploaded {
    pub conversation_id: ConversationId,
    pub files: Vec<Upload>,
    /// Files that were not taken, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<Rejected>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Rejected {
    pub filename: String,
    pub error: ErrorInfo,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct UploadQuery {
    /// Instead of the form's field of this name.
    #[param(example = "conv_a87365d8983d")]
    conversation_id: Option<ConversationId>,
}

/// Add files to a conversation, or start one with them.
#[utoipa::path(post, path = "/files/upload", tag = "files", operation_id = "uploadFiles", params(UploadQuery),
    request_body(content = inline(UploadForm), content_type = "multipart/form-data"),
    responses((status = 200, body = Data<Uploaded>)))]
pub async fn upload(
    State(state): State<AppState>,
    caller: Caller,
    Query(query): Query<UploadQuery>,
    request: Request,
) -> Result<Data<Uploaded>> {
    receive(state, caller, query.conversation_id, request).await.map(Data::of)
}

/// Takes the files of a form into a conversation, or into a new one.
pub async fn receive(
    state: AppState,
    caller: Caller,
    conversation: Option<ConversationId>,
    request: Request,
) -> Result<Uploaded> {
    let budget = HeadBudget::default();
    budget.head();
    let form = Multipart::from_request(request.map(|body| budget.guard(body)), &state).await;
    // A task of its own: when the client vanishes, the request is dropped, but what was begun must be undone.
    let taken = tokio::spawn(async move { take(&state, &caller, conversation, form, budget).await });
    taken.await.map_err(ApiError::internal)?
}

async fn take(
    state: &AppState,
    caller: &Caller,
    conversation: Option<ConversationId>,
    form: Result<Multipart, MultipartRejection>,
    heads: HeadBudget,
) -> Result<Uploaded> {
    let mut intake = Intake {
        state,
        caller,
        place: Place::New(None),
        description: String::new(),
        files: vec![],
        rejected: vec![],
        heads,
    };
    if let Some(conversation) = conversation {
        intake.choose(conversation).await?;
    }
    let mut form = form.map_err(|refused| {
        ApiError::new(
            refused.status(),
            "invalid_multipart",
            "send the files as multipart/form-data, in fields named `file`",
        )
    })?;
    if let Err(error) = intake.read(&mut form).await {
        intake.undo().await;
        return Err(error);
    }
    let (conversation_id, files, rejected) = intake.finish().await?;
    let files = ingest::start(state, files).await;
    Ok(Uploaded { conversation_id, files, rejected })
}

/// Keeps a file that is here already, under the rules of every upload.
pub async fn keep(
    state: &AppState,
    conversation: &ConversationId,
    filename: &str,
    bytes: &[u8],
) -> Result<Upload> {
    let filename = clean_filename(filename);
    check_kind(&filename)?;
    if bytes.is_empty() {
        return Err(ApiError::bad_request("empty_file", format!("`{filename}` is empty")));
    }
    let limit = state.config.limits.upload_bytes;
    let mut writer = state.deps.store.begin_upload(conversation, &filename, Some(limit)).await?;
    writer.write(bytes).await?;
    Ok(writer.finish().await?)
}

fn check_kind(filename: &str) -> Result<()> {
    if FILE_TYPES.contains(&extension(filename).as_str()) {
        return Ok(());
    }
    Err(ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_file_type",
        format!("`{filename}` cannot be read; upload one of: {}", FILE_TYPES.join(", ")),
    ))
}

/// Where the files go.
enum Place {
    Existing(ConversationId),
    /// Made when the first file comes.
    New(Option<ConversationId>),
}

/// One upload request as it is read.
struct Intake<'a> {
    state: &'a AppState,
    caller: &'a Caller,
    place: Place,
    /// Of the files that follow.
    description: String,
    files: Vec<Upload>,
    rejected: Vec<(Rejected, ApiError)>,
    heads: HeadBudget,
}

impl Intake<'_> {
    async fn read(&mut self, form: &mut Multipart) -> Result<()> {
        let mut others = 0;
        loop {
            self.heads.head();
            let Some(field) = form.next_field().await.map_err(|error| broken(&error))? else { return Ok(()) };
            self.heads.content();
            if field.file_name().is_some() {
                if self.files.len() + self.rejected.len() >= self.state.config.limits.upload_files {
                    let limit = self.state.config.limits.upload_files;
                    return Err(ApiError::new(
                        StatusCode::PAYLOAD_TOO_LARGE,
                        "too_many_files",
                        format!("at most {limit} files in one request"),
                    ));
                }
                self.take(field).await?;
                continue;
            }
            others += 1;
            if others > MAX_OTHER_PARTS {
                return Err(ApiError::bad_request("too_many_parts", "the form has too many parts"));
            }
            match field.name() {
                Some("conversation_id") => {
                    let given = small_text(field).await?;
                    if !given.trim().is_empty() {
                        self.choose(ConversationId::parse(given.trim())?).await?;
                    }
                }
                Some("description") => {
                    self.description = description(&small_text(field).await?)?.to_owned();
                }
                Some("file") => {
                    return Err(ApiError::bad_request("filename_missing", "a `file` part has no file name"));
                }
                // Read to its end here: left unread, it would count as part of the next head.
                _ => drain(field, self.state.config.limits.upload_bytes).await?,
            }
        }
    }

    async fn choose(&mut self, conversation: ConversationId) -> Result<()> {
        match &self.place {
            Place::Existing(chosen) if *chosen == conversation => Ok(()),
            Place::New(None) => {
                self.state.own(&self.caller.user, &conversation).await?;
                self.place = Place::Existing(conversation);
                Ok(())
            }
            _ => Err(ApiError::bad_request(
                "conversation_late",
                "`conversation_id` must come once, before the files",
            )),
        }
    }

    /// A file of a wrong type or size is refused by itself; the others are taken.
    async fn take(&mut self, mut field: Field<'_>) -> Result<()> {
        let filename = clean_filename(field.file_name().unwrap_or(""));
        let taken = self.store(&filename, &mut field).await;
        match taken {
            Ok(upload) => self.files.push(upload),
            Err(error) if REFUSED_ALONE.contains(&error.code()) => {
                drain(field, self.state.config.limits.upload_bytes).await?;
                self.rejected.push((Rejected { filename, error: *error.info.clone() }, error));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn store(&mut self, filename: &str, field: &mut Field<'_>) -> Result<Upload> {
        check_kind(filename)?;
        let conversation = self.conversation().await?;
        let limit = self.state.config.limits.upload_bytes;
        let mut writer = self.state.deps.store.begin_upload(&conversation, filename, Some(limit)).await?;
        writer.describe(&self.description);
        let mut size = 0u64;
        while let Some(chunk) = field.chunk().await.map_err(|error| broken(&error))? {
            size += chunk.len() as u64;
            writer.write(&chunk).await?;
        }
        if size == 0 {
            return Err(ApiError::bad_request("empty_file", format!("`{filename}` is empty")));
        }
        Ok(writer.finish().await?)
    }

    async fn conversation(&mut self) -> Result<ConversationId> {
        match &self.place {
            Place::Existing(id) | Place::New(Some(id)) => Ok(id.clone()),
            Place::New(None) => {
                let made = self.state.deps.store.create(&self.caller.user, "").await?;
                self.place = Place::New(Some(made.id.clone()));
                Ok(made.id)
            }
        }
    }

    async fn finish(mut self) -> Result<(ConversationId, Vec<Upload>, Vec<Rejected>)> {
        if self.files.is_empty() {
            self.undo().await;
            let none = || ApiError::bad_request("no_file", "the form has no field `file` with a file in it");
            return Err(self.rejected.into_iter().next().map_or_else(none, |(_, error)| error));
        }
        let conversation = self.conversation().await?;
        Ok((conversation, self.files, self.rejected.into_iter().map(|(rejected, _)| rejected).collect()))
    }

    /// A failed request leaves no files and no empty conversation.
    async fn undo(&self) {
        let store = &self.state.deps.store;
        for file in &self.files {
            if let Err(error) = store.delete_upload(&file.conversation_id, &file.file_id).await {
                tracing::warn!(%error, file = %file.file_id, "could not remove a file of a failed upload");
            }
        }
        if let Place::New(Some(id)) = &self.place
            && let Err(error) = store.delete(&self.caller.user, id).await
        {
            tracing::warn!(%error, conversation = %id, "could not remove the conversation of a failed upload");
        }
    }
}

/// Reads the rest of a refused file, so that the next part is reached; a very long rest ends the request.
async fn drain(mut field: Field<'_>, limit: u64) -> Result<()> {
    let mut rest = 0u64;
    while let Some(chunk) = field.chunk().await.map_err(|error| broken(&error))? {
        rest += chunk.len() as u64;
        if rest > limit {
            return Err(ApiError::too_large(limit));
        }
    }
    Ok(())
}

async fn small_text(mut field: Field<'_>) -> Result<String> {
    let mut text = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(|error| broken(&error))? {
        text.extend_from_slice(&chunk);
        if text.len() > MAX_TEXT_BYTES {
            return Err(ApiError::bad_request("invalid_multipart", "a text field of the form is too long"));
        }
    }
    String::from_utf8(text)
        .map_err(|_| ApiError::bad_request("invalid_multipart", "a text field is not UTF-8"))
}

fn broken(error: &MultipartError) -> ApiError {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(now) = cause {
        if let Some(too_long) = now.downcast_ref::<HeadTooLong>() {
            let message = too_long.to_string();
            return ApiError::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "invalid_multipart", message);
        }
        if let Some(slow) = now.downcast_ref::<BodyError>() {
            return ApiError::new(StatusCode::REQUEST_TIMEOUT, "too_slow", slow.to_string());
        }
        cause = now.source();
    }
    ApiError::new(error.status(), "invalid_multipart", error.body_text())
}
