//! `POST /v1/chat/completions`, streamed or not. Admits and follows the run like every other route.

use axum::Json;
use axum::extract::State;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use ba_agent::Admitted;
use ba_protocol::api::{AgentResponse, QueryRequest};
use ba_protocol::{ConversationId, RunId};
use futures::StreamExt;
use serde_json::{Value, json};

use super::continuation::Request;
use super::markdown;
use super::wire::{ChatCompletion, ChatRequest, ChatUsage, Choice, Delta, MODEL};
use crate::auth::Caller;
use crate::envelope::Body;
use crate::error::{ApiError, Result};
use crate::event_bus::Frame;
use crate::event_bus::Subscription;
use crate::follow::{Item, follow};
use crate::routes::query;
use crate::sse;
use crate::state::AppState;

/// Ask BA-Agent as a model: the last user message is the question, the answer is the report as markdown.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "openai", operation_id = "openaiChat",
    request_body(content = ChatRequest, example = json!({"model": "ba-agent", "messages": [{"role": "user", "content": "各地区销售额？"}]})),
    responses((status = 200, description = "The answer; as `text/event-stream` when `stream` is true", body = ChatCompletion)))]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    Body(request): Body<ChatRequest>,
) -> Result<Response> {
    let chat = Request::read(&request.messages).ok_or_else(|| {
        ApiError::bad_request("no_question", "the last message must be the user's, with text")
    })?;
    let known = chat.conversation(&state.deps.store, &caller.user).await;
    let message = if known.is_some() { chat.question.clone() } else { chat.with_history() };
    let query = QueryRequest {
        message,
        conversation_id: known,
        file_ids: vec![],
        model: None,
        output_level: None,
        replaces: None,
    };
    let run_id = RunId::random();
    let reader = (request.stream == Some(true)).then(|| state.deps.bus.subscribe(&run_id));
    let Admitted { conversation_id, run_id } = query::admit(&state, &caller, query, run_id).await?;
    if let Some(reader) = reader {
        return Ok(stream(&state, caller, chat, conversation_id, reader));
    }
    let answer = state.deps.agent.wait(&caller.user, &run_id).await?;
    let text = markdown::of(&answer, &state.deps.store, state.config.openai_footnotes).await;
    chat.remember(&state.deps.store, &caller.user, &text, &conversation_id).await;
    let choice = Choice {
        index: 0,
        message: Some(Delta { role: Some("assistant"), content: Some(text), reasoning_content: None }),
        delta: None,
        finish_reason: Some("stop"),
    };
    let usage = Some(ChatUsage::from(&answer.metadata.usage));
    Ok(Json(body(&run_id, "chat.completion", vec![choice], usage)).into_response())
}

fn body(run: &RunId, object: &'static str, choices: Vec<Choice>, usage: Option<ChatUsage>) -> ChatCompletion {
    let created = jiff::Timestamp::now().as_second();
    ChatCompletion { id: format!("chatcmpl-{run}"), object, created, model: MODEL, choices, usage }
}

fn stream(
    state: &AppState,
    caller: Caller,
    chat: Request,
    conversation: ConversationId,
    reader: Subscription,
) -> Response {
    let (store, run) = (state.deps.store.clone(), reader.run().clone());
    let footnotes = state.config.openai_footnotes;
    let items = follow(store.clone(), reader, caller.user.clone(), None);
    let events = async_stream::stream! {
        yield chunk(&run, Delta { role: Some("assistant"), content: Some(String::new()), ..Delta::default() }, None, None);
        let mut items = std::pin::pin!(items);
        while let Some(item) = items.next().await {
            let Item::Frame(frame) = item else { continue };
            match frame.name {
                "report" => {
                    let Ok(answer) = serde_json::from_str::<AgentResponse>(&frame.json) else { break };
                    let text = markdown::of(&answer, &store, footnotes).await;
                    chat.remember(&store, &caller.user, &text, &conversation).await;
                    yield chunk(&run, Delta { content: Some(text), ..Delta::default() }, None, None);
                    yield chunk(&run, Delta::default(), Some("stop"), Some((&answer.metadata.usage).into()));
                }
                "run.failed" | "run.cancelled" => yield Event::default().data(failure(&frame).to_string()),
                _ => {
                    if let Some(text) = reasoning(&frame) {
                        yield chunk(&run, Delta { reasoning_content: Some(text), ..Delta::default() }, None, None);
                    }
                }
            }
        }
        yield Event::default().data("[DONE]");
    };
    sse::respond(state, events)
}

fn chunk(run: &RunId, delta: Delta, finish_reason: Option<&'static str>, usage: Option<ChatUsage>) -> Event {
    let choice = Choice { index: 0, message: None, delta: Some(delta), finish_reason };
    let body = body(run, "chat.completion.chunk", vec![choice], usage);
    Event::default().data(serde_json::to_string(&body).unwrap_or_default())
}

/// What an event says about the work, for people who watch.
fn reasoning(frame: &Frame) -> Option<String> {
    let data: Value = serde_json::from_str(&frame.json).ok()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match frame.name {
        "round" => {
            let thought = text(&data["metadata"]["task_analysis"]);
            (!thought.is_empty()).then(|| format!("💡 {thought}\n"))
        }
        "tool.started" => Some(format!("⏳ {}\n", text(&data["tool_name"]))),
        "tool.finished" => {
            let mark = if data["success"] == true { "✓" } else { "✗" };
            Some(format!("{mark} {}: {}\n", text(&data["tool_name"]), text(&data["summary"])))
        }
        _ => None,
    }
}

fn failure(frame: &Frame) -> Value {
    let data: Value = serde_json::from_str(&frame.json).unwrap_or_default();
    let error = match frame.name {
        "run.cancelled" => {
            json!({"message": "the run was cancelled", "type": "cancelled", "code": "cancelled"})
        }
        _ => {
            json!({"message": data["error"]["message"], "type": "server_error", "code": data["error"]["code"]})
        }
    };
    json!({"error": error})
}
