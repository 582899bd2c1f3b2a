//! The agent as the rest of the program sees it: admit a question, watch it, wait for it, cancel it.
//! A message is durable before `admit` returns; the run goes on in the background.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ba_model::Model;
use ba_protocol::api::{AgentResponse, ErrorInfo, QueryRequest};
use ba_protocol::{ConversationId, RunEvent, RunId, UserId, text};
use ba_store::{
    EventScope, Holder, LeaseWatch, NewRun, RunRecord, RunStatus, SavedState, StepCommit, Store, StoreError,
};
use futures::FutureExt;
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::context::{ContextReport, MemoCounter};
use crate::drive::{Asked, Desk, Gathered, Ledger, Origin, RunJob, drive};
use crate::error::AgentError;
use crate::metrics::Metrics;
use crate::parts::{AgentParts, Models, RunState};
use crate::run::Run;
use crate::spans;
use crate::tool::Registry;

/// How often the store is asked about a run that another server drives.
const FOLLOW: Duration = Duration::from_millis(300);
/// How long a run that storage fails again and again is taken up anew, and the pause between.
const STUMBLE: Duration = Duration::from_secs(900);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// Longer messages belong into a file.
const MAX_MESSAGE: usize = 200_000;

pub struct Admitted {
    pub conversation_id: ConversationId,
    pub run_id: RunId,
}

#[derive(Clone)]
pub struct Agent {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub parts: AgentParts,
    memo: MemoCounter,
    pub live: Mutex<HashMap<RunId, Live>>,
    tasks: TaskTracker,
    pub closing: CancellationToken,
    /// Under which this process holds its runs.
    pub holder: Holder,
    /// Whether its keeper runs.
    pub kept: AtomicBool,
    /// Whether it takes over runs that nobody drives.
    pub adopts: AtomicBool,
    /// No new questions: what is under way ends or is handed over.
    draining: AtomicBool,
    /// What it has seen of the leases of others.
    pub watch: tokio::sync::Mutex<LeaseWatch>,
    /// Runs that storage has failed, and since when.
    pub stumbling: Mutex<HashMap<RunId, Instant>>,
}

/// A run this process is driving.
pub(crate) struct Live {
    owner: UserId,
    cancel: CancellationToken,
    /// Cancelled when another server has it now: what is done here is done for nobody.
    pub lost: CancellationToken,
    state: watch::Receiver<LiveState>,
}

enum LiveState {
    Going,
    /// With its last event; without, when it was left open.
    Ended(Option<Arc<RunEvent>>),
}

impl Agent {
    pub fn new(parts: AgentParts) -> Self {
        let memo = MemoCounter::new(parts.counter.clone());
        Self {
            inner: Arc::new(Inner {
                parts,
                memo,
                live: Mutex::default(),
                tasks: TaskTracker::new(),
                closing: CancellationToken::new(),
                holder: Holder::this_process(),
                kept: AtomicBool::new(false),
                adopts: AtomicBool::new(false),
                draining: AtomicBool::new(false),
                watch: tokio::sync::Mutex::default(),
                stumbling: Mutex::default(),
            }),
        }
    }

    /// Persists the question, then acknowledges it. A new conversation is made when none is named.
    pub async fn admit(&self, owner: &UserId, query: QueryRequest) -> Result<Admitted, AgentError> {
        self.admit_as(owner, query, RunId::random()).await
    }

