//! BA-Agent as a model for clients that speak OpenAI's chat completions: Open WebUI, LibreChat, scripts.
//!
//! A request is a run. Reports become markdown, tool progress becomes reasoning text. What tunes a language model is let
//! pass; what would change the answer is refused by name.

pub mod completions;
pub mod continuation;
mod exchange;
pub mod files;
pub mod models;
mod options;
pub mod responses;
pub mod wire;

/// A request with files inside it may be so large; it is read whole.
pub const MESSAGE_BYTES: usize = 32 * 1024 * 1024;
