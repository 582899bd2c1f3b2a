//! Bytes on their way in: written to a temporary file and hashed in passing. Dropped early, they leave nothing.

use std::fs::File;
use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};
use tempfile::{Builder, TempPath};

use super::disk::blocking;
use super::{BlobId, BlobStore};
use crate::error::{Result, StoreError};
use crate::store::Store;

const CHUNK: usize = 256 * 1024;

/// Takes bytes until `finish`.
pub(crate) struct Stager {
    /// `None` only while a write is on its way, or after one failed.
    file: Option<(File, Sha256)>,
    path: TempPath,
    size: u64,
    limit: u64,
    what: String,
}

/// Complete bytes: in the blob store, durable, but named by nothing yet.
#[derive(Debug, Clone)]
pub(crate) struct Staged {
    pub id: BlobId,
    pub sha256: String,
    pub size: u64,
}

impl Stager {
    pub(crate) async fn new(blobs: &dyn BlobStore, what: &str, limit: u64) -> Result<Self> {
        let dir = blobs.temp_dir().to_owned();
        let temp = blocking(move || Builder::new().prefix("in-").tempfile_in(dir))
            .await
            .map_err(|e| StoreError::io("creating a temporary file", e))?;
        let (file, path) = temp.into_parts();
        Ok(Self { file: Some((file, Sha256::new())), path, size: 0, limit, what: what.to_owned() })
    }

    pub(crate) async fn write(&mut self, chunk: &[u8]) -> Result<()> {
        self.size += chunk.len() as u64;
        if self.size > self.limit {
            self.file = None;
            return Err(StoreError::TooLarge { what: self.what.clone(), limit: self.limit });
        }
        let (mut file, mut hash) = self.file.take().ok_or_else(failed)?;
        let chunk = chunk.to_vec();
        let written = blocking(move || {
            file.write_all(&chunk)?;
            hash.update(&chunk);
            Ok((file, hash))
        });
        self.file = Some(written.await.map_err(|e| StoreError::io("writing a file", e))?);
        Ok(())
    }

    /// Copies a whole open file, without passing its bytes through the async threads.
    pub(crate) async fn copy_from(&mut self, mut source: File) -> Result<()> {
        let (mut file, mut hash) = self.file.take().ok_or_else(failed)?;
        let limit = self.limit;
        let copied = blocking(move || {
            let (mut buffer, mut size) = (vec![0; CHUNK], 0u64);
            loop {
                let n = source.read(&mut buffer)?;
                size += n as u64;
                if n == 0 || size > limit {
                    return Ok((file, hash, size));
                }
                file.write_all(&buffer[..n])?;
                hash.update(&buffer[..n]);
            }
        });
        let (file, hash, size) = copied.await.map_err(|e| StoreError::io("copying a file", e))?;
        if size > limit {
            return Err(StoreError::TooLarge { what: self.what.clone(), limit });
        }
        self.size = size;
        self.file = Some((file, hash));
        Ok(())
    }

    /// Flushes to disk and moves the bytes into the blob store.
    pub(crate) async fn finish(self, blobs: &dyn BlobStore) -> Result<Staged> {
        let (file, hash) = self.file.ok_or_else(failed)?;
        let sha256 = hex::encode(hash.finalize());
        blocking(move || make_private(&file).and_then(|()| file.sync_all()))
            .await
            .map_err(|e| StoreError::io("flushing a file", e))?;
        let id = BlobId::random();
        blobs.put(&id, self.path, self.size).await?;
        Ok(Staged { id, sha256, size: self.size })
    }
}

/// Stored bytes never change: readable by the owner, writable by none.
fn make_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o400))
}

fn failed() -> StoreError {
    StoreError::Unavailable("an earlier write of this file failed".to_owned())
}

impl Store {
    pub(crate) async fn stage_bytes(&self, what: &str, bytes: &[u8], limit: u64) -> Result<Staged> {
        let mut stager = Stager::new(self.blobs().as_ref(), what, limit).await?;
        stager.write(bytes).await?;
        stager.finish(self.blobs().as_ref()).await
    }

    /// After the transaction: drops what turned out to be a duplicate, or everything when it failed.
    /// Should the bytes already recorded be gone from storage, the new ones take their place.
    pub(crate) async fn settle(&self, staged: Staged, linked: Option<&BlobId>) {
        let kept = match linked {
            Some(id) if *id == staged.id => return,
            Some(id) => self.blobs().exists(id, staged.size).await.unwrap_or(true),
            None => true,
        };
        let outcome = match linked {
            Some(id) if !kept => self.restore(&staged, id).await,
            _ => self.blobs().delete(&staged.id).await,
        };
        if let Err(error) = outcome {
            tracing::warn!(%error, "a duplicate file was left behind; cleanup removes it");
        }
    }

    async fn restore(&self, staged: &Staged, id: &BlobId) -> Result<()> {
        tracing::warn!("stored bytes were missing and have been restored from an equal upload");
        let source = self.blobs().local(&staged.id, staged.size).await?;
        let mut stager = Stager::new(self.blobs().as_ref(), "file", staged.size).await?;
        let file = File::open(source).map_err(|e| StoreError::io("reading a stored file", e))?;
        stager.copy_from(file).await?;
        blocking({
            let file = stager.file.take().ok_or_else(failed)?.0;
            move || file.sync_all()
        })
        .await
        .map_err(|e| StoreError::io("flushing a file", e))?;
        self.blobs().put(id, stager.path, staged.size).await?;
        self.blobs().delete(&staged.id).await
    }

    /// Deletes bytes that a committed transaction released. A failure leaves an orphan for cleanup.
    pub(crate) async fn discard(&self, released: impl IntoIterator<Item = BlobId>) {
        for id in released {
            if let Err(error) = self.blobs().delete(&id).await {
                tracing::warn!(%error, "a released file was left behind; cleanup removes it");
            }
        }
    }
}
