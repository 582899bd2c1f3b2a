//! Stored tool data and its cleanup (SPEC E4, E5).

use std::time::{Duration, SystemTime};

use ba_protocol::ConversationId;
use ba_store::{CleanupMode, CleanupPolicy, CleanupReason, Limits, NewCode, RunStatus, StepCommit};
use serde_json::json;

use crate::harness::{Fresh, alice, last_step, new_run, on_every_backend, on_s3};

fn limits() -> Limits {
    Limits::default()
}

on_every_backend!(
    data_is_kept_and_found_by_its_reference,
    age_removes_what_is_not_used,
    size_removes_the_least_recently_used,
    what_a_live_conversation_names_stays,
    a_deleted_conversation_is_purged_with_its_bytes,
    orphans_are_swept_when_old,
);

on_s3!(
    data_is_kept_and_found_by_its_reference,
    age_removes_what_is_not_used,
    a_deleted_conversation_is_purged_with_its_bytes,
);

/// Everything is old, nothing is live.
fn strict() -> CleanupPolicy {
    CleanupPolicy {
        max_age: Duration::ZERO,
        max_total_bytes: u64::MAX,
        live_within: Duration::ZERO,
        purge_deleted_after: Duration::ZERO,
    }
}

async fn data_is_kept_and_found_by_its_reference(f: Fresh) {
    let c = f.conversation().await;
    let kept = f.store.put_tool_data(&c.id, "call_../1", "json", b"[1,2,3]", "3 rows").await.unwrap();
    assert!(kept.reference.starts_with("tool_data/") && !kept.reference.contains(".."));
    let (found, bytes) = f.store.tool_data(&c.id, &kept.reference).await.unwrap();
    assert_eq!((found.summary.as_str(), found.size, bytes.as_slice()), ("3 rows", 7, &b"[1,2,3]"[..]));
    assert_eq!(
        std::fs::read(f.store.tool_data_path(&c.id, &kept.reference).await.unwrap()).unwrap(),
        b"[1,2,3]"
    );
    let other = f.conversation().await;
    for (conversation, reference) in
        [(&other.id, kept.reference.as_str()), (&c.id, "tool_data/../x"), (&c.id, "/etc/passwd"), (&c.id, "")]
    {
        assert!(f.store.tool_data(conversation, reference).await.unwrap_err().is_not_found());
    }
}

async fn age_removes_what_is_not_used(f: Fresh) {
    let c = f.conversation().await;
    let kept = f.store.put_tool_data(&c.id, "call_1", "json", b"old", "").await.unwrap();
    let fresh = f.store.cleanup(&CleanupPolicy::default(), CleanupMode::Remove).await.unwrap();
    assert_eq!(fresh.removed, vec![]);
    let dry = f.store.cleanup(&strict(), CleanupMode::DryRun).await.unwrap();
    assert_eq!(dry.removed, vec![(kept.reference.clone(), 3, CleanupReason::Age)]);
    assert!(f.store.tool_data(&c.id, &kept.reference).await.is_ok(), "a dry run removes nothing");
    let real = f.store.cleanup(&strict(), CleanupMode::Remove).await.unwrap();
    assert_eq!(real, dry);
    assert!(f.store.tool_data(&c.id, &kept.reference).await.unwrap_err().is_not_found());
    assert_eq!(f.blob_files().len(), 0);
}

async fn size_removes_the_least_recently_used(f: Fresh) {
    let c = f.conversation().await;
    let mut kept = Vec::new();
    for n in 0..3u8 {
        kept.push(f.store.put_tool_data(&c.id, "call", "json", &[n; 10], "").await.unwrap().reference);
    }
    f.store.tool_data(&c.id, &kept[0]).await.unwrap();
    let policy = CleanupPolicy { max_age: Duration::from_secs(3600), max_total_bytes: 15, ..strict() };
    let report = f.store.cleanup(&policy, CleanupMode::Remove).await.unwrap();
    let gone: Vec<_> = report.removed.iter().map(|r| (r.0.clone(), r.2)).collect();
    let why = CleanupReason::TotalSize;
    assert_eq!(gone, vec![(kept[1].clone(), why), (kept[2].clone(), why)]);
    assert!(f.store.tool_data(&c.id, &kept[0]).await.is_ok());
}

