//! What goes into the sandbox and what comes out: jobs, limits, events and outcomes. Pure data, no IO.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Names the live Python state of one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionKey(pub String);

impl SessionKey {
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }
}

/// One piece of work for the sandbox.
#[derive(Debug, Clone)]
pub struct Job {
    /// Key of the fair queue: jobs of one owner never starve those of another.
    pub owner: String,
    /// `Some`: a stateful conversation. `None`: a one-off job on a pool child.
    pub session: Option<SessionKey>,
    pub work: Work,
    /// Files the job may read, mounted read-only in its working folder.
    pub inputs: Vec<Input>,
    /// Host folder that is the job's writable working folder (`/job` inside). Created when absent.
    pub folder: PathBuf,
    pub limits: Limits,
}

#[derive(Debug, Clone)]
pub enum Work {
    /// Python written by a model or a person.
    UserCode { code: String },
    /// A function of the shipped worker package: `tables.ingest` is `ingest` of `ba_worker.tables`.
    /// It is called as `ingest(args, progress)` and returns a JSON value.
    Builtin { function: String, args: Value },
}

/// A question to a built-in that only reads and leaves nothing behind: the process that answers may answer the next one too.
#[derive(Debug, Clone)]
pub struct Query {
    pub owner: String,
    /// As in [`Work::Builtin`].
    pub function: String,
    pub args: Value,
    pub inputs: Vec<Input>,
    pub limits: Limits,
}

/// A read-only file, visible in the working folder under each of its names.
#[derive(Debug, Clone)]
pub struct Input {
    pub names: Vec<String>,
    pub path: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub wall: Duration,
    /// Bytes of memory above what the fresh worker already uses.
    pub memory: u64,
    /// Bytes of stdout and stderr together that are kept.
    pub output_bytes: u64,
    /// Files and folders in the working folder.
    pub files: u64,
    /// Bytes in the working folder, holes counted as if they were filled; also the largest single file.
    pub folder_bytes: u64,
    /// Bytes of new or changed files that one call may leave.
    pub left_bytes: u64,
    /// Imports outside the allow-list are refused with a message. Help for the model, not a wall.
    pub import_allow_list: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(60),
            memory: 2 << 30,
            output_bytes: 1 << 20,
            files: 2_000,
            folder_bytes: 2 << 30,
            left_bytes: 512 << 20,
            import_allow_list: true,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    Stdout,
    Stderr,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputChunk {
    pub stream: Stream,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum JobEvent {
    Output(OutputChunk),
    Progress { fraction: Option<f64>, message: String },
}

/// Everything a finished job leaves. A failed job is still an outcome: `error` says how.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct JobOutcome {
    /// stdout and stderr in the order they were written, capped.
    pub output: Vec<OutputChunk>,
    /// Some output was left out because of the cap.
    pub truncated: bool,
    /// Builtin: its JSON result. User code: `{"repr": …, "table": {…}?}` of the last expression.
    pub value: Option<Value>,
    pub error: Option<JobError>,
    /// Tables that user code showed, as `{"columns": […], "rows": […], "shape": […]}`; for the audit of figures.
    #[serde(default)]
    pub tables: Vec<Value>,
    /// What checks found, as notes with a code.
    #[serde(default)]
    pub checks: Vec<Value>,
    /// Files created or changed, each checked: regular, one link, safe name.
    pub files: Vec<OutputFile>,
    /// Things the job left that were removed instead of offered.
    pub rejected: Vec<RejectedFile>,
    pub usage: Usage,
    pub state: StateNote,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobError {
    pub kind: JobErrorKind,
    /// Name of the exception class, such as `ValueError`.
    pub type_name: String,
    pub message: String,
    /// The user's own lines only.
    pub traceback: String,
    pub line: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobErrorKind {
    Exception,
    ImportRefused,
    Timeout,
    OutOfMemory,
    Killed,
    Quota,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputFile {
    /// Relative to the job's folder, `/`-separated.
    pub name: String,
    pub bytes: u64,
    /// Lower-case extension, or `file`.
    pub kind: String,
    pub created: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedFile {
    pub name: String,
    pub reason: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub wall: Duration,
    pub cpu: Duration,
    /// Bytes; highest seen.
    pub peak_memory: u64,
    /// Time spent waiting for a free place.
    pub queued: Duration,
}

/// A name that the next call of the conversation will find.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    pub name: String,
    /// `DataFrame`, `int`, `function` …
    pub kind: String,
    /// Its shape or its value, in a few words.
    #[serde(default)]
    pub about: String,
}

/// What the job started from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum StateNote {
    /// No earlier state existed.
    #[default]
    Fresh,
    /// Variables of the earlier calls were there.
    Continued,
    /// Earlier state existed and was lost.
    Reset { reason: String },
}
