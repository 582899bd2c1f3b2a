//! PostgreSQL and what speaks its protocol. Every value is turned into text by the server, so none is rounded here, and
//! long ones are cut there. Reads inside a READ ONLY transaction that is always rolled back.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ba_protocol::table::Column;
use futures::TryStreamExt;
use serde_json::{Map, Value};
use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection, PgRow, PgSslMode, PgTypeInfo};
use sqlx::{
    AssertSqlSafe, Column as _, ConnectOptions, Connection as _, Executor, Row, SqlSafeStr, Statement,
    TypeInfo,
};
use tokio::sync::OnceCell;

use super::cancel::CancelOnDrop;
use super::config::{ConnectionConfig, SecretUrl, with_scheme};
use super::pg_line::{PgLine, socket_name};
use super::reach::{Server, failed};
use super::rows::{self, Rows};
use super::schema::{self, ColumnInfo, TableInfo};
use super::wire::{Meter, Place, Wire};
use super::zone::{self, Zone};
use super::{Engine, pg_bind, pg_zone};
use crate::DataError;
use crate::guard::Checked;
use crate::params::{self, Style};
use crate::result::{Kind, typed};

pub(super) struct Postgres {
    server: Arc<Server<PgConnectOptions>>,
    line: PgLine,
    url: SecretUrl,
    timeout: Duration,
    allow_superuser: bool,
    /// The zone its owner configured; the server's own otherwise.
    wanted_zone: Option<String>,
    learned: OnceCell<Learned>,
}

/// What is learned once per server.
struct Learned {
    zone: Zone,
    /// The server's own zone is not known, and UTC stands in.
    unsure: bool,
}

impl Postgres {
    pub(super) fn new(config: &ConnectionConfig) -> Result<Self, String> {
        let options = PgConnectOptions::from_str(&with_scheme(config.url.expose(), "postgres"))
            .map_err(|e| e.to_string())?
            .application_name("ba-agent")
            .options([("standard_conforming_strings", "on"), ("extra_float_digits", "1")])
            .statement_cache_capacity(0)
            .disable_statement_logging();
        let line = PgLine::new(&options, config.url.expose())?;
        let name = socket_name(options.get_port());
        // The wire encrypts, and reads what comes before the driver does.
        let through = |options: &PgConnectOptions, wire: &Wire| {
            options.clone().socket(wire.folder()).ssl_mode(PgSslMode::Disable)
        };
        let server = Server::new(options, Place::Postgres(line.clone()), name, through);
        Ok(Self {
            server: Arc::new(server),
            line,
            url: config.url.clone(),
            timeout: config.timeout,
            allow_superuser: config.allow_superuser,
            wanted_zone: config.timezone.clone(),
            learned: OnceCell::new(),
        })
    }

    /// Once per server: vets the account, and learns the zone that the server gives it.
    async fn learned(&self) -> Result<&Learned, DataError> {
        let learn = || async {
            self.vet().await?;
            if let Some(name) = &self.wanted_zone {
                return Ok(Learned { zone: Zone::named(name), unsure: false });
            }
            Ok(match pg_zone::learn(&self.line, &self.server.options, &self.url).await {
                Ok(name) => Learned { zone: Zone::named(&name), unsure: false },
                Err(error) => {
                    tracing::warn!(%error, "the server's time zone is not known; UTC is used");
                    Learned { zone: Zone::named("UTC"), unsure: true }
                }
            })
        };
        self.learned.get_or_try_init(learn).await
    }

    /// An account that can read the server's files or run programs is not used.
    async fn vet(&self) -> Result<(), DataError> {
        let mut session = self.server.session().await?;
        if self.allow_superuser {
            return Ok(());
        }
        let sql = "SELECT rolsuper OR EXISTS (SELECT 1 FROM pg_roles r WHERE r.rolname IN ('pg_read_server_files', \
                   'pg_write_server_files', 'pg_execute_server_program') AND pg_has_role(current_user, r.oid, 'MEMBER')) \
                   FROM pg_roles WHERE rolname = current_user";
        let mighty: Option<bool> =
            sqlx::query_scalar(sql).fetch_optional(&mut session.connection).await.map_err(failed)?;
        session.end().await;
        if mighty.unwrap_or(true) {
            return Err(DataError::Unsafe {
                name: String::new(),
                message: "its user is a superuser or may use the server's files; use a role that only reads, or set \
                          allow_superuser = true for this connection"
                    .into(),
            });
        }
        Ok(())
    }

