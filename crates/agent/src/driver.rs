//! Drives one run: asks the machine for the next step and does its IO. Every step is one transaction, and the intent of a
//! tool with effects is on disk before it runs, so a crash resumes and nothing with effects runs twice. What may run twice
//! does not wait for the disk.

use std::sync::Arc;
use std::time::Instant;

use ba_audit::Evidence;
use ba_model::Model;
use ba_protocol::api::{ErrorInfo, UsageInfo};
use ba_protocol::event::ToolFinished;
use ba_protocol::{Round, RunEvent, StructuredResponse, ToolCall, text};
use ba_skills::Effective;
use ba_store::{
    ConversationFiles, ConversationGuard, RunRecord, RunStatus, SavedState, StepCommit, StoreError,
    ToolIntent, ToolOutcome,
};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use crate::ask::Gathered;
use crate::context::MemoCounter;
use crate::finish;
use crate::ledger::Ledger;
use crate::pipeline::{CallRequest, Executed};
use crate::proof;
use crate::respond::{self, RunFacts};
use crate::run::{Decision, Outcome, PlannedCall, Step};
use crate::service::{AgentParts, RunState};
use crate::skills;
use crate::spans;
use crate::tally::Tally;
use crate::tool::{Progress, ToolContext};

/// How much of an observation an event shows people.
const PEEK: usize = 2_000;

pub struct Driver {
    parts: AgentParts,
    memo: MemoCounter,
}

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
    pub parts: &'a AgentParts,
    pub memo: &'a MemoCounter,
    pub record: RunRecord,
    pub state: RunState,
    pub model: Arc<dyn Model>,
    pub tally: Tally,
    /// What the calls so far are worth as evidence for figures (SPEC V).
    pub evidence: Evidence,
    /// Computes the headline figure apart from the model (SPEC V6).
    pub witness: proof::Beside,
    pub usage: UsageInfo,
    /// Share of the model's window the last request took.
    pub window_share: f64,
    /// The skills the present turn was asked under; kept when they end with the run.
    pub skill_chain: Vec<String>,
    /// When the present round was begun.
    pub round_began: Instant,
    pub ledger: Ledger,
    /// The last event, once it is stored.
    pub ending: Option<RunEvent>,
    /// As last read; the rounds of a conversation do not change during a run.
    pub rounds: Option<Arc<Vec<Round>>>,
    pub files: Option<Arc<ConversationFiles>>,
    pub gathered: Option<Arc<Gathered>>,
    /// Calls of the present step may already have been answered.
    resumed: bool,
    pub span: Span,
    round_span: Span,
}

impl Driver {
    pub fn new(parts: AgentParts) -> Self {
        let memo = MemoCounter::new(parts.counter.clone());
        Self { parts, memo }
    }

    pub fn memo(&self) -> &MemoCounter {
        &self.memo
    }

    pub fn parts(&self) -> &AgentParts {
        &self.parts
    }

    /// Drives a run to its end, waiting first for its conversation's turn (SPEC E12). Gives its last event.
    pub(crate) async fn drive(&self, job: RunJob, cancel: &CancellationToken) -> Option<RunEvent> {
        let RunJob { record, state, ledger, origin } = job;
        let resumed = matches!(origin, Origin::Resumed);
        let (rounds, files, turn) = match origin {
            Origin::NewConversation(files, turn) => {
                (Some(Arc::default()), Some(Arc::new(files)), Ok(Some(turn)))
            }
            Origin::OldConversation | Origin::Resumed => {
                let turn = tokio::select! {
                    turn = self.parts.store.locks().lock(&record.conversation_id) => turn.map(Some),
                    // Who cancels a run that still waits need not wait for the one before it.
                    () = cancel.cancelled() => Ok(None),
                };
                (None, None, turn)
            }
        };
        let _turn = match turn {
            Ok(guard) => guard,
            Err(error) => {
                tracing::error!(run = %record.id, %error, "cannot lock the conversation");
                return None;
            }
        };
        let Some(model) = self.parts.models.get(state.model.as_deref()) else {
            self.abandon(&record, "its model is no longer configured").await;
            return None;
        };
        let mut drive = Drive {
            parts: &self.parts,
            memo: &self.memo,
            usage: record.usage.clone(),
            record,
            state,
            model,
            tally: Tally::default(),
            evidence: Evidence::new(),
            witness: proof::Beside::default(),
            window_share: 0.0,
            skill_chain: Vec::new(),
            round_began: Instant::now(),
            ledger,
            ending: None,
            rounds,
            files,
            gathered: None,
            resumed,
            span: Span::current(),
            round_span: Span::none(),
        };
        if resumed && let Err(error) = drive.restore().await {
            tracing::error!(run = %drive.record.id, %error, "cannot read the run's calls");
            return None;
        }
        loop {
            let stepped = tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    drive.state.machine.end(Outcome::Cancelled);
                    drive.step().await
                }
                stepped = drive.step() => stepped,
            };
            match stepped {
                Ok(true) => return drive.ending,
                Ok(false) => {}
                // Nothing was acknowledged: the run stays open and is resumed when storage works again.
                Err(error) => {
                    tracing::error!(run = %drive.record.id, %error, "the step was not stored");
                    return None;
                }
            }
        }
    }

    /// Ends a run that cannot be taken up again, in words the user can read.
    pub async fn abandon(&self, record: &RunRecord, why: &str) {
        let error = ErrorInfo::new("run_not_resumable", format!("the run could not be resumed: {why}"));
        let commit = StepCommit {
            events: vec![RunEvent::RunFailed { error }],
            ..StepCommit::new(record.state.clone(), RunStatus::Failed)
        };
        match self.parts.store.commit_step(&record.id, commit).await {
            Ok(events) => events.iter().for_each(|e| self.parts.sink.publish(e)),
            Err(error) => tracing::error!(run = %record.id, %error, "cannot end the run"),
        }
    }
}

