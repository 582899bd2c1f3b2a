//! What is wrong with a configuration, and how to put it right. Never shows a secret.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read {path}: {source}")]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{path}: {message}")]
    Syntax { path: PathBuf, message: String },
    #[error("{name}: {message}")]
    Invalid { name: String, message: String },
}

impl ConfigError {
    pub(crate) fn invalid(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { name: name.into(), message: message.into() }
    }
}
