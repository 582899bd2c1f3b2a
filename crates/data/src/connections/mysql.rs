//! MySQL, MariaDB and what speaks their protocol. Reads inside a READ ONLY transaction; decimals and dates stay exact.

use std::str::FromStr;
use std::time::Duration;

use async_trait::async_trait;
use ba_protocol::table::Column;
use futures::TryStreamExt;
use serde_json::{Map, Value};
use sqlx::mysql::{
    MySqlArguments, MySqlConnectOptions, MySqlConnection, MySqlPool, MySqlPoolOptions, MySqlRow,
};
use sqlx::types::chrono::{NaiveDate, NaiveDateTime};
use sqlx::{Arguments, AssertSqlSafe, Column as _, Executor, Row, TypeInfo, ValueRef};
use tokio::sync::OnceCell;

use super::cancel::CancelOnDrop;
use super::config::{SecretUrl, with_scheme};
use super::schema::{self, ColumnInfo, TableInfo};
use super::{Engine, Fetched, failed, unreachable};
use crate::DataError;
use crate::guard::Checked;
use crate::params::{self, Style};
use crate::result::{bytes, float, integer, unsigned};

pub(super) struct MySql {
    pool: MySqlPool,
    timeout: Duration,
    allow_superuser: bool,
    vetted: OnceCell<()>,
}

impl MySql {
    pub(super) fn new(url: &SecretUrl, allow_superuser: bool, timeout: Duration) -> Result<Self, String> {
        let options = MySqlConnectOptions::from_str(&with_scheme(url.expose(), "mysql"))
            .map_err(|e| e.to_string())?
            .statement_cache_capacity(0);
        let pool = MySqlPoolOptions::new()
            .max_connections(4)
            .acquire_timeout(Duration::from_secs(10))
            .idle_timeout(Duration::from_secs(300))
            .connect_lazy_with(options);
        Ok(Self { pool, timeout, allow_superuser, vetted: OnceCell::new() })
    }

    /// Once per pool: an account with FILE, SUPER or every privilege is not used.
    async fn vet(&self) -> Result<(), DataError> {
        let check = || async {
            if self.allow_superuser {
                return Ok(());
            }
            let rows = sqlx::query("SHOW GRANTS").fetch_all(&self.pool).await.map_err(failed)?;
            for row in rows {
                let grant: String = row.try_get_unchecked(0).map_err(failed)?;
                if is_mighty(&grant) {
                    return Err(DataError::Unsafe {
                        name: String::new(),
                        message: "its user has ALL PRIVILEGES, SUPER or FILE on the whole server; use an account with SELECT \
                                  only, or set allow_superuser = true for this connection"
                            .into(),
                    });
                }
            }
            Ok(())
        };
        self.vetted.get_or_try_init(check).await.map(|_| ())
    }

    async fn run(
        &self,
        connection: &mut MySqlConnection,
        sql: &Checked,
        params: &Map<String, Value>,
        max_rows: usize,
    ) -> Result<Fetched, DataError> {
        let bound = params::bind(sql, params, Style::Question)?;
        self.limit_time(connection).await;
        connection.execute("START TRANSACTION READ ONLY").await.map_err(failed)?;
        let mut arguments = MySqlArguments::default();
        for (name, value) in &bound.values {
            add(&mut arguments, value).map_err(|e| DataError::Params(format!("`{name}`: {e}")))?;
        }
        let mut fetched = Fetched { columns: Vec::new(), rows: Vec::new() };
        {
            let mut stream = sqlx::query_with(AssertSqlSafe(bound.sql), arguments).fetch(&mut *connection);
            while let Some(row) = stream.try_next().await.map_err(failed)? {
                if fetched.columns.is_empty() {
                    fetched.columns =
                        row.columns().iter().map(|c| Column::new(c.name(), c.type_info().name())).collect();
                }
                fetched.rows.push(values(&row)?);
                if fetched.rows.len() > max_rows {
                    break;
                }
            }
        }
        Ok(fetched)
    }

