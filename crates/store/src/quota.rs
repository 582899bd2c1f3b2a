//! How much one person may keep over all their conversations (SPEC H1): uploads, what was made of them, and files of tools.
//! Only what adds bytes is refused; asking, reading and deleting never are.

use ba_protocol::{ConversationId, UserId};

use crate::db::{Session, params};
use crate::error::{Result, StoreError};
use crate::store::Store;

/// Bytes of one person's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// In conversations that can be seen.
    pub live: u64,
    /// With those that are deleted and not purged yet.
    pub all: u64,
}

const SUM: &str = "
SELECT CAST(COALESCE(SUM(CASE WHEN f.deleted_at IS NULL THEN f.size ELSE 0 END), 0) AS BIGINT),
       CAST(COALESCE(SUM(f.size), 0) AS BIGINT)
FROM (SELECT u.size, c.deleted_at FROM conversations c JOIN uploads u ON u.conversation_id = c.id WHERE c.owner = $1
      UNION ALL
      SELECT d.size, c.deleted_at FROM conversations c JOIN derived d ON d.conversation_id = c.id WHERE c.owner = $1
      UNION ALL
      SELECT a.size, c.deleted_at FROM conversations c JOIN artifacts a ON a.conversation_id = c.id WHERE c.owner = $1) AS f";

/// Inside the caller's transaction, before `more` bytes are recorded. What is deleted counts no more at once, but deleting
/// and filling up again does not fill the disk before the purge: both together may be twice the limit.
pub(crate) async fn check(s: &mut dyn Session, owner: &UserId, more: u64, limit: u64) -> Result<()> {
    let row = s.one(SUM, params![owner]).await?;
    let (live, all) = match row {
        Some(row) => (row.unsigned(0)?, row.unsigned(1)?),
        None => (0, 0),
    };
    let full = live.saturating_add(more) > limit || all.saturating_add(more) > limit.saturating_mul(2);
    if full { Err(StoreError::Quota { limit }) } else { Ok(()) }
}

/// The same for whoever owns the conversation.
pub(crate) async fn check_in(
    s: &mut dyn Session,
    conversation: &ConversationId,
    more: u64,
    limit: u64,
) -> Result<()> {
    let row = s.one("SELECT owner FROM conversations WHERE id = $1", params![conversation]).await?;
    match row {
        Some(row) => check(s, &row.id(0)?, more, limit).await,
        None => Err(crate::conversations::missing(conversation)),
    }
}

impl Store {
    /// Whether the conversation's owner may keep a single byte more.
    pub(crate) async fn has_room(&self, conversation: &ConversationId) -> Result<()> {
        let sql = "SELECT owner FROM conversations WHERE id = $1";
        let Some(row) = self.db().read_one(sql, params![conversation]).await? else { return Ok(()) };
        let (kept, limit) = (self.kept_bytes(&row.id(0)?).await?, self.limits().user_bytes);
        let full = kept.live >= limit || kept.all >= limit.saturating_mul(2);
        if full { Err(StoreError::Quota { limit }) } else { Ok(()) }
    }

    /// What a person's files take.
    pub async fn kept_bytes(&self, owner: &UserId) -> Result<Kept> {
        let row = self.db().read_one(SUM, params![owner]).await?;
        let row = row.ok_or_else(|| StoreError::Unavailable("nothing was counted".to_owned()))?;
        Ok(Kept { live: row.unsigned(0)?, all: row.unsigned(1)? })
    }
}
