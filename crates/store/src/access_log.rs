//! What was done with things that leave the product, counted: one line per day, action, thing and person. A flood of views
//! adds to a number, never to the disk.

use std::time::Duration;

use ba_protocol::UserId;
use jiff::Timestamp;

use crate::cleanup::ago;
use crate::conversations::now;
use crate::db::{Row, Session, params};
use crate::error::Result;
use crate::store::Store;

/// Lines without news for so long are removed.
const KEPT: Duration = Duration::from_secs(400 * 24 * 3600);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    ShareCreated,
    ShareViewed,
    ShareRevoked,
}

impl Access {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ShareCreated => "share.created",
            Self::ShareViewed => "share.viewed",
            Self::ShareRevoked => "share.revoked",
        }
    }
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessEntry {
    /// `2026-01-31`, in UTC.
    pub day: String,
    pub action: String,
    /// The id of the thing, e.g. of a share link.
    pub subject: String,
    /// Who did it; nobody known where anybody may.
    pub actor: Option<UserId>,
    pub times: u64,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
}

impl Store {
    /// Newest first.
    pub async fn access_log(&self, limit: u32) -> Result<Vec<AccessEntry>> {
        let rows = self
            .db()
            .read(
                "SELECT day, action, subject, actor, times, first_at, last_at FROM access_log
                 ORDER BY last_at DESC, action, subject LIMIT $1",
                params![i64::from(limit)],
            )
            .await?;
        rows.iter().map(from_row).collect()
    }
}

/// Counts in the transaction of what it counts.
pub(crate) async fn count(
    s: &mut dyn Session,
    action: Access,
    subject: &str,
    actor: Option<&UserId>,
) -> Result<()> {
    let at = now();
    s.execute(
        "INSERT INTO access_log (day, action, subject, actor, times, first_at, last_at)
         VALUES ($1, $2, $3, $4, 1, $5, $5)
         ON CONFLICT (day, action, subject, actor)
         DO UPDATE SET times = access_log.times + 1, last_at = excluded.last_at",
        params![
            at.strftime("%Y-%m-%d").to_string(),
            action.as_str(),
            subject,
            actor.map_or("", UserId::as_str),
            at
        ],
    )
    .await?;
    Ok(())
}

pub(crate) async fn forget_old(s: &mut dyn Session) -> Result<()> {
    s.execute("DELETE FROM access_log WHERE last_at < $1", params![ago(KEPT)]).await.map(|_| ())
}

fn from_row(row: &Row) -> Result<AccessEntry> {
    let actor = if row.text(3)?.is_empty() { None } else { Some(row.id(3)?) };
    Ok(AccessEntry {
        day: row.string(0)?,
        action: row.string(1)?,
        subject: row.string(2)?,
        actor,
        times: row.unsigned(4)?,
        first_at: row.time(5)?,
        last_at: row.time(6)?,
    })
}
