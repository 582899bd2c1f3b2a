//! Keeps conversations, runs, events, code, uploads, artifacts and stored tool data.
//!
//! One facade, [`Store`], over a database (SQLite or PostgreSQL) and a place for bytes (disk or S3).
//! Refuses to know the agent: a run's state is an opaque JSON document here.

mod accounts;
mod archive;
mod artifacts;
mod audit_log;
mod blob;
mod cache;
mod cleanup;
mod code;
mod config;
mod consents;
mod conversations;
mod db;
mod error;
mod feedback;
pub mod file_list;
pub mod filename;
mod files;
mod hostile;
mod jobs;
pub mod languages;
mod locks;
mod marks;
mod private;
mod python_states;
mod quota;
mod runs;
mod shares;
mod soundness;
mod store;
mod telemetry;
mod tool_data;
mod turns;
mod types;
mod uploads;
mod wakes;

pub use accounts::fold_name;
pub use archive::ImportReport;
pub use config::{Blobs, CleanupMode, CleanupPolicy, Limits, Meta, S3Config, StoreConfig};
pub use error::{Result, StoreError};
pub use files::ConversationFiles;
pub use jobs::{Job, JobKind, NewJob};
pub use locks::{ConversationGuard, ConversationLocks};
pub use private::{Repair, create_dir_all, create_file, open_to_others};
pub use python_states::{PythonCall, PythonState};
pub use quota::Kept;
pub use runs::{Holder, LEASE, LeaseWatch};
pub use shares::{NewShare, Share, SharedPage};
#[doc(hidden)]
pub use store::prepare_old_database;
pub use store::{ServerLock, Store};
pub use types::*;
pub use uploads::{UploadWriter, ingest_key};
pub use wakes::Wake;
