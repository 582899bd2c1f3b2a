//! Results too large for an observation (SPEC E4), kept under a reference of our own making.

use std::path::PathBuf;

use ba_protocol::ConversationId;

use crate::error::Result;
use crate::store::Store;
use crate::types::ToolData;

impl Store {
    /// Gives back the entry whose `reference` (`tool_data/…`) the observation names.
    pub async fn put_tool_data(
        &self,
        _conversation: &ConversationId,
        _tool_call_id: &str,
        _bytes: &[u8],
        _summary: &str,
    ) -> Result<ToolData> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// The bytes; counts as a use. `NotFound` once cleanup removed them.
    pub async fn tool_data(
        &self,
        _conversation: &ConversationId,
        _reference: &str,
    ) -> Result<(ToolData, Vec<u8>)> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// The same, as a read-only local file.
    pub async fn tool_data_path(&self, _conversation: &ConversationId, _reference: &str) -> Result<PathBuf> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }
}
