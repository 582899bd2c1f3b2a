//! Uploads, what is made from them, and artifacts (SPEC F1, F3).

use std::path::Path;

use ba_protocol::file::{FileProfile, IngestOptions, IngestStatus, Unread};
use ba_protocol::{ConversationId, Said, Upload};
use ba_store::{ConversationFiles, Limits, Store, StoreError};

use crate::harness::{Fresh, on_every_backend, on_s3};

fn unread(message: &str) -> Unread {
    Unread { message: message.to_owned(), said: Said::new("no_table").step("data") }
}

fn limits() -> Limits {
    Limits { upload_bytes: 1000, artifact_bytes: 1000, ..Limits::default() }
}

on_every_backend!(
    uploads_are_numbered_hashed_and_read_back,
    equal_bytes_are_kept_once_until_the_last_goes,
    hostile_names_never_leave_the_folder,
    nothing_is_visible_before_the_end,
    lost_bytes_come_back_with_an_equal_upload,
    derived_files_go_with_their_upload,
    artifacts_replace_and_refuse_links,
    a_change_of_any_file_is_noticed,
    an_upload_is_read_again_with_other_choices,
);

on_s3!(
    uploads_are_numbered_hashed_and_read_back,
    equal_bytes_are_kept_once_until_the_last_goes,
    nothing_is_visible_before_the_end,
    derived_files_go_with_their_upload,
    artifacts_replace_and_refuse_links,
    an_upload_is_read_again_with_other_choices,
);

async fn put(store: &Store, c: &ConversationId, name: &str, bytes: &[u8]) -> Result<Upload, StoreError> {
    let mut writer = store.begin_upload(c, name, None).await?;
    for chunk in bytes.chunks(7) {
        writer.write(chunk).await?;
    }
    writer.finish().await
}

async fn uploads_are_numbered_hashed_and_read_back(f: Fresh) {
    let c = f.conversation().await;
    let mut writer = f.store.begin_upload(&c.id, "sales.CSV", None).await.unwrap();
    writer.describe("2024年\n销售");
    writer.write(b"a,b\n").await.unwrap();
    writer.write(b"1,2\n").await.unwrap();
    let first = writer.finish().await.unwrap();
    assert_eq!((first.file_id.as_str(), first.file_type.as_str(), first.size), ("upload_001", "csv", 8));
    assert_eq!(first.sha256, sha(b"a,b\n1,2\n"));
    assert_eq!((first.description.as_str(), first.status), ("2024年 销售", IngestStatus::Processing));
    assert_eq!(std::fs::read(f.store.upload_path(&first).await.unwrap()).unwrap(), b"a,b\n1,2\n");

    let second = put(&f.store, &c.id, "sales.CSV", b"other").await.unwrap();
    assert_eq!((second.file_id.as_str(), second.filename.as_str()), ("upload_002", "sales (2).CSV"));
    assert_eq!(f.store.upload(&c.id, "upload_002").await.unwrap(), second);
    assert_eq!(f.store.upload(&c.id, "sales (2).CSV").await.unwrap(), second);
    assert_eq!(f.store.uploads(&c.id).await.unwrap(), vec![first.clone(), second.clone()]);
    assert_eq!(f.store.unfinished_uploads().await.unwrap(), vec![first.clone(), second.clone()]);

    let profile = FileProfile { encoding: Some("gb18030".into()), ..FileProfile::default() };
    let ready =
        f.store.set_profile(&c.id, &first.file_id, IngestStatus::Ready, Some(&profile), None).await.unwrap();
    assert_eq!((ready.status, ready.profile), (IngestStatus::Ready, Some(profile)));
    let failed = f
        .store
        .set_profile(&c.id, &second.file_id, IngestStatus::Failed, None, Some(&unread("not a table")))
        .await
        .unwrap();
    assert_eq!(failed.error.as_deref(), Some("not a table"));
    let listed = f.store.upload_list(&c.id).await.unwrap();
    assert_eq!(listed[1].problem, Some(Said::new("no_table").step("data")), "a list says it by code too");
    assert_eq!(f.store.unfinished_uploads().await.unwrap(), vec![]);

    f.store.delete_upload(&c.id, &second.file_id).await.unwrap();
    assert!(f.store.upload(&c.id, "upload_002").await.unwrap_err().is_not_found());
    let third = put(&f.store, &c.id, "x.csv", b"third").await.unwrap();
    assert_eq!(third.file_id.as_str(), "upload_003", "a number is never given out twice");
}

fn sha(bytes: &[u8]) -> String {
    use sha2::Digest;
    hex::encode(sha2::Sha256::digest(bytes))
}

async fn equal_bytes_are_kept_once_until_the_last_goes(f: Fresh) {
    let (a, b) = (f.conversation().await, f.conversation().await);
    let first = put(&f.store, &a.id, "x.csv", b"same").await.unwrap();
    let second = put(&f.store, &b.id, "y.csv", b"same").await.unwrap();
    assert_eq!(f.blob_files().len(), 1);
    f.store.delete_upload(&a.id, &first.file_id).await.unwrap();
    assert_eq!(std::fs::read(f.store.upload_path(&second).await.unwrap()).unwrap(), b"same");
    f.store.delete_upload(&b.id, &second.file_id).await.unwrap();
    assert_eq!(f.blob_files().len(), 0);
}

