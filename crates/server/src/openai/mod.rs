//! BA-Agent as a model for clients that speak OpenAI's chat completions: Open WebUI, LibreChat, scripts.
//!
//! A request is a run. Reports become markdown, tool progress becomes reasoning text. Sampling parameters are ignored.

pub mod completions;
pub mod continuation;
pub mod footnotes;
mod markdown;
pub mod models;
pub mod wire;