    async fn run(
        &self,
        (connection, meter): (&mut PgConnection, Arc<Meter>),
        sql: &Checked,
        params: &Map<String, Value>,
        rows: &mut Rows,
    ) -> Result<(), DataError> {
        let zone = &self.learned().await?.zone;
        let bound = params::bind(sql, params, Style::Numbered)?;
        let mut tx = connection.begin_with("BEGIN READ ONLY").await.map_err(failed)?;
        let limit = format!("SET LOCAL statement_timeout = {}", self.timeout.as_millis());
        tx.execute(AssertSqlSafe(limit)).await.map_err(failed)?;
        tx.execute(AssertSqlSafe(set_zone(&zone.label))).await.map_err(failed)?;
        let statement = tx.prepare(AssertSqlSafe(bound.sql.clone()).into_sql_str()).await.map_err(failed)?;
        let columns: Vec<(String, PgTypeInfo)> =
            statement.columns().iter().map(|c| (c.name().to_owned(), c.type_info().clone())).collect();
        let types: Vec<PgTypeInfo> = match statement.parameters() {
            Some(sqlx::Either::Left(types)) => types.to_vec(),
            _ => Vec::new(),
        };
        drop(statement);
        let text = if sql.is_query() && !columns.is_empty() {
            as_text(&bound.sql, &columns, rows.to_ask())
        } else {
            bound.sql.clone()
        };
        let mut arguments = PgArguments::default();
        for (i, (name, value)) in bound.values.iter().enumerate() {
            pg_bind::add(&mut arguments, value, types.get(i), zone)
                .map_err(|e| DataError::Params(format!("`{name}`: {e}")))?;
        }
        let kinds: Vec<Kind> = columns.iter().map(|(_, t)| kind_of(t)).collect();
        rows.columns = columns.into_iter().map(|(name, t)| Column::new(name, t.name())).collect();
        {
            let mut stream = sqlx::query_with(AssertSqlSafe(text), arguments).fetch(&mut *tx);
            while let Some(row) = stream.try_next().await.map_err(failed)? {
                meter.taken();
                rows.push(values(&row, &kinds)?)?;
                if rows.left_early() {
                    return Ok(());
                }
            }
        }
        tx.rollback().await.map_err(failed)
    }
}

/// An offset written as a zone's name would be read with the opposite sign.
fn set_zone(name: &str) -> String {
    if zone::is_offset(name) {
        format!("SET LOCAL TIME ZONE INTERVAL '{name}' HOUR TO MINUTE")
    } else {
        format!("SET LOCAL TIME ZONE '{}'", name.replace('\'', "''"))
    }
}

