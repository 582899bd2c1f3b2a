//! Talks to language models: two wire dialects, scripted, recorded and replayed models, token counts.
//!
//! Knows nothing of tools or of the HTTP server.

mod client;
mod model;
mod recording;
mod replay;
mod retry;
mod scripted;
mod settings;
mod sse;
mod thinking;
mod tokens;
mod vocabulary;
mod windows;
mod wire;

pub use client::{HttpModel, Reachable, connect};
pub use model::{
    Model, ModelError, ModelInfo, ModelReply, ModelRequest, OnDelta, Prices, Schema, StopReason, Usage,
};
pub use recording::{RecordingModel, Turn};
pub use replay::{Matching, ReplayModel};
pub use retry::{Sleeper, TokioSleeper};
pub use scripted::{ScriptedModel, ScriptedReply};
pub use settings::{Dialect, ModelSettings, Retries, SettingsError, Timeouts};
pub use sse::{SseDecoder, SseEvent};
pub use tokens::TokenCounter;
pub use windows::{WindowSource, guess as guess_window};
