//! Whether the server lives, and whether it can work (SPEC A7).

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::MaybeCaller;
use crate::envelope::Data;
use crate::state::AppState;

const CHECK_TIME: std::time::Duration = std::time::Duration::from_secs(5);

#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    #[schema(example = "ok")]
    pub status: &'static str,
    pub version: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Readiness {
    pub ready: bool,
    pub checks: Vec<CheckResult>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CheckResult {
    #[schema(example = "database")]
    pub name: &'static str,
    pub ok: bool,
    /// Only for people who are signed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The process answers.
#[utoipa::path(get, path = "/health", tag = "health", operation_id = "health", responses((status = 200, body = Data<Health>)))]
pub async fn health() -> Data<Health> {
    Data::of(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// Database, sandbox and model work: 200, else 503 with what does not.
#[utoipa::path(get, path = "/ready", tag = "health", operation_id = "ready",
    responses((status = 200, body = Data<Readiness>), (status = 503, description = "Not ready", body = Data<Readiness>)))]
pub async fn ready(State(state): State<AppState>, MaybeCaller(caller): MaybeCaller) -> Response {
    let database = async {
        let answer = state.deps.store.ping().await;
        ("database", answer.map(|()| "answers".to_owned()).map_err(|error| error.to_string()))
    };
    let others = state.deps.checks.iter().map(|check| async move {
        let answer = tokio::time::timeout(CHECK_TIME, check.check()).await;
        (check.name(), answer.unwrap_or_else(|_| Err("no answer in time".to_owned())))
    });
    let (database, others) = tokio::join!(database, futures::future::join_all(others));
    let checks: Vec<CheckResult> = std::iter::once(database)
        .chain(others)
        .map(|(name, answer)| {
            let ok = answer.is_ok();
            let detail = answer.unwrap_or_else(|problem| problem);
            CheckResult { name, ok, detail: caller.is_some().then_some(detail) }
        })
        .collect();
    let ready = checks.iter().all(|check| check.ok) && !state.draining.is_cancelled();
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Data::of(Readiness { ready, checks })).into_response()
}
