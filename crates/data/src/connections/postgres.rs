//! PostgreSQL and what speaks its protocol. Every value is turned into text by the server, so none is rounded here.
//! Reads inside a READ ONLY transaction that is always rolled back.

use std::str::FromStr;
use std::time::Duration;

use async_trait::async_trait;
use ba_protocol::table::Column;
use serde_json::{Map, Value};
use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection, PgPool, PgPoolOptions, PgRow, PgTypeInfo};
use sqlx::{
    Arguments, AssertSqlSafe, Column as _, Connection as _, Executor, Row, SqlSafeStr, Statement, TypeInfo,
};
use tokio::sync::OnceCell;

use super::cancel::CancelOnDrop;
use super::config::{SecretUrl, with_scheme};
use super::schema::{self, ColumnInfo, TableInfo};
use super::{Engine, Fetched, failed, unreachable};
use crate::DataError;
use crate::guard::Checked;
use crate::params::{self, Style};
use crate::result::{Kind, typed};

pub(super) struct Postgres {
    pool: PgPool,
    timeout: Duration,
    allow_superuser: bool,
    vetted: OnceCell<()>,
}

impl Postgres {
    pub(super) fn new(url: &SecretUrl, allow_superuser: bool, timeout: Duration) -> Result<Self, String> {
        let options = PgConnectOptions::from_str(&with_scheme(url.expose(), "postgres"))
            .map_err(|e| e.to_string())?
            .application_name("ba-agent")
            .options([
                ("TimeZone", "UTC"),
                ("standard_conforming_strings", "on"),
                ("extra_float_digits", "1"),
            ])
            .statement_cache_capacity(0);
        let pool = PgPoolOptions::new()
            .max_connections(4)
            .acquire_timeout(Duration::from_secs(10))
            .idle_timeout(Duration::from_secs(300))
            .connect_lazy_with(options);
        Ok(Self { pool, timeout, allow_superuser, vetted: OnceCell::new() })
    }

    /// Once per pool: an account that can read the server's files or run programs is not used.
    async fn vet(&self) -> Result<(), DataError> {
        let check = || async {
            if self.allow_superuser {
                return Ok(());
            }
            let sql = "SELECT rolsuper OR EXISTS (SELECT 1 FROM pg_roles r WHERE r.rolname IN ('pg_read_server_files', \
                       'pg_write_server_files', 'pg_execute_server_program') AND pg_has_role(current_user, r.oid, 'MEMBER')) \
                       FROM pg_roles WHERE rolname = current_user";
            let mighty: Option<bool> =
                sqlx::query_scalar(sql).fetch_optional(&self.pool).await.map_err(failed)?;
            if mighty.unwrap_or(true) {
                return Err(DataError::Unsafe {
                    name: String::new(),
                    message: "its user is a superuser or may use the server's files; use a role that only reads, or set \
                              allow_superuser = true for this connection"
                        .into(),
                });
            }
            Ok(())
        };
        self.vetted.get_or_try_init(check).await.map(|_| ())
    }

    async fn run(
        &self,
        connection: &mut PgConnection,
        sql: &Checked,
        params: &Map<String, Value>,
        max_rows: usize,
    ) -> Result<Fetched, DataError> {
        let bound = params::bind(sql, params, Style::Numbered)?;
        let mut tx = connection.begin_with("BEGIN READ ONLY").await.map_err(failed)?;
        let limit = format!("SET LOCAL statement_timeout = {}", self.timeout.as_millis());
        tx.execute(AssertSqlSafe(limit)).await.map_err(failed)?;
        let statement = tx.prepare(AssertSqlSafe(bound.sql.clone()).into_sql_str()).await.map_err(failed)?;
        let columns: Vec<(String, PgTypeInfo)> =
            statement.columns().iter().map(|c| (c.name().to_owned(), c.type_info().clone())).collect();
        let types: Vec<PgTypeInfo> = match statement.parameters() {
            Some(sqlx::Either::Left(types)) => types.to_vec(),
            _ => Vec::new(),
        };
        drop(statement);
        let text = if sql.is_query() && !columns.is_empty() {
            as_text(&bound.sql, &columns, max_rows + 1)
        } else {
            bound.sql.clone()
        };
        let mut arguments = PgArguments::default();
        for (i, (name, value)) in bound.values.iter().enumerate() {
            add(&mut arguments, value, types.get(i))
                .map_err(|e| DataError::Params(format!("`{name}`: {e}")))?;
        }
        let rows =
            sqlx::query_with(AssertSqlSafe(text), arguments).fetch_all(&mut *tx).await.map_err(failed)?;
        tx.rollback().await.map_err(failed)?;
        let kinds: Vec<Kind> = columns.iter().map(|(_, t)| kind_of(t)).collect();
        let rows = rows.iter().map(|r| values(r, &kinds)).collect::<Result<_, _>>()?;
        let columns = columns.into_iter().map(|(name, t)| Column::new(name, t.name())).collect();
        Ok(Fetched { columns, rows })
    }
}