async fn hostile_names_never_leave_the_folder(f: Fresh) {
    let c = f.conversation().await;
    let long = "长".repeat(300);
    let names = [
        "../../x.csv",
        "/etc/passwd",
        "a\\..\\b.csv",
        "n\0ul.csv",
        "\u{202e}vsc.exe",
        "😀.csv",
        "a\r\nb.csv",
        "",
        &long,
    ];
    for name in names {
        let kept = put(&f.store, &c.id, name, name.as_bytes()).await.unwrap();
        assert!(!kept.filename.contains(['/', '\\', '\0', '\n', '\r', '\u{202e}']), "{name:?}");
        assert!(kept.filename.len() <= 200);
        let path = f.store.upload_path(&kept).await.unwrap();
        assert!(path.starts_with(f.dir.path().join("blobs")));
        assert_eq!(std::fs::read(path).unwrap(), name.as_bytes());
        assert!(f.store.upload(&c.id, name).await.is_err() || kept.filename == name);
    }
    for outside in ["../../etc/passwd", "upload_999", "upload_001/../x"] {
        assert!(f.store.upload(&c.id, outside).await.unwrap_err().is_not_found());
    }
}

async fn nothing_is_visible_before_the_end(f: Fresh) {
    let c = f.conversation().await;
    let temporary = || f.temp_files();
    let mut vanished = f.store.begin_upload(&c.id, "x.csv", None).await.unwrap();
    vanished.write(b"half").await.unwrap();
    assert_eq!((f.store.uploads(&c.id).await.unwrap(), temporary()), (vec![], 1));
    drop(vanished);
    assert_eq!(temporary(), 0);

    let mut large = f.store.begin_upload(&c.id, "x.csv", Some(10)).await.unwrap();
    large.write(&[0; 10]).await.unwrap();
    assert!(matches!(large.write(&[0]).await, Err(StoreError::TooLarge { limit: 10, .. })));
    assert!(large.finish().await.is_err(), "a broken upload cannot be finished");
    assert!(matches!(put(&f.store, &c.id, "x", &[0; 1001]).await, Err(StoreError::TooLarge { .. })));
    let gone = put(&f.store, &ConversationId::random(), "x.csv", b"x").await;
    assert!(gone.unwrap_err().is_not_found());
    assert_eq!((temporary(), f.blob_files().len()), (0, 0));
    assert_eq!(put(&f.store, &c.id, "ok.csv", b"").await.unwrap().file_id.as_str(), "upload_001");
}

async fn lost_bytes_come_back_with_an_equal_upload(f: Fresh) {
    let c = f.conversation().await;
    let first = put(&f.store, &c.id, "x.csv", b"precious").await.unwrap();
    let path = f.store.upload_path(&first).await.unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(f.store.upload_path(&first).await, Err(StoreError::Corrupt(_))));
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    assert!(
        matches!(f.store.upload_path(&first).await, Err(StoreError::Corrupt(_))),
        "a link is not followed"
    );
    put(&f.store, &c.id, "y.csv", b"precious").await.unwrap();
    assert_eq!(std::fs::read(f.store.upload_path(&first).await.unwrap()).unwrap(), b"precious");
}

async fn derived_files_go_with_their_upload(f: Fresh) {
    let c = f.conversation().await;
    let upload = put(&f.store, &c.id, "x.csv", b"a,b").await.unwrap();
    let made = f.dir.path().join("made.parquet");
    for content in ["PAR1", "PAR1 again"] {
        std::fs::write(&made, content).unwrap();
        f.store.put_derived(&c.id, &upload.file_id, "table_0.parquet", &made).await.unwrap();
        let path = f.store.derived_path(&c.id, &upload.file_id, "table_0.parquet").await.unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), content);
    }
    assert_eq!(f.blob_files().len(), 2);
    let unknown = ba_protocol::UploadId::numbered(9);
    assert!(f.store.put_derived(&c.id, &unknown, "t", &made).await.unwrap_err().is_not_found());
    f.store.delete_upload(&c.id, &upload.file_id).await.unwrap();
    assert_eq!(f.blob_files().len(), 0);
    assert!(
        f.store.derived_path(&c.id, &upload.file_id, "table_0.parquet").await.unwrap_err().is_not_found()
    );
}

