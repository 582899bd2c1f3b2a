//! Bytes of files, under random ids of our own making: no name from outside ever becomes a path or a key.
//! The database counts references, so equal bytes are kept once and go when the last reference goes.

mod disk;
mod s3;
mod staged;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;

use crate::config::{Blobs, StoreConfig};
use crate::db::{Session, params};
use crate::error::{Result, StoreError};

pub(crate) use staged::{Staged, Stager};

/// 32 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct BlobId(String);

impl BlobId {
    pub(crate) fn random() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string())
    }

    pub(crate) fn parse(given: &str) -> Option<Self> {
        let ok = given.len() == 32 && given.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        ok.then(|| Self(given.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for BlobId {
    type Err = StoreError;
    fn from_str(s: &str) -> Result<Self> {
        Self::parse(s).ok_or_else(|| StoreError::Corrupt("a stored blob id is damaged".to_owned()))
    }
}

/// A place for bytes.
#[async_trait]
pub(crate) trait BlobStore: Send + Sync {
    /// Where files are written before they become blobs; on the blobs' own file system where there is one.
    fn temp_dir(&self) -> &Path;
    /// Makes a finished temporary file the blob. Durable when this returns; the temporary file is gone.
    async fn put(&self, id: &BlobId, from: tempfile::TempPath, size: u64) -> Result<()>;
    /// A local file with the bytes. `Corrupt` when its size is not the recorded one.
    async fn local(&self, id: &BlobId, size: u64) -> Result<PathBuf>;
    async fn exists(&self, id: &BlobId, size: u64) -> Result<bool>;
    /// Deleting what is not there succeeds.
    async fn delete(&self, id: &BlobId) -> Result<()>;
    /// Everything stored, with the time of its last change.
    async fn list(&self) -> Result<Vec<(BlobId, SystemTime)>>;
}

pub(crate) fn open(config: &StoreConfig) -> Result<Arc<dyn BlobStore>> {
    Ok(match &config.blobs {
        Blobs::Disk { dir } => Arc::new(disk::Disk::open(dir)?),
        Blobs::S3(s3) => Arc::new(s3::S3::open(s3, &config.root)?),
    })
}

/// Inside the caller's transaction: one more reference to these bytes. Gives the id that holds them, which is
/// another than the staged one when equal bytes were there already.
pub(crate) async fn link(s: &mut dyn Session, staged: &Staged) -> Result<BlobId> {
    let row = s
        .one(
            "INSERT INTO blobs (id, sha256, size, refs, created_at) VALUES ($1, $2, $3, 1, $4)
             ON CONFLICT (sha256) DO UPDATE SET refs = blobs.refs + 1 RETURNING id",
            params![staged.id.as_str(), staged.sha256.as_str(), staged.size, crate::conversations::now()],
        )
        .await?;
    row.ok_or_else(|| StoreError::Unavailable("a blob was not recorded".to_owned()))?.id(0)
}

/// Inside the caller's transaction: one reference less. Gives the id back when its bytes may now be deleted.
pub(crate) async fn unlink(s: &mut dyn Session, id: &BlobId) -> Result<Option<BlobId>> {
    let row =
        s.one("UPDATE blobs SET refs = refs - 1 WHERE id = $1 RETURNING refs", params![id.as_str()]).await?;
    if row.map_or(Ok(1), |r| r.int(0))? > 0 {
        return Ok(None);
    }
    s.execute("DELETE FROM blobs WHERE id = $1 AND refs <= 0", params![id.as_str()]).await?;
    Ok(Some(id.clone()))
}