/// The query inside one that casts every column to text on the server: exact for every type there is.
fn as_text(sql: &str, columns: &[(String, PgTypeInfo)], limit: usize) -> String {
    let casts: Vec<String> = columns
        .iter()
        .enumerate()
        .map(|(i, (_, t))| {
            let array = t.name().ends_with("[]");
            if array { format!("to_json(c{i})::text") } else { format!("c{i}::text") }
        })
        .collect();
    let names: Vec<String> = (0..columns.len()).map(|i| format!("c{i}")).collect();
    format!("SELECT {} FROM (\n{sql}\n) AS q({}) LIMIT {limit}", casts.join(", "), names.join(", "))
}

fn kind_of(t: &PgTypeInfo) -> Kind {
    match t.name() {
        "INT2" | "INT4" | "INT8" | "OID" => Kind::Integer,
        "FLOAT4" | "FLOAT8" => Kind::Float,
        "BOOL" => Kind::Bool,
        "JSON" | "JSONB" => Kind::Json,
        name if name.ends_with("[]") => Kind::Json,
        _ => Kind::Text,
    }
}

fn values(row: &PgRow, kinds: &[Kind]) -> Result<Vec<Value>, DataError> {
    let mut out = Vec::with_capacity(kinds.len());
    for (i, kind) in kinds.iter().enumerate() {
        let text: Option<String> = row.try_get_unchecked(i).map_err(failed)?;
        out.push(text.map_or(Value::Null, |t| typed(&t, *kind)));
    }
    Ok(out)
}

/// Binds a JSON value as the type that the server expects at this place.
fn add(arguments: &mut PgArguments, value: &Value, wanted: Option<&PgTypeInfo>) -> Result<(), String> {
    use sqlx::types::chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
    let kind = wanted.map_or("TEXT", |t| t.name());
    let text = match value {
        Value::Null => return arguments.add(None::<String>).map_err(|e| e.to_string()),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    };
    let bad = || format!("`{text}` is not a {kind}");
    let outcome = match kind {
        "INT2" => arguments.add(text.parse::<i16>().map_err(|_| bad())?),
        "INT4" => arguments.add(text.parse::<i32>().map_err(|_| bad())?),
        "INT8" => arguments.add(text.parse::<i64>().map_err(|_| bad())?),
        "FLOAT4" => arguments.add(text.parse::<f32>().map_err(|_| bad())?),
        "FLOAT8" => arguments.add(text.parse::<f64>().map_err(|_| bad())?),
        "NUMERIC" => arguments.add(sqlx::types::BigDecimal::from_str(&text).map_err(|_| bad())?),
        "BOOL" => arguments.add(text.parse::<bool>().map_err(|_| bad())?),
        "DATE" => arguments.add(text.parse::<NaiveDate>().map_err(|_| bad())?),
        "TIME" => arguments.add(text.parse::<NaiveTime>().map_err(|_| bad())?),
        "TIMESTAMP" => arguments.add(moment(&text).ok_or_else(bad)?),
        "TIMESTAMPTZ" => {
            let at = DateTime::parse_from_rfc3339(&text).map(|t| t.with_timezone(&Utc)).ok();
            let at = at.or_else(|| moment(&text).map(|t: NaiveDateTime| t.and_utc()));
            arguments.add(at.ok_or_else(bad)?)
        }
        "UUID" => arguments.add(text.parse::<sqlx::types::Uuid>().map_err(|_| bad())?),
        "JSON" | "JSONB" => arguments.add(sqlx::types::Json(value.clone())),
        "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "BPCHAR" => arguments.add(text.clone()),
        _ => {
            return Err(format!("cannot be bound as {kind}; cast it in the query, e.g. :name::text::{kind}"));
        }
    };
    outcome.map_err(|e| e.to_string())
}

