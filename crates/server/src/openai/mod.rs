//! BA-Agent as a model for clients that speak OpenAI's chat completions: Open WebUI, LibreChat, scripts.
//!
//! A request is a run. Reports become markdown, tool progress becomes reasoning text. What tunes a language model is let
//! pass; what would change the answer is refused by name.

mod base_url;
pub mod completions;
pub mod continuation;
mod exchange;
pub mod files;
pub mod footnotes;
mod markdown;
pub mod models;
mod options;
pub mod responses;
pub mod wire;

/// A request with files inside it may be so large; it is read whole.
pub const MESSAGE_BYTES: usize = 32 * 1024 * 1024;

pub use exchange::reasoning as told;

/// An answer as Markdown, for programs that speak other protocols.
pub async fn answer_text(state: &crate::state::AppState, answer: &ba_protocol::api::AgentResponse) -> String {
    let base = base_url::BaseUrl::default();
    markdown::of(answer, &state.deps.store, state.config.openai_footnotes, &base).await
}
