//! Where things are kept and how much. Filled by the program's configuration; never reads the environment.

use std::path::PathBuf;
use std::time::Duration;

/// Which database holds the metadata.
#[derive(Clone)]
pub enum Meta {
    /// Embedded, no set-up. The parent folder is created.
    Sqlite { path: PathBuf },
    /// `postgres://user@host/database`; for replicas.
    Postgres { url: String },
}

/// Where bytes of files are kept.
#[derive(Clone)]
pub enum Blobs {
    Disk { dir: PathBuf },
    S3(S3Config),
}

/// S3-compatible object storage.
#[derive(Clone)]
pub struct S3Config {
    pub bucket: String,
    pub region: String,
    /// `http(s)://host:port` of a service other than AWS.
    pub endpoint: Option<String>,
    pub access_key: String,
    pub secret_key: String,
    /// Put before every key, e.g. `ba-agent/`.
    pub prefix: String,
    /// Bytes of fetched objects kept on local disk.
    pub cache_bytes: u64,
}

#[derive(Clone)]
pub struct StoreConfig {
    pub meta: Meta,
    pub blobs: Blobs,
    /// Local folder for temporary files, working folders, caches and the lock file.
    pub root: PathBuf,
    pub limits: Limits,
}

impl StoreConfig {
    /// SQLite and disk, everything under one folder: what runs without any set-up.
    pub fn local(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self {
            meta: Meta::Sqlite { path: root.join("ba-agent.sqlite3") },
            blobs: Blobs::Disk { dir: root.join("blobs") },
            root,
            limits: Limits::default(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Limits {
    /// One upload.
    pub upload_bytes: u64,
    /// One artifact.
    pub artifact_bytes: u64,
    /// One piece of code.
    pub code_bytes: u64,
    /// One cache namespace.
    pub cache_bytes: u64,
    /// An imported archive, unpacked.
    pub import_bytes: u64,
    /// All files of one person, over all conversations.
    pub user_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MB: u64 = 1024 * 1024;
        Self {
            upload_bytes: 2048 * MB,
            artifact_bytes: 512 * MB,
            code_bytes: 4 * MB,
            cache_bytes: 64 * MB,
            import_bytes: 4096 * MB,
            user_bytes: 100 * 1024 * MB,
        }
    }
}

/// What cleanup may remove (SPEC E5).
#[derive(Clone, Debug)]
pub struct CleanupPolicy {
    /// Tool data not used for this long goes.
    pub max_age: Duration,
    /// Above this total, the least recently used goes first.
    pub max_total_bytes: u64,
    /// A conversation with an open run, or touched within this time, is live: what it names stays.
    pub live_within: Duration,
    /// A deleted conversation is purged after this long.
    pub purge_deleted_after: Duration,
}

impl Default for CleanupPolicy {
    fn default() -> Self {
        let day = Duration::from_secs(24 * 3600);
        Self {
            max_age: day,
            max_total_bytes: 10 * 1024 * 1024 * 1024,
            live_within: day,
            purge_deleted_after: day,
        }
    }
}

/// Whether cleanup removes, or only says what it would remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanupMode {
    DryRun,
    Remove,
}
