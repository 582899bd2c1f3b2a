//! Files that tools produced (SPEC F3). The producer's folder is hostile: links and devices in it are refused.

use std::path::{Path, PathBuf};

use ba_protocol::{Artifact, ConversationId};

use crate::blob::{self, BlobId, Staged, Stager};
use crate::code::touch;
use crate::conversations::now;
use crate::db::{Row, Session, params};
use crate::error::{Result, StoreError};
use crate::filename::{clean_filename, extension};
use crate::hostile::open_regular;
use crate::private;
use crate::quota;
use crate::store::Store;

impl Store {
    /// Copies a regular file into the store under a cleaned name; one of the same name is replaced.
    /// A path inside the conversation's working folder (or relative to it) is opened without following any link.
    pub async fn put_artifact(
        &self,
        conversation: &ConversationId,
        name: &str,
        from: &Path,
    ) -> Result<Artifact> {
        let folder = self.work_dir(conversation).await?;
        let source = open_regular(Some(&folder), from)?;
        let mut stager =
            Stager::new(self.blobs().as_ref(), "the artifact", self.limits().artifact_bytes).await?;
        stager.copy_from(source).await?;
        let staged = stager.finish(self.blobs().as_ref()).await?;
        self.keep_artifact(conversation, name, staged).await
    }

    pub async fn put_artifact_bytes(
        &self,
        conversation: &ConversationId,
        name: &str,
        bytes: &[u8],
    ) -> Result<Artifact> {
        let staged = self.stage_bytes("the artifact", bytes, self.limits().artifact_bytes).await?;
        self.keep_artifact(conversation, name, staged).await
    }

    pub async fn artifact(&self, conversation: &ConversationId, name: &str) -> Result<Artifact> {
        Ok(self.artifact_row(conversation, name).await?.0)
    }

    /// Oldest first.
    pub async fn artifacts(&self, conversation: &ConversationId) -> Result<Vec<Artifact>> {
        let rows = self
            .db()
            .read(
                "SELECT name, file_type, size, created_at FROM artifacts
                 WHERE conversation_id = $1 ORDER BY created_at, name",
                params![conversation],
            )
            .await?;
        rows.iter().map(from_row).collect()
    }

    /// The bytes as a read-only local file.
    pub async fn artifact_path(&self, conversation: &ConversationId, name: &str) -> Result<PathBuf> {
        let (artifact, blob) = self.artifact_row(conversation, name).await?;
        self.blobs().local(&blob, artifact.size).await
    }

    /// Takes a file out of the list; its bytes go with the last reference to them.
    pub async fn delete_artifact(&self, conversation: &ConversationId, name: &str) -> Result<()> {
        let (owned, wanted) = (conversation.clone(), name.to_owned());
        let released = self.write_files(conversation, move |s| Box::pin(remove(s, owned, wanted))).await?;
        self.discard(released).await;
        Ok(())
    }

    /// The conversation's working folder, created when missing: what `run_python` sees as its own.
    pub async fn work_dir(&self, conversation: &ConversationId) -> Result<PathBuf> {
        let dir = self.conversation_dir(conversation).join("work");
        private::create_dir_all(&dir).map_err(|e| StoreError::io("creating the working folder", e))?;
        let real = std::fs::symlink_metadata(&dir).is_ok_and(|m| m.is_dir());
        if real {
            Ok(dir)
        } else {
            Err(StoreError::Corrupt("a link stands where the working folder should be".to_owned()))
        }
    }

    /// Local folder for what belongs to one conversation but is not a blob.
    pub(crate) fn conversation_dir(&self, conversation: &ConversationId) -> PathBuf {
        self.root().join("conversations").join(conversation.as_str())
    }

    async fn artifact_row(&self, conversation: &ConversationId, name: &str) -> Result<(Artifact, BlobId)> {
        let row = self
            .db()
            .read_one(
                "SELECT name, file_type, size, created_at, blob_id FROM artifacts
                 WHERE conversation_id = $1 AND name = $2",
                params![conversation, name],
            )
            .await?;
        let row = row.ok_or_else(|| StoreError::not_found(format!("file {}", clean_filename(name))))?;
        Ok((from_row(&row)?, row.id(4)?))
    }

    async fn keep_artifact(
        &self,
        conversation: &ConversationId,
        name: &str,
        staged: Staged,
    ) -> Result<Artifact> {
        let name = clean_filename(name);
        let artifact = Artifact { file_type: extension(&name), name, size: staged.size, created_at: now() };
        let (row, owned, work) = (artifact.clone(), conversation.clone(), staged.clone());
        let limit = self.limits().user_bytes;
        let kept =
            self.write_files(conversation, move |s| Box::pin(replace(s, owned, row, work, limit))).await;
        self.settle(staged, kept.as_ref().ok().map(|(blob, _)| blob)).await;
        let (_, released) = kept?;
        self.discard(released).await;
        Ok(artifact)
    }
}

async fn replace(
    s: &mut dyn Session,
    conversation: ConversationId,
    artifact: Artifact,
    staged: Staged,
    user_limit: u64,
) -> Result<(BlobId, Option<BlobId>)> {
    touch(s, &conversation).await?;
    let blob = blob::link(s, &staged).await?;
    let before = s
        .one(
            "DELETE FROM artifacts WHERE conversation_id = $1 AND name = $2 RETURNING blob_id",
            params![&conversation, artifact.name.as_str()],
        )
        .await?;
    quota::check_in(s, &conversation, staged.size, user_limit).await?;
    s.execute(
        "INSERT INTO artifacts (conversation_id, name, file_type, size, blob_id, created_at)
         VALUES ($1, $2, $3, $4, $5, $6)",
        params![
            &conversation,
            artifact.name,
            artifact.file_type,
            artifact.size,
            blob.as_str(),
            artifact.created_at
        ],
    )
    .await?;
    let released = match before {
        Some(row) => blob::unlink(s, &row.id(0)?).await?,
        None => None,
    };
    Ok((blob, released))
}

async fn remove(s: &mut dyn Session, conversation: ConversationId, name: String) -> Result<Option<BlobId>> {
    let gone = s
        .one(
            "DELETE FROM artifacts WHERE conversation_id = $1 AND name = $2 RETURNING blob_id",
            params![&conversation, name.as_str()],
        )
        .await?;
    let row = gone.ok_or_else(|| StoreError::not_found(format!("file {}", clean_filename(&name))))?;
    blob::unlink(s, &row.id(0)?).await
}

fn from_row(row: &Row) -> Result<Artifact> {
    Ok(Artifact {
        name: row.string(0)?,
        file_type: row.string(1)?,
        size: row.unsigned(2)?,
        created_at: row.time(3)?,
    })
}
