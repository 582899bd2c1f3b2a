//! The worker: does the store's due jobs, a few at a time, under leases that it keeps alive (SPEC N1, H5).
//! A job that fails or whose server dies is done again later; nobody's jobs take all the places.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use ba_protocol::{ConversationId, UploadId, UserId};
use ba_store::{CleanupMode, CleanupPolicy, Job, JobKind, NewJob, StoreError};
use futures::FutureExt;
use jiff::Timestamp;
use tokio::sync::Semaphore;

use crate::config::Access;
use crate::state::AppState;
use crate::{forget, ingest};

/// How long a job of a dead server waits for another (SPEC N3).
const LEASE: Duration = Duration::from_secs(12);
const RENEW_EVERY: Duration = Duration::from_secs(3);
/// Jobs at once, and of one person where several share the server.
const AT_ONCE: u32 = 8;
const PER_PERSON: u32 = 3;
/// How often jobs that other servers queued are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// The pause after the first failure; each one after it is twice as long, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// Failures of reading a file in, until people are told.
const INGEST_ATTEMPTS: u32 = 5;
const CLEANUP_EVERY: Duration = Duration::from_secs(3600);

/// What becomes of a job that was done.
enum Next {
    Done,
    Again(Duration),
}

/// Takes jobs until the server stops.
pub async fn work(state: AppState) {
    let store = &state.deps.store;
    let worker = format!("{}-{}", std::process::id(), uuid::Uuid::new_v4().simple());
    let per_person = if state.config.access == Access::LocalOnly { AT_ONCE } else { PER_PERSON };
    let places = Arc::new(Semaphore::new(AT_ONCE as usize));
    if let Err(error) = prepare(&state).await {
        tracing::error!(%error, "the background jobs could not be prepared");
    }
    take_jobs(&state, &worker, per_person, &places).await;
    // What is under way may end; the rest is handed over.
    let all = places.acquire_many(AT_ONCE);
    let _ = tokio::time::timeout(state.config.shutdown_grace, all).await;
    if let Err(error) = store.release_jobs(&worker).await {
        tracing::warn!(%error, "jobs were not handed over; their leases run out");
    }
}

async fn take_jobs(state: &AppState, worker: &str, per_person: u32, places: &Arc<Semaphore>) {
    let store = &state.deps.store;
    loop {
        let place = tokio::select! {
            place = places.clone().acquire_owned() => place,
            () = state.draining.cancelled() => return,
        };
        let claimed = match place {
            Ok(_) => store.claim_job(worker, LEASE, per_person).await,
            Err(_) => return,
        };
        match claimed {
            Ok(Some(job)) => {
                let state = state.clone();
                tokio::spawn(async move {
                    carry_out(&state, &job).await;
                    drop(place);
                    state.wake_worker.notify_one();
                });
                continue;
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the jobs could not be read; they are looked for again"),
        }
        drop(place);
        tokio::select! {
            () = state.wake_worker.notified() => {}
            () = tokio::time::sleep(pause(state).await) => {}
            () = state.draining.cancelled() => return,
        }
    }
}

/// One server alone need not wait for the leases of the one before it; and cleaning up comes round for ever.
async fn prepare(state: &AppState) -> Result<(), StoreError> {
    state.deps.store.void_job_leases().await?;
    let cleanup = NewJob {
        kind: JobKind::Cleanup,
        key: "hourly".to_owned(),
        owner: UserId::local(),
        conversation: None,
        run_at: Timestamp::now(),
    };
    state.deps.store.enqueue_once(cleanup).await
}

async fn pause(state: &AppState) -> Duration {
    let due = state.deps.store.next_job_at().await.ok().flatten();
    let until = due.map_or(LOOK_EVERY, |due| {
        Duration::try_from(due.duration_since(Timestamp::now())).unwrap_or(Duration::ZERO)
    });
    until.clamp(LOOK_AGAIN, LOOK_EVERY)
}

async fn carry_out(state: &AppState, job: &Job) {
    let store = &state.deps.store;
    let done = tokio::select! {
        done = AssertUnwindSafe(perform(state, job)).catch_unwind() => done,
        () = lose_lease(state, job) => {
            tracing::warn!(kind = job.kind.as_str(), key = %job.key, "another server has taken this job over");
            return;
        }
    };
    let failure = match done {
        Ok(Ok(Next::Done)) => return settled(job, store.finish_job(job).await),
        Ok(Ok(Next::Again(after))) => return settled(job, store.postpone_job(job, after, None).await),
        Ok(Err(failure)) => failure,
        Err(_) => "it panicked".to_owned(),
    };
    tracing::warn!(kind = job.kind.as_str(), key = %job.key, attempts = job.attempts, %failure, "a job failed");
    if job.kind == JobKind::Ingest && job.attempts >= INGEST_ATTEMPTS && ingest::give_up(state, job).await {
        return;
    }
    let pause = FIRST_PAUSE.saturating_mul(1 << (job.attempts.min(16) - 1)).min(LONGEST_PAUSE);
    settled(job, store.postpone_job(job, pause, Some(&failure)).await);
}

/// A job that is no longer ours needs no end from us.
fn settled(job: &Job, outcome: Result<bool, StoreError>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, key = %job.key, "the end of a job was not stored; its lease runs out");
    }
}

async fn lose_lease(state: &AppState, job: &Job) {
    loop {
        tokio::time::sleep(RENEW_EVERY).await;
        if let Ok(false) = state.deps.store.renew_job(job, LEASE).await {
            return;
        }
    }
}

async fn perform(state: &AppState, job: &Job) -> Result<Next, String> {
    match job.kind {
        JobKind::Ingest => {
            let Some((conversation, file)) = ingest_of(job) else { return Ok(Next::Done) };
            ingest::run(state, &conversation, &file).await.map(|()| Next::Done)
        }
        JobKind::Purge => {
            let Ok(conversation) = ConversationId::parse(&job.key) else { return Ok(Next::Done) };
            forget::forget(state, &conversation).await.map(|()| Next::Done)
        }
        JobKind::Cleanup => clean_up(state).await.map(|()| Next::Again(CLEANUP_EVERY)),
    }
}

/// Whose file a job reads in.
pub fn ingest_of(job: &Job) -> Option<(ConversationId, UploadId)> {
    let (conversation, file) = job.key.split_once('/')?;
    Some((ConversationId::parse(conversation).ok()?, UploadId::parse(file).ok()?))
}

async fn clean_up(state: &AppState) -> Result<(), String> {
    let store = &state.deps.store;
    let told = |error: StoreError| error.to_string();
    if let Some(days) = state.config.retention_days {
        let idle = Duration::from_secs(u64::from(days) * 24 * 3600);
        let expired = store.expire_conversations(idle).await.map_err(told)?;
        if expired > 0 {
            tracing::info!(expired, days, "conversations past their retention were deleted");
            state.wake_worker.notify_one();
        }
    }
    let report = store.cleanup(&CleanupPolicy::default(), CleanupMode::Remove).await.map_err(told)?;
    if report.bytes > 0 {
        tracing::info!(files = report.removed.len(), bytes = report.bytes, "old tool data removed");
    }
    Ok(())
}
