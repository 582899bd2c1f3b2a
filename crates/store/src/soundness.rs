//! Whether what the store rests on works (SPEC N2): the tables can be read, the database takes writes, and a file put where
//! blobs lie comes back. Said in words for people; changes nothing that stays.

use std::io::Write as _;

use crate::blob::BlobId;
use crate::db::params;
use crate::error::{Result, StoreError};
use crate::store::Store;

/// Tables that every question needs.
const READ: &[&str] = &[
    "SELECT COUNT(*) FROM (SELECT id, state, epoch FROM runs LIMIT 1) t",
    "SELECT COUNT(*) FROM (SELECT seq, event FROM events LIMIT 1) t",
    "SELECT COUNT(*) FROM (SELECT id, owner FROM conversations LIMIT 1) t",
    "SELECT COUNT(*) FROM (SELECT run_id, result FROM calls LIMIT 1) t",
    "SELECT COUNT(*) FROM (SELECT id, sha256 FROM blobs LIMIT 1) t",
    "SELECT COUNT(*) FROM (SELECT kind, lease_until FROM jobs LIMIT 1) t",
    "SELECT COUNT(*) FROM (SELECT run_id, position FROM rounds LIMIT 1) t",
];
/// With less room than this on the disk, questions fail half-way.
const LEAST_FREE: u64 = 64 << 20;

impl Store {
    /// Reads from every important table, and writes.
    pub async fn check_database(&self) -> Result<()> {
        for sql in READ {
            self.db().read(sql, vec![]).await?;
        }
        self.db()
            .write(|s| {
                Box::pin(async move {
                    // Touches the write-ahead log as a question would.
                    s.execute(
                        "UPDATE schema_versions SET applied_at = applied_at WHERE version = $1",
                        params![1u64],
                    )
                    .await
                    .map(|_| ())
                })
            })
            .await
    }

    /// Puts a small file where files lie, and takes it away again.
    pub async fn check_blobs(&self) -> Result<()> {
        let blobs = self.blobs();
        let room =
            rustix::fs::statvfs(blobs.temp_dir()).map_err(|e| StoreError::io("the data folder", e.into()))?;
        let free = room.f_bavail.saturating_mul(room.f_frsize);
        if free < LEAST_FREE {
            let free = ba_protocol::text::human_size(free);
            return Err(StoreError::Full(format!("only {free} are left on the disk of the data folder")));
        }
        let mut probe = tempfile::Builder::new()
            .prefix("probe-")
            .tempfile_in(blobs.temp_dir())
            .map_err(|e| StoreError::io("writing to the data folder", e))?;
        probe.write_all(b"ok").map_err(|e| StoreError::io("writing to the data folder", e))?;
        let id = BlobId::random();
        blobs.put(&id, probe.into_temp_path(), 2).await?;
        blobs.delete(&id).await
    }
}
