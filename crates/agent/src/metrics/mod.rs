//! Counts and latencies per tool, per conversation and for all (SPEC M2). In memory; telemetry rows are in the store.

mod report;
mod window;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ba_model::Usage;
use ba_protocol::api::UsageInfo;
use ba_protocol::{ConversationId, ToolTelemetry};
use parking_lot::Mutex;
use serde::Serialize;

pub use report::{prometheus, report};
use window::Window;

/// Conversations remembered before the least recently used one is forgotten.
const MAX_CONVERSATIONS: usize = 10_000;

#[derive(Clone, Default)]
pub struct Metrics {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    tools: HashMap<String, Tally>,
    models: HashMap<String, ModelTally>,
    conversations: HashMap<ConversationId, Tally>,
    order: std::collections::VecDeque<ConversationId>,
    runs: u64,
    cost: f64,
}

#[derive(Default)]
struct Tally {
    calls: u64,
    errors: u64,
    cache_hits: u64,
    retries: u64,
    tokens: u64,
    latency: Window,
}

#[derive(Default)]
struct ModelTally {
    calls: u64,
    errors: u64,
    usage: Usage,
    latency: Window,
}

/// Figures of one tool, one conversation, or all.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ToolStats {
    pub calls: u64,
    pub errors: u64,
    pub error_rate: f64,
    pub cache_hits: u64,
    pub cache_hit_rate: f64,
    pub retries: u64,
    pub tokens: u64,
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ModelStats {
    pub calls: u64,
    pub errors: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MetricsSnapshot {
    pub total: ToolStats,
    pub tools: Vec<(String, ToolStats)>,
    pub models: Vec<(String, ModelStats)>,
    pub runs: u64,
    pub cost: f64,
}

impl Tally {
    fn add(&mut self, t: &ToolTelemetry) {
        self.calls += 1;
        self.errors += u64::from(!t.success);
        self.cache_hits += u64::from(t.cache_hit);
        self.retries += u64::from(t.retry_count);
        self.tokens += t.total_tokens;
        self.latency.add(t.duration_ms);
    }

    fn stats(&self) -> ToolStats {
        let (p50_ms, p95_ms, p99_ms) = self.latency.percentiles();
        ToolStats {
            calls: self.calls,
            errors: self.errors,
            error_rate: share(self.errors, self.calls),
            cache_hits: self.cache_hits,
            cache_hit_rate: share(self.cache_hits, self.calls),
            retries: self.retries,
            tokens: self.tokens,
            mean_ms: self.latency.mean(),
            p50_ms,
            p95_ms,
            p99_ms,
        }
    }
}

impl Metrics {
    pub fn tool_finished(&self, conversation: &ConversationId, telemetry: &ToolTelemetry) {
        let mut inner = self.inner.lock();
        inner.tools.entry(telemetry.tool_name.clone()).or_default().add(telemetry);
        if !inner.conversations.contains_key(conversation) {
            inner.order.push_back(conversation.clone());
            if inner.order.len() > MAX_CONVERSATIONS
                && let Some(oldest) = inner.order.pop_front()
            {
                inner.conversations.remove(&oldest);
            }
        }
        inner.conversations.entry(conversation.clone()).or_default().add(telemetry);
    }

    pub fn model_answered(&self, model: &str, usage: &Usage, latency: Duration) {
        let mut inner = self.inner.lock();
        let tally = inner.models.entry(model.to_owned()).or_default();
        tally.calls += 1;
        tally.usage.input_tokens += usage.input_tokens;
        tally.usage.output_tokens += usage.output_tokens;
        tally.usage.cached_tokens += usage.cached_tokens;
        tally.latency.add(latency.as_secs_f64() * 1e3);
    }

    pub fn model_failed(&self, model: &str) {
        let mut inner = self.inner.lock();
        let tally = inner.models.entry(model.to_owned()).or_default();
        tally.calls += 1;
        tally.errors += 1;
    }

    pub fn run_ended(&self, _conversation: &ConversationId, usage: &UsageInfo) {
        let mut inner = self.inner.lock();
        inner.runs += 1;
        inner.cost += usage.cost.unwrap_or(0.0);
    }

    pub fn conversation(&self, conversation: &ConversationId) -> Option<ToolStats> {
        self.inner.lock().conversations.get(conversation).map(Tally::stats)
    }

    pub fn snapshot(&self) -> MetricsSnapshot {
        let inner = self.inner.lock();
        let mut total = Tally::default();
        for tally in inner.tools.values() {
            total.calls += tally.calls;
            total.errors += tally.errors;
            total.cache_hits += tally.cache_hits;
            total.retries += tally.retries;
            total.tokens += tally.tokens;
            total.latency.merge(&tally.latency);
        }
        let mut tools: Vec<_> = inner.tools.iter().map(|(n, t)| (n.clone(), t.stats())).collect();
        tools.sort_by(|a, b| a.0.cmp(&b.0));
        let mut models: Vec<_> = inner.models.iter().map(|(n, m)| (n.clone(), m.stats())).collect();
        models.sort_by(|a, b| a.0.cmp(&b.0));
        MetricsSnapshot { total: total.stats(), tools, models, runs: inner.runs, cost: inner.cost }
    }
}

impl ModelTally {
    fn stats(&self) -> ModelStats {
        let (p50_ms, p95_ms, p99_ms) = self.latency.percentiles();
        ModelStats {
            calls: self.calls,
            errors: self.errors,
            input_tokens: self.usage.input_tokens,
            output_tokens: self.usage.output_tokens,
            cached_tokens: self.usage.cached_tokens,
            p50_ms,
            p95_ms,
            p99_ms,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate to show")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
