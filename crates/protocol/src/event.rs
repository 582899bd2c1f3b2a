//! What happens in a run, as it is kept and streamed (SPEC A2). The sequence number is the SSE id.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::api::{AgentResponse, ErrorInfo};
use crate::file::Artifact;
use crate::ids::{ConversationId, RunId, UploadId};
use crate::said::Said;

/// A durable event: persisted first, sent after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    /// Monotonic per conversation, from 1.
    pub seq: u64,
    pub conversation_id: ConversationId,
    pub run_id: RunId,
    #[schema(value_type = String)]
    pub at: Timestamp,
    #[serde(flatten)]
    pub event: RunEvent,
}

/// `text.delta` and `tool.progress` are passing: they carry no id and are not kept, because the `round` or
/// `report` that follows holds the whole text. All others are durable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "event", content = "data")]
pub enum RunEvent {
    #[serde(rename = "run.started")]
    RunStarted {
        run_id: RunId,
        conversation_id: ConversationId,
        message: String,
        /// The uploads that came with the question.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        file_ids: Vec<UploadId>,
    },
    /// A model turn that called tools, API-shaped with status `processing`.
    #[serde(rename = "round")]
    Turn(Box<AgentResponse>),
    #[serde(rename = "text.delta")]
    TextDelta { text: String, round: u32 },
    #[serde(rename = "tool.started")]
    ToolStarted {
        tool_call_id: String,
        tool_name: String,
        #[schema(value_type = Object)]
        arguments: Map<String, Value>,
        round: u32,
    },
    #[serde(rename = "tool.progress")]
    ToolProgress { tool_call_id: String, fraction: Option<f64>, message: String },
    #[serde(rename = "tool.finished")]
    ToolFinished(Box<ToolFinished>),
    /// The complete answer.
    #[serde(rename = "report")]
    Report(Box<AgentResponse>),
    #[serde(rename = "run.failed")]
    RunFailed { error: ErrorInfo },
    #[serde(rename = "run.cancelled")]
    RunCancelled {
        /// What of the answer was there when it was stopped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partial: Option<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolFinished {
    pub tool_call_id: String,
    pub tool_name: String,
    pub success: bool,
    pub duration_ms: f64,
    pub cache_hit: bool,
    /// One line for people.
    pub summary: String,
    /// The same as a code with values, one of [`crate::said::SUMMARIES`]; absent where a call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Said>,
    /// The first part of what the model saw.
    pub observation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
}

impl RunEvent {
    /// The SSE event name.
    pub fn name(&self) -> &'static str {
        match self {
            RunEvent::RunStarted { .. } => "run.started",
            RunEvent::Turn(_) => "round",
            RunEvent::TextDelta { .. } => "text.delta",
            RunEvent::ToolStarted { .. } => "tool.started",
            RunEvent::ToolProgress { .. } => "tool.progress",
            RunEvent::ToolFinished(_) => "tool.finished",
            RunEvent::Report(_) => "report",
            RunEvent::RunFailed { .. } => "run.failed",
            RunEvent::RunCancelled { .. } => "run.cancelled",
        }
    }

    pub fn is_durable(&self) -> bool {
        !matches!(self, RunEvent::TextDelta { .. } | RunEvent::ToolProgress { .. })
    }

    /// Nothing follows this event in its run.
    pub fn is_last(&self) -> bool {
        matches!(self, RunEvent::Report(_) | RunEvent::RunFailed { .. } | RunEvent::RunCancelled { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_name_and_the_serde_tag_agree() {
        let events = [
            RunEvent::TextDelta { text: "a".into(), round: 1 },
            RunEvent::RunCancelled { partial: None },
            RunEvent::RunFailed { error: ErrorInfo::new("x", "y") },
        ];
        for event in events {
            let wire = serde_json::to_value(&event).unwrap();
            assert_eq!(wire["event"], event.name());
            assert_eq!(serde_json::from_value::<RunEvent>(wire).unwrap(), event);
        }
    }
}
