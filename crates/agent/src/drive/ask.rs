//! What a run asks its model: gathers the conversation, builds the context, and has older turns summarised.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use ba_model::{ModelRequest, Schema, Usage};
use ba_protocol::api::{ErrorInfo, UsageInfo};
use ba_protocol::{ConversationId, StructuredResponse, Turn, Upload, UploadId};
use ba_skills::Effective;
use ba_store::{ConversationFiles, StoreError};

use super::Drive;
use super::record::cost;
use crate::context::{BuiltContext, ContextInput, ContextReport, MemoCounter, Strategy};
use crate::parts::AgentParts;
use crate::pipeline::neutralise;
use crate::run::{Ask, Language};
use crate::skills;
use crate::summaries::{self, Summaries};
use crate::tool::BriefingRequest;

/// What is known of the data may take this much of a request; less in a small window.
pub(crate) const BRIEFING_TOKENS: usize = 1_500;

/// Made once: every request of every run carries it.
static SCHEMA: LazyLock<Schema> = LazyLock::new(|| StructuredResponse::json_schema().into());

impl Drive<'_> {
    /// The next request, or why the run cannot go on: nothing fits the model's window.
    pub(super) async fn request(
        &mut self,
        ask: Ask,
        effective: &Effective,
    ) -> Result<Result<ModelRequest, ErrorInfo>, StoreError> {
        let gathered = self.gather().await?;
        let none = HashMap::new();
        let input = ContextInput {
            steps: self.state.machine.steps(),
            correction: ask.correction.as_ref(),
            gate: ask.gate.as_ref(),
            last_turn: ask.last_round,
            ..gathered.input(&self.record.message, self.model.info().window, &none)
        };
        let (built, spent) = self.with_summaries(&input).await;
        self.book_summaries(&spent);
        let report = &built.report;
        self.context_built(report);
        if report.over_budget {
            let text = format!(
                "the message and the results of this turn need about {} tokens, more than the model's window of {}: \
                 ask a smaller question or use a model with a larger window",
                report.tokens, report.window
            );
            return Ok(Err(ErrorInfo::new("context_too_long", text)));
        }
        Ok(Ok(ModelRequest {
            messages: built.messages,
            max_tokens: effective.max_tokens,
            temperature: None,
            schema: Some(SCHEMA.clone()),
            stable_prefix: built.stable_prefix,
        }))
    }

    /// What the conversation brings in; gathered anew only when its files have changed, so that the beginning of
    /// the request stays the same from round to round.
    pub(super) async fn gather(&mut self) -> Result<Arc<Gathered>, StoreError> {
        let files = self.files().await?;
        if let Some(gathered) = &self.gathered
            && Arc::ptr_eq(&gathered.files, &files)
        {
            return Ok(gathered.clone());
        }
        let turns = match &self.turns {
            Some(turns) => turns.clone(),
            None => {
                let (store, conversation) = (&self.parts.store, &self.record.conversation_id);
                match &self.state.replaces {
                    Some(turn) => Arc::new(store.turns_before(conversation, turn.base).await?),
                    None => summaries::history(store, self.memo, conversation).await?,
                }
            }
        };
        self.turns = Some(turns.clone());
        let asked = Asked {
            conversation: &self.record.conversation_id,
            question: &self.record.message,
            attached: &self.state.file_ids,
            earlier: self.gathered.as_deref(),
        };
        let gathered = Arc::new(Gathered::of(self.parts, asked, turns, files).await);
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
}

/// What a conversation brings into a request.
pub(crate) struct Gathered {
    /// What the tools know of the data, as it was told first in this turn.
    briefing: Option<String>,
    system_prompt: String,
    turns: Arc<Vec<Turn>>,
    file_list: Option<String>,
    business_notes: String,
    /// Of which the list was made.
    files: Arc<ConversationFiles>,
    strategy: Strategy,
}

/// The question that a request is gathered for.
pub(crate) struct Asked<'a> {
    pub conversation: &'a ConversationId,
    pub question: &'a str,
    /// The uploads that came with it.
    pub attached: &'a [UploadId],
    /// What was gathered for the round before.
    pub earlier: Option<&'a Gathered>,
}

impl Gathered {
    pub(crate) async fn of(
        parts: &AgentParts,
        asked: Asked<'_>,
        turns: Arc<Vec<Turn>>,
        files: Arc<ConversationFiles>,
    ) -> Self {
        let own_notes = skills::conversation_notes(&parts.store, &files.uploads).await;
        let extras = parts.skills.prompt(asked.question, own_notes, &parts.counter).await;
        let file_list = ba_store::file_list::unified_file_list(&files.codes, &files.uploads);
        // What a tool made in this turn is in its observations: the prefix stays as it is unless an upload changed.
        let briefing = match asked.earlier.filter(|earlier| earlier.files.uploads == files.uploads) {
            Some(earlier) => earlier.briefing.clone(),
            None => briefing(parts, &asked, &files).await,
        };
        let file_list = skills::join(file_list, briefing.clone());
        Self {
            briefing,
            system_prompt: format!(
                "{}{}",
                parts.system_prompt.of(Language::of(asked.question)),
                extras.stable
            ),
            turns,
            file_list: skills::join(
                skills::join(file_list, attachments(&files.uploads, asked.attached)),
                extras.turn,
            ),
            business_notes: extras.notes,
            files,
            strategy: if parts.models.summary.is_some() { Strategy::Summarize } else { Strategy::Extract },
        }
    }

    /// The conversation before this turn.
    pub(crate) fn turns(&self) -> &[Turn] {
        &self.turns
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
            turns: &self.turns,
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
            None => (&self.turns[..], ""),
            Some(turn) => {
                let at = turn.checked_sub(1)?;
                (self.turns.get(..at)?, self.turns.get(at)?.user_message.as_str())
            }
        };
        let model = parts.models.default.info();
        let window = model.window;
        let none = HashMap::new();
        let input = ContextInput { turns: before, ..self.input(message, window, &none) };
        let kept = Summaries { store: &parts.store, model: None, metrics: &parts.metrics, memo };
        let report = kept.build(&input).await.0.report;
        let usage = UsageInfo { input_tokens: report.tokens as u64, ..UsageInfo::default() };
        Some(ContextReport { cost: model.prices.map(|p| cost(&usage, &p)), ..report })
    }
}

/// The file context of SPEC X1: which files came with the question.
fn attachments(uploads: &[Upload], attached: &[UploadId]) -> Option<String> {
    let named: Vec<String> = uploads
        .iter()
        .filter(|upload| attached.contains(&upload.file_id))
        .map(|upload| format!("- [{}] {}", upload.file_id, neutralise(&upload.filename)))
        .collect();
    (!named.is_empty()).then(|| format!("**随本次提问附上的文件：**\n{}", named.join("\n")))
}

/// SPEC W1: neutralised like every text that is not ours.
async fn briefing(parts: &AgentParts, asked: &Asked<'_>, files: &ConversationFiles) -> Option<String> {
    let tokens = BRIEFING_TOKENS.min(parts.models.default.info().window / 8);
    let wanted = BriefingRequest {
        conversation: asked.conversation,
        files,
        question: asked.question,
        tokens,
        counter: &parts.counter,
        language: Language::of(asked.question),
    };
    let text = parts.registry.briefing()?.brief(wanted).await?;
    Some(neutralise(&text).into_owned())
}