    /// The same under an id the caller has made, to listen before anything happens.
    pub async fn admit_as(
        &self,
        owner: &UserId,
        query: QueryRequest,
        run_id: RunId,
    ) -> Result<Admitted, AgentError> {
        if self.inner.draining.load(Ordering::Acquire) {
            return Err(AgentError::ShuttingDown);
        }
        let message = query.message.trim();
        if message.is_empty() {
            return Err(AgentError::EmptyMessage);
        }
        if message.len() > MAX_MESSAGE {
            return Err(AgentError::MessageTooLong { limit: MAX_MESSAGE });
        }
        let parts = &self.inner.parts;
        if let Some(name) = &query.model
            && parts.models.get(Some(name)).is_none()
        {
            let known: Vec<&str> = parts.models.choices().into_iter().map(|(name, _)| name).collect();
            return Err(AgentError::UnknownModel(text::shorten(name, 80), known.join(", ")));
        }
        let title = text::shorten(text::one_line(message).trim(), 40);
        let conversation_id = match &query.conversation_id {
            Some(id) => self.conversation(owner, id, &title).await?,
            None => ConversationId::random(),
        };
        for file in &query.file_ids {
            if let Err(error) = parts.store.upload(&conversation_id, file.as_str()).await {
                let gone = error.is_not_found();
                return Err(if gone { AgentError::UnknownFile(file.to_string()) } else { error.into() });
            }
        }
        let replaces = match &query.replaces {
            Some(run) => Some(parts.store.replaced(&conversation_id, run).await?),
            None => None,
        };
        let model = parts.models.get(query.model.as_deref()).unwrap_or_else(|| parts.models.default.clone());
        let now = Timestamp::now();
        let state = RunState {
            machine: Run::new(message, parts.limits.clone(), now),
            model: query.model,
            output_level: query.output_level,
            file_ids: query.file_ids.clone(),
            skills: Default::default(),
            replaces: replaces.clone(),
        };
        let new = NewRun {
            run_id: run_id.clone(),
            conversation_id: conversation_id.clone(),
            owner: owner.clone(),
            message: message.to_owned(),
            file_ids: query.file_ids,
            state: SavedState::of(&state),
            created_at: now,
            holder: Some(self.inner.holder.clone()),
            replaces,
            model: model.info().name.clone(),
        };
        let record = RunRecord {
            id: run_id.clone(),
            conversation_id: conversation_id.clone(),
            owner: owner.clone(),
            message: message.to_owned(),
            state: serde_json::Value::Null,
            status: RunStatus::Running,
            created_at: now,
            updated_at: now,
            usage: Default::default(),
            epoch: 1,
            commits: 0,
        };
        let origin = match query.conversation_id {
            Some(_) => Origin::OldConversation,
            None => Origin::NewConversation(
                parts.store.no_files(&conversation_id),
                parts.store.locks().lock(&conversation_id).await,
            ),
        };
        let new_title = matches!(origin, Origin::NewConversation(..)).then_some(title);
        let (ledger, stored) = Ledger::admit(&self.desk(), new, new_title);
        // The run goes ahead; nobody hears of it before the question is stored.
        self.spawn(RunJob { record, state, ledger, origin });
        stored.await.map_err(|_| AgentError::ShuttingDown)??;
        Ok(Admitted { conversation_id, run_id })
    }

    /// The caller's conversation; one that still has no title gets it from its first question.
    async fn conversation(
        &self,
        owner: &UserId,
        id: &ConversationId,
        title: &str,
    ) -> Result<ConversationId, AgentError> {
        let store = &self.inner.parts.store;
        let found = store.conversation(owner, id).await?;
        if found.title.is_empty() {
            store.rename(owner, id, title).await?;
        }
        Ok(found.id)
    }

