//! Durable runs (SPEC E13): a message is kept before it is acknowledged, each step is one transaction.

mod calls;
mod lease;
mod read;
mod usage;
mod versions;

pub use lease::{Holder, LEASE, LeaseWatch};

use ba_protocol::text::shorten;
use ba_protocol::{ConversationId, Event, RunEvent, RunId};
use jiff::Timestamp;

use crate::conversations::{clean_title, insert_conversation, missing, now, to_micros};
use crate::db::{Session, params};
use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::types::{NewRun, StepCommit, ToolIntent, ToolOutcome};

/// Characters of the first message that become the title of an untitled conversation.
const TITLE_FROM_MESSAGE: usize = 60;

impl Store {
    /// Keeps the message, the run and `run.started` in one transaction. When this returns, the message is safe.
    pub async fn admit(&self, new: NewRun) -> Result<Event> {
        self.db().write(move |s| Box::pin(admit(s, new))).await
    }

    /// The same for a conversation that does not exist yet: it is made in the same transaction, with one flush.
    pub async fn admit_first(&self, new: NewRun, title: &str) -> Result<Event> {
        let title = clean_title(title);
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    insert_conversation(s, &new.conversation_id, &new.owner, &title, now()).await?;
                    admit(s, new).await
                })
            })
            .await
    }

    /// One step in one transaction; events get the conversation's next sequence numbers. Sent again after a lost answer,
    /// a numbered one gives what was stored. A run that has ended or is another's is refused with `Conflict`.
    pub async fn commit_step(&self, run: &RunId, step: StepCommit) -> Result<Vec<Event>> {
        if let Some(passing) = step.events.iter().find(|e| !e.is_durable()) {
            return Err(StoreError::Invalid(format!(
                "`{}` is a passing event and is not kept",
                passing.name()
            )));
        }
        let run = run.clone();
        self.db().write(move |s| Box::pin(commit_step(s, run, step))).await
    }

    /// Before tools run. All or none.
    pub async fn record_intents(&self, run: &RunId, intents: Vec<ToolIntent>) -> Result<()> {
        let run = run.clone();
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    ensure_open(s, &run).await?;
                    calls::insert_intents(s, &run, &intents).await
                })
            })
            .await
    }

    /// After tools ran. The first result of a call wins; a second one is ignored.
    pub async fn record_results(&self, run: &RunId, outcomes: Vec<ToolOutcome>) -> Result<()> {
        let run = run.clone();
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    ensure_open(s, &run).await?;
                    calls::insert_outcomes(s, &run, &outcomes).await
                })
            })
            .await
    }
}

async fn admit(s: &mut dyn Session, new: NewRun) -> Result<Event> {
    let at = to_micros(new.created_at);
    let title = clean_title(&shorten(new.message.trim(), TITLE_FROM_MESSAGE));
    let row = s
        .one(
            "UPDATE conversations SET next_seq = next_seq + 1, updated_at = $3,
                    title = CASE WHEN title = '' THEN $4 ELSE title END
             WHERE id = $1 AND owner = $2 AND deleted_at IS NULL
             RETURNING next_seq - 1",
            params![&new.conversation_id, &new.owner, now(), title],
        )
        .await?;
    let seq = row.ok_or_else(|| missing(&new.conversation_id))?.unsigned(0)?;
    if let Some(replaced) = &new.replaces {
        versions::supersede(s, &replaced.turn).await?;
    }
    s.execute(
        "INSERT INTO runs (id, conversation_id, message, state, status, usage_info, created_at, updated_at,
                           holder, epoch, lease_until, turn_id, base, model, admitted)
         VALUES ($1, $2, $3, $4, 'running', $5, $6, $6, $7, 1, $8, $9, $10, $11, $12)",
        params![
            &new.run_id,
            &new.conversation_id,
            new.message.as_str(),
            new.state.as_str(),
            json(&ba_protocol::api::UsageInfo::default())?,
            at,
            new.holder.as_ref().map(|h| h.as_str().to_owned()),
            Store::beat(),
            new.replaces.as_ref().map(|r| r.turn.to_string()),
            new.replaces.as_ref().map(|r| i64::try_from(r.base).unwrap_or(i64::MAX)),
            new.model.as_str(),
            seq
        ],
    )
    .await?;
    let event = Event {
        seq,
        conversation_id: new.conversation_id.clone(),
        run_id: new.run_id.clone(),
        at,
        event: RunEvent::RunStarted {
            run_id: new.run_id,
            conversation_id: new.conversation_id,
            message: new.message,
            file_ids: new.file_ids,
        },
    };
    insert_event(s, &event).await?;
    Ok(event)
}

