//! The table of contents: every route of the product, and the layers they share.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use utoipa_swagger_ui::SwaggerUi;

use crate::auth::gate;
use crate::error::ApiError;
use crate::openapi::{self, Document};
use crate::routes::{
    admin, archive, board, catalog, code, consents, conversations, download, files, health, metrics,
    oversight, query, report, runs, samples, session, setup, shared_page, shares, skills, status, turns,
    upload,
};
use crate::state::AppState;
use crate::{headers, http_metrics, openai, page};

/// Answered within the ordinary time limit, with small bodies.
fn quick() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(runs::list))
        .routes(routes!(runs::read))
        .routes(routes!(runs::cancel))
        .routes(routes!(turns::choose))
        .routes(routes!(turns::give_feedback, turns::take_feedback_back))
        .routes(routes!(files::list))
        .routes(routes!(files::read, files::describe, files::delete))
        .routes(routes!(files::delete_artifact))
        .routes(routes!(files::ingest_again))
        .routes(routes!(code::list))
        .routes(routes!(code::read))
        .routes(routes!(code::versions))
        .routes(routes!(code::download))
        .routes(routes!(conversations::list, conversations::create))
        .routes(routes!(conversations::read, conversations::rename, conversations::delete))
        .routes(routes!(conversations::context))
        .routes(routes!(consents::list, consents::add))
        .routes(routes!(samples::load))
        .routes(routes!(catalog::tools))
        .routes(routes!(skills::list))
        .routes(routes!(skills::managed))
        .routes(routes!(skills::approve))
        .routes(routes!(skills::switch, skills::remove))
        .routes(routes!(metrics::json))
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
        .routes(routes!(status::status))
        .routes(routes!(session::login))
        .routes(routes!(session::logout))
        .routes(routes!(session::me))
        .routes(routes!(admin::keys, admin::create_key))
        .routes(routes!(admin::revoke_key))
        .routes(routes!(admin::users, admin::add_user))
        .routes(routes!(admin::disable_user))
        .routes(routes!(shares::list))
        .routes(routes!(shares::revoke))
        .routes(routes!(oversight::enable_user))
        .routes(routes!(oversight::reset_password))
        .routes(routes!(oversight::user_keys))
        .routes(routes!(oversight::usage))
        .routes(routes!(oversight::audit_log))
        .routes(routes!(oversight::limits))
        .routes(routes!(setup::connections))
        .routes(routes!(setup::test_connection))
        .routes(routes!(setup::test_model))
        .routes(routes!(setup::save_model))
        .routes(routes!(oversight::change_password))
        .routes(routes!(board::read, board::pin))
        .routes(routes!(board::unpin))
}

/// As long as a run or a transfer takes.
fn lasting() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(query::query))
        .routes(routes!(query::query_stream))
        .routes(routes!(runs::events))
        .routes(routes!(board::refresh))
        .routes(routes!(files::events))
        .routes(routes!(download::download))
        .routes(routes!(archive::export))
        .routes(routes!(report::read, report::keep))
        .routes(routes!(shares::create))
        .routes(routes!(skills::install_git))
        .routes(routes!(skills::install_folder))
}

/// Large bodies, streamed to disk with limits of their own.
fn incoming() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(upload::upload))
        .routes(routes!(archive::import))
        .layer(DefaultBodyLimit::disable())
        .merge(skill_archives())
}

/// Small enough to be read whole.
fn skill_archives() -> OpenApiRouter<AppState> {
    let limit = ba_skills::Limits::default().archive_bytes;
    let limit = DefaultBodyLimit::max(usize::try_from(limit).unwrap_or(usize::MAX));
    OpenApiRouter::new().routes(routes!(skills::install_zip)).layer(limit)
}

/// At the root, where other programs expect them.
fn root() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(openai::models::list))
        .routes(routes!(openai::models::read))
        .routes(routes!(openai::files::list))
        .routes(routes!(openai::files::read, openai::files::delete))
        .routes(routes!(metrics::prometheus))
}

/// Files come inside the messages, or as a form that is streamed to disk.
fn root_incoming() -> OpenApiRouter<AppState> {
    let messages = OpenApiRouter::new()
        .routes(routes!(openai::completions::create))
        .routes(routes!(openai::responses::create))
        .layer(DefaultBodyLimit::max(openai::MESSAGE_BYTES));
    let forms =
        OpenApiRouter::new().routes(routes!(openai::files::create)).layer(DefaultBodyLimit::disable());
    messages.merge(forms)
}

/// The page and its frame.
fn pages() -> Router<AppState> {
    Router::new()
        .route("/", get(page::index))
        .route("/index.html", get(page::index))
        .route("/frame", get(page::frame))
        .route("/assets/{*path}", get(page::asset))
        .route("/favicon.svg", get(page::asset))
        .route("/s/{token}", get(shared_page::show))
}

/// The routes that the API document describes, and the document.
pub fn documented() -> (Router<AppState>, utoipa::openapi::OpenApi) {
    let api = OpenApiRouter::new()
        .merge(quick().layer(from_fn(headers::time_limit)))
        .merge(lasting())
        .merge(incoming());
    let (router, mut document) = OpenApiRouter::with_openapi(Document::openapi())
        .nest("/api/v1", api)
        .merge(root())
        .merge(root_incoming())
        .split_for_parts();
    openapi::complete(&mut document);
    (router, document)
}

/// Everything, ready to serve.
pub fn router(state: AppState) -> Router {
    let (api, document) = documented();
    let body_limit = DefaultBodyLimit::max(state.config.limits.body_bytes);
    let plain = document.clone();
    let reference = SwaggerUi::new("/docs").url("/api/v1/openapi.json", document);
    api.merge(pages())
        .route_service("/mcp", crate::mcp::service(&state))
        .merge(reference)
        .route("/openapi.json", get(|| async move { axum::Json(plain) }))
        .layer(from_fn_with_state(state.clone(), gate::gate))
        .fallback(nothing_here)
        .method_not_allowed_fallback(wrong_method)
        .layer(body_limit)
        .layer(from_fn_with_state(state.clone(), http_metrics::measure))
        .layer(CompressionLayer::new())
        .layer(from_fn(headers::common))
        .layer(CatchPanicLayer::custom(|_| ApiError::internal("a handler panicked").into_response()))
        .layer(PropagateRequestIdLayer::x_request_id())
        .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
        .with_state(state)
}

async fn nothing_here(uri: Uri) -> Response {
    ApiError::new(StatusCode::NOT_FOUND, "not_found", format!("there is no {}", uri.path())).into_response()
}

async fn wrong_method(method: Method, request: Request) -> Response {
    let message = format!("{} does not answer to {method}", request.uri().path());
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message).into_response()
}
