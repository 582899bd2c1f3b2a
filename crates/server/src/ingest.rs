//! Starts ingest of uploads, tells watchers of its progress, and waits a moment for small files.

use ba_protocol::Upload;
use ba_protocol::file::IngestStatus;

use crate::file_events::FileEvent;
use crate::state::AppState;

/// Ingest goes on in the background. Gives each file as it is after a short wait: small ones with their profile.
pub async fn start(state: &AppState, uploads: Vec<Upload>) -> Vec<Upload> {
    let tasks: Vec<_> =
        uploads.iter().map(|upload| tokio::spawn(run(state.clone(), upload.clone()))).collect();
    let all = futures::future::join_all(tasks);
    if let Ok(done) = tokio::time::timeout(state.config.ingest_grace, all).await {
        return uploads.into_iter().zip(done).map(|(before, after)| after.unwrap_or(before)).collect();
    }
    let mut now = Vec::with_capacity(uploads.len());
    for upload in uploads {
        let read = state.deps.store.upload(&upload.conversation_id, upload.file_id.as_str()).await;
        now.push(read.unwrap_or(upload));
    }
    now
}

async fn run(state: AppState, upload: Upload) -> Upload {
    let store = &state.deps.store;
    if let Some(ingest) = &state.deps.ingest {
        let progress = |fraction: f64, message: &str| {
            let event = FileEvent::Progress {
                file_id: upload.file_id.clone(),
                fraction: fraction.clamp(0.0, 1.0),
                message: message.to_owned(),
            };
            state.file_events.publish(&upload.conversation_id, event);
        };
        ingest.ingest(&upload, &progress).await;
    } else if let Err(error) =
        store.set_profile(&upload.conversation_id, &upload.file_id, IngestStatus::Ready, None, None).await
    {
        tracing::warn!(%error, file = %upload.file_id, "could not mark an upload as ready");
    }
    let now = store.upload(&upload.conversation_id, upload.file_id.as_str()).await.unwrap_or(upload);
    let short = Upload { profile: None, ..now.clone() };
    state.file_events.publish(&now.conversation_id, FileEvent::Done(Box::new(short)));
    now
}

/// After a crash: files that were being read are read again.
pub async fn resume(state: &AppState) {
    match state.deps.store.unfinished_uploads().await {
        Ok(uploads) => {
            for upload in uploads {
                tokio::spawn(run(state.clone(), upload));
            }
        }
        Err(error) => tracing::error!(%error, "could not list unfinished uploads"),
    }
}
