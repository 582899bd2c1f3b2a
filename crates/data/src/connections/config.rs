//! How a database connection is described. The address holds a password, so nothing here prints it.

use std::fmt;
use std::time::Duration;

use crate::guard::{Dialect, FileTable};

/// An address with its password. `Debug` and `Display` show neither.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretUrl(String);

impl SecretUrl {
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Removes every part of the address that could be a secret from a text that goes to people or models.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let mut clean = text.replace(&self.0, "<address>");
        if let Ok(url) = url::Url::parse(&self.0) {
            let password = url.password().unwrap_or_default();
            for secret in [password.to_owned(), decode(password)] {
                if secret.len() >= 3 {
                    clean = clean.replace(&secret, "<secret>");
                }
            }
        }
        clean
    }
}

/// Undoes percent encoding.
pub(crate) fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex = bytes.get(i + 1..i + 3).and_then(|d| std::str::from_utf8(d).ok());
        match hex.and_then(|d| u8::from_str_radix(d, 16).ok()).filter(|_| bytes[i] == b'%') {
            Some(value) => {
                out.push(value);
                i += 3;
            }
            None => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<address>")
    }
}

impl fmt::Display for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<address>")
    }
}

#[derive(Debug, Clone)]
pub struct ConnectionConfig {
    pub name: String,
    pub url: SecretUrl,
    pub description: String,
    /// The owner has said in words that a superuser may be used.
    pub allow_superuser: bool,
    pub timeout: Duration,
    /// The zone sessions work in, a name or an offset; the server's own when absent.
    pub timezone: Option<String>,
    /// The SQL of a server whose address does not tell it.
    pub dialect: Option<Dialect>,
    /// Of an engine that reads files where they lie: its standing tables. Such a connection knows these and those that come
    /// with a question, and nothing else of the server.
    pub files: Option<Vec<FileTable>>,
    /// Functions of the database's own that queries may call, with their schema where they are called so.
    pub functions: Vec<String>,
}

/// What people and models may know about a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionInfo {
    pub name: String,
    pub description: String,
    pub dialect: Dialect,
    /// As configured; the server's own is learned at the first query.
    pub timezone: Option<String>,
}

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Driver {
    Postgres,
    MySql,
    Sqlite,
    ClickHouse,
    Flight,
    Trino,
    SqlServer,
}

pub(crate) fn driver_of(url: &str) -> Option<Driver> {
    let scheme = url.split_once(':')?.0.to_ascii_lowercase();
    Some(match scheme.as_str() {
        "postgres" | "postgresql" | "redshift" | "cockroachdb" | "greenplum" => Driver::Postgres,
        "mysql" | "mariadb" | "doris" | "starrocks" | "tidb" | "oceanbase" => Driver::MySql,
        "sqlite" => Driver::Sqlite,
        "clickhouse" | "clickhouses" | "clickhouse+http" | "clickhouse+https" => Driver::ClickHouse,
        "grpc" | "grpc+tls" | "grpcs" => Driver::Flight,
        "trino" | "trino+https" | "presto" | "presto+https" => Driver::Trino,
        "sqlserver" | "mssql" => Driver::SqlServer,
        _ => return None,
    })
}

/// The SQL that an address stands for; `None` for one that says nothing of it, and for an unknown one.
pub fn dialect_of(url: &str) -> Option<Dialect> {
    Some(match driver_of(url)? {
        Driver::Postgres => Dialect::Postgres,
        Driver::MySql => Dialect::MySql,
        Driver::Sqlite => Dialect::Sqlite,
        Driver::ClickHouse => Dialect::ClickHouse,
        Driver::Trino => Dialect::Trino,
        Driver::SqlServer => Dialect::MsSql,
        Driver::Flight => return None,
    })
}

/// The same address under the scheme that the driver knows.
pub(crate) fn with_scheme(url: &str, scheme: &str) -> String {
    url.split_once(':').map_or_else(|| url.to_owned(), |(_, rest)| format!("{scheme}:{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_nowhere() {
        let url = SecretUrl::new("postgres://u:p%40ss-word@h/d");
        let config = ConnectionConfig {
            name: "erp".into(),
            url: url.clone(),
            description: String::new(),
            allow_superuser: false,
            timeout: Duration::from_secs(1),
            timezone: None,
            dialect: None,
            files: None,
            functions: Vec::new(),
        };
        let shown = format!("{config:?} {url} {url:?}");
        assert!(!shown.contains("ss-word"), "{shown}");
        let scrubbed = url.scrub("failed: p@ss-word / p%40ss-word / postgres://u:p%40ss-word@h/d");
        assert!(!scrubbed.contains("ss-word"), "{scrubbed}");
    }

    #[test]
    fn compatible_engines_speak_their_family() {
        assert_eq!(dialect_of("starrocks://h/d"), Some(Dialect::MySql));
        assert_eq!(dialect_of("greenplum://h/d"), Some(Dialect::Postgres));
        assert_eq!(dialect_of("ftp://h"), None);
        assert_eq!(with_scheme("doris://u@h/d", "mysql"), "mysql://u@h/d");
    }
}
