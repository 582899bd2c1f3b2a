//! Opens the database and the blobs, and holds them together. Concerns live in their own files.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use crate::blob::{self, BlobStore};
use crate::config::{Limits, Meta, StoreConfig};
use crate::db::{Db, Postgres, Sqlite, migrations};
use crate::error::{Result, StoreError};
use crate::files::Changes;
use crate::locks::ConversationLocks;
use crate::private;
use crate::wakes::Wakes;

/// Everything that is kept. Cheap to clone; all clones share one writer and one set of locks.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    config: StoreConfig,
    db: Db,
    blobs: Arc<dyn BlobStore>,
    locks: ConversationLocks,
    changes: Changes,
    wakes: Wakes,
}

async fn connect(meta: &Meta) -> Result<(Db, Wakes)> {
    Ok(match meta {
        Meta::Sqlite { path } => (Db::new(Arc::new(Sqlite::open(path).await?)), Wakes::alone()),
        Meta::Postgres { url } => {
            let engine = Postgres::open(url).await?;
            let wakes = Wakes::over(engine.pool().clone());
            (Db::new(Arc::new(engine)), wakes)
        }
    })
}

/// A database as an earlier version of the program left it, for migration tests. Gives the newest version.
#[doc(hidden)]
pub async fn prepare_old_database(meta: &Meta, version: usize) -> Result<usize> {
    let (db, _) = connect(meta).await?;
    migrations::migrate_to(&db, version).await?;
    db.engine().close().await;
    Ok(migrations::STEPS.len())
}

/// Held by the one server of a data folder; released on drop or when the process ends.
#[derive(Debug)]
pub struct ServerLock {
    _file: File,
}

impl Store {
    /// Opens (and creates or migrates) the database and the blob folder.
    pub async fn open(config: StoreConfig) -> Result<Self> {
        private::create_dir_all(&config.root).map_err(|e| StoreError::io("creating the data folder", e))?;
        // Whatever was made below with an older version, nobody else gets there.
        private::close_to_others(&config.root)
            .map_err(|e| StoreError::io("closing the data folder to others", e))?;
        let (db, wakes) = connect(&config.meta).await?;
        migrations::migrate(&db).await?;
        let blobs = blob::open(&config)?;
        let locks = ConversationLocks::default();
        Ok(Self { inner: Arc::new(Inner { config, db, blobs, locks, changes: Changes::default(), wakes }) })
    }

    /// Claims the data folder for a server: a second server on one SQLite database is refused with its reason.
    /// Take it before resuming runs; commands that only read or add need not hold it.
    pub fn claim_server(&self) -> Result<ServerLock> {
        let path = self.root().join("server.lock");
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        let file = file.map_err(|e| StoreError::io("opening server.lock", e))?;
        match file.try_lock() {
            Ok(()) => Ok(ServerLock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse(format!(
                "another server is already running on the data folder {}",
                self.root().display()
            ))),
            Err(TryLockError::Error(e)) => Err(StoreError::io("locking server.lock", e)),
        }
    }

    /// Finishes queued writes and closes the database, for a clean end of the program. Later calls fail.
    pub async fn close(&self) {
        self.db().engine().close().await;
    }

    /// A thorough check of the database; what it found wrong, nothing when sound.
    pub async fn integrity(&self) -> Result<Vec<String>> {
        self.db().engine().integrity().await
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

    pub(crate) fn wakes(&self) -> &Wakes {
        &self.inner.wakes
    }

    pub(crate) fn changes(&self) -> &Changes {
        &self.inner.changes
    }

    pub(crate) fn db(&self) -> &Db {
        &self.inner.db
    }

    pub(crate) fn blobs(&self) -> &Arc<dyn BlobStore> {
        &self.inner.blobs
    }
}
