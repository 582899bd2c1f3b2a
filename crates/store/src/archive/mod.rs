//! A conversation as one archive, out and in again. An archive that comes in is hostile.

use std::path::{Path, PathBuf};

use ba_protocol::{ConversationId, UserId};

use crate::error::Result;
use crate::store::Store;
use crate::types::Conversation;

/// What an import brought.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportReport {
    pub conversation: Conversation,
    pub rounds: usize,
    pub uploads: usize,
    pub codes: usize,
    pub artifacts: usize,
}

impl Store {
    /// Writes a tar archive into a temporary file and gives its path; the caller removes it after use.
    /// `log` is the conversation's JSONL log when there is one.
    pub async fn export(
        &self,
        _owner: &UserId,
        _id: &ConversationId,
        _log: Option<&Path>,
    ) -> Result<PathBuf> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Always makes a new conversation owned by `owner`; nothing existing is touched.
    pub async fn import(&self, _owner: &UserId, _archive: &Path) -> Result<ImportReport> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }
}
