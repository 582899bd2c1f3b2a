//! Conversations: list, read with history, rename, delete, look into the context (SPEC A6).

use axum::extract::State;
use ba_agent::context::ContextReport;
use ba_protocol::{ConversationId, RunId};
use ba_store::{Conversation, ConversationMarks};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::history::{self, HistoryRound};
use crate::auth::Caller;
use crate::envelope::{Body, Data, Path, Query};
use crate::error::{ApiError, Result};
use crate::state::AppState;

const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 500;
const MAX_TITLE_CHARS: usize = 200;

#[derive(Debug, Serialize, ToSchema)]
pub struct ConversationInfo {
    pub conversation_id: ConversationId,
    pub title: String,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    #[schema(value_type = String)]
    pub updated_at: Timestamp,
    /// Kept at the top of the list.
    pub pinned: bool,
    pub tags: Vec<String>,
    /// A question of it is being answered.
    pub running: bool,
}

impl ConversationInfo {
    fn marked(mut self, marks: &[ConversationMarks]) -> Self {
        if let Some(mark) = marks.iter().find(|mark| mark.id == self.conversation_id) {
            (self.pinned, self.running) = (mark.pinned, mark.running);
            self.tags.clone_from(&mark.tags);
        }
        self
    }
}

impl From<Conversation> for ConversationInfo {
    fn from(conversation: Conversation) -> Self {
        Self {
            conversation_id: conversation.id,
            title: conversation.title,
            created_at: conversation.created_at,
            updated_at: conversation.updated_at,
            pinned: false,
            tags: Vec::new(),
            running: false,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ConversationList {
    pub conversations: Vec<ConversationInfo>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ConversationDetail {
    #[serde(flatten)]
    pub conversation: ConversationInfo,
    pub rounds: Vec<HistoryRound>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Looked for in titles and messages.
    search: Option<String>,
    /// At most 500.
    limit: Option<u32>,
    offset: Option<u32>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200, example = "零售数据分析")]
    title: Option<String>,
    /// Keeps it at the top of the list.
    #[serde(default)]
    pinned: Option<bool>,
    /// All of its tags: at most 12, of 30 characters each.
    #[serde(default)]
    #[schema(example = json!(["零售", "2024"]))]
    tags: Option<Vec<String>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewConversation {
    #[serde(default)]
    #[schema(max_length = 200, example = "零售数据分析")]
    title: String,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TurnQuery {
    /// Which turn, from 1; the next one when absent.
    turn: Option<u32>,
    /// The turn of this run instead; one that ended without an answer may not be kept.
    run_id: Option<RunId>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Deleted {
    #[schema(example = true)]
    pub deleted: bool,
}

/// The caller's conversations, latest first.
#[utoipa::path(get, path = "/conversations", tag = "conversations", operation_id = "listConversations", params(ListQuery),
    responses((status = 200, body = Data<ConversationList>)))]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Data<ConversationList>> {
    let search = query.search.as_deref().map(str::trim).filter(|search| !search.is_empty());
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
    let found =
        state.deps.store.conversations(&caller.user, search, limit, query.offset.unwrap_or(0)).await?;
    let marks = state.deps.store.conversation_marks(&caller.user).await?;
    let info = |conversation| ConversationInfo::from(conversation).marked(&marks);
    Ok(Data::of(ConversationList { conversations: found.into_iter().map(info).collect() }))
}

/// An empty conversation, e.g. to add files before the first question.
#[utoipa::path(post, path = "/conversations", tag = "conversations", operation_id = "createConversation",
    request_body = NewConversation, responses((status = 200, body = Data<ConversationInfo>)))]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    Body(new): Body<NewConversation>,
) -> Result<Data<ConversationInfo>> {
    let title = title_of(&new.title)?;
    Ok(Data::of(state.deps.store.create(&caller.user, &title).await?.into()))
}

/// One conversation with all its rounds and answers.
#[utoipa::path(get, path = "/conversations/{conversation_id}", tag = "conversations", operation_id = "readConversation",
    params(("conversation_id" = ConversationId, Path, example = "conv_a87365d8983d")),
    responses((status = 200, body = Data<ConversationDetail>)))]
