//! Takes deleted conversations out for good, and files that no row refers to.

use std::collections::HashSet;
use std::time::Duration;

use ba_protocol::ConversationId;
use jiff::Timestamp;

use crate::blob::{self, BlobId};
use crate::config::CleanupMode;
use crate::db::{Session, params};
use crate::error::{Result, StoreError};
use crate::private;
use crate::store::Store;
use crate::types::CleanupReport;

/// A file without a row may be one whose row is about to be written; after a day it is not.
const ORPHAN_AGE: Duration = Duration::from_secs(24 * 3600);

impl Store {
    pub(super) async fn purge_deleted(
        &self,
        before: Timestamp,
        mode: CleanupMode,
        report: &mut CleanupReport,
    ) -> Result<()> {
        let rows = self
            .db()
            .read("SELECT id FROM conversations WHERE deleted_at <= $1 ORDER BY deleted_at", params![before])
            .await?;
        for row in rows {
            let id: ConversationId = row.id(0)?;
            if mode == CleanupMode::Remove {
                self.purge(&id).await?;
            }
            report.purged_conversations.push(id);
        }
        Ok(())
    }

    /// Removes everything the store has of a deleted conversation. One that is not deleted is left alone, and so is what
    /// the store does not know of (logs, live Python state): the caller removes that first.
    pub async fn purge(&self, id: &ConversationId) -> Result<()> {
        let wanted = id.clone();
        let released = self.db().write(move |s| Box::pin(purge(s, wanted))).await?;
        let Some(released) = released else { return Ok(()) };
        self.discard(released).await;
        self.remove_folder(id).await?;
        match self.db().engine().forget_deleted().await {
            Ok(true) => {}
            Ok(false) => tracing::info!(%id, "the log of writes holds deleted rows until it is folded next"),
            Err(error) => tracing::warn!(%id, %error, "the log of writes was not folded"),
        }
        Ok(())
    }

    /// The working folder of a conversation that another server deletes.
    pub async fn drop_folder(&self, id: &ConversationId) {
        if let Err(error) = self.remove_folder(id).await {
            tracing::warn!(%id, %error, "the folder of a deleted conversation is left");
        }
    }

    async fn remove_folder(&self, id: &ConversationId) -> Result<()> {
        let folder = self.conversation_dir(id);
        let removed = tokio::task::spawn_blocking(move || private::remove_tree(&folder)).await;
        removed
            .unwrap_or_else(|e| Err(std::io::Error::other(e)))
            .map_err(|e| StoreError::io("removing a conversation's folder", e))
    }

    pub(super) async fn sweep_orphans(&self, mode: CleanupMode, report: &mut CleanupReport) -> Result<()> {
        let stored = self.blobs().list().await?;
        let old: Vec<BlobId> = stored
            .into_iter()
            .filter(|(_, changed)| changed.elapsed().is_ok_and(|age| age > ORPHAN_AGE))
            .map(|(id, _)| id)
            .collect();
        if old.is_empty() {
            return Ok(());
        }
        // Read after the listing: a row that appears later belongs to a younger file.
        let rows = self.db().read("SELECT id FROM blobs", vec![]).await?;
        let known: HashSet<&str> = rows.iter().filter_map(|r| r.text(0).ok()).collect();
        for id in old {
            if known.contains(id.as_str()) {
                continue;
            }
            report.orphans += 1;
            if mode == CleanupMode::Remove {
                self.blobs().delete(&id).await?;
            }
        }
        Ok(())
    }
}

/// Nothing when it is not there, or not deleted. The purge job itself stays until its caller has finished it.
async fn purge(s: &mut dyn Session, id: ConversationId) -> Result<Option<Vec<BlobId>>> {
    let found = s.one("SELECT deleted_at FROM conversations WHERE id = $1", params![&id]).await?;
    match found {
        // A purge that was cut short has only its folder left to remove.
        None => return Ok(Some(Vec::new())),
        Some(row) if row.is_null(0) => return Ok(None),
        Some(_) => {}
    }
    let mut rows = Vec::new();
    for sql in [
        "DELETE FROM codes WHERE conversation_id = $1 RETURNING blob_id",
        "DELETE FROM derived WHERE conversation_id = $1 RETURNING blob_id",
        "DELETE FROM uploads WHERE conversation_id = $1 RETURNING blob_id",
        "DELETE FROM artifacts WHERE conversation_id = $1 RETURNING blob_id",
        "DELETE FROM tool_data WHERE conversation_id = $1 RETURNING blob_id",
        "DELETE FROM shares WHERE conversation_id = $1 RETURNING blob_id",
    ] {
        rows.extend(s.query(sql, params![&id]).await?);
    }
    for sql in [
        "DELETE FROM board WHERE conversation_id = $1",
        "DELETE FROM feedback WHERE run_id IN (SELECT id FROM runs WHERE conversation_id = $1)",
        "DELETE FROM calls WHERE run_id IN (SELECT id FROM runs WHERE conversation_id = $1)",
        "DELETE FROM rounds WHERE conversation_id = $1",
        "DELETE FROM events WHERE conversation_id = $1",
        "DELETE FROM runs WHERE conversation_id = $1",
        "DELETE FROM jobs WHERE conversation_id = $1",
        "DELETE FROM consents WHERE conversation_id = $1",
        "DELETE FROM python_states WHERE conversation_id = $1",
        "DELETE FROM conversations WHERE id = $1",
    ] {
        s.execute(sql, params![&id]).await?;
    }
    let mut released = Vec::new();
    for row in rows {
        released.extend(blob::unlink(s, &row.id(0)?).await?);
    }
    Ok(Some(released))
}
