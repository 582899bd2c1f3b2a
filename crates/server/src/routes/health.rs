//! Whether the server lives, and whether it can work (SPEC A7).

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::MaybeCaller;
use crate::envelope::Data;
use crate::state::AppState;

/// So many calls without one answer, and the model counts as not working.
const FAILURES: u64 = 3;
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
    let store = &state.deps.store;
    let database = in_time("database", async {
        store.check_database().await.map(|()| "answers".to_owned()).map_err(|error| error.to_string())
    });
    let files = in_time("files", async {
        store.check_blobs().await.map(|()| "can be kept".to_owned()).map_err(|error| error.to_string())
    });
    let draining = match state.draining.is_cancelled() {
        true => Err("this server is stopping".to_owned()),
        false => Ok("takes questions".to_owned()),
    };
    let others = state.deps.checks.iter().map(|check| in_time(check.name(), check.check()));
    let (database, files, others) = tokio::join!(database, files, futures::future::join_all(others));
    let checks: Vec<CheckResult> = [database, files, ("model", model(&state)), ("server", draining)]
        .into_iter()
        .chain(others)
        .map(|(name, answer)| {
            let ok = answer.is_ok();
            let detail = answer.unwrap_or_else(|problem| problem);
            CheckResult { name, ok, detail: caller.is_some().then_some(detail) }
        })
        .collect();
    let ready = checks.iter().all(|check| check.ok);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Data::of(Readiness { ready, checks })).into_response()
}

async fn in_time(
    name: &'static str,
    check: impl Future<Output = Result<String, String>>,
) -> (&'static str, Result<String, String>) {
    let answer = tokio::time::timeout(CHECK_TIME, check).await;
    (name, answer.unwrap_or_else(|_| Err("no answer in time".to_owned())))
}

/// By experience, not by asking: a question to a model costs money. One that never answered does not work.
fn model(state: &AppState) -> Result<String, String> {
    let name = &state.deps.agent.model().info().name;
    let snapshot = state.deps.agent.metrics().snapshot();
    match snapshot.models.iter().find(|(known, _)| known == name) {
        Some((_, seen)) if seen.calls >= FAILURES && seen.errors == seen.calls => {
            Err(format!("{name} failed in all of {} calls", seen.calls))
        }
        _ => Ok(name.clone()),
    }
}
