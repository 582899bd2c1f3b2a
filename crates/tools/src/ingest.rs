//! Ingest of an upload: the sandbox reads the file, the store keeps what was found. Never parses a file itself.

use ba_agent::ToolError;
use std::time::Duration;

use ba_data::{DataError, IngestRequest, JoinTable, Tables};
use ba_protocol::file::{FileProfile, IngestStatus, TableProfile, TestedJoin, Unread};
use ba_protocol::{Said, ToolFailure, Upload};
use ba_store::{Store, StoreError};

/// How often an outcome that cannot be stored is tried again, and the first pause; each one is twice the one before.
const TRIES: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Tables whose columns are tried against those of a new one; the latest uploads.
const MOST_TABLES: usize = 24;

/// Reads an upload in the sandbox as a person chose, keeps its tables as Parquet beside it, and marks it ready or failed.
/// It does not stay `processing` because of a storage that fails for a while.
pub async fn ingest_upload(
    store: &Store,
    tables: &Tables,
    upload: &Upload,
    on_progress: &(dyn Fn(Option<f64>, &str) + Send + Sync),
) -> Result<Upload, StoreError> {
    let (conversation, id) = (&upload.conversation_id, &upload.file_id);
    let (status, profile, error) = match read(store, tables, upload, on_progress).await {
        Ok(Ok(profile)) => (IngestStatus::Ready, Some(profile), None),
        Ok(Err(error)) => {
            tracing::info!(file = %id, %error, "an upload could not be read");
            (IngestStatus::Failed, None, Some(in_words(error)))
        }
        Err(error) => {
            tracing::error!(file = %id, %error, "what was found in an upload could not be stored");
            (IngestStatus::Failed, None, Some(unstored()))
        }
    };
    let stored =
        until_stored(|| store.set_profile(conversation, id, status, profile.as_ref(), error.as_ref()))
            .await?;
    // The file can be used from here on; what it has to do with the others follows.
    match relate(store, tables, &stored).await {
        Ok(Some(related)) => Ok(related),
        Ok(None) => Ok(stored),
        Err(error) => {
            tracing::warn!(file = %id, error = %error, "the joins of an upload were not tried");
            Ok(stored)
        }
    }
}

/// Tries the columns of an upload against those of the conversation's other tables (SPEC W1). `None` when nothing was found.
async fn relate(store: &Store, tables: &Tables, upload: &Upload) -> Result<Option<Upload>, ToolError> {
    let Some(profile) = upload.profile.as_ref().filter(|p| !p.tables.is_empty()) else { return Ok(None) };
    let all = store.uploads(&upload.conversation_id).await?;
    forget_joins(store, &all, upload).await?;
    let others = all.iter().rev().filter(|u| u.file_id != upload.file_id);
    let mut places = Vec::new();
    let mut given = Vec::new();
    for other in std::iter::once(upload).chain(others) {
        for (at, table) in other.profile.iter().flat_map(|p| &p.tables).enumerate() {
            let mine = other.file_id == upload.file_id;
            if table.parquet.is_empty() || table.rows == 0 || (!mine && given.len() >= MOST_TABLES) {
                continue;
            }
            let found = store.derived_path(&other.conversation_id, &other.file_id, &table.parquet).await;
            let Ok(parquet) = found else { continue };
            places.push((other, at));
            given.push(JoinTable { profile: TableProfile { preview: Vec::new(), ..table.clone() }, parquet });
        }
    }
    let new = places.iter().filter(|(u, _)| u.file_id == upload.file_id).count();
    if new == 0 || given.len() < 2 {
        return Ok(None);
    }
    let owner = owner(store, upload).await?;
    let found = tables.joins(&owner, &given, new).await.map_err(ToolFailure::from)?;
    if found.is_empty() {
        return Ok(None);
    }
    let mut profile = profile.clone();
    for join in found {
        let ((_, at), (other, _)) = (places[join.left], places[join.right]);
        profile.tables[at].joins.push(TestedJoin {
            column: join.column,
            other_file: other.file_id.clone(),
            other_table: given[join.right].profile.name.clone(),
            other_column: join.other_column,
            covered: join.covered,
            other_covered: join.other_covered,
            fan_out: join.fan_out,
            other_fan_out: join.other_fan_out,
        });
    }
    // Read again meanwhile: that reading will try its own.
    let now = store.upload(&upload.conversation_id, upload.file_id.as_str()).await?;
    if now.profile != upload.profile || now.status != IngestStatus::Ready {
        return Ok(None);
    }
    let stored =
        store.set_profile(&now.conversation_id, &now.file_id, IngestStatus::Ready, Some(&profile), None);
    Ok(Some(stored.await?))
}

