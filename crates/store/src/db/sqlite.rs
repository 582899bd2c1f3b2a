//! SQLite in WAL mode with `synchronous=FULL`: one writer thread that commits many callers' jobs with one
//! flush (group commit), and a few read-only connections. Answers only after the commit.
//!
//! A thread of its own runs a whole batch without handing each statement to another thread and back: that hand-over
//! cost more than the statements. Refuses jobs that wait for anything but their session.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use parking_lot::Mutex;
use rusqlite::{CachedStatement, Connection, OpenFlags};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::{Answer, Engine, Job, Param, Row, Session};
use crate::error::{Result, StoreError};
use crate::private;

/// Jobs that share one flush at most; keeps the wait of the first one bounded.
const MAX_BATCH: usize = 256;
const QUEUE: usize = 4096;
const READERS: usize = 4;
/// Prepared statements kept per connection.
const STATEMENTS: usize = 256;
/// How long folding the log waits for readers; writes wait with it.
const FOLD: Duration = Duration::from_millis(500);
/// How long a write waits for another process that is writing.
const BUSY: Duration = Duration::from_secs(30);

struct Queued {
    job: Job,
    reply: oneshot::Sender<Result<Answer>>,
}

enum Command {
    Write(Queued),
    Close(oneshot::Sender<()>),
}

pub(crate) struct Sqlite {
    queue: mpsc::Sender<Command>,
    readers: Arc<Readers>,
}

impl Sqlite {
    pub(crate) async fn open(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent() {
            private::create_dir_all(folder).map_err(|e| StoreError::io("creating the data folder", e))?;
        }
        create_private(path)?;
        let writer = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        writer
            .execute_batch(
                // Deleted rows are overwritten, not only unlinked: deletion is a promise (SPEC H8).
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON",
            )
            .map_err(sqlite_error)?;
        let (queue, jobs) = mpsc::channel(QUEUE);
        std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || write_loop(writer, jobs))
            .map_err(|e| StoreError::io("starting the database writer", e))?;
        let readers =
            Readers { path: path.to_owned(), idle: Mutex::default(), permits: Semaphore::new(READERS) };
        Ok(Self { queue, readers: Arc::new(readers) })
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection> {
    // No shared cache and no mutex: each connection is used by one thread at a time.
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
    let connection = connection.map_err(sqlite_error)?;
    connection.busy_timeout(BUSY).map_err(sqlite_error)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Read-only connections, opened when first needed.
struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
}

impl Readers {
    fn query(&self, sql: &str, params: Vec<Param>) -> Result<Vec<Row>> {
        let idle = self.idle.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connect(&self.path, OpenFlags::SQLITE_OPEN_READ_ONLY)?,
        };
        let rows = query(&connection, sql, params);
        self.idle.lock().push(connection);
        rows
    }
}

/// `$3` is a name to SQLite, numbered by its first use; to PostgreSQL, and so to us, it is the third parameter.
fn bound<'c>(connection: &'c Connection, sql: &str, params: &[Param]) -> Result<CachedStatement<'c>> {
    let mut statement = connection.prepare_cached(sql).map_err(sqlite_error)?;
    for index in 1..=statement.parameter_count() {
        let name =
            statement.parameter_name(index).and_then(|name| name.strip_prefix('$')?.parse::<usize>().ok());
        let param = name.and_then(|number| params.get(number.checked_sub(1)?));
        let param = param
            .ok_or_else(|| StoreError::Invalid(format!("parameter {index} of a statement is not given")))?;
        statement.raw_bind_parameter(index, param).map_err(sqlite_error)?;
    }
    Ok(statement)
}

fn query(connection: &Connection, sql: &str, params: Vec<Param>) -> Result<Vec<Row>> {
    let mut statement = bound(connection, sql, &params)?;
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(sqlite_error)? {
        found.push(Row::from_sqlite(row)?);
    }
    Ok(found)
}

