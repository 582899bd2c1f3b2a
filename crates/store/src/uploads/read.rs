//! Reading uploads back: lists, one by id or name, and the original bytes. Never writes.

use std::path::PathBuf;

use ba_protocol::file::{IngestStatus, Unread};
use ba_protocol::{ConversationId, Said, Upload, UploadId};

use super::not_found;
use crate::blob::BlobId;
use crate::db::{Row, params};
use crate::error::{Result, StoreError};
use crate::filename::clean_filename;
use crate::store::Store;

impl Store {
    /// In order of their numbers.
    pub async fn uploads(&self, conversation: &ConversationId) -> Result<Vec<Upload>> {
        let rows = self
            .db()
            .read(
                concat!("SELECT ", columns!(), " FROM uploads WHERE conversation_id = $1 ORDER BY position"),
                params![conversation],
            )
            .await?;
        rows.iter().map(from_row).collect()
    }

    /// The same without their profiles, which may be large; for lists.
    pub async fn upload_list(&self, conversation: &ConversationId) -> Result<Vec<Upload>> {
        let rows = self
            .db()
            .read(
                "SELECT file_id, conversation_id, filename, file_type, size, sha256, created_at, description, status,
                        error, NULL, ingest_options
                 FROM uploads WHERE conversation_id = $1 ORDER BY position",
                params![conversation],
            )
            .await?;
        rows.iter().map(from_row).collect()
    }

    /// By `upload_NNN`, else by file name.
    pub async fn upload(&self, conversation: &ConversationId, id_or_name: &str) -> Result<Upload> {
        let row = self
            .db()
            .read_one(
                concat!(
                    "SELECT ",
                    columns!(),
                    " FROM uploads WHERE conversation_id = $1 AND (file_id = $2 OR filename = $2)
                     ORDER BY CASE WHEN file_id = $2 THEN 0 ELSE 1 END LIMIT 1"
                ),
                params![conversation, id_or_name],
            )
            .await?;
        row.as_ref().map_or_else(
            || Err(StoreError::not_found(format!("file {}", clean_filename(id_or_name)))),
            from_row,
        )
    }

    /// Uploads still `processing` (of any conversation): ingest starts over with these after a crash.
    pub async fn unfinished_uploads(&self) -> Result<Vec<Upload>> {
        let rows = self
            .db()
            .read(
                concat!(
                    "SELECT ",
                    columns!(),
                    " FROM uploads
                     WHERE status = 'processing'
                       AND conversation_id IN (SELECT id FROM conversations WHERE deleted_at IS NULL)
                     ORDER BY created_at, file_id"
                ),
                vec![],
            )
            .await?;
        rows.iter().map(from_row).collect()
    }

    /// The original bytes as a read-only local file (fetched first when blobs are remote). Never write to it.
    pub async fn upload_path(&self, upload: &Upload) -> Result<PathBuf> {
        let blob = self.upload_blob(&upload.conversation_id, &upload.file_id).await?;
        self.blobs().local(&blob, upload.size).await
    }

    async fn upload_blob(&self, conversation: &ConversationId, id: &UploadId) -> Result<BlobId> {
        let row = self
            .db()
            .read_one(
                "SELECT blob_id FROM uploads WHERE conversation_id = $1 AND file_id = $2",
                params![conversation, id],
            )
            .await?;
        row.ok_or_else(|| not_found(id))?.id(0)
    }
}

pub(crate) fn from_row(row: &Row) -> Result<Upload> {
    let (error, problem) = unread(row.optional_string(9)?);
    Ok(Upload {
        file_id: row.id(0)?,
        conversation_id: row.id(1)?,
        filename: row.string(2)?,
        file_type: row.string(3)?,
        size: row.unsigned(4)?,
        sha256: row.string(5)?,
        created_at: row.time(6)?,
        description: row.string(7)?,
        status: match row.text(8)? {
            "processing" => IngestStatus::Processing,
            "ready" => IngestStatus::Ready,
            "failed" => IngestStatus::Failed,
            other => return Err(StoreError::Corrupt(format!("unknown ingest status `{other}`"))),
        },
        error,
        problem,
        profile: row.optional_json(10)?,
        ingest_options: row.optional_json(11)?.unwrap_or_default(),
    })
}

/// Both forms of why it was not read. What was stored before there were two is words alone.
fn unread(stored: Option<String>) -> (Option<String>, Option<Said>) {
    match stored.as_deref().map(serde_json::from_str::<Unread>) {
        Some(Ok(unread)) => (Some(unread.message), Some(unread.said)),
        _ => (stored, None),
    }
}
