//! Files made from an upload (its typed tables as Parquet). They go with the upload.

use std::path::{Path, PathBuf};

use ba_protocol::{ConversationId, UploadId};

use super::not_found;
use crate::blob::{self, BlobId, Staged, Stager};
use crate::conversations::now;
use crate::db::{Session, params};
use crate::error::{Result, StoreError};
use crate::filename::clean_filename;
use crate::hostile::open_regular;
use crate::store::Store;

impl Store {
    /// A file made from an upload, e.g. `table_0.parquet`. Replaces one of the same name.
    pub async fn put_derived(
        &self,
        conversation: &ConversationId,
        upload: &UploadId,
        name: &str,
        from: &Path,
    ) -> Result<()> {
        let source = open_regular(None, from)?;
        let mut stager = Stager::new(self.blobs().as_ref(), name, self.limits().upload_bytes).await?;
        stager.copy_from(source).await?;
        let staged = stager.finish(self.blobs().as_ref()).await?;
        let (conversation, upload, name) = (conversation.clone(), upload.clone(), clean_filename(name));
        let work = staged.clone();
        let kept = self.db().write(move |s| Box::pin(replace(s, conversation, upload, name, work))).await;
        self.settle(staged, kept.as_ref().ok().map(|(blob, _)| blob)).await;
        self.discard(kept?.1).await;
        Ok(())
    }

    /// The bytes as a read-only local file.
    pub async fn derived_path(
        &self,
        conversation: &ConversationId,
        upload: &UploadId,
        name: &str,
    ) -> Result<PathBuf> {
        let row = self
            .db()
            .read_one(
                "SELECT blob_id, size FROM derived WHERE conversation_id = $1 AND file_id = $2 AND name = $3",
                params![conversation, upload, name],
            )
            .await?;
        let row =
            row.ok_or_else(|| StoreError::not_found(format!("{} of {upload}", clean_filename(name))))?;
        self.blobs().local(&row.id(0)?, row.unsigned(1)?).await
    }
}

async fn replace(
    s: &mut dyn Session,
    conversation: ConversationId,
    upload: UploadId,
    name: String,
    staged: Staged,
) -> Result<(BlobId, Option<BlobId>)> {
    let known = s
        .one(
            "SELECT 1 FROM uploads WHERE conversation_id = $1 AND file_id = $2",
            params![&conversation, &upload],
        )
        .await?;
    if known.is_none() {
        return Err(not_found(&upload));
    }
    let blob = blob::link(s, &staged).await?;
    let before = s
        .one(
            "DELETE FROM derived WHERE conversation_id = $1 AND file_id = $2 AND name = $3 RETURNING blob_id",
            params![&conversation, &upload, name.as_str()],
        )
        .await?;
    s.execute(
        "INSERT INTO derived (conversation_id, file_id, name, size, blob_id, created_at)
         VALUES ($1, $2, $3, $4, $5, $6)",
        params![&conversation, &upload, name, staged.size, blob.as_str(), now()],
    )
    .await?;
    let released = match before {
        Some(row) => blob::unlink(s, &row.id(0)?).await?,
        None => None,
    };
    Ok((blob, released))
}
