//! What one person may keep over all conversations (SPEC H1), and what they allowed in one of them (H7).

use std::time::Duration;

use ba_protocol::ConversationId;
use ba_store::{CleanupMode, CleanupPolicy, Kept, Limits, Store, StoreError};

use crate::harness::{Fresh, alice, bob, new_run, on_every_backend};

fn limits() -> Limits {
    Limits { user_bytes: 1_000, ..Limits::default() }
}

on_every_backend!(
    a_person_has_so_many_bytes_over_all_conversations,
    who_is_over_full_can_ask_read_and_clean_up,
    deleting_and_filling_again_does_not_fill_the_disk,
    an_import_counts,
    consents_stay_with_their_conversation,
);

async fn upload(store: &Store, c: &ConversationId, size: usize) -> Result<(), StoreError> {
    let mut writer = store.begin_upload(c, "a.csv", None).await?;
    writer.write(&vec![b'x'; size]).await?;
    writer.finish().await.map(drop)
}

fn is_over<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> bool {
    matches!(&outcome, Err(error @ StoreError::Quota { limit: 1_000 }) if error.to_string().contains("delete"))
}

async fn a_person_has_so_many_bytes_over_all_conversations(f: Fresh) {
    let (one, two) = (f.conversation().await.id, f.conversation().await.id);
    upload(&f.store, &one, 600).await.unwrap();
    let blobs = f.blob_files().len();
    assert!(is_over(upload(&f.store, &two, 401).await));
    assert!(is_over(f.store.put_artifact_bytes(&two, "x.png", &[7; 500]).await));
    assert_eq!(f.blob_files().len(), blobs, "what was refused left nothing");
    f.store.put_artifact_bytes(&two, "x.png", &[7; 400]).await.unwrap();
    // A file in the place of another of the same size needs no room of its own.
    f.store.put_artifact_bytes(&two, "x.png", &[8; 400]).await.unwrap();
    assert_eq!(f.store.kept_bytes(&alice()).await.unwrap(), Kept { live: 1_000, all: 1_000 });
    let other = f.store.create(&bob(), "t").await.unwrap().id;
    upload(&f.store, &other, 900).await.unwrap();
}

async fn who_is_over_full_can_ask_read_and_clean_up(f: Fresh) {
    let c = f.conversation().await;
    upload(&f.store, &c.id, 1_000).await.unwrap();
    // Not a byte more is taken, and that is said before the file is sent.
    assert!(is_over(f.store.begin_upload(&c.id, "b.csv", None).await.map(drop)));
    f.store.admit(new_run(&c, "how much?")).await.unwrap();
    let held = f.store.uploads(&c.id).await.unwrap().remove(0);
    assert_eq!(std::fs::read(f.store.upload_path(&held).await.unwrap()).unwrap().len(), 1_000);
    // What is made of an upload that is there already is kept.
    let table = f.dir.path().join("t.parquet");
    std::fs::write(&table, [1; 300]).unwrap();
    f.store.put_derived(&c.id, &held.file_id, "table_0.parquet", &table).await.unwrap();
    assert_eq!(f.store.kept_bytes(&alice()).await.unwrap().live, 1_300);
    f.store.delete_upload(&c.id, &held.file_id).await.unwrap();
    upload(&f.store, &c.id, 1_000).await.unwrap();
}

async fn deleting_and_filling_again_does_not_fill_the_disk(f: Fresh) {
    for _ in 0..2 {
        let c = f.conversation().await.id;
        upload(&f.store, &c, 1_000).await.unwrap();
        f.store.delete(&alice(), &c).await.unwrap();
    }
    assert_eq!(f.store.kept_bytes(&alice()).await.unwrap(), Kept { live: 0, all: 2_000 });
    let c = f.conversation().await.id;
    assert!(is_over(upload(&f.store, &c, 10).await));
    let at_once = CleanupPolicy { purge_deleted_after: Duration::ZERO, ..CleanupPolicy::default() };
    f.store.cleanup(&at_once, CleanupMode::Remove).await.unwrap();
    upload(&f.store, &c, 10).await.unwrap();
}

async fn an_import_counts(f: Fresh) {
    let c = f.conversation().await.id;
    upload(&f.store, &c, 600).await.unwrap();
    let archive = f.store.export(&alice(), &c, &[]).await.unwrap();
    assert!(is_over(f.store.import(&alice(), &archive).await));
    f.store.import(&bob(), &archive).await.unwrap();
}

async fn consents_stay_with_their_conversation(f: Fresh) {
    let (one, two) = (f.conversation().await.id, f.conversation().await.id);
    f.store.add_consent(&alice(), &one, "a.example").await.unwrap();
    let all = f.store.add_consent(&alice(), &one, "https://b.example/x?y=1").await.unwrap();
    assert_eq!(all, f.store.add_consent(&alice(), &one, "a.example").await.unwrap());
    assert_eq!((all.len(), f.store.consents(&two).await.unwrap().len()), (2, 0));
    assert!(f.store.add_consent(&bob(), &one, "c.example").await.unwrap_err().is_not_found());
    for n in 2..200 {
        f.store.add_consent(&alice(), &one, &format!("{n}.example")).await.unwrap();
    }
    let more = f.store.add_consent(&alice(), &one, "more.example").await;
    assert!(matches!(more, Err(StoreError::TooLarge { limit: 200, .. })), "{more:?}");
    assert_eq!(f.store.consents(&one).await.unwrap().len(), 200, "the one too many was not kept");
    f.store.delete(&alice(), &one).await.unwrap();
    f.store.purge(&one).await.unwrap();
    assert_eq!(f.store.consents(&one).await.unwrap().len(), 0);
}
