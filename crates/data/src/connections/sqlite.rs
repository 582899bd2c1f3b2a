//! A SQLite file, opened read-only and anew for each question, so that nothing of one stays for the next. The engine itself
//! asks, for every step it compiles, whether that step only reads; a long statement is interrupted from inside.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ba_protocol::table::Column;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use super::Engine;
use super::config::ConnectionConfig;
use super::reach::unreachable;
use super::rows::{Flow, MAX_ROW_BYTES, Rows, clip};
use super::schema::{self, ColumnInfo, TableInfo};
use super::sqlite_functions;
use crate::DataError;
use crate::guard::Checked;
use crate::params::{self, Style};
use crate::result::{bytes, float, integer};

/// Virtual machine steps between two looks at the clock.
const STEPS: i32 = 10_000;
/// The longest value that the engine makes or reads, whatever a statement asks for.
pub(super) const MAX_VALUE_BYTES: usize = 16 << 20;
/// Questions to one file at the same time.
const AT_ONCE: usize = 4;
/// Functions that reach beyond the file, should a list above have a gap.
const REFUSED: &[&str] = &[
    "load_extension",
    "readfile",
    "writefile",
    "edit",
    "fts3_tokenizer",
    "fsdir",
    "zipfile",
    "eval",
    "define",
];

pub(super) struct Sqlite {
    file: PathBuf,
    timeout: Duration,
    turns: Arc<Semaphore>,
}

/// Who the statement is of: a model's is asked about step by step, our own list of tables uses pragmas.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Ours,
    Theirs,
}

impl Sqlite {
    pub(super) fn new(config: &ConnectionConfig) -> Result<Self, String> {
        if config.timezone.is_some() {
            return Err("a SQLite file has no time zone; leave `timezone` out".to_owned());
        }
        let file = file_of(config.url.expose())?;
        Ok(Self { file, timeout: config.timeout, turns: Arc::new(Semaphore::new(AT_ONCE)) })
    }

    /// Runs `work` on a connection of its own, on a thread that may wait.
    async fn with<T: Send + 'static>(
        &self,
        trust: Trust,
        work: impl FnOnce(&Connection) -> Result<T, DataError> + Send + 'static,
    ) -> Result<T, DataError> {
        let turn = self.turns.clone().acquire_owned().await.map_err(|e| DataError::internal("SQLite", e))?;
        let (file, timeout) = (self.file.clone(), self.timeout);
        let stop = StopOnDrop(Arc::new(AtomicBool::new(false)));
        let flag = stop.0.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let connection = open(&file, trust, timeout, flag)?;
            work(&connection)
        });
        done.await.map_err(|e| DataError::internal("SQLite", e))?
    }
}

/// The file of `sqlite:///absolute/path`, `sqlite://relative/path` or `sqlite:path`; it is only ever read, so that options say nothing.
fn file_of(url: &str) -> Result<PathBuf, String> {
    let path = url.strip_prefix("sqlite:").unwrap_or(url);
    let path = path.strip_prefix("//").unwrap_or(path);
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let path = percent_encoding::percent_decode_str(path).decode_utf8().map_err(|e| e.to_string())?;
    match path.as_ref() {
        "" | ":memory:" => Err("a SQLite connection names a file: sqlite:///path/to/file.db".to_owned()),
        path => Ok(PathBuf::from(path)),
    }
}

/// Ends the statement when the caller goes away.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn open(
    file: &std::path::Path,
    trust: Trust,
    timeout: Duration,
    stop: Arc<AtomicBool>,
) -> Result<Connection, DataError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).map_err(|e| unreachable(told(&e)))?;
    let deadline = Instant::now() + timeout;
    let prepare = || {
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;")?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.progress_handler(
            STEPS,
            Some(move || stop.load(Ordering::Relaxed) || Instant::now() >= deadline),
        )?;
        if trust == Trust::Theirs {
            sqlite_functions::replace_slow_ones(&connection)?;
            connection.authorizer(Some(|step: AuthContext<'_>| may(&step.action)))?;
        }
        rusqlite::Result::Ok(())
    };
    prepare().map_err(failed)?;
    Ok(connection)
}

/// Reading rows and calling functions; nothing else that there is or will be.
fn may(step: &AuthAction<'_>) -> Authorization {
    let allowed = match step {
        AuthAction::Select | AuthAction::Recursive => true,
        AuthAction::Read { table_name, .. } => !table_name.to_lowercase().starts_with("pragma_"),
        AuthAction::Function { function_name } => {
            !REFUSED.iter().any(|name| name.eq_ignore_ascii_case(function_name))
        }
        // Full-text search looks whether its index has changed.
        AuthAction::Pragma { pragma_name, pragma_value: None } => *pragma_name == "data_version",
        _ => false,
    };
    if allowed { Authorization::Allow } else { Authorization::Deny }
}

#[async_trait]
impl Engine for Sqlite {
    async fn query(
        &self,
        sql: &Checked,
        params: &Map<String, Value>,
        rows: &mut Rows,
    ) -> Result<(), DataError> {
        let bound = params::bind(sql, params, Style::Question)?;
        let mut taken = rows.take();
        let (outcome, back) = self
            .with(Trust::Theirs, move |connection| {
                let outcome = run(connection, &bound, &mut taken);
                Ok((outcome, taken))
            })
            .await?;
        *rows = back;
        outcome
    }

