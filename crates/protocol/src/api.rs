//! Bodies of the HTTP API that the agent fills (SPEC A1, A8, R1–R9). Routes and status codes live in the server.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::audit::{Audit, WitnessReport};
use crate::data_note::DataNote;
use crate::file::Artifact;
use crate::ids::{CodeId, ConversationId, RunId, UploadId};
use crate::structured::{Clarification, ToolCall};
use crate::tool::OutputLevel;

/// `POST /agent/query` (SPEC A1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryRequest {
    /// The question, in any language.
    #[schema(min_length = 1, max_length = 200_000, example = "各地区销售额是多少？")]
    pub message: String,
    #[serde(default)]
    pub conversation_id: Option<ConversationId>,
    /// Uploads the question is about; all of the conversation's files are visible anyway.
    #[serde(default)]
    pub file_ids: Vec<UploadId>,
    /// Another of the configured models, by its name or as `provider:model`; `GET /status` lists them.
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub output_level: Option<OutputLevel>,
    /// A run of this conversation that is asked again, edited or not: this becomes another version of its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<RunId>,
}

/// One API-shaped answer: a processing round, or the complete report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentResponse {
    pub response: String,
    pub conversation_id: ConversationId,
    pub run_id: RunId,
    pub duration_ms: u64,
    /// Every call of the run so far, with its outcome.
    pub tool_calls: Vec<CallSummary>,
    pub artifacts: Vec<Artifact>,
    pub metadata: ResponseMetadata,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CallSummary {
    pub tool_name: String,
    pub tool_call_id: String,
    pub success: bool,
    pub duration_ms: f64,
    pub cache_hit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Processing,
    Complete,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ResponseMetadata {
    /// `text`, `markdown` or `html`.
    pub content_type: String,
    pub has_structured_response: bool,
    pub action_type: String,
    pub current_round: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub task_analysis: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub execution_plan: String,
    pub status: Status,
    #[serde(default)]
    pub contains_html: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recommended_questions: Vec<String>,
    /// The answer is a question back to the user; the choices are also the recommended questions (SPEC W9).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_clarification: Option<Clarification>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub download_links: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub code_refs: Vec<CodeRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_refs: Vec<FileRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub saved_codes: Vec<SavedCode>,
    /// Charts by reference, each drawn from a stored result at `{{CHART:N}}` (SPEC W4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charts: Vec<ChartRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What must be known about the tables the answer was made from (SPEC B1), each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_notes: Vec<DataNote>,
    /// Where the figures of the answer come from (SPEC V1); absent when the audit is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<Audit>,
    /// What the offline analyst computed for the same question on its own (SPEC V6), where it read it with confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<WitnessReport>,
    /// The active skills when the model wrote this turn, outermost first (SPEC S3).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skill_chain: Vec<String>,
    /// Why the run ended, when it was not the model's own choice (a limit, a repeated call).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// `provider:model` that answered.
    #[serde(default)]
    pub model: String,
    /// True when the built-in offline analyst answered.
    #[serde(default)]
    pub offline: bool,
    #[serde(default)]
    pub usage: UsageInfo,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageInfo {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Part of the input the provider read from its cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// In the configured currency, when prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CodeRef {
    pub code_id: CodeId,
    pub language: String,
    pub description: String,
    pub index: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileRef {
    /// An upload id, or the name of an artifact.
    pub file_id: String,
    pub filename: String,
    pub file_type: String,
    pub size: u64,
    pub index: usize,
}

/// A chart whose figures are those of a call's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChartRef {
    pub index: usize,
    pub tool_call_id: String,
    /// `bar`, `line`, `area`, `pie`, `scatter`, `stacked`, or another of ECharts' series.
    pub kind: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub x: String,
    #[serde(default)]
    pub y: Vec<String>,
    #[serde(default)]
    pub unit: Option<String>,
    /// Only the last rows of the result are drawn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// An ECharts option with its dataset filled in; data only.
    #[schema(value_type = Object)]
    pub option: serde_json::Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SavedCode {
    pub code_id: CodeId,
    pub version: u32,
    pub language: String,
    pub description: String,
    pub file_path: String,
    /// Characters.
    pub original_length: u64,
}

/// What an error says (SPEC A8). `code` is stable; `message` is for people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErrorInfo {
    pub code: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<serde_json::Value>,
}

impl ErrorInfo {
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), details: None }
    }
}
