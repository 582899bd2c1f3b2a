//! Databases that people already run: read in a session of its own for each question, in a READ ONLY transaction, with a timeout that the
//! server itself enforces. Never writes, never shows an address, never uses a superuser unless told so in words.

mod cancel;
mod clickhouse;
mod clickhouse_values;
mod compact;
mod config;
mod flight;
mod grants;
mod mysql;
mod mysql_session;
mod pg_bind;
mod pg_line;
mod pg_messages;
mod pg_zone;
mod postgres;
mod reach;
mod rows;
mod samples;
mod schema;
mod scrub;
mod sqlite;
mod sqlite_functions;
mod sqlserver;
mod trino;
mod trino_values;
mod wire;
mod zone;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::StreamExt;
use moka::future::Cache;
use serde_json::{Map, Value};

pub use config::{ConnectionConfig, ConnectionInfo, SecretUrl, dialect_of};
pub use schema::{ColumnInfo, SchemaView, TableInfo};

use crate::guard::{self, Checked, Dialect, FileTable};
use crate::{DataError, QueryResult};
use config::Driver;
use rows::Rows;

const MAX_ROWS: u32 = 10_000;
const SCHEMA_TTL: Duration = Duration::from_secs(300);
/// A turn does not wait longer for the tables of its connections.
const LIST_WALL: Duration = Duration::from_secs(2);
/// Sample values are a help: a description never waits longer for all of them together.
const SAMPLES_WALL: Duration = Duration::from_secs(2);
/// Tables whose sampled values are searched for a word.
const SEARCHED_VALUES: usize = 500;
/// Below the four sessions that a server is asked for, so that a query finds one free.
const SAMPLED_AT_ONCE: usize = 3;

/// One engine behind a connection.
#[async_trait]
trait Engine: Send + Sync {
    /// Connects when needed, and refuses an account that could do more than read. Rows go where they are wanted as they
    /// come.
    async fn query(
        &self,
        sql: &Checked,
        params: &Map<String, Value>,
        rows: &mut Rows,
    ) -> Result<(), DataError>;

    async fn tables(&self) -> Result<Vec<TableInfo>, DataError>;

    /// The zone of a session, for people; `None` where the engine has none.
    async fn zone(&self) -> Result<Option<String>, DataError>;
}

struct Connection {
    info: ConnectionInfo,
    url: SecretUrl,
    timeout: Duration,
    /// Functions of one's own that queries may call.
    functions: Vec<String>,
    /// Of an engine over files: its standing tables.
    files: Option<Vec<FileTable>>,
    engine: Box<dyn Engine>,
}

/// What a database said of itself.
struct Described {
    tables: Vec<TableInfo>,
    zone: Option<String>,
}

