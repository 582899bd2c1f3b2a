//! Share links: only what works is found, everything is counted, and the bytes go with the last link.

use ba_store::{CleanupMode, CleanupPolicy, Limits, NewShare, RunStatus, Share, StepCommit, UserRole};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::harness::{Fresh, alice, bob, new_run, on_every_backend};

fn limits() -> Limits {
    Limits::default()
}

on_every_backend!(links_live_and_end, a_deleted_conversation_and_a_disabled_owner_end_their_links);

const HOUR: SignedDuration = SignedDuration::from_hours(1);

async fn wanted(f: &Fresh, hash: &str) -> NewShare {
    let conversation = f.conversation().await;
    let run = f.store.admit(new_run(&conversation, "q")).await.unwrap();
    NewShare {
        owner: alice(),
        conversation: conversation.id,
        run: run.run_id,
        hash: hash.to_owned(),
        title: "销售".to_owned(),
        policy: "default-src 'none'".to_owned(),
        expires_at: Timestamp::now() + HOUR,
    }
}

async fn log(f: &Fresh) -> Vec<(String, String, u64)> {
    let mut all: Vec<_> =
        f.store.audit_log(50).await.unwrap().into_iter().map(|e| (e.subject, e.action, e.times)).collect();
    all.sort();
    all
}

fn line(share: &Share, action: &str, times: u64) -> (String, String, u64) {
    (share.id.clone(), action.to_owned(), times)
}

async fn links_live_and_end(f: Fresh) {
    let new = wanted(&f, "h1").await;
    let share = f.store.create_share(new.clone(), b"<p>page</p>").await.unwrap();
    assert_eq!((share.views, share.title.as_str(), share.size), (0, "销售", 11));
    let page = f.store.view_share("h1").await.unwrap();
    assert_eq!(std::fs::read(&page.path).unwrap(), b"<p>page</p>");
    assert_eq!(page.policy, "default-src 'none'");
    f.store.view_share("h1").await.unwrap();
    assert!(f.store.view_share("h2").await.unwrap_err().is_not_found());
    let listed = f.store.shares(&alice(), Some(&new.conversation)).await.unwrap();
    assert_eq!((listed.len(), listed[0].views, listed[0].viewed_at.is_some()), (1, 2, true));
    assert!(f.store.shares(&bob(), None).await.unwrap().is_empty());

    // Another's conversation, and a run of another conversation.
    let theirs = NewShare { owner: bob(), hash: "h3".to_owned(), ..new.clone() };
    assert!(f.store.create_share(theirs, b"x").await.unwrap_err().is_not_found());
    let other = wanted(&f, "h4").await;
    let crossed = NewShare { run: other.run, ..new.clone() };
    let crossed = NewShare { hash: "h5".to_owned(), ..crossed };
    assert!(f.store.create_share(crossed, b"x").await.unwrap_err().is_not_found());
    assert_eq!(f.blob_files().len(), 1, "what was refused leaves no bytes");

    f.store.revoke_share(&share.id, &bob()).await.unwrap();
    assert!(f.store.view_share("h1").await.unwrap_err().is_not_found());
    assert!(f.store.revoke_share(&share.id, &bob()).await.unwrap_err().is_not_found());
    assert_eq!(f.blob_files().len(), 0);

    let old = NewShare { hash: "h6".to_owned(), expires_at: Timestamp::now() - HOUR, ..new };
    let old = f.store.create_share(old, b"old").await.unwrap();
    assert!(f.store.view_share("h6").await.unwrap_err().is_not_found());
    assert!(f.store.shares(&alice(), None).await.unwrap().is_empty());
    f.store.cleanup(&CleanupPolicy::default(), CleanupMode::Remove).await.unwrap();
    assert!(f.store.share(&old.id).await.unwrap_err().is_not_found());
    assert_eq!(f.blob_files().len(), 0);

    let mut expected = vec![
        line(&share, "share.created", 1),
        line(&share, "share.revoked", 1),
        line(&share, "share.viewed", 2),
        line(&old, "share.created", 1),
    ];
    expected.sort();
    assert_eq!(log(&f).await, expected);
    let revoked = f.store.audit_log(50).await.unwrap().into_iter().find(|e| e.action == "share.revoked");
    assert_eq!(revoked.unwrap().actor, bob().as_str());
}

async fn a_deleted_conversation_and_a_disabled_owner_end_their_links(f: Fresh) {
    let new = wanted(&f, "h1").await;
    f.store.create_share(new.clone(), b"page").await.unwrap();
    f.store.commit_step(&new.run, StepCommit::new(json!({}), RunStatus::Complete)).await.unwrap();
    f.store.delete(&alice(), &new.conversation).await.unwrap();
    assert!(f.store.view_share("h1").await.unwrap_err().is_not_found());
    assert!(f.store.shares(&alice(), None).await.unwrap().is_empty());
    f.store.purge(&new.conversation).await.unwrap();
    assert_eq!(f.blob_files().len(), 0);

    let user = f.store.create_user("ann", "h", UserRole::User).await.unwrap();
    let conversation = f.store.create(&user.id, "t").await.unwrap();
    let run = f.store.admit(new_run(&conversation, "q")).await.unwrap();
    let hers = NewShare {
        owner: user.id.clone(),
        conversation: conversation.id,
        run: run.run_id,
        hash: "h2".to_owned(),
        ..new
    };
    f.store.create_share(hers, b"page").await.unwrap();
    assert!(f.store.view_share("h2").await.is_ok());
    f.store.disable_user(&user.id).await.unwrap();
    assert!(f.store.view_share("h2").await.unwrap_err().is_not_found());
}
