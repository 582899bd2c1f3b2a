//! `run_python` (SPEC T1): runs model-written Python in the sandbox, with the conversation's files in its folder.
//! Never runs anything in this process.

use ba_agent::ToolError;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use ba_agent::tool::{Body, Effects, StoredData, ToolContext, ToolOutput, TypedTool};
use ba_protocol::file::Note;
use ba_protocol::table::{self, Column};
use ba_protocol::text::shorten;
use ba_protocol::{Artifact, DataNote, Said, ToolErrorType, ToolFailure, Upload};
use ba_sandbox::{
    Input, Job, JobError, JobErrorKind, JobEvent, JobOutcome, Limits, Sandbox, SessionKey, StateNote, Work,
};
use ba_store::Store;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::conversation_tables::{KEPT, known_tables};
use crate::mentions;
use crate::resources::resources;

/// Bytes of files that the tools of one conversation may leave behind.
const CONVERSATION_BYTES: u64 = 4 << 30;
const MAX_CHECK: usize = 400;
const MIN_TIMEOUT: u64 = 5;
const MAX_TIMEOUT: u64 = 300;

/// The sandbox, or why there is none: then nothing runs (fail closed).
#[derive(Clone)]
pub enum Python {
    Ready(Sandbox),
    Refused(String),
}

impl Python {
    pub fn get(&self) -> Result<&Sandbox, ToolFailure> {
        match self {
            Python::Ready(sandbox) => Ok(sandbox),
            Python::Refused(why) => Err(ToolFailure::new(
                ToolErrorType::PermissionError,
                "SANDBOX_UNAVAILABLE",
                format!("Python is not available on this server: {why}"),
            )
            .with_hint("tell the user to run `ba-agent doctor`, which says what to enable")),
        }
    }
}

pub struct RunPython {
    pub python: Python,
    pub store: Store,
}

#[derive(Deserialize, JsonSchema)]
pub struct RunPythonArgs {
    /// 要执行的 Python 代码。最后一个表达式的值会显示；打开的 matplotlib 图会保存为 PNG。
    pub code: String,
    /// 超时时间（秒），5–300。
    #[serde(default = "default_timeout")]
    pub timeout: u64,
}

fn default_timeout() -> u64 {
    60
}

#[async_trait]
impl TypedTool for RunPython {
    type Args = RunPythonArgs;

    const NAME: &'static str = "run_python";

    fn description(&self) -> String {
        "在隔离环境中执行 Python，用于计算、统计与作图。load(\"upload_001\") 或 tables[\"表名\"] 给出与 SQL 相同的已清洗、\
         带类型的 DataFrame（推荐）；原始文件按文件名或 upload id 读取，未经清洗。\
         check(表, unique=[…], not_null=[…], parts_sum_to={列: 合计}) 检查唯一、空值与合计，返回问题列表。写入的文件可供下载。变量在同一对话的多次调用之间保留，失败的调用不改变它们。没有网络。\
         允许的库：json, csv, datetime, math, statistics, random, pandas, numpy, scipy, statsmodels, sklearn, duckdb, pyarrow, openpyxl, xlrd, \
         xlsxwriter, matplotlib, seaborn, plotly，以及 re、collections、itertools 等无害的标准库。"
            .to_owned()
    }

    fn effects(&self, _args: &RunPythonArgs) -> Effects {
        Effects::Changes
    }

    fn timeout(&self, args: &RunPythonArgs) -> Duration {
        // Room for a place in the queue and for collecting files.
        Duration::from_secs(args.timeout.clamp(MIN_TIMEOUT, MAX_TIMEOUT) + 60)
    }

