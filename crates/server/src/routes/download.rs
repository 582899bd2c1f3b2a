//! Files as files: artifacts, uploads and code, by name or id (SPEC A4, F3).
//!
//! Everything here is hostile when opened in the page's origin, so it is always an attachment under a sandbox policy.

use std::path::PathBuf;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use ba_protocol::{CodeId, ConversationId};
use ba_store::{Store, StoreError};
use mime::Mime;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use tower::ServiceExt;
use tower_http::services::ServeFile;
use utoipa::IntoParams;

use crate::auth::Caller;
use crate::envelope::{Path, Query};
use crate::error::{ApiError, Result};
use crate::state::AppState;

/// How many of the caller's latest conversations are looked through when none is named.
const LOOK_BACK: u32 = 50;

/// RFC 5987 leaves these as they are.
const ATTR_CHAR: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DownloadQuery {
    /// Without it: the caller's latest conversation that has such a file.
    #[param(example = "conv_a87365d8983d")]
    conversation_id: Option<ConversationId>,
}

/// What a name stands for.
enum Found {
    File { name: String, path: PathBuf },
    Text { name: String, text: String },
}

/// A file by its name (or an upload or code by its id). Ranges are honoured.
#[utoipa::path(get, path = "/files/download/{filename}", tag = "files", operation_id = "downloadFile",
    params(("filename" = String, Path, example = "sales_report.xlsx"), DownloadQuery),
    responses((status = 200, description = "The file", content_type = "application/octet-stream", body = Vec<u8>)))]
pub async fn download(
    State(state): State<AppState>,
    caller: Caller,
    Path(filename): Path<String>,
    Query(query): Query<DownloadQuery>,
    request: Request,
) -> Result<Response> {
    let store = &state.deps.store;
    let found = if let Some(conversation) = &query.conversation_id {
        state.own(&caller.user, conversation).await?;
        find(store, conversation, &filename).await?
    } else {
        let mut found = None;
        for conversation in store.conversations(&caller.user, None, LOOK_BACK, 0).await? {
            found = find(store, &conversation.id, &filename).await?;
            if found.is_some() {
                break;
            }
        }
        found
    };
    match found.ok_or_else(|| ApiError::not_found("file"))? {
        Found::File { name, path } => file(&name, path, request).await,
        Found::Text { name, text: body } => Ok(text(&name, body)),
    }
}

/// The bytes of a file, when they are not too many.
pub async fn bytes(store: &Store, conversation: &ConversationId, name: &str, most: u64) -> Result<Vec<u8>> {
    match find(store, conversation, name).await?.ok_or_else(|| ApiError::not_found("file"))? {
        Found::Text { text, .. } => Ok(text.into_bytes()),
        Found::File { path, .. } => {
            let size = tokio::fs::metadata(&path).await.map_err(ApiError::internal)?.len();
            if size > most {
                return Err(ApiError::too_large(most));
            }
            tokio::fs::read(&path).await.map_err(ApiError::internal)
        }
    }
}

/// Artifacts go before uploads, uploads before code.
async fn find(store: &Store, conversation: &ConversationId, name: &str) -> Result<Option<Found>> {
    if let Some(artifact) = found(store.artifact(conversation, name).await)? {
        let path = store.artifact_path(conversation, &artifact.name).await?;
        return Ok(Some(Found::File { name: artifact.name, path }));
    }
    if let Some(upload) = found(store.upload(conversation, name).await)? {
        let path = store.upload_path(&upload).await?;
        return Ok(Some(Found::File { name: upload.filename, path }));
    }
    let codes = store.codes(conversation).await?;
    let code = codes.iter().find(|code| {
        let file = code.filename();
        code.code_id.as_str() == name || file == name || format!("code_{file}") == name
    });
    let Some(id) = code.map(|code| code.code_id.clone()).or_else(|| CodeId::parse(name).ok()) else {
        return Ok(None);
    };
    let code = found(store.code(conversation, &id, None).await)?;
    Ok(code.map(|(file, text)| Found::Text { name: file.filename(), text }))
}

/// A name the store cannot even have is simply not there.
fn found<T>(answer: std::result::Result<T, StoreError>) -> Result<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(StoreError::NotFound { .. } | StoreError::Invalid(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Bytes on disk, with ranges and conditional requests.
pub async fn file(name: &str, path: PathBuf, request: Request) -> Result<Response> {
    let served = ServeFile::new_with_mime(path, &mime_of(name)).oneshot(request).await;
    let mut response = served.map_err(ApiError::internal)?.map(Body::new);
    guard(&mut response, name);
    Ok(response)
}

pub fn text(name: &str, text: String) -> Response {
    let mut response = text.into_response();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    guard(&mut response, name);
    response
}

/// The headers that make a hostile file harmless.
pub fn guard(response: &mut Response, name: &str) {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_DISPOSITION, disposition(name));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    headers.insert(HeaderName::from_static("x-content-type-options"), HeaderValue::from_static("nosniff"));
}

/// `attachment`, with the name in UTF-8 and a plain form of it for old clients.
pub fn disposition(name: &str) -> HeaderValue {
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._- ()".contains(c) { c } else { '_' })
        .collect();
    let value = format!(
        "attachment; filename=\"{plain}\"; filename*=UTF-8''{}",
        utf8_percent_encode(name, ATTR_CHAR)
    );
    HeaderValue::from_str(&value).unwrap_or_else(|_| HeaderValue::from_static("attachment"))
}

/// By extension. What a browser would run is served as text or bytes.
pub fn mime_of(name: &str) -> Mime {
    let known = match ba_store::filename::extension(name).as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "csv" => "text/csv; charset=utf-8",
        "tsv" => "text/tab-separated-values; charset=utf-8",
        "json" => "application/json",
        "html" | "htm" => "text/html; charset=utf-8",
        "txt" | "md" | "py" | "sql" | "jsonl" | "log" => "text/plain; charset=utf-8",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "ipynb" => "application/x-ipynb+json",
        "xls" => "application/vnd.ms-excel",
        "parquet" => "application/vnd.apache.parquet",
        "zip" => "application/zip",
        "tar" => "application/x-tar",
        _ => "application/octet-stream",
    };
    known.parse().unwrap_or(mime::APPLICATION_OCTET_STREAM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_in_utf8_and_cannot_break_the_header() {
        assert_eq!(
            disposition("销售 报告.xlsx"),
            "attachment; filename=\"__ __.xlsx\"; filename*=UTF-8''%E9%94%80%E5%94%AE%20%E6%8A%A5%E5%91%8A.xlsx"
        );
        let hostile = disposition("a\"\r\nSet-Cookie: x=y;.csv");
        assert!(!hostile.to_str().unwrap().contains('\n'));
        assert!(hostile.to_str().unwrap().starts_with("attachment; filename=\"a___Set-Cookie_ x_y_.csv\""));
    }
}
