//! What an archive says it holds. `manifest.json` comes first; every file is listed with its hash.

use ba_protocol::api::UsageInfo;
use ba_protocol::{Artifact, CodeFile, RunId, ToolResult, ToolTelemetry, Upload};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::types::RunStatus;

pub(super) const FORMAT: &str = "ba-agent-conversation";
pub(super) const VERSION: u32 = 2;

pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const ROUNDS: &str = "rounds.jsonl";
pub(super) const EVENTS: &str = "events.jsonl";
/// Tool calls with their results and evidence, so that proofs travel (SPEC V8). Since version 2.
pub(super) const CALLS: &str = "calls.jsonl";
/// Folder of the conversation's logs.
pub(super) const LOGS: &str = "logs";

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub format: String,
    pub version: u32,
    pub exported_at: Timestamp,
    pub title: String,
    pub created_at: Timestamp,
    /// The form of the rounds; archives of version 1 do not say it.
    #[serde(default = "first_form")]
    pub rounds_version: u32,
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
    /// The first run of the turn this is a version of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<RunId>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub superseded: bool,
}

fn first_form() -> u32 {
    1
}

/// A tool call of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CallEntry {
    pub run_id: RunId,
    pub step: u32,
    pub tool_call_id: String,
    pub tool_name: String,
    pub arguments: Map<String, Value>,
    pub idempotent: bool,
    pub started_at: Timestamp,
    pub result: Option<ToolResult>,
    pub telemetry: Option<ToolTelemetry>,
    pub evidence: Option<String>,
}

/// A file of the archive and what is known about it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FileEntry<T> {
    /// Its name inside the archive.
    pub entry: String,
    pub sha256: String,
    pub about: T,
}
