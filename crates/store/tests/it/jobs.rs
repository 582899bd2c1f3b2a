//! Background work under leases: claimed once, taken over when its worker is gone, shared fairly.

use std::collections::HashSet;
use std::time::Duration;

use ba_protocol::file::IngestStatus;
use ba_protocol::{ConversationId, UserId};
use ba_store::{JobKind, Limits, NewJob, Store, ingest_key};
use jiff::Timestamp;

use crate::harness::{Fresh, alice, bob, on_every_backend};

fn limits() -> Limits {
    Limits::default()
}

on_every_backend!(
    a_job_is_claimed_by_one_worker_only,
    a_dead_workers_job_is_taken_over_and_the_old_worker_is_fenced_off,
    a_failed_job_waits_and_counts_its_attempts,
    who_has_the_fewest_jobs_going_comes_first,
    an_upload_and_its_job_come_and_go_together,
    idle_conversations_expire,
);

const LEASE: Duration = Duration::from_secs(60);

fn job(key: &str, owner: &UserId) -> NewJob {
    NewJob {
        kind: JobKind::Cleanup,
        key: key.to_owned(),
        owner: owner.clone(),
        conversation: None,
        run_at: Timestamp::now(),
    }
}

async fn a_job_is_claimed_by_one_worker_only(f: Fresh) {
    for n in 0..20 {
        f.store.enqueue(job(&format!("job_{n:02}"), &alice())).await.unwrap();
    }
    let stores = [f.another().await, f.another().await];
    let claims = stores.into_iter().flat_map(|store| (0..4).map(move |w| drain(store.clone(), w)));
    let claimed: Vec<String> = futures::future::join_all(claims).await.into_iter().flatten().collect();
    assert_eq!(claimed.len(), 20);
    assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), 20, "no job was claimed twice");
    assert_eq!(f.store.next_job_at().await.unwrap(), None);
}