/// A time of day may be missing, seconds too.
fn moment(text: &str) -> Option<sqlx::types::chrono::NaiveDateTime> {
    use sqlx::types::chrono::{NaiveDate, NaiveDateTime};
    let text = text.replace('T', " ");
    ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M"]
        .iter()
        .find_map(|f| NaiveDateTime::parse_from_str(&text, f).ok())
        .or_else(|| text.parse::<NaiveDate>().ok().and_then(|d| d.and_hms_opt(0, 0, 0)))
}

#[async_trait]
impl Engine for Postgres {
    async fn query(
        &self,
        sql: &Checked,
        params: &Map<String, Value>,
        max_rows: usize,
    ) -> Result<Fetched, DataError> {
        self.vet().await?;
        let mut connection = self.pool.acquire().await.map_err(unreachable)?;
        let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
            .fetch_one(&mut *connection)
            .await
            .map_err(failed)?;
        let pool = self.pool.clone();
        let cancel = CancelOnDrop::new(async move {
            sqlx::query("SELECT pg_cancel_backend($1)").bind(pid).execute(&pool).await.map(drop)
        });
        let outcome = self.run(&mut connection, sql, params, max_rows).await;
        cancel.disarm();
        outcome
    }

    async fn tables(&self) -> Result<Vec<TableInfo>, DataError> {
        self.vet().await?;
        let rows = sqlx::query(SCHEMA).fetch_all(&self.pool).await.map_err(failed)?;
        let mut tables: Vec<TableInfo> = Vec::new();
        for row in &rows {
            let text = |i: usize| row.try_get::<Option<String>, _>(i).ok().flatten().unwrap_or_default();
            let (schema, name) = (text(0), text(1));
            let name = if schema == "public" { name } else { format!("{schema}.{name}") };
            let rows = row.try_get::<Option<i64>, _>(4).ok().flatten().and_then(|n| u64::try_from(n).ok());
            let table = TableInfo { name, kind: text(2), comment: text(3), rows, columns: Vec::new() };
            let samples = row.try_get::<Option<Vec<String>>, _>(9).ok().flatten().unwrap_or_default();
            let samples = samples.iter().map(|s| ba_protocol::text::shorten(s, 30)).collect();
            let column = ColumnInfo { name: text(5), kind: text(6), comment: text(7), key: text(8), samples };
            schema::add_column(&mut tables, table, column);
        }
        Ok(tables)
    }
}

/// One row per column, tables together. Sample values are the planner's own statistics: no table is read.
const SCHEMA: &str = "
SELECT n.nspname::text, c.relname::text, CASE WHEN c.relkind IN ('v','m') THEN 'view' ELSE 'table' END,
       obj_description(c.oid, 'pg_class'), CASE WHEN c.reltuples >= 0 AND c.relkind IN ('r','p','m') THEN c.reltuples::bigint END,
       a.attname::text, format_type(a.atttypid, a.atttypmod), col_description(c.oid, a.attnum),
       CASE WHEN EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p' AND a.attnum = ANY(k.conkey)) THEN 'PK'
            ELSE (SELECT '→ ' || k.confrelid::regclass::text FROM pg_constraint k
                  WHERE k.conrelid = c.oid AND k.contype = 'f' AND a.attnum = ANY(k.conkey) LIMIT 1) END,
       (SELECT (s.most_common_vals::text::text[])[1:3] FROM pg_stats s
        WHERE s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = a.attname)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind IN ('r','p','v','m','f') AND a.attnum > 0 AND NOT a.attisdropped
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
  AND has_table_privilege(c.oid, 'SELECT')
ORDER BY n.nspname, c.relname, a.attnum LIMIT 60000";
