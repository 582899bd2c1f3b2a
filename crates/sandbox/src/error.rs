//! Why the sandbox itself could not do its work. A job that fails is a `JobOutcome`, not one of these.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The machine cannot confine code; the text says what to enable.
    #[error("the sandbox cannot confine code on this machine: {0}")]
    Unconfined(String),
    #[error("the Python environment could not be prepared: {0}")]
    Environment(String),
    #[error("the Python environment at {path} is broken: {detail}")]
    BrokenEnvironment { path: PathBuf, detail: String },
    #[error("the Python worker did not start: {0}")]
    Start(String),
    /// The caller named a file or folder that cannot be used.
    #[error("{what} cannot be used: {detail}")]
    Input { what: String, detail: String },
    #[error("the sandbox is shutting down")]
    ShuttingDown,
    #[error("the sandbox failed: {0}")]
    Internal(String),
}

impl SandboxError {
    pub(crate) fn internal(context: &str, error: impl std::fmt::Display) -> Self {
        Self::Internal(format!("{context}: {error}"))
    }
}
