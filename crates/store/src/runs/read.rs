//! Reading runs, events and history back. Never writes.

use ba_protocol::{ConversationId, Event, RunId, Turn, UserId};

use crate::db::{Row, params};
use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::turns;
use crate::types::{EventScope, RunRecord, RunSummary};

/// What `summary_from_row` reads.
macro_rules! summarise_runs {
    ($rest:literal) => {
        concat!(
            "SELECT r.id, r.conversation_id, r.message, r.status, r.created_at, r.updated_at, r.usage_info
             FROM runs r JOIN conversations c ON c.id = r.conversation_id ",
            $rest
        )
    };
}

/// The rounds that count: of a turn with several versions, the chosen one.
macro_rules! visible_turns {
    ($what:literal, $also:literal) => {
        concat!(
            "SELECT ",
            $what,
            " FROM rounds h JOIN runs r ON r.id = h.run_id
             WHERE h.conversation_id = $1 AND r.superseded = 0 ",
            $also,
            " ORDER BY h.position, h.run_id"
        )
    };
}

/// Runs with their owners, as `run_from_row` reads them.
macro_rules! select_runs {
    ($rest:literal) => {
        concat!(
            "SELECT r.id, r.conversation_id, c.owner, r.message, r.state, r.status, r.created_at, r.updated_at,
                    r.usage_info, r.epoch, r.commits
             FROM runs r JOIN conversations c ON c.id = r.conversation_id ",
            $rest
        )
    };
}

impl Store {
    /// Runs that have not ended, oldest first.
    pub async fn open_runs(&self) -> Result<Vec<RunRecord>> {
        let rows = self
            .db()
            .read(select_runs!("WHERE r.status = 'running' ORDER BY r.created_at, r.id"), vec![])
            .await?;
        rows.iter().map(run_from_row).collect()
    }

    /// One of them, with its newest state.
    pub(crate) async fn open_run(&self, id: &RunId) -> Result<Option<RunRecord>> {
        let open = select_runs!("WHERE r.id = $1 AND r.status = 'running'");
        self.db().read_one(open, params![id]).await?.as_ref().map(run_from_row).transpose()
    }

    /// Whether an earlier question of the conversation is still being answered, on whatever server (SPEC E12).
    pub async fn has_earlier_run(&self, id: &RunId) -> Result<bool> {
        let earlier = "SELECT 1 FROM runs me JOIN runs o ON o.conversation_id = me.conversation_id
                       WHERE me.id = $1 AND o.status = 'running' AND o.admitted < me.admitted LIMIT 1";
        Ok(self.db().read_one(earlier, params![id]).await?.is_some())
    }

    /// Whether any question of the conversation is being answered, on whatever server.
    pub async fn has_open_run(&self, conversation: &ConversationId) -> Result<bool> {
        let open = "SELECT 1 FROM runs WHERE conversation_id = $1 AND status = 'running' LIMIT 1";
        Ok(self.db().read_one(open, params![conversation]).await?.is_some())
    }

    /// Questions of one person that are being answered, on all servers.
    pub async fn open_runs_of(&self, owner: &UserId) -> Result<u64> {
        let open = "SELECT COUNT(*) FROM runs r JOIN conversations c ON c.id = r.conversation_id
                    WHERE r.status = 'running' AND c.owner = $1";
        self.db().read_one(open, params![owner]).await?.map_or(Ok(0), |row| row.unsigned(0))
    }

    pub async fn run(&self, owner: &UserId, id: &RunId) -> Result<RunRecord> {
        let row = self
            .db()
            .read_one(
                select_runs!("WHERE r.id = $1 AND c.owner = $2 AND c.deleted_at IS NULL"),
                params![id, owner],
            )
            .await?;
        row.as_ref().map_or_else(|| Err(StoreError::not_found(format!("run {id}"))), run_from_row)
    }

    /// Of one conversation, latest first.
    pub async fn runs(
        &self,
        owner: &UserId,
        conversation: &ConversationId,
        limit: u32,
    ) -> Result<Vec<RunSummary>> {
        let rows = self
            .db()
            .read(
                summarise_runs!(
                    "WHERE r.conversation_id = $1 AND c.owner = $2 AND c.deleted_at IS NULL
                     ORDER BY r.created_at DESC, r.id LIMIT $3"
                ),
                params![conversation, owner, limit],
            )
            .await?;
        rows.iter().map(summary_from_row).collect()
    }

    /// Of all conversations of a person, latest first.
    pub async fn latest_runs(&self, owner: &UserId, limit: u32) -> Result<Vec<RunSummary>> {
        let rows = self
            .db()
            .read(
                summarise_runs!(
                    "WHERE c.owner = $1 AND c.deleted_at IS NULL ORDER BY r.created_at DESC, r.id LIMIT $2"
                ),
                params![owner, limit],
            )
            .await?;
        rows.iter().map(summary_from_row).collect()
    }

