//! The schema, in numbered steps that only go forward. Refuses a database that a newer program has written.

use jiff::Timestamp;

use super::{Db, params};
use crate::error::{Result, StoreError};

/// Step `n` (from 1) brings version `n - 1` to `n`. A step that has been released never changes.
pub(crate) const STEPS: &[&[&str]] = &[V1, V2, V3, V4, V5, V6, V7, V8, V9, V10, V11, V12];

/// Conversations and durable runs.
const V1: &[&str] = &[
    "CREATE TABLE conversations (
        id TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        title TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        deleted_at BIGINT,
        next_seq BIGINT NOT NULL)",
    "CREATE INDEX conversations_by_owner ON conversations (owner, updated_at)",
    "CREATE TABLE runs (
        id TEXT PRIMARY KEY,
        conversation_id TEXT NOT NULL REFERENCES conversations (id),
        message TEXT NOT NULL,
        state TEXT NOT NULL,
        status TEXT NOT NULL,
        usage_info TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE INDEX runs_by_conversation ON runs (conversation_id, created_at)",
    "CREATE INDEX runs_open ON runs (created_at) WHERE status = 'running'",
    "CREATE TABLE events (
        conversation_id TEXT NOT NULL REFERENCES conversations (id),
        seq BIGINT NOT NULL,
        run_id TEXT NOT NULL REFERENCES runs (id),
        at BIGINT NOT NULL,
        event TEXT NOT NULL,
        PRIMARY KEY (conversation_id, seq))",
    "CREATE INDEX events_by_run ON events (run_id, seq)",
    "CREATE TABLE rounds (
        run_id TEXT PRIMARY KEY REFERENCES runs (id),
        conversation_id TEXT NOT NULL REFERENCES conversations (id),
        position BIGINT NOT NULL,
        round TEXT NOT NULL)",
    "CREATE INDEX rounds_by_conversation ON rounds (conversation_id, position)",
    "CREATE TABLE calls (
        run_id TEXT NOT NULL REFERENCES runs (id),
        step BIGINT NOT NULL,
        tool_call_id TEXT NOT NULL,
        position BIGINT NOT NULL,
        tool_name TEXT NOT NULL,
        arguments TEXT NOT NULL,
        idempotent BIGINT NOT NULL,
        started_at BIGINT NOT NULL,
        result TEXT,
        telemetry TEXT,
        finished_at BIGINT,
        PRIMARY KEY (run_id, step, tool_call_id))",
    "CREATE INDEX calls_by_time ON calls (finished_at)",
];

/// Files: code, uploads and what is made from them, artifacts, tool data. Bytes are counted by reference.
const V2: &[&str] = &[
    "ALTER TABLE conversations ADD COLUMN next_upload BIGINT NOT NULL DEFAULT 1",
    "CREATE TABLE blobs (
        id TEXT PRIMARY KEY,
        sha256 TEXT NOT NULL UNIQUE,
        size BIGINT NOT NULL,
        refs BIGINT NOT NULL,
        created_at BIGINT NOT NULL)",
    "CREATE TABLE codes (
        conversation_id TEXT NOT NULL REFERENCES conversations (id),
        code_id TEXT NOT NULL,
        version BIGINT NOT NULL,
        language TEXT NOT NULL,
        description TEXT NOT NULL,
        file_path TEXT NOT NULL,
        line_count BIGINT NOT NULL,
        char_count BIGINT NOT NULL,
        size BIGINT NOT NULL,
        blob_id TEXT NOT NULL REFERENCES blobs (id),
        created_at BIGINT NOT NULL,
        PRIMARY KEY (conversation_id, code_id, version))",
    "CREATE TABLE uploads (
        conversation_id TEXT NOT NULL REFERENCES conversations (id),
        file_id TEXT NOT NULL,
        position BIGINT NOT NULL,
        filename TEXT NOT NULL,
        file_type TEXT NOT NULL,
        size BIGINT NOT NULL,
        sha256 TEXT NOT NULL,
        blob_id TEXT NOT NULL REFERENCES blobs (id),
        created_at BIGINT NOT NULL,
        description TEXT NOT NULL,
        status TEXT NOT NULL,
        error TEXT,
        profile TEXT,
        PRIMARY KEY (conversation_id, file_id),
        UNIQUE (conversation_id, filename))",
    "CREATE INDEX uploads_unfinished ON uploads (created_at) WHERE status = 'processing'",
    "CREATE TABLE derived (
        conversation_id TEXT NOT NULL,
        file_id TEXT NOT NULL,
        name TEXT NOT NULL,
        size BIGINT NOT NULL,
        blob_id TEXT NOT NULL REFERENCES blobs (id),
        created_at BIGINT NOT NULL,
        PRIMARY KEY (conversation_id, file_id, name),
        FOREIGN KEY (conversation_id, file_id) REFERENCES uploads (conversation_id, file_id))",
    "CREATE TABLE artifacts (
        conversation_id TEXT NOT NULL REFERENCES conversations (id),
        name TEXT NOT NULL,
        file_type TEXT NOT NULL,
        size BIGINT NOT NULL,
        blob_id TEXT NOT NULL REFERENCES blobs (id),
        created_at BIGINT NOT NULL,
        PRIMARY KEY (conversation_id, name))",
    "CREATE TABLE tool_data (
        reference TEXT PRIMARY KEY,
        conversation_id TEXT NOT NULL REFERENCES conversations (id),
        tool_call_id TEXT NOT NULL,
        size BIGINT NOT NULL,
        summary TEXT NOT NULL,
        blob_id TEXT NOT NULL REFERENCES blobs (id),
        created_at BIGINT NOT NULL,
        last_used_at BIGINT NOT NULL)",
    "CREATE INDEX tool_data_by_use ON tool_data (last_used_at)",
    "CREATE INDEX tool_data_by_conversation ON tool_data (conversation_id)",
];