    async fn zone(&self) -> Result<Option<String>, DataError> {
        Ok(None)
    }

    async fn tables(&self) -> Result<Vec<TableInfo>, DataError> {
        self.with(Trust::Ours, |connection| described(connection).map_err(failed)).await
    }
}

fn run(connection: &Connection, bound: &params::Bound, rows: &mut Rows) -> Result<(), DataError> {
    // `prepare` refuses a second statement after the first.
    let mut statement = connection.prepare(&bound.sql).map_err(failed)?;
    let width = statement.column_count().max(1);
    let longest = MAX_VALUE_BYTES.min(MAX_ROW_BYTES / width);
    let longest = i32::try_from(longest).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, longest).map_err(failed)?;
    let declared: Vec<Column> =
        statement.columns().iter().map(|c| Column::new(c.name(), kind(c.decl_type()))).collect();
    rows.columns = declared;
    let values: Vec<Bound<'_>> = bound.values.iter().map(|(_, value)| Bound(value)).collect();
    let mut found = statement.query(rusqlite::params_from_iter(values)).map_err(failed)?;
    while let Some(row) = found.next().map_err(failed)? {
        let limit = rows.cell_limit();
        let cells = (0..rows.columns.len()).map(|i| row.get_ref(i).map(|cell| value(cell, limit)));
        if rows.push(cells.collect::<Result<_, _>>().map_err(failed)?)? == Flow::Enough {
            break;
        }
    }
    Ok(())
}

fn described(connection: &Connection) -> rusqlite::Result<Vec<TableInfo>> {
    let sql = "SELECT m.name, m.type, p.name, p.type, p.pk,
                      (SELECT '→ ' || f.\"table\" FROM pragma_foreign_key_list(m.name) f WHERE f.\"from\" = p.name LIMIT 1)
               FROM sqlite_master m, pragma_table_info(m.name) p
               WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name, p.cid LIMIT 60000";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut tables: Vec<TableInfo> = Vec::new();
    while let Some(row) = rows.next()? {
        let text = |i: usize| row.get::<_, Option<String>>(i).ok().flatten().unwrap_or_default();
        let primary = row.get::<_, i64>(4).unwrap_or_default() > 0;
        let key = schema::key(primary, &text(5));
        let column = ColumnInfo { name: text(2), kind: text(3), key, ..ColumnInfo::default() };
        let table = TableInfo { name: text(0), kind: text(1), ..TableInfo::default() };
        schema::add_column(&mut tables, table, column);
    }
    Ok(tables)
}

/// A value that is bound as SQLite stores it.
struct Bound<'a>(&'a Value);

impl rusqlite::ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Value::Bool(b) => i64::from(*b).into(),
            Value::Number(n) => match n.as_i64() {
                Some(i) => i.into(),
                None => n.as_f64().unwrap_or_default().into(),
            },
            Value::String(s) => s.as_str().into(),
            other => other.to_string().into(),
        })
    }
}

/// By the value's own storage class: a SQLite column may hold anything.
fn value(cell: ValueRef<'_>, limit: usize) -> Value {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(n) => integer(n),
        ValueRef::Real(f) => float(f),
        ValueRef::Text(text) => {
            // Four bytes a character at most; what is behind them is not looked at.
            let text = String::from_utf8_lossy(&text[..text.len().min(4 * (limit + 1))]);
            Value::from(clip(&text, limit))
        }
        ValueRef::Blob(raw) => bytes(&raw[..raw.len().min(limit / 2 + 1)]),
    }
}

/// The storage class of a declared type, by SQLite's own rules.
fn kind(declared: Option<&str>) -> &'static str {
    let Some(declared) = declared.map(str::to_ascii_lowercase) else { return "NULL" };
    let has = |words: &[&str]| words.iter().any(|w| declared.contains(w));
    match declared.as_str() {
        "boolean" | "bool" => "BOOLEAN",
        "date" => "DATE",
        "time" => "TIME",
        "datetime" | "timestamp" => "DATETIME",
        _ if has(&["int"]) => "INTEGER",
        _ if has(&["char", "clob", "text"]) => "TEXT",
        _ if has(&["blob"]) => "BLOB",
        _ if has(&["real", "floa", "doub"]) => "REAL",
        _ => "NUMERIC",
    }
}

fn failed(error: rusqlite::Error) -> DataError {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => DataError::Timeout { what: "the query".into(), seconds: 0 },
        Some(ErrorCode::TooBig) => DataError::Query {
            code: "RESULT_TOO_LARGE".into(),
            message: "a value is too long to be made or read".into(),
            hint: Some("select fewer columns or rows, or left(column, n): substr(column, 1, n)".into()),
        },
        Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => {
            DataError::query("READ_ONLY", format!("only reading is allowed: {}", told(&error)))
        }
        _ => DataError::query("SQL_FAILED", told(&error)),
    }
}

/// The engine's own words, which name no file.
fn told(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(code, Some(message)) if message.contains("unable to open") => {
            format!("the file cannot be opened ({:?})", code.code)
        }
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}
