//! Removes stored tool data by age, total size and least-recent use, and purges deleted conversations (SPEC E5).
//! Never removes what a live conversation names.

mod purge;
mod retention;

use std::time::Duration;

use ba_protocol::ConversationId;
use jiff::{SignedDuration, Timestamp};

use crate::blob::{self, BlobId};
use crate::config::{CleanupMode, CleanupPolicy};
use crate::conversations::now;
use crate::db::{Session, params};
use crate::error::Result;
use crate::store::Store;
use crate::types::{CleanupReason, CleanupReport};

struct Entry {
    reference: String,
    conversation: ConversationId,
    size: u64,
    reason: CleanupReason,
}

enum Verdict {
    Named,
    Removed(Option<BlobId>),
}

impl Store {
    pub async fn cleanup(&self, policy: &CleanupPolicy, mode: CleanupMode) -> Result<CleanupReport> {
        let mut report = CleanupReport::default();
        for entry in self.due(policy).await? {
            let (reference, size, reason) = (entry.reference.clone(), entry.size, entry.reason);
            let live_since = ago(policy.live_within);
            let verdict = self.db().write(move |s| Box::pin(judge(s, entry, live_since, mode))).await?;
            match verdict {
                Verdict::Named => report.kept_live.push(reference),
                Verdict::Removed(released) => {
                    self.discard(released).await;
                    report.bytes += size;
                    report.removed.push((reference, size, reason));
                }
            }
        }
        self.purge_deleted(ago(policy.purge_deleted_after), mode, &mut report).await?;
        self.sweep_orphans(mode, &mut report).await?;
        if mode == CleanupMode::Remove {
            self.forget_expired().await?;
            self.remove_expired_shares().await?;
        }
        Ok(report)
    }

    /// What age and total size ask to go, least recently used first.
    async fn due(&self, policy: &CleanupPolicy) -> Result<Vec<Entry>> {
        let rows = self
            .db()
            .read(
                "SELECT reference, conversation_id, size, last_used_at FROM tool_data
                 ORDER BY last_used_at, reference",
                vec![],
            )
            .await?;
        let oldest = ago(policy.max_age);
        let mut total: u64 = 0;
        for row in &rows {
            total += row.unsigned(2)?;
        }
        let mut due = Vec::new();
        for row in &rows {
            let size = row.unsigned(2)?;
            let reason = if row.time(3)? < oldest {
                CleanupReason::Age
            } else if total > policy.max_total_bytes {
                CleanupReason::TotalSize
            } else {
                break;
            };
            total -= size;
            due.push(Entry { reference: row.string(0)?, conversation: row.id(1)?, size, reason });
        }
        Ok(due)
    }

    async fn forget_expired(&self) -> Result<()> {
        self.db()
            .write(|s| {
                Box::pin(async move {
                    s.execute("DELETE FROM cache WHERE expires_at <= $1", params![now()]).await?;
                    s.execute("DELETE FROM sessions WHERE expires_at <= $1", params![now()]).await.map(|_| ())
                })
            })
            .await
    }
}

/// Looks and removes in one transaction, with the conversation's row held: a turn that starts meanwhile waits.
async fn judge(
    s: &mut dyn Session,
    entry: Entry,
    live_since: Timestamp,
    mode: CleanupMode,
) -> Result<Verdict> {
    s.execute("UPDATE conversations SET next_seq = next_seq WHERE id = $1", params![&entry.conversation])
        .await?;
    if is_named(s, &entry, live_since).await? {
        return Ok(Verdict::Named);
    }
    if mode == CleanupMode::DryRun {
        return Ok(Verdict::Removed(None));
    }
    let gone = s
        .one("DELETE FROM tool_data WHERE reference = $1 RETURNING blob_id", params![entry.reference])
        .await?;
    let released = match gone {
        Some(row) => blob::unlink(s, &row.id(0)?).await?,
        None => None,
    };
    Ok(Verdict::Removed(released))
}

/// A live conversation (an open run, or touched lately) that has the reference in its history or in an open run.
async fn is_named(s: &mut dyn Session, entry: &Entry, live_since: Timestamp) -> Result<bool> {
    let pattern = format!("%{}%", entry.reference.replace('_', "!_"));
    let row = s
        .one(
            "SELECT 1 FROM conversations c
             WHERE c.id = $1 AND c.deleted_at IS NULL
               AND (c.updated_at >= $2
                    OR EXISTS (SELECT 1 FROM runs r WHERE r.conversation_id = c.id AND r.status = 'running'))
               AND (EXISTS (SELECT 1 FROM rounds h WHERE h.conversation_id = c.id AND h.round LIKE $3 ESCAPE '!')
                    OR EXISTS (SELECT 1 FROM runs r WHERE r.conversation_id = c.id AND r.status = 'running'
                               AND (r.state LIKE $3 ESCAPE '!'
                                    OR EXISTS (SELECT 1 FROM calls k WHERE k.run_id = r.id
                                               AND k.result LIKE $3 ESCAPE '!'))))",
            params![&entry.conversation, live_since, pattern],
        )
        .await?;
    Ok(row.is_some())
}

pub(crate) fn from_now(duration: Duration) -> Timestamp {
    let duration = SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX);
    now().saturating_add(duration).unwrap_or(Timestamp::MAX)
}

pub(crate) fn ago(duration: Duration) -> Timestamp {
    let duration = SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX);
    now().saturating_sub(duration).unwrap_or(Timestamp::MIN)
}
