//! ClickHouse over HTTP, always with `readonly`. Rows are cut while they stream; dropping the request ends the query.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ba_protocol::table::Column;
use serde_json::{Map, Value};
use tokio::sync::OnceCell;
use url::Url;

use super::Engine;
use super::clickhouse_values::{array, value};
use super::config::{ConnectionConfig, decode};
use super::reach::refused;
use super::rows::{Flow, MAX_ROW_BYTES, Rows, row_too_large};
use super::schema::{self, ColumnInfo, TableInfo};
use super::zone::{self, Zone};
use crate::DataError;
use crate::guard::Checked;
use crate::params::{self, Bound, Style};

/// What a parsed value takes besides its text.
const VALUE_BYTES: usize = 72;
const IN_READ_ONLY_MODE: &str = "setting in readonly mode";

pub(super) struct ClickHouse {
    client: reqwest::Client,
    base: Url,
    user: String,
    password: String,
    timeout: Duration,
    timezone: Option<String>,
    zone: OnceCell<Zone>,
    /// The server said that the account is read-only itself, and may not say so again.
    read_only_account: AtomicBool,
}

impl ClickHouse {
    pub(super) fn new(config: &ConnectionConfig) -> Result<Self, String> {
        if config.timezone.as_deref().is_some_and(zone::is_offset) {
            return Err("ClickHouse knows zones by name, such as Asia/Shanghai, not by offset".to_owned());
        }
        let text = config.url.expose();
        let (scheme, rest) = text.split_once(':').ok_or("not an address")?;
        let secure = scheme.ends_with('s') || rest.contains("secure=true");
        let mut base = Url::parse(&format!("{}:{rest}", if secure { "https" } else { "http" }))
            .map_err(|e| e.to_string())?;
        if base.port().is_none() {
            base.set_port(Some(if secure { 8443 } else { 8123 })).map_err(|()| "not an address")?;
        }
        let user = decode(if base.username().is_empty() { "default" } else { base.username() });
        let password = decode(base.password().unwrap_or_default());
        let database = decode(base.path().trim_matches('/'));
        base.set_username("").map_err(|()| "not an address")?;
        base.set_password(None).map_err(|()| "not an address")?;
        base.set_path("/");
        base.set_query(None);
        if !database.is_empty() {
            base.query_pairs_mut().append_pair("database", &database);
        }
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(config.timeout + Duration::from_secs(2))
            .build()
            .map_err(|e| e.to_string())?;
        Ok(Self {
            client,
            base,
            user,
            password,
            timeout: config.timeout,
            timezone: config.timezone.clone(),
            zone: OnceCell::new(),
            read_only_account: AtomicBool::new(false),
        })
    }

    async fn ask(&self, bound: &Bound, zone: &Zone, rows: &mut Rows) -> Result<(), DataError> {
        let outcome = self.send(bound, zone, rows).await;
        let message = match &outcome {
            Err(DataError::Query { message, .. }) if message.contains(IN_READ_ONLY_MODE) => message,
            _ => return outcome,
        };
        if message.contains("'readonly'") && !self.read_only_account.swap(true, Ordering::Relaxed) {
            return self.send(bound, zone, rows).await;
        }
        let hint = "the account's profile has readonly = 1, which forbids limits too; give it readonly = 2";
        Err(DataError::Query { code: "ACCOUNT".into(), message: message.clone(), hint: Some(hint.into()) })
    }

    fn address(&self, bound: &Bound, max_rows: usize) -> Url {
        let mut url = self.base.clone();
        let mut query = url.query_pairs_mut();
        query
            .append_pair("default_format", "JSONCompactEachRowWithNamesAndTypes")
            .append_pair("max_execution_time", &self.timeout.as_secs().max(1).to_string())
            .append_pair("max_result_rows", &max_rows.to_string())
            .append_pair("result_overflow_mode", "break")
            .append_pair("output_format_json_quote_64bit_integers", "1")
            .append_pair("output_format_json_quote_decimals", "1")
            .append_pair("output_format_json_quote_denormals", "1")
            .append_pair("output_format_decimal_trailing_zeros", "1")
            // Every moment in UTC: what zone it is shown in is decided here, where the offset can be said too.
            .append_pair("date_time_output_format", "iso")
            .append_pair("cancel_http_readonly_queries_on_client_close", "1");
        if let Some(zone) = &self.timezone {
            query.append_pair("session_timezone", zone);
        }
        if !self.read_only_account.load(Ordering::Relaxed) {
            query.append_pair("readonly", "1");
        }
        for (name, value) in &bound.values {
            let text = match value {
                Value::String(s) => s.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n"),
                Value::Null => "\\N".to_owned(),
                Value::Array(items) => array(items),
                other => other.to_string(),
            };
            query.append_pair(&format!("param_{name}"), &text);
        }
        drop(query);
        url
    }

