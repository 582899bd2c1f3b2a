//! The agent as the rest of the program sees it: admit a question, watch it, wait for it, cancel it.
//! A message is durable before `admit` returns; the run goes on in the background.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ba_model::Model;
use ba_protocol::api::{AgentResponse, QueryRequest};
use ba_protocol::audit::AuditMode;
use ba_protocol::{ConversationId, OutputLevel, RunEvent, RunId, UserId, text};
use ba_store::{EventScope, NewRun, RunRecord, RunStatus, SavedState, Store};
use jiff::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::ask::Gathered;
use crate::context::ContextReport;
use crate::driver::{Driver, Origin, RunJob};
use crate::error::AgentError;
use crate::ledger::{Desk, Ledger};
use crate::metrics::Metrics;
use crate::pipeline::{Counter, Executor};
use crate::run::{Limits, Run};
use crate::sink::EventSink;
use crate::spans;
use crate::tool::Registry;

/// Longer messages belong into a file.
const MAX_MESSAGE: usize = 200_000;

/// Everything a run needs, wired once.
pub struct AgentParts {
    pub store: Store,
    pub models: Models,
    pub registry: Registry,
    pub executor: Executor,
    pub sink: Arc<dyn EventSink>,
    /// The rendered system prompt; the same bytes for every turn.
    pub system_prompt: String,
    pub limits: Limits,
    pub default_level: OutputLevel,
    pub counter: Counter,
    pub metrics: Metrics,
    pub log: crate::log::ConversationLog,
    pub skills: crate::skills::Skills,
    /// What is done with figures that nothing proves.
    pub audit: AuditMode,
}

/// The models a run may use.
#[derive(Clone)]
pub struct Models {
    pub default: Arc<dyn Model>,
    /// Cheaper, for summaries (SPEC L2).
    pub summary: Option<Arc<dyn Model>>,
    /// Makes another configured model of its `provider:model` name.
    pub by_name: Arc<FindModel>,
}

type FindModel = dyn Fn(&str) -> Option<Arc<dyn Model>> + Send + Sync;

impl Models {
    pub fn only(model: Arc<dyn Model>) -> Self {
        Self { default: model, summary: None, by_name: Arc::new(|_| None) }
    }

    pub fn get(&self, name: Option<&str>) -> Option<Arc<dyn Model>> {
        match name {
            None => Some(self.default.clone()),
            Some(name) if name == self.default.info().name => Some(self.default.clone()),
            Some(name) => (self.by_name)(name),
        }
    }
}

/// What is saved of a run beside its machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunState {
    pub machine: Run,
    pub model: Option<String>,
    pub output_level: Option<OutputLevel>,
    /// The active skills, so that a run resumes inside them (SPEC S3).
    #[serde(default)]
    pub skills: ba_skills::SkillState,
}

pub struct Admitted {
    pub conversation_id: ConversationId,
    pub run_id: RunId,
}

#[derive(Clone)]
pub struct Agent {
    inner: Arc<Inner>,
}

struct Inner {
    driver: Driver,
    live: Mutex<HashMap<RunId, Live>>,
    tasks: TaskTracker,
    closing: CancellationToken,
}

/// A run this process is driving.
struct Live {
    owner: UserId,
    cancel: CancellationToken,
    state: watch::Receiver<LiveState>,
}

enum LiveState {
    Going,
    /// With its last event; without, when it was left open.
    Ended(Option<Arc<RunEvent>>),
}

