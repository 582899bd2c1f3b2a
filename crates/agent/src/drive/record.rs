//! What is stored, logged, told and measured of a run, all of it decided here: the machine's effects are carried out,
//! results and usage are booked, and the end is made durable. Decides nothing about the run itself.

use std::time::Instant;

use ba_model::{ModelError, ModelReply, ModelRequest, Prices, Usage};
use ba_protocol::api::UsageInfo;
use ba_protocol::event::ToolFinished;
use ba_protocol::{RunEvent, StructuredResponse, text};
use ba_store::{RunStatus, SavedState, StepCommit, StoreError, ToolIntent, ToolOutcome};
use jiff::Timestamp;
use tracing::Instrument;

use super::Drive;
use crate::context::ContextReport;
use crate::pipeline::Executed;
use crate::respond::{self, RunFacts};
use crate::run::{Decision, Effect, PlannedCall};
use crate::spans;

/// How much of an observation an event shows people.
const PEEK: usize = 2_000;

impl Drive<'_> {
    pub(super) async fn carry_out(&mut self, effects: Vec<Effect>) -> Result<(), StoreError> {
        for effect in effects {
            match effect {
                Effect::Heard { text, response } => {
                    let tokens = self.book.round_usage.output_tokens;
                    self.parts.log.model_output(&self.record, &text, response.as_deref(), tokens);
                }
                Effect::Warn(message) => self.parts.log.warning(&self.record, &message),
                Effect::Announce { response, calls } => self.announce(&response, &calls).await?,
                Effect::CloseRound { round } => {
                    self.parts.log.round_end(&self.record, round, self.book.round_began.elapsed());
                    self.commit(self.progress()).await?;
                }
                Effect::SendBack { request } => {
                    self.parts.log.sent_back(&self.record, &request);
                    self.commit(self.progress()).await?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn round_begins(&mut self, round: u32) {
        self.book.round_began = Instant::now();
        self.book.round_span = spans::round(&self.book.span, round);
        self.said.lock().clear();
        self.parts.log.round_start(&self.record, round);
    }

    pub(super) fn context_built(&self, report: &ContextReport) {
        if report.saved_tokens > 0 {
            self.parts.log.context_cleaned(&self.record, report.original_tokens as u64, report.tokens as u64);
        }
    }

    /// Asks the model; what it streams is told as it comes.
    pub(super) async fn complete(
        &self,
        round: u32,
        request: &ModelRequest,
    ) -> Result<ModelReply, ModelError> {
        self.parts.log.model_input(&self.record, request, &self.parts.counter);
        let (teller, said) = (self.book.ledger.teller(), self.said.clone());
        let on_delta = move |delta: &str| {
            said.lock().push_str(delta);
            teller.tell(RunEvent::TextDelta { text: delta.to_owned(), round });
        };
        let name = &self.model.info().name;
        let span = spans::model(&self.book.round_span, self.model.info());
        let asked = Instant::now();
        let reply = self.model.complete(request, &on_delta).instrument(span.clone()).await;
        match &reply {
            Ok(reply) => {
                let usage = self.usage_of(request, reply);
                spans::model_answered(&span, &usage, reply.stop);
                self.parts.metrics.model_answered(name, &usage, asked.elapsed());
                if let Some(thinking) = &reply.thinking {
                    self.parts.log.thinking(&self.record, thinking);
                }
            }
            Err(error) => {
                spans::model_failed(&span, error);
                tracing::warn!(run = %self.record.id, code = error.code(), %error, "the model did not answer");
                self.parts.metrics.model_failed(name);
            }
        }
        reply
    }

    /// Provider-reported usage where there is some, counted tokens else (SPEC M1).
    fn usage_of(&self, request: &ModelRequest, reply: &ModelReply) -> Usage {
        let counted = || Usage {
            input_tokens: request
                .messages
                .iter()
                .map(|m| self.memo.count_message(&m.wire_text()) as u64)
                .sum(),
            output_tokens: self.memo.count(&reply.text) as u64,
            cached_tokens: 0,
        };
        reply.usage.unwrap_or_else(counted)
    }

    pub(super) fn account(&mut self, request: &ModelRequest, reply: &ModelReply) -> Usage {
        let usage = self.usage_of(request, reply);
        let info = self.model.info();
        #[expect(clippy::cast_precision_loss, reason = "a share of a window")]
        if info.window > 0 {
            self.window_share = usage.input_tokens as f64 / info.window as f64;
        }
        add(&mut self.book.usage, &usage, info.prices);
        self.book.round_usage = usage;
        usage
    }

    /// What the summaries of a request took, at their own model's prices (SPEC M1).
    pub(super) fn book_summaries(&mut self, spent: &Usage) {
        if let Some(model) = &self.parts.models.summary {
            add(&mut self.book.usage, spent, model.info().prices);
        }
    }

    /// People are told of a round's calls, and their intents are stored, in one step.
    async fn announce(&self, response: &StructuredResponse, calls: &[PlannedCall]) -> Result<(), StoreError> {
        let round = self.state.machine.model_turns();
        let mut events = vec![RunEvent::Turn(Box::new(respond::processing(response, self.facts())))];
        let mut intents = Vec::new();
        for planned in calls {
            let call = &planned.call;
            self.parts.log.tool_call(&self.record, call);
            events.push(RunEvent::ToolStarted {
                tool_call_id: call.tool_call_id.clone(),
                tool_name: call.tool_name.clone(),
                arguments: call.arguments.clone(),
                round,
            });
            if planned.decision == Decision::Run {
                intents.push(ToolIntent {
                    step: round,
                    tool_call_id: call.tool_call_id.clone(),
                    tool_name: call.tool_name.clone(),
                    arguments: call.arguments.clone(),
                    idempotent: self.is_harmless(call),
                });
            }
        }
        self.commit(StepCommit { events, intents, ..self.progress() }).await
    }

    /// Stores one call's result and tells of it; the machine has not moved yet.
    pub(super) async fn keep_result(&self, round: u32, executed: &Executed) -> Result<(), StoreError> {
        let outcome = ToolOutcome {
            step: round,
            result: executed.result.clone(),
            telemetry: Some(executed.telemetry.clone()),
            evidence: executed.evidence.as_ref().and_then(|e| serde_json::to_string(e).ok()),
        };
        let commit = StepCommit {
            events: vec![finished_event(executed)],
            outcomes: vec![outcome],
            ..self.progress_without_state()
        };
        self.commit(commit).await
    }

    /// Stores results that no person waits to hear of.
    pub(super) async fn keep_outcomes(&self, outcomes: Vec<ToolOutcome>) -> Result<(), StoreError> {
        self.commit(StepCommit { outcomes, ..self.progress_without_state() }).await?;
        self.book.ledger.durable().await.map(|_| ())
    }

    pub(super) fn count(&mut self, executed: &Executed) {
        self.parts.metrics.tool_finished(&self.record.conversation_id, &executed.telemetry);
        self.parts.log.tool_result(&self.record, &executed.result);
        self.tally.add(&executed.result, Some(&executed.telemetry));
    }

    /// The last step of a run: stored and told before anything else is done. Gives its last event.
    pub(super) async fn close(&self, commit: StepCommit) -> Result<Option<RunEvent>, StoreError> {
        self.commit(commit).await?;
        let last = self.book.ledger.durable().await?;
        let round = self.state.machine.model_turns();
        self.parts.log.round_end(&self.record, round, self.book.round_began.elapsed());
        self.parts.metrics.run_ended(&self.record.conversation_id, &self.book.usage);
        Ok(last)
    }

    pub(super) fn facts(&self) -> RunFacts {
        let took = Timestamp::now().duration_since(self.state.machine.started_at()).as_millis().max(0);
        RunFacts {
            conversation_id: self.record.conversation_id.clone(),
            run_id: self.record.id.clone(),
            duration_ms: u64::try_from(took).unwrap_or(0),
            tool_calls: self.tally.calls.clone(),
            artifacts: self.tally.artifacts.clone(),
            data_notes: self.tally.data_notes.clone(),
            model: self.model.info().name.clone(),
            offline: self.model.info().offline,
            usage: self.book.usage.clone(),
            skill_chain: self.skill_chain.clone(),
            stop_reason: None,
            warnings: Vec::new(),
        }
    }

    /// A commit that moves nothing but the state, and what the caller adds.
    pub(super) fn progress(&self) -> StepCommit {
        StepCommit { state: Some(SavedState::of(&self.state)), ..self.progress_without_state() }
    }

    fn progress_without_state(&self) -> StepCommit {
        StepCommit { usage: self.book.usage.clone(), ..StepCommit::going_on() }
    }

    async fn commit(&self, commit: StepCommit) -> Result<(), StoreError> {
        debug_assert!(commit.status != RunStatus::Running || commit.turn.is_none());
        self.book.ledger.commit(commit).await
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
        said: executed.said.clone(),
        observation: text::prefix(&result.observation, PEEK).to_owned(),
        error_code: result.error_code.clone(),
        artifacts: result.artifacts.clone(),
    }))
}

/// Adds what one answer took, at the prices of the model that gave it.
fn add(total: &mut UsageInfo, spent: &Usage, prices: Option<Prices>) {
    let Usage { input_tokens, output_tokens, cached_tokens } = *spent;
    total.input_tokens += input_tokens;
    total.output_tokens += output_tokens;
    total.cached_tokens += cached_tokens;
    if let Some(prices) = prices {
        let spent = UsageInfo { input_tokens, output_tokens, cached_tokens, cost: None };
        total.cost = Some(total.cost.unwrap_or(0.0) + cost(&spent, &prices));
    }
}

#[expect(clippy::cast_precision_loss, reason = "money to show, not to book")]
pub(super) fn cost(usage: &UsageInfo, prices: &Prices) -> f64 {
    let fresh = usage.input_tokens.saturating_sub(usage.cached_tokens) as f64;
    let cached = usage.cached_tokens as f64 * prices.cached.unwrap_or(prices.input);
    (fresh * prices.input + cached + usage.output_tokens as f64 * prices.output) / 1e6
}
