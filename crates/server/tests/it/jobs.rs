//! Background work through the store's jobs: ingest that fails, is interrupted or is asked for by an import; deletion.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ba_protocol::file::IngestStatus;
use ba_protocol::{ConversationId, Upload};
use ba_server::{Ingest, Keeper, ServerConfig};
use ba_store::{JobKind, Store, StoreConfig, ingest_key};
use parking_lot::Mutex;

use crate::kit::App;

const CSV: &[u8] = b"a,b\n1,2\n";

/// Leaves a file unread, or panics over it, so many times.
struct Flaky {
    store: Store,
    failures: u32,
    panics: bool,
    tried: AtomicU32,
}

#[async_trait]
impl Ingest for Flaky {
    async fn ingest(&self, upload: &Upload, progress: &(dyn for<'m> Fn(f64, &'m str) + Send + Sync)) {
        progress(0.5, "reading");
        if self.tried.fetch_add(1, Ordering::SeqCst) < self.failures {
            assert!(!self.panics, "a reader that panics");
            return;
        }
        let (conversation, id) = (&upload.conversation_id, &upload.file_id);
        self.store.set_profile(conversation, id, IngestStatus::Ready, None, None).await.unwrap();
    }
}

async fn flaky(failures: u32, panics: bool) -> (App, Arc<Flaky>) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(StoreConfig::local(dir.path())).await.unwrap();
    let ingest = Arc::new(Flaky { store: store.clone(), failures, panics, tried: AtomicU32::new(0) });
    let given = ingest.clone();
    let app = App::start_on(dir, store, ServerConfig::default(), move |deps| deps.ingest = Some(given)).await;
    (app, ingest)
}

