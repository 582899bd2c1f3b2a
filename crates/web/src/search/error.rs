//! Why a search gave nothing, and what a model is told about it. Never shows a key.

use std::time::Duration;

use ba_protocol::{ToolErrorType, ToolFailure};

use crate::fetch::FetchError;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    #[error("no search provider is configured")]
    NotConfigured,
    #[error("{provider} refused the key ({detail}): check {setting}")]
    Key { provider: &'static str, setting: String, detail: String },
    #[error("{provider} allows no more requests now{}", after(.retry_after))]
    Busy { provider: &'static str, retry_after: Option<Duration> },
    #[error("{provider} has a problem of its own: {detail}")]
    Down { provider: &'static str, detail: String },
    #[error("{provider} did not accept the request: {detail}")]
    Rejected { provider: &'static str, detail: String },
    #[error("{provider} answered with something that is no search result: {detail}")]
    Garbled { provider: &'static str, detail: String },
    #[error("{provider} cannot be reached: {source}")]
    Unreachable { provider: &'static str, source: FetchError },
    #[error("no provider answered: {}", joined(.0))]
    All(Vec<SearchError>),
}

fn after(time: &Option<Duration>) -> String {
    time.map(|t| format!(", try again in {} s", t.as_secs().max(1))).unwrap_or_default()
}

fn joined(all: &[SearchError]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl SearchError {
    /// Whether the same search may work in a moment.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Busy { .. } | Self::Down { .. } | Self::Unreachable { .. } => true,
            Self::All(all) => all.iter().any(Self::is_passing),
            _ => false,
        }
    }
}

impl From<SearchError> for ToolFailure {
    fn from(error: SearchError) -> Self {
        use ToolErrorType as T;
        let (kind, code, hint) = match &error {
            SearchError::NotConfigured => (
                T::PermissionError,
                "SEARCH_NOT_CONFIGURED",
                Some(
                    "do not call web_search again; answer from the data at hand or read a known address with web_reader",
                ),
            ),
            SearchError::Key { .. } => (
                T::PermissionError,
                "SEARCH_KEY_REFUSED",
                Some("the operator must correct it; do not call web_search again"),
            ),
            e if e.is_passing() => (T::NetworkError, "SEARCH_UNAVAILABLE", None),
            SearchError::All(_) => (T::ExecutionError, "SEARCH_FAILED", None),
            SearchError::Rejected { .. } => {
                (T::ExecutionError, "SEARCH_REJECTED", Some("try a shorter, simpler query"))
            }
            _ => (T::ExecutionError, "SEARCH_UNREADABLE", None),
        };
        let failure = ToolFailure::new(kind, code, error.to_string());
        match hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}
