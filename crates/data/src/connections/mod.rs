//! Databases that people already run: read through typed pools, in a READ ONLY transaction, with a timeout that the
//! server itself enforces. Never writes, never shows an address, never uses a superuser unless told so in words.

mod cancel;
mod clickhouse;
mod config;
mod mysql;
mod postgres;
mod samples;
mod schema;
mod sqlite;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ba_protocol::table::Column;
use futures::StreamExt;
use moka::future::Cache;
use serde_json::{Map, Value};

pub use config::{ConnectionConfig, ConnectionInfo, SecretUrl};
pub use schema::{ColumnInfo, SchemaView, TableInfo};

use crate::guard::{self, Checked, Dialect};
use crate::{DataError, QueryResult};

const MAX_ROWS: u32 = 10_000;
const SCHEMA_TTL: Duration = Duration::from_secs(300);
/// Sample values are a help: a description never waits longer for all of them together.
const SAMPLES_WALL: Duration = Duration::from_secs(2);
/// Below the four connections of a pool, so that a query finds one free.
const SAMPLED_AT_ONCE: usize = 3;

/// One engine behind a connection.
#[async_trait]
trait Engine: Send + Sync {
    /// Connects when needed, and refuses an account that could do more than read.
    async fn query(
        &self,
        sql: &Checked,
        params: &Map<String, Value>,
        max_rows: usize,
    ) -> Result<Fetched, DataError>;

    async fn tables(&self) -> Result<Vec<TableInfo>, DataError>;
}

/// Rows as an engine gives them, at most one more than asked for.
struct Fetched {
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
}

struct Connection {
    info: ConnectionInfo,
    url: SecretUrl,
    timeout: Duration,
    engine: Box<dyn Engine>,
}

/// All configured connections; clones share pools and caches.
#[derive(Clone)]
pub struct Connections {
    all: Arc<BTreeMap<String, Connection>>,
    schemas: Cache<String, Arc<Vec<TableInfo>>>,
    /// Tables with their samples, by connection and name.
    sampled: Cache<(String, String), Arc<TableInfo>>,
}

impl Connections {
    /// Opens nothing yet; a wrong address is an error now, an unreachable one at the first query.
    pub fn new(configs: Vec<ConnectionConfig>) -> Result<Self, DataError> {
        let mut all = BTreeMap::new();
        for config in configs {
            let name = config.name.clone();
            all.insert(name, open(config)?);
        }
        let schemas = Cache::builder().max_capacity(64).time_to_live(SCHEMA_TTL).build();
        let sampled = Cache::builder().max_capacity(2_000).time_to_live(SCHEMA_TTL).build();
        Ok(Self { all: Arc::new(all), schemas, sampled })
    }

    pub fn list(&self) -> Vec<ConnectionInfo> {
        self.all.values().map(|c| c.info.clone()).collect()
    }

    pub fn contains(&self, name: &str) -> bool {
        self.all.contains_key(name)
    }

    /// Runs one read-only statement with named parameters.
    pub async fn query(
        &self,
        name: &str,
        sql: &str,
        params: &Map<String, Value>,
        max_rows: u32,
    ) -> Result<QueryResult, DataError> {
        let connection = self.get(name)?;
        let checked = guard::check(sql, connection.info.dialect)?;
        let limit = max_rows.clamp(1, MAX_ROWS) as usize;
        let started = Instant::now();
        let work = connection.engine.query(&checked, params, limit);
        let mut fetched = connection.bounded("the query", work).await?;
        let truncated = fetched.rows.len() > limit;
        fetched.rows.truncate(limit);
        Ok(QueryResult::new(fetched.columns, fetched.rows, truncated, started.elapsed()))
    }

    /// What the connection holds; `search` picks tables by name, comment or columns. Cached for five minutes.
    pub async fn schema(&self, name: &str, search: Option<&str>) -> Result<SchemaView, DataError> {
        let connection = self.get(name)?;
        let tables = match self.schemas.get(name).await {
            Some(tables) => tables,
            None => {
                let work = connection.engine.tables();
                let tables = Arc::new(connection.bounded("reading the schema", work).await?);
                self.schemas.insert(name.to_owned(), tables.clone()).await;
                tables
            }
        };
        let picked = schema::pick(&tables, search);
        if picked.len() > schema::DETAILED {
            return Ok(SchemaView::of(&picked, tables.len(), search));
        }
        let detailed = self.with_samples(connection, picked).await;
        let shown: Vec<&TableInfo> = detailed.iter().map(AsRef::as_ref).collect();
        Ok(SchemaView::of(&shown, tables.len(), search))
    }

    /// The tables with sample values, a few at a time so that one that cannot be read now does not hold up the others. Those
    /// that are not read in time are described without.
    async fn with_samples(&self, connection: &Connection, tables: Vec<&TableInfo>) -> Vec<Arc<TableInfo>> {
        let mut all: Vec<Arc<TableInfo>> = tables.into_iter().cloned().map(Arc::new).collect();
        let work: Vec<_> = all
            .iter()
            .cloned()
            .enumerate()
            .map(|(i, table)| async move { (i, self.sampled(connection, table).await) })
            .collect();
        let mut done = futures::stream::iter(work).buffer_unordered(SAMPLED_AT_ONCE);
        let until = tokio::time::Instant::now() + SAMPLES_WALL.min(connection.timeout);
        while let Ok(Some((i, table))) = tokio::time::timeout_at(until, done.next()).await {
            all[i] = table;
        }
        all
    }

