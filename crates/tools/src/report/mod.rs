//! Reports to take away (SPEC D1): gathers a stored answer or conversation, has the sandbox write the document, and takes
//! one finished file out. This side never reads what a report says.

mod gather;

use std::path::{Path, PathBuf};
use std::time::Duration;

use ba_protocol::{ConversationId, ReportFor, RunId, UserId};
use ba_sandbox::{Input, Job, JobErrorKind, JobEvent, JobOutcome, Limits, SandboxError, Work};
use ba_store::{Store, StoreError};
use serde::Deserialize;
use serde_json::json;

use crate::Python;

const WALL: Duration = Duration::from_secs(180);
const FOLDER_BYTES: u64 = 1 << 30;
const MEMORY: u64 = 1500 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    Pdf,
    Docx,
    Pptx,
    Xlsx,
    Ipynb,
    Html,
    Md,
}

impl ReportFormat {
    pub const ALL: [(&'static str, Self); 7] = [
        ("pdf", Self::Pdf),
        ("docx", Self::Docx),
        ("pptx", Self::Pptx),
        ("xlsx", Self::Xlsx),
        ("ipynb", Self::Ipynb),
        ("html", Self::Html),
        ("md", Self::Md),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| *name)
    }
}

impl std::str::FromStr for ReportFormat {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(name, _)| *name == given);
        found.map(|(_, format)| *format).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|(name, _)| *name).collect();
            format!("no format `{given}`; there are: {}", known.join(", "))
        })
    }
}

pub struct ReportRequest {
    pub owner: UserId,
    pub conversation: ConversationId,
    /// One answer; without it the whole conversation.
    pub run: Option<RunId>,
    pub format: ReportFormat,
    /// `zh` or `en`; without it, the language of the questions.
    pub language: Option<String>,
    pub audience: ReportFor,
}

/// A finished document; its folder goes when this is dropped.
pub struct MadeReport {
    pub path: PathBuf,
    /// What a person's copy is called.
    pub name: String,
    pub bytes: u64,
    _folder: tempfile::TempDir,
}

#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("{0}")]
    NotFound(String),
    /// Nothing to make a document of.
    #[error("{0}")]
    Empty(String),
    #[error("{0}")]
    Unavailable(String),
    #[error("the report is too large for one document: {0}; export a single answer, or the workbook")]
    TooLarge(String),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the document could not be made: {0}")]
    Internal(String),
}

impl ReportError {
    fn internal(error: impl std::fmt::Display) -> Self {
        Self::Internal(error.to_string())
    }
}

/// Makes documents; clones share the sandbox.
#[derive(Clone)]
pub struct Reports {
    pub store: Store,
    pub python: Python,
    /// A folder of this process.
    pub scratch: PathBuf,
    /// The chart library that the page ships, as a file.
    pub echarts: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Written {
    file: String,
    name: String,
}

impl Reports {
    /// Progress is 0 to 1, with a word for people.
    pub async fn make(
        &self,
        request: ReportRequest,
        on_progress: &(dyn for<'m> Fn(f64, &'m str) + Send + Sync),
    ) -> Result<MadeReport, ReportError> {
        let sandbox = self.python.get().map_err(|failure| ReportError::Unavailable(failure.message))?;
        let folder = self.folder()?;
        let gathered = gather::gather(&self.store, &request, self.echarts.as_deref()).await?;
        let input = folder.path().join("report.json");
        let text = serde_json::to_vec(&gathered.document).map_err(ReportError::internal)?;
        tokio::fs::write(&input, text).await.map_err(ReportError::internal)?;
        let mut inputs = gathered.inputs;
        inputs.push(Input { names: vec!["report.json".to_owned()], path: input });
        let work = folder.path().join("work");
        let args = json!({"input": "report.json", "format": request.format.name(), "out": "report"});
        let job = Job {
            owner: request.conversation.to_string(),
            session: None,
            work: Work::Builtin { function: "report.make".to_owned(), args },
            inputs,
            folder: work.clone(),
            limits: Limits {
                wall: WALL,
                memory: MEMORY,
                folder_bytes: FOLDER_BYTES,
                import_allow_list: false,
                ..Limits::default()
            },
        };
        let outcome = sandbox
            .run(job, &|event| {
                if let JobEvent::Progress { fraction, message } = event {
                    on_progress(fraction.unwrap_or(0.0).clamp(0.0, 1.0), &message);
                }
            })
            .await
            .map_err(refused)?;
        let written = written(outcome)?;
        take(&work, written, folder)
    }

    fn folder(&self) -> Result<tempfile::TempDir, ReportError> {
        std::fs::create_dir_all(&self.scratch).map_err(ReportError::internal)?;
        tempfile::Builder::new().prefix("report-").tempdir_in(&self.scratch).map_err(ReportError::internal)
    }
}

fn refused(error: SandboxError) -> ReportError {
    match error {
        SandboxError::ShuttingDown => ReportError::Unavailable("the server is stopping".to_owned()),
        other => ReportError::internal(other),
    }
}

fn written(outcome: JobOutcome) -> Result<Written, ReportError> {
    if let Some(error) = outcome.error {
        return Err(match error.kind {
            JobErrorKind::Timeout => ReportError::TooLarge(format!("it took more than {} s", WALL.as_secs())),
            JobErrorKind::OutOfMemory => ReportError::TooLarge("it needs too much memory".to_owned()),
            JobErrorKind::Quota => ReportError::TooLarge("it needs too much disk".to_owned()),
            _ if error.type_name == "MemoryError" => {
                ReportError::TooLarge("it needs too much memory".to_owned())
            }
            _ => {
                tracing::warn!(error = %error.type_name, message = %error.message, trace = %error.traceback, "a report job failed");
                ReportError::Internal(format!("{}: {}", error.type_name, error.message))
            }
        });
    }
    let value = outcome.value.ok_or_else(|| ReportError::Internal("the job gave no result".to_owned()))?;
    if let Some(error) = value.get("error") {
        let message = error.get("message").and_then(|m| m.as_str()).unwrap_or("unknown reason");
        return Err(ReportError::Empty(message.to_owned()));
    }
    serde_json::from_value(value).map_err(ReportError::internal)
}

/// The one file that the job named: plain, in its folder, not a link.
fn take(work: &Path, written: Written, folder: tempfile::TempDir) -> Result<MadeReport, ReportError> {
    let plain = written.file.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.')
        && !written.file.starts_with('.');
    if !plain {
        return Err(ReportError::Internal("the job named a file outside its folder".to_owned()));
    }
    let path = work.join(&written.file);
    let meta = std::fs::symlink_metadata(&path).map_err(ReportError::internal)?;
    if !meta.is_file() || meta.len() == 0 {
        return Err(ReportError::Internal("the job left no document".to_owned()));
    }
    let name = ba_store::filename::clean_filename(&written.name);
    Ok(MadeReport { path, name, bytes: meta.len(), _folder: folder })
}
