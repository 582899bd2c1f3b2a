//! What people mark: pinned and tagged conversations, and the board of tables and charts they keep in sight. Also which
//! conversations are being answered, for lists.

use ba_protocol::text::{one_line, shorten};
use ba_protocol::{ConversationId, RunId, UserId};

use crate::conversations::{missing, now};
use crate::db::{Row, params};
use crate::error::{Result, StoreError};
use crate::runs::json;
use crate::store::Store;
use crate::types::{BoardItem, ConversationMarks, NewBoardItem};

const MAX_TAGS: usize = 12;
const MAX_TAG: usize = 30;
const MAX_BOARD: u64 = 200;

impl Store {
    /// Of the owner's conversations, those that are pinned, tagged or being answered.
    pub async fn conversation_marks(&self, owner: &UserId) -> Result<Vec<ConversationMarks>> {
        let rows = self
            .db()
            .read(
                "SELECT c.id, c.pinned_at, c.tags,
                        (SELECT COUNT(*) FROM runs r WHERE r.conversation_id = c.id AND r.status = 'running')
                 FROM conversations c
                 WHERE c.owner = $1 AND c.deleted_at IS NULL
                   AND (c.pinned_at IS NOT NULL OR c.tags <> '[]'
                        OR EXISTS (SELECT 1 FROM runs r WHERE r.conversation_id = c.id AND r.status = 'running'))",
                params![owner],
            )
            .await?;
        let marks = |row: &Row| {
            Ok(ConversationMarks {
                id: row.id(0)?,
                pinned: !row.is_null(1),
                tags: row.json(2)?,
                running: row.int(3)? > 0,
            })
        };
        rows.iter().map(marks).collect()
    }

    /// Pins and tags; what is absent stays as it is. Does not count as a change of the conversation.
    pub async fn mark_conversation(
        &self,
        owner: &UserId,
        id: &ConversationId,
        pinned: Option<bool>,
        tags: Option<Vec<String>>,
    ) -> Result<()> {
        let tags = tags.map(clean_tags).transpose()?.map(|tags| json(&tags)).transpose()?;
        let (owner, id) = (owner.clone(), id.clone());
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let pin = pinned.map(i64::from);
                    let changed = s
                        .execute(
                            "UPDATE conversations SET
                                pinned_at = CASE WHEN $3 = 1 THEN $4 WHEN $3 = 0 THEN NULL ELSE pinned_at END,
                                tags = COALESCE($5, tags)
                             WHERE id = $1 AND owner = $2 AND deleted_at IS NULL",
                            params![&id, &owner, pin, now(), tags],
                        )
                        .await?;
                    if changed == 0 { Err(missing(&id)) } else { Ok(()) }
                })
            })
            .await
    }

    /// Puts one table or chart of an answer on the owner's board; what is there already stays once.
    pub async fn board_add(&self, owner: &UserId, new: NewBoardItem) -> Result<BoardItem> {
        let run = self.run(owner, &new.run_id).await?;
        let item = BoardItem {
            id: format!("item_{}", crate::accounts::short_random()),
            conversation_id: run.conversation_id,
            run_id: new.run_id,
            kind: new.kind,
            item: new.item,
            title: shorten(one_line(&new.title).trim(), 200),
            created_at: now(),
        };
        let known = self.board(owner).await?;
        if let Some(same) = known
            .iter()
            .find(|old| (&old.run_id, &old.kind, old.item) == (&item.run_id, &item.kind, item.item))
        {
            return Ok(same.clone());
        }
        if known.len() as u64 >= MAX_BOARD {
            return Err(StoreError::Invalid(format!(
                "a board has at most {MAX_BOARD} pieces; take one off first"
            )));
        }
        let (row, owner) = (item.clone(), owner.clone());
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    s.execute(
                        "INSERT INTO board (id, owner, conversation_id, run_id, kind, item, title, created_at)
                         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                        params![
                            row.id,
                            &owner,
                            &row.conversation_id,
                            &row.run_id,
                            row.kind,
                            row.item,
                            row.title,
                            row.created_at
                        ],
                    )
                    .await
                    .map(|_| ())
                })
            })
            .await?;
        Ok(item)
    }

    /// Oldest first.
    pub async fn board(&self, owner: &UserId) -> Result<Vec<BoardItem>> {
        let rows = self
            .db()
            .read(
                "SELECT b.id, b.conversation_id, b.run_id, b.kind, b.item, b.title, b.created_at
                 FROM board b JOIN conversations c ON c.id = b.conversation_id
                 WHERE b.owner = $1 AND c.deleted_at IS NULL ORDER BY b.created_at, b.id",
                params![owner],
            )
            .await?;
        let item = |row: &Row| {
            Ok(BoardItem {
                id: row.string(0)?,
                conversation_id: row.id(1)?,
                run_id: row.id(2)?,
                kind: row.string(3)?,
                item: row.u32(4)?,
                title: row.string(5)?,
                created_at: row.time(6)?,
            })
        };
        rows.iter().map(item).collect()
    }

    pub async fn board_remove(&self, owner: &UserId, item: &str) -> Result<()> {
        let (owner, item) = (owner.clone(), item.to_owned());
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let gone = s
                        .execute(
                            "DELETE FROM board WHERE id = $1 AND owner = $2",
                            params![item.as_str(), &owner],
                        )
                        .await?;
                    if gone == 0 { Err(StoreError::not_found(format!("piece {item}"))) } else { Ok(()) }
                })
            })
            .await
    }

    /// The same piece from another answer: the question was asked again.
    pub async fn board_refresh(&self, owner: &UserId, item: &str, run: &RunId) -> Result<()> {
        let found = self.run(owner, run).await?;
        let (owner, item, run) = (owner.clone(), item.to_owned(), run.clone());
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let sql =
                        "UPDATE board SET run_id = $3, conversation_id = $4 WHERE id = $1 AND owner = $2";
                    let values = params![item.as_str(), &owner, &run, &found.conversation_id];
                    let changed = s.execute(sql, values).await?;
                    if changed == 0 { Err(StoreError::not_found(format!("piece {item}"))) } else { Ok(()) }
                })
            })
            .await
    }
}

/// One line each, none twice.
fn clean_tags(given: Vec<String>) -> Result<Vec<String>> {
    let mut tags: Vec<String> = Vec::new();
    for tag in given {
        let tag = one_line(&tag).trim().to_owned();
        if tag.chars().count() > MAX_TAG {
            return Err(StoreError::Invalid(format!("a tag has at most {MAX_TAG} characters")));
        }
        if !tag.is_empty() && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    if tags.len() > MAX_TAGS {
        return Err(StoreError::Invalid(format!("a conversation has at most {MAX_TAGS} tags")));
    }
    Ok(tags)
}
