//! Conversations and who owns them. Ownership is checked here: another owner's id is simply not found.

use ba_protocol::{ConversationId, UserId};

use crate::error::Result;
use crate::store::Store;
use crate::types::Conversation;

impl Store {
    pub async fn create(&self, _owner: &UserId, _title: &str) -> Result<Conversation> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// The owner's conversation, or `NotFound`. Routes call this first, then use the id freely.
    pub async fn conversation(&self, _owner: &UserId, _id: &ConversationId) -> Result<Conversation> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Latest first. `search` looks in titles and messages.
    pub async fn conversations(
        &self,
        _owner: &UserId,
        _search: Option<&str>,
        _limit: u32,
        _offset: u32,
    ) -> Result<Vec<Conversation>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn rename(&self, _owner: &UserId, _id: &ConversationId, _title: &str) -> Result<Conversation> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Gone for every reader at once; its bytes are purged by cleanup. Refused while a run is open.
    pub async fn delete(&self, _owner: &UserId, _id: &ConversationId) -> Result<()> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }
}
