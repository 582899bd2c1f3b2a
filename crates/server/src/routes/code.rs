//! Saved code: list, read, versions, download (SPEC A5).

use axum::extract::State;
use axum::response::Response;
use ba_protocol::{CodeFile, CodeId, ConversationId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::download;
use super::files::InConversation;
use crate::auth::Caller;
use crate::envelope::{Data, Path, Query};
use crate::error::Result;
use crate::state::AppState;

#[derive(Debug, Serialize, ToSchema)]
pub struct CodeList {
    /// The newest version of each.
    pub code: Vec<CodeFile>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CodeVersions {
    /// Oldest first.
    pub versions: Vec<CodeFile>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CodeDetail {
    #[serde(flatten)]
    pub file: CodeFile,
    #[schema(example = "import pandas as pd")]
    pub code: String,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct VersionQuery {
    #[param(example = "conv_a87365d8983d")]
    conversation_id: ConversationId,
    /// The newest when absent.
    version: Option<u32>,
}

/// Code saved in a conversation.
#[utoipa::path(get, path = "/code", tag = "code", operation_id = "listCode", params(InConversation),
    responses((status = 200, body = Data<CodeList>)))]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Query(place): Query<InConversation>,
) -> Result<Data<CodeList>> {
    state.own(&caller.user, &place.conversation_id).await?;
    Ok(Data::of(CodeList { code: state.deps.store.codes(&place.conversation_id).await? }))
}

/// One piece of code, whole.
#[utoipa::path(get, path = "/code/{code_id}", tag = "code", operation_id = "readCode",
    params(("code_id" = CodeId, Path, example = "code_sales_analysis"), VersionQuery),
    responses((status = 200, body = Data<CodeDetail>)))]
pub async fn read(
    State(state): State<AppState>,
    caller: Caller,
    Path(code_id): Path<CodeId>,
    Query(query): Query<VersionQuery>,
) -> Result<Data<CodeDetail>> {
    state.own(&caller.user, &query.conversation_id).await?;
    let (file, code) = state.deps.store.code(&query.conversation_id, &code_id, query.version).await?;
    Ok(Data::of(CodeDetail { file, code }))
}

/// Every version of one piece of code.
#[utoipa::path(get, path = "/code/{code_id}/versions", tag = "code", operation_id = "codeVersions",
    params(("code_id" = CodeId, Path, example = "code_sales_analysis"), InConversation),
    responses((status = 200, body = Data<CodeVersions>)))]
pub async fn versions(
    State(state): State<AppState>,
    caller: Caller,
    Path(code_id): Path<CodeId>,
    Query(place): Query<InConversation>,
) -> Result<Data<CodeVersions>> {
    state.own(&caller.user, &place.conversation_id).await?;
    Ok(Data::of(CodeVersions {
        versions: state.deps.store.versions(&place.conversation_id, &code_id).await?,
    }))
}

/// The code as a file.
#[utoipa::path(get, path = "/code/{code_id}/download", tag = "code", operation_id = "downloadCode",
    params(("code_id" = CodeId, Path, example = "code_sales_analysis"), VersionQuery),
    responses((status = 200, description = "The file", content_type = "text/plain", body = String)))]
pub async fn download(
    State(state): State<AppState>,
    caller: Caller,
    Path(code_id): Path<CodeId>,
    Query(query): Query<VersionQuery>,
) -> Result<Response> {
    state.own(&caller.user, &query.conversation_id).await?;
    let (file, code) = state.deps.store.code(&query.conversation_id, &code_id, query.version).await?;
    Ok(download::text(&file.filename(), code))
}
