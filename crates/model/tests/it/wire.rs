//! How each dialect writes an answer, and the client set up for tests.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ba_model::{
    Dialect, HttpModel, Model as _, ModelError, ModelReply, ModelRequest, ModelSettings, Retries, Sleeper,
    Timeouts,
};
use ba_protocol::{Message, Secret, StructuredResponse};
use serde_json::json;

use crate::server::Server;

pub const BOTH: [Dialect; 2] = [Dialect::OpenAi, Dialect::Anthropic];
pub const KEY: &str = "sk-very-secret";

/// An event with a piece of text.
pub fn piece(dialect: Dialect, text: &str) -> String {
    match dialect {
        Dialect::OpenAi => {
            data(&json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]}))
        }
        Dialect::Anthropic => named(
            "content_block_delta",
            &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        ),
    }
}

pub fn start(dialect: Dialect) -> String {
    match dialect {
        Dialect::OpenAi => {
            data(&json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}))
        }
        Dialect::Anthropic => named(
            "message_start",
            &json!({"type": "message_start", "message": {"usage": {
                "input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 0, "output_tokens": 1
            }}}),
        ),
    }
}

/// The end of a whole answer: finish reason, usage, closing event.
pub fn finish(dialect: Dialect) -> String {
    match dialect {
        Dialect::OpenAi => {
            data(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
                + &data(&json!({"choices": [], "usage": {
                    "prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 90}
                }}))
                + "data: [DONE]\n\n"
        }
        Dialect::Anthropic => {
            named(
                "message_delta",
                &json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}),
            ) + &named("message_stop", &json!({"type": "message_stop"}))
        }
    }
}

/// A whole answer as one stream.
pub fn answer(dialect: Dialect, texts: &[&str]) -> String {
    let middle: String = texts.iter().map(|t| piece(dialect, t)).collect();
    start(dialect) + &middle + &finish(dialect)
}

/// An error frame in the middle of a stream.
pub fn error_frame(dialect: Dialect) -> String {
    match dialect {
        Dialect::OpenAi => data(&json!({"error": {"message": "overloaded", "type": "overloaded_error"}})),
        Dialect::Anthropic => named(
            "error",
            &json!({"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}),
        ),
    }
}

/// An error body as the dialect sends it with a status.
pub fn error_body(dialect: Dialect, kind: &str, message: &str) -> String {
    match dialect {
        Dialect::OpenAi => json!({"error": {"message": message, "type": kind, "param": null, "code": kind}}),
        Dialect::Anthropic => json!({"type": "error", "error": {"type": kind, "message": message}}),
    }
    .to_string()
}

fn data(value: &serde_json::Value) -> String {
    format!("data: {value}\n\n")
}

fn named(name: &str, value: &serde_json::Value) -> String {
    format!("event: {name}\ndata: {value}\n\n")
}

/// Records the pauses instead of waiting.
#[derive(Default)]
pub struct Naps(pub Mutex<Vec<Duration>>);

#[async_trait]
impl Sleeper for Naps {
    async fn sleep(&self, pause: Duration) {
        self.0.lock().unwrap().push(pause);
    }
}

pub struct Client {
    pub model: HttpModel,
    pub naps: Arc<Naps>,
}

pub fn settings(server: &Server, dialect: Dialect) -> ModelSettings {
    let mut settings = ModelSettings::new("test", dialect, "model-1", server.url.clone());
    settings.api_key = Some(Secret::new(KEY));
    settings.timeouts = Timeouts {
        connect: Duration::from_secs(5),
        idle: Duration::from_secs(10),
        total: Duration::from_secs(30),
    };
    settings.retries = Retries { max: 2, ..Retries::default() };
    settings
}

pub fn client_of(settings: ModelSettings) -> Client {
    let naps = Arc::new(Naps::default());
    let model = HttpModel::with_sleeper(settings, Arc::clone(&naps) as Arc<dyn Sleeper>).unwrap();
    Client { model, naps }
}

pub fn client(server: &Server, dialect: Dialect) -> Client {
    client_of(settings(server, dialect))
}

pub fn request() -> ModelRequest {
    ModelRequest {
        messages: vec![Message::system("You analyse."), Message::user("How much did we sell?")],
        max_tokens: None,
        temperature: None,
        schema: Some(StructuredResponse::json_schema().into()),
        stable_prefix: 1,
    }
}

impl Client {
    /// The outcome, and the deltas that were passed on.
    pub async fn ask(&self) -> (Result<ModelReply, ModelError>, Vec<String>) {
        let seen = Mutex::new(Vec::new());
        let on_delta = |delta: &str| seen.lock().unwrap().push(delta.to_owned());
        let outcome = self.model.complete(&request(), &on_delta).await;
        (outcome, seen.into_inner().unwrap())
    }

    pub fn pauses(&self) -> Vec<Duration> {
        self.naps.0.lock().unwrap().clone()
    }
}
