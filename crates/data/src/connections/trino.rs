//! Trino (and Presto) by its HTTP protocol: a statement is posted, and the pages of its answer are followed one by one. The
//! guard and the account's rights keep it to reading; what is not followed to its end is cancelled on the server.

use std::time::Duration;

use async_trait::async_trait;
use ba_protocol::table::Column;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use url::Url;

use super::Engine;
use super::config::{ConnectionConfig, decode};
use super::reach::{refused, unreachable};
use super::rows::{Flow, MAX_ROW_BYTES, Rows, row_too_large};
use super::schema::{self, ColumnInfo, TableInfo};
use super::trino_values::value;
use crate::DataError;
use crate::guard::{Checked, Dialect};
use crate::params;

/// Questions to one server at the same time.
const AT_ONCE: usize = 4;
const MAX_MESSAGE_CHARS: usize = 2_000;
/// A busy server says 503, and is asked again.
const PAUSE: Duration = Duration::from_millis(200);
const TRIES: usize = 25;

pub(super) struct Trino {
    client: reqwest::Client,
    base: Url,
    user: String,
    password: Option<String>,
    catalog: Option<String>,
    schema: Option<String>,
    timezone: Option<String>,
    timeout: Duration,
    turns: Semaphore,
    /// `X-Trino` or `X-Presto`.
    prefix: &'static str,
}

/// One page of an answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    next_uri: Option<String>,
    columns: Option<Vec<TypedColumn>>,
    #[serde(default)]
    data: Option<Vec<Vec<Value>>>,
    error: Option<Complaint>,
}

#[derive(Deserialize)]
struct TypedColumn {
    name: String,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Complaint {
    message: String,
    error_name: String,
}

impl Trino {
    /// `trino://user:password@host:8080/catalog/schema`.
    pub(super) fn new(config: &ConnectionConfig) -> Result<Self, String> {
        let text = config.url.expose();
        let (scheme, rest) = text.split_once(':').ok_or("not an address")?;
        let secure = scheme.ends_with("+https");
        let http = if secure { "https" } else { "http" };
        let mut base = Url::parse(&format!("{http}:{rest}")).map_err(|e| e.to_string())?;
        let user = decode(base.username());
        if user.is_empty() {
            return Err("the address needs a user".to_owned());
        }
        let password = base.password().map(decode);
        if password.is_some() && !secure {
            return Err("a password is only sent over TLS; use trino+https://".to_owned());
        }
        let path = decode(base.path().trim_matches('/'));
        let mut parts = path.split('/').filter(|p| !p.is_empty()).map(str::to_owned);
        let (catalog, schema) = (parts.next(), parts.next());
        base.set_username("").map_err(|()| "not an address")?;
        base.set_password(None).map_err(|()| "not an address")?;
        base.set_path("/v1/statement");
        base.set_query(None);
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(config.timeout + Duration::from_secs(2))
            .build()
            .map_err(|e| e.to_string())?;
        let prefix = if scheme.starts_with("presto") { "X-Presto" } else { "X-Trino" };
        let (timezone, timeout) = (config.timezone.clone(), config.timeout);
        let turns = Semaphore::new(AT_ONCE);
        Ok(Self { client, base, user, password, catalog, schema, timezone, timeout, turns, prefix })
    }

    fn with_headers(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        let head = |name: &str| format!("{}-{name}", self.prefix);
        let mut request = request.header(head("User"), &self.user).header(head("Source"), "ba-agent");
        for (name, value) in
            [("Catalog", &self.catalog), ("Schema", &self.schema), ("Time-Zone", &self.timezone)]
        {
            if let Some(value) = value {
                request = request.header(head(name), value);
            }
        }
        match &self.password {
            Some(password) => request.basic_auth(&self.user, Some(password)),
            None => request,
        }
    }

    /// Runs a statement and takes its rows page by page.
    async fn run(&self, sql: String, rows: &mut Rows) -> Result<(), DataError> {
        let _turn = self.turns.acquire().await.map_err(|e| DataError::internal("the connections", e))?;
        // The server ends it by itself, too.
        let limit = format!("query_max_run_time={}s", self.timeout.as_secs().max(1));
        let post = || {
            let post = self.client.post(self.base.clone()).body(sql.clone());
            self.with_headers(post).header(format!("{}-Session", self.prefix), &limit)
        };
        let mut page = self.page(post).await?;
        let mut under_way = UnderWay { client: self.client.clone(), end: None };
        loop {
            let next = page.next_uri.take().map(|next| self.checked(&next)).transpose()?;
            let end = next.as_ref().map(|next| self.with_headers(self.client.delete(next.clone())));
            under_way.end = end.and_then(|request| request.build().ok());
            if let Some(error) = page.error.take() {
                return Err(complaint(&error));
            }
            if let Some(columns) = page.columns.take().filter(|_| rows.columns.is_empty()) {
                rows.columns = columns.into_iter().map(|c| Column::new(&c.name, c.kind)).collect();
            }
            for row in page.data.take().unwrap_or_default() {
                let cells =
                    row.into_iter().zip(&rows.columns).map(|(cell, c)| value(&c.kind, cell)).collect();
                if rows.push(cells)? == Flow::Enough {
                    return Ok(());
                }
            }
            let Some(next) = next else { return Ok(()) };
            page = self.page(|| self.with_headers(self.client.get(next.clone()))).await?;
        }
    }