async fn commit_step(s: &mut dyn Session, run: RunId, step: StepCommit) -> Result<Vec<Event>> {
    let at = now();
    let updated = s
        .one(
            "UPDATE runs SET state = COALESCE($2, state), status = $3, usage_info = $4, updated_at = $5,
                    commits = CASE WHEN $7 = 0 THEN commits ELSE $7 END
             WHERE id = $1 AND status = 'running' AND (epoch = $6 OR $6 = 0) AND ($7 = 0 OR commits < $7)
             RETURNING conversation_id",
            params![
                &run,
                step.state.as_ref().map(|s| s.as_str().to_owned()),
                step.status.as_str(),
                json(&step.usage)?,
                at,
                step.epoch,
                step.number
            ],
        )
        .await?;
    let conversation: ConversationId = match updated {
        Some(row) => row.id(0)?,
        None => return stored_before(s, &run, &step).await,
    };
    calls::insert_intents(s, &run, &step.intents).await?;
    calls::insert_outcomes(s, &run, &step.outcomes).await?;
    if step.events.is_empty() && step.turn.is_none() {
        return Ok(Vec::new());
    }
    let events = insert_events(s, &conversation, &run, at, step.events).await?;
    if let Some(round) = step.turn {
        s.execute(
            "INSERT INTO rounds (run_id, conversation_id, position, round, schema_version)
             SELECT $1, $2, COALESCE((SELECT base FROM runs WHERE id = $1), next_seq), $3, $4
             FROM conversations WHERE id = $2",
            params![&run, &conversation, json(&round)?, crate::turns::VERSION],
        )
        .await?;
    }
    Ok(events)
}

/// A step whose answer was lost on the way is found by its number; its events are the run's last ones.
async fn stored_before(s: &mut dyn Session, run: &RunId, step: &StepCommit) -> Result<Vec<Event>> {
    let same = "SELECT 1 FROM runs WHERE id = $1 AND epoch = $2 AND commits = $3 AND commits > 0";
    if s.one(same, params![run, step.epoch, step.number]).await?.is_none() {
        return Err(why_not_open(s, run).await?);
    }
    let last = "SELECT seq, conversation_id, run_id, at, event FROM events WHERE run_id = $1 ORDER BY seq DESC LIMIT $2";
    let rows = s.query(last, params![run, step.events.len() as u64]).await?;
    rows.iter().rev().map(read::event_from_row).collect()
}

/// Takes as many sequence numbers as there are events; the conversation's row serialises this across replicas.
async fn insert_events(
    s: &mut dyn Session,
    conversation: &ConversationId,
    run: &RunId,
    at: Timestamp,
    events: Vec<RunEvent>,
) -> Result<Vec<Event>> {
    let count = events.len() as u64;
    let row = s
        .one(
            "UPDATE conversations SET next_seq = next_seq + $2, updated_at = $3 WHERE id = $1
             RETURNING next_seq - $2",
            params![conversation, count, at],
        )
        .await?;
    let first = row.ok_or_else(|| missing(conversation))?.unsigned(0)?;
    let mut kept = Vec::with_capacity(events.len());
    for (seq, event) in (first..).zip(events) {
        let event = Event { seq, conversation_id: conversation.clone(), run_id: run.clone(), at, event };
        insert_event(s, &event).await?;
        kept.push(event);
    }
    Ok(kept)
}

async fn insert_event(s: &mut dyn Session, event: &Event) -> Result<()> {
    s.execute(
        "INSERT INTO events (conversation_id, seq, run_id, at, event) VALUES ($1, $2, $3, $4, $5)",
        params![&event.conversation_id, event.seq, &event.run_id, event.at, json(&event.event)?],
    )
    .await
    .map(|_| ())
}

async fn ensure_open(s: &mut dyn Session, run: &RunId) -> Result<()> {
    let row = s.one("SELECT 1 FROM runs WHERE id = $1 AND status = 'running'", params![run]).await?;
    match row {
        Some(_) => Ok(()),
        None => Err(why_not_open(s, run).await?),
    }
}

async fn why_not_open(s: &mut dyn Session, run: &RunId) -> Result<StoreError> {
    let row = s.one("SELECT status FROM runs WHERE id = $1", params![run]).await?;
    Ok(match row {
        Some(row) if row.text(0)? == "running" => {
            StoreError::Conflict(format!("run {run} is driven by another server now"))
        }
        Some(row) => StoreError::Conflict(format!("run {run} has ended: {}", row.text(0)?)),
        None => StoreError::not_found(format!("run {run}")),
    })
}

pub(crate) fn json<T: serde::Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|e| StoreError::Invalid(format!("a value cannot be kept as JSON: {e}")))
}
