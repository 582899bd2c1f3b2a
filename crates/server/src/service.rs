//! What the server asks of the rest of the program. Given at wiring; the server knows no concrete tool or model.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ba_protocol::api::{AgentResponse, ErrorInfo, QueryRequest};
use ba_protocol::{ConversationId, RunId, Upload, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::ApiError;

/// A message that is safe: its run goes on whatever happens to the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    pub conversation_id: ConversationId,
    pub run_id: RunId,
}

/// The agent, as the routes use it.
#[async_trait]
pub trait AgentService: Send + Sync {
    /// Durable when it returns; the run goes on in the background.
    async fn admit(&self, owner: &UserId, query: QueryRequest) -> Result<Admitted, ApiError>;

    /// The complete answer, or why there is none.
    async fn wait(&self, run: &RunId) -> Result<AgentResponse, ApiError>;

    /// False when the run is not running here.
    fn cancel(&self, run: &RunId) -> bool;

    fn tools(&self) -> Vec<ToolInfo>;

    fn skills(&self) -> Vec<SkillInfo>;

    /// Numbers of all tools and models since the start (SPEC M2).
    fn metrics(&self) -> AgentMetrics;

    /// What the model would be sent for a turn; `None` when this agent cannot say.
    async fn context(&self, conversation: &ConversationId, turn: u32) -> Result<Option<Value>, ApiError>;

    /// Lets runs finish or checkpoints them.
    async fn shutdown(&self, grace: Duration);
}

/// A tool the model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolInfo {
    #[schema(example = "query_database")]
    pub name: String,
    pub version: String,
    pub description: String,
    /// JSON schema of its arguments.
    #[schema(value_type = Object)]
    pub schema: Value,
}

/// A skill the model may activate (SPEC S1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SkillInfo {
    pub name: String,
    pub description: String,
    /// Where it comes from, e.g. `built-in`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub struct AgentMetrics {
    /// For the page and scripts.
    pub json: Value,
    /// `工具执行统计: …`, for people.
    pub report: String,
    /// In Prometheus' text format.
    pub prometheus: String,
}

/// Reads uploaded files: profiles, converts, and records what it found in the store. It never fails the upload.
#[async_trait]
pub trait Ingest: Send + Sync {
    /// Progress is 0 to 1, with a line for people.
    async fn ingest(&self, upload: &Upload, progress: &(dyn Fn(f64, &str) + Send + Sync));
}

/// Something that must work before the server calls itself ready.
#[async_trait]
pub trait Check: Send + Sync {
    fn name(&self) -> &'static str;

    async fn check(&self) -> Result<String, String>;
}

/// A sample data set people can load with one click.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SampleInfo {
    #[schema(example = "retail")]
    pub name: String,
    #[schema(example = "零售销售数据")]
    pub title: String,
    #[serde(default)]
    pub description: String,
    /// Questions that make sense with it.
    #[serde(default)]
    pub questions: Vec<String>,
}

/// A sample with its files on disk.
#[derive(Debug, Clone)]
pub struct Sample {
    pub info: SampleInfo,
    pub files: Vec<std::path::PathBuf>,
}

/// Which model answers, for the page.
#[derive(Debug, Clone, Default)]
pub struct ModelLabel {
    pub name: String,
    pub offline: bool,
}

/// Everything the server is given.
pub struct Deps {
    pub store: ba_store::Store,
    pub agent: Arc<dyn AgentService>,
    pub bus: crate::event_bus::EventBus,
    pub ingest: Option<Arc<dyn Ingest>>,
    pub checks: Vec<Arc<dyn Check>>,
    pub model: ModelLabel,
    pub samples: Vec<Sample>,
    /// JSONL log of a conversation, for exports.
    pub log_dir: Option<std::path::PathBuf>,
}

/// An error of a run, as an answer.
pub fn run_failure(info: ErrorInfo) -> ApiError {
    use axum::http::StatusCode;
    let status = match info.code.as_str() {
        "cancelled" | "run_cancelled" => StatusCode::CONFLICT,
        "model_rate_limited" => StatusCode::SERVICE_UNAVAILABLE,
        "model_timeout" => StatusCode::GATEWAY_TIMEOUT,
        code if code.starts_with("model_") => StatusCode::BAD_GATEWAY,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let mut error = ApiError::new(status, &info.code, info.message);
    error.info.details = info.details;
    error
}
