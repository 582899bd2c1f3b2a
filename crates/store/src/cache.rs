//! A durable key-value cache with a time to live and a size limit per namespace (SPEC X5).

use std::time::Duration;

use crate::error::Result;
use crate::store::Store;

impl Store {
    pub async fn cache_get(&self, _namespace: &str, _key: &str) -> Result<Option<String>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Above the namespace's limit the least recently used entries go.
    pub async fn cache_put(&self, _namespace: &str, _key: &str, _value: &str, _ttl: Duration) -> Result<()> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }
}
