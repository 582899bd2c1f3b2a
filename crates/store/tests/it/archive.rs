//! Export and import: what goes out comes in, and a hostile archive does no harm.

use std::path::PathBuf;

use ba_protocol::file::{IngestOptions, IngestStatus};
use ba_protocol::{CodeId, RunEvent};
use ba_store::{EventScope, JobKind, Limits, NewCode, RunStatus, StoreError, ToolOutcome, ingest_key};
use ba_testkit::{Edge, budget};
use serde_json::{Value, json};

use crate::harness::{Fresh, alice, bob, intent, last_step, new_run, on_every_backend, on_s3, outcome};

fn limits() -> Limits {
    Limits { import_bytes: 1_000_000, ..Limits::default() }
}

on_every_backend!(what_goes_out_comes_in, hostile_archives_are_refused_whole);

on_s3!(what_goes_out_comes_in);

async fn what_goes_out_comes_in(f: Fresh) {
    let archive = filled_archive(&f).await;
    let hers = f.store.conversations(&alice(), None, 1, 0).await.unwrap().remove(0);
    let report = f.store.import(&bob(), &archive).await.unwrap();
    assert_eq!((report.rounds, report.uploads, report.codes, report.artifacts), (1, 1, 2, 1));
    let new = report.conversation;
    assert_eq!((new.owner.clone(), new.title.as_str()), (bob(), hers.title.as_str()));
    assert_ne!(new.id, hers.id);
    assert!(f.store.conversation(&alice(), &new.id).await.unwrap_err().is_not_found());

    let upload = f.store.upload(&new.id, "upload_002").await.unwrap();
    assert_eq!((upload.filename.as_str(), upload.status), ("数据.csv", IngestStatus::Processing));
    assert_eq!(upload.ingest_options.header_row, Some(2), "it is read again as it was chosen");
    assert_eq!(std::fs::read(f.store.upload_path(&upload).await.unwrap()).unwrap(), b"a,b\n");
    let id = CodeId::parse("code_x").unwrap();
    assert_eq!(f.store.code(&new.id, &id, None).await.unwrap().1, "two");
    assert_eq!(f.store.code(&new.id, &id, Some(1)).await.unwrap().1, "one");
    assert!(f.store.artifact_path(&new.id, "图.png").await.is_ok());

    let runs = f.store.runs(&bob(), &new.id, 10).await.unwrap();
    let statuses: Vec<_> = runs.iter().map(|r| (r.message.as_str(), r.status)).collect();
    assert_eq!(statuses, vec![("open", RunStatus::Cancelled), ("why?", RunStatus::Complete)]);
    assert_eq!(f.store.turns(&new.id).await.unwrap()[0].run_id, runs[1].id);
    let events = f.store.events_after(EventScope::Conversation(&new.id), 0, 100).await.unwrap();
    assert_eq!(events.iter().map(|e| e.seq).collect::<Vec<_>>(), vec![1, 2, 3, 4]);
    let RunEvent::Report(answer) = &events[1].event else { panic!("{:?}", events[1]) };
    assert_eq!((&answer.conversation_id, &answer.run_id), (&new.id, &runs[1].id));
    assert_eq!(events[3].event, RunEvent::RunCancelled { partial: None });
    // Proofs travel (SPEC V8), and so does the work of reading the uploads in.
    let calls = f.store.calls(&runs[1].id).await.unwrap();
    let told: Vec<_> = calls.iter().map(|c| (c.intent.tool_call_id.as_str(), c.result.is_some())).collect();
    assert_eq!(told, [("call_1", true), ("call_2", false)]);
    let evidence = f.store.evidence(&[runs[1].id.clone()], 1000).await.unwrap();
    assert_eq!(evidence.iter().map(|e| e.evidence.as_str()).collect::<Vec<_>>(), ["{\"tables\":[]}"]);
    let key = ingest_key(&new.id, &upload.file_id);
    let job =
        f.store.claim_this(JobKind::Ingest, &key, "w", std::time::Duration::from_secs(9)).await.unwrap();
    assert_eq!(job.unwrap().owner, bob());
    let names: Vec<String> = read_tar(&archive).into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"logs/run_1.jsonl".to_owned()), "{names:?}");
    assert!(names.contains(&"logs/run_2.jsonl".to_owned()), "{names:?}");
    // The new conversation goes on where the old one was.
    assert_eq!(f.store.admit(new_run(&new, "next")).await.unwrap().seq, 5);
    let mut writer = f.store.begin_upload(&new.id, "b.csv", None).await.unwrap();
    writer.write(b"b").await.unwrap();
    assert_eq!(writer.finish().await.unwrap().file_id.as_str(), "upload_003");
}

