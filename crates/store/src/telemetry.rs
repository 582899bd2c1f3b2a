//! What was measured about calls (SPEC E11), read back after a restart.

use crate::error::Result;
use crate::store::Store;
use crate::types::{TelemetryRow, TelemetryScope};

impl Store {
    /// Oldest first, at most `limit` (the latest ones).
    pub async fn telemetry(&self, _scope: TelemetryScope<'_>, _limit: u32) -> Result<Vec<TelemetryRow>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }
}
