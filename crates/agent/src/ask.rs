//! What a run asks its model: gathers the conversation, builds the context, and has older rounds summarised.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use ba_model::{ModelReply, ModelRequest, Prices, Schema, Usage};
use ba_protocol::api::{ErrorInfo, UsageInfo};
use ba_protocol::{Round, StructuredResponse};
use ba_skills::Effective;
use ba_store::{ConversationFiles, StoreError};
use jiff::Timestamp;

use crate::context::{BuiltContext, ContextInput, ContextReport, MemoCounter, Strategy};
use crate::driver::Drive;
use crate::run::{Language, Outcome, Step};
use crate::service::AgentParts;
use crate::summaries::{self, Summaries};
use crate::{finish, skills};

/// Made once: every request of every run carries it.
static SCHEMA: LazyLock<Schema> = LazyLock::new(|| StructuredResponse::json_schema().into());

impl Drive<'_> {
    /// The next request; `None` when the run ended because nothing fits the model's window.
    pub(crate) async fn request(
        &mut self,
        effective: &Effective,
    ) -> Result<Option<ModelRequest>, StoreError> {
        let Step::AskModel(ask) = self.state.machine.next_step(Timestamp::now()) else { return Ok(None) };
        let (correction, gate, last_turn) = (ask.correction.cloned(), ask.gate.cloned(), ask.last_turn);
        let gathered = self.gather().await?;
        let none = HashMap::new();
        let input = ContextInput {
            steps: self.state.machine.steps(),
            correction: correction.as_ref(),
            gate: gate.as_ref(),
            last_turn,
            ..gathered.input(&self.record.message, self.model.info().window, &none)
        };
        let (built, spent) = self.with_summaries(&input).await;
        if let Some(model) = &self.parts.models.summary {
            add(&mut self.usage, &spent, model.info().prices);
        }
        let report = &built.report;
        if report.saved_tokens > 0 {
            self.parts.log.context_cleaned(&self.record, report.original_tokens as u64, report.tokens as u64);
        }
        if report.over_budget {
            let text = format!(
                "the message and the results of this turn need about {} tokens, more than the model's window of {}: \
                 ask a smaller question or use a model with a larger window",
                report.tokens, report.window
            );
            self.state.machine.end(Outcome::Failed { error: ErrorInfo::new("context_too_long", text) });
            return Ok(None);
        }
        Ok(Some(ModelRequest {
            messages: built.messages,
            max_tokens: effective.max_tokens,
            temperature: None,
            schema: Some(SCHEMA.clone()),
            stable_prefix: built.stable_prefix,
        }))
    }

    /// What the conversation brings in; gathered anew only when its files have changed, so that the beginning of
    /// the request stays the same from round to round.
    pub(crate) async fn gather(&mut self) -> Result<Arc<Gathered>, StoreError> {
        let files = self.files().await?;
        if let Some(gathered) = &self.gathered
            && Arc::ptr_eq(&gathered.files, &files)
        {
            return Ok(gathered.clone());
        }
        let rounds = match &self.rounds {
            Some(rounds) => rounds.clone(),
            None => summaries::history(&self.parts.store, self.memo, &self.record.conversation_id).await?,
        };
        self.rounds = Some(rounds.clone());
        let gathered = Arc::new(Gathered::of(self.parts, rounds, files, &self.record.message).await);
        self.gathered = Some(gathered.clone());
        Ok(gathered)
    }

    /// The context with the summaries it wants, and what they took: booked with the run (SPEC M1).
    async fn with_summaries(&self, input: &ContextInput<'_>) -> (BuiltContext, Usage) {
        let (store, metrics) = (&self.parts.store, &self.parts.metrics);
        Summaries { store, model: self.parts.models.summary.as_ref(), metrics, memo: self.memo }
            .build(input)
            .await
    }

    /// Provider-reported usage where there is some, counted tokens else (SPEC M1).
    pub(crate) fn account(&mut self, request: &ModelRequest, reply: &ModelReply) -> Usage {
        let usage = reply.usage.unwrap_or_else(|| Usage {
            input_tokens: request
                .messages
                .iter()
                .map(|m| self.memo.count_message(&m.wire_text()) as u64)
                .sum(),
            output_tokens: self.memo.count(&reply.text) as u64,
            cached_tokens: 0,
        });
        let info = self.model.info();
        #[expect(clippy::cast_precision_loss, reason = "a share of a window")]
        if info.window > 0 {
            self.window_share = usage.input_tokens as f64 / info.window as f64;
        }
        add(&mut self.usage, &usage, info.prices);
        usage
    }
}

