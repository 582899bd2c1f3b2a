//! Share links (SPEC D4): makes, lists and revokes addresses under which anybody reads one answer. The page is written when
//! the link is made, so a visitor starts no work and sees nothing that came later. Off unless the administrator allows it.

use axum::extract::State;
use ba_protocol::{ConversationId, ReportFor, RunId};
use ba_store::{NewShare, Share, UserRole};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::admin::Done;
use super::{report, shared_page};
use crate::auth::Caller;
use crate::auth::secret::Secret;
use crate::envelope::{Body, Data, Path, Query};
use crate::error::{ApiError, Result};
use crate::service::ReportWanted;
use crate::state::AppState;

const USUAL_DAYS: u32 = 7;
const MAX_SHARES: usize = 200;
const MAX_PAGE: u64 = 64 << 20;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WantedShare {
    /// The answer.
    run_id: RunId,
    /// How long the link works; 7 without it, never more than the administrator allows.
    #[schema(example = 7)]
    days: Option<u32>,
    /// Whether the statements and code behind the figures are shown too.
    #[serde(default)]
    sources: bool,
    /// `zh` or `en`, for the page's own words.
    lang: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ShareInfo {
    #[schema(example = "share_0123456789ab")]
    pub share_id: String,
    pub conversation_id: ConversationId,
    pub run_id: RunId,
    pub title: String,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    #[schema(value_type = String)]
    pub expires_at: Timestamp,
    pub views: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub viewed_at: Option<Timestamp>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct MadeShare {
    #[serde(flatten)]
    pub share: ShareInfo,
    /// The path to give away. Shown this once: only a hash of it is kept.
    #[schema(example = "/s/…")]
    pub address: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ShareList {
    pub shares: Vec<ShareInfo>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ShareQuery {
    /// Without it: those of all conversations.
    #[param(example = "conv_a87365d8983d")]
    conversation_id: Option<ConversationId>,
}

impl From<Share> for ShareInfo {
    fn from(share: Share) -> Self {
        Self {
            share_id: share.id,
            conversation_id: share.conversation,
            run_id: share.run,
            title: share.title,
            created_at: share.created_at,
            expires_at: share.expires_at,
            views: share.views,
            viewed_at: share.viewed_at,
        }
    }
}

/// Give one answer an address that anybody may read, for some days.
#[utoipa::path(post, path = "/conversations/{conversation_id}/shares", tag = "conversations", operation_id = "createShare",
    params(("conversation_id" = ConversationId, Path, example = "conv_a87365d8983d")), request_body = WantedShare,
    responses((status = 200, body = Data<MadeShare>)))]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<ConversationId>,
    Body(wanted): Body<WantedShare>,
) -> Result<Data<MadeShare>> {
    state.own(&caller.user, &id).await?;
    let days = days(&state, wanted.days)?;
    report::known_language(wanted.lang.as_deref())?;
    let store = &state.deps.store;
    if store.shares(&caller.user, None).await?.len() >= MAX_SHARES {
        let message = format!("at most {MAX_SHARES} links at a time; revoke one first");
        return Err(ApiError::bad_request("too_many_shares", message));
    }
    let audience = if wanted.sources { ReportFor::VisitorsWithSources } else { ReportFor::Visitors };
    let document = ReportWanted {
        owner: caller.user.clone(),
        conversation: id.clone(),
        run: Some(wanted.run_id.clone()),
        format: "html".to_owned(),
        language: wanted.lang,
        audience,
    };
    let made = report::make(&state, document, &|_, _| {}).await?;
    if made.bytes > MAX_PAGE {
        return Err(ApiError::too_large(MAX_PAGE));
    }
    let page = tokio::fs::read(&made.path).await.map_err(ApiError::internal)?;
    let secret = Secret::new_session();
    let lasts = SignedDuration::from_hours(24 * i64::from(days));
    let new = NewShare {
        owner: caller.user,
        conversation: id,
        run: wanted.run_id,
        hash: secret.hash,
        title: made.name.trim_end_matches(".html").to_owned(),
        policy: shared_page::policy(&String::from_utf8_lossy(&page)),
        expires_at: Timestamp::now().saturating_add(lasts).unwrap_or(Timestamp::MAX),
    };
    let share = store.create_share(new, &page).await?;
    tracing::info!(share = %share.id, owner = %share.owner, days, "an answer was shared");
    Ok(Data::of(MadeShare { share: share.into(), address: format!("/s/{}", secret.token) }))
}

/// My links that work.
#[utoipa::path(get, path = "/shares", tag = "conversations", operation_id = "listShares", params(ShareQuery),
    responses((status = 200, body = Data<ShareList>)))]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Query(query): Query<ShareQuery>,
) -> Result<Data<ShareList>> {
    if let Some(id) = &query.conversation_id {
        state.own(&caller.user, id).await?;
    }
    let shares = state.deps.store.shares(&caller.user, query.conversation_id.as_ref()).await?;
    Ok(Data::of(ShareList { shares: shares.into_iter().map(Into::into).collect() }))
}

/// Revoke one of my links; an administrator may revoke anyone's.
#[utoipa::path(delete, path = "/shares/{share_id}", tag = "conversations", operation_id = "revokeShare",
    params(("share_id" = String, Path, example = "share_0123456789ab")), responses((status = 200, body = Data<Done>)))]
pub async fn revoke(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Data<Done>> {
    let share = state.deps.store.share(&id).await?;
    if share.owner != caller.user && caller.role != UserRole::Admin {
        return Err(ApiError::not_found("share link"));
    }
    state.deps.store.revoke_share(&id, &caller.user).await?;
    tracing::info!(share = %id, by = %caller.user, "a share link was revoked");
    Ok(Data::of(Done { done: true }))
}

fn days(state: &AppState, given: Option<u32>) -> Result<u32> {
    let Some(most) = state.config.share_days else {
        let message =
            "share links are off; an administrator allows them with `share_links = true` under [server]";
        return Err(ApiError::forbidden("share_links_off", message));
    };
    let days = given.unwrap_or(USUAL_DAYS.min(most));
    if (1..=most).contains(&days) {
        Ok(days)
    } else {
        Err(ApiError::bad_request("bad_days", format!("`days` is from 1 to {most}")))
    }
}
