//! The per-conversation lock (SPEC E12).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ba_protocol::ConversationId;
use ba_store::Limits;

use crate::harness::{Fresh, last_step, new_run, on_every_backend};

fn limits() -> Limits {
    Limits::default()
}

on_every_backend!(turns_of_one_conversation_take_turns, a_waiter_that_gives_up_leaves_nothing,);

async fn turns_of_one_conversation_take_turns(f: Fresh) {
    let id = ConversationId::random();
    let inside = Arc::new(AtomicUsize::new(0));
    let tasks = (0..8).map(|_| {
        let (store, id, inside) = (f.store.clone(), id.clone(), inside.clone());
        tokio::spawn(async move {
            let _guard = store.locks().lock(&id).await;
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two turns at once");
            tokio::time::sleep(Duration::from_millis(3)).await;
            inside.fetch_sub(1, Ordering::SeqCst);
        })
    });
    for done in futures::future::join_all(tasks).await {
        done.unwrap();
    }
    let other = ConversationId::random();
    let held = f.store.locks().lock(&id).await;
    assert!(f.store.locks().try_lock(&id).is_none());
    assert!(f.store.locks().try_lock(&other).is_some(), "another conversation is free");
    drop(held);
    wait_until_empty(&f).await;
}

async fn a_waiter_that_gives_up_leaves_nothing(f: Fresh) {
    let id = ConversationId::random();
    let held = f.store.locks().lock(&id).await;
    let waiting = tokio::time::timeout(Duration::from_millis(20), f.store.locks().lock(&id)).await;
    assert!(waiting.is_err());
    assert_eq!(f.store.locks().len(), 1);
    drop(held);
    wait_until_empty(&f).await;
    drop(f.store.locks().lock(&id).await);
}

async fn wait_until_empty(f: &Fresh) {
    for _ in 0..500 {
        if f.store.locks().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} locks left behind", f.store.locks().len());
}

#[tokio::test]
async fn a_million_conversations_leave_nothing_behind() {
    let f = Fresh::open(None, limits()).await;
    for _ in 0..1_000_000 {
        let _guard = f.store.locks().lock(&ConversationId::random()).await;
        assert_eq!(f.store.locks().len(), 1);
    }
    assert!(f.store.locks().is_empty());
}

// SPEC E12, N1: the later question waits for the earlier one on another server, whatever the clocks say.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turns_of_two_servers_take_turns() {
    let f = Fresh::open(Some(crate::postgres::fresh_database().await), limits()).await;
    let c = f.conversation().await;
    let replica = f.another().await;
    let mut first = new_run(&c, "first");
    // The clock of the first server is ahead.
    first.created_at += jiff::SignedDuration::from_hours(1);
    let second = new_run(&c, "second");
    f.store.admit(first.clone()).await.unwrap();
    replica.admit(second.clone()).await.unwrap();
    drop(f.store.take_turn(&c.id, &first.run_id).await.unwrap());
    let waiting = tokio::spawn({
        let (replica, c, id) = (replica.clone(), c.id.clone(), second.run_id.clone());
        async move { replica.take_turn(&c, &id).await.map(drop) }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!waiting.is_finished());
    f.store.commit_step(&first.run_id, last_step(&c.id, &first.run_id, "first", "done")).await.unwrap();
    waiting.await.unwrap().unwrap();
    assert!(f.store.has_open_run(&c.id).await.unwrap());
    assert_eq!(f.store.open_runs_of(&c.owner).await.unwrap(), 1);
    replica.commit_step(&second.run_id, last_step(&c.id, &second.run_id, "second", "done")).await.unwrap();
    drop(f.store.take_quiet(&c.id).await.unwrap());
}