/// What a conversation brings into a request.
pub(crate) struct Gathered {
    system_prompt: String,
    rounds: Arc<Vec<Round>>,
    file_list: Option<String>,
    business_notes: String,
    /// Of which the list was made.
    files: Arc<ConversationFiles>,
    strategy: Strategy,
}

impl Gathered {
    pub(crate) async fn of(
        parts: &AgentParts,
        rounds: Arc<Vec<Round>>,
        files: Arc<ConversationFiles>,
        question: &str,
    ) -> Self {
        let own_notes = skills::conversation_notes(&parts.store, &files.uploads).await;
        let extras = parts.skills.prompt(question, own_notes, &parts.counter).await;
        let file_list = ba_store::file_list::unified_file_list(&files.codes, &files.uploads);
        Self {
            system_prompt: format!("{}{}", parts.system_prompt.of(Language::of(question)), extras.stable),
            rounds,
            file_list: skills::join(file_list, extras.turn),
            business_notes: extras.notes,
            files,
            strategy: if parts.models.summary.is_some() { Strategy::Summarize } else { Strategy::Extract },
        }
    }

    /// The conversation before this turn.
    pub(crate) fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    pub(crate) fn business_notes(&self) -> &str {
        &self.business_notes
    }

    fn input<'a>(
        &'a self,
        user_message: &'a str,
        window: usize,
        summaries: &'a HashMap<String, String>,
    ) -> ContextInput<'a> {
        ContextInput {
            system_prompt: &self.system_prompt,
            rounds: &self.rounds,
            file_list: self.file_list.as_deref(),
            user_message,
            steps: &[],
            correction: None,
            gate: None,
            last_turn: false,
            window,
            strategy: self.strategy,
            summaries,
        }
    }

    /// The inspector: what turn `turn` (from 1) sent first, or the next turn would send.
    pub(crate) async fn inspect(
        &self,
        parts: &AgentParts,
        turn: Option<usize>,
        memo: &MemoCounter,
    ) -> Option<ContextReport> {
        let (before, message) = match turn {
            None => (&self.rounds[..], ""),
            Some(turn) => {
                let at = turn.checked_sub(1)?;
                (self.rounds.get(..at)?, self.rounds.get(at)?.user_message.as_str())
            }
        };
        let model = parts.models.default.info();
        let window = model.window;
        let none = HashMap::new();
        let input = ContextInput { rounds: before, ..self.input(message, window, &none) };
        let kept = Summaries { store: &parts.store, model: None, metrics: &parts.metrics, memo };
        let report = kept.build(&input).await.0.report;
        let usage = UsageInfo { input_tokens: report.tokens as u64, ..UsageInfo::default() };
        Some(ContextReport { cost: model.prices.map(|p| finish::cost(&usage, &p)), ..report })
    }
}

/// Adds what one answer took, at the prices of the model that gave it.
fn add(total: &mut UsageInfo, spent: &Usage, prices: Option<Prices>) {
    total.input_tokens += spent.input_tokens;
    total.output_tokens += spent.output_tokens;
    total.cached_tokens += spent.cached_tokens;
    let spent = UsageInfo {
        input_tokens: spent.input_tokens,
        output_tokens: spent.output_tokens,
        cached_tokens: spent.cached_tokens,
        cost: None,
    };
    if let Some(prices) = prices {
        total.cost = Some(total.cost.unwrap_or(0.0) + finish::cost(&spent, &prices));
    }
}
