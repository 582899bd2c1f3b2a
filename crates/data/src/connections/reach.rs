//! Reaching a server, and saying why it could not be reached or what it answered. Every question gets a session of its own:
//! nothing that one leaves behind (locks, variables, settings) is there for the next.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use ba_protocol::text::shorten;
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::rows;
use super::wire::{Meter, Place, Wire};
use crate::DataError;

/// Questions to one server at the same time.
const AT_ONCE: usize = 4;
/// How long a session may take to begin, the waiting for a free one included.
const PATIENCE: Duration = Duration::from_secs(10);
/// How soon a server that is full is asked again.
const PAUSE: Duration = Duration::from_millis(250);
/// Characters of a server's own words; some servers repeat the value that they could not read, whatever its length.
const MAX_MESSAGE_CHARS: usize = 2_000;

/// The way to one server.
pub(super) struct Server<O> {
    place: Place,
    /// Of the socket that the driver looks for.
    name: String,
    /// The options with the wire in the place of the server.
    through: fn(&O, &Wire) -> O,
    pub options: O,
    turns: Arc<Semaphore>,
}

/// A session for one question.
pub(super) struct Session<C> {
    pub connection: C,
    wire: Wire,
    _turn: OwnedSemaphorePermit,
}

impl<O: ConnectOptions> Server<O>
where
    O::Connection: Sized,
{
    pub(super) fn new(options: O, place: Place, name: String, through: fn(&O, &Wire) -> O) -> Self {
        Self { place, name, through, options, turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    pub(super) async fn session(&self) -> Result<Session<O::Connection>, DataError> {
        let until = tokio::time::Instant::now() + PATIENCE;
        let turn = tokio::time::timeout_at(until, self.turns.clone().acquire_owned()).await;
        let turn = turn
            .map_err(|_| unreachable("all of its connections are in use; try again in a moment"))?
            .map_err(|e| DataError::internal("the connections", e))?;
        loop {
            let opened = tokio::time::timeout_at(until, self.open()).await;
            match opened.map_err(|_| unreachable("the server does not answer"))? {
                Ok((connection, wire)) => return Ok(Session { connection, wire, _turn: turn }),
                Err(error) if is_full(&error) && tokio::time::Instant::now() + PAUSE < until => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) => return Err(unreached(error)),
            }
        }
    }

    /// A session beside those that wait for a turn.
    pub(super) async fn open(&self) -> Result<(O::Connection, Wire), sqlx::Error> {
        let wire = Wire::to(&self.place, &self.name).await?;
        let connection = (self.through)(&self.options, &wire).connect().await?;
        Ok((connection, wire))
    }
}

impl<C: Connection> Session<C> {
    /// The connection, and the meter to be told of every row that was taken.
    pub(super) fn parts(&mut self) -> (&mut C, Arc<Meter>) {
        (&mut self.connection, self.wire.meter().clone())
    }

    /// What an outcome means: where the wire was cut, the driver knows only that it ended.
    pub(super) fn explain<T>(&self, outcome: Result<T, DataError>) -> Result<T, DataError> {
        if self.was_cut() { outcome.map_err(|_| rows::row_too_large()) } else { outcome }
    }

    pub(super) fn was_cut(&self) -> bool {
        self.wire.meter().is_over()
    }

    /// Says goodbye. A session that is only dropped is closed as well, without a word.
    pub(super) async fn end(self) {
        if let Err(error) = self.connection.close().await {
            tracing::debug!(%error, "a session did not end properly");
        }
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

/// Why a server that speaks HTTP was not reached, in words that name no address.
pub(super) fn refused(error: reqwest::Error) -> DataError {
    let mut cause: &dyn std::error::Error = &error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let why = cause.to_string();
    if error.is_timeout() {
        unreachable("the server does not answer")
    } else if why.contains("refused") {
        unreachable("connection refused: no server listens there")
    } else if why.contains("lookup") || why.contains("dns") {
        unreachable("unknown host")
    } else {
        unreachable(error.without_url())
    }
}

/// Why there is no connection, in words that name no address.
fn unreached(error: sqlx::Error) -> DataError {
    match error {
        sqlx::Error::Database(e) => unreachable(shorten(e.message(), MAX_MESSAGE_CHARS)),
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
            let message = shorten(e.message(), MAX_MESSAGE_CHARS);
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