// SPEC B8: the bytes stay, what was made from them goes, and a second one waits for the first.
async fn an_upload_is_read_again_with_other_choices(f: Fresh) {
    let (store, c) = (&f.store, f.conversation().await);
    let upload = put(store, &c.id, "x.csv", b"a,b").await.unwrap();
    let id = &upload.file_id;
    let big5 = IngestOptions { encoding: Some("big5".into()), ..IngestOptions::default() };
    let early = store.ingest_again(&c.id, id, &big5).await;
    assert!(matches!(early, Err(StoreError::Conflict(_))), "it is still being read: {early:?}");

    let made = f.dir.path().join("made.parquet");
    std::fs::write(&made, "PAR1").unwrap();
    store.put_derived(&c.id, id, "table_0.parquet", &made).await.unwrap();
    store.set_profile(&c.id, id, IngestStatus::Ready, Some(&FileProfile::default()), None).await.unwrap();
    let files = store.files(&c.id).await.unwrap();
    let again = store.ingest_again(&c.id, id, &big5).await.unwrap();
    assert_eq!(
        (again.status, &again.profile, &again.ingest_options),
        (IngestStatus::Processing, &None, &big5)
    );
    assert!(!store.is_current(&c.id, &files), "a run that reads the files notices");
    assert!(store.derived_path(&c.id, id, "table_0.parquet").await.unwrap_err().is_not_found());
    assert_eq!(f.blob_files().len(), 1, "only the bytes of the upload are left");
    assert_eq!(
        store.unfinished_uploads().await.unwrap(),
        vec![again],
        "a crash now starts with these choices"
    );
    assert_eq!(store.upload(&c.id, "x.csv").await.unwrap().ingest_options, big5);

    store.set_profile(&c.id, id, IngestStatus::Failed, None, Some(&unread("no"))).await.unwrap();
    let reset = store.ingest_again(&c.id, id, &IngestOptions::default()).await.unwrap();
    assert_eq!((reset.error, reset.ingest_options), (None, IngestOptions::default()));
    let unknown = ba_protocol::UploadId::numbered(9);
    assert!(store.ingest_again(&c.id, &unknown, &big5).await.unwrap_err().is_not_found());
}

async fn artifacts_replace_and_refuse_links(f: Fresh) {
    let c = f.conversation().await;
    let work = f.store.work_dir(&c.id).await.unwrap();
    std::fs::write(work.join("图.png"), "one").unwrap();
    let kept = f.store.put_artifact(&c.id, "图.png", Path::new("图.png")).await.unwrap();
    assert_eq!((kept.name.as_str(), kept.file_type.as_str(), kept.size), ("图.png", "png", 3));
    std::fs::write(work.join("图.png"), "two!").unwrap();
    f.store.put_artifact(&c.id, "图.png", &work.join("图.png")).await.unwrap();
    assert_eq!(f.store.artifacts(&c.id).await.unwrap().len(), 1);
    assert_eq!(std::fs::read(f.store.artifact_path(&c.id, "图.png").await.unwrap()).unwrap(), b"two!");
    assert_eq!(f.blob_files().len(), 1);

    std::os::unix::fs::symlink("/etc/passwd", work.join("link.csv")).unwrap();
    for bad in ["link.csv", "../../../x", "missing.csv", "."] {
        assert!(f.store.put_artifact(&c.id, "a.csv", Path::new(bad)).await.is_err(), "{bad}");
    }
    let big = f.store.put_artifact_bytes(&c.id, "big", &[0; 1001]).await;
    assert!(matches!(big, Err(StoreError::TooLarge { .. })));
    let escaped = f.store.put_artifact_bytes(&c.id, "../../x.csv", b"x").await.unwrap();
    assert_eq!(escaped.name, "x.csv");
    let other = f.conversation().await;
    assert!(f.store.artifact(&other.id, "x.csv").await.unwrap_err().is_not_found());
}

async fn a_change_of_any_file_is_noticed(f: Fresh) {
    let (store, c) = (&f.store, f.conversation().await);
    let old = |files: &ConversationFiles| !store.is_current(&c.id, files);
    let mut files = store.no_files(&c.id);
    let read = store.files(&c.id).await.unwrap();
    assert_eq!(read, files, "a new conversation has no files");

    let upload = put(store, &c.id, "a.csv", b"a").await.unwrap();
    assert!(old(&files));
    files = store.files(&c.id).await.unwrap();
    assert_eq!(files.uploads.len(), 1);
    store.set_profile(&c.id, &upload.file_id, IngestStatus::Ready, None, None).await.unwrap();
    assert!(old(&files));
    files = store.files(&c.id).await.unwrap();
    store.describe_upload(&c.id, &upload.file_id, "what it is").await.unwrap();
    assert!(old(&files));
    files = store.files(&c.id).await.unwrap();
    let code = ba_store::NewCode {
        code_id: "x".into(),
        code: "1".into(),
        language: "python".into(),
        description: String::new(),
    };
    store.save_code(&c.id, code).await.unwrap();
    assert!(old(&files));
    files = store.files(&c.id).await.unwrap();
    store.put_artifact_bytes(&c.id, "b.csv", b"b").await.unwrap();
    assert!(old(&files));
    files = store.files(&c.id).await.unwrap();
    assert_eq!((files.codes.len(), files.artifacts.len()), (1, 1));
    store.delete_upload(&c.id, &upload.file_id).await.unwrap();
    assert!(old(&files));
}
