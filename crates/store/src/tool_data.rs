//! Results too large for an observation (SPEC E4), kept under a reference of our own making.

use std::path::PathBuf;

use ba_protocol::ConversationId;
use ba_protocol::text::shorten;

use crate::blob::{self, BlobId, Staged};
use crate::code::touch;
use crate::conversations::now;
use crate::db::{Row, Session, params};
use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::types::ToolData;

/// Characters of a summary that are kept.
const MAX_SUMMARY: usize = 4000;

/// What a reference may end in, so that readers know the format.
fn plain_extension(given: &str) -> String {
    let plain: String = given.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    if plain.is_empty() { "bin".to_owned() } else { plain.to_lowercase() }
}

impl Store {
    /// Gives back the entry whose `reference` (`tool_data/…`) the observation names.
    pub async fn put_tool_data(
        &self,
        conversation: &ConversationId,
        tool_call_id: &str,
        extension: &str,
        bytes: &[u8],
        summary: &str,
    ) -> Result<ToolData> {
        let staged = self.stage_bytes("the tool's data", bytes, self.limits().artifact_bytes).await?;
        let at = now();
        let entry = ToolData {
            reference: format!("tool_data/{}.{}", uuid::Uuid::new_v4().simple(), plain_extension(extension)),
            conversation_id: conversation.clone(),
            tool_call_id: shorten(tool_call_id, 200),
            size: staged.size,
            summary: shorten(summary, MAX_SUMMARY),
            created_at: at,
            last_used_at: at,
        };
        let (row, work) = (entry.clone(), staged.clone());
        let kept = self.db().write(move |s| Box::pin(insert(s, row, work))).await;
        self.settle(staged, kept.as_ref().ok()).await;
        kept.map(|_| entry)
    }

    /// The bytes; counts as a use. `NotFound` once cleanup removed them.
    pub async fn tool_data(
        &self,
        conversation: &ConversationId,
        reference: &str,
    ) -> Result<(ToolData, Vec<u8>)> {
        let (entry, path) = self.use_tool_data(conversation, reference).await?;
        let bytes = tokio::fs::read(path).await.map_err(|e| StoreError::io("reading tool data", e))?;
        Ok((entry, bytes))
    }

    /// The same, as a read-only local file.
    pub async fn tool_data_path(&self, conversation: &ConversationId, reference: &str) -> Result<PathBuf> {
        Ok(self.use_tool_data(conversation, reference).await?.1)
    }

    async fn use_tool_data(
        &self,
        conversation: &ConversationId,
        reference: &str,
    ) -> Result<(ToolData, PathBuf)> {
        let (conversation, wanted) = (conversation.clone(), reference.to_owned());
        let row = self
            .db()
            .write(move |s| {
                Box::pin(async move {
                    s.one(
                        "UPDATE tool_data SET last_used_at = $3 WHERE conversation_id = $1 AND reference = $2
                         RETURNING reference, conversation_id, tool_call_id, size, summary, created_at,
                                   last_used_at, blob_id",
                        params![&conversation, wanted, now()],
                    )
                    .await
                })
            })
            .await?;
        let row = row.ok_or_else(|| {
            StoreError::not_found("this stored tool data (it may have been cleaned up; run the tool again)")
        })?;
        let entry = from_row(&row)?;
        let path = self.blobs().local(&row.id(7)?, entry.size).await?;
        Ok((entry, path))
    }
}

async fn insert(s: &mut dyn Session, entry: ToolData, staged: Staged) -> Result<BlobId> {
    touch(s, &entry.conversation_id).await?;
    let blob = blob::link(s, &staged).await?;
    s.execute(
        "INSERT INTO tool_data (reference, conversation_id, tool_call_id, size, summary, blob_id, created_at,
                                last_used_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $7)",
        params![
            entry.reference,
            &entry.conversation_id,
            entry.tool_call_id,
            entry.size,
            entry.summary,
            blob.as_str(),
            entry.created_at
        ],
    )
    .await?;
    Ok(blob)
}

fn from_row(row: &Row) -> Result<ToolData> {
    Ok(ToolData {
        reference: row.string(0)?,
        conversation_id: row.id(1)?,
        tool_call_id: row.string(2)?,
        size: row.unsigned(3)?,
        summary: row.string(4)?,
        created_at: row.time(5)?,
        last_used_at: row.time(6)?,
    })
}