    /// MariaDB counts seconds, MySQL milliseconds; the one that does not know a name says so, and that is fine.
    async fn limit_time(&self, connection: &mut MySqlConnection) {
        let seconds = format!("SET SESSION max_statement_time = {}", self.timeout.as_secs_f64());
        if connection.execute(AssertSqlSafe(seconds)).await.is_err() {
            let milliseconds = format!("SET SESSION max_execution_time = {}", self.timeout.as_millis());
            if let Err(error) = connection.execute(AssertSqlSafe(milliseconds)).await {
                tracing::warn!(%error, "the server has no statement timeout; the query is cancelled from outside");
            }
        }
    }
}

fn is_mighty(grant: &str) -> bool {
    let upper = grant.to_uppercase();
    let Some((privileges, _)) = upper.split_once(" ON *.*") else { return false };
    privileges.contains("ALL PRIVILEGES")
        || privileges.trim_start_matches("GRANT ").split(',').any(|p| matches!(p.trim(), "FILE" | "SUPER"))
}

fn add(arguments: &mut MySqlArguments, value: &Value) -> Result<(), String> {
    let outcome = match value {
        Value::Null => arguments.add(None::<String>),
        Value::Bool(b) => arguments.add(*b),
        Value::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(i), _) => arguments.add(i),
            (None, Some(f)) => arguments.add(f),
            (None, None) => arguments.add(n.to_string()),
        },
        Value::String(s) => arguments.add(s.clone()),
        other => arguments.add(other.to_string()),
    };
    outcome.map_err(|e| e.to_string())
}

fn values(row: &MySqlRow) -> Result<Vec<Value>, DataError> {
    (0..row.columns().len()).map(|i| value(row, i).map_err(failed)).collect()
}

fn value(row: &MySqlRow, i: usize) -> Result<Value, sqlx::Error> {
    let raw = row.try_get_raw(i)?;
    if raw.is_null() {
        return Ok(Value::Null);
    }
    let kind = raw.type_info().name().to_owned();
    let zero_date = "0000-00-00";
    Ok(match kind.as_str() {
        "BOOLEAN" | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => {
            integer(row.try_get_unchecked(i)?)
        }
        "TINYINT UNSIGNED" | "SMALLINT UNSIGNED" | "MEDIUMINT UNSIGNED" | "INT UNSIGNED"
        | "BIGINT UNSIGNED" | "BIT" => unsigned(row.try_get_unchecked(i)?),
        "YEAR" => unsigned(u64::from(row.try_get_unchecked::<u16, _>(i)?)),
        // The shortest text of a single float is what people wrote.
        "FLOAT" => float(row.try_get_unchecked::<f32, _>(i)?.to_string().parse().unwrap_or_default()),
        "DOUBLE" => float(row.try_get_unchecked(i)?),
        "DATE" => row
            .try_get_unchecked::<NaiveDate, _>(i)
            .map_or(Value::from(zero_date), |d| Value::from(d.to_string())),
        "DATETIME" | "TIMESTAMP" => {
            let zone = if kind == "TIMESTAMP" { "+00" } else { "" };
            row.try_get_unchecked::<NaiveDateTime, _>(i).map_or(Value::from(zero_date), |t| {
                Value::from(format!("{}{zone}", t.format("%Y-%m-%d %H:%M:%S%.f")))
            })
        }
        "TIME" => {
            let time: sqlx::mysql::types::MySqlTime = row.try_get_unchecked(i)?;
            Value::from(time.to_string())
        }
        "JSON" => {
            let text: String = row.try_get_unchecked(i)?;
            serde_json::from_str(&text).unwrap_or(Value::from(text))
        }
        "BLOB" | "TINYBLOB" | "MEDIUMBLOB" | "LONGBLOB" | "BINARY" | "VARBINARY" | "GEOMETRY" => {
            text_or_bytes(row.try_get_unchecked(i)?)
        }
        // DECIMAL, text, ENUM and SET all travel as text.
        _ => row
            .try_get_unchecked::<String, _>(i)
            .map(Value::from)
            .or_else(|_| row.try_get_unchecked(i).map(bytes))?,
    })
}

