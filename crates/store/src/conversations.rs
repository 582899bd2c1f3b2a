//! Conversations and who owns them. Ownership is checked here: another owner's id is simply not found.

use ba_protocol::text::{one_line, shorten};
use ba_protocol::{ConversationId, UserId};
use jiff::Timestamp;

use crate::db::{Row, Session, params};
use crate::error::{Result, StoreError};
use crate::jobs::{self, JobKind, NewJob};
use crate::store::Store;
use crate::types::Conversation;

/// Characters of a title that are kept.
const MAX_TITLE: usize = 200;

impl Store {
    /// An empty title is filled from the first message.
    pub async fn create(&self, owner: &UserId, title: &str) -> Result<Conversation> {
        let now = now();
        let created = Conversation {
            id: ConversationId::random(),
            owner: owner.clone(),
            title: clean_title(title),
            created_at: now,
            updated_at: now,
        };
        let row = created.clone();
        self.db()
            .write(move |s| {
                Box::pin(async move { insert_conversation(s, &row.id, &row.owner, &row.title, now).await })
            })
            .await?;
        Ok(created)
    }

    /// The owner's conversation, or `NotFound`. Routes call this first, then use the id freely.
    pub async fn conversation(&self, owner: &UserId, id: &ConversationId) -> Result<Conversation> {
        let row = self
            .db()
            .read_one(
                "SELECT id, owner, title, created_at, updated_at FROM conversations
                 WHERE id = $1 AND owner = $2 AND deleted_at IS NULL",
                params![id, owner],
            )
            .await?;
        row.as_ref().map_or_else(|| Err(missing(id)), from_row)
    }

    /// Whose a conversation is: work for it counts as theirs (SPEC H5). Opens nothing to anybody.
    pub async fn owner_of(&self, id: &ConversationId) -> Result<UserId> {
        let sql = "SELECT owner FROM conversations WHERE id = $1 AND deleted_at IS NULL";
        let row = self.db().read_one(sql, params![id]).await?;
        row.ok_or_else(|| missing(id))?.id(0)
    }

    /// Latest first. `search` looks in titles and messages.
    pub async fn conversations(
        &self,
        owner: &UserId,
        search: Option<&str>,
        limit: u32,
        offset: u32,
    ) -> Result<Vec<Conversation>> {
        let rows = match search.map(str::trim).filter(|s| !s.is_empty()) {
            None => {
                self.db()
                    .read(
                        "SELECT id, owner, title, created_at, updated_at FROM conversations
                         WHERE owner = $1 AND deleted_at IS NULL
                         ORDER BY CASE WHEN pinned_at IS NULL THEN 1 ELSE 0 END, updated_at DESC, id
                         LIMIT $2 OFFSET $3",
                        params![owner, limit, offset],
                    )
                    .await?
            }
            Some(text) => {
                self.db()
                    .read(
                        "SELECT id, owner, title, created_at, updated_at FROM conversations c
                         WHERE owner = $1 AND deleted_at IS NULL
                           AND (LOWER(title) LIKE $4 ESCAPE '!' OR LOWER(tags) LIKE $4 ESCAPE '!'
                                OR EXISTS (SELECT 1 FROM runs r WHERE r.conversation_id = c.id
                                           AND LOWER(r.message) LIKE $4 ESCAPE '!'))
                         ORDER BY updated_at DESC, id LIMIT $2 OFFSET $3",
                        params![owner, limit, offset, like_pattern(text)],
                    )
                    .await?
            }
        };
        rows.iter().map(from_row).collect()
    }

    pub async fn rename(&self, owner: &UserId, id: &ConversationId, title: &str) -> Result<Conversation> {
        let (owner, id, title) = (owner.clone(), id.clone(), clean_title(title));
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let row = s
                        .one(
                            "UPDATE conversations SET title = $3, updated_at = $4
                             WHERE id = $1 AND owner = $2 AND deleted_at IS NULL
                             RETURNING id, owner, title, created_at, updated_at",
                            params![&id, &owner, title, now()],
                        )
                        .await?;
                    row.as_ref().map_or_else(|| Err(missing(&id)), from_row)
                })
            })
            .await
    }

    /// Gone for every reader at once; a job that is due at once removes everything of it. Refused while a run is open.
    pub async fn delete(&self, owner: &UserId, id: &ConversationId) -> Result<()> {
        let (owner, id) = (owner.clone(), id.clone());
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    mark_deleted(s, &owner, &id, now()).await?;
                    let open = s
                        .one(
                            "SELECT COUNT(*) FROM runs WHERE conversation_id = $1 AND status = 'running'",
                            params![&id],
                        )
                        .await?;
                    if open.is_some_and(|r| r.int(0).is_ok_and(|n| n > 0)) {
                        return Err(StoreError::Conflict(
                            "a run of this conversation is still going; cancel it first".to_owned(),
                        ));
                    }
                    Ok(())
                })
            })
            .await
    }
}

/// Inside the caller's transaction; what is left of it is purged by a job.
pub(crate) async fn mark_deleted(
    s: &mut dyn Session,
    owner: &UserId,
    id: &ConversationId,
    at: Timestamp,
) -> Result<()> {
    let gone = s
        .execute(
            "UPDATE conversations SET deleted_at = $3 WHERE id = $1 AND owner = $2 AND deleted_at IS NULL",
            params![id, owner, at],
        )
        .await?;
    if gone == 0 {
        return Err(missing(id));
    }
    s.execute("DELETE FROM jobs WHERE conversation_id = $1", params![id]).await?;
    let purge = NewJob {
        kind: JobKind::Purge,
        key: id.to_string(),
        owner: owner.clone(),
        conversation: None,
        run_at: at,
    };
    jobs::enqueue(s, &purge).await
}

pub(crate) fn from_row(row: &Row) -> Result<Conversation> {
    Ok(Conversation {
        id: row.id(0)?,
        owner: row.id(1)?,
        title: row.string(2)?,
        created_at: row.time(3)?,
        updated_at: row.time(4)?,
    })
}

pub(crate) async fn insert_conversation(
    s: &mut dyn Session,
    id: &ConversationId,
    owner: &UserId,
    title: &str,
    at: Timestamp,
) -> Result<()> {
    s.execute(
        "INSERT INTO conversations (id, owner, title, created_at, updated_at, next_seq)
         VALUES ($1, $2, $3, $4, $4, 1)",
        params![id, owner, title, at],
    )
    .await
    .map(|_| ())
}

pub(crate) fn missing(id: &ConversationId) -> StoreError {
    StoreError::not_found(format!("conversation {id}"))
}

pub(crate) fn clean_title(title: &str) -> String {
    shorten(one_line(title).trim(), MAX_TITLE)
}

/// Microseconds, as both databases keep it.
pub(crate) fn now() -> Timestamp {
    to_micros(Timestamp::now())
}

pub(crate) fn to_micros(time: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time)
}

fn like_pattern(text: &str) -> String {
    let escaped = text.to_lowercase().replace('!', "!!").replace('%', "!%").replace('_', "!_");
    format!("%{escaped}%")
}
