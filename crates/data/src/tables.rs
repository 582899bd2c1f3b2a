//! Tables of uploads: ingest, queries, reading and export, all of it inside the sandbox. This side only sends jobs and
//! checks what comes back; it never opens the files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ba_protocol::Said;
use ba_protocol::file::{FileProfile, IngestOptions, Note, TableProfile};
use ba_protocol::table::Column;
use ba_sandbox::{Input, Job, JobErrorKind, JobEvent, JobOutcome, Limits, Query, Sandbox, Usage, Work};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::params::{self, Style};
use crate::{DataError, QueryResult, UploadsEngine, guard, kinds};

const MAX_ROWS: u32 = 10_000;
const INGEST_WALL: Duration = Duration::from_secs(900);
const READ_WALL: Duration = Duration::from_secs(120);
const JOIN_WALL: Duration = Duration::from_secs(30);
const GIB: u64 = 1 << 30;
const QUERY: &str = "tables.query";

/// The sandbox as a table engine; clones share it.
#[derive(Clone)]
pub struct Tables {
    sandbox: Sandbox,
    /// Folder of this process for the working folders of queries.
    scratch: PathBuf,
    /// Answers for large tables in the place of DuckDB, where it can.
    engine: Option<UploadsEngine>,
}

pub struct IngestRequest {
    pub path: PathBuf,
    pub filename: String,
    pub owner: String,
    /// The Parquet files are written here; the profile names them relative to it.
    pub out_dir: PathBuf,
    /// What a person chose about how the file is read.
    pub options: IngestOptions,
}

/// A table that a statement may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSource {
    pub names: Vec<String>,
    pub parquet: PathBuf,
}

pub struct EmbeddedQuery {
    pub owner: String,
    pub tables: Vec<TableSource>,
    pub sql: String,
    pub params: Map<String, Value>,
    /// 1–10000; values outside are brought inside.
    pub max_rows: u32,
    /// Keep the whole result as a Parquet file at this path.
    pub keep: Option<PathBuf>,
    pub timeout: Duration,
}

pub struct ReadRequest {
    pub path: PathBuf,
    pub filename: String,
    pub owner: String,
    pub format: Option<String>,
    pub encoding: Option<String>,
    /// Name or index.
    pub sheet: Option<String>,
    pub nrows: Option<u64>,
    /// Rows of each table to give back.
    pub preview: u32,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ReadResult {
    /// `csv`, `xlsx`, `json`, `pdf`, `txt` …: what it was read as.
    pub kind: String,
    pub profile: FileProfile,
    pub text: Option<String>,
    /// What the sandbox used.
    #[serde(skip)]
    pub usage: Usage,
}

/// Rows of a database that become a table.
pub struct KeepRequest<'a> {
    pub owner: &'a str,
    pub dialect: guard::Dialect,
    /// JSON lines.
    pub rows: &'a Path,
    pub columns: &'a [Column],
    /// Where the Parquet file goes; one that is there is replaced.
    pub target: &'a Path,
}

#[derive(Debug, Clone, Deserialize)]
pub struct KeptTable {
    pub rows: u64,
    pub columns: Vec<Column>,
    /// Columns that stayed text, and names that were changed.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    Csv,
    Xlsx,
}

/// Fraction done when known, and words for people.
pub type OnProgress<'a> = &'a (dyn Fn(Option<f64>, &str) + Send + Sync);

impl Tables {
    pub fn new(sandbox: Sandbox, scratch: impl Into<PathBuf>) -> Self {
        Self { sandbox, scratch: scratch.into(), engine: None }
    }

    /// The same with an engine for large tables.
    pub fn with_engine(self, engine: UploadsEngine) -> Self {
        Self { engine: Some(engine), ..self }
    }

    /// Profiles a file and writes its tables as Parquet.
    pub async fn ingest(
        &self,
        request: IngestRequest,
        on_progress: OnProgress<'_>,
    ) -> Result<FileProfile, DataError> {
        let inputs = vec![Input { names: vec!["input".into()], path: request.path }];
        let args =
            json!({"path": "input", "filename": request.filename, "out": ".", "options": request.options});
        let limits = limits(INGEST_WALL, 16 * GIB);
        let (value, _) = self
            .call(&request.owner, "tables.ingest", args, inputs, &request.out_dir, limits, on_progress)
            .await?;
        let profile: FileProfile =
            serde_json::from_value(value).map_err(|e| DataError::internal("the profile", e))?;
        // Names come from the sandbox: only plain ones are believed.
        let believable = |t: &TableProfile| t.files().into_iter().all(is_plain_name);
        if !profile.tables.iter().all(believable) {
            return Err(DataError::Internal("the ingest named a file outside its folder".into()));
        }
        Ok(profile)
    }