impl Drive<'_> {
    /// One step of the machine. True when the run has ended.
    async fn step(&mut self) -> Result<bool, StoreError> {
        self.ledger.check().await?;
        match self.state.machine.next_step(Timestamp::now()) {
            Step::AskModel(_) => self.ask_model().await.map(|()| false),
            Step::RunTools(planned) => {
                let planned = planned.to_vec();
                self.run_tools(planned).await.map(|()| false)
            }
            Step::Done(outcome) => {
                let outcome = outcome.clone();
                let Some(ending) = proof::settle(self, outcome).await? else { return Ok(false) };
                // Every way a run ends goes through here: no skill outlives it.
                self.state.skills.unwind();
                finish::finish(self, ending).await.map(|()| true)
            }
        }
    }

    async fn ask_model(&mut self) -> Result<(), StoreError> {
        self.skill_chain = self.state.skills.chain().iter().map(ToString::to_string).collect();
        let effective = self.effective();
        if let Some(model) = self.parts.models.get(Some(&effective.model)) {
            self.model = model;
        }
        let Some(request) = self.request(&effective).await? else { return Ok(()) };
        proof::begin_witness(self);
        let round = self.state.machine.model_turns() + 1;
        let teller = self.ledger.teller();
        let on_delta = move |delta: &str| {
            teller.tell(RunEvent::TextDelta { text: delta.to_owned(), round });
        };
        self.round_began = Instant::now();
        self.parts.log.round_start(&self.record, round);
        self.parts.log.model_input(&self.record, &request, &self.parts.counter);
        let asked = Instant::now();
        self.round_span = spans::round(&self.span, round);
        let span = spans::model(&self.round_span, self.model.info());
        let reply = match self.model.complete(&request, &on_delta).instrument(span.clone()).await {
            Ok(reply) => reply,
            Err(error) => {
                spans::model_failed(&span, &error);
                tracing::warn!(run = %self.record.id, code = error.code(), %error, "the model did not answer");
                self.parts.metrics.model_failed(&self.model.info().name);
                let error = ErrorInfo::new(error.code(), error.to_string());
                self.state.machine.end(Outcome::Failed { error });
                return Ok(());
            }
        };
        let usage = self.account(&request, &reply);
        spans::model_answered(&span, &usage, reply.stop);
        drop(span);
        self.parts.metrics.model_answered(&self.model.info().name, &usage, asked.elapsed());
        let response = self.state.machine.on_model(&reply.text, usage.input_tokens + usage.output_tokens);
        self.parts.log.model_output(&self.record, &reply.text, response.as_ref(), usage.output_tokens);
        for repair in self.state.machine.repairs() {
            self.parts.log.warning(&self.record, &format!("model output repaired: {repair}"));
        }
        self.commit_turn(response).await
    }

    /// A turn with tool calls is committed with its intents. Other turns end the run, which commits by itself.
    async fn commit_turn(&mut self, response: Option<StructuredResponse>) -> Result<(), StoreError> {
        let round = self.state.machine.model_turns();
        let Step::RunTools(planned) = self.state.machine.next_step(Timestamp::now()) else { return Ok(()) };
        let planned = planned.to_vec();
        let Some(response) = response else { return Ok(()) };
        let mut events = vec![RunEvent::Round(Box::new(respond::processing(&response, self.facts())))];
        events.extend(planned.iter().map(|p| RunEvent::ToolStarted {
            tool_call_id: p.call.tool_call_id.clone(),
            tool_name: p.call.tool_name.clone(),
            arguments: p.call.arguments.clone(),
            round,
        }));
        planned.iter().for_each(|p| self.parts.log.tool_call(&self.record, &p.call));
        let intents =
            planned.iter().filter(|p| p.decision == Decision::Run).map(|p| self.intent(p, round)).collect();
        self.commit(StepCommit { events, intents, ..self.progress() }).await
    }

    fn intent(&self, planned: &PlannedCall, step: u32) -> ToolIntent {
        let call = &planned.call;
        ToolIntent {
            step,
            tool_call_id: call.tool_call_id.clone(),
            tool_name: call.tool_name.clone(),
            arguments: call.arguments.clone(),
            idempotent: self.is_harmless(call),
        }
    }

    /// Whether running it twice does no harm.
    fn is_harmless(&self, call: &ToolCall) -> bool {
        let tool = self.parts.registry.get(&call.tool_name);
        tool.is_none_or(|t| t.plan(&call.arguments).effects.is_harmless())
    }

    /// Runs the calls of one turn in parallel; each result is on disk before a person hears of it.
    async fn run_tools(&mut self, mut planned: Vec<PlannedCall>) -> Result<(), StoreError> {
        let step = self.state.machine.model_turns();
        let mut results: Vec<Option<ba_protocol::ToolResult>> = vec![None; planned.len()];
        let recorded = match std::mem::take(&mut self.resumed) {
            true => self.parts.store.calls(&self.record.id).await?,
            false => Vec::new(),
        };
        let mut to_run = Vec::new();
        for (index, call) in planned.iter().enumerate() {
            let id = &call.call.tool_call_id;
            match recorded.iter().find(|r| r.intent.step == step && &r.intent.tool_call_id == id) {
                Some(found) if found.result.is_some() => results[index].clone_from(&found.result),
                _ => to_run.push(index),
            }
        }
        if to_run.iter().any(|&index| !self.is_harmless(&planned[index].call)) {
            self.ledger.durable().await?;
        }
        let files = finish::fingerprint(&*self.files().await?);
        let effective = self.effective();
        skills::refuse_others(&mut planned, &effective, &self.state.skills);
        let chains = skills::chains(&self.state.skills, &planned);
        let skill_files = self.parts.skills.files(&self.state.skills);
        let this = &*self;
        let mut executions: FuturesUnordered<_> = to_run
            .iter()
            .map(|&index| {
                let planned = &planned[index];
                let request = CallRequest {
                    planned,
                    registry: &this.parts.registry,
                    context: ToolContext {
                        skills: chains[index].clone(),
                        skill_files: skill_files.clone(),
                        ..this.tool_context(&planned.call.tool_call_id)
                    },
                    global_level: effective.output_level.unwrap_or(this.parts.default_level),
                    window_share: this.window_share,
                    files: &files,
                    counter: &this.parts.counter,
                    told: &this.tally.told,
                };
                let span = spans::tool(&this.round_span, &planned.call);
                async move {
                    let executed = this.parts.executor.execute(request).instrument(span.clone()).await;
                    spans::tool_finished(&span, &executed);
                    (index, executed)
                }
            })
            .collect();
        let mut finished: Vec<(usize, Executed)> = Vec::new();
        while let Some((index, executed)) = executions.next().await {
            finished.push((index, executed));
            if finished.len() < to_run.len()
                && let Some((_, executed)) = finished.last()
            {
                let commit = StepCommit {
                    events: vec![finished_event(executed)],
                    outcomes: vec![outcome_of(step, executed)],
                    ..this.progress()
                };
                this.commit(commit).await?;
            }
        }
        drop(executions);
        let last = finished.last().map(|(_, executed)| executed);
        let events = last.map(finished_event).into_iter().collect();
        let outcomes = last.map(|executed| outcome_of(step, executed)).into_iter().collect();
        for (index, executed) in finished {
            self.parts.metrics.tool_finished(&self.record.conversation_id, &executed.telemetry);
            self.parts.log.tool_result(&self.record, &executed.result);
            self.tally.add(&executed.result, Some(&executed.telemetry));
            self.evidence.extend(executed.evidence);
            results[index] = Some(executed.result);
        }
        self.parts.skills.apply(&mut self.state.skills, &planned, &results);
        self.state.machine.on_tools(results.into_iter().flatten().collect());
        self.parts.log.round_end(&self.record, step, self.round_began.elapsed());
        self.commit(StepCommit { events, outcomes, ..self.progress() }).await
    }

    fn tool_context(&self, call_id: &str) -> ToolContext {
        let (teller, tool_call_id) = (self.ledger.teller(), call_id.to_owned());
        let progress = Progress::new(move |fraction, message| {
            let event = RunEvent::ToolProgress {
                tool_call_id: tool_call_id.clone(),
                fraction,
                message: text::shorten(&text::one_line(message), 200),
            };
            teller.tell(event);
        });
        let record = &self.record;
        let context = ToolContext::new(
            record.owner.clone(),
            record.conversation_id.clone(),
            record.id.clone(),
            call_id,
        );
        ToolContext { level: self.parts.default_level, progress, ..context }
    }

    /// What the active skills leave of the user's settings (SPEC S4).
    fn effective(&self) -> Effective {
        skills::effective(self.parts, &self.state)
    }

    /// What earlier steps of a resumed run did.
    async fn restore(&mut self) -> Result<(), StoreError> {
        let step = self.state.machine.model_turns();
        self.evidence = proof::restored(self).await?;
        let calls = self.parts.store.calls(&self.record.id).await?;
        let mut interrupted = Vec::new();
        for call in &calls {
            match (&call.result, &call.telemetry) {
                (Some(result), telemetry) => self.tally.add(result, telemetry.as_ref()),
                (None, _) if call.intent.step == step && !call.intent.idempotent => {
                    interrupted.push(finish::interrupted(&call.intent));
                }
                (None, _) => {}
            }
        }
        if interrupted.is_empty() {
            return Ok(());
        }
        let outcomes = interrupted.into_iter().map(|result| ToolOutcome {
            step,
            result,
            telemetry: None,
            evidence: None,
        });
        self.parts.store.record_results(&self.record.id, outcomes.collect()).await
    }

    pub(crate) fn facts(&self) -> RunFacts {
        RunFacts {
            conversation_id: self.record.conversation_id.clone(),
            run_id: self.record.id.clone(),
            duration_ms: u64::try_from(
                Timestamp::now().duration_since(self.state.machine.started_at()).as_millis().max(0),
            )
            .unwrap_or(0),
            tool_calls: self.tally.calls.clone(),
            artifacts: self.tally.artifacts.clone(),
            data_notes: self.tally.data_notes.clone(),
            model: self.model.info().name.clone(),
            offline: self.model.info().offline,
            usage: self.usage.clone(),
            skill_chain: self.skill_chain.clone(),
            stop_reason: None,
            warnings: Vec::new(),
        }
    }

    /// A commit that moves nothing but what the caller adds.
    pub(crate) fn progress(&self) -> StepCommit {
        StepCommit {
            usage: self.usage.clone(),
            ..StepCommit::new(SavedState::of(&self.state), RunStatus::Running)
        }
    }

    pub(crate) async fn commit(&self, commit: StepCommit) -> Result<(), StoreError> {
        self.ledger.commit(commit).await
    }

    /// The conversation's files, read again only when they have changed.
    pub(crate) async fn files(&mut self) -> Result<Arc<ConversationFiles>, StoreError> {
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

fn outcome_of(step: u32, executed: &Executed) -> ToolOutcome {
    ToolOutcome {
        step,
        result: executed.result.clone(),
        telemetry: Some(executed.telemetry.clone()),
        evidence: executed.evidence.as_ref().and_then(|e| serde_json::to_string(e).ok()),
    }
}

fn finished_event(executed: &Executed) -> RunEvent {
    let result = &executed.result;
    RunEvent::ToolFinished(Box::new(ToolFinished {
        tool_call_id: result.tool_call_id.clone(),
        tool_name: result.tool_name.clone(),
        success: result.success,
        duration_ms: executed.telemetry.duration_ms,
        cache_hit: executed.telemetry.cache_hit,
        summary: executed.summary.clone(),
        observation: text::prefix(&result.observation, PEEK).to_owned(),
        error_code: result.error_code.clone(),
        artifacts: result.artifacts.clone(),
    }))
}
