//! Tool results as the agent keeps them (SPEC E1–E3, E6). Formatting lives in the agent's pipeline.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::data_note::DataNote;
use crate::file::{Artifact, FileFacts};

/// How much of a result the model is shown (SPEC E1).
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum OutputLevel {
    /// Key facts only.
    #[serde(alias = "concise")]
    Brief,
    /// What one can act on.
    #[default]
    Standard,
    /// Everything.
    #[serde(alias = "detailed")]
    Full,
    /// Everything, unformatted.
    Raw,
}

impl OutputLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            OutputLevel::Brief => "brief",
            OutputLevel::Standard => "standard",
            OutputLevel::Full => "full",
            OutputLevel::Raw => "raw",
        }
    }

    /// Full and raw both store their data (SPEC E4).
    pub fn is_full(self) -> bool {
        matches!(self, OutputLevel::Full | OutputLevel::Raw)
    }
}

/// What went wrong, by who can do something about it (SPEC E6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolErrorType {
    Timeout,
    ResourceError,
    ValidationError,
    PermissionError,
    NotFound,
    NetworkError,
    ExecutionError,
    InternalError,
}

impl ToolErrorType {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::ResourceError => "resource_error",
            Self::ValidationError => "validation_error",
            Self::PermissionError => "permission_error",
            Self::NotFound => "not_found",
            Self::NetworkError => "network_error",
            Self::ExecutionError => "execution_error",
            Self::InternalError => "internal_error",
        }
    }

    /// Whether the same call may succeed when tried again (SPEC E7). `network_error` only counts for the web tools,
    /// which their retry policy adds.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Timeout | Self::ResourceError)
    }
}

impl fmt::Display for ToolErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failed call, in words the model can act on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, thiserror::Error)]
#[error("{error_type}: {message}")]
pub struct ToolFailure {
    pub error_type: ToolErrorType,
    /// Stable, upper case: `UNKNOWN_COLUMN`.
    pub code: String,
    pub message: String,
    /// What to try next, when we know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl ToolFailure {
    pub fn new(error_type: ToolErrorType, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { error_type, code: code.into(), message: message.into(), hint: None }
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn validation(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(ToolErrorType::ValidationError, code, message)
    }

    pub fn not_found(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(ToolErrorType::NotFound, code, message)
    }

    pub fn execution(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(ToolErrorType::ExecutionError, code, message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ToolErrorType::InternalError, "INTERNAL", message)
    }
}

/// A call's outcome as it is kept (SPEC E3). `observation` is all the model sees of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolResult {
    pub tool_call_id: String,
    pub tool_name: String,
    pub observation: String,
    pub output_level: OutputLevel,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_file: Option<String>,
    #[serde(default)]
    pub data_size_bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_summary: Option<String>,
    pub success: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_type: Option<ToolErrorType>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// Files the call produced (SPEC F3).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// Set when the call read a file: what its synopsis is made from (SPEC X2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_facts: Option<FileFacts>,
    /// What must be told with figures of the tables the call used (SPEC B1).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_notes: Vec<DataNote>,
}

impl ToolResult {
    /// A success that brought nothing but its words; what else there is, is set on it.
    pub fn success(
        tool_call_id: impl Into<String>,
        tool_name: impl Into<String>,
        observation: impl Into<String>,
    ) -> Self {
        Self {
            tool_call_id: tool_call_id.into(),
            tool_name: tool_name.into(),
            observation: observation.into(),
            output_level: OutputLevel::default(),
            data_file: None,
            data_size_bytes: 0,
            data_summary: None,
            success: true,
            error_type: None,
            error_code: None,
            error_message: None,
            artifacts: Vec::new(),
            file_facts: None,
            data_notes: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_aliases_are_accepted() {
        for (given, level) in [
            ("brief", OutputLevel::Brief),
            ("concise", OutputLevel::Brief),
            ("standard", OutputLevel::Standard),
            ("detailed", OutputLevel::Full),
            ("full", OutputLevel::Full),
            ("raw", OutputLevel::Raw),
        ] {
            assert_eq!(serde_json::from_value::<OutputLevel>(given.into()).unwrap(), level);
        }
    }

    #[test]
    fn only_timeouts_and_resources_are_retryable() {
        let retryable = [ToolErrorType::Timeout, ToolErrorType::ResourceError];
        for t in [ToolErrorType::ValidationError, ToolErrorType::NotFound, ToolErrorType::NetworkError] {
            assert!(!t.is_retryable());
        }
        assert!(retryable.iter().all(|t| t.is_retryable()));
    }
}
