//! One run, driven: asks the machine what comes next, does it, and has recorded what came of it. Every step is one
//! transaction, and the intent of a tool with effects is on disk before it runs, so a crash resumes and nothing with
//! effects runs twice. What is stored, logged and told is decided in `record` alone.

mod ask;
mod calls;
mod finish;
mod ledger;
pub mod proof;
mod record;
mod tally;

use std::sync::Arc;
use std::time::Instant;

use ba_audit::Evidence;
use ba_model::{Model, Usage};
use ba_protocol::api::{ErrorInfo, UsageInfo};
use ba_protocol::{RunEvent, Turn};
use ba_skills::Effective;
use ba_store::{ConversationFiles, ConversationGuard, RunRecord, StoreError};
use tokio_util::sync::CancellationToken;
use tracing::Span;

pub(crate) use ask::{Asked, BRIEFING_TOKENS, Gathered};
pub(crate) use calls::fingerprint;
pub(crate) use ledger::{Desk, Ledger};

use crate::context::MemoCounter;
use crate::parts::{AgentParts, RunState};
use crate::run::{Ask, Effect, Outcome, Step};
use crate::skills;
use proof::Settled;
use tally::Tally;

/// A run to be driven, and what is already known of it.
pub(crate) struct RunJob {
    pub record: RunRecord,
    pub state: RunState,
    pub ledger: Ledger,
    pub origin: Origin,
}

pub(crate) enum Origin {
    /// Began its conversation: there is nothing to read, and its turn has come.
    NewConversation(ConversationFiles, ConversationGuard),
    OldConversation,
    /// A crash or restart left it open.
    Resumed,
}

/// One run while it is driven.
pub(crate) struct Drive<'a> {
    parts: &'a AgentParts,
    memo: &'a MemoCounter,
    record: RunRecord,
    state: RunState,
    model: Arc<dyn Model>,
    tally: Tally,
    /// What the calls so far are worth as evidence for figures (SPEC V).
    evidence: Evidence,
    /// Computes the headline figure apart from the model (SPEC V6).
    witness: proof::Beside,
    /// Share of the model's window the last request took.
    window_share: f64,
    /// The skills the present round was asked under; kept when they end with the run.
    skill_chain: Vec<String>,
    /// As last read; the history of a conversation does not change during a run.
    turns: Option<Arc<Vec<Turn>>>,
    files: Option<Arc<ConversationFiles>>,
    gathered: Option<Arc<Gathered>>,
    /// Calls of the present step may already have been answered.
    resumed: bool,
    /// What the model has streamed of the present round, for an answer that is stopped.
    said: Arc<parking_lot::Mutex<String>>,
    book: Book,
}

/// What `record` keeps its books with.
struct Book {
    ledger: Ledger,
    usage: UsageInfo,
    round_usage: Usage,
    round_began: Instant,
    span: Span,
    round_span: Span,
}

/// Drives a run to its end, waiting first for its conversation's turn (SPEC E12). Gives its last event; without one the
/// run was left open.
pub(crate) async fn drive(
    parts: &AgentParts,
    memo: &MemoCounter,
    job: RunJob,
    cancel: &CancellationToken,
) -> Result<Option<RunEvent>, StoreError> {
    let RunJob { record, state, ledger, origin } = job;
    let resumed = matches!(origin, Origin::Resumed);
    let (turns, files, _turn) = match origin {
        Origin::NewConversation(files, turn) => (Some(Arc::default()), Some(Arc::new(files)), Some(turn)),
        Origin::OldConversation | Origin::Resumed => {
            let turn = tokio::select! {
                turn = turn_of(parts, &record, &ledger) => Some(turn?),
                // Who cancels a run that still waits need not wait for the one before it.
                () = cancel.cancelled() => None,
            };
            (None, None, turn)
        }
    };
    let wanted = parts.models.get(state.model.as_deref());
    let model = wanted.clone().unwrap_or_else(|| parts.models.default.clone());
    let mut drive = Drive {
        parts,
        memo,
        model,
        tally: Tally::default(),
        evidence: Evidence::new(),
        witness: proof::Beside::default(),
        window_share: 0.0,
        skill_chain: Vec::new(),
        turns,
        files,
        gathered: None,
        resumed,
        said: Arc::default(),
        book: Book {
            ledger,
            usage: record.usage.clone(),
            round_usage: Usage::default(),
            round_began: Instant::now(),
            span: Span::current(),
            round_span: Span::none(),
        },
        record,
        state,
    };
    if resumed {
        drive.restore().await?;
    }
    if wanted.is_none() {
        let error =
            ErrorInfo::new("model_gone", "the model this question was asked of is no longer configured");
        drive.state.machine.end(Outcome::Failed { error });
    }
    drive.until_it_ends(cancel).await
}

