//! What can go wrong in a tool, by who must react.

use ba_protocol::{ToolErrorType, ToolFailure};
use ba_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The model reads it and goes on: wrong arguments, an unknown column, code that failed, a site that is away.
    #[error(transparent)]
    TellModel(#[from] ToolFailure),
    /// Nothing the model could write would help: the storage does not answer. The run waits for it or ends in words.
    #[error(transparent)]
    Fatal(StoreError),
}

impl ToolError {
    /// As a model would read it.
    pub fn told(self) -> ToolFailure {
        match self {
            Self::TellModel(failure) => failure,
            Self::Fatal(error) => {
                ToolFailure::new(ToolErrorType::ResourceError, "STORAGE", error.to_string())
            }
        }
    }
}

/// What is not there, too large or over its quota is the caller's matter; a storage that does not work is not.
impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        let failure = match &error {
            StoreError::NotFound { .. } => ToolFailure::not_found("FILE_NOT_FOUND", error.to_string()),
            StoreError::Conflict(_)
            | StoreError::Invalid(_)
            | StoreError::TooLarge { .. }
            | StoreError::Quota { .. } => ToolFailure::validation("STORAGE", error.to_string()),
            StoreError::Full(_) => {
                ToolFailure::new(ToolErrorType::ResourceError, "STORAGE", error.to_string())
            }
            _ => return Self::Fatal(error),
        };
        Self::TellModel(failure)
    }
}