    async fn run(&self, ctx: &ToolContext, args: RunPythonArgs) -> Result<ToolOutput, ToolError> {
        let sandbox = self.python.get()?;
        let timeout = args.timeout.clamp(MIN_TIMEOUT, MAX_TIMEOUT);
        let session = SessionKey::new(ctx.conversation_id.as_str());
        let uploads = self.store.uploads(&ctx.conversation_id).await?;
        let stale = sandbox.rest_on(&session, basis(&uploads)).await;
        let data_notes = mentions::in_code(&args.code, &uploads);
        let place = Place {
            session,
            folder: self.store.work_dir(&ctx.conversation_id).await?,
            inputs: inputs(&self.store, ctx, &uploads).await?,
        };
        let rebuilt = self.make_stand(ctx, &place, stale).await?;
        let session = place.session.clone();
        let outcome = self.job(ctx, args.code, timeout, place).await?;
        let (artifacts, unkept) = self.keep_files(ctx, &outcome).await?;
        if let Some(error) = &outcome.error {
            let mut failure = failure(error, &outcome, timeout);
            failure.message.extend(rebuilt.iter().flat_map(|note| ["\n", note.as_str()]));
            return Err(failure.into());
        }
        let names: Vec<String> = sandbox.variables(&session).into_iter().map(|v| v.name).collect();
        let epoch = self.store.python_ran(&ctx.conversation_id, &names).await?;
        sandbox.stamp(&session, epoch).await;
        let mut output = output_of(&outcome, artifacts);
        output.data_notes = data_notes;
        output.data_notes.extend(checks_of(&outcome));
        output.notes.extend(rebuilt);
        output.notes.extend(unkept);
        if args.timeout != timeout {
            output = output
                .with_note(format!("timeout {} s was set to {timeout} s (allowed: 5–300)", args.timeout));
        }
        Ok(output)
    }
}

/// Where a job runs and what it finds there.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) session: SessionKey,
    pub(crate) folder: PathBuf,
    inputs: Vec<Input>,
}

impl RunPython {
    /// Runs code again without leaving a trace: in a session and a folder of the caller's own, keeping no file.
    /// `kept` are files of the conversation that the code may read, by name.
    pub async fn again(
        &self,
        ctx: &ToolContext,
        args: RunPythonArgs,
        session: &str,
        folder: &Path,
        kept: &[(String, PathBuf)],
    ) -> Result<ToolOutput, ToolError> {
        let timeout = args.timeout.clamp(MIN_TIMEOUT, MAX_TIMEOUT);
        let uploads = self.store.uploads(&ctx.conversation_id).await?;
        let mut inputs = inputs(&self.store, ctx, &uploads).await?;
        inputs
            .extend(kept.iter().map(|(name, path)| Input { names: vec![name.clone()], path: path.clone() }));
        let place = Place { session: SessionKey::new(session), folder: folder.to_owned(), inputs };
        let outcome = self.job(ctx, args.code, timeout, place).await?;
        match &outcome.error {
            Some(error) => Err(failure(error, &outcome, timeout).into()),
            None => Ok(output_of(&outcome, Vec::new())),
        }
    }

    pub(crate) async fn job(
        &self,
        ctx: &ToolContext,
        code: String,
        timeout: u64,
        place: Place,
    ) -> Result<JobOutcome, ToolFailure> {
        if code.trim().is_empty() {
            return Err(ToolFailure::validation("EMPTY_CODE", "code is empty"));
        }
        let job = Job {
            owner: ctx.owner.to_string(),
            session: Some(place.session),
            work: Work::UserCode { code },
            inputs: place.inputs,
            folder: place.folder,
            limits: Limits { wall: Duration::from_secs(timeout), ..Limits::default() },
        };
        let progress = ctx.progress.clone();
        let on_event = move |event: JobEvent| match event {
            JobEvent::Output(chunk) => {
                if let Some(line) = chunk.text.lines().rev().find(|l| !l.trim().is_empty()) {
                    progress.report(None, line);
                }
            }
            JobEvent::Progress { fraction, message } => progress.report(fraction, &message),
        };
        let ran = self.python.get()?.run(job, &on_event).await;
        ran.map_err(|e| ToolFailure::new(ToolErrorType::InternalError, "SANDBOX_FAILED", e.to_string()))
    }

    /// The files of a call, as far as the conversation has room for them, and what is to be said of the others.
    async fn keep_files(
        &self,
        ctx: &ToolContext,
        outcome: &JobOutcome,
    ) -> Result<(Vec<Artifact>, Vec<String>), ToolError> {
        let folder = self.store.work_dir(&ctx.conversation_id).await?;
        let held = if outcome.files.is_empty() {
            Vec::new()
        } else {
            self.store.artifacts(&ctx.conversation_id).await?
        };
        let (mut kept, mut unkept) = (Vec::new(), Vec::new());
        let replaced = |name: &str| outcome.files.iter().any(|file| file.name == name);
        let mut bytes: u64 = held.iter().filter(|a| !replaced(&a.name)).map(|a| a.size).sum();
        for file in &outcome.files {
            bytes = bytes.saturating_add(file.bytes);
            if bytes > CONVERSATION_BYTES {
                bytes -= file.bytes;
                unkept.push(format!(
                    "file {} was not kept: the files of a conversation may have {} together; delete some first",
                    file.name,
                    ba_protocol::text::human_size(CONVERSATION_BYTES)
                ));
                continue;
            }
            let from = folder.join(&file.name);
            match self.store.put_artifact(&ctx.conversation_id, &file.name, &from).await {
                Ok(artifact) => kept.push(artifact),
                Err(error) => {
                    tracing::warn!(file = %file.name, %error, "a file of a job was not kept");
                    unkept.push(format!("file {} was not kept: {error}", file.name));
                }
            }
        }
        Ok((kept, unkept))
    }
}

