//! Ingest of uploads: queued with the upload itself and done by the worker. Here its progress is told to watchers, and
//! an upload's answer waits a moment for small files.

use ba_protocol::file::{IngestStatus, Unread};
use ba_protocol::{ConversationId, Said, Upload, UploadId};
use ba_store::Job;
use tokio::sync::broadcast;

use crate::file_events::FileEvent;
use crate::jobs::ingest_of;
use crate::state::AppState;

/// What people read when it failed again and again.
const GIVEN_UP: &str =
    "the server could not read this file after several attempts; read it again, or upload it again";

/// Gives each file as it is after a short wait: small ones with their profile.
pub async fn start(state: &AppState, uploads: Vec<Upload>) -> Vec<Upload> {
    let Some(conversation) = uploads.first().map(|upload| upload.conversation_id.clone()) else {
        return uploads;
    };
    let watch = state.file_events.watch(&conversation);
    state.wake_worker.notify_one();
    let waiting = uploads.iter().map(|upload| upload.file_id.clone()).collect();
    let _ =
        tokio::time::timeout(state.config.ingest_grace, all_done(state, &conversation, watch, waiting)).await;
    let mut now = Vec::with_capacity(uploads.len());
    for upload in uploads {
        let read = state.deps.store.upload(&conversation, upload.file_id.as_str()).await;
        now.push(read.unwrap_or(upload));
    }
    now
}

async fn all_done(
    state: &AppState,
    conversation: &ConversationId,
    mut watch: broadcast::Receiver<FileEvent>,
    mut waiting: Vec<UploadId>,
) {
    while !waiting.is_empty() {
        match watch.recv().await {
            Ok(FileEvent::Done(upload)) => waiting.retain(|id| *id != upload.file_id),
            Ok(FileEvent::Progress { .. }) => {}
            Err(broadcast::error::RecvError::Lagged(_)) => {
                let Ok(now) = state.deps.store.upload_list(conversation).await else { return };
                waiting.retain(|id| {
                    now.iter().any(|u| u.file_id == *id && u.status == IngestStatus::Processing)
                });
            }
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

/// Reads one upload in. An error means that its outcome is not stored, so that it is still `processing`.
pub async fn run(state: &AppState, conversation: &ConversationId, file: &UploadId) -> Result<(), String> {
    let store = &state.deps.store;
    let upload = match store.upload(conversation, file.as_str()).await {
        Ok(upload) if upload.status == IngestStatus::Processing => upload,
        Ok(_) => return Ok(()),
        Err(error) if error.is_not_found() => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    if let Some(ingest) = &state.deps.ingest {
        let progress = |fraction: f64, message: &str| {
            let event = FileEvent::Progress {
                file_id: upload.file_id.clone(),
                fraction: fraction.clamp(0.0, 1.0),
                message: message.to_owned(),
            };
            state.file_events.publish(conversation, event);
        };
        ingest.ingest(&upload, &progress).await;
    } else {
        let ready = store.set_profile(conversation, file, IngestStatus::Ready, None, None).await;
        ready.map_err(|error| error.to_string())?;
    }
    match store.upload(conversation, file.as_str()).await {
        Ok(now) if now.status == IngestStatus::Processing => Err("its outcome was not stored".to_owned()),
        Ok(now) => {
            tell(state, now);
            Ok(())
        }
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Says that a file cannot be read; false when even that could not be stored.
pub async fn give_up(state: &AppState, job: &Job) -> bool {
    let Some((conversation, file)) = ingest_of(job) else { return true };
    let store = &state.deps.store;
    let why = Unread { message: GIVEN_UP.to_owned(), said: Said::new("given_up").step("read_again") };
    match store.set_profile(&conversation, &file, IngestStatus::Failed, None, Some(&why)).await {
        Ok(upload) => {
            tell(state, upload);
            true
        }
        Err(error) => error.is_not_found(),
    }
}

fn tell(state: &AppState, upload: Upload) {
    let conversation = upload.conversation_id.clone();
    state.file_events.publish(&conversation, FileEvent::Done(Box::new(Upload { profile: None, ..upload })));
}
