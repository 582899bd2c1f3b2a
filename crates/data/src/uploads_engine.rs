//! SQL over uploads on an engine that reads their files where they lie (SPEC N5): large tables only, and only statements that
//! the engine reads as DuckDB does. Everything else, and whatever the engine cannot answer, is left to DuckDB.

use std::path::Path;
use std::sync::Arc;

use crate::guard::{self, FileTable};
use crate::{Connections, DataError, EmbeddedQuery, QueryResult};

/// A file of the conversation, as the engine finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// `s3://bucket/key`
    pub url: String,
    pub bytes: u64,
}

/// Where the engine finds a file that lies here; `None` for one that it cannot reach.
pub type Whereabouts = Arc<dyn Fn(&Path) -> Option<Stored> + Send + Sync>;

#[derive(Clone)]
pub struct UploadsEngine {
    pub connections: Connections,
    /// The engine's name among them.
    pub name: String,
    /// Tables of a statement that are smaller than this together stay in DuckDB.
    pub from_bytes: u64,
    pub whereabouts: Whereabouts,
}

impl UploadsEngine {
    /// The engine's answer; `None` where DuckDB has to give it.
    pub(crate) async fn answer(&self, request: &EmbeddedQuery) -> Option<Result<QueryResult, DataError>> {
        if request.keep.is_some() {
            return None;
        }
        let stored = |table: &crate::TableSource| {
            let Stored { url, bytes } = (self.whereabouts)(&table.parquet)?;
            Some((FileTable { names: table.names.clone(), url }, bytes))
        };
        let (files, sizes): (Vec<FileTable>, Vec<u64>) = request.tables.iter().filter_map(stored).unzip();
        if sizes.iter().sum::<u64>() < self.from_bytes {
            return None;
        }
        let checked = guard::check_alike(&request.sql, &files)?;
        let named = files.iter().zip(sizes).filter(|(file, _)| checked.sql().contains(&file.url));
        if named.map(|(_, bytes)| bytes).sum::<u64>() < self.from_bytes {
            return None;
        }
        let work = self.connections.query_checked(&self.name, &checked, &request.params, request.max_rows);
        match tokio::time::timeout(request.timeout, work).await {
            Ok(Ok(result)) => Some(Ok(as_from_duckdb(result))),
            // DuckDB would not be quicker, and the time is over.
            Ok(Err(error @ DataError::Timeout { .. })) => Some(Err(error)),
            Err(_) => {
                let seconds = request.timeout.as_secs();
                Some(Err(DataError::Timeout { what: "the query".into(), seconds }))
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "the engine did not answer; DuckDB does");
                None
            }
        }
    }
}

/// The same names of types, whoever answered.
fn as_from_duckdb(mut result: QueryResult) -> QueryResult {
    for column in &mut result.columns {
        let kind = match column.kind.as_str() {
            "STRING" => "VARCHAR",
            "INT" => "INTEGER",
            "TIMESTAMP" => "TIMESTAMP WITH TIME ZONE",
            "TIMESTAMP_NTZ" => "TIMESTAMP",
            "BINARY" => "BLOB",
            "VOID" => "NULL",
            _ => continue,
        };
        column.kind = kind.to_owned();
    }
    result
}
