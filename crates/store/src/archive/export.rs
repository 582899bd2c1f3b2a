//! Writes a conversation's archive. Reads only; other readers and writers go on meanwhile.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ba_protocol::{ConversationId, RunId, UserId};
use jiff::Timestamp;
use serde::Serialize;

use super::manifest::{
    CALLS, CallEntry, EVENTS, FORMAT, FileEntry, LOGS, MANIFEST, Manifest, ROUNDS, RunEntry, VERSION,
};
use crate::db::params;
use crate::error::{Result, StoreError};
use crate::runs::json;
use crate::store::Store;
use crate::types::{EventScope, RunSummary};
use crate::{private, turns};

/// An export nobody fetched goes with the first one made a day later.
const STALE: Duration = Duration::from_secs(24 * 3600);
const PAGE: u32 = 1000;

/// Where an entry's bytes come from.
enum Source {
    Memory(Vec<u8>),
    File(PathBuf),
}

impl Store {
    /// Writes a tar archive into a temporary file and gives its path; the caller removes it after use.
    /// `logs` are the conversation's JSONL logs. Stored tool data, which is temporary, and derived tables, which can be
    /// made again, are left out.
    pub async fn export(&self, owner: &UserId, id: &ConversationId, logs: &[PathBuf]) -> Result<PathBuf> {
        let conversation = self.conversation(owner, id).await?;
        let mut files = Vec::new();
        let mut runs = self.runs(owner, id, u32::MAX).await?;
        runs.reverse();
        let calls = self.call_lines(&runs).await?;
        let versions = self.turn_versions(id).await?;
        let version = |run: &RunId| versions.iter().find(|v| &v.run_id == run);
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            exported_at: Timestamp::now(),
            title: conversation.title,
            created_at: conversation.created_at,
            rounds_version: turns::VERSION,
            runs: runs
                .into_iter()
                .map(|r| RunEntry {
                    turn_id: version(&r.id).map(|v| v.turn_id.clone()).filter(|turn| turn != &r.id),
                    superseded: version(&r.id).is_some_and(|v| v.superseded),
                    id: r.id,
                    message: r.message,
                    status: r.status,
                    created_at: r.created_at,
                    usage: r.usage,
                })
                .collect(),
            uploads: self.upload_entries(id, &mut files).await?,
            codes: self.code_entries(id, &mut files).await?,
            artifacts: self.artifact_entries(id, &mut files).await?,
        };
        let mut entries = vec![
            (MANIFEST.to_owned(), Source::Memory(json(&manifest)?.into_bytes())),
            (ROUNDS.to_owned(), Source::Memory(lines(&self.all_turns(id).await?)?)),
            (EVENTS.to_owned(), Source::Memory(self.event_lines(id).await?)),
            (CALLS.to_owned(), Source::Memory(calls)),
        ];
        entries.extend(files);
        for log in logs {
            let name = log.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            entries.push((format!("{LOGS}/{name}"), Source::File(log.clone())));
        }
        let folder = self.root().join("exports");
        let written = tokio::task::spawn_blocking(move || write_tar(&folder, entries)).await;
        written
            .unwrap_or_else(|e| Err(io::Error::other(e)))
            .map_err(|e| StoreError::io("writing the archive", e))
    }

    async fn call_lines(&self, runs: &[RunSummary]) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        for run in runs {
            for (call, evidence) in self.call_records(&run.id).await? {
                let entry = CallEntry {
                    run_id: run.id.clone(),
                    step: call.intent.step,
                    tool_call_id: call.intent.tool_call_id,
                    tool_name: call.intent.tool_name,
                    arguments: call.intent.arguments,
                    idempotent: call.intent.idempotent,
                    started_at: call.started_at,
                    result: call.result,
                    telemetry: call.telemetry,
                    evidence,
                };
                text.extend(lines(&[entry])?);
            }
        }
        Ok(text)
    }

    async fn event_lines(&self, id: &ConversationId) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut after = 0;
        loop {
            let page = self.events_after(EventScope::Conversation(id), after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(text) };
            after = last.seq;
            text.extend(lines(&page)?);
        }
    }

    async fn upload_entries(
        &self,
        id: &ConversationId,
        files: &mut Vec<(String, Source)>,
    ) -> Result<Vec<FileEntry<ba_protocol::Upload>>> {
        let mut listed = Vec::new();
        for about in self.uploads(id).await? {
            let entry = format!("uploads/{}/{}", about.file_id, about.filename);
            files.push((entry.clone(), Source::File(self.upload_path(&about).await?)));
            listed.push(FileEntry { entry, sha256: about.sha256.clone(), about });
        }
        Ok(listed)
    }

    async fn code_entries(
        &self,
        id: &ConversationId,
        files: &mut Vec<(String, Source)>,
    ) -> Result<Vec<FileEntry<ba_protocol::CodeFile>>> {
        let mut listed = Vec::new();
        for latest in self.codes(id).await? {
            for version in self.versions(id, &latest.code_id).await? {
                let (about, code) = self.code(id, &version.code_id, Some(version.version)).await?;
                let entry = format!("code/v{}/{}", about.version, about.filename());
                let sha256 = sha256(code.as_bytes());
                files.push((entry.clone(), Source::Memory(code.into_bytes())));
                listed.push(FileEntry { entry, sha256, about });
            }
        }
        Ok(listed)
    }

    async fn artifact_entries(
        &self,
        id: &ConversationId,
        files: &mut Vec<(String, Source)>,
    ) -> Result<Vec<FileEntry<ba_protocol::Artifact>>> {
        let rows = self
            .db()
            .read(
                "SELECT a.name, b.sha256 FROM artifacts a JOIN blobs b ON b.id = a.blob_id
                 WHERE a.conversation_id = $1 ORDER BY a.created_at, a.name",
                params![id],
            )
            .await?;
        let mut listed = Vec::new();
        for row in rows {
            let about = self.artifact(id, row.text(0)?).await?;
            let entry = format!("artifacts/{}", about.name);
            files.push((entry.clone(), Source::File(self.artifact_path(id, &about.name).await?)));
            listed.push(FileEntry { entry, sha256: row.string(1)?, about });
        }
        Ok(listed)
    }
}

