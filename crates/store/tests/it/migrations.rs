//! Old databases come forward with their data; newer ones are refused.

use ba_protocol::{ConversationId, RunId};
use ba_store::{Meta, NewCode, RunStatus, Store, StoreConfig, StoreError, UserRole, prepare_old_database};
use sqlx::{AssertSqlSafe, Connection};

use crate::harness::{alice, new_run};

/// Runs one statement as an old program would have.
async fn raw(meta: &Meta, sql: String) {
    match meta {
        Meta::Sqlite { path } => rusqlite::Connection::open(path).unwrap().execute_batch(&sql).unwrap(),
        Meta::Postgres { url } => {
            let mut c = sqlx::PgConnection::connect(url).await.unwrap();
            sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut c).await.unwrap();
        }
    }
}

/// The version that made one log of two.
const ONE_LOG: usize = 11;

/// Data as version `version` wrote it.
async fn fill(meta: &Meta, version: usize, c: &ConversationId, run: &RunId) {
    let mut statements = vec![
        format!(
            "INSERT INTO conversations (id, owner, title, created_at, updated_at, next_seq)
             VALUES ('{c}', 'alice', 'old', 1, 1, 2)"
        ),
        format!(
            "INSERT INTO runs (id, conversation_id, message, state, status, usage_info, created_at, updated_at)
             VALUES ('{run}', '{c}', 'm', '{{\"s\":1}}', 'running', '{{\"input_tokens\":1,\"output_tokens\":2}}', 1, 1)"
        ),
        format!(
            "INSERT INTO events (conversation_id, seq, run_id, at, event)
             VALUES ('{c}', 1, '{run}', 1, '{{\"event\":\"run.cancelled\",\"data\":{{}}}}')"
        ),
        format!(
            "INSERT INTO calls (run_id, step, tool_call_id, position, tool_name, arguments, idempotent, started_at)
             VALUES ('{run}', 1, 'call_1', 0, 't', '{{}}', 0, 1)"
        ),
    ];
    if version >= 2 {
        let blob = "0".repeat(32);
        statements.push(format!(
            "INSERT INTO blobs (id, sha256, size, refs, created_at) VALUES ('{blob}', 'x', 1, 1, 1)"
        ));
        statements.push(format!(
            "INSERT INTO codes (conversation_id, code_id, version, language, description, file_path, line_count,
                                char_count, size, blob_id, created_at)
             VALUES ('{c}', 'code_old', 1, 'python', 'd', 'data/code_old.py', 1, 1, 1, '{blob}', 1)"
        ));
    }
    if version >= 3 {
        statements.push(
            "INSERT INTO users (id, name, folded_name, password_hash, role, created_at)
             VALUES ('user_1', 'Old', 'old', 'h', 'admin', 1)"
                .to_owned(),
        );
    }
    if (9..ONE_LOG).contains(&version) {
        statements.push(
            "INSERT INTO access_log (day, action, subject, actor, times, first_at, last_at)
             VALUES ('2026-01-31', 'share.viewed', 'share_1', '', 3, 1000000, 2000000),
                    ('2026-01-31', 'share.created', 'share_1', 'user_1', 1, 500000, 500000)"
                .to_owned(),
        );
    }
    if (10..ONE_LOG).contains(&version) {
        statements.push(
            "INSERT INTO audit_log (id, at, actor, action, subject) VALUES ('audit_1', 700000, 'Old', 'user.add', 'bob')"
                .to_owned(),
        );
    }
    for statement in statements {
        raw(meta, statement).await;
    }
}

async fn comes_forward(meta: Meta, root: &std::path::Path, version: usize) {
    let (c, run) = (ConversationId::random(), RunId::random());
    fill(&meta, version, &c, &run).await;
    let mut config = StoreConfig::local(root);
    config.meta = meta;
    let store = Store::open(config).await.unwrap();
    let old = store.conversation(&alice(), &c).await.unwrap();
    let open = store.open_runs().await.unwrap();
    assert_eq!((open.len(), &open[0].id, open[0].status), (1, &run, RunStatus::Running), "from {version}");
    assert_eq!(store.calls(&run).await.unwrap()[0].intent.tool_call_id, "call_1");
    assert_eq!(store.codes(&c).await.unwrap().len(), usize::from(version >= 2));
    assert_eq!(store.users().await.unwrap().len(), usize::from(version >= 3));
    let log = store.audit_log(10).await.unwrap();
    let log: Vec<_> = log.iter().map(|e| (e.action.as_str(), e.actor.as_str(), e.times)).collect();
    let expected: &[_] = match version {
        9 => &[("share.viewed", "", 3), ("share.created", "Old", 1)],
        10.. if version < ONE_LOG => {
            &[("share.viewed", "", 3), ("user.add", "Old", 1), ("share.created", "Old", 1)]
        }
        _ => &[],
    };
    assert_eq!(log, expected, "from {version}");
    // And everything newer works on the old conversation.
    assert_eq!(store.admit(new_run(&old, "new")).await.unwrap().seq, 2);
    let code =
        NewCode { code_id: "n".into(), code: "1".into(), language: "r".into(), description: "".into() };
    store.save_code(&c, code).await.unwrap();
    let mut upload = store.begin_upload(&c, "a.csv", None).await.unwrap();
    upload.write(b"x").await.unwrap();
    assert_eq!(upload.finish().await.unwrap().file_id.as_str(), "upload_001");
    store.create_user("new", "h", UserRole::User).await.unwrap();
    assert_eq!(store.integrity().await.unwrap(), Vec::<String>::new());
}

async fn newest_version() -> usize {
    let dir = tempfile::tempdir().unwrap();
    prepare_old_database(&Meta::Sqlite { path: dir.path().join("x.sqlite3") }, 1).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_earlier_sqlite_version_comes_forward() {
    for version in 1..=newest_version().await {
        let dir = tempfile::tempdir().unwrap();
        let meta = Meta::Sqlite { path: dir.path().join("ba-agent.sqlite3") };
        prepare_old_database(&meta, version).await.unwrap();
        comes_forward(meta, dir.path(), version).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_earlier_postgres_version_comes_forward() {
    for version in 1..=newest_version().await {
        let dir = tempfile::tempdir().unwrap();
        let meta = crate::postgres::fresh_database().await;
        prepare_old_database(&meta, version).await.unwrap();
        comes_forward(meta, dir.path(), version).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_database_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = Meta::Sqlite { path: dir.path().join("ba-agent.sqlite3") };
    for meta in [sqlite, crate::postgres::fresh_database().await] {
        let newest = prepare_old_database(&meta, usize::MAX).await.unwrap();
        raw(&meta, "INSERT INTO schema_versions (version, applied_at) VALUES (99, 1)".to_owned()).await;
        let mut config = StoreConfig::local(dir.path());
        config.meta = meta;
        let Err(error) = Store::open(config).await else { panic!("opened a newer database") };
        assert!(matches!(error, StoreError::NewerSchema { found: 99, known } if known == newest as i64));
        assert!(error.to_string().contains("use a newer program"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_that_start_together_migrate_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = StoreConfig::local(dir.path());
    config.meta = crate::postgres::fresh_database().await;
    let opened = futures::future::join_all((0..4).map(|_| Store::open(config.clone()))).await;
    for store in opened {
        store.unwrap().check_database().await.unwrap();
    }
}