/// Every upload, by its name and by its id; its cleaned tables, as `load` finds them; the files of the active skills.
async fn inputs(store: &Store, ctx: &ToolContext, uploads: &[Upload]) -> Result<Vec<Input>, ToolError> {
    let mut inputs = Vec::new();
    for table in known_tables(store, &ctx.conversation_id).await? {
        // A kept result is a file of the working folder already.
        if table.about != KEPT {
            let names = table.source.names.iter().filter(|name| !name.contains(['/', '\\']));
            let names = names.map(|name| format!(".{name}.parquet")).collect();
            inputs.push(Input { names, path: table.source.parquet });
        }
    }
    for upload in uploads {
        let path = store.upload_path(upload).await?;
        inputs.push(Input { names: vec![upload.filename.clone(), upload.file_id.to_string()], path });
    }
    let skill_files = ctx.skill_files.iter();
    inputs.extend(skill_files.map(|(name, path)| Input { names: vec![name.clone()], path: path.clone() }));
    Ok(inputs)
}

/// What variables may have been made from: a file with other bytes, or read in another way, is another.
pub(crate) fn basis(uploads: &[Upload]) -> BTreeMap<String, String> {
    let version = |u: &Upload| format!("{} {:?}", u.sha256, u.ingest_options);
    uploads.iter().map(|u| (u.file_id.to_string(), version(u))).collect()
}

fn output_of(outcome: &JobOutcome, artifacts: Vec<Artifact>) -> ToolOutput {
    let text = printed(outcome);
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push((String::new(), Body::Text(text.clone())));
    }
    if let Some(value) = &outcome.value {
        parts.push(value_part(value));
    }
    let seconds = outcome.usage.wall.as_secs_f64();
    let last = text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default();
    let shown: Vec<Body> = outcome.tables.iter().filter_map(table_of).collect();
    let data = whole(&parts, &shown);
    let body = match parts.len() {
        0 => Body::Text("(no output; print what you want to see)".to_owned()),
        _ => Body::Parts(parts),
    };
    let said = Said::new("python_finished").with("seconds", format!("{seconds:.2}"));
    let mut output = ToolOutput::new(format!("Python finished in {seconds:.2} s"), body).saying(said);
    output.brief = Some(shorten(last.trim(), 120)).filter(|line| !line.is_empty());
    output.data =
        Some(StoredData { bytes: data.into_bytes(), extension: "txt" }).filter(|d| !d.bytes.is_empty());
    output.evidence = shown;
    output.artifacts = artifacts;
    output.resources = resources(&outcome.usage);
    output.notes.extend(reset_note(&outcome.state));
    if outcome.truncated {
        output.notes.push("the output was longer than allowed; the middle or end was left out".to_owned());
    }
    for rejected in &outcome.rejected {
        output.notes.push(format!("file {} was not kept: {}", rejected.name, rejected.reason));
    }
    output
}

/// Said with the next call, however that one ends.
fn reset_note(state: &StateNote) -> Option<String> {
    match state {
        StateNote::Reset { reason } => {
            Some(format!("Python state was reset ({reason}): variables of earlier calls are gone."))
        }
        StateNote::Fresh | StateNote::Continued => None,
    }
}

/// What checks found in the call's result. They come from the sandbox: only well-formed ones are believed.
fn checks_of(outcome: &JobOutcome) -> Vec<DataNote> {
    let note = |value: &Value| serde_json::from_value::<Note>(value.clone()).ok();
    let mut found: Vec<Note> = outcome.checks.iter().filter_map(note).collect();
    found.iter_mut().for_each(|note| note.text = shorten(&note.text, MAX_CHECK));
    found.into_iter().map(DataNote::of_result).collect()
}

