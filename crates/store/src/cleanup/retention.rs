//! Conversations that nobody has touched for the days an operator chose are deleted as if a person did it (SPEC H8).

use std::time::Duration;

use ba_protocol::ConversationId;

use super::ago;
use crate::conversations::{mark_deleted, now};
use crate::db::params;
use crate::error::Result;
use crate::store::Store;

/// Conversations deleted in one transaction.
const AT_ONCE: u32 = 100;

impl Store {
    /// Deletes what was last changed longer ago than `idle`; a conversation with an open run stays. Gives how many went.
    pub async fn expire_conversations(&self, idle: Duration) -> Result<usize> {
        let before = ago(idle);
        let mut expired = 0;
        loop {
            let gone = self
                .db()
                .write(move |s| {
                    Box::pin(async move {
                        let rows = s
                            .query(
                                "SELECT id, owner FROM conversations c
                                 WHERE deleted_at IS NULL AND updated_at < $1
                                   AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.conversation_id = c.id
                                                   AND r.status = 'running')
                                 ORDER BY updated_at LIMIT $2",
                                params![before, AT_ONCE],
                            )
                            .await?;
                        for row in &rows {
                            let id: ConversationId = row.id(0)?;
                            mark_deleted(s, &row.id(1)?, &id, now()).await?;
                        }
                        Ok(rows.len())
                    })
                })
                .await?;
            expired += gone;
            if gone < AT_ONCE as usize {
                return Ok(expired);
            }
        }
    }
}
