//! A SQLite file, opened read-only. A long statement is interrupted from inside the engine.

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ba_protocol::table::Column;
use futures::TryStreamExt;
use serde_json::{Map, Value};
use sqlx::sqlite::{
    SqliteArguments, SqliteColumn, SqliteConnectOptions, SqlitePool, SqlitePoolOptions, SqliteRow,
};
use sqlx::{Arguments, AssertSqlSafe, Column as _, Executor, Row, SqlSafeStr, Statement, TypeInfo, ValueRef};

use super::Engine;
use super::config::ConnectionConfig;
use super::reach::{acquire, failed};
use super::rows::{Flow, Rows, clip};
use super::schema::{self, ColumnInfo, TableInfo};
use crate::DataError;
use crate::guard::Checked;
use crate::params::{self, Style};
use crate::result::{bytes, float, integer};

/// Virtual machine steps between two looks at the clock.
const STEPS: i32 = 10_000;

pub(super) struct Sqlite {
    pool: SqlitePool,
    timeout: Duration,
}

impl Sqlite {
    pub(super) fn new(config: &ConnectionConfig) -> Result<Self, String> {
        if config.timezone.is_some() {
            return Err("a SQLite file has no time zone; leave `timezone` out".to_owned());
        }
        let options = SqliteConnectOptions::from_str(config.url.expose())
            .map_err(|e| e.to_string())?
            .read_only(true)
            .create_if_missing(false)
            .pragma("query_only", "ON")
            .pragma("trusted_schema", "OFF")
            .busy_timeout(Duration::from_secs(5));
        let pool = SqlitePoolOptions::new()
            .max_connections(4)
            .acquire_timeout(Duration::from_secs(10))
            .connect_lazy_with(options);
        Ok(Self { pool, timeout: config.timeout })
    }
}

/// Ends the statement when the caller goes away.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
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
        let mut connection = acquire(&self.pool).await?;
        let stop = StopOnDrop(Arc::new(AtomicBool::new(false)));
        let (flag, deadline) = (stop.0.clone(), Instant::now() + self.timeout);
        connection
            .lock_handle()
            .await
            .map_err(failed)?
            .set_progress_handler(STEPS, move || !flag.load(Ordering::Relaxed) && Instant::now() < deadline);
        let mut arguments = SqliteArguments::default();
        for (name, value) in &bound.values {
            add(&mut arguments, value).map_err(|e| DataError::Params(format!("`{name}`: {e}")))?;
        }
        let outcome = async {
            let mut stream =
                sqlx::query_with(AssertSqlSafe(bound.sql.clone()), arguments).fetch(&mut *connection);
            while let Some(row) = stream.try_next().await.map_err(failed)? {
                if rows.columns.is_empty() {
                    rows.columns = columns(row.columns());
                }
                let limit = rows.cell_limit();
                let cells = (0..row.columns().len()).map(|i| value(&row, i, limit));
                if rows.push(cells.collect::<Result<_, _>>().map_err(failed)?)? == Flow::Enough {
                    break;
                }
            }
            drop(stream);
            if rows.columns.is_empty() && sql.is_query() {
                // No row told the columns.
                let statement =
                    connection.prepare(AssertSqlSafe(bound.sql).into_sql_str()).await.map_err(failed)?;
                rows.columns = columns(statement.columns());
            }
            Ok(())
        }
        .await;
        connection.lock_handle().await.map_err(failed)?.remove_progress_handler();
        outcome
    }

    async fn zone(&self) -> Result<Option<String>, DataError> {
        Ok(None)
    }

    async fn tables(&self) -> Result<Vec<TableInfo>, DataError> {
        let sql = "SELECT m.name, m.type, p.name, p.type, p.pk,
                          (SELECT '→ ' || f.\"table\" FROM pragma_foreign_key_list(m.name) f WHERE f.\"from\" = p.name LIMIT 1)
                   FROM sqlite_master m, pragma_table_info(m.name) p
                   WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name, p.cid";
        let mut connection = acquire(&self.pool).await?;
        let rows = sqlx::query(sql).fetch_all(&mut *connection).await.map_err(failed)?;
        let mut tables: Vec<TableInfo> = Vec::new();
        for row in &rows {
            let text =
                |i: usize| row.try_get_unchecked::<Option<String>, _>(i).ok().flatten().unwrap_or_default();
            let primary = row.try_get_unchecked::<i64, _>(4).unwrap_or_default() > 0;
            let key = if primary { "PK".to_owned() } else { text(5) };
            let column = ColumnInfo { name: text(2), kind: text(3), key, ..ColumnInfo::default() };
            let table = TableInfo { name: text(0), kind: text(1), ..TableInfo::default() };
            schema::add_column(&mut tables, table, column);
        }
        Ok(tables)
    }
}

fn columns(told: &[SqliteColumn]) -> Vec<Column> {
    told.iter().map(|c| Column::new(c.name(), c.type_info().name())).collect()
}

fn add(arguments: &mut SqliteArguments, value: &Value) -> Result<(), String> {
    let outcome = match value {
        Value::Null => arguments.add(None::<String>),
        Value::Bool(b) => arguments.add(*b),
        Value::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(i), _) => arguments.add(i),
            (None, f) => arguments.add(f.unwrap_or_default()),
        },
        Value::String(s) => arguments.add(s.clone()),
        other => arguments.add(other.to_string()),
    };
    outcome.map_err(|e| e.to_string())
}

/// By the value's own storage class: a SQLite column may hold anything.
fn value(row: &SqliteRow, i: usize, limit: usize) -> Result<Value, sqlx::Error> {
    let raw = row.try_get_raw(i)?;
    if raw.is_null() {
        return Ok(Value::Null);
    }
    Ok(match raw.type_info().name() {
        "INTEGER" | "INT8" | "BOOLEAN" => integer(row.try_get_unchecked(i)?),
        "REAL" => float(row.try_get_unchecked(i)?),
        "BLOB" => {
            let raw: &[u8] = row.try_get_unchecked(i)?;
            bytes(&raw[..raw.len().min(limit / 2 + 1)])
        }
        _ => Value::from(clip(row.try_get_unchecked::<&str, _>(i)?, limit)),
    })
}
