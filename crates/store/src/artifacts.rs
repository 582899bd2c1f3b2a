//! Files that tools produced (SPEC F3). The producer's folder is hostile: links and devices in it are refused.

use std::path::{Path, PathBuf};

use ba_protocol::{Artifact, ConversationId};

use crate::error::Result;
use crate::store::Store;

impl Store {
    /// Copies a regular file into the store under a cleaned name; one of the same name is replaced.
    /// A relative `from` is taken inside the conversation's working folder, and no link on the way is followed.
    pub async fn put_artifact(
        &self,
        _conversation: &ConversationId,
        _name: &str,
        _from: &Path,
    ) -> Result<Artifact> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn put_artifact_bytes(
        &self,
        _conversation: &ConversationId,
        _name: &str,
        _bytes: &[u8],
    ) -> Result<Artifact> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn artifact(&self, _conversation: &ConversationId, _name: &str) -> Result<Artifact> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Oldest first.
    pub async fn artifacts(&self, _conversation: &ConversationId) -> Result<Vec<Artifact>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// The bytes as a read-only local file.
    pub async fn artifact_path(&self, _conversation: &ConversationId, _name: &str) -> Result<PathBuf> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// The conversation's working folder, created when missing: what `run_python` sees as its own.
    pub async fn work_dir(&self, _conversation: &ConversationId) -> Result<PathBuf> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }
}