    /// Runs one read-only statement over the tables given, and checks what came of it (SPEC W3).
    pub async fn query(&self, request: EmbeddedQuery) -> Result<QueryResult, DataError> {
        if let Some(engine) = &self.engine
            && let Some(answer) = engine.answer(&request).await
        {
            return answer;
        }
        self.answer(request, true).await
    }

    /// The first rows of a table, as they are.
    pub async fn first_rows(
        &self,
        owner: &str,
        parquet: PathBuf,
        rows: u32,
    ) -> Result<QueryResult, DataError> {
        let request = EmbeddedQuery {
            owner: owner.to_owned(),
            tables: vec![TableSource { names: vec!["t".into()], parquet }],
            sql: "SELECT * FROM t".to_owned(),
            params: Map::new(),
            max_rows: rows,
            keep: None,
            timeout: Duration::from_secs(60),
        };
        self.answer(request, false).await
    }

    async fn answer(&self, request: EmbeddedQuery, with_checks: bool) -> Result<QueryResult, DataError> {
        let checked = guard::check(&request.sql, guard::Dialect::DuckDb)?;
        let bound = params::bind(&checked, &request.params, Style::Dollar)?;
        let mut inputs = Vec::new();
        let mut tables = Vec::new();
        for (i, table) in request.tables.into_iter().enumerate() {
            let file = format!("t{i}.parquet");
            tables.push(json!({"path": file, "names": table.names}));
            inputs.push(Input { names: vec![file], path: table.parquet });
        }
        let values: Map<String, Value> = bound.values.into_iter().collect();
        let args = json!({"sql": bound.sql, "params": values, "tables": tables, "max_rows": request.max_rows.clamp(1, MAX_ROWS),
                          "keep": request.keep.as_ref().map(|_| "kept.parquet"), "unchecked": !with_checks});
        let limits = limits(request.timeout, 4 * GIB);
        let (value, usage) = match &request.keep {
            Some(target) => {
                let folder = self.folder()?;
                let told =
                    self.call(&request.owner, QUERY, args, inputs, folder.path(), limits, &|_, _| {}).await?;
                keep(&folder.path().join("kept.parquet"), target)?;
                told
            }
            None => {
                let (owner, function) = (request.owner, QUERY.to_owned());
                let outcome = self.sandbox.query(Query { owner, function, args, inputs, limits }).await?;
                let usage = outcome.usage;
                (value_of(outcome, request.timeout)?, usage)
            }
        };
        let answer: Answer =
            serde_json::from_value(value).map_err(|e| DataError::internal("the result", e))?;
        let elapsed = Duration::from_secs_f64((answer.elapsed_ms / 1000.0).clamp(0.0, 86_400.0));
        let mut result = QueryResult::new(answer.columns, answer.rows, answer.truncated, elapsed);
        if let Some(kept) = answer.kept {
            result.row_count = kept.rows;
        }
        (result.checks, result.usage) = (answer.checks, usage);
        Ok(result)
    }

    /// Tries which columns of the first `new` tables meet those of the others (SPEC W1).
    pub async fn joins(
        &self,
        owner: &str,
        tables: &[JoinTable],
        new: usize,
    ) -> Result<Vec<FoundJoin>, DataError> {
        let mut inputs = Vec::new();
        let mut described = Vec::new();
        for (i, table) in tables.iter().enumerate() {
            let file = format!("t{i}.parquet");
            let column = |c: &ba_protocol::file::ColumnProfile| {
                let top = c.top.iter().map(|t| t.value.clone());
                let examples: Vec<String> = top.chain(c.examples.iter().cloned()).collect();
                json!({"name": c.name, "type": c.kind, "distinct": c.distinct, "nulls": c.nulls, "examples": examples})
            };
            let profile = &table.profile;
            let columns: Vec<Value> = profile.columns.iter().take(200).map(column).collect();
            described
                .push(json!({"path": file, "name": profile.name, "rows": profile.rows, "keys": profile.keys,
                                  "columns": columns}));
            inputs.push(Input { names: vec![file], path: table.parquet.clone() });
        }
        let args = json!({"tables": described, "first": new});
        let folder = self.folder()?;
        let limits = limits(JOIN_WALL, GIB);
        let (mut value, _) =
            self.call(owner, "tables.joins", args, inputs, folder.path(), limits, &|_, _| {}).await?;
        let found: Vec<FoundJoin> =
            serde_json::from_value(value["joins"].take()).map_err(|e| DataError::internal("the joins", e))?;
        // Numbers come from the sandbox: only those that mean one of the tables are believed.
        Ok(found.into_iter().filter(|j| j.left < tables.len() && j.right < tables.len()).collect())
    }