    async fn sampled(&self, connection: &Connection, table: Arc<TableInfo>) -> Arc<TableInfo> {
        let key = (connection.info.name.clone(), table.name.clone());
        if let Some(known) = self.sampled.get(&key).await {
            return known;
        }
        let Some((sql, columns)) = samples::statement(&table, connection.info.dialect) else { return table };
        // A table that takes too long is not waited for again.
        self.sampled.insert(key.clone(), table.clone()).await;
        let mut described = TableInfo::clone(&table);
        match connection.sample(&sql).await {
            Ok(rows) => samples::collect(&mut described, &columns, &rows),
            Err(error) => tracing::debug!(%error, table = %table.name, "no sample values"),
        }
        let described = Arc::new(described);
        self.sampled.insert(key, described.clone()).await;
        described
    }

    fn get(&self, name: &str) -> Result<&Connection, DataError> {
        self.all.get(name).ok_or_else(|| DataError::UnknownConnection {
            name: ba_protocol::text::shorten(&ba_protocol::text::one_line(name), 80),
            known: match self.all.len() {
                0 => "none is configured".to_owned(),
                _ => self.all.keys().cloned().collect::<Vec<_>>().join(", "),
            },
        })
    }
}

impl Connection {
    /// The same walls as for a model's query: the guard, a READ ONLY transaction, the statement timeout.
    async fn sample(&self, sql: &str) -> Result<Vec<Vec<Value>>, DataError> {
        let checked = guard::check(sql, self.info.dialect)?;
        let none = Map::new();
        let work = self.engine.query(&checked, &none, samples::ROWS);
        Ok(self.bounded("reading samples", work).await?.rows)
    }

    /// The server's own timeout comes first; this one catches a server that does not answer at all.
    async fn bounded<T>(
        &self,
        what: &str,
        work: impl Future<Output = Result<T, DataError>>,
    ) -> Result<T, DataError> {
        let late = || DataError::Timeout { what: what.to_owned(), seconds: self.timeout.as_secs() };
        let most = self.timeout + Duration::from_secs(5);
        let outcome = tokio::time::timeout(most, work).await.unwrap_or_else(|_| Err(late()));
        outcome.map_err(|error| match error {
            DataError::Connection { message, .. } => {
                DataError::Connection { name: self.info.name.clone(), message: self.url.scrub(&message) }
            }
            DataError::Unsafe { message, .. } => {
                DataError::Unsafe { name: self.info.name.clone(), message: self.url.scrub(&message) }
            }
            DataError::Query { code, message, hint } => {
                DataError::Query { code, message: self.url.scrub(&message), hint }
            }
            DataError::Timeout { .. } => late(),
            other => other,
        })
    }
}

fn open(config: ConnectionConfig) -> Result<Connection, DataError> {
    let ConnectionConfig { name, url, description, allow_superuser, timeout } = config;
    let wrong = |message: String| DataError::Connection { name: name.clone(), message: url.scrub(&message) };
    let dialect = config::dialect_of(url.expose()).ok_or_else(|| {
        wrong("the address must start with postgres://, mysql://, sqlite: or clickhouse://".to_owned())
    })?;
    let engine: Box<dyn Engine> = match dialect {
        Dialect::Postgres => {
            Box::new(postgres::Postgres::new(&url, allow_superuser, timeout).map_err(wrong)?)
        }
        Dialect::MySql => Box::new(mysql::MySql::new(&url, allow_superuser, timeout).map_err(wrong)?),
        Dialect::Sqlite => Box::new(sqlite::Sqlite::new(&url, timeout).map_err(wrong)?),
        Dialect::ClickHouse => Box::new(clickhouse::ClickHouse::new(&url, timeout).map_err(wrong)?),
        Dialect::DuckDb => return Err(wrong("a DuckDB file is not a connection; upload the table".into())),
    };
    let info = ConnectionInfo { name, description, dialect };
    Ok(Connection { info, url, timeout, engine })
}

fn unreachable(error: impl std::fmt::Display) -> DataError {
    DataError::Connection { name: String::new(), message: error.to_string() }
}

/// A database's own error, or the connection's.
fn failed(error: sqlx::Error) -> DataError {
    match error {
        sqlx::Error::Database(e) => {
            let code = e.code().map(|c| c.into_owned()).unwrap_or_default();
            let message = e.message().to_owned();
            let ended = message.contains("max_statement_time")
                || message.contains("maximum statement execution time");
            // 57014: PostgreSQL ended the statement.
            if code == "57014" || ended || message == "interrupted" {
                return DataError::Timeout { what: "the query".into(), seconds: 0 };
            }
            // 25006 and 1792: a write in a READ ONLY transaction.
            let read_only = code == "25006" || message.contains("READ ONLY transaction");
            DataError::query(if read_only { "READ_ONLY" } else { "SQL_FAILED" }, message)
        }
        other => unreachable(other),
    }
}
