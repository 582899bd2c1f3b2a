//! One question of an OpenAI client, whichever dialect it came in: files put in place, admitted as a run, followed.

use ba_agent::Admitted;
use ba_protocol::api::{AgentResponse, QueryRequest};
use ba_protocol::{ConversationId, RunId, UploadId};
use serde_json::{Value, json};

use super::base_url::BaseUrl;
use super::continuation::Request;
use super::files::{self, Attached};
use super::markdown;
use crate::auth::Caller;
use crate::error::Result;
use crate::event_bus::{Frame, Subscription};
use crate::routes::query;
use crate::state::AppState;

/// A run that answers a client.
pub struct Exchange {
    pub state: AppState,
    pub caller: Caller,
    pub chat: Request,
    pub conversation: ConversationId,
    pub run: RunId,
    /// For a stream: everything the run says.
    pub reader: Option<Subscription>,
    /// Where this server is for the client, for links in the answer.
    pub base: BaseUrl,
}

/// What to ask, of what, and how to hear of it.
pub struct Question {
    pub chat: Request,
    pub files: Vec<Attached>,
    pub model: Option<String>,
    /// Known where the dialect names what came before.
    pub conversation: Option<ConversationId>,
    pub is_streamed: bool,
    pub base: BaseUrl,
}

impl Exchange {
    pub async fn begin(state: &AppState, caller: Caller, asked: Question) -> Result<Self> {
        let Question { chat, files, model, conversation, is_streamed, base } = asked;
        let known = match conversation {
            Some(known) => Some(known),
            None => chat.conversation(&state.deps.store, &caller.user).await,
        };
        let message = if known.is_some() { chat.question.clone() } else { chat.with_history() };
        let (known, file_ids): (_, Vec<UploadId>) = files::put(state, &caller, known, files).await?;
        let query = QueryRequest {
            message,
            conversation_id: known,
            file_ids,
            model,
            output_level: None,
            replaces: None,
        };
        let run = RunId::random();
        let reader = is_streamed.then(|| state.deps.bus.subscribe(&run));
        let Admitted { conversation_id, run_id } = query::admit(state, &caller, query, run).await?;
        let state = state.clone();
        Ok(Self { state, caller, chat, conversation: conversation_id, run: run_id, reader, base })
    }

    pub async fn wait(&self) -> Result<AgentResponse> {
        Ok(self.state.deps.agent.wait(&self.caller.user, &self.run).await?)
    }

    /// The report as Markdown; what was said is remembered, so that the next question finds its conversation.
    pub async fn text(&self, answer: &AgentResponse) -> String {
        let store = &self.state.deps.store;
        let text = markdown::of(answer, store, self.state.config.openai_footnotes, &self.base).await;
        self.chat.remember(store, &self.caller.user, &text, &self.conversation).await;
        text
    }
}

/// What an event says about the work, for people who watch.
pub fn reasoning(frame: &Frame) -> Option<String> {
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

/// The error of a run that gave no report.
pub fn failure(frame: &Frame) -> Value {
    let data: Value = serde_json::from_str(&frame.json).unwrap_or_default();
    match frame.name {
        "run.cancelled" => {
            json!({"message": "the run was cancelled", "type": "cancelled", "code": "cancelled"})
        }
        _ => {
            json!({"message": data["error"]["message"], "type": "server_error", "code": data["error"]["code"]})
        }
    }
}
