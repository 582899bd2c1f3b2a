//! A conversation's history, kept as turns (SPEC X9 calls them rounds): one user message and all that was done for it.
//! Every view (context, log, page, export) is made from these.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::audit::Audit;
use crate::ids::RunId;
use crate::structured::ToolCall;
use crate::tool::ToolResult;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Turn {
    /// The run that made this turn; stored under its old name (SPEC X9).
    #[serde(rename = "round_id")]
    pub run_id: RunId,
    pub user_message: String,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    pub steps: Vec<Round>,
    /// The answer as history keeps it: code blocks replaced by their CODE_SAVED line (SPEC X8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_answer: Option<String>,
    #[serde(default)]
    pub tokens_used: u64,
    /// Where the answer's figures came from when it was given (SPEC V1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<Audit>,
    #[serde(default, skip_serializing_if = "TurnEnding::is_complete")]
    pub ending: TurnEnding,
}

/// How a turn ended. Every run leaves a turn, whatever became of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TurnEnding {
    #[default]
    Complete,
    Failed,
    Cancelled,
}

impl TurnEnding {
    fn is_complete(&self) -> bool {
        *self == TurnEnding::Complete
    }
}

/// One exchange with the model that called tools, with what they answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Round {
    /// What the model wrote, as it goes back to it.
    pub model_text: String,
    pub thought: String,
    /// What the provider sent of the model's thinking, apart from its answer (SPEC P14). Kept, never sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    pub tool_calls: Vec<ToolCall>,
    pub results: Vec<ToolResult>,
}

impl Turn {
    pub fn thoughts(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(|s| s.thought.as_str())
    }

    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.steps.iter().flat_map(|s| &s.tool_calls)
    }

    pub fn tool_observations(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().flat_map(|s| &s.results).map(|r| r.observation.as_str())
    }
}
