//! The tables of one conversation, under every name SQL may call them. Never opens a file.

use ba_agent::ToolError;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use ba_data::TableSource;
use ba_protocol::file::{IngestStatus, TableProfile};
use ba_protocol::{ConversationId, DataNote, Upload};
use ba_store::Store;

/// What a table is that a query or code left in the conversation's folder.
pub(crate) const KEPT: &str = "kept result";
/// How long a call waits for an upload that is being read.
const READING_PATIENCE: Duration = Duration::from_secs(60);

/// A table, what is known about it, and where it lies.
pub(crate) struct KnownTable {
    /// The first name is the one to show.
    pub source: TableSource,
    /// Of an upload's own table.
    pub profile: Option<TableProfile>,
    /// What it is, where there is no profile.
    pub about: &'static str,
    /// What must be told with its figures (SPEC B1).
    pub notes: Vec<DataNote>,
    /// File it came from.
    pub filename: String,
}

/// Uploads first, then their tables with totals, then tables kept from queries; an earlier table keeps a name that two
/// would like.
pub(crate) async fn known_tables(
    store: &Store,
    conversation: &ConversationId,
) -> Result<Vec<KnownTable>, ToolError> {
    let mut known = Vec::new();
    let mut with_totals = Vec::new();
    let uploads = settled(store, conversation).await?;
    let (named, mut taken) = named(&uploads);
    for (upload, tables) in uploads.iter().zip(named) {
        for (table, names) in tables {
            // Read again since it was listed: its tables are being made.
            let Some(parquet) = derived(store, upload, &table.parquet).await? else { continue };
            let notes = DataNote::of(&upload.file_id, table);
            if let Some(all) = derived(store, upload, &table.with_totals).await? {
                with_totals.push(whole(&upload.filename, &names, all, &notes));
            }
            known.push(KnownTable {
                source: TableSource { names, parquet },
                profile: Some(table.clone()),
                about: "",
                notes,
                filename: upload.filename.clone(),
            });
        }
    }
    for mut table in with_totals {
        table.source.names = free(table.source.names, &mut taken);
        if !table.source.names.is_empty() {
            known.push(table);
        }
    }
    for artifact in store.artifacts(conversation).await? {
        if let Some(stem) = artifact.name.strip_suffix(".parquet") {
            let names = free(vec![stem.to_owned(), artifact.name.clone()], &mut taken);
            let parquet = store.artifact_path(conversation, &artifact.name).await?;
            if !names.is_empty() {
                let source = TableSource { names, parquet };
                known.push(KnownTable {
                    source,
                    profile: None,
                    about: KEPT,
                    notes: Vec::new(),
                    filename: artifact.name,
                });
            }
        }
    }
    Ok(known)
}

/// The uploads, when none is being read any more; after a while as they are.
async fn settled(store: &Store, conversation: &ConversationId) -> Result<Vec<Upload>, ToolError> {
    let begun = tokio::time::Instant::now();
    let mut pause = Duration::from_millis(25);
    loop {
        let uploads = store.uploads(conversation).await?;
        let reading = uploads.iter().any(|u| u.status == IngestStatus::Processing);
        if !reading || begun.elapsed() > READING_PATIENCE {
            return Ok(uploads);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(1));
    }
}

/// A table, and the names it goes by.
pub(crate) type Named<'a> = (&'a TableProfile, Vec<String>);

/// Every table of the uploads under the names that are its own, and all names that are taken.
pub(crate) fn named(uploads: &[Upload]) -> (Vec<Vec<Named<'_>>>, HashSet<String>) {
    let mut taken = HashSet::new();
    let mut all = Vec::new();
    for upload in uploads {
        let mut own = Vec::new();
        for (i, table) in upload.profile.iter().flat_map(|p| &p.tables).enumerate() {
            if !table.parquet.is_empty() {
                own.push((table, free(names_of(upload, table, i), &mut taken)));
            }
        }
        all.push(own);
    }
    (all, taken)
}

async fn derived(store: &Store, upload: &Upload, name: &str) -> Result<Option<PathBuf>, ToolError> {
    if name.is_empty() {
        return Ok(None);
    }
    match store.derived_path(&upload.conversation_id, &upload.file_id, name).await {
        Ok(path) => Ok(Some(path)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The table with its total rows, as `sales_with_totals`.
fn whole(filename: &str, names: &[String], parquet: PathBuf, notes: &[DataNote]) -> KnownTable {
    let plain = names.iter().filter(|name| *name != filename);
    let names = plain.map(|name| format!("{name}_with_totals")).collect();
    KnownTable {
        source: TableSource { names, parquet },
        profile: None,
        about: "with total rows, flagged in _is_total",
        notes: notes.iter().filter(|n| n.note.code != "totals_left_out").cloned().collect(),
        filename: filename.to_owned(),
    }
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