async fn filled_archive(f: &Fresh) -> PathBuf {
    let c = f.store.create(&alice(), "销售").await.unwrap();
    let mut first = f.store.begin_upload(&c.id, "gone.csv", None).await.unwrap();
    first.write(b"gone").await.unwrap();
    let first = first.finish().await.unwrap();
    f.store.delete_upload(&c.id, &first.file_id).await.unwrap();
    let mut upload = f.store.begin_upload(&c.id, "数据.csv", None).await.unwrap();
    upload.write(b"a,b\n").await.unwrap();
    let id = upload.finish().await.unwrap().file_id;
    f.store.set_profile(&c.id, &id, IngestStatus::Ready, None, None).await.unwrap();
    let chosen = IngestOptions { header_row: Some(2), ..IngestOptions::default() };
    f.store.ingest_again(&c.id, &id, &chosen).await.unwrap();
    for code in ["one", "two"] {
        let new = NewCode {
            code_id: "code_x".into(),
            code: code.into(),
            language: "python".into(),
            description: "d".into(),
        };
        f.store.save_code(&c.id, new).await.unwrap();
    }
    f.store.put_artifact_bytes(&c.id, "图.png", b"png").await.unwrap();
    let run = new_run(&c, "why?");
    f.store.admit(run.clone()).await.unwrap();
    f.store.record_intents(&run.run_id, vec![intent(1, "call_1"), intent(1, "call_2")]).await.unwrap();
    let told = ToolOutcome { evidence: Some("{\"tables\":[]}".into()), ..outcome(1, "call_1", "42") };
    f.store.record_results(&run.run_id, vec![told]).await.unwrap();
    f.store.commit_step(&run.run_id, last_step(&c.id, &run.run_id, "why?", "because")).await.unwrap();
    f.store.admit(new_run(&c, "open")).await.unwrap();
    let logs = ["run_1.jsonl", "run_2.jsonl"].map(|name| f.dir.path().join(name));
    for log in &logs {
        std::fs::write(log, "{\"event\":\"round_start\"}\n").unwrap();
    }
    assert!(f.store.export(&bob(), &c.id, &[]).await.unwrap_err().is_not_found());
    f.store.export(&alice(), &c.id, &logs).await.unwrap()
}

type Entries = Vec<(String, Vec<u8>)>;

fn read_tar(path: &std::path::Path) -> Entries {
    let mut tar = tar::Archive::new(std::fs::File::open(path).unwrap());
    let read = |entry: std::io::Result<tar::Entry<'_, std::fs::File>>| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
        (String::from_utf8(entry.path_bytes().into_owned()).unwrap(), bytes)
    };
    tar.entries().unwrap().map(read).collect()
}

fn write_tar(path: &std::path::Path, entries: &Entries) {
    let mut tar = tar::Builder::new(std::fs::File::create(path).unwrap());
    for (name, bytes) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o777);
        // Set by hand: the writer itself would refuse `..`.
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        tar.append(&header, bytes.as_slice()).unwrap();
    }
    tar.finish().unwrap();
}

fn edit_manifest(entries: &Entries, edit: impl FnOnce(&mut Value)) -> Entries {
    let mut entries = entries.clone();
    let mut manifest: Value = serde_json::from_slice(&entries[0].1).unwrap();
    edit(&mut manifest);
    entries[0].1 = serde_json::to_vec(&manifest).unwrap();
    entries
}