impl Agent {
    pub fn new(parts: AgentParts) -> Self {
        Self {
            inner: Arc::new(Inner {
                driver: Driver::new(parts),
                live: Mutex::default(),
                tasks: TaskTracker::new(),
                closing: CancellationToken::new(),
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
        if self.inner.closing.is_cancelled() {
            return Err(AgentError::ShuttingDown);
        }
        let message = query.message.trim();
        if message.is_empty() {
            return Err(AgentError::EmptyMessage);
        }
        if message.len() > MAX_MESSAGE {
            return Err(AgentError::MessageTooLong { limit: MAX_MESSAGE });
        }
        let parts = self.inner.driver.parts();
        if let Some(name) = &query.model
            && parts.models.get(Some(name)).is_none()
        {
            return Err(AgentError::UnknownModel(name.clone()));
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
        let now = Timestamp::now();
        let state = RunState {
            machine: Run::new(message, parts.limits.clone(), now),
            model: query.model,
            output_level: query.output_level,
            skills: Default::default(),
        };
        let new = NewRun {
            run_id: run_id.clone(),
            conversation_id: conversation_id.clone(),
            owner: owner.clone(),
            message: message.to_owned(),
            file_ids: query.file_ids,
            state: SavedState::of(&state),
            created_at: now,
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
        };
        let origin = match query.conversation_id {
            Some(_) => Origin::OldConversation,
            None => Origin::NewConversation(
                parts.store.no_files(&conversation_id),
                parts.store.locks().lock(&conversation_id).await?,
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
        let store = &self.inner.driver.parts().store;
        let found = store.conversation(owner, id).await?;
        if found.title.is_empty() {
            store.rename(owner, id, title).await?;
        }
        Ok(found.id)
    }

    fn desk(&self) -> Desk<'_> {
        let parts = self.inner.driver.parts();
        Desk { store: &parts.store, sink: &parts.sink, tasks: &self.inner.tasks }
    }

    fn spawn(&self, job: RunJob) {
        let cancel = CancellationToken::new();
        let (end, state) = watch::channel(LiveState::Going);
        let (run_id, owner) = (job.record.id.clone(), job.record.owner.clone());
        self.inner.live.lock().insert(run_id.clone(), Live { owner, cancel: cancel.clone(), state });
        let agent = self.clone();
        let span = spans::run(&job.record, matches!(job.origin, Origin::Resumed));
        let work = async move {
            let last = tokio::select! {
                last = agent.inner.driver.drive(job, &cancel) => last,
                // The last committed step is on disk; the next start resumes from it.
                () = agent.inner.closing.cancelled() => None,
            };
            agent.inner.live.lock().remove(&run_id);
            let _ = end.send(LiveState::Ended(last.map(Arc::new)));
        };
        self.inner.tasks.spawn(work.instrument(span));
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
        self.answer(owner, run_id).await
    }

    /// The answer of an ended run, from its last event.
    pub async fn answer(&self, owner: &UserId, run_id: &RunId) -> Result<AgentResponse, AgentError> {
        let store = &self.inner.driver.parts().store;
        store.run(owner, run_id).await?;
        let events = store.events_after(EventScope::Run(run_id), 0, 10_000).await?;
        let last = events.into_iter().rev().find(|e| e.event.is_last());
        last.map_or(Err(AgentError::ShuttingDown), |event| answer_of(event.event))
    }

    /// Asks a run to stop; false when this process does not drive it.
    pub fn cancel(&self, run_id: &RunId) -> bool {
        match self.inner.live.lock().get(run_id) {
            Some(live) => {
                live.cancel.cancel();
                true
            }
            None => false,
        }
    }

    /// Takes up the runs a crash or restart left open, each from its last step.
    pub async fn resume_open_runs(&self) -> Result<usize, AgentError> {
        let open = self.inner.driver.parts().store.open_runs().await?;
        let count = open.len();
        for record in open {
            match serde_json::from_value::<RunState>(record.state.clone()) {
                Ok(state) => {
                    let ledger = Ledger::resume(&self.desk(), &record.id);
                    self.spawn(RunJob { record, state, ledger, origin: Origin::Resumed });
                }
                Err(error) => self.inner.driver.abandon(&record, &error.to_string()).await,
            }
        }
        Ok(count)
    }

    /// Lets runs finish for a while, then leaves them to be resumed.
    pub async fn shutdown(&self, grace: Duration) {
        self.inner.tasks.close();
        if tokio::time::timeout(grace, self.inner.tasks.wait()).await.is_err() {
            self.inner.closing.cancel();
            let _ = tokio::time::timeout(Duration::from_secs(5), self.inner.tasks.wait()).await;
        }
        self.inner.closing.cancel();
        self.inner.driver.parts().log.flush().await;
    }

    /// The context inspector: what a turn sent to the model, or what the next one would.
    pub async fn context_report(
        &self,
        owner: &UserId,
        conversation: &ConversationId,
        turn: Option<usize>,
    ) -> Result<Option<ContextReport>, AgentError> {
        let parts = self.inner.driver.parts();
        parts.store.conversation(owner, conversation).await?;
        let rounds = Arc::new(parts.store.rounds(conversation).await?);
        let files = Arc::new(parts.store.files(conversation).await?);
        let gathered = Gathered::of(parts, rounds, files, "").await;
        Ok(gathered.inspect(parts, turn, self.inner.driver.memo()).await)
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
        self.inner.driver.parts().log.flush().await;
    }

    pub fn store(&self) -> &Store {
        &self.inner.driver.parts().store
    }

    pub fn registry(&self) -> &Registry {
        &self.inner.driver.parts().registry
    }

    pub fn metrics(&self) -> &Metrics {
        &self.inner.driver.parts().metrics
    }

    pub fn model(&self) -> &Arc<dyn Model> {
        &self.inner.driver.parts().models.default
    }
}

fn answer_of(last: RunEvent) -> Result<AgentResponse, AgentError> {
    match last {
        RunEvent::Report(response) => Ok(*response),
        RunEvent::RunFailed { error } => Err(AgentError::RunFailed(error)),
        _ => Err(AgentError::Cancelled),
    }
}
