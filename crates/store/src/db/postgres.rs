//! PostgreSQL for replicas: one transaction per job (the server groups flushes itself), the lock for migrations on a
//! connection of its own. Refuses `synchronous_commit = off`: an acknowledged write is on disk. Waits for nothing without
//! end: a connection whose other side is gone without a word is given up.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, PgConnection, Postgres as Pg, Transaction};
use tokio::sync::Mutex;

use super::value::bind_postgres;
use super::{Answer, Engine, Job, Param, Row, Session, database_error, params};
use crate::error::{Result, StoreError};

const CONNECTIONS: u32 = 16;
const ACQUIRE: Duration = Duration::from_secs(30);
/// A transaction that takes longer than its waits for a connection and for locks together has lost its server.
const LONGEST: Duration = Duration::from_secs(75);

pub(crate) struct Postgres {
    pool: PgPool,
    options: PgConnectOptions,
    /// Session-level locks live as long as this connection.
    locks: Mutex<Option<PgConnection>>,
}

impl Postgres {
    pub(crate) async fn open(url: &str) -> Result<Self> {
        let options: PgConnectOptions = url.parse().map_err(|_| {
            StoreError::Invalid(
                "the PostgreSQL URL cannot be read; expected postgres://user@host/database".to_owned(),
            )
        })?;
        let options = options
            .application_name("ba-agent")
            .options([("synchronous_commit", "on"), ("lock_timeout", "30s")])
            .disable_statement_logging();
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(ACQUIRE)
            .connect_with(options.clone())
            .await
            .map_err(database_error)?;
        Ok(Self { pool, options, locks: Mutex::new(None) })
    }

    pub(crate) fn pool(&self) -> &PgPool {
        &self.pool
    }
}

async fn in_time<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let late = |_| StoreError::Unavailable("the database did not answer in time".to_owned());
    tokio::time::timeout(LONGEST, work).await.map_err(late)?
}

#[async_trait]
impl Engine for Postgres {
    async fn write(&self, job: Job) -> Result<Answer> {
        in_time(async {
            let mut session = PgSession(self.pool.begin().await.map_err(database_error)?);
            // An early return drops the transaction, which rolls it back.
            let answer = job(&mut session).await?;
            session.0.commit().await.map_err(database_error)?;
            Ok(answer)
        })
        .await
    }

    async fn read(&self, sql: &'static str, params: Vec<Param>) -> Result<Vec<Row>> {
        in_time(async {
            let rows = bind_postgres(sql, params).fetch_all(&self.pool).await.map_err(database_error)?;
            rows.iter().map(Row::from_postgres).collect()
        })
        .await
    }

    fn is_shared(&self) -> bool {
        true
    }

    async fn try_advisory_lock(&self, key: i64) -> Result<bool> {
        let mut slot = self.locks.lock().await;
        let connection = match slot.as_mut() {
            Some(connection) => connection,
            None => slot.insert(self.options.connect().await.map_err(database_error)?),
        };
        let tried =
            bind_postgres("SELECT pg_try_advisory_lock($1)", params![key]).fetch_one(connection).await;
        match tried {
            Ok(row) => Row::from_postgres(&row)?.flag(0),
            Err(error) => {
                // A broken connection has lost its locks; the next caller opens another.
                *slot = None;
                Err(database_error(error))
            }
        }
    }

    async fn advisory_unlock(&self, key: i64) {
        let mut slot = self.locks.lock().await;
        let Some(connection) = slot.as_mut() else { return };
        let freed = bind_postgres("SELECT pg_advisory_unlock($1)", params![key]).execute(connection).await;
        if let Err(error) = freed {
            tracing::warn!(%error, "releasing a conversation lock failed; its connection is closed instead");
            *slot = None;
        }
    }

    async fn integrity(&self) -> Result<Vec<String>> {
        // The server checks its own pages; reading every table is what a client can do.
        self.read("SELECT count(*) FROM events", Vec::new()).await.map(|_| Vec::new())
    }

    async fn close(&self) {
        self.locks.lock().await.take();
        self.pool.close().await;
    }
}

struct PgSession(Transaction<'static, Pg>);

#[async_trait]
impl Session for PgSession {
    async fn execute(&mut self, sql: &'static str, params: Vec<Param>) -> Result<u64> {
        let done = bind_postgres(sql, params).execute(&mut *self.0).await.map_err(database_error)?;
        Ok(done.rows_affected())
    }

    async fn query(&mut self, sql: &'static str, params: Vec<Param>) -> Result<Vec<Row>> {
        let rows = bind_postgres(sql, params).fetch_all(&mut *self.0).await.map_err(database_error)?;
        rows.iter().map(Row::from_postgres).collect()
    }
}
