//! SQL Server, over its own protocol (TDS). It knows no READ ONLY transaction: the guard stands in front, an account that may
//! write is refused, and every question runs in a transaction that is never committed. A statement that nobody waits for any
//! more is cancelled on the server, which has no time limit of its own.

mod catalog;
mod session;
mod values;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::TryStreamExt;
use serde_json::{Map, Value};
use tiberius::{AuthMethod, Config, EncryptionLevel, Query};
use tokio::sync::{OnceCell, Semaphore};
use url::Url;

use super::Engine;
use super::config::{ConnectionConfig, decode};
use super::rows::{Flow, Rows};
use super::schema::TableInfo;
use super::wire::Place;
use crate::DataError;
use crate::guard::Checked;
use crate::params::{self, Style};
use session::{Session, failed};

/// Questions to one server at the same time.
const AT_ONCE: usize = 4;
/// How long a session may take to begin, the waiting for a free one included.
const PATIENCE: Duration = Duration::from_secs(10);
const PORT: u16 = 1433;

pub(super) struct SqlServer {
    place: Place,
    options: Config,
    timeout: Duration,
    allow_superuser: bool,
    turns: Arc<Semaphore>,
    /// Set when the account has been looked at.
    vetted: OnceCell<()>,
}

impl SqlServer {
    /// `sqlserver://user:password@host:1433/database?trust_certificate=yes`.
    pub(super) fn new(config: &ConnectionConfig) -> Result<Self, String> {
        let url = Url::parse(config.url.expose()).map_err(|e| e.to_string())?;
        let host = url.host_str().filter(|h| !h.is_empty()).ok_or("the address has no host")?;
        let (user, password) = (decode(url.username()), decode(url.password().unwrap_or_default()));
        if user.is_empty() {
            return Err("the address needs a user: signing in with a domain is not supported".to_owned());
        }
        let place = Place::network(host, url.port().unwrap_or(PORT));
        let mut options = Config::new();
        options.host(host.trim_matches(['[', ']']));
        options.port(url.port().unwrap_or(PORT));
        options.application_name("ba-agent");
        // A readable copy may answer where there is one.
        options.readonly(true);
        options.authentication(AuthMethod::sql_server(user, password));
        options.handshake_timeout(Some(PATIENCE));
        // The time limit is ours: after its own the driver would not cancel any more.
        options.command_timeout(None);
        let database = decode(url.path().trim_matches('/'));
        if !database.is_empty() {
            options.database(database);
        }
        encryption(&url, host, &mut options)?;
        let (timeout, allow_superuser) = (config.timeout, config.allow_superuser);
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        Ok(Self { place, options, timeout, allow_superuser, turns, vetted: OnceCell::new() })
    }

    async fn session(&self) -> Result<Session, DataError> {
        let begin = async {
            let turn = self.turns.clone().acquire_owned().await;
            let turn = turn.map_err(|e| DataError::internal("the connections", e))?;
            Session::begin(&self.place, self.options.clone(), self.timeout, turn).await
        };
        let late = || super::reach::unreachable("the server does not answer, or all connections are in use");
        tokio::time::timeout(PATIENCE, begin).await.unwrap_or_else(|_| Err(late()))
    }

    /// A session of an account that was looked at once.
    async fn vetted(&self) -> Result<Session, DataError> {
        let vet = || async {
            if self.allow_superuser {
                return Ok(());
            }
            let mut session = self.session().await?;
            let told = session.texts(catalog::RIGHTS).await?;
            session.end().await;
            catalog::only_reads(&told)
        };
        self.vetted.get_or_try_init(vet).await?;
        self.session().await
    }
}

/// Everything is encrypted and the certificate checked, unless the address says otherwise.
fn encryption(url: &Url, host: &str, options: &mut Config) -> Result<(), String> {
    options.encryption(EncryptionLevel::Required);
    for (name, value) in url.query_pairs() {
        let yes = matches!(&*value, "yes" | "true" | "1");
        match &*name {
            "trust_certificate" if yes => options.trust_cert(),
            "encrypt" if !yes && is_here(host) => options.encryption(EncryptionLevel::NotSupported),
            "encrypt" if !yes => return Err("only a server on this machine is asked without TLS".to_owned()),
            "trust_certificate" | "encrypt" => {}
            other => {
                return Err(format!("unknown option `{other}`; there are trust_certificate and encrypt"));
            }
        }
    }
    Ok(())
}

