//! The board: tables and charts of answers that a person keeps in sight, each with where it comes from.

use axum::extract::State;
use ba_protocol::api::{AgentResponse, QueryRequest};
use ba_protocol::{ConversationId, RunEvent, RunId};
use ba_store::{BoardItem, EventScope, NewBoardItem};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::admin::Done;
use super::query::admit;
use crate::auth::Caller;
use crate::envelope::{Body, Data, Path};
use crate::error::{ApiError, Result};
use crate::state::AppState;

const KINDS: [&str; 3] = ["chart", "table", "answer"];

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    pub run_id: RunId,
    /// `chart`, `table` or `answer`.
    #[schema(example = "chart")]
    pub kind: String,
    /// Which of its kind in the answer, from 0.
    #[serde(default)]
    pub item: u32,
    #[serde(default)]
    #[schema(max_length = 200, example = "各地区销售额")]
    pub title: String,
}

/// A piece of the board.
#[derive(Debug, Serialize, ToSchema)]
pub struct Piece {
    #[schema(example = "item_0123456789ab")]
    pub item_id: String,
    pub conversation_id: ConversationId,
    pub run_id: RunId,
    pub kind: String,
    pub item: u32,
    pub title: String,
    #[schema(value_type = String)]
    pub pinned_at: Timestamp,
    /// The question its answer belongs to.
    pub question: String,
    /// When that was answered.
    #[schema(value_type = String)]
    pub answered_at: Timestamp,
    /// The answer it is part of; absent when that did not come to an end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AgentResponse>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Board {
    pub pieces: Vec<Piece>,
}

/// Everything on the caller's board, with the answers it is taken from.
#[utoipa::path(get, path = "/board", tag = "board", operation_id = "readBoard", responses((status = 200, body = Data<Board>)))]
pub async fn read(State(state): State<AppState>, caller: Caller) -> Result<Data<Board>> {
    let mut pieces = Vec::new();
    for item in state.deps.store.board(&caller.user).await? {
        pieces.push(piece(&state, &caller, item).await?);
    }
    Ok(Data::of(Board { pieces }))
}

/// Pin a table, a chart or a whole answer.
#[utoipa::path(post, path = "/board", tag = "board", operation_id = "pin", request_body = Pin,
    responses((status = 200, body = Data<Piece>)))]
pub async fn pin(State(state): State<AppState>, caller: Caller, Body(pin): Body<Pin>) -> Result<Data<Piece>> {
    if !KINDS.contains(&pin.kind.as_str()) {
        let message = format!("no kind `{}`; there are: {}", pin.kind, KINDS.join(", "));
        return Err(ApiError::bad_request("unknown_kind", message));
    }
    let new = NewBoardItem { run_id: pin.run_id, kind: pin.kind, item: pin.item, title: pin.title };
    let item = state.deps.store.board_add(&caller.user, new).await?;
    Ok(Data::of(piece(&state, &caller, item).await?))
}

/// Take a piece off.
#[utoipa::path(delete, path = "/board/{item_id}", tag = "board", operation_id = "unpin",
    params(("item_id" = String, Path, example = "item_0123456789ab")), responses((status = 200, body = Data<Done>)))]
pub async fn unpin(
    State(state): State<AppState>,
    caller: Caller,
    Path(item): Path<String>,
) -> Result<Data<Done>> {
    state.deps.store.board_remove(&caller.user, &item).await?;
    Ok(Data::of(Done { done: true }))
}

/// Ask the piece's question again, as another version of its turn; the piece shows the new answer once that is complete.
#[utoipa::path(post, path = "/board/{item_id}/refresh", tag = "board", operation_id = "refreshPiece",
    params(("item_id" = String, Path, example = "item_0123456789ab")), responses((status = 200, body = Data<Piece>)))]
pub async fn refresh(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Data<Piece>> {
    let store = &state.deps.store;
    let missing = || ApiError::not_found("piece");
    let item = store.board(&caller.user).await?.into_iter().find(|item| item.id == id).ok_or_else(missing)?;
    let run = store.run(&caller.user, &item.run_id).await?;
    let query = QueryRequest {
        message: run.message,
        conversation_id: Some(item.conversation_id.clone()),
        file_ids: Vec::new(),
        model: None,
        output_level: None,
        replaces: Some(item.run_id.clone()),
    };
    let admitted = admit(&state, &caller, query, RunId::random()).await?;
    if let Err(error) = state.deps.agent.wait(&caller.user, &admitted.run_id).await {
        // The answer that is there goes on counting.
        store.choose_version(&caller.user, &item.run_id).await?;
        return Err(error.into());
    }
    store.board_refresh(&caller.user, &item.id, &admitted.run_id).await?;
    let item = BoardItem { run_id: admitted.run_id, ..item };
    Ok(Data::of(piece(&state, &caller, item).await?))
}

async fn piece(state: &AppState, caller: &Caller, item: BoardItem) -> Result<Piece> {
    let store = &state.deps.store;
    let run = store.run(&caller.user, &item.run_id).await?;
    let events = store.events_after(EventScope::Run(&item.run_id), 0, 10_000).await?;
    let answer = events.into_iter().rev().find_map(|event| match event.event {
        RunEvent::Report(answer) => Some(*answer),
        _ => None,
    });
    Ok(Piece {
        item_id: item.id,
        conversation_id: item.conversation_id,
        run_id: item.run_id,
        kind: item.kind,
        item: item.item,
        title: item.title,
        pinned_at: item.created_at,
        question: run.message,
        answered_at: run.updated_at,
        answer,
    })
}
