//! Servers that speak Arrow Flight SQL. The protocol knows no READ ONLY transaction: the guard and the rights of the account
//! are the walls here. Rows are cut while they stream; a statement that nobody waits for is cancelled.

mod batches;
mod client;
mod messages;
mod tables;
mod values;

use arrow_schema::Schema;
use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tonic::Status;

use super::Engine;
use super::config::ConnectionConfig;
use super::rows::{Flow, Rows};
use super::schema::TableInfo;
use super::zone::Zone;
use crate::DataError;
use crate::guard::{Checked, Dialect, FileTable};
use crate::params;
use batches::Batches;
use client::{Client, failed};
use messages::{Descriptor, Endpoint, Info};

/// Questions to one server at the same time.
const AT_ONCE: usize = 4;
/// Parts of an answer that a server may name.
const MAX_ENDPOINTS: usize = 10_000;

pub(super) struct Flight {
    client: Client,
    dialect: Dialect,
    host: String,
    /// As configured; without it each moment is shown in its column's zone.
    zone: Option<Zone>,
    turns: Semaphore,
    /// The only tables, where it is an engine over files.
    files: Option<Vec<FileTable>>,
}

impl Flight {
    pub(super) fn new(config: &ConnectionConfig, dialect: Dialect) -> Result<Self, String> {
        let url = url::Url::parse(config.url.expose()).map_err(|e| e.to_string())?;
        Ok(Self {
            client: Client::new(config.url.expose(), config.timeout)?,
            dialect,
            host: url.host_str().unwrap_or_default().to_owned(),
            zone: config.timezone.as_deref().map(Zone::named),
            turns: Semaphore::new(AT_ONCE),
            files: config.files.clone(),
        })
    }

    /// Runs what is described and takes its rows as they come.
    async fn run(&self, descriptor: Descriptor, rows: &mut Rows) -> Result<(), DataError> {
        let _turn = self.turns.acquire().await.map_err(|e| DataError::internal("the connections", e))?;
        let mut under_way = self.begun(descriptor).await.map_err(|s| failed(&s))?;
        if let Some(schema) = under_way.schema() {
            rows.columns = batches::columns(&schema);
        }
        while let Some(endpoint) = under_way.unread.pop() {
            if self.part(endpoint, rows).await? == Flow::Enough {
                return Ok(());
            }
        }
        under_way.info = None;
        Ok(())
    }

    /// Asks in a task of its own: what the server has begun by then is ended even when nobody waits for it any more.
    async fn begun(&self, descriptor: Descriptor) -> Result<UnderWay, Status> {
        let client = self.client.clone();
        let asked = tokio::spawn(async move {
            let info = client.info(descriptor).await?;
            if info.endpoints.len() > MAX_ENDPOINTS {
                return Err(Status::out_of_range("the server names too many parts of its answer"));
            }
            let unread = info.endpoints.iter().rev().cloned().collect();
            Ok(UnderWay { client, info: Some(info), unread })
        });
        asked.await.unwrap_or_else(|_| Err(Status::internal("the question could not be asked")))
    }

    async fn part(&self, endpoint: Endpoint, rows: &mut Rows) -> Result<Flow, DataError> {
        if !endpoint.locations.iter().all(|l| self.is_here(&l.uri)) {
            let message = "the server sends its rows from another address, which is not configured";
            return Err(DataError::query("OTHER_ADDRESS", message));
        }
        let Some(ticket) = endpoint.ticket else { return Ok(Flow::More) };
        let mut stream = self.client.rows(ticket).await.map_err(|s| failed(&s))?;
        let mut batches = Batches::default();
        while let Some(data) = stream.message().await.map_err(|s: Status| failed(&s))? {
            // On a thread of its own: reading is work, and a decoder that fails fails there.
            let (mut taken, zone) = (rows.take(), self.zone.clone());
            let mut known = std::mem::take(&mut batches);
            let work = tokio::task::spawn_blocking(move || {
                let flow = known.take(&data).and_then(|batch| {
                    if let Some(columns) = known.columns() {
                        taken.columns = columns;
                    }
                    batch.map_or(Ok(Flow::More), |batch| batches::push(&batch, zone.as_ref(), &mut taken))
                });
                (known, taken, flow)
            });
            let done =
                work.await.map_err(|_| DataError::query("BAD_ANSWER", "the server's rows cannot be read"))?;
            let (known, taken, flow) = done;
            batches = known;
            *rows = taken;
            if flow? == Flow::Enough {
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }

    /// No address, the sign for “this connection”, or the host that is configured.
    fn is_here(&self, uri: &str) -> bool {
        uri.is_empty()
            || uri.starts_with("arrow-flight-reuse-connection:")
            || url::Url::parse(uri).is_ok_and(|url| url.host_str() == Some(self.host.as_str()))
    }
}

/// Cancels on the server what was not read to its end.
struct UnderWay {
    client: Client,
    info: Option<Info>,
    /// Parts that were not asked for yet, the next one last.
    unread: Vec<Endpoint>,
}

impl UnderWay {
    /// The columns, where the server tells them beforehand.
    fn schema(&self) -> Option<Schema> {
        self.info.as_ref().and_then(|info| batches::schema_of(&info.schema))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let (Some(info), Ok(runtime)) = (self.info.take(), tokio::runtime::Handle::try_current()) {
            let (client, unread) = (self.client.clone(), std::mem::take(&mut self.unread));
            runtime.spawn(async move { client.cancel(info, unread).await });
        }
    }
}

#[async_trait]
impl Engine for Flight {
    async fn query(
        &self,
        sql: &Checked,
        params: &Map<String, Value>,
        rows: &mut Rows,
    ) -> Result<(), DataError> {
        let sql = params::written(sql, params, self.dialect)?;
        self.run(messages::statement(&sql), rows).await
    }

    async fn tables(&self) -> Result<Vec<TableInfo>, DataError> {
        match &self.files {
            Some(files) => tables::of_files(self, files).await,
            None => tables::list(self).await,
        }
    }

    async fn zone(&self) -> Result<Option<String>, DataError> {
        Ok(self.zone.as_ref().map(|zone| zone.label.clone()))
    }
}
