//! Share links (SPEC D4): a frozen page of one answer behind a hashed token, with an end. Revoked, expired, of a deleted
//! conversation and of a disabled user are all the same: not there.

use std::path::PathBuf;

use ba_protocol::{ConversationId, RunId, UserId};
use jiff::Timestamp;

use crate::audit_log::{self, Counted};
use crate::blob::{self, BlobId, Staged};
use crate::conversations::now;
use crate::db::{Row, Session, params};
use crate::error::{Result, StoreError};
use crate::store::Store;

#[derive(Debug, Clone)]
pub struct NewShare {
    pub owner: UserId,
    pub conversation: ConversationId,
    pub run: RunId,
    /// Of the token; the token itself is nowhere.
    pub hash: String,
    pub title: String,
    /// The content security policy that the page is served with.
    pub policy: String,
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    pub id: String,
    pub owner: UserId,
    pub conversation: ConversationId,
    pub run: RunId,
    pub title: String,
    pub size: u64,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub views: u64,
    pub viewed_at: Option<Timestamp>,
}

/// What a visitor gets.
#[derive(Debug, Clone)]
pub struct SharedPage {
    pub id: String,
    pub policy: String,
    pub path: PathBuf,
    pub size: u64,
}

impl Store {
    /// Keeps the page; the run must be one of the owner's conversation.
    pub async fn create_share(&self, new: NewShare, page: &[u8]) -> Result<Share> {
        self.conversation(&new.owner, &new.conversation).await?;
        let staged = self.stage_bytes("the shared page", page, self.limits().artifact_bytes).await?;
        let (row, work) = (new.clone(), staged.clone());
        let id = format!("share_{}", &uuid::Uuid::new_v4().simple().to_string()[..12]);
        let named = id.clone();
        let kept = self.db().write(move |s| Box::pin(insert(s, named, row, work))).await;
        self.settle(staged, kept.as_ref().ok()).await;
        kept?;
        self.share(&id).await
    }

    /// The links of a user that still work, newest first; of one conversation, or of all.
    pub async fn shares(&self, owner: &UserId, conversation: Option<&ConversationId>) -> Result<Vec<Share>> {
        let rows = self
            .db()
            .read(
                "SELECT s.id, s.owner, s.conversation_id, s.run_id, s.title, s.size, s.created_at, s.expires_at,
                        s.views, s.viewed_at
                 FROM shares s JOIN conversations c ON c.id = s.conversation_id
                 WHERE s.owner = $1 AND ($2 = '' OR s.conversation_id = $2) AND s.expires_at > $3
                   AND c.deleted_at IS NULL
                 ORDER BY s.created_at DESC, s.id",
                params![owner, conversation.map_or("", ConversationId::as_str), now()],
            )
            .await?;
        rows.iter().map(from_row).collect()
    }

    pub async fn share(&self, id: &str) -> Result<Share> {
        let row = self
            .db()
            .read_one(
                "SELECT id, owner, conversation_id, run_id, title, size, created_at, expires_at, views, viewed_at
                 FROM shares WHERE id = $1",
                params![id],
            )
            .await?;
        row.map_or_else(|| Err(StoreError::not_found("share link")), |row| from_row(&row))
    }

    /// The page behind a token, and one view more. `NotFound` for whatever does not work (any more).
    pub async fn view_share(&self, hash: &str) -> Result<SharedPage> {
        let row = self
            .db()
            .read_one(
                "SELECT s.id, s.policy, s.blob_id, s.size
                 FROM shares s JOIN conversations c ON c.id = s.conversation_id
                 LEFT JOIN users u ON u.id = s.owner
                 WHERE s.hash = $1 AND s.expires_at > $2 AND c.deleted_at IS NULL AND u.disabled_at IS NULL",
                params![hash, now()],
            )
            .await?
            .ok_or_else(|| StoreError::not_found("page"))?;
        let (id, blob, size): (String, BlobId, u64) = (row.string(0)?, row.id(2)?, row.unsigned(3)?);
        let path = self.blobs().local(&blob, size).await?;
        let viewed = id.clone();
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    s.execute(
                        "UPDATE shares SET views = views + 1, viewed_at = $2 WHERE id = $1",
                        params![viewed.as_str(), now()],
                    )
                    .await?;
                    audit_log::count(s, Counted::ShareViewed, &viewed, None).await
                })
            })
            .await?;
        Ok(SharedPage { id, policy: row.string(1)?, path, size })
    }

    /// From now on the address leads nowhere, and the page is gone. `by` is who asked.
    pub async fn revoke_share(&self, id: &str, by: &UserId) -> Result<()> {
        let (id, by) = (id.to_owned(), by.clone());
        let released = self.db().write(move |s| Box::pin(revoke(s, id, by))).await?;
        self.discard(released).await;
        Ok(())
    }

    pub(crate) async fn remove_expired_shares(&self) -> Result<()> {
        let released = self
            .db()
            .write(|s| {
                Box::pin(async move {
                    audit_log::forget_old(s).await?;
                    let gone = s
                        .query("DELETE FROM shares WHERE expires_at <= $1 RETURNING blob_id", params![now()])
                        .await?;
                    let mut released = Vec::new();
                    for row in gone {
                        released.extend(blob::unlink(s, &row.id(0)?).await?);
                    }
                    Ok(released)
                })
            })
            .await?;
        self.discard(released).await;
        Ok(())
    }
}

async fn insert(s: &mut dyn Session, id: String, new: NewShare, staged: Staged) -> Result<BlobId> {
    let known = s
        .one(
            "SELECT 1 FROM runs r JOIN conversations c ON c.id = r.conversation_id
             WHERE r.id = $1 AND c.id = $2 AND c.owner = $3 AND c.deleted_at IS NULL",
            params![&new.run, &new.conversation, &new.owner],
        )
        .await?;
    if known.is_none() {
        return Err(StoreError::not_found("answer"));
    }
    let blob = blob::link(s, &staged).await?;
    s.execute(
        "INSERT INTO shares (id, hash, owner, conversation_id, run_id, title, policy, blob_id, size, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        params![
            id.as_str(),
            new.hash,
            &new.owner,
            &new.conversation,
            &new.run,
            new.title,
            new.policy,
            blob.as_str(),
            staged.size,
            now(),
            new.expires_at
        ],
    )
    .await?;
    audit_log::count(s, Counted::ShareCreated, &id, Some(&new.owner)).await?;
    Ok(blob)
}

async fn revoke(s: &mut dyn Session, id: String, by: UserId) -> Result<Option<BlobId>> {
    let gone = s.one("DELETE FROM shares WHERE id = $1 RETURNING blob_id", params![id.as_str()]).await?;
    let row = gone.ok_or_else(|| StoreError::not_found("share link"))?;
    audit_log::count(s, Counted::ShareRevoked, &id, Some(&by)).await?;
    blob::unlink(s, &row.id(0)?).await
}

fn from_row(row: &Row) -> Result<Share> {
    Ok(Share {
        id: row.string(0)?,
        owner: row.id(1)?,
        conversation: row.id(2)?,
        run: row.id(3)?,
        title: row.string(4)?,
        size: row.unsigned(5)?,
        created_at: row.time(6)?,
        expires_at: row.time(7)?,
        views: row.unsigned(8)?,
        viewed_at: row.optional_time(9)?,
    })
}
