//! MySQL, MariaDB and what speaks their protocol. Reads inside a READ ONLY transaction; decimals and dates stay exact.

use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use ba_protocol::table::Column;
use futures::TryStreamExt;
use serde_json::{Map, Value};
use sqlx::mysql::{MySqlArguments, MySqlColumn, MySqlConnectOptions, MySqlConnection, MySqlRow};
use sqlx::types::chrono::{NaiveDate, NaiveDateTime};
use sqlx::{
    Arguments, AssertSqlSafe, Column as _, ConnectOptions, Connection as _, Executor, Row, SqlSafeStr,
    Statement, TypeInfo, ValueRef,
};
use tokio::sync::OnceCell;

use super::Engine;
use super::cancel::CancelOnDrop;
use super::config::{ConnectionConfig, with_scheme};
use super::mysql_session::{self, Learned};
use super::reach::{Server, failed};
use super::rows::{Flow, Rows, clip};
use super::schema::{self, ColumnInfo, TableInfo};
use super::wire::{Meter, Place};
use super::zone::Zone;
use crate::DataError;
use crate::guard::Checked;
use crate::params::{self, Style};
use crate::result::{bytes, float, integer, unsigned};

pub(super) struct MySql {
    server: Server<MySqlConnectOptions>,
    config: ConnectionConfig,
    learned: OnceCell<Learned>,
}

impl MySql {
    pub(super) fn new(config: &ConnectionConfig) -> Result<Self, String> {
        // What a session sends is ours to say: the driver's own SET is not understood by every engine of the family.
        let options = MySqlConnectOptions::from_str(&with_scheme(config.url.expose(), "mysql"))
            .map_err(|e| e.to_string())?
            .timezone(None)
            .pipes_as_concat(false)
            .no_engine_substitution(false)
            .statement_cache_capacity(0)
            .disable_statement_logging();
        let place = options.get_socket().map_or_else(
            || Place::network(options.get_host(), options.get_port()),
            |file| Place::File(file.clone()),
        );
        let server =
            Server::new(options, place, "s".to_owned(), |options, wire| options.clone().socket(wire.file()));
        Ok(Self { server, config: config.clone(), learned: OnceCell::new() })
    }

    /// Once per server.
    async fn learned(&self) -> Result<&Learned, DataError> {
        let learn = || async {
            let mut session = self.server.session().await?;
            let learned = mysql_session::learn(&mut session.connection, &self.config).await?;
            session.end().await;
            Ok(learned)
        };
        self.learned.get_or_try_init(learn).await
    }

