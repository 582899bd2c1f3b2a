//! One session with SQL Server, for one question. Dropped before its end, it tells the server to stop.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use ba_protocol::text::shorten;
use tiberius::error::Error;
use tiberius::{Client, ColumnData, Config};
use tokio::net::UnixStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

use crate::DataError;
use crate::connections::reach::unreachable;
use crate::connections::rows::{self, MAX_CELL_CHARS};
use crate::connections::wire::{Meter, Place, Wire};

const CANCEL_WALL: Duration = Duration::from_secs(5);
const MAX_MESSAGE_CHARS: usize = 2_000;

type Driver = Client<Compat<UnixStream>>;

pub(super) struct Session {
    /// With the way to the server, until the session has ended.
    open: Option<(Driver, Wire)>,
    meter: Arc<Meter>,
    _turn: OwnedSemaphorePermit,
}

impl Session {
    /// Signs in and begins the transaction that nobody will commit.
    pub(super) async fn begin(
        place: &Place,
        options: Config,
        timeout: Duration,
        turn: OwnedSemaphorePermit,
    ) -> Result<Self, DataError> {
        let wire = Wire::to(place, "s").await.map_err(|e| failed(e.into()))?;
        let meter = wire.meter().clone();
        let stream = UnixStream::connect(wire.file()).await.map_err(|e| failed(e.into()))?;
        let client = Client::connect(options, stream.compat_write()).await.map_err(unreached)?;
        let mut session = Self { open: Some((client, wire)), meter, _turn: turn };
        // Two bytes a character, and one character more than is shown tells that there are more.
        let (longest, wait) = ((MAX_CELL_CHARS + 1) * 2, timeout.as_millis());
        let settings = format!(
            "SET NOCOUNT ON; SET QUOTED_IDENTIFIER ON; SET ANSI_NULLS ON; SET XACT_ABORT ON; \
             SET TEXTSIZE {longest}; SET LOCK_TIMEOUT {wait}; SET DATEFORMAT ymd; \
             SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN TRANSACTION"
        );
        session.texts(&settings).await?;
        Ok(session)
    }

    /// The client, and the meter to be told of every row that was taken.
    pub(super) fn parts(&mut self) -> Result<(&mut Driver, &Meter), DataError> {
        let ended = || DataError::internal("the connections", "a session that has ended");
        let (client, _) = self.open.as_mut().ok_or_else(ended)?;
        Ok((client, &self.meter))
    }

    /// Our own statements, whose answers are small: every value as a text.
    pub(super) async fn texts(&mut self, sql: &str) -> Result<Vec<Vec<String>>, DataError> {
        let (client, meter) = self.parts()?;
        let told = async {
            let mut stream = client.simple_query(sql).await?;
            let mut all = Vec::new();
            while let Some(item) = futures::TryStreamExt::try_next(&mut stream).await? {
                let Some(row) = item.into_row() else { continue };
                meter.taken();
                all.push(row.cells().map(|(_, data)| text(data)).collect());
            }
            Ok(all)
        };
        let told = told.await.map_err(failed);
        self.explain(told)
    }

    /// What an outcome means: where the wire was cut, the driver knows only that it ended.
    pub(super) fn explain<T>(&self, outcome: Result<T, DataError>) -> Result<T, DataError> {
        if self.meter.is_over() { outcome.map_err(|_| rows::row_too_large()) } else { outcome }
    }

    /// Everything was read; the server rolls back when it sees the end.
    pub(super) async fn end(mut self) {
        if let Some((client, _wire)) = self.open.take()
            && let Err(error) = client.close().await
        {
            tracing::debug!(%error, "a session did not end properly");
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let (Some((mut client, wire)), Ok(runtime)) =
            (self.open.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        runtime.spawn(async move {
            // Rows that are under way may be many: they count as nothing that anybody holds.
            let stopped = tokio::time::timeout(CANCEL_WALL, client.cancel_query()).await;
            if !matches!(stopped, Ok(Ok(()))) {
                tracing::debug!("a statement was not cancelled; its connection is closed");
            }
            drop((client, wire));
        });
    }
}

fn text(data: &ColumnData<'_>) -> String {
    match data {
        ColumnData::String(Some(text)) => text.to_string(),
        ColumnData::I64(Some(n)) => n.to_string(),
        ColumnData::I32(Some(n)) => n.to_string(),
        _ => String::new(),
    }
}

/// Why there is no session, in words that name no address.
fn unreached(error: Error) -> DataError {
    match error {
        // Its password would go there.
        Error::Routing { .. } => unreachable("the server sends us to another address; configure that one"),
        Error::Server(said) => unreachable(shorten(said.message(), MAX_MESSAGE_CHARS)),
        Error::Tls(why) => {
            let hint = "; for a certificate that this machine does not know, add ?trust_certificate=yes";
            unreachable(shorten(why.split(" To connect anyway").next().unwrap_or_default(), 300) + hint)
        }
        other => failed(other),
    }
}

/// The server's own error, or the connection's.
pub(super) fn failed(error: Error) -> DataError {
    match error {
        Error::Server(said) => {
            let message = shorten(said.message(), MAX_MESSAGE_CHARS);
            match said.code() {
                // A lock that somebody else holds, longer than the question may take.
                1222 => DataError::Timeout { what: "the query".into(), seconds: 0 },
                229 | 230 | 262 | 3906 => DataError::query("READ_ONLY", message),
                _ => DataError::query("SQL_FAILED", message),
            }
        }
        Error::Io { kind, message } => match kind {
            ErrorKind::ConnectionRefused => unreachable("connection refused: no server listens there"),
            ErrorKind::TimedOut => DataError::Timeout { what: "the query".into(), seconds: 0 },
            _ if message.contains("lookup") => unreachable("unknown host"),
            _ => unreachable(shorten(&message, MAX_MESSAGE_CHARS)),
        },
        other => unreachable(shorten(&other.to_string(), MAX_MESSAGE_CHARS)),
    }
}