/// All configured connections; clones share turns and caches.
#[derive(Clone)]
pub struct Connections {
    all: Arc<BTreeMap<String, Connection>>,
    schemas: Cache<String, Arc<Described>>,
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
        self.query_over(name, &[], sql, params, max_rows).await
    }

    /// The same, on an engine that reads files where they lie, over `files` besides its own (SPEC N5).
    pub async fn query_over(
        &self,
        name: &str,
        files: &[FileTable],
        sql: &str,
        params: &Map<String, Value>,
        max_rows: u32,
    ) -> Result<QueryResult, DataError> {
        let rows = Rows::in_memory(max_rows.clamp(1, MAX_ROWS) as usize);
        self.fetch(name, files, sql, params, rows).await
    }

    /// The same with all rows, up to a million and 256 MB, written to a file as they come: JSON lines whose keys `c0`, `c1` …
    /// are the places of the columns. The first `max_rows` are in the result, `row_count` are in the file.
    pub async fn query_into(
        &self,
        name: &str,
        files: &[FileTable],
        sql: &str,
        params: &Map<String, Value>,
        max_rows: u32,
        file: &Path,
    ) -> Result<QueryResult, DataError> {
        let rows = Rows::in_file(file, max_rows.clamp(1, MAX_ROWS) as usize)?;
        self.fetch(name, files, sql, params, rows).await
    }

    async fn fetch(
        &self,
        name: &str,
        files: &[FileTable],
        sql: &str,
        params: &Map<String, Value>,
        rows: Rows,
    ) -> Result<QueryResult, DataError> {
        let checked = self.get(name)?.checked(sql, files)?;
        self.fetch_checked(name, &checked, params, rows).await
    }

    /// What the guard has checked already, for this connection.
    pub(crate) async fn query_checked(
        &self,
        name: &str,
        checked: &Checked,
        params: &Map<String, Value>,
        max_rows: u32,
    ) -> Result<QueryResult, DataError> {
        let rows = Rows::in_memory(max_rows.clamp(1, MAX_ROWS) as usize);
        self.fetch_checked(name, checked, params, rows).await
    }

    async fn fetch_checked(
        &self,
        name: &str,
        checked: &Checked,
        params: &Map<String, Value>,
        mut rows: Rows,
    ) -> Result<QueryResult, DataError> {
        let connection = self.get(name)?;
        rows.hide_secrets = tells_of_itself(checked);
        let started = Instant::now();
        let work = connection.engine.query(checked, params, &mut rows);
        connection.bounded("the query", work).await?;
        rows.finish()?;
        let (notes, count) = (rows.notes(), rows.count as u64);
        let result = QueryResult::new(rows.columns, rows.rows, rows.more, started.elapsed());
        Ok(QueryResult { notes, row_count: count, ..result })
    }

    /// What the connection holds; `search` picks tables by name, comment or columns. Cached for five minutes.
    pub async fn schema(&self, name: &str, search: Option<&str>) -> Result<SchemaView, DataError> {
        let connection = self.get(name)?;
        let known = self.described(name).await?;
        let (tables, zone) = (&known.tables, known.zone.as_deref());
        let mut picked = schema::pick(tables, search);
        let with_values;
        if search.is_some() && picked.is_empty() && tables.len() <= SEARCHED_VALUES {
            // No name, comment or column has the word: a value may.
            with_values = self.with_samples(connection, tables.iter().collect()).await;
            picked = schema::with_value(&with_values, search);
        }
        if picked.len() > schema::DETAILED {
            return Ok(SchemaView::of(&picked, tables.len(), search, zone));
        }
        let detailed = self.with_samples(connection, picked).await;
        let shown: Vec<&TableInfo> = detailed.iter().map(AsRef::as_ref).collect();
        Ok(SchemaView::of(&shown, tables.len(), search, zone))
    }

    /// What every connection holds, as a text that `fits`, for the first request of a turn. One that does not answer soon is
    /// named without its tables; what it says later is known to the next turn.
    pub async fn lists(&self, fits: &(dyn Fn(&str) -> bool + Sync)) -> Vec<String> {
        let names: Vec<String> = self.all.keys().cloned().collect();
        let asked = names.iter().map(|name| async move {
            let this = (self.clone(), name.clone());
            let reading = tokio::spawn(async move { this.0.described(&this.1).await });
            tokio::time::timeout(LIST_WALL, reading).await
        });
        let answers = futures::future::join_all(asked).await;
        let list = |(name, answer): (&String, _)| match answer {
            Ok(Ok(Ok(known))) => {
                let known: Arc<Described> = known;
                compact::list(name, &known.tables, fits)
            }
            _ => format!("Connection `{name}`: not reached yet; SHOW TABLES asks it again."),
        };
        names.iter().zip(answers).map(list).collect()
    }

    /// The tables themselves, without sample values; `search` as in [`Connections::schema`].
    pub async fn tables(&self, name: &str, search: Option<&str>) -> Result<Vec<TableInfo>, DataError> {
        let known = self.described(name).await?;
        Ok(schema::pick(&known.tables, search).into_iter().cloned().collect())
    }

    async fn described(&self, name: &str) -> Result<Arc<Described>, DataError> {
        if let Some(known) = self.schemas.get(name).await {
            return Ok(known);
        }
        let connection = self.get(name)?;
        let work = async {
            let (tables, zone) = (connection.engine.tables().await?, connection.engine.zone().await?);
            Ok(Described { tables: tables.into_iter().map(schema::without_secrets).collect(), zone })
        };
        let known = Arc::new(connection.bounded("reading the schema", work).await?);
        self.schemas.insert(name.to_owned(), known.clone()).await;
        Ok(known)
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
    fn checked(&self, sql: &str, files: &[FileTable]) -> Result<Checked, DataError> {
        Ok(match &self.files {
            None => guard::check_with(sql, self.info.dialect, &self.functions)?,
            Some(own) => guard::check_over(sql, &[own.as_slice(), files].concat())?,
        })
    }

    /// The same walls as for a model's query: the guard, a READ ONLY transaction, the statement timeout.
    async fn sample(&self, sql: &str) -> Result<Vec<Vec<Value>>, DataError> {
        let checked = self.checked(sql, &[])?;
        let none = Map::new();
        let mut rows = Rows::in_memory(samples::ROWS);
        let work = self.engine.query(&checked, &none, &mut rows);
        self.bounded("reading samples", work).await?;
        Ok(rows.rows)
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
    let (name, url) = (config.name.clone(), config.url.clone());
    let wrong = |message: String| DataError::Connection { name: name.clone(), message: url.scrub(&message) };
    let driver = config::driver_of(url.expose()).ok_or_else(|| {
        let known = "postgres://, mysql://, sqlite:, clickhouse://, sqlserver://, grpc:// (Arrow Flight SQL) or trino://";
        wrong(format!("the address must start with {known}"))
    })?;
    let dialect = match (config::dialect_of(url.expose()), config.dialect) {
        (Some(_), Some(_)) => return Err(wrong("`dialect` is only for grpc:// addresses".into())),
        (Some(dialect), None) | (None, Some(dialect)) => dialect,
        (None, None) => {
            return Err(wrong("a grpc:// address needs `dialect`: spark, postgres, mysql or trino".into()));
        }
    };
    if config.timezone.as_deref().is_some_and(|zone| !zone::is_zone(zone)) {
        return Err(wrong(
            "`timezone` must be a zone such as Asia/Shanghai, or an offset such as +08:00".into(),
        ));
    }
    let engine: Box<dyn Engine> = match driver {
        _ if config.files.is_some() && (driver, dialect) != (Driver::Flight, Dialect::Spark) => {
            return Err(wrong("an engine over files is reached by grpc:// and speaks spark".into()));
        }
        Driver::Postgres => Box::new(postgres::Postgres::new(&config).map_err(wrong)?),
        Driver::MySql => Box::new(mysql::MySql::new(&config).map_err(wrong)?),
        Driver::Sqlite => Box::new(sqlite::Sqlite::new(&config).map_err(wrong)?),
        Driver::ClickHouse => Box::new(clickhouse::ClickHouse::new(&config).map_err(wrong)?),
        Driver::Flight => Box::new(flight::Flight::new(&config, dialect).map_err(wrong)?),
        Driver::Trino => Box::new(trino::Trino::new(&config).map_err(wrong)?),
        Driver::SqlServer => Box::new(sqlserver::SqlServer::new(&config).map_err(wrong)?),
    };
    let ConnectionConfig { name, url, description, timeout, timezone, functions, files, .. } = config;
    let info = ConnectionInfo { name, description, dialect, timezone };
    Ok(Connection { info, url, timeout, functions, files, engine })
}

/// SHOW, DESCRIBE and the catalogs show definitions, and those of tables on other servers hold their passwords.
fn tells_of_itself(sql: &Checked) -> bool {
    let text = sql.sql().to_lowercase();
    let catalogs = ["information_schema", "pg_catalog", "pg_", "system.", "mysql.", "sqlite_"];
    !sql.is_query() || catalogs.iter().any(|name| text.contains(name))
}
