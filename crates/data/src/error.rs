//! Why a table, a query or a connection could not be used. Messages never hold a password or a path of this machine.

use ba_protocol::{Said, ToolErrorType, ToolFailure};

#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The file, or what was asked of it, is wrong in a way its owner can mend.
    #[error("{message}")]
    File { code: String, message: String, hint: Option<String>, said: Option<Box<Said>> },
    /// A statement that is not a plain read.
    #[error("{0}")]
    Refused(#[from] crate::guard::Refusal),
    /// The database or DuckDB answered with an error.
    #[error("{message}")]
    Query { code: String, message: String, hint: Option<String> },
    #[error("no connection `{name}`; there are: {known}")]
    UnknownConnection { name: String, known: String },
    #[error("connection `{name}`: {message}")]
    Connection { name: String, message: String },
    /// A connection that must not be used as it is configured.
    #[error("connection `{name}` is refused: {message}")]
    Unsafe { name: String, message: String },
    #[error("{what} took longer than {seconds} s and was cancelled")]
    Timeout { what: String, seconds: u64 },
    #[error("{message}")]
    Resources { message: &'static str, said: &'static str },
    #[error("parameters: {0}")]
    Params(String),
    #[error("the sandbox is not available: {0}")]
    Sandbox(#[from] ba_sandbox::SandboxError),
    #[error("{0}")]
    Internal(String),
}

impl DataError {
    /// Why a file was not read, for people.
    pub fn said(&self) -> Said {
        match self {
            DataError::File { said: Some(said), .. } => Said::clone(said),
            DataError::Resources { said, .. } => Said::new(said).step("part"),
            DataError::Timeout { seconds, .. } => Said::new("timeout").with("seconds", *seconds).step("part"),
            DataError::Sandbox(_) => Said::new("no_sandbox"),
            _ => Said::new("internal").step("read_again"),
        }
    }

    pub(crate) fn query(code: &str, message: impl Into<String>) -> Self {
        Self::Query { code: code.to_owned(), message: message.into(), hint: None }
    }

    pub(crate) fn internal(context: &str, error: impl std::fmt::Display) -> Self {
        Self::Internal(format!("{context}: {error}"))
    }
}

impl From<DataError> for ToolFailure {
    fn from(error: DataError) -> Self {
        let message = error.to_string();
        let (kind, code, hint) = match error {
            DataError::File { code, hint, .. } => (ToolErrorType::ValidationError, code, hint),
            DataError::Query { code, hint, .. } => (ToolErrorType::ExecutionError, code, hint),
            DataError::Refused(refusal) => (ToolErrorType::PermissionError, refusal.code().to_owned(), None),
            DataError::UnknownConnection { .. } => {
                (ToolErrorType::NotFound, "UNKNOWN_CONNECTION".to_owned(), None)
            }
            DataError::Connection { .. } => {
                (ToolErrorType::NetworkError, "CONNECTION_FAILED".to_owned(), None)
            }
            DataError::Unsafe { .. } => {
                (ToolErrorType::PermissionError, "CONNECTION_REFUSED".to_owned(), None)
            }
            DataError::Timeout { .. } => (
                ToolErrorType::Timeout,
                "TIMEOUT".to_owned(),
                Some("filter or aggregate so that fewer rows are read".to_owned()),
            ),
            DataError::Resources { .. } => (ToolErrorType::ResourceError, "RESOURCES".to_owned(), None),
            DataError::Params(_) => (ToolErrorType::ValidationError, "BAD_PARAMS".to_owned(), None),
            DataError::Sandbox(_) => (ToolErrorType::InternalError, "SANDBOX_UNAVAILABLE".to_owned(), None),
            DataError::Internal(_) => (ToolErrorType::InternalError, "INTERNAL".to_owned(), None),
        };
        let failure = ToolFailure::new(kind, code, message);
        match hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}
