//! Uploads (SPEC F1): streamed to a temporary file, hashed on the way, visible only once finished.

use std::path::{Path, PathBuf};

use ba_protocol::file::{FileProfile, IngestStatus};
use ba_protocol::{ConversationId, Upload, UploadId};

use crate::error::Result;
use crate::store::Store;

/// Takes the bytes of one upload. Dropped before `finish`, it leaves nothing.
pub struct UploadWriter {
    store: Store,
}

impl UploadWriter {
    pub async fn write(&mut self, _chunk: &[u8]) -> Result<()> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Shown in the file list.
    pub fn describe(&mut self, _description: &str) {}

    /// The upload appears with status `processing` and the next `upload_NNN`. A taken file name gets ` (2)`.
    pub async fn finish(self) -> Result<Upload> {
        let _ = self.store.root();
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }
}

impl Store {
    /// `limit` in bytes; the store's own limit applies as well.
    pub async fn begin_upload(
        &self,
        _conversation: &ConversationId,
        _filename: &str,
        _limit: Option<u64>,
    ) -> Result<UploadWriter> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn uploads(&self, _conversation: &ConversationId) -> Result<Vec<Upload>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// By `upload_NNN`, else by file name.
    pub async fn upload(&self, _conversation: &ConversationId, _id_or_name: &str) -> Result<Upload> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// What ingest found, or why it failed.
    pub async fn set_profile(
        &self,
        _conversation: &ConversationId,
        _id: &UploadId,
        _status: IngestStatus,
        _profile: Option<&FileProfile>,
        _error: Option<&str>,
    ) -> Result<Upload> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn describe_upload(
        &self,
        _conversation: &ConversationId,
        _id: &UploadId,
        _description: &str,
    ) -> Result<Upload> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Uploads still `processing` (of any conversation): ingest starts over with these after a crash.
    pub async fn unfinished_uploads(&self) -> Result<Vec<Upload>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn delete_upload(&self, _conversation: &ConversationId, _id: &UploadId) -> Result<()> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// The original bytes as a read-only local file (fetched first when blobs are remote). Never write to it.
    pub async fn upload_path(&self, _upload: &Upload) -> Result<PathBuf> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// A file made from an upload, e.g. `table_0.parquet`. Replaces one of the same name.
    pub async fn put_derived(
        &self,
        _conversation: &ConversationId,
        _upload: &UploadId,
        _name: &str,
        _from: &Path,
    ) -> Result<()> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn derived_path(
        &self,
        _conversation: &ConversationId,
        _upload: &UploadId,
        _name: &str,
    ) -> Result<PathBuf> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }
}
