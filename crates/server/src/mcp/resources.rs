//! Files and answers as resources: `ba://conv_…/files/name` and `ba://conv_…/answers/3`.

use ba_protocol::ConversationId;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{ReadResourceResult, Resource, ResourceContents};

use crate::auth::Caller;
use crate::error::{ApiError, Result};
use crate::routes::download;
use crate::state::AppState;

/// Conversations that a list looks through, the latest first.
const LOOK_BACK: u32 = 20;
const MOST: usize = 200;
/// A larger file is fetched over the API.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

pub fn file_uri(conversation: &ConversationId, name: &str) -> String {
    format!("ba://{conversation}/files/{}", utf8_percent_encode(name, NON_ALPHANUMERIC))
}

pub async fn list(state: &AppState, caller: &Caller) -> Result<Vec<Resource>> {
    let store = &state.deps.store;
    let mut all = Vec::new();
    for conversation in store.conversations(&caller.user, None, LOOK_BACK, 0).await? {
        let id = &conversation.id;
        for upload in store.uploads(id).await? {
            let resource = Resource::new(file_uri(id, &upload.filename), upload.filename.clone());
            all.push(resource.with_size(upload.size).with_description(upload.description));
        }
        for artifact in store.artifacts(id).await? {
            all.push(
                Resource::new(file_uri(id, &artifact.name), artifact.name.clone()).with_size(artifact.size),
            );
        }
        for (number, round) in (1..).zip(store.turns(id).await?) {
            let uri = format!("ba://{id}/answers/{number}");
            let name = ba_protocol::text::shorten(&ba_protocol::text::one_line(&round.user_message), 60);
            all.push(Resource::new(uri, name).with_mime_type("text/markdown"));
        }
        if all.len() >= MOST {
            break;
        }
    }
    all.truncate(MOST);
    Ok(all)
}

pub async fn read(state: &AppState, caller: &Caller, uri: &str) -> Result<ReadResourceResult> {
    let missing = || ApiError::not_found(&format!("resource {}", ba_protocol::text::shorten(uri, 120)));
    let mut parts = uri.strip_prefix("ba://").ok_or_else(missing)?.splitn(3, '/');
    let (Some(conversation), Some(kind), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(missing());
    };
    let conversation = ConversationId::parse(conversation).map_err(|_| missing())?;
    state.own(&caller.user, &conversation).await.map_err(|_| missing())?;
    let name = percent_decode_str(name).decode_utf8().map_err(|_| missing())?;
    let contents = match kind {
        "answers" => {
            let number: usize = name.parse().map_err(|_| missing())?;
            let round = state.deps.store.turn(&conversation, number).await?.ok_or_else(missing)?;
            ResourceContents::text(round.final_answer.unwrap_or_default(), uri)
                .with_mime_type("text/markdown")
        }
        "files" => {
            let bytes = download::bytes(&state.deps.store, &conversation, &name, MAX_BYTES).await?;
            let mime = download::mime_of(&name).to_string();
            match String::from_utf8(bytes) {
                Ok(text) => ResourceContents::text(text, uri).with_mime_type(mime),
                Err(other) => {
                    ResourceContents::blob(STANDARD.encode(other.as_bytes()), uri).with_mime_type(mime)
                }
            }
        }
        _ => return Err(missing()),
    };
    Ok(ReadResourceResult::new(vec![contents]))
}
