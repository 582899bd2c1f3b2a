//! ChatOptions of OpenAI's requests that change what an answer is. Those we cannot keep are refused by name; what only tunes a
//! language model (temperature, seed, stop …) means nothing to an agent and is let pass.

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::wire::MODEL;
use crate::error::{ApiError, Result};
use crate::state::AppState;

/// As clients send them, beside the messages.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub struct ChatOptions {
    /// `ba-agent`, or the name of a configured model.
    #[serde(default)]
    #[schema(example = "ba-agent")]
    pub model: Option<String>,
    #[serde(default)]
    pub stream: Option<bool>,
    /// One answer only.
    #[serde(default)]
    pub n: Option<u32>,
    /// `{"type": "text"}` only.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub response_format: Option<Value>,
    /// Refused: BA-Agent runs tools of its own.
    #[serde(default)]
    #[schema(value_type = Option<Vec<Object>>)]
    pub tools: Option<Vec<Value>>,
    /// Refused, as `tools` are.
    #[serde(default)]
    #[schema(value_type = Option<Vec<Object>>)]
    pub functions: Option<Vec<Value>>,
    /// Refused: a report has none.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    pub logprobs: Option<Value>,
    /// Text only.
    #[serde(default)]
    pub modalities: Option<Vec<String>>,
}

impl ChatOptions {
    pub fn is_streamed(&self) -> bool {
        self.stream == Some(true)
    }

    /// The configured model that was asked for; `None` is the default one.
    pub fn check(&self, state: &AppState) -> Result<Option<String>> {
        let some = |list: &Option<Vec<Value>>| list.as_ref().is_some_and(|list| !list.is_empty());
        let format = self.response_format.as_ref().and_then(|f| f["type"].as_str()).unwrap_or("text");
        let spoken = |kinds: &Vec<String>| kinds.iter().any(|kind| kind != "text");
        if self.n.is_some_and(|n| n != 1) {
            return Err(refused("n", "one question has one answer: leave `n` out or send 1"));
        }
        if format != "text" {
            let message = "answers are reports in Markdown: leave `response_format` out and ask for the shape in words \
                           (for instance `@total[value]`), or use POST /api/v1/agent/query, whose answer is JSON";
            return Err(refused("response_format", message));
        }
        if some(&self.tools) || some(&self.functions) {
            let message = "BA-Agent runs its own tools and calls none of the client's: leave `tools` out";
            return Err(refused("tools", message));
        }
        if self.logprobs.as_ref().is_some_and(|wanted| *wanted != false && !wanted.is_null()) {
            return Err(refused("logprobs", "a report has no probabilities of tokens: leave `logprobs` out"));
        }
        if self.modalities.as_ref().is_some_and(spoken) {
            return Err(refused("modalities", "answers are text: leave `modalities` out"));
        }
        match self.model.as_deref().map(str::trim) {
            None | Some("" | MODEL) => Ok(None),
            Some(name) => match state.deps.agent.models().get(Some(name)) {
                Some(_) => Ok(Some(name.to_owned())),
                None => Err(unknown_model(state, name)),
            },
        }
    }
}

pub fn unknown_model(state: &AppState, name: &str) -> ApiError {
    let choices = state.deps.agent.models().choices();
    let known: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let message = format!(
        "there is no model `{}`; there are: {MODEL}, {}",
        ba_protocol::text::shorten(name, 80),
        known.join(", ")
    );
    ApiError::new(axum::http::StatusCode::NOT_FOUND, "model_not_found", message)
}

fn refused(parameter: &str, message: &str) -> ApiError {
    ApiError::bad_request("unsupported_parameter", format!("`{parameter}`: {message}"))
}
