//! Numbers: for the page as JSON with a readable report, for Prometheus as text (SPEC M2).

use std::fmt::Write;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use ba_agent::metrics;
use ba_agent::run::Language;
use ba_protocol::ConversationId;
use ba_store::{RunStatus, TelemetryScope};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::auth::Caller;
use crate::envelope::{Data, Query};
use crate::error::Result;
use crate::state::AppState;

/// How many calls are looked through for latencies and rates.
const LATEST_CALLS: u32 = 20_000;

#[derive(Debug, Serialize, ToSchema)]
pub struct Metrics {
    /// Per tool (over the latest calls), per model and in all: of the caller's own conversations, from what is stored.
    #[schema(value_type = Object)]
    pub agent: serde_json::Value,
    /// Of the conversation asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub conversation: Option<serde_json::Value>,
    /// `工具执行统计: …`
    pub report: String,
    /// Seconds since the start.
    pub uptime: u64,
    /// The caller's runs under way.
    pub live_runs: usize,
    /// Streams being read right now.
    pub stream_readers: usize,
    /// Resident memory of the server in bytes, where the system tells.
    pub resident_bytes: Option<u64>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct MetricsQuery {
    /// Adds the figures of one conversation.
    #[param(example = "conv_a87365d8983d")]
    conversation_id: Option<ConversationId>,
}

/// Calls, errors, cache hits, latencies.
#[utoipa::path(get, path = "/metrics", tag = "health", operation_id = "metrics", params(MetricsQuery), responses((status = 200, body = Data<Metrics>)))]
pub async fn json(
    State(state): State<AppState>,
    caller: Caller,
    Query(query): Query<MetricsQuery>,
) -> Result<Data<Metrics>> {
    let snapshot = stored(&state, &caller).await?;
    let mut conversation = None;
    if let Some(id) = query.conversation_id {
        state.own(&caller.user, &id).await?;
        let stats = stored_conversation(&state, &caller, &id).await?;
        conversation = serde_json::to_value(stats).ok();
    }
    Ok(Data::of(Metrics {
        conversation,
        report: metrics::report(&snapshot, Language::Zh),
        agent: serde_json::to_value(&snapshot).unwrap_or_default(),
        live_runs: state.deps.agent.live_runs_of(&caller.user),
        uptime: state.started.elapsed().as_secs(),
        stream_readers: state.deps.bus.readers(),
        resident_bytes: resident_bytes(),
    }))
}

/// The caller's own figures: the same after a restart, and the same as the lists of runs say.
async fn stored(state: &AppState, caller: &Caller) -> Result<metrics::MetricsSnapshot> {
    let store = &state.deps.store;
    let counted = metrics::Metrics::default();
    for row in store.telemetry(TelemetryScope::Owner(&caller.user), LATEST_CALLS).await? {
        counted.tool_finished(&row.conversation_id, &row.telemetry);
    }
    for of in store.usage_by_model(&caller.user).await? {
        counted.runs_of_model(&of.model, of.runs, &of.usage, &of.durations);
    }
    Ok(counted.snapshot())
}

async fn stored_conversation(
    state: &AppState,
    caller: &Caller,
    id: &ConversationId,
) -> Result<metrics::ConversationStats> {
    let store = &state.deps.store;
    let counted = metrics::Metrics::default();
    for row in store.telemetry(TelemetryScope::Conversation(id), LATEST_CALLS).await? {
        counted.tool_finished(id, &row.telemetry);
    }
    for run in store.runs(&caller.user, id, LATEST_CALLS).await? {
        if run.status != RunStatus::Running {
            counted.run_ended(id, &run.usage);
        }
    }
    Ok(counted.conversation(id).unwrap_or_default())
}

/// Of the whole server since its start, for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "health", operation_id = "prometheus",
    responses((status = 200, description = "Prometheus text format", content_type = "text/plain", body = String)))]
pub async fn prometheus(State(state): State<AppState>, _: Caller) -> Response {
    let mut text = metrics::prometheus(&state.deps.agent.metrics().snapshot());
    text.push_str(&state.http_metrics.prometheus());
    let gauges = [
        ("ba_uptime_seconds", "Seconds since the start.", state.started.elapsed().as_secs()),
        ("ba_live_runs", "Runs under way.", state.deps.agent.live_runs() as u64),
        ("ba_stream_readers", "Event streams being read.", state.deps.bus.readers() as u64),
        ("ba_resident_bytes", "Resident memory of the server.", resident_bytes().unwrap_or(0)),
    ];
    for (name, help, value) in gauges {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
    }
    let mut response = text.into_response();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8"));
    response
}

fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kb| kb * 1024)
}
