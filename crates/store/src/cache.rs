//! A durable key-value cache with a time to live and a size limit per namespace (SPEC X5).

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::conversations::now;
use crate::db::params;
use crate::error::{Result, StoreError};
use crate::store::Store;

impl Store {
    /// Counts as a use.
    pub async fn cache_get(&self, namespace: &str, key: &str) -> Result<Option<String>> {
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let row = s
                        .one(
                            "UPDATE cache SET last_used_at = $3 WHERE namespace = $1 AND key = $2 AND expires_at > $3
                             RETURNING value",
                            params![namespace, key, now()],
                        )
                        .await?;
                    row.map(|r| r.string(0)).transpose()
                })
            })
            .await
    }

    /// Above the namespace's limit the least recently used entries go.
    pub async fn cache_put(&self, namespace: &str, key: &str, value: &str, ttl: Duration) -> Result<()> {
        let limit = self.limits().cache_bytes;
        let size = (key.len() + value.len()) as u64;
        if size > limit {
            return Err(StoreError::TooLarge { what: "the cache entry".to_owned(), limit });
        }
        let (namespace, key, value) = (namespace.to_owned(), key.to_owned(), value.to_owned());
        let expires = after(ttl);
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    s.execute(
                        "INSERT INTO cache (namespace, key, value, size, expires_at, last_used_at)
                         VALUES ($1, $2, $3, $4, $5, $6)
                         ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, size = excluded.size,
                            expires_at = excluded.expires_at, last_used_at = excluded.last_used_at",
                        params![namespace.as_str(), key, value, size, expires, now()],
                    )
                    .await?;
                    s.execute(
                        "DELETE FROM cache WHERE namespace = $1 AND key IN (
                            SELECT key FROM (SELECT key, SUM(size) OVER (ORDER BY last_used_at DESC, key) AS total
                                             FROM cache WHERE namespace = $1) sized WHERE total > $2)",
                        params![namespace.as_str(), limit],
                    )
                    .await
                    .map(|_| ())
                })
            })
            .await
    }
}

fn after(ttl: Duration) -> Timestamp {
    let ttl = SignedDuration::try_from(ttl).unwrap_or(SignedDuration::from_hours(24 * 365 * 100));
    now().saturating_add(ttl).unwrap_or(Timestamp::MAX)
}