    pub(crate) fn desk(&self) -> Desk<'_> {
        let parts = &self.inner.parts;
        Desk { store: &parts.store, sink: &parts.sink, tasks: &self.inner.tasks }
    }

    pub(crate) fn spawn(&self, job: RunJob) {
        self.ensure_kept();
        let (cancel, lost) = (CancellationToken::new(), CancellationToken::new());
        let (end, state) = watch::channel(LiveState::Going);
        let record = job.record.clone();
        let live = Live { owner: record.owner.clone(), cancel: cancel.clone(), lost: lost.clone(), state };
        self.inner.live.lock().insert(record.id.clone(), live);
        let agent = self.clone();
        let span = spans::run(&job.record, matches!(job.origin, Origin::Resumed));
        let work = async move {
            let last = tokio::select! {
                last = agent.drive(job, &cancel) => last,
                // The last committed step is on disk; the next start resumes from it.
                () = agent.inner.closing.cancelled() => None,
                () = lost.cancelled() => None,
            };
            agent.inner.live.lock().remove(&record.id);
            if last.is_none() {
                agent.inner.parts.sink.left(&record.id);
            }
            let _ = end.send(LiveState::Ended(last.map(Arc::new)));
        };
        self.inner.tasks.spawn(work.instrument(span));
    }

    /// Drives a run; whatever happens inside, it ends in words or stays open on disk.
    async fn drive(&self, job: RunJob, cancel: &CancellationToken) -> Option<RunEvent> {
        let (record, ledger) = (job.record.clone(), job.ledger.clone());
        let driven = AssertUnwindSafe(drive(&self.inner.parts, &self.inner.memo, job, cancel)).catch_unwind();
        match driven.await {
            Ok(Ok(last)) => {
                self.inner.stumbling.lock().remove(&record.id);
                last
            }
            Ok(Err(error)) => self.stumbled(&record, error).await,
            Err(_panic) => {
                tracing::error!(run = %record.id, "the run failed unexpectedly");
                let error = ErrorInfo::new(
                    "internal_error",
                    "the run failed unexpectedly; this was logged. Ask again",
                );
                // What was on its way is told first: the failure is the last that is heard.
                let _ = ledger.durable().await;
                self.abandon(&record, error).await
            }
        }
    }

    /// Storage failed a run. What may pass is waited for: the run stays open and is taken up again from its last step.
    async fn stumbled(&self, record: &RunRecord, error: StoreError) -> Option<RunEvent> {
        if matches!(error, StoreError::Conflict(_) | StoreError::NotFound { .. }) {
            tracing::warn!(run = %record.id, %error, "the run is not ours any more");
            return None;
        }
        let since = *self.inner.stumbling.lock().entry(record.id.clone()).or_insert_with(Instant::now);
        if error.may_pass() && since.elapsed() < STUMBLE {
            tracing::error!(run = %record.id, %error, "the run waits for the storage");
            tokio::time::sleep((since.elapsed() / 4).clamp(Duration::from_secs(1), LONGEST_PAUSE)).await;
            return None;
        }
        self.inner.stumbling.lock().remove(&record.id);
        tracing::error!(run = %record.id, %error, "the run ends: the storage fails it");
        let error =
            ErrorInfo::new("storage_failed", format!("the storage failed this question: {error}. Ask again"));
        self.abandon(record, error).await
    }

    /// Ends a run that cannot be driven, in words the user can read.
    pub(crate) async fn abandon(&self, record: &RunRecord, error: ErrorInfo) -> Option<RunEvent> {
        let event = RunEvent::RunFailed { error };
        let commit = StepCommit {
            epoch: record.epoch,
            status: RunStatus::Failed,
            events: vec![event.clone()],
            usage: record.usage.clone(),
            ..StepCommit::going_on()
        };
        match self.inner.parts.store.commit_step(&record.id, commit).await {
            Ok(events) => {
                events.iter().for_each(|e| self.inner.parts.sink.publish(e));
                Some(event)
            }
            Err(error) => {
                tracing::error!(run = %record.id, %error, "cannot end the run");
                None
            }
        }
    }

    /// Waits for a run's end and gives its answer.
    pub async fn wait(&self, owner: &UserId, run_id: &RunId) -> Result<AgentResponse, AgentError> {
        let watching = self
            .inner
            .live
            .lock()
            .get(run_id)
            .filter(|live| &live.owner == owner)
            .map(|live| live.state.clone());
        if let Some(mut watching) = watching {
            let ended = watching.wait_for(|state| matches!(state, LiveState::Ended(_))).await;
            if let Ok(state) = ended
                && let LiveState::Ended(Some(last)) = &*state
            {
                return answer_of(RunEvent::clone(last));
            }
        }
        // Another server drives it, or will: its last event comes through the store.
        loop {
            match self.answer(owner, run_id).await {
                Err(AgentError::StillRunning) if !self.inner.closing.is_cancelled() => {
                    tokio::time::sleep(FOLLOW).await;
                }
                Err(AgentError::StillRunning) => return Err(AgentError::ShuttingDown),
                ended => return ended,
            }
        }
    }

    /// The answer of an ended run, from its last event.
    pub async fn answer(&self, owner: &UserId, run_id: &RunId) -> Result<AgentResponse, AgentError> {
        let store = &self.inner.parts.store;
        if store.run(owner, run_id).await?.status.is_open() {
            return Err(AgentError::StillRunning);
        }
        let events = store.events_after(EventScope::Run(run_id), 0, 10_000).await?;
        let last = events.into_iter().rev().find(|e| e.event.is_last());
        last.map_or(Err(AgentError::StillRunning), |event| answer_of(event.event))
    }

    /// Asks a run to stop, whichever server drives it; false when it has ended.
    pub async fn cancel(&self, run_id: &RunId) -> Result<bool, AgentError> {
        if self.cancel_here(run_id) {
            return Ok(true);
        }
        Ok(self.inner.parts.store.request_cancel(run_id).await?)
    }

    /// False when this process does not drive it.
    pub(crate) fn cancel_here(&self, run_id: &RunId) -> bool {
        match self.inner.live.lock().get(run_id) {
            Some(live) => {
                live.cancel.cancel();
                true
            }
            None => false,
        }
    }

    /// Takes no new questions, lets runs finish for a while, then hands them over to whoever takes them.
    pub async fn shutdown(&self, grace: Duration) {
        self.inner.draining.store(true, Ordering::Release);
        self.inner.adopts.store(false, Ordering::Release);
        self.inner.tasks.close();
        if tokio::time::timeout(grace, self.inner.tasks.wait()).await.is_err() {
            self.inner.closing.cancel();
            let _ = tokio::time::timeout(Duration::from_secs(5), self.inner.tasks.wait()).await;
        }
        self.inner.closing.cancel();
        if let Err(error) = self.give_up_leases().await {
            tracing::warn!(%error, "leases were not given up; others wait until they run out");
        }
        self.inner.parts.log.flush().await;
    }

    /// Lets others take this process's runs at once.
    pub async fn give_up_leases(&self) -> Result<(), AgentError> {
        // After a look that is under way: what it takes is given up as well.
        let _look = self.inner.watch.lock().await;
        Ok(self.inner.parts.store.release_leases(&self.inner.holder).await?)
    }

    /// The context inspector: what a turn sent to the model, or what the next one would.
    pub async fn context_report(
        &self,
        owner: &UserId,
        conversation: &ConversationId,
        turn: Option<usize>,
    ) -> Result<Option<ContextReport>, AgentError> {
        let parts = &self.inner.parts;
        parts.store.conversation(owner, conversation).await?;
        let turns = Arc::new(parts.store.turns(conversation).await?);
        let files = Arc::new(parts.store.files(conversation).await?);
        let asked = Asked { conversation, question: "", attached: &[], earlier: None };
        let gathered = Gathered::of(parts, asked, turns, files).await;
        Ok(gathered.inspect(parts, turn, &self.inner.memo).await)
    }

    pub fn live_runs(&self) -> usize {
        self.inner.live.lock().len()
    }

    /// Questions of one person under way.
    pub fn live_runs_of(&self, owner: &UserId) -> usize {
        self.inner.live.lock().values().filter(|live| &live.owner == owner).count()
    }

    /// Waits until every line of the conversation logs is written.
    pub async fn flush_log(&self) {
        self.inner.parts.log.flush().await;
    }

    pub fn store(&self) -> &Store {
        &self.inner.parts.store
    }

    pub fn registry(&self) -> &Registry {
        &self.inner.parts.registry
    }

    pub fn metrics(&self) -> &Metrics {
        &self.inner.parts.metrics
    }

    pub fn models(&self) -> &Models {
        &self.inner.parts.models
    }

    pub fn model(&self) -> &Arc<dyn Model> {
        &self.inner.parts.models.default
    }
}

fn answer_of(last: RunEvent) -> Result<AgentResponse, AgentError> {
    match last {
        RunEvent::Report(response) => Ok(*response),
        RunEvent::RunFailed { error } => Err(AgentError::RunFailed(error)),
        _ => Err(AgentError::Cancelled),
    }
}