    /// Events with a sequence number above `after`, in order.
    pub async fn events_after(&self, scope: EventScope<'_>, after: u64, limit: u32) -> Result<Vec<Event>> {
        let rows = match scope {
            EventScope::Conversation(id) => {
                self.db()
                    .read(
                        "SELECT seq, conversation_id, run_id, at, event FROM events
                         WHERE conversation_id = $1 AND seq > $2 ORDER BY seq LIMIT $3",
                        params![id, after, limit],
                    )
                    .await?
            }
            EventScope::Run(id) => {
                self.db()
                    .read(
                        "SELECT seq, conversation_id, run_id, at, event FROM events
                         WHERE run_id = $1 AND seq > $2 ORDER BY seq LIMIT $3",
                        params![id, after, limit],
                    )
                    .await?
            }
        };
        rows.iter().map(event_from_row).collect()
    }

    /// The finished rounds, oldest first (SPEC X9).
    pub async fn turns(&self, conversation: &ConversationId) -> Result<Vec<Turn>> {
        self.turns_from(conversation, 0).await
    }

    /// Which they are: a version that was chosen instead of another changes the list in its middle.
    pub async fn turn_ids(&self, conversation: &ConversationId) -> Result<Vec<RunId>> {
        let rows = self.db().read(visible_turns!("h.run_id", ""), params![conversation]).await?;
        rows.iter().map(|row| row.id(0)).collect()
    }

    /// Those before a position: what another version of the turn there sees.
    pub async fn turns_before(&self, conversation: &ConversationId, base: u64) -> Result<Vec<Turn>> {
        let sql = visible_turns!("h.schema_version, h.round", "AND h.position < $2");
        let rows = self.db().read(sql, params![conversation, base]).await?;
        rows.iter().map(|row| turns::decode(row.u32(0)?, row.text(1)?)).collect()
    }

    /// Of every version, for archives.
    pub(crate) async fn all_turns(&self, conversation: &ConversationId) -> Result<Vec<Turn>> {
        let sql =
            "SELECT schema_version, round FROM rounds WHERE conversation_id = $1 ORDER BY position, run_id";
        let rows = self.db().read(sql, params![conversation]).await?;
        rows.iter().map(|row| turns::decode(row.u32(0)?, row.text(1)?)).collect()
    }

    /// The same without the first `skip`, for whoever has read those.
    pub async fn turns_from(&self, conversation: &ConversationId, skip: usize) -> Result<Vec<Turn>> {
        self.some_turns(conversation, skip, u32::MAX.into()).await
    }

    /// The round of this number, from 1.
    pub async fn turn(&self, conversation: &ConversationId, number: usize) -> Result<Option<Turn>> {
        let Some(skip) = number.checked_sub(1) else { return Ok(None) };
        Ok(self.some_turns(conversation, skip, 1).await?.pop())
    }

    async fn some_turns(&self, conversation: &ConversationId, skip: usize, limit: u64) -> Result<Vec<Turn>> {
        let rows = self
            .db()
            .read(
                concat!(visible_turns!("h.schema_version, h.round", ""), " LIMIT $2 OFFSET $3"),
                params![conversation, limit, skip as u64],
            )
            .await?;
        rows.iter().map(|row| turns::decode(row.u32(0)?, row.text(1)?)).collect()
    }
}

fn run_from_row(row: &Row) -> Result<RunRecord> {
    Ok(RunRecord {
        id: row.id(0)?,
        conversation_id: row.id(1)?,
        owner: row.id(2)?,
        message: row.string(3)?,
        state: row.json(4)?,
        status: row.text(5)?.parse()?,
        created_at: row.time(6)?,
        updated_at: row.time(7)?,
        usage: row.json(8)?,
        epoch: row.unsigned(9)?,
        commits: row.unsigned(10)?,
    })
}

fn summary_from_row(row: &Row) -> Result<RunSummary> {
    Ok(RunSummary {
        id: row.id(0)?,
        conversation_id: row.id(1)?,
        message: row.string(2)?,
        status: row.text(3)?.parse()?,
        created_at: row.time(4)?,
        updated_at: row.time(5)?,
        usage: row.json(6)?,
    })
}

pub(super) fn event_from_row(row: &Row) -> Result<Event> {
    Ok(Event {
        seq: row.unsigned(0)?,
        conversation_id: row.id(1)?,
        run_id: row.id(2)?,
        at: row.time(3)?,
        event: row.json(4)?,
    })
}
