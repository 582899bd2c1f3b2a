//! The tables of one conversation, under every name SQL may call them. Never opens a file.

use std::collections::HashSet;

use ba_data::TableSource;
use ba_protocol::file::TableProfile;
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
