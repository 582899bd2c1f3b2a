//! Saved code with versions (SPEC C1–C5). An id from outside is slugged, never used as a path.

use std::path::Path;

use ba_protocol::text::{one_line, shorten};
use ba_protocol::{CodeFile, CodeId, ConversationId};

use crate::blob::{self, BlobId, Staged};
use crate::conversations::{missing, now};
use crate::db::{Row, Session, params};
use crate::error::{Result, StoreError};
use crate::languages;
use crate::private;
use crate::store::Store;
use crate::types::{NewCode, SavedCodeFile};

/// Characters of a description made from the first line (SPEC R9).
const MADE_DESCRIPTION: usize = 50;
const MAX_DESCRIPTION: usize = 500;

impl Store {
    /// An existing id gets a new version, unless nothing changed; an unsupported language becomes python, with a
    /// warning (SPEC C3).
    pub async fn save_code(&self, conversation: &ConversationId, new: NewCode) -> Result<SavedCodeFile> {
        let language = languages::find(&new.language);
        let warning = language.is_none().then(|| {
            let given = shorten(&one_line(&new.language), 40);
            format!("unsupported language `{given}`: the code was saved as python")
        });
        if let Some(text) = &warning {
            tracing::warn!(conversation = %conversation, "{text}");
        }
        let language = language.unwrap_or(languages::FALLBACK);
        let code_id = CodeId::slug(&new.code_id);
        let file = CodeFile {
            file_path: format!("data/{code_id}.{}", language.extension),
            code_id,
            conversation_id: conversation.clone(),
            version: 0,
            language: language.name.to_owned(),
            description: describe(&new.description, &new.code),
            line_count: new.code.lines().count() as u64,
            char_count: new.code.chars().count() as u64,
            size: new.code.len() as u64,
            created_at: now(),
        };
        let staged = self.stage_bytes("the code", new.code.as_bytes(), self.limits().code_bytes).await?;
        let work = staged.clone();
        let saved = self.write_files(conversation, move |s| Box::pin(insert_version(s, file, work))).await;
        self.settle(staged, saved.as_ref().ok().and_then(|(_, blob)| blob.as_ref())).await;
        let (file, _) = saved?;
        self.write_visible_copy(&file, new.code).await;
        Ok(SavedCodeFile { file, warning })
    }

    /// The latest version unless one is named.
    pub async fn code(
        &self,
        conversation: &ConversationId,
        id: &CodeId,
        version: Option<u32>,
    ) -> Result<(CodeFile, String)> {
        let row = self
            .db()
            .read_one(
                "SELECT code_id, conversation_id, version, language, description, file_path, line_count, char_count,
                        size, created_at, blob_id
                 FROM codes WHERE conversation_id = $1 AND code_id = $2 AND (version = $3 OR $3 = 0)
                 ORDER BY version DESC LIMIT 1",
                params![conversation, id, version.unwrap_or(0)],
            )
            .await?;
        let row = row.ok_or_else(|| StoreError::not_found(format!("code {id}")))?;
        let file = from_row(&row)?;
        let path = self.blobs().local(&row.id(10)?, file.size).await?;
        let bytes = tokio::fs::read(path).await.map_err(|e| StoreError::io("reading code", e))?;
        let code =
            String::from_utf8(bytes).map_err(|_| StoreError::Corrupt(format!("code {id} is not text")))?;
        Ok((file, code))
    }

    /// The latest version of each, oldest first.
    pub async fn codes(&self, conversation: &ConversationId) -> Result<Vec<CodeFile>> {
        let rows = self
            .db()
            .read(
                "SELECT code_id, conversation_id, version, language, description, file_path, line_count, char_count,
                        size, created_at
                 FROM codes c WHERE conversation_id = $1
                   AND version = (SELECT MAX(v.version) FROM codes v
                                  WHERE v.conversation_id = c.conversation_id AND v.code_id = c.code_id)
                 ORDER BY created_at, code_id",
                params![conversation],
            )
            .await?;
        rows.iter().map(from_row).collect()
    }

