//! Durable runs (SPEC E13): a message is kept before it is acknowledged, each step is one transaction.

use ba_protocol::{ConversationId, Event, Round, RunId, UserId};

use crate::error::Result;
use crate::store::Store;
use crate::types::{EventScope, NewRun, RecordedCall, RunRecord, StepCommit, ToolIntent, ToolOutcome};

impl Store {
    /// Keeps the message, the run and `run.started` in one transaction. When this returns, the message is safe.
    pub async fn admit(&self, _new: NewRun) -> Result<Event> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// One step in one transaction; events get the conversation's next sequence numbers.
    /// A run that has ended is refused with `Conflict`.
    pub async fn commit_step(&self, _run: &RunId, _step: StepCommit) -> Result<Vec<Event>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Before tools run. All or none.
    pub async fn record_intents(&self, _run: &RunId, _intents: Vec<ToolIntent>) -> Result<()> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// After tools ran. The first result of a call wins; a second one is ignored.
    pub async fn record_results(&self, _run: &RunId, _outcomes: Vec<ToolOutcome>) -> Result<()> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Every call of the run, in order of intent.
    pub async fn calls(&self, _run: &RunId) -> Result<Vec<RecordedCall>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Runs a crash left open, oldest first. Resume one only while holding its conversation's lock.
    pub async fn open_runs(&self) -> Result<Vec<RunRecord>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn run(&self, _owner: &UserId, _id: &RunId) -> Result<RunRecord> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Latest first.
    pub async fn runs(
        &self,
        _owner: &UserId,
        _conversation: &ConversationId,
        _limit: u32,
    ) -> Result<Vec<RunRecord>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Events with a sequence number above `after`, in order.
    pub async fn events_after(&self, _scope: EventScope<'_>, _after: u64, _limit: u32) -> Result<Vec<Event>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// The finished rounds, oldest first (SPEC X9).
    pub async fn rounds(&self, _conversation: &ConversationId) -> Result<Vec<Round>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }
}
