//! The tools a model may call, one file each. Each turns typed arguments into a `ToolOutput`; the pipeline formats it.

mod activate_skill;
mod conversation_tables;
mod dossier;
mod file_reader;
mod ingest;
mod mentions;
mod python_state;
mod query_database;
mod report;
mod resources;
mod run_python;
mod web_address;
mod web_reader;
mod web_search;

pub use activate_skill::ActivateSkill;
pub use dossier::Dossier;
pub use file_reader::FileReader;
pub use ingest::ingest_upload;
pub use query_database::QueryDatabase;
pub use report::{MadeReport, ReportError, ReportFormat, ReportRequest, Reports};
pub use run_python::{Python, RunPython};
pub use web_address::Addresses;
pub use web_reader::WebReader;
pub use web_search::WebSearch;
