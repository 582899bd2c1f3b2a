//! Brings an archive in as a new conversation: unpack, check every hash, then one transaction.

use std::path::Path;

use ba_protocol::{ConversationId, UserId};

use super::insert::{Incoming, insert};
use super::unpack::{Unpacked, unpack};
use crate::blob::{Staged, Stager};
use crate::error::{Result, StoreError};
use crate::quota;
use crate::store::Store;
use crate::types::Conversation;

/// What an import brought.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportReport {
    pub conversation: Conversation,
    pub rounds: usize,
    pub uploads: usize,
    pub codes: usize,
    pub artifacts: usize,
}

impl Store {
    /// Always makes a new conversation owned by `owner`; nothing existing is touched. Uploads come in as
    /// `processing`, each with the job that reads it in; a run that was open comes in as cancelled.
    pub async fn import(&self, owner: &UserId, archive: &Path) -> Result<ImportReport> {
        let (archive, temp) = (archive.to_owned(), self.blobs().temp_dir().to_owned());
        let limit = self.limits().import_bytes;
        let unpacked = tokio::task::spawn_blocking(move || unpack(&archive, &temp, limit))
            .await
            .map_err(|e| StoreError::Unavailable(e.to_string()))??;
        let mut staged = Vec::new();
        let taken = self.take_in(owner, unpacked, &mut staged).await;
        for (index, one) in staged.into_iter().enumerate() {
            let linked = taken.as_ref().ok().and_then(|(_, blobs)| blobs.get(index));
            self.settle(one, linked).await;
        }
        let (report, _) = taken?;
        Ok(report)
    }

    /// Stages every file in the order uploads, codes, artifacts, and inserts all of it.
    async fn take_in(
        &self,
        owner: &UserId,
        mut unpacked: Unpacked,
        staged: &mut Vec<Staged>,
    ) -> Result<(ImportReport, Vec<crate::blob::BlobId>)> {
        let (manifest, limits) = (&unpacked.manifest, self.limits());
        let uploads = manifest.uploads.iter().map(|f| (&f.entry, &f.sha256, limits.upload_bytes));
        let codes = manifest.codes.iter().map(|f| (&f.entry, &f.sha256, limits.code_bytes));
        let artifacts = manifest.artifacts.iter().map(|f| (&f.entry, &f.sha256, limits.artifact_bytes));
        for (entry, sha256, limit) in uploads.chain(codes).chain(artifacts) {
            let missing = || StoreError::Invalid(format!("the archive lacks `{}`", shown(entry)));
            let file = unpacked.files.remove(entry).ok_or_else(missing)?;
            let source = std::fs::File::open(&file).map_err(|e| StoreError::io("unpacking", e))?;
            let mut stager = Stager::new(self.blobs().as_ref(), &shown(entry), limit).await?;
            stager.copy_from(source).await?;
            let one = stager.finish(self.blobs().as_ref()).await?;
            let intact = one.sha256 == *sha256;
            staged.push(one);
            if !intact {
                return Err(StoreError::Invalid(format!("`{}` was changed since the export", shown(entry))));
            }
        }
        let (limit, brought) = (limits.user_bytes, staged.iter().map(|one| one.size).sum());
        let incoming = Incoming {
            id: ConversationId::random(),
            owner: owner.clone(),
            manifest: unpacked.manifest,
            lines: unpacked.lines,
            staged: staged.clone(),
        };
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    quota::check(s, &incoming.owner, brought, limit).await?;
                    insert(s, incoming).await
                })
            })
            .await
    }
}

fn shown(entry: &str) -> String {
    ba_protocol::text::shorten(&ba_protocol::text::one_line(entry), 120)
}
