//! The one door to the database. SQL is written once, in the dialect SQLite and PostgreSQL share
//! (`$1` parameters, `ON CONFLICT`, `RETURNING`, only BIGINT and TEXT); the two engines differ in how
//! a write transaction is run. Refuses dynamic SQL: statements are `&'static str`.

pub(crate) mod migrations;
mod postgres;
mod sqlite;
mod value;

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;

use crate::error::{Result, StoreError};

pub(crate) use postgres::Postgres;
pub(crate) use sqlite::Sqlite;
pub(crate) use value::{Param, Row};

/// An open write transaction.
#[async_trait]
pub(crate) trait Session: Send {
    async fn execute(&mut self, sql: &'static str, params: Vec<Param>) -> Result<u64>;
    async fn query(&mut self, sql: &'static str, params: Vec<Param>) -> Result<Vec<Row>>;
}

impl dyn Session + '_ {
    pub(crate) async fn one(&mut self, sql: &'static str, params: Vec<Param>) -> Result<Option<Row>> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }
}

pub(crate) type Answer = Box<dyn Any + Send>;
/// What to do inside a write transaction. An error rolls back this job alone.
pub(crate) type Job = Box<dyn for<'s> FnOnce(&'s mut dyn Session) -> BoxFuture<'s, Result<Answer>> + Send>;

/// A database engine.
#[async_trait]
pub(crate) trait Engine: Send + Sync {
    /// Runs the job in a transaction; durable when this returns `Ok`.
    async fn write(&self, job: Job) -> Result<Answer>;
    async fn read(&self, sql: &'static str, params: Vec<Param>) -> Result<Vec<Row>>;
    /// Whether other processes write to the same database as peers.
    fn is_shared(&self) -> bool;
    /// Takes a lock that holds across processes; `true` when taken. Engines for one machine always take it.
    async fn try_advisory_lock(&self, key: i64) -> Result<bool>;
    async fn advisory_unlock(&self, key: i64);
    /// A full check of the database's own structures; the problems found.
    async fn integrity(&self) -> Result<Vec<String>>;
    /// Leaves nothing of what was deleted in the log of writes, as far as the engine lets us; `false` when readers held it.
    async fn forget_deleted(&self) -> Result<bool> {
        Ok(true)
    }
    /// Finishes what is queued and lets go of the database. Later calls fail.
    async fn close(&self);
}

/// A shared handle with typed helpers.
#[derive(Clone)]
pub(crate) struct Db {
    engine: Arc<dyn Engine>,
}

impl Db {
    pub(crate) fn new(engine: Arc<dyn Engine>) -> Self {
        Self { engine }
    }

    pub(crate) fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    /// Runs `work` in one transaction. It may only await the session.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut dyn Session) -> BoxFuture<'s, Result<T>> + Send + 'static,
    {
        let job: Job = Box::new(move |session| {
            let done = work(session);
            Box::pin(async move { done.await.map(|value| Box::new(value) as Answer) })
        });
        let answer = self.engine.write(job).await?;
        match answer.downcast::<T>() {
            Ok(value) => Ok(*value),
            Err(_) => Err(StoreError::Unavailable("a write answered with another type".to_owned())),
        }
    }

    pub(crate) async fn read(&self, sql: &'static str, params: Vec<Param>) -> Result<Vec<Row>> {
        self.engine.read(sql, params).await
    }

    pub(crate) async fn read_one(&self, sql: &'static str, params: Vec<Param>) -> Result<Option<Row>> {
        Ok(self.read(sql, params).await?.into_iter().next())
    }
}

/// `Param`s of mixed types: `params![id, 3, Some("x")]`.
macro_rules! params {
    ($($value:expr),* $(,)?) => { vec![$($crate::db::Param::from($value)),*] };
}
pub(crate) use params;

/// Maps PostgreSQL's error to who must react. Statement data never enters the message.
fn database_error(error: sqlx::Error) -> StoreError {
    let sqlx::Error::Database(db) = &error else {
        return StoreError::Unavailable(error.to_string());
    };
    if db.is_unique_violation() {
        return StoreError::Conflict("it already exists".to_owned());
    }
    let message = db.message().to_owned();
    match db.code().as_deref() {
        Some("53100") => StoreError::Full(message),
        Some("XX001" | "XX002") => StoreError::Corrupt(message),
        _ => StoreError::Unavailable(message),
    }
}
