//! Questions: answered at the end, or as they are worked on (SPEC A1, A2). Both admit the message the same way.

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use ba_agent::Admitted;
use ba_protocol::RunId;
use ba_protocol::api::{AgentResponse, QueryRequest};

use crate::auth::Caller;
use crate::config::Access;
use crate::envelope::{Body, Data};
use crate::error::{ApiError, Result};
use crate::sse;
use crate::state::AppState;

/// Ask a question; the answer comes when the run is complete.
#[utoipa::path(
    post, path = "/agent/query", tag = "agent", operation_id = "query",
    request_body(content = QueryRequest, example = json!({"message": "各地区 2024 年销售额，同比如何？", "conversation_id": "conv_a87365d8983d"})),
    responses((status = 200, description = "The complete answer", body = Data<AgentResponse>))
)]
pub async fn query(
    State(state): State<AppState>,
    caller: Caller,
    Body(query): Body<QueryRequest>,
) -> Result<Data<AgentResponse>> {
    let admitted = admit(&state, &caller, query, RunId::random()).await?;
    Ok(Data::of(state.deps.agent.wait(&caller.user, &admitted.run_id).await?))
}

/// Ask a question and follow the run as server-sent events: `run.started`, `round`, `text.delta`, `tool.started`,
/// `tool.progress`, `tool.finished`, then one of `report`, `run.failed`, `run.cancelled`.
/// After a lost connection go on at `/runs/{id}/events` with `Last-Event-ID`.
#[utoipa::path(
    post, path = "/agent/query/stream", tag = "agent", operation_id = "queryStream",
    request_body(content = QueryRequest, example = json!({"message": "按月看趋势"})),
    responses((status = 200, description = "Events of the run", content_type = "text/event-stream", body = String))
)]
pub async fn query_stream(
    State(state): State<AppState>,
    caller: Caller,
    Body(query): Body<QueryRequest>,
) -> Result<Response> {
    let run_id = RunId::random();
    let reader = state.deps.bus.subscribe(&run_id);
    let Admitted { conversation_id, run_id } = admit(&state, &caller, query, run_id).await?;
    let ids = [("x-conversation-id", conversation_id.to_string()), ("x-run-id", run_id.to_string())];
    let mut response = sse::run_events(&state, caller.user, reader, None);
    for (name, id) in ids {
        if let Ok(value) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    Ok(response)
}

/// Checks a question and hands it to the agent. When this returns, it is durable.
pub async fn admit(
    state: &AppState,
    caller: &Caller,
    query: QueryRequest,
    run_id: RunId,
) -> Result<Admitted> {
    if query.conversation_id.is_none() && !query.file_ids.is_empty() {
        return Err(ApiError::bad_request(
            "conversation_required",
            "`file_ids` belong to a conversation: send its `conversation_id` too",
        ));
    }
    if query.conversation_id.is_none() && query.replaces.is_some() {
        return Err(ApiError::bad_request(
            "conversation_required",
            "`replaces` names a run of a conversation: send its `conversation_id` too",
        ));
    }
    let going = match state.config.access {
        Access::SignIn => state.deps.store.open_runs_of(&caller.user).await?,
        Access::LocalOnly => 0,
    };
    if state.config.access == Access::SignIn && going >= state.config.limits.runs_per_person as u64 {
        let message =
            format!("{going} of your questions are being answered; wait for one of them, or stop one");
        return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_runs", message)
            .with_header(header::RETRY_AFTER, HeaderValue::from_static("5")));
    }
    Ok(state.deps.agent.admit_as(&caller.user, query, run_id).await?)
}
