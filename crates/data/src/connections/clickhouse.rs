//! ClickHouse over HTTP, always with `readonly`. Rows are cut while they stream; dropping the request ends the query.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ba_protocol::table::Column;
use serde::Deserialize;
use serde_json::{Map, Value};
use url::Url;

use super::config::{SecretUrl, decode};
use super::schema::{self, ColumnInfo, TableInfo};
use super::{Engine, Fetched, unreachable};
use crate::DataError;
use crate::guard::Checked;
use crate::params::{self, Bound, Style};
use crate::result::{Kind, typed};

/// An answer longer than this is refused: the rows asked for would not fit a context anyway.
const MAX_ANSWER: usize = 64 << 20;
const IN_READ_ONLY_MODE: &str = "setting in readonly mode";

pub(super) struct ClickHouse {
    client: reqwest::Client,
    base: Url,
    user: String,
    password: String,
    timeout: Duration,
    /// The server said that the account is read-only itself, and may not say so again.
    read_only_account: AtomicBool,
}

#[derive(Deserialize)]
struct Answer {
    meta: Vec<Meta>,
    data: Vec<Vec<Value>>,
}

#[derive(Deserialize)]
struct Meta {
    name: String,
    #[serde(rename = "type")]
    kind: String,
}

impl ClickHouse {
    pub(super) fn new(url: &SecretUrl, timeout: Duration) -> Result<Self, String> {
        let text = url.expose();
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
            .timeout(timeout + Duration::from_secs(2))
            .build()
            .map_err(|e| e.to_string())?;
        Ok(Self { client, base, user, password, timeout, read_only_account: AtomicBool::new(false) })
    }

    async fn ask(&self, bound: &Bound, max_rows: usize) -> Result<Answer, DataError> {
        let outcome = self.send(bound, max_rows).await;
        let message = match &outcome {
            Err(DataError::Query { message, .. }) if message.contains(IN_READ_ONLY_MODE) => message,
            _ => return outcome,
        };
        if message.contains("'readonly'") && !self.read_only_account.swap(true, Ordering::Relaxed) {
            return self.send(bound, max_rows).await;
        }
        let hint = "the account's profile has readonly = 1, which forbids limits too; give it readonly = 2";
        Err(DataError::Query { code: "ACCOUNT".into(), message: message.clone(), hint: Some(hint.into()) })
    }

    fn address(&self, bound: &Bound, max_rows: usize) -> Url {
        let mut url = self.base.clone();
        let mut query = url.query_pairs_mut();
        query
            .append_pair("default_format", "JSONCompact")
            .append_pair("max_execution_time", &self.timeout.as_secs().max(1).to_string())
            .append_pair("max_result_rows", &max_rows.to_string())
            .append_pair("result_overflow_mode", "break")
            .append_pair("output_format_json_quote_64bit_integers", "1")
            .append_pair("output_format_json_quote_decimals", "1")
            .append_pair("output_format_json_quote_denormals", "1")
            .append_pair("output_format_decimal_trailing_zeros", "1")
            // Every time in UTC, whatever zone the column or the server shows it in.
            .append_pair("date_time_output_format", "iso")
            .append_pair("cancel_http_readonly_queries_on_client_close", "1");
        if !self.read_only_account.load(Ordering::Relaxed) {
            query.append_pair("readonly", "1");
        }
        for (name, value) in &bound.values {
            let text = match value {
                Value::String(s) => s.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n"),
                Value::Null => "\\N".to_owned(),
                other => other.to_string(),
            };
            query.append_pair(&format!("param_{name}"), &text);
        }
        drop(query);
        url
    }

    async fn send(&self, bound: &Bound, max_rows: usize) -> Result<Answer, DataError> {
        let mut response = self
            .client
            .post(self.address(bound, max_rows))
            .header("X-ClickHouse-User", &self.user)
            .header("X-ClickHouse-Key", &self.password)
            .body(bound.sql.clone())
            .send()
            .await
            .map_err(|e| unreachable(e.without_url()))?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|e| unreachable(e.without_url()))? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ANSWER {
                return Err(DataError::Resources(
                    "the answer is larger than 64 MB; select fewer columns or rows".into(),
                ));
            }
        }
        if !status.is_success() {
            let text = String::from_utf8_lossy(&body);
            let message = ba_protocol::text::shorten(text.trim(), 1000);
            if message.contains("TIMEOUT_EXCEEDED") {
                return Err(DataError::Timeout { what: "the query".into(), seconds: self.timeout.as_secs() });
            }
            let code = if message.contains("(READONLY)") { "READ_ONLY" } else { "SQL_FAILED" };
            return Err(DataError::query(code, message));
        }
        serde_json::from_slice(&body)
            .map_err(|e| DataError::query("BAD_ANSWER", format!("the server's answer is not JSON: {e}")))
    }
}

