//! Uploads (SPEC F1): streamed to a temporary file, hashed on the way, visible only once finished.

/// What `read::from_row` reads, in its order.
macro_rules! columns {
    () => {
        "file_id, conversation_id, filename, file_type, size, sha256, created_at, description, status, error, profile, \
         ingest_options"
    };
}

mod again;
mod derived;
mod read;

use ba_protocol::file::{FileProfile, IngestOptions, IngestStatus, Unread};
use ba_protocol::text::{one_line, shorten};
use ba_protocol::{ConversationId, Upload, UploadId, UserId};

use crate::blob::{self, BlobId, Staged, Stager};
use crate::conversations::{missing, now};
use crate::db::{Session, params};
use crate::error::{Result, StoreError};
use crate::filename::{clean_filename, extension, numbered};
use crate::jobs::{self, JobKind, NewJob};
use crate::quota;
use crate::runs::json;
use crate::store::Store;

const MAX_DESCRIPTION: usize = 500;

/// Takes the bytes of one upload. Dropped before `finish`, it leaves nothing.
pub struct UploadWriter {
    store: Store,
    conversation: ConversationId,
    filename: String,
    description: String,
    stager: Stager,
}

impl UploadWriter {
    pub async fn write(&mut self, chunk: &[u8]) -> Result<()> {
        self.stager.write(chunk).await
    }

    /// Shown in the file list.
    pub fn describe(&mut self, description: &str) {
        self.description = clean_description(description);
    }

    /// The upload appears with status `processing` and the next `upload_NNN`. A taken file name gets ` (2)`.
    pub async fn finish(self) -> Result<Upload> {
        let Self { store, conversation, filename, description, stager } = self;
        let limit = store.limits().user_bytes;
        let staged = stager.finish(store.blobs().as_ref()).await?;
        let (id, work) = (conversation.clone(), staged.clone());
        let kept = store
            .write_files(&id, move |s| {
                Box::pin(insert(s, conversation, (filename, description), work, limit))
            })
            .await;
        store.settle(staged, kept.as_ref().ok().map(|(_, blob)| blob)).await;
        Ok(kept?.0)
    }
}

impl Store {
    /// `limit` in bytes; the store's own limit applies as well.
    pub async fn begin_upload(
        &self,
        conversation: &ConversationId,
        filename: &str,
        limit: Option<u64>,
    ) -> Result<UploadWriter> {
        let filename = clean_filename(filename);
        let limit = limit.unwrap_or(u64::MAX).min(self.limits().upload_bytes);
        // Who has no room at all learns it before the bytes are sent.
        self.has_room(conversation).await?;
        let stager = Stager::new(self.blobs().as_ref(), &filename, limit).await?;
        Ok(UploadWriter {
            store: self.clone(),
            conversation: conversation.clone(),
            filename,
            description: String::new(),
            stager,
        })
    }

    /// What ingest found, or why it failed.
    pub async fn set_profile(
        &self,
        conversation: &ConversationId,
        id: &UploadId,
        status: IngestStatus,
        profile: Option<&FileProfile>,
        error: Option<&Unread>,
    ) -> Result<Upload> {
        let profile = profile.map(|profile| json(&profile.within_budget())).transpose()?;
        let error = error.map(json).transpose()?;
        let (owned, id) = (conversation.clone(), id.clone());
        self.write_files(conversation, move |s| {
            Box::pin(async move {
                let row = s
                    .one(
                        concat!(
                            "UPDATE uploads SET status = $3, profile = $4, error = $5
                                 WHERE conversation_id = $1 AND file_id = $2 RETURNING ",
                            columns!()
                        ),
                        params![&owned, &id, status_str(status), profile, error],
                    )
                    .await?;
                if status != IngestStatus::Processing {
                    jobs::forget(s, JobKind::Ingest, ingest_key(&owned, &id)).await?;
                }
                row.as_ref().map_or_else(|| Err(not_found(&id)), read::from_row)
            })
        })
        .await
    }

    pub async fn describe_upload(
        &self,
        conversation: &ConversationId,
        id: &UploadId,
        description: &str,
    ) -> Result<Upload> {
        let (owned, id) = (conversation.clone(), id.clone());
        let description = clean_description(description);
        self.write_files(conversation, move |s| {
            Box::pin(async move {
                let row = s
                    .one(
                        concat!(
                            "UPDATE uploads SET description = $3 WHERE conversation_id = $1 AND file_id = $2
                                 RETURNING ",
                            columns!()
                        ),
                        params![&owned, &id, description],
                    )
                    .await?;
                row.as_ref().map_or_else(|| Err(not_found(&id)), read::from_row)
            })
        })
        .await
    }

    /// Its number is not given out again.
    pub async fn delete_upload(&self, conversation: &ConversationId, id: &UploadId) -> Result<()> {
        let (owned, id) = (conversation.clone(), id.clone());
        let released = self.write_files(conversation, move |s| Box::pin(delete(s, owned, id))).await?;
        self.discard(released).await;
        Ok(())
    }
}

