//! One question of an OpenAI client, whichever dialect it came in: files put in place, admitted as a run, followed.

use ba_agent::Admitted;
use ba_protocol::api::{AgentResponse, QueryRequest};
use ba_protocol::{ConversationId, RunId, UploadId};
use futures::{Stream, StreamExt};
use serde_json::{Value, json};

use super::continuation::Request;
use super::files::{self, Attached};
use crate::auth::Caller;
use crate::error::Result;
use crate::event_bus::{Frame, Subscription};
use crate::follow::{Item, follow};
use crate::plain::{self, base_url::BaseUrl};
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
    reader: Option<Subscription>,
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
        let text = plain::report(&self.state, answer, &self.base).await;
        let store = &self.state.deps.store;
        self.chat.remember(store, &self.caller.user, &text, &self.conversation).await;
        text
    }

    /// What a streaming client hears, to the end of the run.
    pub fn heard(mut self) -> impl Stream<Item = Heard> {
        let reader = self.reader.take();
        async_stream::stream! {
            let Some(reader) = reader else { return };
            let (store, user) = (self.state.deps.store.clone(), self.caller.user.clone());
            let mut items = std::pin::pin!(follow(store, reader, user, None));
            while let Some(item) = items.next().await {
                let Item::Frame(frame) = item else { continue };
                match frame.name {
                    "report" => {
                        let Ok(answer) = serde_json::from_str::<AgentResponse>(&frame.json) else { return };
                        let text = self.text(&answer).await;
                        yield Heard::Report { text, answer: Box::new(answer) };
                    }
                    "run.failed" | "run.cancelled" => yield Heard::Failed(failure(&frame)),
                    _ => {
                        if let Some(text) = plain::progress(&frame) {
                            yield Heard::Progress(text);
                        }
                    }
                }
            }
        }
    }
}

/// A step of a run, for a client that listens.
pub enum Heard {
    Progress(String),
    Report {
        text: String,
        answer: Box<AgentResponse>,
    },
    /// No report: the error in OpenAI's form.
    Failed(Value),
}

/// The error of a run that gave no report.
fn failure(frame: &Frame) -> Value {
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
