//! Tables: ingest and queries of uploads (in the sandbox), database connections, the read-only guard, and how results
//! are written. Never parses an uploaded file in this process, and never sends a statement that the guard has not seen.

mod connections;
pub mod dossier;
mod error;
pub mod guard;
mod kinds;
pub mod outline;
mod params;
mod result;
mod tables;
mod uploads_engine;

pub use connections::{
    ColumnInfo, ConnectionConfig, ConnectionInfo, Connections, SchemaView, SecretUrl, TableInfo, dialect_of,
};
pub use error::DataError;
pub use result::QueryResult;
pub use tables::{
    EmbeddedQuery, ExportFormat, FoundJoin, IngestRequest, JoinTable, KeepRequest, KeptTable, OnProgress,
    ReadRequest, ReadResult, TableSource, Tables,
};
pub use uploads_engine::{Stored, UploadsEngine, Whereabouts};