async fn insert(
    s: &mut dyn Session,
    conversation: ConversationId,
    (filename, description): (String, String),
    staged: Staged,
    user_limit: u64,
) -> Result<(Upload, BlobId)> {
    let row = s
        .one(
            "UPDATE conversations SET next_upload = next_upload + 1, updated_at = $2
             WHERE id = $1 AND deleted_at IS NULL RETURNING next_upload - 1, owner",
            params![&conversation, now()],
        )
        .await?;
    let row = row.ok_or_else(|| missing(&conversation))?;
    let (number, owner) = (row.u32(0)?, row.id(1)?);
    quota::check(s, &owner, staged.size, user_limit).await?;
    let filename = free_name(s, &conversation, filename).await?;
    let blob = blob::link(s, &staged).await?;
    let upload = Upload {
        file_id: UploadId::numbered(number),
        conversation_id: conversation,
        file_type: extension(&filename),
        filename,
        size: staged.size,
        sha256: staged.sha256,
        created_at: now(),
        description,
        status: IngestStatus::Processing,
        error: None,
        problem: None,
        profile: None,
        ingest_options: IngestOptions::default(),
    };
    insert_row(s, &upload, number, &blob).await?;
    enqueue_ingest(s, &upload.conversation_id, &upload.file_id, owner).await?;
    Ok((upload, blob))
}

/// The name of the job that reads an upload in.
pub fn ingest_key(conversation: &ConversationId, id: &UploadId) -> String {
    format!("{conversation}/{id}")
}

/// With the row that says `processing`, in one transaction: no upload waits for nobody.
pub(crate) async fn enqueue_ingest(
    s: &mut dyn Session,
    conversation: &ConversationId,
    id: &UploadId,
    owner: UserId,
) -> Result<()> {
    let job = NewJob {
        kind: JobKind::Ingest,
        key: ingest_key(conversation, id),
        owner,
        conversation: Some(conversation.clone()),
        run_at: now(),
    };
    jobs::enqueue(s, &job).await
}

pub(crate) async fn insert_row(
    s: &mut dyn Session,
    upload: &Upload,
    number: u32,
    blob: &BlobId,
) -> Result<()> {
    s.execute(
        "INSERT INTO uploads (conversation_id, file_id, position, filename, file_type, size, sha256, blob_id,
                              created_at, description, status, ingest_options)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        params![
            &upload.conversation_id,
            &upload.file_id,
            number,
            upload.filename.as_str(),
            upload.file_type.as_str(),
            upload.size,
            upload.sha256.as_str(),
            blob.as_str(),
            upload.created_at,
            upload.description.as_str(),
            status_str(upload.status),
            options_json(&upload.ingest_options)?
        ],
    )
    .await
    .map(|_| ())
}

/// The conversation's row is locked by now, so that two uploads cannot take one name.
async fn free_name(s: &mut dyn Session, conversation: &ConversationId, wanted: String) -> Result<String> {
    let mut name = wanted.clone();
    for n in 2u32.. {
        let taken = s
            .one(
                "SELECT 1 FROM uploads WHERE conversation_id = $1 AND filename = $2",
                params![conversation, name.as_str()],
            )
            .await?;
        if taken.is_none() {
            break;
        }
        name = numbered(&wanted, n);
    }
    Ok(name)
}

async fn delete(s: &mut dyn Session, conversation: ConversationId, id: UploadId) -> Result<Vec<BlobId>> {
    let mut rows = s
        .query(
            "DELETE FROM derived WHERE conversation_id = $1 AND file_id = $2 RETURNING blob_id",
            params![&conversation, &id],
        )
        .await?;
    let gone = s
        .query(
            "DELETE FROM uploads WHERE conversation_id = $1 AND file_id = $2 RETURNING blob_id",
            params![&conversation, &id],
        )
        .await?;
    if gone.is_empty() {
        return Err(not_found(&id));
    }
    jobs::forget(s, JobKind::Ingest, ingest_key(&conversation, &id)).await?;
    rows.extend(gone);
    let mut released = Vec::new();
    for row in rows {
        released.extend(blob::unlink(s, &row.id(0)?).await?);
    }
    Ok(released)
}

pub(crate) fn clean_description(text: &str) -> String {
    shorten(one_line(text).trim(), MAX_DESCRIPTION)
}

pub(crate) fn not_found(id: &UploadId) -> StoreError {
    StoreError::not_found(format!("file {id}"))
}

/// Nothing is kept where nothing was chosen.
fn options_json(options: &IngestOptions) -> Result<Option<String>> {
    if options.is_default() { Ok(None) } else { json(options).map(Some) }
}

fn status_str(status: IngestStatus) -> &'static str {
    match status {
        IngestStatus::Processing => "processing",
        IngestStatus::Ready => "ready",
        IngestStatus::Failed => "failed",
    }
}
