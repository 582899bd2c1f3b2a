//! Ingest of uploads: the table engine reads the file in the sandbox, and the store keeps what it found.

use async_trait::async_trait;
use ba_data::Tables;
use ba_protocol::Upload;
use ba_protocol::file::IngestStatus;
use ba_server::Ingest;
use ba_store::Store;
use ba_tools::{Python, ingest_upload};

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
                let why = match &self.python {
                    Python::Refused(why) => format!("files cannot be read, because Python is off: {why}"),
                    Python::Ready(_) => "files cannot be read".to_owned(),
                };
                let (conversation, id) = (&upload.conversation_id, &upload.file_id);
                self.store.set_profile(conversation, id, IngestStatus::Failed, None, Some(&why)).await
            }
        };
        if let Err(error) = outcome {
            tracing::error!(%error, file = %upload.file_id, "what ingest found was not kept");
        }
    }
}
