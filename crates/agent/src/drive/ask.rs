//! What a run asks its model: gathers the conversation, builds the context, and has older rounds summarised.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ba_model::{Model, ModelRequest, Schema};
use ba_protocol::api::{ErrorInfo, UsageInfo};
use ba_protocol::{Round, StructuredResponse, Upload, UploadId};
use ba_skills::Effective;
use ba_store::{ConversationFiles, Store, StoreError};

use super::Drive;
use super::record::cost;
use crate::context::{
    BuiltContext, ContextInput, ContextReport, MemoCounter, Strategy, build_context, checked_summary,
    summary_request,
};
use crate::parts::AgentParts;
use crate::run::Ask;
use crate::skills;

/// SPEC X5: summaries are kept across restarts, for this long.
const SUMMARY_TTL: Duration = Duration::from_secs(30 * 24 * 3600);
const SUMMARY_NAMESPACE: &str = "summary";
/// A summary is worth this much waiting; extraction serves when it takes longer.
const SUMMARY_PATIENCE: Duration = Duration::from_secs(20);

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
        let built = self.with_summaries(&input).await;
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
        let rounds = match &self.rounds {
            Some(rounds) => rounds.clone(),
            None => Arc::new(self.parts.store.rounds(&self.record.conversation_id).await?),
        };
        self.rounds = Some(rounds.clone());
        let gathered = Arc::new(
            Gathered::of(self.parts, rounds, files, &self.record.message, &self.state.file_ids).await,
        );
        self.gathered = Some(gathered.clone());
        Ok(gathered)
    }

    /// Builds; where older spans want summaries, finds or makes them and builds again.
    async fn with_summaries(&self, input: &ContextInput<'_>) -> BuiltContext {
        let first = build_context(input, self.memo);
        if first.wanted.is_empty() {
            return first;
        }
        let model = self.parts.models.summary.clone();
        let mut summaries = HashMap::new();
        for wanted in &first.wanted {
            if let Some(text) =
                summary_of(&self.parts.store, model.as_ref(), &wanted.key, &wanted.source).await
            {
                summaries.insert(wanted.key.clone(), text);
            }
        }
        if summaries.is_empty() {
            first
        } else {
            build_context(&ContextInput { summaries: &summaries, ..*input }, self.memo)
        }
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
}

impl Gathered {
    pub(crate) async fn of(
        parts: &AgentParts,
        rounds: Arc<Vec<Round>>,
        files: Arc<ConversationFiles>,
        question: &str,
        attached: &[UploadId],
    ) -> Self {
        let own_notes = skills::conversation_notes(&parts.store, &files.uploads).await;
        let extras = parts.skills.prompt(question, own_notes, &parts.counter).await;
        let file_list = ba_store::file_list::unified_file_list(&files.codes, &files.uploads);
        Self {
            system_prompt: format!("{}{}", parts.system_prompt, extras.stable),
            rounds,
            file_list: skills::join(
                skills::join(file_list, attachments(&files.uploads, attached)),
                extras.turn,
            ),
            business_notes: extras.notes,
            files,
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
            strategy: Strategy::Summarize,
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
        let first = build_context(&input, memo);
        let mut summaries = HashMap::new();
        for wanted in &first.wanted {
            if let Some(text) = summary_of(&parts.store, None, &wanted.key, &wanted.source).await {
                summaries.insert(wanted.key.clone(), text);
            }
        }
        let report = build_context(&ContextInput { summaries: &summaries, ..input }, memo).report;
        let usage = UsageInfo { input_tokens: report.tokens as u64, ..UsageInfo::default() };
        Some(ContextReport { cost: model.prices.map(|p| cost(&usage, &p)), ..report })
    }
}

/// The file context of SPEC X1: which files came with the question.
fn attachments(uploads: &[Upload], attached: &[UploadId]) -> Option<String> {
    let named: Vec<String> = uploads
        .iter()
        .filter(|upload| attached.contains(&upload.file_id))
        .map(|upload| format!("- [{}] {}", upload.file_id, crate::pipeline::neutralise(&upload.filename)))
        .collect();
    (!named.is_empty()).then(|| format!("**随本次提问附上的文件：**\n{}", named.join("\n")))
}

/// From the cache, else from the small model, checked and kept. Every failure means extraction instead (SPEC X4).
async fn summary_of(
    store: &Store,
    model: Option<&Arc<dyn Model>>,
    key: &str,
    source: &str,
) -> Option<String> {
    match store.cache_get(SUMMARY_NAMESPACE, key).await {
        Ok(Some(kept)) => return Some(kept),
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, "the summary cache cannot be read"),
    }
    let model = model?;
    let request = ModelRequest {
        messages: summary_request(source),
        max_tokens: Some(800),
        temperature: Some(0.0),
        schema: None,
        stable_prefix: 1,
    };
    let asked = tokio::time::timeout(SUMMARY_PATIENCE, model.complete(&request, &|_| {})).await;
    let reply = match asked {
        Ok(Ok(reply)) => reply,
        Ok(Err(error)) => {
            tracing::warn!(code = error.code(), "no summary; older rounds are extracted instead");
            return None;
        }
        Err(_) => {
            tracing::warn!("the summary took too long; older rounds are extracted instead");
            return None;
        }
    };
    let summary = checked_summary(&reply.text, source)?;
    if let Err(error) = store.cache_put(SUMMARY_NAMESPACE, key, &summary, SUMMARY_TTL).await {
        tracing::warn!(%error, "the summary was not kept");
    }
    Some(summary)
}
