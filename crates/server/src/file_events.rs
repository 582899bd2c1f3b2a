//! Progress of ingest, for whoever watches a conversation's files. Passing only: the store knows each file's status.

use std::collections::HashMap;
use std::sync::Arc;

use ba_protocol::{ConversationId, Upload, UploadId};
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::broadcast;
use utoipa::ToSchema;

const BUFFER: usize = 64;

/// What happens to an uploaded file.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(tag = "event", content = "data")]
pub enum FileEvent {
    #[serde(rename = "file.progress")]
    Progress { file_id: UploadId, fraction: f64, message: String },
    /// Ready or failed; the file says which.
    #[serde(rename = "file.done")]
    Done(Box<Upload>),
}

#[derive(Clone, Default)]
pub struct FileEvents {
    channels: Arc<Mutex<HashMap<ConversationId, broadcast::Sender<FileEvent>>>>,
}

impl FileEvents {
    pub fn publish(&self, conversation: &ConversationId, event: FileEvent) {
        let mut channels = self.channels.lock();
        if let Some(sender) = channels.get(conversation)
            && sender.send(event).is_err()
        {
            // The last watcher has gone.
            channels.remove(conversation);
        }
    }

    pub fn watch(&self, conversation: &ConversationId) -> broadcast::Receiver<FileEvent> {
        let mut channels = self.channels.lock();
        channels.retain(|_, sender| sender.receiver_count() > 0);
        channels.entry(conversation.clone()).or_insert_with(|| broadcast::channel(BUFFER).0).subscribe()
    }
}
