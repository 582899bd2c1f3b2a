//! What several servers on one database need of the store: words between them, where Python's variables stand, and
//! whether storage is sound.

use std::time::Duration;

use ba_protocol::RunId;
use ba_store::{Blobs, Limits, S3Config, Store, ToolOutcome, Wake};
use serde_json::json;

use crate::harness::{Fresh, new_run, on_every_backend, outcome};

fn limits() -> Limits {
    Limits::default()
}

on_every_backend!(pythons_journal_names_what_succeeded, a_sound_store_says_so);

// SPEC N2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_on_one_database_hear_each_other_and_not_themselves() {
    let f = Fresh::open(Some(crate::postgres::fresh_database().await), limits()).await;
    let other = f.another().await;
    let (mut here, mut there) = (f.store.woken(), other.woken());
    let run = RunId::random();
    let said =
        Wake::Passing {
            run: run.clone(), name: "text.delta".into(), data: json!({"text": "销售额\n\"1\""})
        };
    // A line that is only now being opened may miss the first words.
    let heard = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            f.store.wake(said.clone());
            let next = tokio::time::timeout(Duration::from_millis(200), there.recv()).await;
            if let Ok(Ok(wake)) = next
                && wake != Wake::Missed
            {
                return wake;
            }
        }
    });
    assert_eq!(heard.await.unwrap(), said);
    let too_long = Wake::Passing { run: run.clone(), name: "x".into(), data: json!("x".repeat(9_000)) };
    f.store.wake(too_long);
    f.store.wake(Wake::Cancel { run: run.clone() });
    let next = async {
        loop {
            match there.recv().await.unwrap() {
                Wake::Cancel { run } => return run,
                Wake::Passing { name, .. } => assert_eq!(name, "text.delta", "what does not fit is not sent"),
                _ => {}
            }
        }
    };
    assert_eq!(tokio::time::timeout(Duration::from_secs(20), next).await.unwrap(), run);
    while let Ok(wake) = here.try_recv() {
        assert_eq!(wake, Wake::Missed, "one's own words do not come back");
    }
}

/// What a call leaves as its result.
fn result(step: u32, id: &str, success: bool) -> ToolOutcome {
    let mut made = outcome(step, id, "x");
    made.result.success = success;
    made
}

// SPEC N4
async fn pythons_journal_names_what_succeeded(f: Fresh) {
    let c = f.conversation().await;
    let state = f.store.python_state(&c.id).await.unwrap();
    assert_eq!((state.epoch, state.variables.len()), (0, 0));
    let new = new_run(&c, "q");
    f.store.admit(new.clone()).await.unwrap();
    for (step, success) in [(1, true), (2, false), (3, true)] {
        let mut intent = crate::harness::intent(step, "call");
        intent.arguments = json!({"code": format!("x{step} = 1")}).as_object().unwrap().clone();
        f.store.record_intents(&new.run_id, vec![intent]).await.unwrap();
        f.store.record_results(&new.run_id, vec![result(step, "call", success)]).await.unwrap();
    }
    assert_eq!(f.store.python_ran(&c.id, &["x1".into()]).await.unwrap(), 1);
    assert_eq!(f.store.python_ran(&c.id, &["x1".into(), "x3".into()]).await.unwrap(), 2);
    let state = f.store.python_state(&c.id).await.unwrap();
    assert_eq!((state.epoch, state.variables.join(" ")), (2, "x1 x3".to_owned()));
    let journal = f.store.python_journal(&c.id, &state).await.unwrap();
    assert_eq!(journal.iter().map(|c| c.code.as_str()).collect::<Vec<_>>(), ["x1 = 1", "x3 = 1"]);
    f.store.python_lost(&c.id).await.unwrap();
    let state = f.store.python_state(&c.id).await.unwrap();
    assert!(
        f.store.python_journal(&c.id, &state).await.unwrap().is_empty(),
        "what is gone is not made again"
    );
    assert!(state.variables.is_empty());
}

async fn a_sound_store_says_so(f: Fresh) {
    f.store.check_database().await.unwrap();
    f.store.check_blobs().await.unwrap();
    assert!(f.blob_files().is_empty(), "the probe is gone");
}

// SPEC N2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_that_refuses_and_a_damaged_database_are_noticed() {
    let f = Fresh::on_s3(None, limits()).await;
    f.store.check_blobs().await.unwrap();
    let Blobs::S3(good) = f.config.blobs.clone() else { panic!("not on S3") };
    let mut config = f.config.clone();
    // The test's server makes whatever bucket is named; so it is one that refuses the key.
    config.blobs = Blobs::S3(S3Config { secret_key: "wrong".into(), ..good });
    let store = Store::open(config.clone()).await.unwrap();
    let noticed = store.check_blobs().await;
    assert!(noticed.is_err(), "{noticed:?}");
    let ba_store::Meta::Sqlite { path } = &config.meta else { panic!("not SQLite") };
    let raw = rusqlite::Connection::open(path).unwrap();
    raw.execute_batch("PRAGMA foreign_keys = OFF; DROP TABLE events").unwrap();
    assert!(f.store.check_database().await.is_err(), "a table is gone");
}
