//! Every error of the API: its stable code, its status, its envelope (SPEC A8). The one home of that mapping.
//!
//! What went wrong inside is logged here, once; people are told only what they can act on.

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ba_agent::AgentError;
use ba_protocol::api::ErrorInfo;
use ba_protocol::ids::InvalidId;
use ba_store::StoreError;
use serde::Serialize;
use utoipa::ToSchema;

pub type Result<T, E = ApiError> = std::result::Result<T, E>;

/// `{success: false, error: {code, message, details?}}`
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Failure {
    #[schema(example = false)]
    pub success: bool,
    pub error: ErrorInfo,
}

/// An answer that is not a success.
#[derive(Debug, Clone)]
pub struct ApiError {
    pub status: StatusCode,
    pub info: Box<ErrorInfo>,
    headers: Box<HeaderMap>,
}

impl ApiError {
    pub fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        Self { status, info: Box::new(ErrorInfo::new(code, message)), headers: Box::default() }
    }

    pub fn bad_request(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("{what} not found"))
    }

    pub fn forbidden(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, message)
    }

    /// No credentials, or ones that do not count (any more).
    pub fn unauthorized() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "sign in, or send an API key as `Authorization: Bearer …`",
        )
        .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
    }

    pub fn too_large(limit: u64) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("larger than the limit of {}", ba_protocol::text::human_size(limit)),
        )
    }

    /// The cause is for the log; people only learn that it was our fault.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        tracing::error!(%cause, "request failed");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "something went wrong on the server; its log says what",
        )
    }

    pub fn unavailable(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message)
    }

    /// A run's own error, with the status that fits who is at fault.
    fn run_failed(info: ErrorInfo) -> Self {
        let status = match info.code.as_str() {
            "model_rate_limited" => StatusCode::SERVICE_UNAVAILABLE,
            "model_timeout" => StatusCode::GATEWAY_TIMEOUT,
            code if code.starts_with("model_") => StatusCode::BAD_GATEWAY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self { status, info: Box::new(info), headers: Box::default() }
    }

    pub fn with_header(mut self, name: header::HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    pub fn code(&self) -> &str {
        &self.info.code
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.info.code, self.status.as_u16(), self.info.message)
    }
}

impl std::error::Error for ApiError {}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(Failure { success: false, error: *self.info })).into_response();
        response.headers_mut().extend(*self.headers);
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { what } => Self::not_found(&what),
            StoreError::Conflict(message) => Self::new(StatusCode::CONFLICT, "conflict", message),
            StoreError::Invalid(message) => Self::bad_request("invalid_request", message),
            StoreError::TooLarge { what, limit } => {
                let mut error = Self::too_large(limit);
                error.info.message = format!("{what} is {}", error.info.message);
                error
            }
            error @ StoreError::Quota { .. } => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, "quota_exceeded", error.to_string())
            }
            StoreError::Full(cause) => {
                tracing::error!(%cause, "the storage is full");
                Self::new(
                    StatusCode::INSUFFICIENT_STORAGE,
                    "storage_full",
                    "the server's storage is full; nothing was saved",
                )
            }
            StoreError::InUse(message) => Self::new(StatusCode::CONFLICT, "in_use", message),
            error @ (StoreError::NewerSchema { .. }
            | StoreError::Corrupt(_)
            | StoreError::Unavailable(_)
            | StoreError::Io { .. }) => Self::internal(error),
        }
    }
}

impl From<AgentError> for ApiError {
    fn from(error: AgentError) -> Self {
        let message = error.to_string();
        match error {
            AgentError::EmptyMessage => Self::bad_request("empty_message", message),
            AgentError::MessageTooLong { .. } => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, "message_too_long", message)
            }
            AgentError::UnknownModel(..) => Self::bad_request("unknown_model", message),
            AgentError::UnknownFile(_) => Self::new(StatusCode::NOT_FOUND, "not_found", message),
            AgentError::RunFailed(info) => Self::run_failed(info),
            AgentError::Cancelled => Self::new(StatusCode::CONFLICT, "cancelled", message),
            AgentError::StillRunning => Self::new(StatusCode::CONFLICT, "still_running", message),
            AgentError::ShuttingDown => Self::unavailable("shutting_down", message),
            AgentError::Store(error) => error.into(),
        }
    }
}

impl From<InvalidId> for ApiError {
    fn from(error: InvalidId) -> Self {
        Self::bad_request("invalid_id", error.to_string())
    }
}