    /// One page, whole: it is small by the protocol, and held to a limit here.
    async fn page(&self, request: impl Fn() -> reqwest::RequestBuilder) -> Result<Page, DataError> {
        let mut tries = 0;
        let (status, body) = loop {
            let mut response = request().send().await.map_err(refused)?;
            let status = response.status();
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(refused)? {
                body.extend_from_slice(&chunk);
                if body.len() > MAX_ROW_BYTES {
                    return Err(row_too_large());
                }
            }
            tries += 1;
            if !matches!(status.as_u16(), 502..=504) || tries >= TRIES {
                break (status, body);
            }
            tokio::time::sleep(PAUSE).await;
        };
        let said = || ba_protocol::text::shorten(String::from_utf8_lossy(&body).trim(), MAX_MESSAGE_CHARS);
        match status.as_u16() {
            200 => serde_json::from_slice(&body)
                .map_err(|_| DataError::query("BAD_ANSWER", "the server does not answer as Trino does")),
            401 | 403 => Err(unreachable(format!("the server refuses the account: {}", said()))),
            code => Err(unreachable(format!("the server answers {code}: {}", said()))),
        }
    }

    /// The next page lies on the same server; any other address would get the account's password.
    fn checked(&self, next: &str) -> Result<Url, DataError> {
        let url = Url::parse(next).ok().filter(|url| url.origin() == self.base.origin());
        url.ok_or_else(|| {
            DataError::query(
                "OTHER_ADDRESS",
                "the server names a page at another address, which is not configured",
            )
        })
    }
}

/// Cancels on the server what was not followed to its end.
struct UnderWay {
    client: reqwest::Client,
    /// The request that ends the statement, while there are more pages.
    end: Option<reqwest::Request>,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let (Some(request), Ok(runtime)) = (self.end.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let client = self.client.clone();
        runtime.spawn(async move {
            if let Err(error) = client.execute(request).await {
                tracing::debug!(error = %error.without_url(), "a statement was not cancelled");
            }
        });
    }
}

fn complaint(error: &Complaint) -> DataError {
    let message = ba_protocol::text::shorten(&error.message, MAX_MESSAGE_CHARS);
    match error.error_name.as_str() {
        "EXCEEDED_TIME_LIMIT" => DataError::Timeout { what: "the query".into(), seconds: 0 },
        "PERMISSION_DENIED" => DataError::query("READ_ONLY", message),
        _ => DataError::query("SQL_FAILED", message),
    }
}

#[async_trait]
impl Engine for Trino {
    async fn query(
        &self,
        sql: &Checked,
        params: &Map<String, Value>,
        rows: &mut Rows,
    ) -> Result<(), DataError> {
        self.run(params::written(sql, params, Dialect::Trino)?, rows).await
    }

    async fn zone(&self) -> Result<Option<String>, DataError> {
        Ok(self.timezone.clone())
    }

    async fn tables(&self) -> Result<Vec<TableInfo>, DataError> {
        let Some(catalog) = &self.catalog else {
            return Err(unreachable("the address names no catalog: trino://user@host:8080/catalog"));
        };
        let own = self
            .schema
            .as_deref()
            .map_or_else(String::new, |s| format!(" AND c.table_schema = {}", Dialect::Trino.quoted_text(s)));
        let catalog = Dialect::Trino.quoted_name(catalog);
        let sql = format!(
            "SELECT c.table_schema, c.table_name, t.table_type, c.column_name, c.data_type \
             FROM {catalog}.information_schema.columns c JOIN {catalog}.information_schema.tables t \
             ON t.table_schema = c.table_schema AND t.table_name = c.table_name \
             WHERE c.table_schema <> 'information_schema'{own} \
             ORDER BY c.table_schema, c.table_name, c.ordinal_position LIMIT 60000"
        );
        let mut answer = Rows::in_memory(60_000);
        self.run(sql, &mut answer).await?;
        let mut tables = Vec::new();
        for row in &answer.rows {
            let text = |i: usize| row.get(i).and_then(Value::as_str).unwrap_or_default().to_owned();
            let name = match &self.schema {
                Some(_) => text(1),
                None => format!("{}.{}", text(0), text(1)),
            };
            let kind = if text(2) == "VIEW" { "view" } else { "table" };
            let table = TableInfo { name, kind: kind.into(), ..TableInfo::default() };
            let column = ColumnInfo { name: text(3), kind: text(4), ..ColumnInfo::default() };
            schema::add_column(&mut tables, table, column);
        }
        Ok(tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SecretUrl;

    fn trino(url: &str) -> Result<Trino, String> {
        let config = ConnectionConfig {
            name: "t".into(),
            url: SecretUrl::new(url),
            description: String::new(),
            allow_superuser: false,
            timeout: Duration::from_secs(1),
            timezone: None,
            dialect: None,
            files: None,
            functions: Vec::new(),
        };
        Trino::new(&config)
    }

    #[test]
    fn a_password_goes_only_over_tls_and_to_one_address() {
        assert!(trino("trino://h:8080/hive").is_err());
        assert!(trino("trino://u:p@h:8080/hive").is_err());
        let there = trino("trino+https://u:p@h:8443/hive/sales").unwrap();
        assert_eq!((there.catalog.as_deref(), there.schema.as_deref()), (Some("hive"), Some("sales")));
        assert!(there.checked("https://h:8443/v1/statement/executing/1").is_ok());
        for other in ["https://evil/v1/x", "http://h:8443/v1/x", "https://h:1/x", "no address"] {
            assert!(there.checked(other).is_err(), "{other}");
        }
    }
}
