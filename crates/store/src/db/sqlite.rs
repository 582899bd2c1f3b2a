//! SQLite in WAL mode with `synchronous=FULL`: one writer task that commits many callers' jobs with one
//! flush (group commit), and a pool of read-only connections. Answers only after the commit.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection, SqlitePool};
use tokio::sync::{mpsc, oneshot};

use super::value::bind_sqlite;
use super::{Answer, Engine, Job, Param, Row, Session, database_error};
use crate::error::{Result, StoreError};

/// Jobs that share one flush at most; keeps the wait of the first one bounded.
const MAX_BATCH: usize = 256;
const QUEUE: usize = 4096;
const READERS: u32 = 4;
/// How long a write waits for another process that is writing.
const BUSY: Duration = Duration::from_secs(30);

type Queued = (Job, oneshot::Sender<Result<Answer>>);

enum Command {
    Write(Queued),
    Close(oneshot::Sender<()>),
}

pub(crate) struct Sqlite {
    queue: mpsc::Sender<Command>,
    readers: SqlitePool,
}

impl Sqlite {
    pub(crate) async fn open(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| StoreError::io("creating the data folder", e))?;
        }
        create_private(path)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY)
            .statement_cache_capacity(256)
            .disable_statement_logging();
        let writer = options.connect().await.map_err(database_error)?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .connect_lazy_with(options.create_if_missing(false).read_only(true));
        let (queue, jobs) = mpsc::channel(QUEUE);
        tokio::spawn(write_loop(writer, jobs));
        Ok(Self { queue, readers })
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
        _ => Ok(()),
    }
}

#[async_trait]
impl Engine for Sqlite {
    async fn write(&self, job: Job) -> Result<Answer> {
        let (reply, answer) = oneshot::channel();
        let closed = || StoreError::Unavailable("the database writer has stopped".to_owned());
        self.queue.send(Command::Write((job, reply))).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    async fn read(&self, sql: &'static str, params: Vec<Param>) -> Result<Vec<Row>> {
        let rows = bind_sqlite(sql, params).fetch_all(&self.readers).await.map_err(database_error)?;
        rows.iter().map(Row::from_sqlite).collect()
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

    async fn close(&self) {
        self.readers.close().await;
        let (done, closed) = oneshot::channel();
        if self.queue.send(Command::Close(done)).await.is_ok() {
            let _ = closed.await;
        }
    }
}

struct SqliteSession<'c>(&'c mut SqliteConnection);

#[async_trait]
impl Session for SqliteSession<'_> {
    async fn execute(&mut self, sql: &'static str, params: Vec<Param>) -> Result<u64> {
        let done = bind_sqlite(sql, params).execute(&mut *self.0).await.map_err(database_error)?;
        Ok(done.rows_affected())
    }

    async fn query(&mut self, sql: &'static str, params: Vec<Param>) -> Result<Vec<Row>> {
        let rows = bind_sqlite(sql, params).fetch_all(&mut *self.0).await.map_err(database_error)?;
        rows.iter().map(Row::from_sqlite).collect()
    }
}

/// While one batch is being flushed the next one gathers in the queue: that is the whole of group commit.
async fn write_loop(mut connection: SqliteConnection, mut commands: mpsc::Receiver<Command>) {
    let mut closing = None;
    while closing.is_none()
        && let Some(command) = commands.recv().await
    {
        match command {
            Command::Close(done) => closing = Some(done),
            Command::Write(first) => closing = write_batch(&mut connection, first, &mut commands).await,
        }
    }
    let _ = connection.close().await;
    if let Some(done) = closing {
        let _ = done.send(());
    }
}

/// One transaction for all that is queued. Gives back a wish to close that it met on the way.
async fn write_batch(
    connection: &mut SqliteConnection,
    first: Queued,
    commands: &mut mpsc::Receiver<Command>,
) -> Option<oneshot::Sender<()>> {
    let mut session = SqliteSession(connection);
    if let Err(error) = session.execute("BEGIN IMMEDIATE", Vec::new()).await {
        let _ = first.1.send(Err(error));
        return None;
    }
    let (mut done, mut broken, mut closing) = (Vec::new(), None, None);
    let mut next = Some(first);
    while let Some((job, reply)) = next.take() {
        match run_job(&mut session, job).await {
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
        None => session.execute("COMMIT", Vec::new()).await.map(|_| ()),
    };
    if let Err(error) = &committed {
        tracing::error!(%error, jobs = done.len(), "a batch of writes was rolled back");
        let _ = session.execute("ROLLBACK", Vec::new()).await;
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
async fn run_job(session: &mut SqliteSession<'_>, job: Job) -> Result<Result<Answer>> {
    session.execute("SAVEPOINT job", Vec::new()).await?;
    let result = match AssertUnwindSafe(job(session)).catch_unwind().await {
        Ok(result) => result,
        Err(_) => Err(StoreError::Unavailable("a write panicked and was rolled back".to_owned())),
    };
    match &result {
        Ok(_) => session.execute("RELEASE job", Vec::new()).await.map(|_| ())?,
        Err(cause) => {
            let undone = session.execute("ROLLBACK TO job", Vec::new()).await;
            let undone = match undone {
                Ok(_) => session.execute("RELEASE job", Vec::new()).await,
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
