//! `POST /v1/chat/completions`, streamed or not. Admits and follows the run like every other route.

use axum::Json;
use axum::extract::State;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use ba_protocol::RunId;
use futures::StreamExt;
use serde_json::json;

use super::continuation::Request;
use super::exchange::{Exchange, Heard, Question};
use super::wire::{ChatCompletion, ChatRequest, ChatUsage, Choice, Delta, MODEL};
use crate::auth::Caller;
use crate::envelope::Body;
use crate::error::{ApiError, Result};
use crate::plain::base_url::BaseUrl;
use crate::sse;
use crate::state::AppState;

/// Ask BA-Agent as a model: the last user message is the question, with its files; the answer is the report as Markdown.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "openai", operation_id = "openaiChat",
    request_body(content = ChatRequest, example = json!({"model": "ba-agent", "messages": [{"role": "user", "content": "各地区销售额？"}]})),
    responses((status = 200, description = "The answer; as `text/event-stream` when `stream` is true", body = ChatCompletion)))]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    base: BaseUrl,
    Body(request): Body<ChatRequest>,
) -> Result<Response> {
    let model = request.options.check(&state)?;
    let chat = Request::read(&request.messages).ok_or_else(|| {
        ApiError::bad_request("no_question", "the last message must be the user's, with text")
    })?;
    let files = request.messages.last().map_or_else(|| Ok(Vec::new()), super::wire::ChatMessage::files)?;
    let is_streamed = request.options.is_streamed();
    let question = Question { chat, files, model, conversation: None, is_streamed, base };
    let exchange = Exchange::begin(&state, caller, question).await?;
    if is_streamed {
        let wants_usage = request.stream_options.is_some_and(|options| options.include_usage);
        return Ok(stream(exchange, wants_usage));
    }
    let answer = exchange.wait().await?;
    let text = exchange.text(&answer).await;
    let choice = Choice {
        index: 0,
        message: Some(Delta { role: Some("assistant"), content: Some(text), reasoning_content: None }),
        delta: None,
        finish_reason: Some("stop"),
    };
    let usage = Some(ChatUsage::from(&answer.metadata.usage));
    Ok(Json(body(&exchange.run, "chat.completion", vec![choice], usage)).into_response())
}

fn body(run: &RunId, object: &'static str, choices: Vec<Choice>, usage: Option<ChatUsage>) -> ChatCompletion {
    let created = jiff::Timestamp::now().as_second();
    ChatCompletion { id: format!("chatcmpl-{run}"), object, created, model: MODEL, choices, usage }
}

fn stream(exchange: Exchange, wants_usage: bool) -> Response {
    let state = exchange.state.clone();
    let events = async_stream::stream! {
        let run = exchange.run.clone();
        yield chunk(&run, Delta { role: Some("assistant"), content: Some(String::new()), ..Delta::default() }, None);
        let mut heard = std::pin::pin!(exchange.heard());
        while let Some(step) = heard.next().await {
            match step {
                Heard::Report { text, answer } => {
                    yield chunk(&run, Delta { content: Some(text), ..Delta::default() }, None);
                    yield chunk(&run, Delta::default(), Some("stop"));
                    if wants_usage {
                        let usage = Some((&answer.metadata.usage).into());
                        yield data(&body(&run, "chat.completion.chunk", Vec::new(), usage));
                    }
                }
                Heard::Failed(error) => yield data(&json!({"error": error})),
                Heard::Progress(text) => {
                    yield chunk(&run, Delta { reasoning_content: Some(text), ..Delta::default() }, None);
                }
            }
        }
        yield Event::default().data("[DONE]");
    };
    sse::plain(&state, events)
}

fn chunk(run: &RunId, delta: Delta, finish_reason: Option<&'static str>) -> Event {
    let choice = Choice { index: 0, message: None, delta: Some(delta), finish_reason };
    data(&body(run, "chat.completion.chunk", vec![choice], None))
}

fn data(body: &impl serde::Serialize) -> Event {
    Event::default().data(serde_json::to_string(body).unwrap_or_default())
}
