//! `POST /v1/responses`: the same exchange in OpenAI's second dialect. `previous_response_id` names the answer before, and so
//! its conversation.

use axum::Json;
use axum::extract::State;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use ba_protocol::RunId;
use ba_protocol::api::AgentResponse;
use futures::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::continuation::Request;
use super::exchange::{Exchange, Heard, Question};
use super::options::ChatOptions;
use super::wire::{ChatMessage, Content, MODEL};
use crate::auth::Caller;
use crate::envelope::Body;
use crate::error::{ApiError, Result};
use crate::plain::base_url::BaseUrl;
use crate::sse;
use crate::state::AppState;

#[derive(Debug, Deserialize, ToSchema)]
pub struct ResponsesRequest {
    pub input: Input,
    /// Told to the agent before the question, in a new conversation.
    #[serde(default)]
    pub instructions: Option<String>,
    /// The answer that this question follows.
    #[serde(default)]
    #[schema(example = "resp_run_0123456789abcdef")]
    pub previous_response_id: Option<String>,
    #[serde(flatten)]
    pub options: ChatOptions,
}

/// A question, or messages of which the last is one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Input {
    Text(String),
    Messages(Vec<ChatMessage>),
}

/// Ask BA-Agent with the Responses API.
#[utoipa::path(post, path = "/v1/responses", tag = "openai", operation_id = "openaiResponses",
    request_body(content = ResponsesRequest, example = json!({"model": "ba-agent", "input": "各地区销售额？"})),
    responses((status = 200, description = "The answer; as `text/event-stream` when `stream` is true",
        content_type = "application/json", body = Object)))]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    base: BaseUrl,
    Body(request): Body<ResponsesRequest>,
) -> Result<Response> {
    let model = request.options.check(&state)?;
    let mut messages = match request.input {
        Input::Text(text) => vec![ChatMessage { role: "user".into(), content: Some(Content::Text(text)) }],
        Input::Messages(messages) => messages,
    };
    if let Some(instructions) = request.instructions {
        messages.insert(0, ChatMessage { role: "system".into(), content: Some(Content::Text(instructions)) });
    }
    let chat = Request::read(&messages).ok_or_else(|| {
        ApiError::bad_request("no_question", "the last message must be the user's, with text")
    })?;
    let files = messages.last().map_or_else(|| Ok(Vec::new()), ChatMessage::files)?;
    let conversation = match &request.previous_response_id {
        Some(id) => Some(conversation_of(&state, &caller, id).await?),
        None => None,
    };
    let is_streamed = request.options.is_streamed();
    let question = Question { chat, files, model, conversation, is_streamed, base };
    let exchange = Exchange::begin(&state, caller, question).await?;
    if is_streamed {
        return Ok(stream(exchange));
    }
    let answer = exchange.wait().await?;
    let text = exchange.text(&answer).await;
    Ok(Json(completed(&exchange.run, &text, &answer)).into_response())
}

async fn conversation_of(state: &AppState, caller: &Caller, id: &str) -> Result<ba_protocol::ConversationId> {
    let missing = || ApiError::not_found(&format!("response {}", ba_protocol::text::shorten(id, 60)));
    let run = id.strip_prefix("resp_").and_then(|run| RunId::parse(run).ok()).ok_or_else(missing)?;
    let run = state.deps.store.run(&caller.user, &run).await.map_err(|_| missing())?;
    Ok(run.conversation_id)
}

fn skeleton(run: &RunId, status: &str, output: &Value) -> Value {
    json!({
        "id": format!("resp_{run}"), "object": "response", "created_at": jiff::Timestamp::now().as_second(),
        "status": status, "model": MODEL, "output": output, "parallel_tool_calls": false, "tool_choice": "auto",
        "tools": [], "error": null, "incomplete_details": null, "instructions": null, "metadata": {},
        "temperature": null, "top_p": null,
    })
}

fn message(run: &RunId, status: &str, content: &Value) -> Value {
    json!({"type": "message", "id": format!("msg_{run}"), "role": "assistant", "status": status, "content": content})
}

fn output_text(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

fn completed(run: &RunId, text: &str, answer: &AgentResponse) -> Value {
    let usage = &answer.metadata.usage;
    let mut body =
        skeleton(run, "completed", &json!([message(run, "completed", &json!([output_text(text)]))]));
    body["usage"] = json!({
        "input_tokens": usage.input_tokens, "input_tokens_details": {"cached_tokens": usage.cached_tokens},
        "output_tokens": usage.output_tokens, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    });
    body
}

fn stream(exchange: Exchange) -> Response {
    let state = exchange.state.clone();
    let events = async_stream::stream! {
        let run = exchange.run.clone();
        let mut numbers = 0u64..;
        let mut event = |kind: &str, mut fields: Value| {
            fields["type"] = json!(kind);
            fields["sequence_number"] = json!(numbers.next());
            Event::default().event(kind).data(fields.to_string())
        };
        yield event("response.created", json!({"response": skeleton(&run, "in_progress", &json!([]))}));
        let mut heard = std::pin::pin!(exchange.heard());
        while let Some(step) = heard.next().await {
            match step {
                Heard::Report { text, answer } => {
                    let (place, id) = (json!({"output_index": 0, "content_index": 0}), format!("msg_{run}"));
                    let at = |extra: Value| {
                        let mut all = place.clone();
                        all["item_id"] = json!(id);
                        for (key, value) in extra.as_object().into_iter().flatten() {
                            all[key] = value.clone();
                        }
                        all
                    };
                    let item = message(&run, "completed", &json!([output_text(&text)]));
                    yield event("response.output_item.added", json!({"output_index": 0, "item": message(&run, "in_progress", &json!([]))}));
                    yield event("response.content_part.added", at(json!({"part": output_text("")})));
                    yield event("response.output_text.delta", at(json!({"delta": text, "logprobs": []})));
                    yield event("response.output_text.done", at(json!({"text": text, "logprobs": []})));
                    yield event("response.content_part.done", at(json!({"part": output_text(&text)})));
                    yield event("response.output_item.done", json!({"output_index": 0, "item": item}));
                    yield event("response.completed", json!({"response": completed(&run, &text, &answer)}));
                }
                Heard::Failed(error) => {
                    let mut body = skeleton(&run, "failed", &json!([]));
                    body["error"] = error;
                    yield event("response.failed", json!({"response": body}));
                }
                Heard::Progress(_) => {}
            }
        }
    };
    sse::plain(&state, events)
}
