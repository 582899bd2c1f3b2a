//! Versions of a turn: a question asked again or edited is another run of the same turn, and one of them counts.
//! Nothing is deleted; the history a model sees holds the one that counts.

use ba_protocol::{ConversationId, RunId, UserId};

use crate::db::{Row, Session, params};
use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::types::{Replaced, Version};

impl Store {
    /// The turn that another version of `run` belongs to. Refused while that turn is being answered.
    pub async fn replaced(&self, conversation: &ConversationId, run: &RunId) -> Result<Replaced> {
        let row = self
            .db()
            .read_one(
                "SELECT t.id,
                        COALESCE((SELECT MAX(v.base) FROM runs v WHERE v.turn_id = t.id),
                                 (SELECT h.position FROM rounds h WHERE h.run_id = t.id),
                                 (SELECT MIN(e.seq) FROM events e WHERE e.run_id = t.id), 0),
                        (SELECT COUNT(*) FROM runs v
                         WHERE (v.id = t.id OR v.turn_id = t.id) AND v.status = 'running')
                 FROM runs r JOIN runs t ON t.id = COALESCE(r.turn_id, r.id)
                 WHERE r.id = $1 AND r.conversation_id = $2",
                params![run, conversation],
            )
            .await?;
        let row = row.ok_or_else(|| StoreError::not_found(format!("run {run}")))?;
        if row.int(2)? > 0 {
            return Err(still_running());
        }
        Ok(Replaced { turn: row.id(0)?, base: row.unsigned(1)? })
    }

    /// The runs of turns that have more than one; nothing where nobody asked again.
    pub async fn turn_versions(&self, conversation: &ConversationId) -> Result<Vec<Version>> {
        let rows = self
            .db()
            .read(
                "SELECT id, COALESCE(turn_id, id), superseded FROM runs
                 WHERE conversation_id = $1 AND (turn_id IS NOT NULL OR superseded = 1)
                 ORDER BY created_at, id",
                params![conversation],
            )
            .await?;
        rows.iter().map(version_from_row).collect()
    }

    /// This version counts from now on, the others of its turn do not.
    pub async fn choose_version(&self, owner: &UserId, run: &RunId) -> Result<Version> {
        let found = self.run(owner, run).await?;
        let turn = self.replaced(&found.conversation_id, run).await?.turn;
        let run = run.clone();
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    supersede(s, &turn).await?;
                    s.execute("UPDATE runs SET superseded = 0 WHERE id = $1", params![&run]).await?;
                    Ok(Version { run_id: run, turn_id: turn, superseded: false })
                })
            })
            .await
    }
}

/// None of the turn's runs counts; the caller says which one does.
pub(super) async fn supersede(s: &mut dyn Session, turn: &RunId) -> Result<()> {
    s.execute("UPDATE runs SET superseded = 1 WHERE id = $1 OR turn_id = $1", params![turn]).await.map(|_| ())
}

fn version_from_row(row: &Row) -> Result<Version> {
    Ok(Version { run_id: row.id(0)?, turn_id: row.id(1)?, superseded: row.flag(2)? })
}

fn still_running() -> StoreError {
    StoreError::Conflict("this turn is still being answered; stop it first".to_owned())
}
