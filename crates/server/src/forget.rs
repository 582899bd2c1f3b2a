//! Deleting a conversation deletes everything of it (SPEC H8): what tools keep alive, its logs, then what the store has.

use std::path::{Path, PathBuf};

use ba_protocol::ConversationId;
use ba_store::Wake;

use crate::state::AppState;

/// Can be done again from the start: what is gone already is no failure. Other servers drop what they keep of it.
pub async fn forget(state: &AppState, conversation: &ConversationId) -> Result<(), String> {
    state.deps.store.wake(Wake::Forget { conversation: conversation.clone() });
    drop_here(state, conversation).await?;
    state.deps.store.purge(conversation).await.map_err(|e| e.to_string())
}

/// Another server deletes a conversation: what this one keeps of it outside the store goes as well.
pub async fn elsewhere(state: &AppState, conversation: &ConversationId) {
    if let Err(error) = drop_here(state, conversation).await {
        tracing::warn!(%conversation, %error, "something of a deleted conversation is left on this server");
    }
    state.deps.store.drop_folder(conversation).await;
}

async fn drop_here(state: &AppState, conversation: &ConversationId) -> Result<(), String> {
    for keeper in &state.deps.keepers {
        keeper.forget(conversation).await;
    }
    // Lines that are still on their way would bring a log back.
    state.deps.agent.flush_log().await;
    if let Some(folder) = &state.deps.log_dir {
        for log in logs_of(folder, conversation).await {
            tokio::fs::remove_file(&log).await.map_err(|e| format!("{}: {e}", log.display()))?;
        }
    }
    Ok(())
}

/// Every log file of a conversation, oldest first (SPEC M4).
pub async fn logs_of(folder: &Path, conversation: &ConversationId) -> Vec<PathBuf> {
    let prefix = format!("conversation_{conversation}_");
    let mut found = Vec::new();
    let Ok(mut entries) = tokio::fs::read_dir(folder).await else { return found };
    while let Ok(Some(entry)) = entries.next_entry().await {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)) {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}
