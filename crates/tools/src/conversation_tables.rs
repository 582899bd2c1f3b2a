//! The tables of one conversation, under every name SQL may call them, and the ingest that makes them.
//! Never parses a file itself: that happens in the sandbox.

use std::collections::HashSet;
use std::path::PathBuf;

use ba_data::{IngestRequest, TableSource, Tables};
use ba_protocol::file::{IngestOptions, IngestStatus, TableProfile};
use ba_protocol::{ConversationId, ToolErrorType, ToolFailure, Upload};
use ba_store::{Store, StoreError};

/// A table, what is known about it, and where it lies.
pub(crate) struct KnownTable {
    /// The first name is the one to show.
    pub source: TableSource,
    pub profile: Option<TableProfile>,
    /// File it came from.
    pub filename: String,
}

/// Uploads first, then tables kept from queries; an earlier table keeps a name that two would like.
pub(crate) async fn known_tables(
    store: &Store,
    conversation: &ConversationId,
) -> Result<Vec<KnownTable>, ToolFailure> {
    let mut taken = HashSet::new();
    let mut known = Vec::new();
    for upload in store.uploads(conversation).await.map_err(storage)? {
        for (i, table) in upload.profile.iter().flat_map(|p| &p.tables).enumerate() {
            if table.parquet.is_empty() {
                continue;
            }
            let parquet =
                store.derived_path(conversation, &upload.file_id, &table.parquet).await.map_err(storage)?;
            let names = free(names_of(&upload, table, i), &mut taken);
            let source = TableSource { names, parquet };
            known.push(KnownTable {
                source,
                profile: Some(table.clone()),
                filename: upload.filename.clone(),
            });
        }
    }
    for artifact in store.artifacts(conversation).await.map_err(storage)? {
        if let Some(stem) = artifact.name.strip_suffix(".parquet") {
            let names = free(vec![stem.to_owned(), artifact.name.clone()], &mut taken);
            let parquet = store.artifact_path(conversation, &artifact.name).await.map_err(storage)?;
            if !names.is_empty() {
                let source = TableSource { names, parquet };
                known.push(KnownTable { source, profile: None, filename: artifact.name });
            }
        }
    }
    Ok(known)
}

/// `sales`, `upload_001`, `sales.csv`; for the second sheet on, `book_销售` and `upload_001_销售`.
fn names_of(upload: &Upload, table: &TableProfile, index: usize) -> Vec<String> {
    let mut names = vec![table.name.clone()];
    if index == 0 {
        names.push(upload.file_id.to_string());
        names.push(upload.filename.clone());
    }
    if let Some(sheet) = &table.sheet {
        let sheet: String = sheet.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        names.push(format!("{}_{sheet}", upload.file_id));
    }
    names
}

fn free(names: Vec<String>, taken: &mut HashSet<String>) -> Vec<String> {
    names.into_iter().filter(|n| taken.insert(n.to_lowercase())).collect()
}

pub(crate) fn storage(error: StoreError) -> ToolFailure {
    if error.is_not_found() {
        ToolFailure::not_found("FILE_NOT_FOUND", error.to_string())
    } else {
        ToolFailure::new(ToolErrorType::ResourceError, "STORAGE", error.to_string())
    }
}

/// Reads an upload in the sandbox, keeps its tables as Parquet beside it, and marks it ready or failed.
pub async fn ingest_upload(
    store: &Store,
    tables: &Tables,
    upload: &Upload,
    on_progress: &(dyn Fn(Option<f64>, &str) + Send + Sync),
) -> Result<Upload, StoreError> {
    let (conversation, id) = (&upload.conversation_id, &upload.file_id);
    let out = tempfile::tempdir().map_err(|e| StoreError::io("a folder for ingest", e))?;
    let out_dir: PathBuf = out.path().join("out");
    let request = IngestRequest {
        path: store.upload_path(upload).await?,
        filename: upload.filename.clone(),
        owner: conversation.to_string(),
        out_dir: out_dir.clone(),
        options: IngestOptions::default(),
    };
    match tables.ingest(request, on_progress).await {
        Ok(profile) => {
            for file in profile.tables.iter().flat_map(|t| t.files()) {
                store.put_derived(conversation, id, file, &out_dir.join(file)).await?;
            }
            store.set_profile(conversation, id, IngestStatus::Ready, Some(&profile), None).await
        }
        Err(error) => {
            tracing::info!(file = %id, %error, "an upload could not be read");
            let message = error.to_string();
            store.set_profile(conversation, id, IngestStatus::Failed, None, Some(&message)).await
        }
    }
}
