//! Reaching a server, and saying why it could not be reached or what it answered. Never waits for a pool when the server
//! has already said no.

use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{ConnectOptions, Connection as _, Database, Pool};

use crate::DataError;

/// How long a pool may try alone, before the server is asked directly.
const PATIENCE: Duration = Duration::from_millis(250);

/// A connection of the pool. A pool tries a refused address again and again and then only says that time is up; so after
/// a moment the server is asked once beside it, and its refusal is the answer.
pub(super) async fn acquire<DB: Database>(pool: &Pool<DB>) -> Result<PoolConnection<DB>, DataError> {
    let refused = async {
        tokio::time::sleep(PATIENCE).await;
        match pool.connect_options().connect().await {
            Err(error) if !is_full(&error) => return error,
            Err(_) => {}
            Ok(connection) => drop(connection.close().await),
        }
        // The server is there: all connections are in use, and one will be free.
        std::future::pending().await
    };
    tokio::select! {
        biased;
        got = pool.acquire() => got.map_err(unreached),
        error = refused => Err(unreached(error)),
    }
}

/// PostgreSQL's and MySQL's words for too many connections.
fn is_full(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|e| e.code());
    matches!(code.as_deref(), Some("53300" | "08004"))
}

pub(super) fn unreachable(error: impl std::fmt::Display) -> DataError {
    DataError::Connection { name: String::new(), message: error.to_string() }
}

/// Why there is no connection, in words that name no address.
fn unreached(error: sqlx::Error) -> DataError {
    use std::io::ErrorKind;
    match error {
        sqlx::Error::PoolTimedOut => unreachable("all of its connections are in use; try again in a moment"),
        sqlx::Error::Database(e) => unreachable(e.message()),
        sqlx::Error::Io(e) => match e.kind() {
            ErrorKind::ConnectionRefused => unreachable("connection refused: no server listens there"),
            ErrorKind::TimedOut => unreachable("the server does not answer"),
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
                unreachable("no way to the server's network")
            }
            _ if e.to_string().contains("lookup") => unreachable("unknown host"),
            _ => unreachable(e),
        },
        other => unreachable(other),
    }
}

/// A database's own error, or the connection's.
pub(super) fn failed(error: sqlx::Error) -> DataError {
    match error {
        sqlx::Error::Database(e) => {
            let code = e.code().map(|c| c.into_owned()).unwrap_or_default();
            let message = e.message().to_owned();
            let ended = message.contains("max_statement_time")
                || message.contains("maximum statement execution time");
            // 57014: PostgreSQL ended the statement.
            if code == "57014" || ended || message == "interrupted" {
                return DataError::Timeout { what: "the query".into(), seconds: 0 };
            }
            // 25006 and 1792: a write in a READ ONLY transaction.
            let read_only = code == "25006" || message.contains("READ ONLY transaction");
            DataError::query(if read_only { "READ_ONLY" } else { "SQL_FAILED" }, message)
        }
        other => unreached(other),
    }
}