/// Maps SQLite's error to who must react. Statement data never enters the message.
pub(super) fn sqlite_error(error: rusqlite::Error) -> StoreError {
    let rusqlite::Error::SqliteFailure(code, message) = &error else {
        return StoreError::Unavailable(error.to_string());
    };
    let message = message.clone().unwrap_or_else(|| code.to_string());
    match code.extended_code {
        rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
            StoreError::Conflict("it already exists".to_owned())
        }
        // The low byte of the extended result code is the primary one.
        other => match other & 0xff {
            rusqlite::ffi::SQLITE_CORRUPT | rusqlite::ffi::SQLITE_NOTADB => StoreError::Corrupt(message),
            rusqlite::ffi::SQLITE_FULL => StoreError::Full(message),
            rusqlite::ffi::SQLITE_BUSY | rusqlite::ffi::SQLITE_LOCKED => {
                StoreError::InUse(format!("another process is writing to the database: {message}"))
            }
            _ => StoreError::Unavailable(message),
        },
    }
}

/// A new database is for its owner's eyes only; SQLite gives its companions the same mode.
fn create_private(path: &Path) -> Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let created = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match created {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(StoreError::io("creating the database", e))
        }
        Err(_) => private::close_to_others(path)
            .map(|_| ())
            .map_err(|e| StoreError::io("closing the database to others", e)),
        Ok(_) => Ok(()),
    }
}

#[async_trait]
impl Engine for Sqlite {
    async fn write(&self, job: Job) -> Result<Answer> {
        let (reply, answer) = oneshot::channel();
        let closed = || StoreError::Unavailable("the database writer has stopped".to_owned());
        self.queue.send(Command::Write(Queued { job, reply })).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    async fn read(&self, sql: &'static str, params: Vec<Param>) -> Result<Vec<Row>> {
        let closed = || StoreError::Unavailable("the database is closed".to_owned());
        let _permit = self.readers.permits.acquire().await.map_err(|_| closed())?;
        let readers = self.readers.clone();
        tokio::task::spawn_blocking(move || readers.query(sql, params)).await.map_err(|_| closed())?
    }

    fn is_shared(&self) -> bool {
        false
    }

    async fn try_advisory_lock(&self, _key: i64) -> Result<bool> {
        Ok(true)
    }

    async fn advisory_unlock(&self, _key: i64) {}

    async fn integrity(&self) -> Result<Vec<String>> {
        let rows = self.read("PRAGMA integrity_check", Vec::new()).await?;
        let found: Vec<String> = rows.iter().map(|r| r.string(0)).collect::<Result<_>>()?;
        Ok(found.into_iter().filter(|line| line != "ok").collect())
    }

    async fn forget_deleted(&self) -> Result<bool> {
        let path = self.readers.path.clone();
        let folded = tokio::task::spawn_blocking(move || {
            let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            connection.busy_timeout(FOLD).map_err(sqlite_error)?;
            let busy: i64 = connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
                .map_err(sqlite_error)?;
            Ok(busy == 0)
        });
        folded.await.map_err(|e| StoreError::Unavailable(e.to_string()))?
    }

    async fn close(&self) {
        self.readers.permits.close();
        self.readers.idle.lock().clear();
        let (done, closed) = oneshot::channel();
        if self.queue.send(Command::Close(done)).await.is_ok() {
            let _ = closed.await;
        }
    }
}

struct SqliteSession<'c>(&'c mut Connection);

impl SqliteSession<'_> {
    fn run(&self, sql: &str, params: Vec<Param>) -> Result<u64> {
        let changed = bound(self.0, sql, &params)?.raw_execute().map_err(sqlite_error)?;
        Ok(changed as u64)
    }
}

#[async_trait]
impl Session for SqliteSession<'_> {
    async fn execute(&mut self, sql: &'static str, params: Vec<Param>) -> Result<u64> {
        self.run(sql, params)
    }

    async fn query(&mut self, sql: &'static str, params: Vec<Param>) -> Result<Vec<Row>> {
        query(self.0, sql, params)
    }
}