async fn status_becomes(app: &App, id: &str, wanted: &str) {
    let mut seen = String::new();
    for _ in 0..600 {
        let list = app.get(&format!("/files?conversation_id={id}")).await;
        seen = list.body["data"]["files"][0]["status"].as_str().unwrap().to_owned();
        if seen == wanted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the file stayed {seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outcome_that_was_not_stored_is_tried_again() {
    for panics in [false, true] {
        let (app, ingest) = flaky(1, panics).await;
        let up = app.upload(&[("a.csv", CSV)], None).await;
        assert_eq!(up.status, 200);
        let id = up.body["data"]["conversation_id"].as_str().unwrap();
        status_becomes(&app, id, "ready").await;
        assert_eq!(ingest.tried.load(Ordering::SeqCst), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_a_server_that_died_is_read_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(StoreConfig::local(dir.path())).await.unwrap();
    let c = store.create(&ba_protocol::UserId::local(), "").await.unwrap();
    let mut writer = store.begin_upload(&c.id, "a.csv", None).await.unwrap();
    writer.write(CSV).await.unwrap();
    let upload = writer.finish().await.unwrap();
    let key = ingest_key(&c.id, &upload.file_id);
    store.claim_this(JobKind::Ingest, &key, "dead", Duration::from_secs(3600)).await.unwrap().unwrap();
    let app = App::start_on(dir, store, ServerConfig::default(), |_| {}).await;
    status_becomes(&app, c.id.as_str(), "ready").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn imported_uploads_are_read_in() {
    let (app, _) = flaky(0, false).await;
    let up = app.upload(&[("a.csv", CSV)], None).await;
    let id = up.body["data"]["conversation_id"].as_str().unwrap().to_owned();
    let archive = app.client.get(app.api(&format!("/conversations/{id}/export"))).send().await.unwrap();
    let archive = archive.bytes().await.unwrap();
    let imported = app.client.post(app.api("/conversations/import")).body(archive).send().await.unwrap();
    let imported: serde_json::Value = imported.json().await.unwrap();
    let new = imported["data"]["conversation_id"].as_str().unwrap();
    assert_ne!(new, id);
    status_becomes(&app, new, "ready").await;
}

/// Remembers who was forgotten.
#[derive(Default)]
struct Remembers(Mutex<Vec<ConversationId>>);

#[async_trait]
impl Keeper for Remembers {
    async fn forget(&self, conversation: &ConversationId) {
        self.0.lock().push(conversation.clone());
    }
}

fn mentions(folder: &std::path::Path, id: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.to_string_lossy().contains(id) {
            found.push(path);
        } else if path.is_dir() {
            found.extend(mentions(&path, id));
        }
    }
    found
}

// SPEC H8
#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_conversation_deletes_everything_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let (root, logs) = (dir.path().to_owned(), dir.path().join("logs"));
    std::fs::create_dir(&logs).unwrap();
    let store = Store::open(StoreConfig::local(dir.path())).await.unwrap();
    let keeper = Arc::new(Remembers::default());
    let (given, folder) = (keeper.clone(), logs.clone());
    let app = App::start_on(dir, store.clone(), ServerConfig::default(), move |deps| {
        deps.keepers = vec![given];
        deps.log_dir = Some(folder);
    })
    .await;
    let up = app.upload(&[("secret.csv", b"name\nunmistakable\n")], None).await;
    let id = up.body["data"]["conversation_id"].as_str().unwrap().to_owned();
    let conversation: ConversationId = id.parse().unwrap();
    app.post("/agent/query", serde_json::json!({"message": "write code", "conversation_id": id})).await;
    store.put_tool_data(&conversation, "call_1", "json", b"tool data", "").await.unwrap();
    store.work_dir(&conversation).await.unwrap();
    let other = conversation.as_str().replace("conv_", "conv_f");
    for name in [
        format!("conversation_{id}_1.jsonl"),
        format!("conversation_{id}_2.jsonl"),
        format!("conversation_{}_1.jsonl", &other[..17]),
    ] {
        std::fs::write(logs.join(name), "the whole prompt").unwrap();
    }
    assert!(mentions(&root, &id).len() >= 3);
    let deleted = app.client.delete(app.api(&format!("/conversations/{id}"))).send().await.unwrap();
    assert_eq!(deleted.status(), 200);
    for _ in 0..200 {
        if mentions(&root, &id).is_empty() && store.next_job_at().await.unwrap().is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(mentions(&root, &id), Vec::<std::path::PathBuf>::new());
    assert_eq!(std::fs::read_dir(&logs).unwrap().count(), 1, "another conversation's log stays");
    assert_eq!(*keeper.0.lock(), [conversation]);
    let blobs = mentions(&root.join("blobs"), "").into_iter().filter(|p| p.is_file()).count();
    assert_eq!(blobs, 0, "no bytes of it are left");
}

// A reader that is too slow for the buffer still learns that its file is done.
#[tokio::test(flavor = "multi_thread")]
async fn file_events_outlive_a_lag() {
    struct Chatty(Store);
    #[async_trait]
    impl Ingest for Chatty {
        async fn ingest(&self, upload: &Upload, progress: &(dyn for<'m> Fn(f64, &'m str) + Send + Sync)) {
            tokio::time::sleep(Duration::from_millis(500)).await;
            // Without a pause, so that no reader keeps up with the buffer.
            (0..20_000).for_each(|n| progress(f64::from(n) / 20_000.0, &"x".repeat(1000)));
            tokio::time::sleep(Duration::from_millis(300)).await;
            let (conversation, id) = (&upload.conversation_id, &upload.file_id);
            self.0.set_profile(conversation, id, IngestStatus::Ready, None, None).await.unwrap();
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(StoreConfig::local(dir.path())).await.unwrap();
    let config = ServerConfig { ingest_grace: Duration::ZERO, ..ServerConfig::default() };
    let given = store.clone();
    let app = App::start_on(dir, store, config, |deps| deps.ingest = Some(Arc::new(Chatty(given)))).await;
    let up = app.upload(&[("a.csv", CSV)], None).await;
    let id = up.body["data"]["conversation_id"].as_str().unwrap();
    let stream =
        app.client.get(app.api(&format!("/files/events?conversation_id={id}"))).send().await.unwrap();
    let events = crate::kit::Reader::new(stream).all().await;
    assert!(events.len() < 10_000, "the reader was never behind");
    assert_eq!(events.last().unwrap().name, "file.done");
}
