//! What an archive says it holds. `manifest.json` comes first; every file is listed with its hash.

use ba_protocol::api::UsageInfo;
use ba_protocol::{Artifact, CodeFile, RunId, Upload};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::types::RunStatus;

pub(super) const FORMAT: &str = "ba-agent-conversation";
pub(super) const VERSION: u32 = 1;

pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const ROUNDS: &str = "rounds.jsonl";
pub(super) const EVENTS: &str = "events.jsonl";
pub(super) const LOG: &str = "log.jsonl";

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub format: String,
    pub version: u32,
    pub exported_at: Timestamp,
    pub title: String,
    pub created_at: Timestamp,
    pub runs: Vec<RunEntry>,
    pub uploads: Vec<FileEntry<Upload>>,
    pub codes: Vec<FileEntry<CodeFile>>,
    pub artifacts: Vec<FileEntry<Artifact>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunEntry {
    pub id: RunId,
    pub message: String,
    pub status: RunStatus,
    pub created_at: Timestamp,
    pub usage: UsageInfo,
}

/// A file of the archive and what is known about it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FileEntry<T> {
    /// Its name inside the archive.
    pub entry: String,
    pub sha256: String,
    pub about: T,
}
