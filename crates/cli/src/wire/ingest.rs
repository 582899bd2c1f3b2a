//! Ingest of uploads: the table engine reads the file in the sandbox, and the store keeps what it found.

use std::time::Duration;

use async_trait::async_trait;
use ba_data::Tables;
use ba_protocol::file::{IngestStatus, Unread};
use ba_protocol::{ConversationId, Said, Upload};
use ba_server::Ingest;
use ba_store::{JobKind, Store, StoreError, ingest_key};
use ba_tools::{Python, ingest_upload};

use super::App;

/// How long this process may take for one file before a server tries it.
const LEASE: Duration = Duration::from_secs(1800);
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Reads one upload in, or waits for the server that is doing so, and gives it as it is then.
pub async fn read_in(app: &App, upload: &Upload) -> Result<Upload, StoreError> {
    let (conversation, id) = (&upload.conversation_id, &upload.file_id);
    let (key, worker) = (ingest_key(conversation, id), format!("command-{}", std::process::id()));
    loop {
        if let Some(job) = app.store.claim_this(JobKind::Ingest, &key, &worker, LEASE).await? {
            super::ingest(app).ingest(upload, &|_, _| {}).await;
            // Where the outcome was stored, the job went with it; else a server may try.
            app.store.postpone_job(&job, LOOK_EVERY, Some("its outcome was not stored")).await?;
            return app.store.upload(conversation, id.as_str()).await;
        }
        let now = app.store.upload(conversation, id.as_str()).await?;
        if now.status != IngestStatus::Processing {
            return Ok(now);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// The same for every upload of a conversation that is not read yet.
pub async fn read_in_all(app: &App, conversation: &ConversationId) -> Result<(), StoreError> {
    for upload in app.store.upload_list(conversation).await? {
        if upload.status == IngestStatus::Processing {
            read_in(app, &upload).await?;
        }
    }
    Ok(())
}

pub struct TableIngest {
    pub python: Python,
    pub tables: Option<Tables>,
    pub store: Store,
}

#[async_trait]
impl Ingest for TableIngest {
    async fn ingest(&self, upload: &Upload, progress: &(dyn for<'m> Fn(f64, &'m str) + Send + Sync)) {
        let outcome = match &self.tables {
            Some(tables) => {
                ingest_upload(&self.store, tables, upload, &|fraction, message| {
                    progress(fraction.unwrap_or(0.0), message);
                })
                .await
            }
            None => {
                let message = match &self.python {
                    Python::Refused(why) => format!("files cannot be read, because Python is off: {why}"),
                    Python::Ready(_) => "files cannot be read".to_owned(),
                };
                let why = Unread { message, said: Said::new("no_sandbox") };
                let (conversation, id) = (&upload.conversation_id, &upload.file_id);
                self.store.set_profile(conversation, id, IngestStatus::Failed, None, Some(&why)).await
            }
        };
        if let Err(error) = outcome {
            tracing::error!(%error, file = %upload.file_id, "what ingest found was not kept");
        }
    }
}