/// The driver calls text with a `_bin` collation binary, and MariaDB's JSON is such text: what reads as text is text.
fn text_or_bytes(raw: &[u8]) -> Value {
    let readable = |t: &&str| !t.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
    match std::str::from_utf8(raw).ok().filter(readable) {
        Some(text) if text.starts_with(['{', '[']) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
        }
        Some(text) => Value::from(text),
        None => bytes(raw),
    }
}

#[async_trait]
impl Engine for MySql {
    async fn query(
        &self,
        sql: &Checked,
        params: &Map<String, Value>,
        max_rows: usize,
    ) -> Result<Fetched, DataError> {
        self.vet().await?;
        let mut connection = self.pool.acquire().await.map_err(unreachable)?;
        let id: u64 =
            sqlx::query_scalar("SELECT CONNECTION_ID()").fetch_one(&mut *connection).await.map_err(failed)?;
        let pool = self.pool.clone();
        let kill = CancelOnDrop::new(async move {
            pool.execute(AssertSqlSafe(format!("KILL QUERY {id}"))).await.map(drop)
        });
        let outcome = self.run(&mut connection, sql, params, max_rows).await;
        if outcome.as_ref().is_ok_and(|f| f.rows.len() <= max_rows) {
            kill.disarm();
            connection.execute("ROLLBACK").await.map_err(failed)?;
        } else {
            // Rows may still be under way: the connection is not used again.
            connection.close_on_drop();
        }
        outcome
    }

    async fn tables(&self) -> Result<Vec<TableInfo>, DataError> {
        self.vet().await?;
        let rows = sqlx::query(SCHEMA).fetch_all(&self.pool).await.map_err(failed)?;
        let mut tables: Vec<TableInfo> = Vec::new();
        for row in &rows {
            let text =
                |i: usize| row.try_get_unchecked::<Option<String>, _>(i).ok().flatten().unwrap_or_default();
            let rows = row.try_get_unchecked::<Option<u64>, _>(3).ok().flatten();
            let table =
                TableInfo { name: text(0), kind: text(1), comment: text(2), rows, columns: Vec::new() };
            let (kind, comment, key) = (text(5), text(6), text(7));
            let column = ColumnInfo { name: text(4), kind, comment, key, samples: Vec::new() };
            schema::add_column(&mut tables, table, column);
        }
        Ok(tables)
    }
}

const SCHEMA: &str = "
SELECT CONVERT(IF(c.table_schema = DATABASE(), c.table_name, CONCAT(c.table_schema, '.', c.table_name)) USING utf8mb4),
       CONVERT(IF(t.table_type = 'BASE TABLE', 'table', 'view') USING utf8mb4), CONVERT(t.table_comment USING utf8mb4),
       CAST(t.table_rows AS UNSIGNED), CONVERT(c.column_name USING utf8mb4), CONVERT(c.column_type USING utf8mb4),
       CONVERT(c.column_comment USING utf8mb4),
       CONVERT(CASE WHEN c.column_key = 'PRI' THEN 'PK' ELSE IFNULL((SELECT CONCAT('→ ', k.referenced_table_name)
            FROM information_schema.key_column_usage k WHERE k.table_schema = c.table_schema AND k.table_name = c.table_name
             AND k.column_name = c.column_name AND k.referenced_table_name IS NOT NULL LIMIT 1), '') END USING utf8mb4)
FROM information_schema.columns c
JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
WHERE c.table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')
ORDER BY c.table_schema, c.table_name, c.ordinal_position LIMIT 60000";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mighty_accounts_are_recognised() {
        assert!(is_mighty("GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION"));
        assert!(is_mighty("GRANT SELECT, FILE ON *.* TO `x`@`%`"));
        assert!(!is_mighty("GRANT USAGE ON *.* TO `x`@`%`"));
        assert!(!is_mighty("GRANT ALL PRIVILEGES ON `d`.* TO `x`@`%`"));
    }
}
