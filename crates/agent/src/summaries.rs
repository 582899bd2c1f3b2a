//! The history a request is built from, and the summaries of its older turns (SPEC X4, X5): from memory, from the store, else from the small model, checked and kept. One
//! that failed its check is not asked for again; every failure means extraction instead. A request waits for all of
//! them together no longer than for one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ba_model::{Model, ModelReply, ModelRequest, Usage};
use ba_protocol::{ConversationId, Turn};
use ba_store::{Store, StoreError};
use futures::StreamExt;
use futures::stream::FuturesUnordered;

use crate::context::{
    BuiltContext, ContextInput, MemoCounter, WantedSummary, build_context, checked_summary, summary_request,
};
use crate::metrics::Metrics;

/// Summaries are kept across restarts, for this long.
const TTL: Duration = Duration::from_secs(30 * 24 * 3600);
const NAMESPACE: &str = "summary";
/// Kept where a summary failed its check, so that it is not asked for again.
const FAILED: &str = "";
/// Summaries are worth this much waiting.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where summaries come from.
pub(crate) struct Summaries<'a> {
    pub store: &'a Store,
    /// `None` only looks for those that were made before.
    pub model: Option<&'a Arc<dyn Model>>,
    pub metrics: &'a Metrics,
    pub memo: &'a MemoCounter,
}

/// A conversation's turns; only those that are new since the last look are read, unless another version of an older
/// one was chosen.
pub(crate) async fn history(
    store: &Store,
    memo: &MemoCounter,
    conversation: &ConversationId,
) -> Result<Arc<Vec<Turn>>, StoreError> {
    let ids = store.turn_ids(conversation).await?;
    let known = memo.take_turns(conversation).unwrap_or_default();
    let same = known.len() <= ids.len() && known.iter().zip(&ids).all(|(turn, id)| &turn.run_id == id);
    let mut turns = if same { known } else { Arc::default() };
    if turns.len() == ids.len() {
        memo.keep_turns(conversation, turns.clone());
        return Ok(turns);
    }
    let new = store.turns_from(conversation, turns.len()).await?;
    if !new.is_empty() {
        Arc::make_mut(&mut turns).extend(new);
    }
    memo.keep_turns(conversation, turns.clone());
    Ok(turns)
}

impl Summaries<'_> {
    /// Builds; where older spans want summaries, finds or makes them and builds again. Also says what that took.
    pub(crate) async fn build(&self, input: &ContextInput<'_>) -> (BuiltContext, Usage) {
        let first = build_context(input, self.memo);
        if first.wanted.is_empty() {
            return (first, Usage::default());
        }
        let mut found = HashMap::new();
        let mut spent = Usage::default();
        // Few: a conversation has about ten spans, and all but the newest have been asked for.
        let mut answers: FuturesUnordered<_> = FuturesUnordered::new();
        for wanted in &first.wanted {
            answers.push(self.summary(wanted));
        }
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while let Ok(Some((key, text, usage))) = tokio::time::timeout_at(deadline, answers.next()).await {
            spent.input_tokens += usage.input_tokens;
            spent.output_tokens += usage.output_tokens;
            spent.cached_tokens += usage.cached_tokens;
            match text {
                Some(text) => {
                    found.insert(key, text);
                }
                None if self.model.is_some() => self.memo.refuse_summary(&key),
                None => {}
            }
        }
        drop(answers);
        if self.model.is_some() {
            first
                .wanted
                .iter()
                .filter(|w| !found.contains_key(&w.key))
                .for_each(|w| self.memo.refuse_summary(&w.key));
        }
        if found.is_empty() {
            return (first, spent);
        }
        (build_context(&ContextInput { summaries: &found, ..*input }, self.memo), spent)
    }

    async fn summary(&self, wanted: &WantedSummary) -> (String, Option<String>, Usage) {
        let (text, usage) = self.find_or_make(wanted).await;
        (wanted.key.clone(), text, usage)
    }

    async fn find_or_make(&self, wanted: &WantedSummary) -> (Option<String>, Usage) {
        match self.store.cache_get(NAMESPACE, &wanted.key).await {
            Ok(Some(kept)) if kept == FAILED => return (None, Usage::default()),
            Ok(Some(kept)) => {
                self.memo.keep_summary(&wanted.key, &kept);
                return (Some(kept), Usage::default());
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the summary cache cannot be read"),
        }
        let Some(model) = self.model else { return (None, Usage::default()) };
        let Some((reply, usage)) = self.ask(model, wanted).await else { return (None, Usage::default()) };
        let checked = checked_summary(&reply.text, &wanted.source);
        let kept = checked.as_deref().unwrap_or(FAILED);
        if let Err(error) = self.store.cache_put(NAMESPACE, &wanted.key, kept, TTL).await {
            tracing::warn!(%error, "the summary was not kept");
        }
        if let Some(text) = &checked {
            self.memo.keep_summary(&wanted.key, text);
        }
        (checked, usage)
    }

    async fn ask(&self, model: &Arc<dyn Model>, wanted: &WantedSummary) -> Option<(ModelReply, Usage)> {
        let request = ModelRequest {
            messages: summary_request(&wanted.source),
            max_tokens: Some(800),
            temperature: Some(0.0),
            schema: None,
            stable_prefix: 1,
        };
        let name = &model.info().name;
        let began = Instant::now();
        match model.complete(&request, &|_| {}).await {
            Ok(reply) => {
                let usage = reply.usage.unwrap_or_else(|| Usage {
                    input_tokens: request
                        .messages
                        .iter()
                        .map(|m| self.memo.count_message(&m.wire_text()) as u64)
                        .sum(),
                    output_tokens: self.memo.count(&reply.text) as u64,
                    cached_tokens: 0,
                });
                self.metrics.model_answered(name, &usage, began.elapsed());
                Some((reply, usage))
            }
            Err(error) => {
                tracing::warn!(code = error.code(), "no summary; older turns are extracted instead");
                self.metrics.model_failed(name);
                None
            }
        }
    }
}