/// While one batch is being flushed the next one gathers in the queue: that is the whole of group commit.
fn write_loop(mut connection: Connection, mut commands: mpsc::Receiver<Command>) {
    let mut closing = None;
    while closing.is_none()
        && let Some(command) = commands.blocking_recv()
    {
        match command {
            Command::Close(done) => closing = Some(done),
            Command::Write(first) => closing = write_batch(&mut connection, first, &mut commands),
        }
    }
    // A clean end leaves one file behind. Another process that still reads keeps its part of the log.
    if closing.is_some()
        && let Err(error) = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    {
        tracing::warn!(%error, "the write-ahead log was not folded into the database");
    }
    drop(connection);
    if let Some(done) = closing {
        let _ = done.send(());
    }
}

/// One transaction for all that is queued. Gives back a wish to close that it met on the way.
fn write_batch(
    connection: &mut Connection,
    first: Queued,
    commands: &mut mpsc::Receiver<Command>,
) -> Option<oneshot::Sender<()>> {
    let mut session = SqliteSession(connection);
    if let Err(error) = session.run("BEGIN IMMEDIATE", Vec::new()) {
        let _ = first.reply.send(Err(error));
        return None;
    }
    let (mut done, mut broken, mut closing) = (Vec::new(), None, None);
    let mut next = Some(first);
    while let Some(Queued { job, reply }) = next.take() {
        match run_job(&mut session, job) {
            Ok(result) => done.push((reply, result)),
            Err(error) => {
                done.push((reply, Err(again(&error))));
                broken = Some(error);
                break;
            }
        }
        if done.len() < MAX_BATCH {
            match commands.try_recv() {
                Ok(Command::Write(queued)) => next = Some(queued),
                Ok(Command::Close(wish)) => closing = Some(wish),
                Err(_) => {}
            }
        }
    }
    let committed = match broken {
        Some(error) => Err(error),
        None => session.run("COMMIT", Vec::new()).map(|_| ()),
    };
    if let Err(error) = &committed {
        tracing::error!(%error, jobs = done.len(), "a batch of writes was rolled back");
        let _ = session.run("ROLLBACK", Vec::new());
    }
    for (reply, result) in done {
        let _ = reply.send(match &committed {
            Ok(()) => result,
            Err(error) => result.and(Err(again(error))),
        });
    }
    closing
}

/// Runs one job in a savepoint. `Err` means that the whole transaction is lost (disk full, IO error).
fn run_job(session: &mut SqliteSession<'_>, job: Job) -> Result<Result<Answer>> {
    session.run("SAVEPOINT job", Vec::new())?;
    // Statements of a session are done when they return, so a job that only awaits them is done at once.
    let result = match AssertUnwindSafe(job(session)).catch_unwind().now_or_never() {
        Some(Ok(result)) => result,
        Some(Err(_)) => Err(StoreError::Unavailable("a write panicked and was rolled back".to_owned())),
        None => Err(StoreError::Unavailable("a write waited inside its transaction".to_owned())),
    };
    match &result {
        Ok(_) => session.run("RELEASE job", Vec::new()).map(|_| ())?,
        Err(cause) => {
            let undone = session.run("ROLLBACK TO job", Vec::new());
            let undone = match undone {
                Ok(_) => session.run("RELEASE job", Vec::new()),
                Err(e) => Err(e),
            };
            // SQLite rolls the whole transaction back by itself on some errors; then there is no savepoint left.
            undone.map_err(|_| again(cause))?;
        }
    }
    Ok(result)
}

/// The same failure for one more caller.
fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::Full(m) => StoreError::Full(m.clone()),
        StoreError::Corrupt(m) => StoreError::Corrupt(m.clone()),
        StoreError::InUse(m) => StoreError::InUse(m.clone()),
        other => StoreError::Unavailable(other.to_string()),
    }
}