async fn drain(store: Store, worker: usize) -> Vec<String> {
    let mut claimed = Vec::new();
    // SKIP LOCKED may show nothing for a moment while others hold the rows.
    let mut empty = 0;
    while empty < 20 {
        match store.claim_job(&format!("w{worker}"), LEASE, 100).await.unwrap() {
            Some(job) => {
                assert!(store.finish_job(&job).await.unwrap());
                claimed.push(job.key);
            }
            None => {
                empty += 1;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    }
    claimed
}

async fn a_dead_workers_job_is_taken_over_and_the_old_worker_is_fenced_off(f: Fresh) {
    f.store.enqueue(job("a", &alice())).await.unwrap();
    let first = f.store.claim_job("dead", Duration::from_millis(1), 9).await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let second = f.store.claim_job("alive", LEASE, 9).await.unwrap().unwrap();
    assert_eq!((first.attempts, second.attempts), (1, 2));
    assert!(!f.store.renew_job(&first, LEASE).await.unwrap());
    assert!(!f.store.postpone_job(&first, LEASE, Some("late")).await.unwrap());
    assert!(!f.store.finish_job(&first).await.unwrap(), "a stale worker ends nothing");
    assert!(f.store.renew_job(&second, LEASE).await.unwrap());
    assert_eq!(f.store.claim_job("third", LEASE, 9).await.unwrap(), None, "the lease holds");
    // Asked for again while it is going: the one going no longer counts.
    f.store.enqueue(job("a", &alice())).await.unwrap();
    assert!(!f.store.finish_job(&second).await.unwrap());
    assert_eq!(f.store.claim_job("third", LEASE, 9).await.unwrap().unwrap().attempts, 1);
}

async fn a_failed_job_waits_and_counts_its_attempts(f: Fresh) {
    f.store.enqueue(job("a", &alice())).await.unwrap();
    f.store.enqueue_once(job("a", &alice())).await.unwrap();
    let claimed = f.store.claim_this(JobKind::Cleanup, "a", "w", LEASE).await.unwrap().unwrap();
    assert_eq!(f.store.claim_this(JobKind::Cleanup, "a", "w", LEASE).await.unwrap(), None);
    assert!(f.store.postpone_job(&claimed, Duration::from_secs(30), Some("disk full")).await.unwrap());
    assert_eq!(f.store.claim_job("w", LEASE, 9).await.unwrap(), None, "not before its time");
    let due = f.store.next_job_at().await.unwrap().unwrap();
    assert!(due > Timestamp::now() + Duration::from_secs(20), "{due}");
    let again = f.store.claim_this(JobKind::Cleanup, "a", "w", LEASE).await.unwrap().unwrap();
    assert_eq!(again.attempts, 2);
    f.store.postpone_job(&again, Duration::ZERO, None).await.unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await;
    let round = f.store.claim_job("w", LEASE, 9).await.unwrap().unwrap();
    assert_eq!(round.attempts, 1, "a job that comes round begins its count anew");
}

async fn who_has_the_fewest_jobs_going_comes_first(f: Fresh) {
    for n in 0..8 {
        f.store.enqueue(job(&format!("a{n}"), &alice())).await.unwrap();
    }
    f.store.enqueue(job("b0", &bob())).await.unwrap();
    let mut order = Vec::new();
    while let Some(job) = f.store.claim_job("w", LEASE, 3).await.unwrap() {
        order.push(job.key);
    }
    assert_eq!(order, ["a0", "b0", "a1", "a2"], "bob waits for one of alice's, and she has three at most");
}

async fn put(f: &Fresh, id: &ConversationId, name: &str) -> ba_protocol::Upload {
    let mut writer = f.store.begin_upload(id, name, None).await.unwrap();
    writer.write(b"a,b\n1,2\n").await.unwrap();
    writer.finish().await.unwrap()
}

async fn an_upload_and_its_job_come_and_go_together(f: Fresh) {
    let c = f.conversation().await;
    let (first, second) = (put(&f, &c.id, "a.csv").await, put(&f, &c.id, "b.csv").await);
    let third = put(&f, &c.id, "c.csv").await;
    let claimed = f.store.claim_job("w", LEASE, 9).await.unwrap().unwrap();
    assert_eq!((claimed.kind, claimed.key.clone()), (JobKind::Ingest, ingest_key(&c.id, &first.file_id)));
    assert_eq!(claimed.owner, alice());
    f.store.set_profile(&c.id, &first.file_id, IngestStatus::Ready, None, None).await.unwrap();
    assert!(!f.store.finish_job(&claimed).await.unwrap(), "the outcome took the job with it");
    f.store.delete_upload(&c.id, &second.file_id).await.unwrap();
    let claimed = f.store.claim_job("w", LEASE, 9).await.unwrap().unwrap();
    assert_eq!(claimed.key, ingest_key(&c.id, &third.file_id));
    assert_eq!(f.store.claim_job("w", LEASE, 9).await.unwrap(), None);
    // A deleted conversation leaves one job: to remove what is left of it.
    f.store.delete(&alice(), &c.id).await.unwrap();
    let purge = f.store.claim_job("w", LEASE, 9).await.unwrap().unwrap();
    assert_eq!((purge.kind, purge.key.as_str()), (JobKind::Purge, c.id.as_str()));
    assert_eq!(f.blob_files().len(), 1);
    f.store.purge(&c.id).await.unwrap();
    assert_eq!(f.blob_files().len(), 0, "at once, not a day later");
    assert!(f.store.finish_job(&purge).await.unwrap());
    let living = f.conversation().await;
    f.store.purge(&living.id).await.unwrap();
    assert!(f.store.conversation(&alice(), &living.id).await.is_ok(), "only what is deleted is purged");
}

async fn idle_conversations_expire(f: Fresh) {
    let (idle, busy) = (f.conversation().await, f.conversation().await);
    f.store.admit(crate::harness::new_run(&busy, "q")).await.unwrap();
    assert_eq!(f.store.expire_conversations(Duration::from_secs(3600)).await.unwrap(), 0);
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(f.store.expire_conversations(Duration::ZERO).await.unwrap(), 1);
    assert!(f.store.conversation(&alice(), &idle.id).await.unwrap_err().is_not_found());
    assert!(f.store.conversation(&alice(), &busy.id).await.is_ok(), "its run is open");
    let purge = f.store.claim_job("w", LEASE, 9).await.unwrap().unwrap();
    assert_eq!((purge.kind, purge.key.as_str()), (JobKind::Purge, idle.id.as_str()));
}