pub async fn read(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<ConversationId>,
) -> Result<Data<ConversationDetail>> {
    let conversation = state.own(&caller.user, &id).await?;
    let rounds = history::rounds(&state.deps.store, &id).await?;
    Ok(Data::of(ConversationDetail { conversation: conversation.into(), rounds }))
}

/// Give it another title.
#[utoipa::path(patch, path = "/conversations/{conversation_id}", tag = "conversations", operation_id = "renameConversation",
    params(("conversation_id" = ConversationId, Path, example = "conv_a87365d8983d")), request_body = Change,
    responses((status = 200, body = Data<ConversationInfo>)))]
pub async fn rename(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<ConversationId>,
    Body(change): Body<Change>,
) -> Result<Data<ConversationInfo>> {
    let store = &state.deps.store;
    if change.title.is_none() && change.pinned.is_none() && change.tags.is_none() {
        return Err(ApiError::bad_request("nothing_to_change", "send a `title`, `pinned` or `tags`"));
    }
    if let Some(given) = &change.title {
        let title = title_of(given)?;
        if title.is_empty() {
            return Err(ApiError::bad_request("empty_title", "the title is empty"));
        }
        store.rename(&caller.user, &id, &title).await?;
    }
    if change.pinned.is_some() || change.tags.is_some() {
        store.mark_conversation(&caller.user, &id, change.pinned, change.tags).await?;
    }
    let marks = store.conversation_marks(&caller.user).await?;
    Ok(Data::of(ConversationInfo::from(state.own(&caller.user, &id).await?).marked(&marks)))
}

/// Delete it with everything of it: files, code, logs, Python's variables. Refused while it is being answered.
#[utoipa::path(delete, path = "/conversations/{conversation_id}", tag = "conversations", operation_id = "deleteConversation",
    params(("conversation_id" = ConversationId, Path, example = "conv_a87365d8983d")),
    responses((status = 200, body = Data<Deleted>)))]
pub async fn delete(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<ConversationId>,
) -> Result<Data<Deleted>> {
    state.deps.store.delete(&caller.user, &id).await?;
    state.wake_worker.notify_one();
    Ok(Data::of(Deleted { deleted: true }))
}

/// What a turn sent to the model, or what the next one would: every part with its tokens, and what was shortened.
#[utoipa::path(get, path = "/conversations/{conversation_id}/context", tag = "conversations", operation_id = "readContext",
    params(("conversation_id" = ConversationId, Path, example = "conv_a87365d8983d"), TurnQuery),
    responses((status = 200, body = Data<ContextReport>)))]
pub async fn context(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<ConversationId>,
    Query(query): Query<TurnQuery>,
) -> Result<Data<ContextReport>> {
    let turn = match &query.run_id {
        Some(run) => Some(turn_of(&state, &caller, &id, run).await?),
        None => query.turn.map(|turn| turn as usize),
    };
    let report = state.deps.agent.context_report(&caller.user, &id, turn).await?;
    report.map(Data::of).ok_or_else(|| ApiError::not_found("turn"))
}

/// From 1. Runs that were stopped or failed early are on the page but not in the history a model sees.
async fn turn_of(state: &AppState, caller: &Caller, id: &ConversationId, run: &RunId) -> Result<usize> {
    state.own(&caller.user, id).await?;
    let rounds = state.deps.store.turns(id).await?;
    let at = rounds.iter().position(|round| &round.run_id == run);
    at.map(|at| at + 1).ok_or_else(|| ApiError::not_found("turn"))
}

fn title_of(given: &str) -> Result<String> {
    let title = ba_protocol::text::one_line(given).trim().to_owned();
    if title.chars().count() > MAX_TITLE_CHARS {
        return Err(ApiError::bad_request(
            "title_too_long",
            format!("a title has at most {MAX_TITLE_CHARS} characters"),
        ));
    }
    Ok(title)
}