async fn what_a_live_conversation_names_stays(f: Fresh) {
    let c = f.conversation().await;
    let in_state = f.store.put_tool_data(&c.id, "call_1", "json", b"state", "").await.unwrap().reference;
    let in_round = f.store.put_tool_data(&c.id, "call_2", "json", b"round", "").await.unwrap().reference;
    let unnamed = f.store.put_tool_data(&c.id, "call_3", "json", b"unnamed", "").await.unwrap().reference;
    let first = new_run(&c, "q");
    f.store.admit(first.clone()).await.unwrap();
    let done = last_step(&c.id, &first.run_id, "q", &format!("see {in_round}"));
    f.store.commit_step(&first.run_id, done).await.unwrap();
    let mut open = new_run(&c, "q2");
    open.state = json!({"observation": in_state}).into();
    f.store.admit(open.clone()).await.unwrap();

    let report = f.store.cleanup(&strict(), CleanupMode::Remove).await.unwrap();
    assert_eq!(report.removed.iter().map(|r| r.0.as_str()).collect::<Vec<_>>(), vec![unnamed.as_str()]);
    assert_eq!(report.kept_live, vec![in_state.clone(), in_round.clone()]);

    let ended = StepCommit::new(json!({}), RunStatus::Complete);
    f.store.commit_step(&open.run_id, ended).await.unwrap();
    let lately = CleanupPolicy { live_within: Duration::from_secs(3600), ..strict() };
    let report = f.store.cleanup(&lately, CleanupMode::Remove).await.unwrap();
    assert_eq!((report.removed.len(), report.kept_live), (1, vec![in_round.clone()]));
    // No longer live: history alone does not keep it.
    let report = f.store.cleanup(&strict(), CleanupMode::Remove).await.unwrap();
    assert_eq!(report.removed.iter().map(|r| r.0.as_str()).collect::<Vec<_>>(), vec![in_round.as_str()]);
}

async fn a_deleted_conversation_is_purged_with_its_bytes(f: Fresh) {
    let (c, other) = (f.conversation().await, f.conversation().await);
    fill(&f, &c.id).await;
    f.store.put_artifact_bytes(&other.id, "shared.txt", b"artifact").await.unwrap();
    let run = new_run(&c, "q");
    f.store.admit(run.clone()).await.unwrap();
    f.store.commit_step(&run.run_id, last_step(&c.id, &run.run_id, "q", "a")).await.unwrap();
    f.store.work_dir(&c.id).await.unwrap();
    f.store.delete(&alice(), &c.id).await.unwrap();

    let later = f.store.cleanup(&CleanupPolicy::default(), CleanupMode::Remove).await.unwrap();
    assert_eq!(later.purged_conversations, vec![], "not before its time");
    let report = f.store.cleanup(&strict(), CleanupMode::Remove).await.unwrap();
    assert_eq!(report.purged_conversations, vec![c.id.clone()]);
    assert_eq!(f.blob_files().len(), 1, "only what another conversation shares is left");
    assert!(f.store.artifact_path(&other.id, "shared.txt").await.is_ok());
    assert!(!f.dir.path().join("conversations").join(c.id.as_str()).exists());
    assert_eq!(f.store.turns(&c.id).await.unwrap(), vec![]);
}

async fn fill(f: &Fresh, c: &ConversationId) {
    let code = NewCode {
        code_id: "code_a".into(),
        code: "print()".into(),
        language: "python".into(),
        description: String::new(),
    };
    f.store.save_code(c, code).await.unwrap();
    let mut upload = f.store.begin_upload(c, "a.csv", None).await.unwrap();
    upload.write(b"a,b").await.unwrap();
    let upload = upload.finish().await.unwrap();
    let made = f.dir.path().join("t.parquet");
    std::fs::write(&made, "PAR1").unwrap();
    f.store.put_derived(c, &upload.file_id, "t.parquet", &made).await.unwrap();
    f.store.put_artifact_bytes(c, "a.txt", b"artifact").await.unwrap();
    f.store.put_tool_data(c, "call", "json", b"data", "").await.unwrap();
}

async fn orphans_are_swept_when_old(f: Fresh) {
    let c = f.conversation().await;
    f.store.put_artifact_bytes(&c.id, "a.txt", b"kept").await.unwrap();
    let shard = f.dir.path().join("blobs/ab");
    std::fs::create_dir_all(&shard).unwrap();
    let (old, young) = (shard.join("ab".repeat(16)), shard.join("abcd".repeat(8)));
    for path in [&old, &young] {
        std::fs::write(path, "x").unwrap();
    }
    let days = Duration::from_secs(3 * 24 * 3600);
    for path in f.blob_files().iter().filter(|p| **p != young) {
        // A stored file is read-only, its time may still be set by the owner.
        std::fs::File::open(path).unwrap().set_modified(SystemTime::now() - days).unwrap();
    }
    let dry = f.store.cleanup(&CleanupPolicy::default(), CleanupMode::DryRun).await.unwrap();
    assert_eq!((dry.orphans, old.exists()), (1, true));
    let report = f.store.cleanup(&CleanupPolicy::default(), CleanupMode::Remove).await.unwrap();
    assert_eq!((report.orphans, old.exists(), young.exists()), (1, false, true));
    assert!(f.store.artifact_path(&c.id, "a.txt").await.is_ok());
}
