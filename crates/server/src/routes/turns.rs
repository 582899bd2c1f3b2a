//! What people make of answers: which version of a turn counts, and whether an answer was good.

use axum::extract::State;
use ba_protocol::RunId;
use ba_store::{Feedback, Rating};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::admin::Done;
use crate::auth::Caller;
use crate::envelope::{Body, Data, Path};
use crate::error::{ApiError, Result};
use crate::state::AppState;

const MAX_REASON_CHARS: usize = 2_000;

#[derive(Debug, Serialize, ToSchema)]
pub struct Chosen {
    pub run_id: RunId,
    /// The first run of the turn.
    pub turn_id: RunId,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GiveFeedback {
    /// `up` or `down`.
    #[schema(value_type = String, example = "down")]
    rating: Rating,
    /// Why, in one's own words.
    #[serde(default)]
    #[schema(max_length = 2000, example = "the total is that of 2023")]
    reason: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct FeedbackInfo {
    /// `up` or `down`.
    #[schema(example = "down")]
    pub rating: &'static str,
    pub reason: String,
    #[schema(value_type = String)]
    pub at: Timestamp,
}

impl From<Feedback> for FeedbackInfo {
    fn from(feedback: Feedback) -> Self {
        Self { rating: feedback.rating.as_str(), reason: feedback.reason, at: feedback.at }
    }
}

/// Of a turn that was asked more than once, let this version count: later questions see it and not the others.
#[utoipa::path(post, path = "/runs/{run_id}/choose", tag = "runs", operation_id = "chooseVersion",
    params(("run_id" = RunId, Path, example = "run_00112233445566aa")),
    responses((status = 200, body = Data<Chosen>)))]
pub async fn choose(
    State(state): State<AppState>,
    caller: Caller,
    Path(run_id): Path<RunId>,
) -> Result<Data<Chosen>> {
    let chosen = state.deps.store.choose_version(&caller.user, &run_id).await?;
    Ok(Data::of(Chosen { run_id: chosen.run_id, turn_id: chosen.turn_id }))
}

/// Say whether an answer was good, and why; said again, it replaces what was said before.
#[utoipa::path(put, path = "/runs/{run_id}/feedback", tag = "runs", operation_id = "giveFeedback",
    params(("run_id" = RunId, Path, example = "run_00112233445566aa")), request_body = GiveFeedback,
    responses((status = 200, body = Data<FeedbackInfo>)))]
pub async fn give_feedback(
    State(state): State<AppState>,
    caller: Caller,
    Path(run_id): Path<RunId>,
    Body(given): Body<GiveFeedback>,
) -> Result<Data<FeedbackInfo>> {
    if given.reason.chars().count() > MAX_REASON_CHARS {
        let message = format!("a reason has at most {MAX_REASON_CHARS} characters");
        return Err(ApiError::bad_request("reason_too_long", message));
    }
    let kept = state.deps.store.set_feedback(&caller.user, &run_id, given.rating, &given.reason).await?;
    Ok(Data::of(kept.into()))
}

/// Take it back.
#[utoipa::path(delete, path = "/runs/{run_id}/feedback", tag = "runs", operation_id = "takeFeedbackBack",
    params(("run_id" = RunId, Path, example = "run_00112233445566aa")),
    responses((status = 200, body = Data<Done>)))]
pub async fn take_feedback_back(
    State(state): State<AppState>,
    caller: Caller,
    Path(run_id): Path<RunId>,
) -> Result<Data<Done>> {
    state.deps.store.remove_feedback(&caller.user, &run_id).await?;
    Ok(Data::of(Done { done: true }))
}