fn is_here(host: &str) -> bool {
    let address: Option<std::net::IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    host == "localhost" || address.is_some_and(|a| a.is_loopback())
}

/// Runs one statement and takes its rows as they come.
async fn run(session: &mut Session, bound: params::Bound, rows: &mut Rows) -> Result<(), DataError> {
    let mut query = Query::new(bound.sql);
    for (_, value) in bound.values {
        match value {
            Value::Null => query.bind(None::<String>),
            Value::Bool(b) => query.bind(b),
            Value::Number(n) => match (n.as_i64(), n.as_f64()) {
                (Some(i), _) => query.bind(i),
                (None, Some(f)) => query.bind(f),
                (None, None) => query.bind(n.to_string()),
            },
            Value::String(text) => query.bind(text),
            other => query.bind(other.to_string()),
        }
    }
    let (client, meter) = session.parts()?;
    let mut stream = query.query(client).await.map_err(failed)?;
    if let Some(told) = stream.columns().await.map_err(failed)? {
        rows.columns = values::columns(told);
    }
    while let Some(item) = stream.try_next().await.map_err(failed)? {
        let Some(row) = item.into_row() else { continue };
        meter.taken();
        let limit = rows.cell_limit();
        let cells = row.cells().zip(&rows.columns).map(|((_, data), c)| values::cell(&c.kind, data, limit));
        let cells: Vec<Value> = cells.collect::<Result<_, _>>()?;
        if rows.push(cells)? == Flow::Enough {
            break;
        }
    }
    Ok(())
}

#[async_trait]
impl Engine for SqlServer {
    async fn query(
        &self,
        sql: &Checked,
        params: &Map<String, Value>,
        rows: &mut Rows,
    ) -> Result<(), DataError> {
        let bound = params::bind(sql, params, Style::At)?;
        let mut session = self.vetted().await?;
        let work = tokio::time::timeout(self.timeout, run(&mut session, bound, rows)).await;
        let late = || DataError::Timeout { what: "the query".into(), seconds: self.timeout.as_secs() };
        let outcome = session.explain(work.unwrap_or_else(|_| Err(late())));
        // Otherwise rows may still be under way: dropped, the session cancels them.
        if outcome.is_ok() && !rows.more {
            session.end().await;
        }
        outcome
    }

    async fn tables(&self) -> Result<Vec<TableInfo>, DataError> {
        let mut session = self.vetted().await?;
        let told = session.texts(catalog::TABLES).await?;
        session.end().await;
        Ok(catalog::tables(&told))
    }

    /// Times carry their own offset or none.
    async fn zone(&self) -> Result<Option<String>, DataError> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SecretUrl;

    fn server(url: &str) -> Result<SqlServer, String> {
        SqlServer::new(&ConnectionConfig {
            name: "s".into(),
            url: SecretUrl::new(url),
            description: String::new(),
            allow_superuser: false,
            timeout: Duration::from_secs(1),
            timezone: None,
            dialect: None,
            files: None,
            functions: Vec::new(),
        })
    }

    #[test]
    fn a_password_goes_only_over_tls() {
        for good in [
            "sqlserver://u:p@db.example.com/sales",
            "mssql://u:p@db.example.com:1434?trust_certificate=yes",
            "sqlserver://u:p@127.0.0.1/x?encrypt=no",
            "sqlserver://u:p@[::1]/x?encrypt=no",
        ] {
            assert!(server(good).is_ok(), "{good}");
        }
        for bad in [
            "sqlserver://u:p@db.example.com/x?encrypt=no",
            "sqlserver://u:p@127.0.0.1.evil.example/x?encrypt=no",
            "sqlserver://u:p@h/x?instance=y",
            "sqlserver://h/x",
            "sqlserver://",
        ] {
            assert!(server(bad).is_err(), "{bad}");
        }
    }
}