/// A value as the other engines give it: safe integers as numbers, times as `2024-01-02 03:04:05+00`.
fn value(kind: &str, given: Value) -> Value {
    let kind = inner(inner(kind, "LowCardinality"), "Nullable");
    match given {
        Value::String(text) if kind.starts_with("Int") || kind.starts_with("UInt") => {
            typed(&text, Kind::Integer)
        }
        Value::String(text) if kind.starts_with("DateTime") => match text.strip_suffix('Z') {
            Some(moment) => Value::from(format!("{}+00", moment.replacen('T', " ", 1))),
            None => Value::from(text),
        },
        Value::String(text) if kind.starts_with("Float") && text == "nan" => Value::from("NaN"),
        Value::Array(items) if kind.starts_with("Array(") => {
            let kind = inner(kind, "Array");
            items.into_iter().map(|item| value(kind, item)).collect()
        }
        other => other,
    }
}

/// `Int64` of `Nullable(Int64)`.
fn inner<'a>(kind: &'a str, wrapper: &str) -> &'a str {
    let inside = kind.strip_prefix(wrapper).and_then(|rest| rest.strip_prefix('('));
    inside.and_then(|rest| rest.strip_suffix(')')).unwrap_or(kind)
}

#[async_trait]
impl Engine for ClickHouse {
    async fn query(
        &self,
        sql: &Checked,
        params: &Map<String, Value>,
        max_rows: usize,
    ) -> Result<Fetched, DataError> {
        let mut bound = params::bind(sql, params, Style::Braces)?;
        if sql.is_query() {
            bound.sql = format!("SELECT * FROM (\n{}\n) LIMIT {}", bound.sql, max_rows + 1);
        }
        let answer = self.ask(&bound, max_rows + 1).await?;
        let typed = |row: Vec<Value>| {
            row.into_iter().zip(&answer.meta).map(|(given, meta)| value(&meta.kind, given)).collect()
        };
        let rows = answer.data.into_iter().take(max_rows + 1).map(typed).collect();
        let columns = answer.meta.iter().map(|m| Column::new(&m.name, &m.kind)).collect();
        Ok(Fetched { columns, rows })
    }

    async fn tables(&self) -> Result<Vec<TableInfo>, DataError> {
        let sql = "SELECT if(c.database = currentDatabase(), c.table, concat(c.database, '.', c.table)) AS t, \
                   if(s.engine LIKE '%View', 'view', 'table'), s.comment, s.total_rows, c.name, c.type, c.comment, c.is_in_primary_key \
                   FROM system.columns c JOIN system.tables s ON s.database = c.database AND s.name = c.table \
                   WHERE c.database NOT IN ('system', 'information_schema', 'INFORMATION_SCHEMA') ORDER BY t, c.position LIMIT 60000";
        let answer = self.ask(&Bound { sql: sql.to_owned(), values: Vec::new() }, 60_000).await?;
        let mut tables: Vec<TableInfo> = Vec::new();
        for row in &answer.data {
            let text = |i: usize| row.get(i).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (kind, comment) = (text(1), text(2));
            let table =
                TableInfo { name: text(0), kind, comment, rows: text(3).parse().ok(), columns: Vec::new() };
            let primary = row.get(7).is_some_and(|v| v.as_u64() == Some(1));
            let key = if primary { "PK".to_owned() } else { String::new() };
            let (kind, comment) = (text(5), text(6));
            let column = ColumnInfo { name: text(4), kind, comment, key, samples: Vec::new() };
            schema::add_column(&mut tables, table, column);
        }
        Ok(tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_look_as_from_the_other_engines() {
        for (kind, given, want) in [
            ("UInt64", json!("5"), json!(5)),
            ("Nullable(Int64)", json!("9007199254740993"), json!("9007199254740993")),
            (
                "Int256",
                json!("170141183460469231731687303715884105728"),
                json!("170141183460469231731687303715884105728"),
            ),
            ("LowCardinality(Nullable(UInt64))", Value::Null, Value::Null),
            (
                "DateTime64(3, 'Asia/Shanghai')",
                json!("2024-01-02T03:04:05.678Z"),
                json!("2024-01-02 03:04:05.678+00"),
            ),
            ("Decimal(20, 4)", json!("1.5000"), json!("1.5000")),
            ("Float64", json!("nan"), json!("NaN")),
            ("Array(Nullable(UInt64))", json!(["1", null]), json!([1, null])),
            ("String", json!("2024-01-02T03:04:05Z"), json!("2024-01-02T03:04:05Z")),
        ] {
            assert_eq!(value(kind, given), want, "{kind}");
        }
    }
}
