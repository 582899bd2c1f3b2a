//! What can go wrong when a question is asked, by who must react.

use ba_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("the message is empty")]
    EmptyMessage,
    #[error("the message is longer than {limit} characters; put long texts into a file and upload it")]
    MessageTooLong { limit: usize },
    #[error("no model `{0}` is configured; configured: {1}")]
    UnknownModel(String, String),
    #[error("{0} is not a file of this conversation")]
    UnknownFile(String),
    #[error("the run failed: {}", .0.message)]
    RunFailed(ba_protocol::api::ErrorInfo),
    #[error("the run was cancelled")]
    Cancelled,
    #[error("the run has not ended yet")]
    StillRunning,
    #[error("the server is shutting down; try again shortly")]
    ShuttingDown,
    #[error(transparent)]
    Store(#[from] StoreError),
}
