//! Conversations: life cycle, search, and the wall between owners.

use ba_store::{CleanupMode, CleanupPolicy, Limits, RunStatus, StepCommit, StoreError};
use serde_json::json;

use crate::harness::{Fresh, alice, bob, last_step, new_run, on_every_backend};

fn limits() -> Limits {
    Limits::default()
}

on_every_backend!(
    live_and_die,
    search_finds_titles_and_messages,
    another_owner_sees_nothing,
    odd_text_survives
);

async fn live_and_die(f: Fresh) {
    let made = f.store.create(&alice(), "  Sales\n2024 ").await.unwrap();
    assert_eq!(made.title, "Sales 2024");
    assert_eq!(f.store.conversation(&alice(), &made.id).await.unwrap(), made);
    let renamed = f.store.rename(&alice(), &made.id, "利润").await.unwrap();
    assert_eq!((renamed.title.as_str(), renamed.created_at), ("利润", made.created_at));

    let run = new_run(&made, "q");
    f.store.admit(run.clone()).await.unwrap();
    assert!(matches!(f.store.delete(&alice(), &made.id).await, Err(StoreError::Conflict(_))));
    f.store.commit_step(&run.run_id, StepCommit::new(json!({}), RunStatus::Cancelled)).await.unwrap();
    f.store.delete(&alice(), &made.id).await.unwrap();
    assert!(f.store.conversation(&alice(), &made.id).await.unwrap_err().is_not_found());
    assert!(f.store.delete(&alice(), &made.id).await.unwrap_err().is_not_found());
    assert!(f.store.admit(new_run(&made, "late")).await.unwrap_err().is_not_found());
    assert_eq!(f.store.conversations(&alice(), None, 10, 0).await.unwrap(), vec![]);
}

async fn search_finds_titles_and_messages(f: Fresh) {
    let first = f.store.create(&alice(), "Quarterly PROFIT").await.unwrap();
    let second = f.store.create(&alice(), "").await.unwrap();
    let run = new_run(&second, "为什么华东的销售额下降了100%_?");
    f.store.admit(run.clone()).await.unwrap();
    f.store.commit_step(&run.run_id, last_step(&second.id, &run.run_id, &run.message, "a")).await.unwrap();
    let titles = |found: Vec<ba_store::Conversation>| -> Vec<_> { found.into_iter().map(|c| c.id).collect() };
    let search = async |text: &str| titles(f.store.conversations(&alice(), Some(text), 10, 0).await.unwrap());
    assert_eq!(search("profit").await, vec![first.id.clone()]);
    assert_eq!(search("华东").await, vec![second.id.clone()]);
    assert_eq!(search("100%_").await, vec![second.id.clone()]);
    assert_eq!(search("1__%").await, vec![]);
    // The latest change comes first; an untitled conversation takes its title from the message.
    let all = f.store.conversations(&alice(), None, 10, 0).await.unwrap();
    assert_eq!((all[0].id.clone(), all[0].title.as_str()), (second.id, run.message.as_str()));
    assert_eq!(titles(f.store.conversations(&alice(), None, 1, 1).await.unwrap()), vec![first.id]);
}

/// Ids of another owner are not found, whatever is asked.
async fn another_owner_sees_nothing(f: Fresh) {
    let hers = f.conversation().await;
    let run = new_run(&hers, "secret");
    f.store.admit(run.clone()).await.unwrap();
    let not_found = |e: StoreError| assert!(e.is_not_found(), "{e}");
    not_found(f.store.conversation(&bob(), &hers.id).await.unwrap_err());
    not_found(f.store.rename(&bob(), &hers.id, "x").await.unwrap_err());
    not_found(f.store.delete(&bob(), &hers.id).await.unwrap_err());
    not_found(f.store.run(&bob(), &run.run_id).await.unwrap_err());
    let mut forged = new_run(&hers, "as bob");
    forged.owner = bob();
    not_found(f.store.admit(forged).await.unwrap_err());
    assert_eq!(f.store.runs(&bob(), &hers.id, 10).await.unwrap(), vec![]);
    assert_eq!(f.store.conversations(&bob(), Some("secret"), 10, 0).await.unwrap(), vec![]);
    assert_eq!(f.store.run(&alice(), &run.run_id).await.unwrap().message, "secret");
    let report = f.store.cleanup(&CleanupPolicy::default(), CleanupMode::DryRun).await.unwrap();
    assert_eq!(report.purged_conversations, vec![]);
}

async fn odd_text_survives(f: Fresh) {
    let conversation = f.conversation().await;
    for message in ["nul \0 inside", "'; DROP TABLE runs; --", "\u{202e}rtl 😀", "", "$1 ? :x"] {
        let run = new_run(&conversation, message);
        f.store.admit(run.clone()).await.unwrap();
        let kept = f.store.run(&alice(), &run.run_id).await.unwrap();
        assert_eq!(kept.message, message.replace('\0', "\u{fffd}"));
        assert_eq!(kept.state, json!({"step": 0}));
    }
}
