//! Talks to language models: two wire dialects, scripted, recorded and replayed models, token counts.
//!
//! Knows nothing of tools or of the HTTP server.

mod model;

pub use model::{Model, ModelError, ModelInfo, ModelReply, ModelRequest, OnDelta, Prices, StopReason, Usage};