/// Everything the call showed, for the file that a full answer refers to (SPEC E4).
fn whole(parts: &[(String, Body)], shown: &[Body]) -> String {
    let mut text = String::new();
    let tables = shown.iter().map(|table| ("Table:", table));
    let parts = parts.iter().filter(|(_, body)| !matches!(body, Body::Table { .. }));
    for (title, body) in parts.map(|(title, body)| (title.as_str(), body)).chain(tables) {
        if !text.is_empty() {
            text.push('\n');
        }
        if !title.is_empty() {
            let _ = writeln!(text, "{title}");
        }
        match body {
            Body::Text(lines) => text.push_str(lines),
            Body::Table { columns, rows, total_rows } => {
                text.push_str(&table::encode(columns, rows));
                if let Some(total) = total_rows.filter(|total| *total > rows.len() as u64) {
                    let _ = write!(text, "\n(first {} of {total} rows)", rows.len());
                }
            }
            _ => {}
        }
    }
    text
}

/// The value of the last expression: a table where it is one, its repr else.
fn value_part(value: &Value) -> (String, Body) {
    const TITLE: &str = "Value of the last expression:";
    if let Some(table) = value.get("table").and_then(table_of) {
        return (TITLE.to_owned(), table);
    }
    let repr = value.get("repr").and_then(Value::as_str).map_or_else(|| value.to_string(), str::to_owned);
    (TITLE.to_owned(), Body::Text(repr))
}

/// `{"columns": [names], "dtypes": [types], "rows": […], "shape": [rows, columns]}` as the worker describes a table.
fn table_of(value: &Value) -> Option<Body> {
    let table = value.as_object()?;
    let list = |name: &str| table.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let kind = |i: usize| list("dtypes").get(i).and_then(Value::as_str).unwrap_or_default();
    let names = list("columns").iter().enumerate();
    let columns: Vec<Column> =
        names.map(|(i, name)| Column::new(name.as_str().unwrap_or_default(), kind(i))).collect();
    if columns.is_empty() {
        return None;
    }
    let rows: Vec<Vec<Value>> = list("rows").iter().filter_map(|row| row.as_array().cloned()).collect();
    let total_rows = list("shape").first().and_then(Value::as_u64).filter(|all| *all > rows.len() as u64);
    Some(Body::Table { columns, rows, total_rows })
}

fn printed(outcome: &JobOutcome) -> String {
    let text: String = outcome.output.iter().map(|c| c.text.as_str()).collect();
    text.trim_end().to_owned()
}

fn failure(error: &JobError, outcome: &JobOutcome, timeout: u64) -> ToolFailure {
    let (error_type, code, hint) = match error.kind {
        JobErrorKind::Exception => (ToolErrorType::ExecutionError, "PYTHON_EXCEPTION", None),
        JobErrorKind::ImportRefused => (ToolErrorType::PermissionError, "IMPORT_REFUSED", None),
        JobErrorKind::Timeout => (
            ToolErrorType::Timeout,
            "TIMEOUT",
            Some(format!(
                "the limit was {timeout} s; work on fewer rows, aggregate with query_database, or raise timeout (max 300)"
            )),
        ),
        JobErrorKind::OutOfMemory => (
            ToolErrorType::ResourceError,
            "OUT_OF_MEMORY",
            Some("load fewer columns or rows, or aggregate with query_database first".to_owned()),
        ),
        JobErrorKind::Killed => (ToolErrorType::ResourceError, "KILLED", None),
        JobErrorKind::Quota => {
            (ToolErrorType::ResourceError, "QUOTA", Some("write fewer or smaller files".to_owned()))
        }
    };
    let mut message = if error.traceback.trim().is_empty() {
        format!("{}: {}", error.type_name, error.message)
    } else {
        error.traceback.trim_end().to_owned()
    };
    let before = printed(outcome);
    if !before.is_empty() {
        let start = before.len().saturating_sub(1_500);
        let tail = &before[before.ceil_char_boundary(start)..];
        let _ = write!(message, "\nOutput before the failure:\n{tail}");
    }
    if let Some(note) = reset_note(&outcome.state) {
        let _ = write!(message, "\n{note}");
    }
    let failure = ToolFailure::new(error_type, code, message);
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure.with_hint("variables are as they were before this call"),
    }
}