    /// Sends a statement and takes its rows line by line, as they come.
    async fn send(&self, bound: &Bound, zone: &Zone, rows: &mut Rows) -> Result<(), DataError> {
        let mut response = self
            .client
            .post(self.address(bound, rows.to_ask()))
            .header("X-ClickHouse-User", &self.user)
            .header("X-ClickHouse-Key", &self.password)
            .body(bound.sql.clone())
            .send()
            .await
            .map_err(refused)?;
        let failed = !response.status().is_success();
        let (mut pending, mut names) = (Vec::new(), None);
        while let Some(chunk) = response.chunk().await.map_err(refused)? {
            let ends = chunk.iter().rposition(|b| *b == b'\n').map(|at| pending.len() + at + 1);
            pending.extend_from_slice(&chunk);
            if pending.len() > MAX_ROW_BYTES {
                return Err(row_too_large());
            }
            let Some(ends) = ends.filter(|_| !failed) else { continue };
            let rest = pending.split_off(ends);
            for line in std::mem::replace(&mut pending, rest).split(|b| *b == b'\n') {
                if self.line(line, &mut names, zone, rows)? == Flow::Enough {
                    return Ok(());
                }
            }
        }
        if failed {
            return Err(self.complaint(&pending));
        }
        self.line(&pending, &mut names, zone, rows).map(drop)
    }

    /// The first line has the names, the second the types, each other one a row.
    fn line(
        &self,
        line: &[u8],
        names: &mut Option<Vec<String>>,
        zone: &Zone,
        rows: &mut Rows,
    ) -> Result<Flow, DataError> {
        if line.trim_ascii().is_empty() {
            return Ok(Flow::More);
        }
        if grown(line) > MAX_ROW_BYTES {
            return Err(row_too_large());
        }
        // An error after the first rows comes as text among them.
        let Ok(cells) = serde_json::from_slice::<Vec<Value>>(line) else { return Err(self.complaint(line)) };
        let text = |cell: &Value| cell.as_str().unwrap_or_default().to_owned();
        match names {
            None => *names = Some(cells.iter().map(text).collect()),
            Some(names) if rows.columns.is_empty() => {
                rows.columns = names.iter().zip(&cells).map(|(n, kind)| Column::new(n, text(kind))).collect();
            }
            Some(_) => {
                let typed =
                    cells.into_iter().zip(&rows.columns).map(|(c, column)| value(&column.kind, c, zone));
                let row = typed.collect();
                return rows.push(row);
            }
        }
        Ok(Flow::More)
    }

    fn complaint(&self, body: &[u8]) -> DataError {
        let text = String::from_utf8_lossy(body);
        let message = ba_protocol::text::shorten(text.trim(), 1000);
        if message.contains("TIMEOUT_EXCEEDED") {
            return DataError::Timeout { what: "the query".into(), seconds: self.timeout.as_secs() };
        }
        let code = if message.contains("(READONLY)") { "READ_ONLY" } else { "SQL_FAILED" };
        DataError::query(code, message)
    }

    /// The zone of columns that name none: as configured, or the server's own, learned once.
    async fn default_zone(&self) -> Result<&Zone, DataError> {
        let learn = || async {
            if let Some(name) = &self.timezone {
                return Ok(Zone::named(name));
            }
            let mut rows = Rows::in_memory(1);
            let bound = Bound { sql: "SELECT timezone()".to_owned(), values: Vec::new() };
            self.ask(&bound, &Zone::named("UTC"), &mut rows).await?;
            let name = rows.rows.first().and_then(|row| row.first()).and_then(Value::as_str);
            Ok(Zone::named(name.unwrap_or("UTC")))
        };
        self.zone.get_or_try_init(learn).await
    }
}

/// What a line takes when it is parsed: a short number of a long array takes many times its length.
fn grown(line: &[u8]) -> usize {
    line.len() + line.iter().filter(|b| matches!(b, b',' | b'[' | b'{' | b':')).count() * VALUE_BYTES
}

#[async_trait]
impl Engine for ClickHouse {
    async fn query(
        &self,
        sql: &Checked,
        params: &Map<String, Value>,
        rows: &mut Rows,
    ) -> Result<(), DataError> {
        let zone = self.default_zone().await?;
        let mut bound = params::bind(sql, params, Style::Braces)?;
        if sql.is_query() {
            bound.sql = format!("SELECT * FROM (\n{}\n) LIMIT {}", bound.sql, rows.to_ask());
        }
        self.ask(&bound, zone, rows).await
    }

    async fn zone(&self) -> Result<Option<String>, DataError> {
        Ok(Some(self.default_zone().await?.label.clone()))
    }

    async fn tables(&self) -> Result<Vec<TableInfo>, DataError> {
        let sql = "SELECT if(c.database = currentDatabase(), c.table, concat(c.database, '.', c.table)) AS t, \
                   if(s.engine LIKE '%View', 'view', 'table'), s.comment, s.total_rows, c.name, c.type, c.comment, c.is_in_primary_key \
                   FROM system.columns c JOIN system.tables s ON s.database = c.database AND s.name = c.table \
                   WHERE c.database NOT IN ('system', 'information_schema', 'INFORMATION_SCHEMA') ORDER BY t, c.position LIMIT 60000";
        let mut answer = Rows::in_memory(60_000);
        let bound = Bound { sql: sql.to_owned(), values: Vec::new() };
        self.ask(&bound, &Zone::named("UTC"), &mut answer).await?;
        let mut tables: Vec<TableInfo> = Vec::new();
        for row in &answer.rows {
            let text = |i: usize| row.get(i).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (kind, comment) = (text(1), text(2));
            let table = TableInfo {
                name: text(0),
                kind,
                comment,
                rows: row.get(3).and_then(Value::as_u64),
                columns: Vec::new(),
            };
            let primary = row.get(7).is_some_and(|v| v.as_u64() == Some(1));
            let key = schema::key(primary, "");
            let (kind, comment) = (text(5), text(6));
            let column = ColumnInfo { name: text(4), kind, comment, key, samples: Vec::new() };
            schema::add_column(&mut tables, table, column);
        }
        Ok(tables)
    }
}