/// Other servers know of a question once it is stored; alone, nobody has to wait for that.
async fn turn_of(
    parts: &AgentParts,
    record: &RunRecord,
    ledger: &Ledger,
) -> Result<ConversationGuard, StoreError> {
    if parts.store.is_shared() {
        ledger.durable().await?;
    }
    parts.store.take_turn(&record.conversation_id, &record.id).await
}

impl Drive<'_> {
    async fn until_it_ends(&mut self, cancel: &CancellationToken) -> Result<Option<RunEvent>, StoreError> {
        let (before, began) = (self.state.machine.active(), Instant::now());
        loop {
            self.book.ledger.check().await?;
            if cancel.is_cancelled() {
                self.state.machine.end(Outcome::Cancelled);
            }
            // An outage of the storage is not the run's time.
            let active = began.elapsed().saturating_sub(self.book.ledger.stalled());
            let effects = match self.state.machine.next_step(before + active) {
                Step::AskModel(ask) => tokio::select! {
                    biased;
                    () = cancel.cancelled() => continue,
                    effects = self.ask_model(ask) => effects?,
                },
                Step::RunTools(calls) => tokio::select! {
                    biased;
                    () = cancel.cancelled() => continue,
                    effects = self.run_tools(calls) => effects?,
                },
                // Not to be interrupted: an answer is finished once, or its run is still open.
                Step::Done(outcome) => match proof::settle(self, outcome).await? {
                    Settled::SentBack(effects) => effects,
                    Settled::Ending(ending) => return self.finish(*ending).await,
                },
            };
            self.carry_out(effects).await?;
        }
    }

    async fn ask_model(&mut self, ask: Ask) -> Result<Vec<Effect>, StoreError> {
        self.skill_chain = self.state.skills.chain().iter().map(ToString::to_string).collect();
        let effective = self.effective();
        if let Some(model) = self.parts.models.get(Some(&effective.model)) {
            self.model = model;
        }
        self.round_begins(ask.round);
        let round = ask.round;
        let request = match self.request(ask, &effective).await? {
            Ok(request) => request,
            Err(error) => {
                self.state.machine.end(Outcome::Failed { error });
                return Ok(Vec::new());
            }
        };
        proof::begin_witness(self);
        match self.complete(round, &request).await {
            Ok(reply) => {
                let usage = self.account(&request, &reply);
                self.state.machine.note_thinking(reply.thinking);
                Ok(self.state.machine.on_model(&reply.text, usage.input_tokens + usage.output_tokens))
            }
            Err(error) => {
                let error = ErrorInfo::new(error.code(), error.to_string());
                self.state.machine.end(Outcome::Failed { error });
                Ok(Vec::new())
            }
        }
    }

    /// What the active skills leave of the user's settings (SPEC S4).
    fn effective(&self) -> Effective {
        skills::effective(self.parts, &self.state)
    }

    /// The conversation's files, read again only when they have changed.
    async fn files(&mut self) -> Result<Arc<ConversationFiles>, StoreError> {
        let (store, conversation) = (&self.parts.store, &self.record.conversation_id);
        match &self.files {
            Some(files) if store.is_current(conversation, files) => Ok(files.clone()),
            _ => {
                let files = Arc::new(store.files(conversation).await?);
                self.files = Some(files.clone());
                Ok(files)
            }
        }
    }
}