async fn hostile_archives_are_refused_whole(f: Fresh) {
    let good = read_tar(&filled_archive(&f).await);
    assert!(good.iter().any(|(name, _)| name == "logs/run_1.jsonl"));
    let blobs = f.blob_files().len();
    let path = f.dir.path().join("hostile.tar");
    let swapped = {
        let mut entries = good.clone();
        entries.iter_mut().find(|e| e.0.starts_with("uploads/")).unwrap().1 = b"EVIL".to_vec();
        entries
    };
    let cases: Vec<(&str, Entries)> = vec![
        ("another file first", vec![good[1].clone()]),
        ("nothing at all", vec![]),
        ("bytes swapped", swapped),
        ("newer version", edit_manifest(&good, |m| m["version"] = json!(99))),
        ("another format", edit_manifest(&good, |m| m["format"] = json!("x"))),
        (
            "an id that is a path",
            edit_manifest(&good, |m| m["codes"][0]["about"]["code_id"] = json!("code_../x")),
        ),
        (
            "a file not there",
            edit_manifest(&good, |m| m["artifacts"][0]["entry"] = json!("../../etc/passwd")),
        ),
        (
            "one run twice",
            edit_manifest(&good, |m| {
                let run = m["runs"][0].clone();
                m["runs"].as_array_mut().unwrap().push(run);
            }),
        ),
        (
            "one upload twice",
            edit_manifest(&good, |m| {
                m["uploads"][0]["about"]["filename"] = json!("x.csv");
                let again = m["artifacts"][0].clone();
                m["artifacts"].as_array_mut().unwrap().push(again);
            }),
        ),
        ("events of an unknown run", edit_manifest(&good, |m| m["runs"] = json!([]))),
        ("too much", [good.clone(), vec![("x".to_owned(), vec![0; 1_000_001])]].concat()),
    ];
    for (what, entries) in cases {
        write_tar(&path, &entries);
        let refused = f.store.import(&bob(), &path).await.unwrap_err();
        assert!(
            matches!(refused, StoreError::Invalid(_) | StoreError::TooLarge { .. } | StoreError::Conflict(_)),
            "{what}: {refused}"
        );
        assert_eq!(f.store.conversations(&bob(), None, 10, 0).await.unwrap(), vec![], "{what}");
        assert_eq!(f.blob_files().len(), blobs, "{what}: bytes were left behind");
    }
    std::fs::write(&path, b"not a tar at all, but long enough to look".repeat(40)).unwrap();
    assert!(matches!(f.store.import(&bob(), &path).await, Err(StoreError::Invalid(_))));
    // Extra entries with hostile names are ignored, not written.
    let extra = [good.clone(), vec![("../../escaped".to_owned(), b"x".to_vec())]].concat();
    write_tar(&path, &extra);
    f.store.import(&bob(), &path).await.unwrap();
    assert!(!f.dir.path().parent().unwrap().join("escaped").exists());
    let link = f.dir.path().join("link.tar");
    let mut tar = tar::Builder::new(std::fs::File::create(&link).unwrap());
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    tar.append_link(&mut header, "manifest.json", "/etc/passwd").unwrap();
    tar.finish().unwrap();
    assert!(matches!(f.store.import(&bob(), &link).await, Err(StoreError::Invalid(_))));
}

/// Names of 400 MB are refused without being held; so is ten times the budget of the manifest.
#[test]
fn headers_of_a_tar_have_a_byte_budget() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let edge = Edge { name: "import: heads and manifest", budget_mb: 32, sent_mb: 1120, most_mb: 120 };
    let open = || runtime.block_on(Fresh::open(None, Limits::default()));
    budget("archive::headers_of_a_tar_have_a_byte_budget", &edge, open, |f| {
        for (kind, size) in [
            (tar::EntryType::GNULongName, 400 << 20),
            (tar::EntryType::XHeader, 400 << 20),
            (tar::EntryType::Regular, 320 << 20),
        ] {
            let archive = f.dir.path().join("hostile.tar");
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(size);
            header.as_gnu_mut().unwrap().name[..13].copy_from_slice(b"manifest.json");
            header.set_cksum();
            let mut file = std::fs::File::create(&archive).unwrap();
            std::io::Write::write_all(&mut file, header.as_bytes()).unwrap();
            file.set_len(512 + size + 1024).unwrap();
            let refused = runtime.block_on(f.store.import(&alice(), &archive)).unwrap_err();
            assert!(matches!(refused, StoreError::TooLarge { .. }), "{kind:?}: {refused}");
        }
    });
}

/// Thousands of files do not hold a handle each.
#[tokio::test]
async fn an_import_opens_one_file_at_a_time() {
    let f = Fresh::open(None, Limits::default()).await;
    let c = f.conversation().await;
    for n in 0..1500 {
        f.store.put_artifact_bytes(&c.id, &format!("{n}.txt"), format!("{n}").as_bytes()).await.unwrap();
    }
    let archive = f.store.export(&alice(), &c.id, &[]).await.unwrap();
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let (before, store) = (open(), f.store.clone());
    let import = tokio::spawn(async move { store.import(&bob(), &archive).await.unwrap() });
    let mut most = 0;
    while !import.is_finished() {
        most = most.max(open());
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    assert_eq!(import.await.unwrap().artifacts, 1500);
    assert!(most < before + 500, "{before} before, {most} at most");
}
