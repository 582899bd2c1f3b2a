//! The `Model` trait: what the agent asks of any model, real, scripted, replayed or rule-based.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ba_protocol::Message;
use serde::{Deserialize, Serialize};

use crate::windows::WindowSource;

/// Receives text as it arrives. Called in order, from the task that awaits `complete`.
pub type OnDelta<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// Something that answers messages. Dropping the future cancels the request.
#[async_trait]
pub trait Model: Send + Sync {
    fn info(&self) -> &ModelInfo;

    /// How the window in `info` is known.
    fn window_source(&self) -> WindowSource {
        WindowSource::Configured
    }

    async fn complete(&self, request: &ModelRequest, on_delta: OnDelta<'_>)
    -> Result<ModelReply, ModelError>;
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// `provider:model`, as configured.
    pub name: String,
    /// Context window in tokens.
    pub window: usize,
    /// True for the built-in offline analyst.
    pub offline: bool,
    /// Price per million tokens, when configured.
    pub prices: Option<Prices>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    pub input: f64,
    pub output: f64,
    pub cached: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    pub messages: Vec<Message>,
    pub max_tokens: Option<u32>,
    pub temperature: Option<f32>,
    /// JSON schema for structured output, where the endpoint supports it (SPEC P13).
    pub schema: Option<Schema>,
    /// Messages up to this index (exclusive) stay the same from turn to turn: where a cache breakpoint belongs.
    pub stable_prefix: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    pub text: String,
    /// Reasoning the provider sent apart from the answer.
    pub thinking: Option<String>,
    /// As reported by the provider, when it does.
    pub usage: Option<Usage>,
    pub stop: StopReason,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    End,
    /// The answer was cut at `max_tokens`.
    Length,
    ContentFilter,
}

/// A JSON schema, shared by all requests that carry it.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema(Arc<serde_json::Value>);

impl From<serde_json::Value> for Schema {
    fn from(schema: serde_json::Value) -> Self {
        Self(Arc::new(schema))
    }
}

impl Serialize for Schema {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_json::Value::deserialize(deserializer).map(Self::from)
    }
}

/// Why no usable answer came. Display never contains the prompt or a key.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    #[error("the model provider refused the key ({status}): check BA_API_KEY or the provider's own variable")]
    Unauthorized { status: u16 },
    #[error("the model or address was not found (404): {detail}")]
    NotFound { detail: String },
    #[error("the model provider asks to slow down (429)")]
    RateLimited { retry_after: Option<Duration> },
    #[error("the model provider failed ({status}): {detail}")]
    Server { status: u16, detail: String },
    #[error("the model provider refused the request ({status}): {detail}")]
    Refused { status: u16, detail: String },
    #[error("the conversation is too long for this model: {detail}")]
    TooLong { detail: String },
    #[error("no answer from the model within {seconds} s ({phase})")]
    Timeout { phase: &'static str, seconds: u64 },
    #[error("cannot reach the model at {host}: {detail}")]
    Unreachable { host: String, detail: String },
    #[error("the model's answer was cut off: {detail}")]
    Truncated { detail: String },
    #[error("the model's answer could not be understood: {detail}")]
    Garbled { detail: String },
    #[error("the replayed recording does not match: {detail}")]
    Replay { detail: String },
}

impl ModelError {
    /// Stable code for the API.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unauthorized { .. } => "model_unauthorized",
            Self::NotFound { .. } => "model_not_found",
            Self::RateLimited { .. } => "model_rate_limited",
            Self::Server { .. } => "model_server_error",
            Self::Refused { .. } => "model_refused",
            Self::TooLong { .. } => "model_context_too_long",
            Self::Timeout { .. } => "model_timeout",
            Self::Unreachable { .. } => "model_unreachable",
            Self::Truncated { .. } => "model_truncated",
            Self::Garbled { .. } => "model_garbled",
            Self::Replay { .. } => "model_replay_mismatch",
        }
    }

    /// Worth another try after a pause.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. }
                | Self::Server { .. }
                | Self::Timeout { .. }
                | Self::Unreachable { .. }
                | Self::Truncated { .. }
                | Self::Garbled { .. }
        )
    }
}
