//! What we measure about a call (SPEC E11). A type of its own, so that it cannot slip into an observation.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::tool::OutputLevel;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolTelemetry {
    pub tool_name: String,
    pub tool_version: String,
    #[schema(value_type = String)]
    pub execution_id: Uuid,
    #[schema(value_type = String)]
    pub timestamp: Timestamp,
    /// The tool's own work, last attempt.
    pub latency_ms: f64,
    /// Everything, retries and formatting included.
    pub duration_ms: f64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub total_tokens: u64,
    pub cache_hit: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_key: Option<String>,
    pub success: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    pub retry_count: u32,
    pub memory_mb: f64,
    pub cpu_percent: f64,
    /// How much of the result the model was shown.
    #[serde(default)]
    pub output_level: OutputLevel,
    #[serde(default)]
    pub metrics: BTreeMap<String, f64>,
}