fn lines<T: Serialize>(values: &[T]) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    for value in values {
        text.extend(json(value)?.into_bytes());
        text.push(b'\n');
    }
    Ok(text)
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    hex::encode(sha2::Sha256::digest(bytes))
}

fn write_tar(folder: &Path, entries: Vec<(String, Source)>) -> io::Result<PathBuf> {
    private::create_dir_all(folder)?;
    for old in std::fs::read_dir(folder)?.flatten() {
        let age = old.metadata().and_then(|m| m.modified()).ok().and_then(|m| m.elapsed().ok());
        if age.is_some_and(|a| a > STALE) {
            let _ = std::fs::remove_file(old.path());
        }
    }
    let temp = tempfile::Builder::new().prefix("export-").suffix(".tar").tempfile_in(folder)?;
    let mut tar = tar::Builder::new(io::BufWriter::new(temp.as_file()));
    for (name, source) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        match source {
            Source::Memory(bytes) => {
                header.set_size(bytes.len() as u64);
                tar.append_data(&mut header, name, bytes.as_slice())?;
            }
            Source::File(path) => {
                let file = std::fs::File::open(path)?;
                header.set_size(file.metadata()?.len());
                // A log may grow while it is read; the header has promised a size.
                let size = header.size()?;
                tar.append_data(&mut header, name, io::Read::take(file, size))?;
            }
        }
    }
    tar.into_inner()?.flush()?;
    let (_, path) = temp.keep().map_err(|e| e.error)?;
    Ok(path)
}
