//! Blobs as objects of an S3-compatible service, with a local cache of what was read. The cache is only ever
//! a copy: it may be deleted at any time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt};
use object_store::aws::AmazonS3Builder;
use object_store::buffered::BufWriter;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt};
use tokio::io::AsyncWriteExt;

use super::disk::blocking;
use super::{BlobId, BlobStore};
use crate::config::S3Config;
use crate::error::{Result, StoreError};

/// A cached file this young is never evicted: someone was just given its path.
const KEEP_YOUNG: Duration = Duration::from_secs(600);

pub(super) struct S3 {
    objects: Arc<dyn ObjectStore>,
    prefix: String,
    cache: PathBuf,
    temp: PathBuf,
    cache_bytes: u64,
}

impl S3 {
    pub(super) fn open(config: &S3Config, root: &Path) -> Result<Self> {
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&config.bucket)
            .with_region(&config.region)
            .with_access_key_id(&config.access_key)
            .with_secret_access_key(&config.secret_key);
        if let Some(endpoint) = &config.endpoint {
            builder = builder.with_endpoint(endpoint).with_allow_http(endpoint.starts_with("http://"));
        }
        let objects = builder.build().map_err(object_error)?;
        let (cache, temp) = (root.join("cache").join("blobs"), root.join("cache").join("tmp"));
        for dir in [&cache, &temp] {
            crate::private::create_dir_all(dir).map_err(|e| StoreError::io("creating the blob cache", e))?;
        }
        let prefix = config.prefix.trim_matches('/').to_owned();
        Ok(Self { objects: Arc::new(objects), prefix, cache, temp, cache_bytes: config.cache_bytes })
    }

    fn key(&self, id: &BlobId) -> Key {
        let shard = &id.as_str()[..2];
        Key::from(format!("{}/{shard}/{}", self.prefix, id.as_str()))
    }

    fn cached(&self, id: &BlobId) -> PathBuf {
        self.cache.join(id.as_str())
    }

    async fn fetch(&self, id: &BlobId, size: u64) -> Result<()> {
        let got = self.objects.get(&self.key(id)).await.map_err(object_error)?;
        let temp = tempfile::Builder::new().prefix("get-").tempfile_in(&self.temp);
        let (file, path) = temp.map_err(|e| StoreError::io("creating a temporary file", e))?.into_parts();
        let mut file = tokio::fs::File::from_std(file);
        let mut stream = got.into_stream();
        let (mut written, io) = (0u64, |e| StoreError::io("caching an object", e));
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(object_error)?;
            written += chunk.len() as u64;
            file.write_all(&chunk).await.map_err(io)?;
        }
        file.flush().await.map_err(io)?;
        if written != size {
            return Err(StoreError::Corrupt("a stored object has another size than recorded".to_owned()));
        }
        path.persist(self.cached(id)).map_err(|e| StoreError::io("caching an object", e.error))
    }
}

#[async_trait]
impl BlobStore for S3 {
    fn temp_dir(&self) -> &Path {
        &self.temp
    }

    async fn put(&self, id: &BlobId, from: tempfile::TempPath, _size: u64) -> Result<()> {
        let mut source =
            tokio::fs::File::open(&from).await.map_err(|e| StoreError::io("reading a file", e))?;
        let mut upload = BufWriter::new(self.objects.clone(), self.key(id));
        let copied = tokio::io::copy(&mut source, &mut upload).await;
        let sent = match copied {
            Ok(_) => upload.shutdown().await,
            Err(e) => {
                let _ = upload.abort().await;
                Err(e)
            }
        };
        sent.map_err(|e| StoreError::Unavailable(format!("storing an object failed: {e}")))?;
        let _ = from.persist(self.cached(id));
        evict(self.cache.clone(), self.cache_bytes).await;
        Ok(())
    }

    async fn local(&self, id: &BlobId, size: u64) -> Result<PathBuf> {
        let path = self.cached(id);
        let fresh = |m: std::fs::Metadata| m.is_file() && m.len() == size;
        if !std::fs::symlink_metadata(&path).is_ok_and(fresh) {
            self.fetch(id, size).await?;
            evict(self.cache.clone(), self.cache_bytes).await;
        } else if let Ok(file) = std::fs::File::open(&path) {
            // Its use is what keeps it; stored files are read-only, so the time is set through a descriptor.
            let _ = file.set_modified(SystemTime::now());
        }
        Ok(path)
    }

    async fn exists(&self, id: &BlobId, size: u64) -> Result<bool> {
        match self.objects.head(&self.key(id)).await {
            Ok(meta) => Ok(meta.size == size),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(e) => Err(object_error(e)),
        }
    }

    async fn delete(&self, id: &BlobId) -> Result<()> {
        let _ = std::fs::remove_file(self.cached(id));
        match self.objects.delete(&self.key(id)).await {
            Err(object_store::Error::NotFound { .. }) | Ok(()) => Ok(()),
            Err(e) => Err(object_error(e)),
        }
    }

    async fn list(&self) -> Result<Vec<(BlobId, SystemTime)>> {
        let prefix = (!self.prefix.is_empty()).then(|| Key::from(self.prefix.as_str()));
        let all: Vec<_> = self.objects.list(prefix.as_ref()).try_collect().await.map_err(object_error)?;
        let known = all.into_iter().filter_map(|meta| {
            let id = meta.location.filename().and_then(BlobId::parse)?;
            Some((id, SystemTime::from(meta.last_modified)))
        });
        Ok(known.collect())
    }
}

/// Oldest use first, until the cache fits.
async fn evict(cache: PathBuf, limit: u64) {
    let swept = blocking(move || {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&cache)? {
            let entry = entry?;
            let meta = entry.metadata()?;
            files.push((meta.modified()?, meta.len(), entry.path()));
        }
        files.sort();
        let mut total: u64 = files.iter().map(|f| f.1).sum();
        for (modified, size, path) in files {
            if total <= limit || modified.elapsed().is_ok_and(|age| age < KEEP_YOUNG) {
                break;
            }
            std::fs::remove_file(path)?;
            total -= size;
        }
        Ok(())
    });
    if let Err(error) = swept.await {
        tracing::warn!(%error, "trimming the blob cache failed");
    }
}

fn object_error(error: object_store::Error) -> StoreError {
    match error {
        object_store::Error::NotFound { .. } => StoreError::Corrupt("a stored object is missing".to_owned()),
        other => StoreError::Unavailable(other.to_string()),
    }
}
