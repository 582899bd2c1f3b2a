//! Blobs as files: temporary file, fsync, rename, fsync of the folder. Never follows a link inside its folder.

use std::fs::File;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;

use super::{BlobId, BlobStore};
use crate::error::{Result, StoreError};
use crate::private;

/// A temporary file this old belongs to a process that has died.
const STALE_TEMP: Duration = Duration::from_secs(24 * 3600);

pub(super) struct Disk {
    dir: PathBuf,
    temp: PathBuf,
}

impl Disk {
    pub(super) fn open(dir: &Path) -> Result<Self> {
        let temp = dir.join("tmp");
        private::create_dir_all(&temp).map_err(|e| StoreError::io("creating the blob folder", e))?;
        if !is_real_dir(&temp) {
            return Err(StoreError::Invalid(
                "the blob folder's `tmp` is a link; it must be a folder".to_owned(),
            ));
        }
        remove_stale(&temp);
        Ok(Self { dir: dir.to_owned(), temp })
    }

    fn shard(&self, id: &BlobId) -> PathBuf {
        self.dir.join(&id.as_str()[..2])
    }

    fn path(&self, id: &BlobId) -> PathBuf {
        self.shard(id).join(id.as_str())
    }
}

#[async_trait]
impl BlobStore for Disk {
    fn temp_dir(&self) -> &Path {
        &self.temp
    }

    async fn put(&self, id: &BlobId, from: tempfile::TempPath, _size: u64) -> Result<()> {
        let (dir, shard, path) = (self.dir.clone(), self.shard(id), self.path(id));
        blocking(move || {
            match std::fs::DirBuilder::new().mode(0o700).create(&shard) {
                Ok(()) => sync_dir(&dir)?,
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && is_real_dir(&shard) => {}
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(io::Error::other("a link stands where a blob folder should be"));
                }
                Err(e) => return Err(e),
            }
            from.persist(&path).map_err(|e| e.error)?;
            sync_dir(&shard)
        })
        .await
        .map_err(|e| StoreError::io("storing a file", e))
    }

    async fn local(&self, id: &BlobId, size: u64) -> Result<PathBuf> {
        let (shard, path) = (self.shard(id), self.path(id));
        let found = blocking({
            let path = path.clone();
            move || {
                if !is_real_dir(&shard) {
                    return Err(io::Error::from(io::ErrorKind::NotFound));
                }
                std::fs::symlink_metadata(path)
            }
        })
        .await;
        match found {
            Ok(meta) if meta.is_file() && meta.len() == size => Ok(path),
            Ok(_) => Err(StoreError::Corrupt("a stored file was changed from outside".to_owned())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Err(StoreError::Corrupt("a stored file is missing".to_owned()))
            }
            Err(e) => Err(StoreError::io("reading a stored file", e)),
        }
    }

    async fn exists(&self, id: &BlobId, size: u64) -> Result<bool> {
        match self.local(id, size).await {
            Ok(_) => Ok(true),
            Err(StoreError::Corrupt(_)) => Ok(false),
            Err(e) => Err(e),
        }
    }

    async fn delete(&self, id: &BlobId) -> Result<()> {
        let path = self.path(id);
        match blocking(move || std::fs::remove_file(path)).await {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("removing a stored file", e)),
            _ => Ok(()),
        }
    }

    async fn list(&self) -> Result<Vec<(BlobId, SystemTime)>> {
        let dir = self.dir.clone();
        blocking(move || list(&dir)).await.map_err(|e| StoreError::io("listing stored files", e))
    }
}

fn list(dir: &Path) -> io::Result<Vec<(BlobId, SystemTime)>> {
    let mut found = Vec::new();
    for shard in std::fs::read_dir(dir)? {
        let shard = shard?;
        if shard.file_name().len() != 2 || !shard.file_type()?.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(shard.path())? {
            let file = file?;
            let Some(id) = file.file_name().to_str().and_then(BlobId::parse) else { continue };
            if let Ok(meta) = file.metadata() {
                found.push((id, meta.modified()?));
            }
        }
    }
    Ok(found)
}

fn is_real_dir(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|m| m.is_dir())
}

/// Makes a rename or a new name in the folder survive a power cut.
fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

fn remove_stale(temp: &Path) {
    let Ok(entries) = std::fs::read_dir(temp) else { return };
    for entry in entries.flatten() {
        let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|m| m.elapsed().ok());
        if age.is_some_and(|a| a > STALE_TEMP) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Runs file work off the async threads.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| Err(io::Error::other(e)))
}