    async fn run(
        &self,
        (connection, meter): (&mut MySqlConnection, Arc<Meter>),
        sql: &Checked,
        params: &Map<String, Value>,
        rows: &mut Rows,
    ) -> Result<(), DataError> {
        let learned = self.learned().await?;
        let bound = params::bind(sql, params, Style::Question)?;
        learned.begin(connection, self.config.timeout).await?;
        let mut arguments = MySqlArguments::default();
        for (name, value) in &bound.values {
            add(&mut arguments, value).map_err(|e| DataError::Params(format!("`{name}`: {e}")))?;
        }
        // Without parameters nothing is prepared where the engine only pretends to be MySQL: not all of them can.
        let mut stream = if learned.pretender.is_some() && bound.values.is_empty() {
            connection.fetch(AssertSqlSafe(bound.sql.clone()))
        } else {
            sqlx::query_with(AssertSqlSafe(bound.sql.clone()), arguments).fetch(&mut *connection)
        };
        while let Some(row) = stream.try_next().await.map_err(failed)? {
            meter.taken();
            if rows.columns.is_empty() {
                rows.columns = columns(row.columns());
            }
            if rows.push(values(&row, &learned.zone, rows.cell_limit())?)? == Flow::Enough {
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
}

fn columns(told: &[MySqlColumn]) -> Vec<Column> {
    told.iter().map(|c| Column::new(c.name(), c.type_info().name())).collect()
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

fn values(row: &MySqlRow, zone: &Zone, limit: usize) -> Result<Vec<Value>, DataError> {
    (0..row.columns().len()).map(|i| value(row, i, zone, limit).map_err(failed)).collect()
}

fn value(row: &MySqlRow, i: usize, zone: &Zone, limit: usize) -> Result<Value, sqlx::Error> {
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
            row.try_get_unchecked::<NaiveDateTime, _>(i).map_or(Value::from(zero_date), |t| {
                let offset = (kind == "TIMESTAMP").then(|| zone.offset_at(&t)).flatten();
                let clock = t.format("%Y-%m-%d %H:%M:%S%.f");
                Value::from(format!("{clock}{}", offset.unwrap_or_default()))
            })
        }
        "TIME" => {
            let time: sqlx::mysql::types::MySqlTime = row.try_get_unchecked(i)?;
            Value::from(time.to_string())
        }
        "JSON" => {
            let text: &str = row.try_get_unchecked(i)?;
            json_or_text(text, limit)
        }
        "BLOB" | "TINYBLOB" | "MEDIUMBLOB" | "LONGBLOB" | "BINARY" | "VARBINARY" | "GEOMETRY" => {
            text_or_bytes(row.try_get_unchecked(i)?, limit)
        }
        // DECIMAL, text, ENUM and SET all travel as text.
        _ => row
            .try_get_unchecked::<&str, _>(i)
            .map(|text| Value::from(clip(text, limit)))
            .or_else(|_| row.try_get_unchecked(i).map(|raw| clipped_bytes(raw, limit)))?,
    })
}

/// The driver calls text with a `_bin` collation binary, and MariaDB's JSON is such text: what reads as text is text.
fn text_or_bytes(raw: &[u8], limit: usize) -> Value {
    let readable = |t: &&str| !t.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
    match std::str::from_utf8(raw).ok().filter(readable) {
        Some(text) if text.starts_with(['{', '[']) => json_or_text(text, limit),
        Some(text) => Value::from(clip(text, limit)),
        None => clipped_bytes(raw, limit),
    }
}

fn json_or_text(text: &str, limit: usize) -> Value {
    let short = clip(text, limit);
    let whole = (short.len() == text.len()).then(|| serde_json::from_str(text).ok()).flatten();
    whole.unwrap_or_else(|| Value::from(short))
}

/// Two digits per byte, and one byte more than fits shows that there are more.
fn clipped_bytes(raw: &[u8], limit: usize) -> Value {
    bytes(&raw[..raw.len().min(limit / 2 + 1)])
}

#[async_trait]
impl Engine for MySql {
    async fn query(
        &self,
        sql: &Checked,
        params: &Map<String, Value>,
        rows: &mut Rows,
    ) -> Result<(), DataError> {
        self.learned().await?;
        let mut session = self.server.session().await?;
        let told = session.connection.fetch_one("SELECT CONNECTION_ID()").await.map_err(failed)?;
        let id: u64 = told.try_get_unchecked(0).map_err(failed)?;
        let options = self.server.options.clone();
        let kill = CancelOnDrop::new(async move {
            let mut beside = options.connect().await?;
            beside.execute(AssertSqlSafe(format!("KILL QUERY {id}"))).await?;
            beside.close().await
        });
        let outcome = self.run(session.parts(), sql, params, rows).await;
        let outcome = session.explain(outcome);
        // Otherwise rows may still be under way.
        if !rows.more && !rows.left_early() && !session.was_cut() {
            kill.disarm();
            session.end().await;
        }
        outcome
    }

    async fn zone(&self) -> Result<Option<String>, DataError> {
        Ok(Some(self.learned().await?.zone.label.clone()))
    }

    async fn tables(&self) -> Result<Vec<TableInfo>, DataError> {
        self.learned().await?;
        let mut session = self.server.session().await?;
        let told = session.connection.fetch_all(SCHEMA).await.map_err(failed);
        let rows = session.explain(told)?;
        session.end().await;
        let mut tables: Vec<TableInfo> = Vec::new();
        for row in &rows {
            let text =
                |i: usize| row.try_get_unchecked::<Option<String>, _>(i).ok().flatten().unwrap_or_default();
            let rows = row.try_get_unchecked::<Option<u64>, _>(3).ok().flatten();
            let table =
                TableInfo { name: text(0), kind: text(1), comment: text(2), rows, columns: Vec::new() };
            let (kind, comment) = (text(5), text(6));
            let key = schema::key(text(7) == "PK", &text(8));
            let column = ColumnInfo { name: text(4), kind, comment, key, samples: Vec::new() };
            schema::add_column(&mut tables, table, column);
        }
        Ok(tables)
    }
}

const SCHEMA: &str = "
SELECT CONVERT(IF(c.table_schema = DATABASE(), c.table_name, CONCAT(c.table_schema, '.', c.table_name)) USING utf8mb4),
       CONVERT(IF(t.table_type = 'BASE TABLE', 'table', 'view') USING utf8mb4), CONVERT(t.table_comment USING utf8mb4),
       CAST(t.table_rows AS UNSIGNED), CONVERT(c.column_name USING utf8mb4), CONVERT(LEFT(c.column_type, 2000) USING utf8mb4),
       CONVERT(c.column_comment USING utf8mb4),
       CONVERT(IF(c.column_key = 'PRI', 'PK', '') USING utf8mb4),
       CONVERT(IFNULL((SELECT CONCAT('→ ', k.referenced_table_name)
            FROM information_schema.key_column_usage k WHERE k.table_schema = c.table_schema AND k.table_name = c.table_name
             AND k.column_name = c.column_name AND k.referenced_table_name IS NOT NULL LIMIT 1), '') USING utf8mb4)
FROM information_schema.columns c
JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
WHERE c.table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')
ORDER BY c.table_schema, c.table_name, c.ordinal_position LIMIT 60000";
