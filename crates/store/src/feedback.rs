//! What people thought of answers: one word per run and a reason, replaced when they change their mind.

use ba_protocol::text::shorten;
use ba_protocol::{ConversationId, RunId, UserId};

use crate::conversations::now;
use crate::db::{Row, params};
use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::types::{Feedback, FeedbackEntry, Rating};

/// Characters of a reason that are kept.
const MAX_REASON: usize = 2_000;

impl Store {
    /// On the owner's own run.
    pub async fn set_feedback(
        &self,
        owner: &UserId,
        run: &RunId,
        rating: Rating,
        reason: &str,
    ) -> Result<Feedback> {
        self.run(owner, run).await?;
        let kept =
            Feedback { run_id: run.clone(), rating, reason: shorten(reason.trim(), MAX_REASON), at: now() };
        let row = kept.clone();
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    s.execute(
                        "INSERT INTO feedback (run_id, rating, reason, at) VALUES ($1, $2, $3, $4)
                         ON CONFLICT (run_id) DO UPDATE
                         SET rating = excluded.rating, reason = excluded.reason, at = excluded.at",
                        params![&row.run_id, row.rating.as_str(), row.reason.as_str(), row.at],
                    )
                    .await
                    .map(|_| ())
                })
            })
            .await?;
        Ok(kept)
    }

    pub async fn remove_feedback(&self, owner: &UserId, run: &RunId) -> Result<()> {
        self.run(owner, run).await?;
        let run = run.clone();
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    s.execute("DELETE FROM feedback WHERE run_id = $1", params![&run]).await.map(|_| ())
                })
            })
            .await
    }

    /// Of one conversation.
    pub async fn feedback(&self, conversation: &ConversationId) -> Result<Vec<Feedback>> {
        let rows = self
            .db()
            .read(
                "SELECT f.run_id, f.rating, f.reason, f.at FROM feedback f JOIN runs r ON r.id = f.run_id
                 WHERE r.conversation_id = $1",
                params![conversation],
            )
            .await?;
        rows.iter().map(from_row).collect()
    }

    /// All of it, oldest first, with what it is about.
    pub async fn all_feedback(&self) -> Result<Vec<FeedbackEntry>> {
        let rows = self
            .db()
            .read(
                "SELECT f.run_id, f.rating, f.reason, f.at, r.conversation_id, c.owner, r.message, r.model
                 FROM feedback f JOIN runs r ON r.id = f.run_id JOIN conversations c ON c.id = r.conversation_id
                 WHERE c.deleted_at IS NULL ORDER BY f.at, f.run_id",
                vec![],
            )
            .await?;
        let entry = |row: &Row| {
            Ok(FeedbackEntry {
                feedback: from_row(row)?,
                conversation_id: row.id(4)?,
                owner: row.id(5)?,
                question: row.string(6)?,
                model: row.string(7)?,
            })
        };
        rows.iter().map(entry).collect()
    }
}

fn from_row(row: &Row) -> Result<Feedback> {
    let rating = match row.text(1)? {
        "up" => Rating::Up,
        "down" => Rating::Down,
        other => return Err(StoreError::Corrupt(format!("unknown rating `{other}`"))),
    };
    Ok(Feedback { run_id: row.id(0)?, rating, reason: row.string(2)?, at: row.time(3)? })
}
