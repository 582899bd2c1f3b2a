//! Runs: read, follow, cancel (SPEC A3).

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use ba_protocol::api::{AgentResponse, ErrorInfo, UsageInfo};
use ba_protocol::{ConversationId, Event, RunEvent, RunId};
use ba_store::{EventScope, RunStatus, RunSummary};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::auth::Caller;
use crate::envelope::{Data, Path, Query};
use crate::error::Result;
use crate::sse;
use crate::state::AppState;

/// How many runs a list shows at most.
const LIST_LIMIT: u32 = 100;

#[derive(Debug, Serialize, ToSchema)]
pub struct RunInfo {
    pub run_id: RunId,
    pub conversation_id: ConversationId,
    /// `running`, `complete`, `failed` or `cancelled`.
    #[schema(example = "running")]
    pub status: &'static str,
    pub user_message: String,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    #[schema(value_type = String)]
    pub updated_at: Timestamp,
    /// Once it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    pub usage: UsageInfo,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RunDetail {
    #[serde(flatten)]
    pub run: RunInfo,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AgentResponse>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
    /// When each lasting event happened.
    pub timeline: Vec<TimelineEntry>,
}

/// One event of a run on the clock.
#[derive(Debug, Serialize, ToSchema)]
pub struct TimelineEntry {
    #[schema(value_type = String)]
    pub at: Timestamp,
    #[schema(example = "tool.started")]
    pub event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Of a tool that has finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

impl From<&Event> for TimelineEntry {
    fn from(event: &Event) -> Self {
        let mut entry = Self {
            at: event.at,
            event: event.event.name(),
            tool_call_id: None,
            tool_name: None,
            success: None,
            summary: None,
        };
        match &event.event {
            RunEvent::ToolStarted { tool_call_id, tool_name, .. } => {
                entry.tool_call_id = Some(tool_call_id.clone());
                entry.tool_name = Some(tool_name.clone());
            }
            RunEvent::ToolFinished(finished) => {
                entry.tool_call_id = Some(finished.tool_call_id.clone());
                entry.tool_name = Some(finished.tool_name.clone());
                entry.success = Some(finished.success);
                entry.summary = Some(finished.summary.clone());
            }
            _ => {}
        }
        entry
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RunList {
    pub runs: Vec<RunInfo>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Cancelled {
    pub run_id: RunId,
    /// False when the run had already ended.
    pub cancelled: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RunsQuery {
    /// Without it: the latest runs of all conversations.
    #[param(example = "conv_a87365d8983d")]
    conversation_id: Option<ConversationId>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AfterQuery {
    /// Only events after this one; the header `Last-Event-ID` goes before it.
    after: Option<u64>,
}

impl From<RunSummary> for RunInfo {
    fn from(run: RunSummary) -> Self {
        let ended = run.status != RunStatus::Running;
        let took = run.updated_at.as_millisecond().saturating_sub(run.created_at.as_millisecond());
        Self {
            run_id: run.id,
            conversation_id: run.conversation_id,
            status: run.status.as_str(),
            user_message: run.message,
            created_at: run.created_at,
            updated_at: run.updated_at,
            duration_ms: ended.then_some(took),
            usage: run.usage,
        }
    }
}

/// Runs, latest first.
#[utoipa::path(get, path = "/runs", tag = "runs", operation_id = "listRuns", params(RunsQuery),
    responses((status = 200, body = Data<RunList>)))]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Query(query): Query<RunsQuery>,
) -> Result<Data<RunList>> {
    let store = &state.deps.store;
    let runs = match query.conversation_id {
        Some(conversation) => {
            state.own(&caller.user, &conversation).await?;
            store.runs(&caller.user, &conversation, LIST_LIMIT).await?
        }
        None => store.latest_runs(&caller.user, LIST_LIMIT).await?,
    };
    Ok(Data::of(RunList { runs: runs.into_iter().map(RunInfo::from).collect() }))
}

/// One run, with its answer once it has one.
#[utoipa::path(get, path = "/runs/{run_id}", tag = "runs", operation_id = "readRun",
    params(("run_id" = RunId, Path, example = "run_00112233445566aa")),
    responses((status = 200, body = Data<RunDetail>)))]
pub async fn read(
    State(state): State<AppState>,
    caller: Caller,
    Path(run_id): Path<RunId>,
) -> Result<Data<RunDetail>> {
    let store = &state.deps.store;
    let run = store.run(&caller.user, &run_id).await?;
    let mut detail = RunDetail { run: run.summary().into(), answer: None, error: None, timeline: Vec::new() };
    let mut after = 0;
    loop {
        let page = store.events_after(EventScope::Run(&run_id), after, 500).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for event in page {
            detail.timeline.push(TimelineEntry::from(&event));
            match event.event {
                RunEvent::Report(answer) => detail.answer = Some(*answer),
                RunEvent::RunFailed { error } => detail.error = Some(error),
                _ => {}
            }
        }
    }
    Ok(Data::of(detail))
}

/// The run's events as a stream: from the start, or after the last one seen; ends with the run.
#[utoipa::path(get, path = "/runs/{run_id}/events", tag = "runs", operation_id = "runEvents",
    params(("run_id" = RunId, Path, example = "run_00112233445566aa"), AfterQuery),
    responses((status = 200, description = "Events of the run", content_type = "text/event-stream", body = String)))]
pub async fn events(
    State(state): State<AppState>,
    caller: Caller,
    Path(run_id): Path<RunId>,
    Query(query): Query<AfterQuery>,
    headers: HeaderMap,
) -> Result<Response> {
    state.deps.store.run(&caller.user, &run_id).await?;
    let after = sse::resume_point(&headers, query.after);
    Ok(sse::run_events(&state, caller.user, state.deps.bus.subscribe(&run_id), Some(after)))
}

/// Stop a run: its model request and its tools end.
#[utoipa::path(post, path = "/runs/{run_id}/cancel", tag = "runs", operation_id = "cancelRun",
    params(("run_id" = RunId, Path, example = "run_00112233445566aa")),
    responses((status = 200, body = Data<Cancelled>)))]
pub async fn cancel(
    State(state): State<AppState>,
    caller: Caller,
    Path(run_id): Path<RunId>,
) -> Result<Data<Cancelled>> {
    state.deps.store.run(&caller.user, &run_id).await?;
    let cancelled = state.deps.agent.cancel(&run_id).await?;
    Ok(Data::of(Cancelled { run_id, cancelled }))
}