    /// Every version of one, oldest first.
    pub async fn versions(&self, conversation: &ConversationId, id: &CodeId) -> Result<Vec<CodeFile>> {
        let rows = self
            .db()
            .read(
                "SELECT code_id, conversation_id, version, language, description, file_path, line_count, char_count,
                        size, created_at
                 FROM codes WHERE conversation_id = $1 AND code_id = $2 ORDER BY version",
                params![conversation, id],
            )
            .await?;
        if rows.is_empty() {
            return Err(StoreError::not_found(format!("code {id}")));
        }
        rows.iter().map(from_row).collect()
    }

    /// `data/{code_id}.{ext}` in the conversation's folder (SPEC C1) holds the latest version for people to find.
    /// The database and the blobs are the truth; a lost copy costs nothing.
    async fn write_visible_copy(&self, file: &CodeFile, code: String) {
        let path = self.conversation_dir(&file.conversation_id).join(&file.file_path);
        let written = tokio::task::spawn_blocking(move || {
            write_atomically(&path, &code)?;
            remove_other_languages(&path)
        });
        let written = written.await;
        if let Ok(Err(error)) = written {
            tracing::warn!(%error, code = %file.code_id, "the visible copy of the code was not written");
        }
    }
}

fn write_atomically(path: &Path, code: &str) -> std::io::Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    private::create_dir_all(folder)?;
    let mut temp = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut temp, code.as_bytes())?;
    temp.persist(path).map(|_| ()).map_err(|e| e.error)
}

/// A code that changed its language has one file still (SPEC C1).
fn remove_other_languages(path: &Path) -> std::io::Result<()> {
    let others = languages::all().map(|language| path.with_extension(language.extension));
    for other in others.filter(|other| other != path) {
        match std::fs::remove_file(&other) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// `None` for the blob when the latest version already holds exactly this.
async fn insert_version(
    s: &mut dyn Session,
    mut file: CodeFile,
    staged: Staged,
) -> Result<(CodeFile, Option<BlobId>)> {
    touch(s, &file.conversation_id).await?;
    let latest = s
        .one(
            "SELECT c.code_id, c.conversation_id, c.version, c.language, c.description, c.file_path, c.line_count,
                    c.char_count, c.size, c.created_at, b.sha256
             FROM codes c JOIN blobs b ON b.id = c.blob_id
             WHERE c.conversation_id = $1 AND c.code_id = $2 ORDER BY c.version DESC LIMIT 1",
            params![&file.conversation_id, &file.code_id],
        )
        .await?;
    if let Some(row) = latest {
        let before = from_row(&row)?;
        let same = row.text(10)? == staged.sha256
            && before.language == file.language
            && before.description == file.description;
        if same {
            return Ok((before, None));
        }
        file.version = before.version;
    }
    file.version += 1;
    let blob = blob::link(s, &staged).await?;
    s.execute(
        "INSERT INTO codes (conversation_id, code_id, version, language, description, file_path, line_count,
                            char_count, size, blob_id, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        params![
            &file.conversation_id,
            &file.code_id,
            file.version,
            file.language.as_str(),
            file.description.as_str(),
            file.file_path.as_str(),
            file.line_count,
            file.char_count,
            file.size,
            blob.as_str(),
            file.created_at
        ],
    )
    .await?;
    Ok((file, Some(blob)))
}

/// Marks the conversation as changed, and so serialises writers of its files; `NotFound` when it is gone.
pub(crate) async fn touch(s: &mut dyn Session, id: &ConversationId) -> Result<()> {
    let n = s
        .execute(
            "UPDATE conversations SET updated_at = $2 WHERE id = $1 AND deleted_at IS NULL",
            params![id, now()],
        )
        .await?;
    if n == 0 { Err(missing(id)) } else { Ok(()) }
}

pub(crate) fn describe(given: &str, code: &str) -> String {
    let given = one_line(given);
    if !given.trim().is_empty() {
        return shorten(given.trim(), MAX_DESCRIPTION);
    }
    let first = code.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or("");
    shorten(&one_line(first), MADE_DESCRIPTION)
}

fn from_row(row: &Row) -> Result<CodeFile> {
    Ok(CodeFile {
        code_id: row.id(0)?,
        conversation_id: row.id(1)?,
        version: row.u32(2)?,
        language: row.string(3)?,
        description: row.string(4)?,
        file_path: row.string(5)?,
        line_count: row.unsigned(6)?,
        char_count: row.unsigned(7)?,
        size: row.unsigned(8)?,
        created_at: row.time(9)?,
    })
}