/// Users, keys, sessions and the cache.
const V3: &[&str] = &[
    "CREATE TABLE users (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        folded_name TEXT NOT NULL UNIQUE,
        password_hash TEXT NOT NULL,
        role TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        disabled_at BIGINT)",
    "CREATE TABLE api_keys (
        id TEXT PRIMARY KEY,
        user_id TEXT NOT NULL REFERENCES users (id),
        hash TEXT NOT NULL UNIQUE,
        label TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        last_used_at BIGINT,
        revoked_at BIGINT)",
    "CREATE TABLE sessions (
        hash TEXT PRIMARY KEY,
        user_id TEXT NOT NULL REFERENCES users (id),
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL)",
    "CREATE TABLE cache (
        namespace TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        size BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        last_used_at BIGINT NOT NULL,
        PRIMARY KEY (namespace, key))",
    "CREATE INDEX cache_by_use ON cache (namespace, last_used_at)",
];

/// How a person chose an upload to be read.
const V4: &[&str] = &["ALTER TABLE uploads ADD COLUMN ingest_options TEXT"];

/// What a call brought as evidence for the figures of an answer.
const V5: &[&str] = &["ALTER TABLE calls ADD COLUMN evidence TEXT"];

/// Who drives a run, and under which epoch.
const V6: &[&str] = &[
    "ALTER TABLE runs ADD COLUMN holder TEXT",
    "ALTER TABLE runs ADD COLUMN epoch BIGINT NOT NULL DEFAULT 1",
    "ALTER TABLE runs ADD COLUMN lease_until BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN cancel_asked BIGINT NOT NULL DEFAULT 0",
];

/// Background work as rows with leases, what was under way included; and stored rounds that name their form.
const V7: &[&str] = &[
    "CREATE TABLE jobs (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        owner TEXT NOT NULL,
        conversation_id TEXT,
        run_at BIGINT NOT NULL,
        attempts BIGINT NOT NULL,
        lease_owner TEXT,
        lease_until BIGINT,
        epoch BIGINT NOT NULL,
        last_error TEXT,
        PRIMARY KEY (kind, key))",
    "CREATE INDEX jobs_due ON jobs (run_at)",
    "CREATE INDEX jobs_by_owner ON jobs (owner, lease_until)",
    "INSERT INTO jobs (kind, key, owner, conversation_id, run_at, attempts, epoch)
     SELECT 'ingest', u.conversation_id || '/' || u.file_id, c.owner, c.id, u.created_at, 0, 0
     FROM uploads u JOIN conversations c ON c.id = u.conversation_id
     WHERE u.status = 'processing' AND c.deleted_at IS NULL",
    "INSERT INTO jobs (kind, key, owner, conversation_id, run_at, attempts, epoch)
     SELECT 'purge', id, owner, id, deleted_at, 0, 0 FROM conversations WHERE deleted_at IS NOT NULL",
    "ALTER TABLE rounds ADD COLUMN schema_version BIGINT NOT NULL DEFAULT 1",
];

/// What people allowed in a conversation; it was kept in the cache, which forgets. Those that are there are asked for again.
const V8: &[&str] = &[
    "CREATE TABLE consents (
        conversation_id TEXT NOT NULL,
        what TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        PRIMARY KEY (conversation_id, what))",
    "DELETE FROM cache WHERE namespace = 'web_consent'",
];

/// Answers under an address of their own, and how often what was done with them.
const V9: &[&str] = &[
    "CREATE TABLE shares (
        id TEXT PRIMARY KEY,
        hash TEXT NOT NULL UNIQUE,
        owner TEXT NOT NULL,
        conversation_id TEXT NOT NULL REFERENCES conversations (id),
        run_id TEXT NOT NULL REFERENCES runs (id),
        title TEXT NOT NULL,
        policy TEXT NOT NULL,
        blob_id TEXT NOT NULL,
        size BIGINT NOT NULL,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        views BIGINT NOT NULL DEFAULT 0,
        viewed_at BIGINT)",
    "CREATE INDEX shares_by_owner ON shares (owner, created_at)",
    "CREATE INDEX shares_by_conversation ON shares (conversation_id)",
    "CREATE TABLE access_log (
        day TEXT NOT NULL,
        action TEXT NOT NULL,
        subject TEXT NOT NULL,
        actor TEXT NOT NULL,
        times BIGINT NOT NULL,
        first_at BIGINT NOT NULL,
        last_at BIGINT NOT NULL,
        PRIMARY KEY (day, action, subject, actor))",
    "CREATE INDEX access_log_by_time ON access_log (last_at)",
];