    /// Reads any file for one look, without keeping anything.
    pub async fn read(&self, request: ReadRequest) -> Result<ReadResult, DataError> {
        let inputs = vec![Input { names: vec!["input".into()], path: request.path }];
        let args = json!({"path": "input", "filename": request.filename, "format": request.format, "encoding": request.encoding,
                          "sheet": request.sheet, "nrows": request.nrows, "preview": request.preview});
        let folder = self.folder()?;
        let limits = limits(READ_WALL, 8 * GIB);
        let (value, usage) =
            self.call(&request.owner, "tables.read", args, inputs, folder.path(), limits, &|_, _| {}).await?;
        let mut read: ReadResult =
            serde_json::from_value(value).map_err(|e| DataError::internal("what was read", e))?;
        read.usage = usage;
        Ok(read)
    }

    /// Makes a typed Parquet file of rows that a database gave (see `Connections::query_into`).
    pub async fn keep(&self, request: KeepRequest<'_>) -> Result<KeptTable, DataError> {
        let inputs = vec![Input { names: vec!["rows.jsonl".into()], path: request.rows.to_owned() }];
        let column = |c: &Column| json!({"name": c.name, "kind": kinds::kept(request.dialect, &c.kind)});
        let columns: Vec<Value> = request.columns.iter().map(column).collect();
        let args = json!({"path": "rows.jsonl", "columns": columns, "out": "kept.parquet"});
        let folder = self.folder()?;
        let limits = limits(READ_WALL, 8 * GIB);
        let (value, _) =
            self.call(request.owner, "tables.keep", args, inputs, folder.path(), limits, &|_, _| {}).await?;
        keep(&folder.path().join("kept.parquet"), request.target)?;
        serde_json::from_value(value).map_err(|e| DataError::internal("the kept table", e))
    }

    /// Writes a table as CSV or xlsx in which no cell is a formula. Returns the number of rows.
    pub async fn export(
        &self,
        owner: &str,
        parquet: &Path,
        format: ExportFormat,
        target: &Path,
    ) -> Result<u64, DataError> {
        let (name, kind) = match format {
            ExportFormat::Csv => ("out.csv", "csv"),
            ExportFormat::Xlsx => ("out.xlsx", "xlsx"),
        };
        let inputs = vec![Input { names: vec!["table.parquet".into()], path: parquet.to_owned() }];
        let args = json!({"path": "table.parquet", "out": name, "format": kind});
        let folder = self.folder()?;
        let limits = limits(INGEST_WALL, 8 * GIB);
        let (value, _) =
            self.call(owner, "tables.export", args, inputs, folder.path(), limits, &|_, _| {}).await?;
        keep(&folder.path().join(name), target)?;
        Ok(value.get("rows").and_then(Value::as_u64).unwrap_or_default())
    }

    /// A folder for one piece of work, inside the one this process was given; it goes when dropped.
    pub fn folder(&self) -> Result<tempfile::TempDir, DataError> {
        std::fs::create_dir_all(&self.scratch).map_err(|e| DataError::internal("the scratch folder", e))?;
        tempfile::Builder::new()
            .prefix("query-")
            .tempdir_in(&self.scratch)
            .map_err(|e| DataError::internal("the scratch folder", e))
    }

    #[expect(clippy::too_many_arguments, reason = "one private call site per kind of job")]
    async fn call(
        &self,
        owner: &str,
        function: &str,
        args: Value,
        inputs: Vec<Input>,
        folder: &Path,
        limits: Limits,
        on_progress: OnProgress<'_>,
    ) -> Result<(Value, Usage), DataError> {
        let wall = limits.wall;
        let job = Job {
            owner: owner.to_owned(),
            session: None,
            work: Work::Builtin { function: function.to_owned(), args },
            inputs,
            folder: folder.to_owned(),
            limits,
        };
        let outcome = self
            .sandbox
            .run(job, &|event| {
                if let JobEvent::Progress { fraction, message } = event {
                    on_progress(fraction, &message);
                }
            })
            .await?;
        let usage = outcome.usage;
        Ok((value_of(outcome, wall)?, usage))
    }
}

/// A table whose columns are tried against those of others.
pub struct JoinTable {
    pub profile: TableProfile,
    pub parquet: PathBuf,
}

