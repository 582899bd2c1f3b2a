//! What a person allows in a conversation: an address, or all of a host, that `web_reader` may read although nobody gave it
//! (SPEC H7). Asks nobody and fetches nothing.

use axum::extract::State;
use ba_protocol::ConversationId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::Caller;
use crate::envelope::{Body, Data, Path};
use crate::error::{ApiError, Result};
use crate::state::AppState;

/// One of the three.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewConsent {
    /// This page and no other.
    #[schema(example = "https://example.org/report")]
    address: Option<String>,
    /// Every page of the host.
    #[schema(example = "example.org")]
    host: Option<String>,
    /// A tool of another program that changes something.
    #[schema(example = "crm.create_ticket")]
    tool: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Consents {
    /// Addresses and hosts, in the order in which they were allowed.
    pub allowed: Vec<String>,
}

/// Allow an address or a host in this conversation.
#[utoipa::path(post, path = "/conversations/{conversation_id}/consents", tag = "conversations", operation_id = "addConsent",
    params(("conversation_id" = ConversationId, Path, example = "conv_a87365d8983d")), request_body = NewConsent,
    responses((status = 200, body = Data<Consents>)))]
pub async fn add(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<ConversationId>,
    Body(new): Body<NewConsent>,
) -> Result<Data<Consents>> {
    let what = allowed(&new)?;
    Ok(Data::of(Consents { allowed: state.deps.store.add_consent(&caller.user, &id, &what).await? }))
}

/// What is allowed in this conversation.
#[utoipa::path(get, path = "/conversations/{conversation_id}/consents", tag = "conversations", operation_id = "listConsents",
    params(("conversation_id" = ConversationId, Path, example = "conv_a87365d8983d")),
    responses((status = 200, body = Data<Consents>)))]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Path(id): Path<ConversationId>,
) -> Result<Data<Consents>> {
    state.own(&caller.user, &id).await?;
    Ok(Data::of(Consents { allowed: state.deps.store.consents(&id).await? }))
}

/// The address in full, or the host in small letters.
fn allowed(new: &NewConsent) -> Result<String> {
    let wrong = || {
        let message = "give an `address` such as https://example.org/report, a `host` such as example.org, or a `tool` such as crm.create";
        ApiError::bad_request("bad_consent", message)
    };
    let parsed = |text: &str| url::Url::parse(text).ok().filter(|u| matches!(u.scheme(), "http" | "https"));
    match (&new.address, &new.host, &new.tool) {
        (Some(address), None, None) => parsed(address.trim()).map(String::from).ok_or_else(wrong),
        (None, Some(host), None) => {
            let plain = |h: &&str| !h.is_empty() && !h.contains(['/', '@', '?', '#', ' ', ':']);
            let host = Some(host.trim()).filter(plain).and_then(|h| parsed(&format!("https://{h}/")));
            host.and_then(|u| u.host_str().map(str::to_owned)).ok_or_else(wrong)
        }
        (None, None, Some(tool)) => {
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
            let is_tool = tool.contains('.') && tool.len() <= 128 && tool.chars().all(plain);
            is_tool.then(|| format!("tool:{tool}")).ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}
