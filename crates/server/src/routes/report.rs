//! An answer or a conversation as a document (SPEC D1): sent at once, or made with progress and kept among the files.
//! The document itself is written elsewhere, in the sandbox.

use axum::body::Body as HttpBody;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use ba_protocol::{Artifact, ConversationId, ReportFor, RunId};
use serde::Deserialize;
use tokio_util::io::ReaderStream;
use utoipa::{IntoParams, ToSchema};

use super::download;
use crate::auth::Caller;
use crate::envelope::{Body, Path, Query};
use crate::error::{ApiError, Result};
use crate::service::{ReportFile, ReportRefusal, ReportWanted};
use crate::sse;
use crate::state::AppState;

pub const FORMATS: [&str; 7] = ["pdf", "docx", "pptx", "xlsx", "ipynb", "html", "md"];

#[derive(Debug, Clone, Deserialize, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
pub struct ReportChoice {
    /// `pdf`, `docx`, `pptx`, `xlsx`, `ipynb` (a zip with its data), `html` or `md` (a zip when it has pictures).
    #[param(example = "pdf")]
    #[schema(example = "pdf")]
    pub format: String,
    /// One answer; without it, the whole conversation.
    #[serde(default)]
    pub run_id: Option<RunId>,
    /// `zh` or `en`, for the document's own words; without it, the language of the questions.
    #[serde(default)]
    pub lang: Option<String>,
}

/// The report of a conversation, or of one of its answers, as a file.
#[utoipa::path(get, path = "/conversations/{conversation_id}/report", tag = "conversations", operation_id = "readReport",
    params(("conversation_id" = ConversationId, Path, example = "conv_a87365d8983d"), ReportChoice),
    responses((status = 200, description = "The document", content_type = "application/octet-stream", body = Vec<u8>)))]
pub async fn read(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<ConversationId>,
    Query(choice): Query<ReportChoice>,
) -> Result<Response> {
    let wanted = wanted(&caller, id, choice)?;
    state.own(&caller.user, &wanted.conversation).await?;
    let made = make(&state, wanted, &|_, _| {}).await?;
    send(made).await
}

/// Makes a report and keeps it among the conversation's files. Server-sent events: `report.progress`
/// (`fraction`, `message`), then `report.done` with the file, or `report.failed` with an error.
#[utoipa::path(post, path = "/conversations/{conversation_id}/report", tag = "conversations", operation_id = "keepReport",
    params(("conversation_id" = ConversationId, Path, example = "conv_a87365d8983d")), request_body(content = ReportChoice, example = json!({"format": "pdf", "lang": "en"})),
    responses((status = 200, description = "Progress, then the file", content_type = "text/event-stream", body = String)))]
pub async fn keep(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<ConversationId>,
    Body(choice): Body<ReportChoice>,
) -> Result<Response> {
    let wanted = wanted(&caller, id, choice)?;
    state.own(&caller.user, &wanted.conversation).await?;
    let (tell, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let work = {
        let state = state.clone();
        // A task of its own: a reader that leaves still finds the file in the list.
        tokio::spawn(async move {
            let conversation = wanted.conversation.clone();
            let progress = |fraction: f64, message: &str| {
                let _ = tell.send(serde_json::json!({"fraction": fraction, "message": message}));
            };
            let made = make(&state, wanted, &progress).await?;
            let bytes = tokio::fs::read(&made.path).await.map_err(ApiError::internal)?;
            let kept = state.deps.store.put_artifact_bytes(&conversation, &made.name, &bytes).await?;
            Ok::<Artifact, ApiError>(kept)
        })
    };
    let stream = async_stream::stream! {
        while let Some(progress) = heard.recv().await {
            yield Event::default().event("report.progress").data(progress.to_string());
        }
        yield match work.await.map_err(ApiError::internal).and_then(|kept| kept) {
            Ok(file) => Event::default().event("report.done").data(serde_json::to_string(&file).unwrap_or_default()),
            Err(error) => Event::default().event("report.failed").data(serde_json::to_string(&error.info).unwrap_or_default()),
        };
    };
    Ok(sse::respond(&state, stream))
}

fn wanted(caller: &Caller, conversation: ConversationId, choice: ReportChoice) -> Result<ReportWanted> {
    if !FORMATS.contains(&choice.format.as_str()) {
        let message = format!("no format `{}`; there are: {}", choice.format, FORMATS.join(", "));
        return Err(ApiError::bad_request("unknown_format", message));
    }
    known_language(choice.lang.as_deref())?;
    let owner = caller.user.clone();
    Ok(ReportWanted {
        owner,
        conversation,
        run: choice.run_id,
        format: choice.format,
        language: choice.lang,
        audience: ReportFor::Owner,
    })
}

pub(super) fn known_language(given: Option<&str>) -> Result<()> {
    match given {
        None | Some("zh" | "en") => Ok(()),
        Some(_) => Err(ApiError::bad_request("unknown_language", "`lang` is `zh` or `en`")),
    }
}

pub async fn make(
    state: &AppState,
    wanted: ReportWanted,
    progress: &(dyn for<'m> Fn(f64, &'m str) + Send + Sync),
) -> Result<ReportFile> {
    let Some(reports) = &state.deps.reports else {
        return Err(ApiError::unavailable("reports_off", "this server cannot make documents"));
    };
    reports.report(wanted, progress).await.map_err(|refusal| match refusal {
        ReportRefusal::NotFound(what) => ApiError::new(axum::http::StatusCode::NOT_FOUND, "not_found", what),
        ReportRefusal::Empty(why) => ApiError::new(axum::http::StatusCode::CONFLICT, "no_answer", why),
        ReportRefusal::Unavailable(why) => ApiError::unavailable("sandbox_unavailable", why),
        ReportRefusal::TooLarge(why) => {
            ApiError::new(axum::http::StatusCode::UNPROCESSABLE_ENTITY, "report_too_large", why)
        }
        ReportRefusal::Internal(why) => ApiError::internal(why),
    })
}

/// The open handle outlives the folder that the document was made in.
async fn send(made: ReportFile) -> Result<Response> {
    let file = tokio::fs::File::open(&made.path).await.map_err(ApiError::internal)?;
    let mut response = HttpBody::from_stream(ReaderStream::with_capacity(file, 64 * 1024)).into_response();
    let kind = HeaderValue::from_str(download::mime_of(&made.name).as_ref()).map_err(ApiError::internal)?;
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(made.bytes));
    download::guard(&mut response, &made.name);
    Ok(response)
}
