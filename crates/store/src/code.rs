//! Saved code with versions (SPEC C1–C5). An id from outside is slugged, never used as a path.

use ba_protocol::{CodeFile, CodeId, ConversationId};

use crate::error::Result;
use crate::store::Store;
use crate::types::{NewCode, SavedCodeFile};

impl Store {
    /// An existing id gets a new version; an unsupported language becomes python, with a warning.
    pub async fn save_code(&self, _conversation: &ConversationId, _new: NewCode) -> Result<SavedCodeFile> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// The latest version unless one is named.
    pub async fn code(
        &self,
        _conversation: &ConversationId,
        _id: &CodeId,
        _version: Option<u32>,
    ) -> Result<(CodeFile, String)> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// The latest version of each, oldest first.
    pub async fn codes(&self, _conversation: &ConversationId) -> Result<Vec<CodeFile>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Every version of one, oldest first.
    pub async fn versions(&self, _conversation: &ConversationId, _id: &CodeId) -> Result<Vec<CodeFile>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }
}
