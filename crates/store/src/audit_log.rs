//! What administrators and accounts did: who, what, to whom, when. Only added to; the oldest go after a year.

use jiff::{SignedDuration, Timestamp};

use crate::accounts::short_random;
use crate::conversations::now;
use crate::db::{Row, params};
use crate::error::Result;
use crate::store::Store;
use crate::types::AuditEntry;

const KEPT: SignedDuration = SignedDuration::from_hours(24 * 365);

impl Store {
    /// Names and ids only; never a secret.
    pub async fn audit(&self, actor: &str, action: &str, subject: &str) -> Result<()> {
        let (actor, action, subject) = (actor.to_owned(), action.to_owned(), subject.to_owned());
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let at = now();
                    s.execute(
                        "INSERT INTO audit_log (id, at, actor, action, subject) VALUES ($1, $2, $3, $4, $5)",
                        params![format!("audit_{}", short_random()), at, actor, action, subject],
                    )
                    .await?;
                    let old = at.checked_sub(KEPT).unwrap_or(Timestamp::UNIX_EPOCH);
                    s.execute("DELETE FROM audit_log WHERE at < $1", params![old]).await.map(|_| ())
                })
            })
            .await
    }

    /// Latest first.
    pub async fn audit_log(&self, limit: u32) -> Result<Vec<AuditEntry>> {
        let sql = "SELECT at, actor, action, subject FROM audit_log ORDER BY at DESC, id LIMIT $1";
        let entry = |row: &Row| {
            Ok(AuditEntry {
                at: row.time(0)?,
                actor: row.string(1)?,
                action: row.string(2)?,
                subject: row.string(3)?,
            })
        };
        self.db().read(sql, params![limit]).await?.iter().map(entry).collect()
    }
}