/// Two columns that meet; `left` and `right` count the tables given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct FoundJoin {
    pub left: usize,
    pub column: String,
    pub right: usize,
    pub other_column: String,
    pub covered: f64,
    pub other_covered: f64,
    pub fan_out: u64,
    pub other_fan_out: u64,
}

#[derive(Deserialize)]
struct Answer {
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
    truncated: bool,
    elapsed_ms: f64,
    kept: Option<Kept>,
    #[serde(default)]
    checks: Vec<Note>,
}

#[derive(Deserialize)]
struct Kept {
    rows: u64,
}

#[derive(Deserialize)]
struct Complaint {
    code: String,
    message: String,
    hint: Option<String>,
    said: Option<Said>,
}

fn limits(wall: Duration, folder_bytes: u64) -> Limits {
    Limits { wall, folder_bytes, left_bytes: folder_bytes, import_allow_list: false, ..Limits::default() }
}

const OUT_OF_MEMORY: DataError = DataError::Resources {
    message: "the table needs more memory than a job may use",
    said: "too_much_memory",
};

fn value_of(outcome: JobOutcome, wall: Duration) -> Result<Value, DataError> {
    if let Some(error) = outcome.error {
        return Err(match error.kind {
            JobErrorKind::Timeout => {
                DataError::Timeout { what: "the work on the table".into(), seconds: wall.as_secs() }
            }
            JobErrorKind::OutOfMemory => OUT_OF_MEMORY,
            JobErrorKind::Quota => {
                let message = "the table needs more disk than a job may use";
                DataError::Resources { message, said: "too_much_disk" }
            }
            JobErrorKind::Killed => {
                DataError::Resources { message: "the work on the table was stopped", said: "stopped" }
            }
            JobErrorKind::Exception | JobErrorKind::ImportRefused if error.type_name == "MemoryError" => {
                OUT_OF_MEMORY
            }
            JobErrorKind::Exception | JobErrorKind::ImportRefused => {
                tracing::warn!(error = %error.type_name, message = %error.message, trace = %error.traceback, "a table job failed");
                DataError::Internal(format!("{}: {}", error.type_name, error.message))
            }
        });
    }
    let value = outcome.value.ok_or_else(|| DataError::Internal("the job gave no result".into()))?;
    match value.get("error") {
        None | Some(Value::Null) => Ok(value),
        Some(error) => {
            let found: Complaint = serde_json::from_value(error.clone())
                .map_err(|e| DataError::internal("the job's error", e))?;
            let Complaint { code, message, hint, said } = found;
            Err(if is_query_code(&code) {
                let message = if hint.is_some() { without_guesses(&message) } else { message };
                DataError::Query { code, message, hint }
            } else {
                DataError::File { code, message, hint, said: said.map(Box::new) }
            })
        }
    }
}

/// The engine guesses by letters alone; what a model reads twice, it believes.
fn without_guesses(message: &str) -> String {
    let at = ["\nCandidate bindings", "\nDid you mean"].iter().filter_map(|mark| message.find(mark)).min();
    message[..at.unwrap_or(message.len())].to_owned()
}

fn is_query_code(code: &str) -> bool {
    matches!(
        code,
        "UNKNOWN_NAME"
            | "BAD_REFERENCE"
            | "SQL_SYNTAX"
            | "NOT_PERMITTED"
            | "OUT_OF_MEMORY"
            | "SQL_FAILED"
            | "READ_ONLY"
            | "ONE_STATEMENT"
    )
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.')
        && !name.starts_with('.')
}

/// Moves a file that a job made; only a regular file, never through a link, neither where it comes from nor where it goes.
fn keep(from: &Path, to: &Path) -> Result<(), DataError> {
    let failed = |e: std::io::Error| DataError::internal("the kept table", e);
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::CLOEXEC;
    let file = rustix::fs::open(from, flags, rustix::fs::Mode::empty()).map_err(|e| failed(e.into()))?;
    let mut file = std::fs::File::from(file);
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(DataError::Internal("the kept table is not a file".into()));
    }
    let folder = to.parent().unwrap_or(Path::new("."));
    // A name nobody can have planted a link under; the rename replaces whatever stands at the end.
    let mut copy = tempfile::Builder::new().prefix(".keeping-").tempfile_in(folder).map_err(failed)?;
    std::io::copy(&mut file, copy.as_file_mut()).map_err(failed)?;
    // Code of the conversation reads it, as another user.
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    copy.as_file().set_permissions(readable).map_err(failed)?;
    copy.persist(to).map_err(|e| failed(e.error))?;
    Ok(())
}
