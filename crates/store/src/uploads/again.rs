//! Reading an upload again with other choices (SPEC B8): what was made from it before goes, its bytes stay.

use ba_protocol::file::IngestOptions;
use ba_protocol::{ConversationId, Upload, UploadId};

use super::read::from_row;
use super::{enqueue_ingest, not_found, options_json};
use crate::blob::{self, BlobId};
use crate::db::{Session, params};
use crate::error::{Result, StoreError};
use crate::store::Store;

impl Store {
    /// Back to `processing` with these choices; the caller ingests it then. Refused while it is being read.
    pub async fn ingest_again(
        &self,
        conversation: &ConversationId,
        id: &UploadId,
        options: &IngestOptions,
    ) -> Result<Upload> {
        let options = options_json(options)?;
        let (owned, id) = (conversation.clone(), id.clone());
        let (upload, released) =
            self.write_files(conversation, move |s| Box::pin(restart(s, owned, id, options))).await?;
        self.discard(released).await;
        Ok(upload)
    }
}

async fn restart(
    s: &mut dyn Session,
    conversation: ConversationId,
    id: UploadId,
    options: Option<String>,
) -> Result<(Upload, Vec<BlobId>)> {
    let restarted = s
        .one(
            concat!(
                "UPDATE uploads SET status = 'processing', profile = NULL, error = NULL, ingest_options = $3
                 WHERE conversation_id = $1 AND file_id = $2 AND status <> 'processing' RETURNING ",
                columns!()
            ),
            params![&conversation, &id, options],
        )
        .await?;
    let Some(row) = restarted else {
        let known = s
            .one(
                "SELECT 1 FROM uploads WHERE conversation_id = $1 AND file_id = $2",
                params![&conversation, &id],
            )
            .await?;
        return Err(match known {
            Some(_) => StoreError::Conflict(format!("{id} is being read; wait until that is done")),
            None => not_found(&id),
        });
    };
    let upload = from_row(&row)?;
    let owner = s.one("SELECT owner FROM conversations WHERE id = $1", params![&conversation]).await?;
    enqueue_ingest(s, &conversation, &id, owner.ok_or_else(|| not_found(&id))?.id(0)?).await?;
    let derived = s
        .query(
            "DELETE FROM derived WHERE conversation_id = $1 AND file_id = $2 RETURNING blob_id",
            params![&conversation, &id],
        )
        .await?;
    let mut released = Vec::new();
    for row in derived {
        released.extend(blob::unlink(s, &row.id(0)?).await?);
    }
    Ok((upload, released))
}