/// The query inside one that casts every column to text on the server: exact for every type there is, and what could be
/// long is cut there, one character later than it will be here.
fn as_text(sql: &str, columns: &[(String, PgTypeInfo)], limit: usize) -> String {
    let most = rows::cell_limit(columns.len()) + 1;
    let cast = |(i, (_, t)): (usize, &(String, PgTypeInfo))| match t.name() {
        name if name.ends_with("[]") => format!("left(to_json(c{i})::text, {most})"),
        "BYTEA" => format!("'\\x' || encode(substring(c{i} from 1 for {}), 'hex')", most / 2 + 1),
        "INT2" | "INT4" | "INT8" | "OID" | "FLOAT4" | "FLOAT8" | "BOOL" | "DATE" | "TIME" | "TIMETZ"
        | "TIMESTAMP" | "TIMESTAMPTZ" | "UUID" | "INTERVAL" => format!("c{i}::text"),
        _ => format!("left(c{i}::text, {most})"),
    };
    let casts: Vec<String> = columns.iter().enumerate().map(cast).collect();
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

#[async_trait]
impl Engine for Postgres {
    async fn query(
        &self,
        sql: &Checked,
        params: &Map<String, Value>,
        rows: &mut Rows,
    ) -> Result<(), DataError> {
        self.learned().await?;
        let mut session = self.server.session().await?;
        let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
            .fetch_one(&mut session.connection)
            .await
            .map_err(failed)?;
        let server = self.server.clone();
        let cancel = CancelOnDrop::new(async move {
            let (mut beside, _wire) = server.open().await?;
            sqlx::query("SELECT pg_cancel_backend($1)").bind(pid).execute(&mut beside).await?;
            beside.close().await
        });
        let outcome = self.run(session.parts(), sql, params, rows).await;
        let outcome = session.explain(outcome);
        if !rows.left_early() && !session.was_cut() {
            cancel.disarm();
            session.end().await;
        }
        outcome
    }

    async fn zone(&self) -> Result<Option<String>, DataError> {
        let Learned { zone, unsure } = self.learned().await?;
        let doubt = " (the server's own is not known; set `timezone` for this connection)";
        Ok(Some(format!("{}{}", zone.label, if *unsure { doubt } else { "" })))
    }

    async fn tables(&self) -> Result<Vec<TableInfo>, DataError> {
        self.learned().await?;
        let mut session = self.server.session().await?;
        let told = sqlx::query(SCHEMA).fetch_all(&mut session.connection).await.map_err(failed);
        let rows = session.explain(told)?;
        session.end().await;
        let mut tables: Vec<TableInfo> = Vec::new();
        for row in &rows {
            let text = |i: usize| row.try_get::<Option<String>, _>(i).ok().flatten().unwrap_or_default();
            let (schema, name) = (text(0), text(1));
            let name = if schema == "public" { name } else { format!("{schema}.{name}") };
            let rows = row.try_get::<Option<i64>, _>(4).ok().flatten().and_then(|n| u64::try_from(n).ok());
            let table = TableInfo { name, kind: text(2), comment: text(3), rows, columns: Vec::new() };
            let primary = row.try_get::<bool, _>(8).unwrap_or_default();
            let key = schema::key(primary, &text(9));
            let samples = row.try_get::<Option<Vec<String>>, _>(10).ok().flatten().unwrap_or_default();
            let samples = samples.iter().map(|s| ba_protocol::text::shorten(s, 30)).collect();
            let column = ColumnInfo { name: text(5), kind: text(6), comment: text(7), key, samples };
            schema::add_column(&mut tables, table, column);
        }
        Ok(tables)
    }
}

/// One row per column, tables together. Sample values are the planner's own statistics: no table is read.
const SCHEMA: &str = "
SELECT n.nspname::text, c.relname::text, CASE WHEN c.relkind IN ('v','m') THEN 'view' ELSE 'table' END,
       left(obj_description(c.oid, 'pg_class'), 2000), CASE WHEN c.reltuples >= 0 AND c.relkind IN ('r','p','m') THEN c.reltuples::bigint END,
       a.attname::text, format_type(a.atttypid, a.atttypmod), left(col_description(c.oid, a.attnum), 2000),
       EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p' AND a.attnum = ANY(k.conkey)),
       (SELECT '→ ' || k.confrelid::regclass::text FROM pg_constraint k
        WHERE k.conrelid = c.oid AND k.contype = 'f' AND a.attnum = ANY(k.conkey) LIMIT 1),
       (SELECT (s.most_common_vals::text::text[])[1:3] FROM pg_stats s
        WHERE s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = a.attname)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind IN ('r','p','v','m','f') AND a.attnum > 0 AND NOT a.attisdropped
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
  AND has_table_privilege(c.oid, 'SELECT')
ORDER BY n.nspname, c.relname, a.attnum LIMIT 60000";
