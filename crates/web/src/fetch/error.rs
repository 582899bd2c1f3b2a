//! Why something could not be fetched, and what a model is told about it. In our words: a message stands outside the
//! mark of untrusted text, so nothing a server wrote may be part of one, beside its host's name.

use std::time::Duration;

use ba_protocol::{ToolErrorType, ToolFailure};

/// A longer wait than this is not worth a retry of ours.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error("not an address that can be read: {detail}")]
    Address { detail: String },
    /// The guard said no: the target is not on the public web, or the operator excluded it.
    #[error("`{host}` may not be read: {reason}")]
    Refused { host: String, reason: String },
    #[error("the robots.txt of `{host}` does not allow reading this page")]
    Robots { host: String },
    /// RFC 9309 2.3.1.4: a server that fails to say forbids everything, for now.
    #[error("`{host}` failed to give its robots.txt (status {status}), so its pages may not be read for now")]
    NoRobots { host: String, status: u16 },
    #[error("`{host}` cannot be found: {detail}")]
    Unresolved { host: String, detail: String },
    #[error("`{host}` cannot be reached: {detail}")]
    Unreachable { host: String, detail: String },
    #[error("`{host}` has no valid certificate: {detail}")]
    Tls { host: String, detail: &'static str },
    #[error("no {phase} within {seconds} s")]
    Timeout { phase: &'static str, seconds: u64 },
    #[error("larger than the limit of {limit} bytes")]
    TooLarge { limit: usize },
    #[error("more than {limit} redirects")]
    Redirects { limit: usize },
    #[error("the server answered with status {status}")]
    Status { status: u16, retry_after: Option<Duration> },
    #[error("the answer cannot be read: {detail}")]
    Garbled { detail: String },
}

impl From<FetchError> for ToolFailure {
    fn from(error: FetchError) -> Self {
        use FetchError::*;
        use ToolErrorType as T;
        let (kind, code) = match &error {
            Address { .. } => (T::ValidationError, "BAD_URL"),
            Refused { .. } => (T::PermissionError, "ADDRESS_REFUSED"),
            Robots { .. } => (T::PermissionError, "ROBOTS_DISALLOWED"),
            NoRobots { .. } => (T::PermissionError, "ROBOTS_UNAVAILABLE"),
            // Only a resolver in trouble is worth asking again.
            Unresolved { detail, .. } if detail.contains("emporary") => {
                (T::NetworkError, "NAME_NOT_RESOLVED")
            }
            Unresolved { .. } => (T::NotFound, "NAME_NOT_FOUND"),
            Unreachable { .. } => (T::NetworkError, "UNREACHABLE"),
            Tls { .. } => (T::ExecutionError, "INVALID_CERTIFICATE"),
            Timeout { .. } => (T::Timeout, "WEB_TIMEOUT"),
            TooLarge { .. } => (T::ExecutionError, "TOO_LARGE"),
            Redirects { .. } => (T::ExecutionError, "TOO_MANY_REDIRECTS"),
            Status { status: 404 | 410, .. } => (T::NotFound, "HTTP_NOT_FOUND"),
            Status { status: 401 | 402 | 403 | 407 | 451, .. } => (T::PermissionError, "HTTP_FORBIDDEN"),
            // Sooner than it asks for would be rude, and in vain.
            Status { retry_after: Some(wait), .. } if *wait > PATIENCE => {
                (T::ExecutionError, "HTTP_UNAVAILABLE")
            }
            Status { status: 408 | 425 | 429 | 500..=599, .. } => (T::NetworkError, "HTTP_UNAVAILABLE"),
            Status { .. } => (T::ExecutionError, "HTTP_STATUS"),
            Garbled { .. } => (T::ExecutionError, "UNREADABLE"),
        };
        let failure = ToolFailure::new(kind, code, error.to_string());
        match hint(&error) {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}

/// What a model can do about it.
fn hint(error: &FetchError) -> Option<String> {
    match error {
        FetchError::Refused { .. } | FetchError::Robots { .. } => Some(
            "do not try other spellings of this address; use another source, or ask the user for the text"
                .into(),
        ),
        FetchError::Status { retry_after: Some(wait), .. } => {
            Some(format!("the server asks to wait {} s", wait.as_secs()))
        }
        FetchError::Status { status: 401 | 403 | 404 | 410 | 451, .. } | FetchError::Unresolved { .. } => {
            Some("check the address, or use another source".into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_passing_trouble_is_tried_again() {
        let status = |status, wait: Option<u64>| {
            let retry_after = wait.map(Duration::from_secs);
            ToolFailure::from(FetchError::Status { status, retry_after }).error_type
        };
        assert_eq!(status(503, None), ToolErrorType::NetworkError);
        assert_eq!(status(429, Some(1)), ToolErrorType::NetworkError);
        assert_eq!(status(429, Some(60)), ToolErrorType::ExecutionError);
        assert_eq!(status(404, None), ToolErrorType::NotFound);
        assert_eq!(status(403, None), ToolErrorType::PermissionError);
        let unresolved = |detail: &str| {
            ToolFailure::from(FetchError::Unresolved { host: "h".into(), detail: detail.into() }).error_type
        };
        assert_eq!(unresolved("Temporary failure in name resolution"), ToolErrorType::NetworkError);
        assert_eq!(unresolved("Name or service not known"), ToolErrorType::NotFound);
    }
}