/// What was found with an earlier reading of a file no longer holds.
async fn forget_joins(store: &Store, all: &[Upload], read: &Upload) -> Result<(), ToolError> {
    for other in all.iter().filter(|u| u.file_id != read.file_id && u.status == IngestStatus::Ready) {
        let Some(mut profile) = other.profile.clone() else { continue };
        let mut stale = false;
        for table in &mut profile.tables {
            let before = table.joins.len();
            table.joins.retain(|join| join.other_file != read.file_id);
            stale |= table.joins.len() < before;
        }
        if stale {
            let (conversation, id) = (&other.conversation_id, &other.file_id);
            let kept = store.set_profile(conversation, id, IngestStatus::Ready, Some(&profile), None).await;
            kept?;
        }
    }
    Ok(())
}

/// The cause is in the log; people can only try again.
fn unstored() -> Unread {
    let message = "the server could not store what it found in the file; read it again, or upload it again";
    Unread { message: message.to_owned(), said: Said::new("not_stored").step("read_again") }
}

/// The outer error is the storage's, the inner one the file's.
async fn read(
    store: &Store,
    tables: &Tables,
    upload: &Upload,
    on_progress: &(dyn Fn(Option<f64>, &str) + Send + Sync),
) -> Result<Result<FileProfile, DataError>, StoreError> {
    let folder = match tables.folder() {
        Ok(folder) => folder,
        Err(error) => return Ok(Err(error)),
    };
    let out_dir = folder.path().join("out");
    let request = IngestRequest {
        path: store.upload_path(upload).await?,
        filename: upload.filename.clone(),
        owner: owner(store, upload).await?,
        out_dir: out_dir.clone(),
        options: upload.ingest_options.clone(),
    };
    let profile = match tables.ingest(request, on_progress).await {
        Ok(profile) => profile,
        Err(error) => return Ok(Err(error)),
    };
    for file in profile.tables.iter().flat_map(|t| t.files()) {
        let made = out_dir.join(file);
        store.put_derived(&upload.conversation_id, &upload.file_id, file, &made).await?;
    }
    Ok(Ok(profile))
}

/// Reading files takes turns between people, as their other work does.
async fn owner(store: &Store, upload: &Upload) -> Result<String, StoreError> {
    Ok(store.owner_of(&upload.conversation_id).await?.to_string())
}

/// The reason, and what to do about it where that is known.
fn in_words(error: DataError) -> Unread {
    let said = error.said();
    let ToolFailure { message, hint, .. } = error.into();
    let message = match hint {
        Some(hint) if !message.contains(&hint) => format!("{message}; {hint}"),
        _ => message,
    };
    Unread { message, said }
}

/// Tries again while the storage is at fault. An upload that was deleted meanwhile wants no outcome.
async fn until_stored<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let mut pause = FIRST_PAUSE;
    for _ in 1..TRIES {
        match attempt().await {
            Err(error) if !error.is_not_found() => {
                tracing::warn!(%error, "the outcome of an ingest was not stored; it is tried again");
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
            settled => return settled,
        }
    }
    attempt().await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    async fn tried(failures: u32, error: fn() -> StoreError) -> (Result<u32, StoreError>, u32) {
        let calls = Cell::new(0);
        let outcome = until_stored(|| {
            calls.set(calls.get() + 1);
            let n = calls.get();
            async move { if n > failures { Ok(n) } else { Err(error()) } }
        })
        .await;
        (outcome, calls.get())
    }

    #[tokio::test]
    async fn a_storage_that_fails_for_a_while_is_tried_again() {
        let (outcome, calls) = tried(3, || StoreError::Full("no space".into())).await;
        assert_eq!((outcome.unwrap(), calls), (4, 4));
        let (outcome, calls) = tried(3, || StoreError::not_found("file upload_001")).await;
        assert!(outcome.unwrap_err().is_not_found());
        assert_eq!(calls, 1, "a deleted upload is not asked for again");
    }

    #[test]
    fn the_reason_ends_with_what_to_do() {
        let error = |hint: Option<&str>| DataError::File {
            code: "X".into(),
            message: "the workbook is protected by a password".into(),
            hint: hint.map(str::to_owned),
            said: Some(Box::new(Said::new("password_protected"))),
        };
        assert_eq!(in_words(error(None)).message, "the workbook is protected by a password");
        let told = in_words(error(Some("save it without one and upload that")));
        assert_eq!(
            told.message,
            "the workbook is protected by a password; save it without one and upload that"
        );
        assert_eq!(told.said, Said::new("password_protected"));
    }
}
