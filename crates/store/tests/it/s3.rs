//! A real S3-speaking server (`s3s-fs`, with signatures checked) on loopback, and what only concerns S3.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ba_store::{Blobs, CleanupMode, CleanupPolicy, Limits, S3Config, Store, StoreError};
use hyper_util::rt::{TokioExecutor, TokioIo};
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;

use crate::harness::Fresh;

const BUCKET: &str = "ba-files";

/// Serves the folder's objects for the life of the test's runtime.
pub async fn serve(folder: &Path) -> S3Config {
    std::fs::create_dir_all(folder.join(BUCKET)).unwrap();
    let mut builder = S3ServiceBuilder::new(s3s_fs::FileSystem::new(folder).unwrap());
    builder.set_auth(SimpleAuth::from_single("key", "secret"));
    let service = builder.build();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let service = service.clone();
            tokio::spawn(async move {
                let http = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                let _ = http.serve_connection(TokioIo::new(socket), service).await;
            });
        }
    });
    S3Config {
        bucket: BUCKET.into(),
        region: "us-east-1".into(),
        endpoint: Some(endpoint),
        access_key: "key".into(),
        secret_key: "secret".into(),
        prefix: "ba-agent/blobs".into(),
        cache_bytes: 1_000_000,
    }
}

async fn put(
    store: &Store,
    c: &ba_protocol::ConversationId,
    bytes: &[u8],
) -> Result<ba_protocol::Upload, StoreError> {
    let mut writer = store.begin_upload(c, "a.csv", None).await?;
    writer.write(bytes).await?;
    writer.finish().await
}

fn cached(f: &Fresh) -> PathBuf {
    f.dir.path().join("cache/blobs")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_object_goes_in_parts_and_comes_back_without_the_cache() {
    let f = Fresh::on_s3(None, Limits::default()).await;
    let c = f.conversation().await;
    let bytes: Vec<u8> = (0..12_000_000u32).map(|n| (n / 7) as u8).collect();
    let upload = put(&f.store, &c.id, &bytes).await.unwrap();
    std::fs::remove_dir_all(cached(&f)).unwrap();
    std::fs::create_dir(cached(&f)).unwrap();
    assert_eq!(std::fs::read(f.store.upload_path(&upload).await.unwrap()).unwrap(), bytes);
    // A replica that never saw the bytes reads them as well.
    let mut config = f.config.clone();
    let elsewhere = tempfile::tempdir().unwrap();
    config.root = elsewhere.path().to_owned();
    let replica = Store::open(config).await.unwrap();
    assert_eq!(std::fs::read(replica.upload_path(&upload).await.unwrap()).unwrap(), bytes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cache_is_trimmed_but_not_what_was_just_given_out() {
    let f = Fresh::on_s3(None, Limits::default()).await;
    let c = f.conversation().await;
    let mut uploads = Vec::new();
    for n in 0..4u8 {
        uploads.push(put(&f.store, &c.id, &vec![n; 400_000]).await.unwrap());
    }
    let files = || std::fs::read_dir(cached(&f)).unwrap().flatten().map(|e| e.path()).collect::<Vec<_>>();
    assert_eq!(files().len(), 4, "young files stay even above the limit");
    for file in files() {
        let old = std::time::SystemTime::now() - Duration::from_secs(3600);
        std::fs::File::open(file).unwrap().set_modified(old).unwrap();
    }
    put(&f.store, &c.id, &vec![9; 400_000]).await.unwrap();
    assert_eq!(files().len(), 2, "a megabyte holds two of them");
    for upload in &uploads {
        assert_eq!(std::fs::metadata(f.store.upload_path(upload).await.unwrap()).unwrap().len(), 400_000);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusing_or_absent_service_is_no_acknowledgement() {
    let f = Fresh::on_s3(None, Limits::default()).await;
    let c = f.conversation().await;
    let Blobs::S3(good) = f.config.blobs.clone() else { panic!("not on S3") };
    let bad_secret = S3Config { secret_key: "wrong".into(), ..good.clone() };
    let nobody = S3Config { endpoint: Some("http://127.0.0.1:9".into()), ..good };
    for s3 in [bad_secret, nobody] {
        let mut config = f.config.clone();
        config.blobs = Blobs::S3(s3);
        let store = Store::open(config).await.unwrap();
        let refused = tokio::time::timeout(Duration::from_secs(60), put(&store, &c.id, b"x")).await;
        assert!(matches!(refused, Ok(Err(StoreError::Unavailable(_)))), "{refused:?}");
    }
    assert_eq!(f.store.uploads(&c.id).await.unwrap(), vec![]);
    assert_eq!(f.temp_files(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_object_is_reported_not_served() {
    let f = Fresh::on_s3(None, Limits::default()).await;
    let c = f.conversation().await;
    let upload = put(&f.store, &c.id, b"right bytes").await.unwrap();
    std::fs::write(&f.blob_files()[0], b"other").unwrap();
    std::fs::remove_dir_all(cached(&f)).unwrap();
    std::fs::create_dir(cached(&f)).unwrap();
    assert!(matches!(f.store.upload_path(&upload).await, Err(StoreError::Corrupt(_))));
    let report = f.store.cleanup(&CleanupPolicy::default(), CleanupMode::DryRun).await.unwrap();
    assert_eq!(report.orphans, 0, "the listing knows our keys");
}
