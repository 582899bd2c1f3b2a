//! Removes stored tool data by age, total size and least-recent use, and purges deleted conversations (SPEC E5).

use std::time::Duration;

use crate::config::{CleanupMode, CleanupPolicy};
use crate::error::Result;
use crate::store::Store;
use crate::types::CleanupReport;

impl Store {
    pub async fn cleanup(&self, _policy: &CleanupPolicy, _mode: CleanupMode) -> Result<CleanupReport> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Cleans every `interval` until the handle is dropped or aborted.
    pub fn cleanup_task(&self, policy: CleanupPolicy, interval: Duration) -> tokio::task::JoinHandle<()> {
        let store = self.clone();
        tokio::spawn(async move {
            let mut tick = tokio::time::interval(interval);
            loop {
                tick.tick().await;
                if let Err(error) = store.cleanup(&policy, CleanupMode::Remove).await {
                    tracing::warn!(%error, "cleanup failed");
                }
            }
        })
    }
}
