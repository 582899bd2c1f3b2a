//! Nobody else on the machine reads the data folder (SPEC H6), and a clean end leaves no log behind.

use std::os::unix::fs::PermissionsExt;

use ba_store::{Limits, NewCode, Repair, Store, StoreConfig, open_to_others};

use crate::harness::{Fresh, alice, last_step, new_run};

async fn used() -> Fresh {
    let f = Fresh::open(None, Limits::default()).await;
    let c = f.conversation().await;
    let mut upload = f.store.begin_upload(&c.id, "a.csv", None).await.unwrap();
    upload.write(b"a,b\n").await.unwrap();
    upload.finish().await.unwrap();
    f.store.admit(new_run(&c, "q")).await.unwrap();
    f.store.work_dir(&c.id).await.unwrap();
    let code = NewCode {
        code_id: "code_x".into(),
        code: "x".into(),
        language: "sql".into(),
        description: String::new(),
    };
    f.store.save_code(&c.id, code).await.unwrap();
    f.store.export(&alice(), &c.id, &[]).await.unwrap();
    f.store.claim_server().unwrap();
    f
}

#[tokio::test]
async fn every_file_and_folder_is_the_owners_alone() {
    let f = used().await;
    let shown: Vec<_> = ["ba-agent.sqlite3-wal", "ba-agent.sqlite3-shm", "blobs", "exports", "server.lock"]
        .iter()
        .filter(|name| !f.dir.path().join(name).exists())
        .collect();
    assert_eq!(shown, Vec::<&&str>::new(), "all of it was made");
    assert_eq!(open_to_others(f.dir.path(), Repair::No).unwrap(), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn an_old_open_folder_is_closed_when_it_is_opened() {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("ba-data");
    std::fs::create_dir(&root).unwrap();
    std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(root.join("ba-agent.sqlite3"), "").unwrap();
    std::fs::set_permissions(root.join("ba-agent.sqlite3"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let store = Store::open(StoreConfig::local(&root)).await.unwrap();
    assert_eq!(open_to_others(&root, Repair::No).unwrap(), Vec::<std::path::PathBuf>::new());
    store.close().await;
}

#[tokio::test]
async fn a_clean_end_folds_the_log_into_the_database() {
    let f = used().await;
    let log = f.dir.path().join("ba-agent.sqlite3-wal");
    assert!(std::fs::metadata(&log).unwrap().len() > 0);
    f.store.close().await;
    assert_eq!(std::fs::metadata(&log).map_or(0, |m| m.len()), 0);
}

/// Whether any file below holds these bytes.
fn holds(folder: &std::path::Path, wanted: &[u8]) -> bool {
    std::fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return holds(&path, wanted);
        }
        std::fs::read(&path).unwrap_or_default().windows(wanted.len()).any(|bytes| bytes == wanted)
    })
}

// SPEC H8
#[tokio::test]
async fn no_byte_of_a_deleted_conversation_stays_on_the_disk() {
    let f = Fresh::open(None, Limits::default()).await;
    let c = f.conversation().await;
    // Long enough to lie on pages of its own.
    let question = "unmistakable ".repeat(2_000);
    let run = new_run(&c, &question);
    f.store.admit(run.clone()).await.unwrap();
    f.store.commit_step(&run.run_id, last_step(&c.id, &run.run_id, &question, "unmistakable")).await.unwrap();
    assert!(holds(f.dir.path(), b"unmistakable"));
    f.store.delete(&alice(), &c.id).await.unwrap();
    f.store.purge(&c.id).await.unwrap();
    assert!(!holds(f.dir.path(), b"unmistakable"));
}