/// Versions of a turn, the model a run was asked of, what people thought of answers, what they keep in sight, and
/// what administrators did.
const V10: &[&str] = &[
    "ALTER TABLE runs ADD COLUMN turn_id TEXT",
    "ALTER TABLE runs ADD COLUMN base BIGINT",
    "ALTER TABLE runs ADD COLUMN superseded BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN model TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX runs_by_turn ON runs (turn_id) WHERE turn_id IS NOT NULL",
    "CREATE TABLE feedback (
        run_id TEXT PRIMARY KEY REFERENCES runs (id),
        rating TEXT NOT NULL,
        reason TEXT NOT NULL,
        at BIGINT NOT NULL)",
    "ALTER TABLE conversations ADD COLUMN pinned_at BIGINT",
    "ALTER TABLE conversations ADD COLUMN tags TEXT NOT NULL DEFAULT '[]'",
    "CREATE TABLE board (
        id TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        conversation_id TEXT NOT NULL REFERENCES conversations (id),
        run_id TEXT NOT NULL REFERENCES runs (id),
        kind TEXT NOT NULL,
        item BIGINT NOT NULL,
        title TEXT NOT NULL,
        created_at BIGINT NOT NULL)",
    "CREATE INDEX board_by_owner ON board (owner, created_at)",
    "CREATE TABLE audit_log (
        id TEXT PRIMARY KEY,
        at BIGINT NOT NULL,
        actor TEXT NOT NULL,
        action TEXT NOT NULL,
        subject TEXT NOT NULL)",
    "CREATE INDEX audit_log_by_time ON audit_log (at)",
];

/// One log of who did what instead of two.
const V11: &[&str] = &[
    "ALTER TABLE audit_log ADD COLUMN first_at BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE audit_log ADD COLUMN times BIGINT NOT NULL DEFAULT 1",
    "UPDATE audit_log SET first_at = at",
    "INSERT INTO audit_log (id, at, first_at, times, actor, action, subject)
     SELECT action || ' ' || day || ' ' || subject || ' ' || actor, last_at, first_at, times,
            COALESCE((SELECT name FROM users WHERE users.id = access_log.actor), actor), action, subject
     FROM access_log",
    "DROP TABLE access_log",
];

/// Several servers: commits of a run are counted, its conversation's turns have an order that no clock decides, and it is
/// known on which server Python's variables are.
const V12: &[&str] = &[
    "ALTER TABLE runs ADD COLUMN commits BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN admitted BIGINT NOT NULL DEFAULT 0",
    "CREATE TABLE python_states (
        conversation_id TEXT PRIMARY KEY REFERENCES conversations (id),
        epoch BIGINT NOT NULL,
        since BIGINT NOT NULL,
        variables TEXT NOT NULL)",
];

/// Replicas that start together take turns.
const MIGRATION_LOCK: i64 = 0x62a_a6e7;

/// Brings the database to the newest version this program knows.
pub(crate) async fn migrate(db: &Db) -> Result<()> {
    let engine = db.engine();
    while !engine.try_advisory_lock(MIGRATION_LOCK).await? {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let done = migrate_to(db, STEPS.len()).await;
    engine.advisory_unlock(MIGRATION_LOCK).await;
    done
}

/// All missing steps in one transaction: a crash leaves the old version whole.
pub(crate) async fn migrate_to(db: &Db, target: usize) -> Result<()> {
    let known = STEPS.len() as i64;
    db.write(move |s| {
        Box::pin(async move {
            s.execute(
                "CREATE TABLE IF NOT EXISTS schema_versions (version BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL)",
                vec![],
            )
            .await?;
            let row = s.one("SELECT COALESCE(MAX(version), 0) FROM schema_versions", vec![]).await?;
            let found = row.map_or(Ok(0), |r| r.int(0))?;
            if found > known {
                return Err(StoreError::NewerSchema { found, known });
            }
            let done = usize::try_from(found).unwrap_or(0);
            for (index, step) in STEPS.iter().enumerate().take(target).skip(done) {
                for statement in *step {
                    s.execute(statement, vec![]).await?;
                }
                let version = index as i64 + 1;
                s.execute(
                    "INSERT INTO schema_versions (version, applied_at) VALUES ($1, $2)",
                    params![version, Timestamp::now()],
                )
                .await?;
                tracing::info!(version, "database schema brought forward");
            }
            Ok(())
        })
    })
    .await
}
