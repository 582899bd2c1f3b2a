//! Who did what, to what, when: administrators, accounts, and whoever made or read a share link. Only added to; what had no news for a
//! year goes.

use std::time::Duration;

use ba_protocol::UserId;

use crate::accounts::short_random;
use crate::cleanup::ago;
use crate::conversations::now;
use crate::db::{Row, Session, params};
use crate::error::Result;
use crate::store::Store;
use crate::types::AuditEntry;

const KEPT: Duration = Duration::from_secs(400 * 24 * 3600);

/// What is counted by day instead of written down each time: a flood of views adds to a number, never to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::enum_variant_names, reason = "all that is counted so far happens to shares")]
pub(crate) enum Counted {
    ShareCreated,
    ShareViewed,
    ShareRevoked,
}

impl Counted {
    fn as_str(self) -> &'static str {
        match self {
            Self::ShareCreated => "share.created",
            Self::ShareViewed => "share.viewed",
            Self::ShareRevoked => "share.revoked",
        }
    }
}

impl Store {
    /// Names and ids only; never a secret.
    pub async fn audit(&self, actor: &str, action: &str, subject: &str) -> Result<()> {
        let (actor, action, subject) = (actor.to_owned(), action.to_owned(), subject.to_owned());
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let id = format!("audit_{}", short_random());
                    s.execute(
                        "INSERT INTO audit_log (id, at, first_at, times, actor, action, subject)
                         VALUES ($1, $2, $2, 1, $3, $4, $5)",
                        params![id, now(), actor, action, subject],
                    )
                    .await?;
                    forget_old(s).await
                })
            })
            .await
    }

    /// Latest first.
    pub async fn audit_log(&self, limit: u32) -> Result<Vec<AuditEntry>> {
        let sql =
            "SELECT at, first_at, times, actor, action, subject FROM audit_log ORDER BY at DESC, id LIMIT $1";
        self.db().read(sql, params![limit]).await?.iter().map(from_row).collect()
    }
}

/// Counts in the transaction of what it counts: one line per day, action, subject and person. Nobody known where anybody may.
pub(crate) async fn count(
    s: &mut dyn Session,
    action: Counted,
    subject: &str,
    actor: Option<&UserId>,
) -> Result<()> {
    let (at, action, actor) = (now(), action.as_str(), actor.map_or("", UserId::as_str));
    let id = format!("{action} {} {subject} {actor}", at.strftime("%Y-%m-%d"));
    s.execute(
        "INSERT INTO audit_log (id, at, first_at, times, actor, action, subject)
         VALUES ($1, $2, $2, 1, COALESCE((SELECT name FROM users WHERE id = $3), $3), $4, $5)
         ON CONFLICT (id) DO UPDATE SET times = audit_log.times + 1, at = excluded.at",
        params![id, at, actor, action, subject],
    )
    .await
    .map(|_| ())
}

pub(crate) async fn forget_old(s: &mut dyn Session) -> Result<()> {
    s.execute("DELETE FROM audit_log WHERE at < $1", params![ago(KEPT)]).await.map(|_| ())
}

fn from_row(row: &Row) -> Result<AuditEntry> {
    Ok(AuditEntry {
        at: row.time(0)?,
        first_at: row.time(1)?,
        times: row.unsigned(2)?,
        actor: row.string(3)?,
        action: row.string(4)?,
        subject: row.string(5)?,
    })
}
