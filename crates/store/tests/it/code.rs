//! The code store (SPEC C1–C5).

use ba_protocol::{CodeId, ConversationId};
use ba_store::{Limits, NewCode, StoreError};

use crate::harness::{Fresh, on_every_backend, on_s3};

fn limits() -> Limits {
    Limits { code_bytes: 1000, ..Limits::default() }
}

on_every_backend!(
    versions_stay_readable,
    a_code_that_changes_its_language_has_one_file,
    an_unsupported_language_falls_back_with_a_warning,
    hostile_ids_are_slugged,
    limits_and_wrong_conversations_are_refused,
);

on_s3!(versions_stay_readable, limits_and_wrong_conversations_are_refused);

fn python(id: &str, code: &str) -> NewCode {
    NewCode { code_id: id.into(), code: code.into(), language: "python".into(), description: String::new() }
}

async fn versions_stay_readable(f: Fresh) {
    let c = f.conversation().await;
    let first = f.store.save_code(&c.id, python("code_sales", "\n# 销售 load\nx = 1\n")).await.unwrap();
    assert_eq!(first.warning, None);
    let file = first.file;
    assert_eq!((file.version, file.file_path.as_str()), (1, "data/code_sales.py"));
    assert_eq!((file.line_count, file.char_count, file.size), (3, 17, 21));
    assert_eq!(file.description, "# 销售 load");
    // A resumed run that saves the same again makes no second version.
    assert_eq!(
        f.store.save_code(&c.id, python("code_sales", "\n# 销售 load\nx = 1\n")).await.unwrap().file,
        file
    );

    let second = f.store.save_code(&c.id, python("code_sales", "x = 2")).await.unwrap().file;
    assert_eq!(second.version, 2);
    let id = CodeId::parse("code_sales").unwrap();
    assert_eq!(f.store.code(&c.id, &id, None).await.unwrap(), (second.clone(), "x = 2".to_owned()));
    assert_eq!(f.store.code(&c.id, &id, Some(1)).await.unwrap().1, "\n# 销售 load\nx = 1\n");
    assert!(f.store.code(&c.id, &id, Some(3)).await.unwrap_err().is_not_found());
    assert_eq!(f.store.codes(&c.id).await.unwrap(), vec![second.clone()]);
    assert_eq!(f.store.versions(&c.id, &id).await.unwrap(), vec![file, second]);
    let visible = f.dir.path().join("conversations").join(c.id.as_str()).join("data/code_sales.py");
    assert_eq!(std::fs::read_to_string(visible).unwrap(), "x = 2");
}

// SPEC C1
async fn a_code_that_changes_its_language_has_one_file(f: Fresh) {
    let c = f.conversation().await;
    f.store.save_code(&c.id, python("code_x", "x = 1")).await.unwrap();
    f.store.save_code(&c.id, python("code_x2", "other")).await.unwrap();
    let sql = NewCode { language: "sql".into(), ..python("code_x", "SELECT 1") };
    f.store.save_code(&c.id, sql).await.unwrap();
    let folder = f.dir.path().join("conversations").join(c.id.as_str()).join("data");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["code_x.sql", "code_x2.py"]);
    assert_eq!(f.store.code(&c.id, &CodeId::parse("code_x").unwrap(), Some(1)).await.unwrap().1, "x = 1");
}

// SPEC C3
async fn an_unsupported_language_falls_back_with_a_warning(f: Fresh) {
    let c = f.conversation().await;
    let mut new = python("code_x", "++.");
    new.language = "brain\nfuck".into();
    let saved = f.store.save_code(&c.id, new).await.unwrap();
    assert_eq!((saved.file.language.as_str(), saved.file.file_path.as_str()), ("python", "data/code_x.py"));
    assert_eq!(
        saved.warning.as_deref(),
        Some("unsupported language `brain fuck`: the code was saved as python")
    );
    let mut sql = python("code_q", "select 1");
    sql.language = "SQL".into();
    sql.description = "查询".into();
    let saved = f.store.save_code(&c.id, sql).await.unwrap();
    assert_eq!((saved.file.file_path.as_str(), saved.file.description.as_str()), ("data/code_q.sql", "查询"));
}

async fn hostile_ids_are_slugged(f: Fresh) {
    let c = f.conversation().await;
    for hostile in ["../../etc/passwd", "code_a/b", "C:\\x", "\0", "", "code_\u{202e}x", "A B"] {
        let saved = f.store.save_code(&c.id, python(hostile, "1")).await.unwrap().file;
        assert!(CodeId::parse(saved.code_id.as_str()).is_ok(), "{hostile:?}");
        assert_eq!(f.store.code(&c.id, &saved.code_id, None).await.unwrap().1, "1");
    }
    assert!(!f.dir.path().join("etc").exists());
}

async fn limits_and_wrong_conversations_are_refused(f: Fresh) {
    let c = f.conversation().await;
    let long = "x".repeat(1001);
    assert!(matches!(f.store.save_code(&c.id, python("big", &long)).await, Err(StoreError::TooLarge { .. })));
    let nowhere = ConversationId::random();
    assert!(f.store.save_code(&nowhere, python("a", "1")).await.unwrap_err().is_not_found());
    assert_eq!(f.blob_files(), Vec::<std::path::PathBuf>::new(), "a refused save leaves no bytes");
    let other = f.conversation().await;
    f.store.save_code(&c.id, python("a", "1")).await.unwrap();
    let id = CodeId::parse("code_a").unwrap();
    assert!(f.store.code(&other.id, &id, None).await.unwrap_err().is_not_found());
    assert!(f.store.versions(&other.id, &id).await.unwrap_err().is_not_found());
}
