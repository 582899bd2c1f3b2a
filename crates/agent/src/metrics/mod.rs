//! Counts and latencies per tool, per conversation and for all (SPEC M2). In memory; telemetry rows are in the store.

mod report;
mod window;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ba_model::Usage;
use ba_protocol::api::UsageInfo;
use ba_protocol::{ConversationId, OutputLevel, ToolTelemetry};
use parking_lot::Mutex;
use serde::Serialize;

pub use report::{prometheus, report};
use window::Window;

/// Conversations remembered before the oldest one is forgotten.
const MAX_CONVERSATIONS: usize = 10_000;

#[derive(Clone, Default)]
pub struct Metrics {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    tools: HashMap<String, Tally>,
    models: HashMap<String, ModelTally>,
    conversations: HashMap<ConversationId, Conversation>,
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
    levels: Levels,
    latency: Window,
}

/// One conversation's calls, and what its runs took of models.
#[derive(Default)]
struct Conversation {
    calls: Tally,
    runs: u64,
    input_tokens: u64,
    output_tokens: u64,
    cost: f64,
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
    /// At which output level results were shown.
    pub levels: Levels,
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
}

/// Calls by output level (SPEC E1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Levels {
    pub brief: u64,
    pub standard: u64,
    pub full: u64,
}

impl Levels {
    fn add(&mut self, level: OutputLevel) {
        match level {
            OutputLevel::Brief => self.brief += 1,
            OutputLevel::Standard => self.standard += 1,
            _ => self.full += 1,
        }
    }

    fn merge(&mut self, other: Levels) {
        self.brief += other.brief;
        self.standard += other.standard;
        self.full += other.full;
    }
}

/// Figures of one conversation: its calls, and the tokens of its runs, summaries included (SPEC M2).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ConversationStats {
    #[serde(flatten)]
    pub calls: ToolStats,
    pub runs: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost: f64,
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
        self.levels.add(t.output_level);
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
            levels: self.levels,
            mean_ms: self.latency.mean(),
            p50_ms,
            p95_ms,
            p99_ms,
        }
    }
}

impl Inner {
    fn of(&mut self, conversation: &ConversationId) -> &mut Conversation {
        if !self.conversations.contains_key(conversation) {
            self.order.push_back(conversation.clone());
            if self.order.len() > MAX_CONVERSATIONS
                && let Some(oldest) = self.order.pop_front()
            {
                self.conversations.remove(&oldest);
            }
        }
        self.conversations.entry(conversation.clone()).or_default()
    }
}

impl Metrics {
    pub fn tool_finished(&self, conversation: &ConversationId, telemetry: &ToolTelemetry) {
        let mut inner = self.inner.lock();
        inner.tools.entry(telemetry.tool_name.clone()).or_default().add(telemetry);
        inner.of(conversation).calls.add(telemetry);
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

    /// Runs that are read back from the store.
    pub fn runs_of_model(&self, model: &str, runs: u64, usage: &UsageInfo, durations: &[f64]) {
        let mut inner = self.inner.lock();
        inner.runs += runs;
        inner.cost += usage.cost.unwrap_or(0.0);
        if model.is_empty() {
            return;
        }
        let tally = inner.models.entry(model.to_owned()).or_default();
        tally.calls += runs;
        tally.usage.input_tokens += usage.input_tokens;
        tally.usage.output_tokens += usage.output_tokens;
        tally.usage.cached_tokens += usage.cached_tokens;
        durations.iter().for_each(|took| tally.latency.add(*took));
    }

    pub fn run_ended(&self, conversation: &ConversationId, usage: &UsageInfo) {
        let mut inner = self.inner.lock();
        inner.runs += 1;
        let cost = usage.cost.unwrap_or(0.0);
        inner.cost += cost;
        let of = inner.of(conversation);
        of.runs += 1;
        of.input_tokens += usage.input_tokens;
        of.output_tokens += usage.output_tokens;
        of.cost += cost;
    }

    pub fn conversation(&self, conversation: &ConversationId) -> Option<ConversationStats> {
        self.inner.lock().conversations.get(conversation).map(|c| ConversationStats {
            calls: c.calls.stats(),
            runs: c.runs,
            input_tokens: c.input_tokens,
            output_tokens: c.output_tokens,
            cost: c.cost,
        })
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
            total.levels.merge(tally.levels);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn telemetry(level: &str) -> ToolTelemetry {
        serde_json::from_value(serde_json::json!({"tool_name": "run_python", "tool_version": "1",
            "execution_id": "00000000-0000-0000-0000-000000000000", "timestamp": "2026-01-01T00:00:00Z",
            "latency_ms": 1.0, "duration_ms": 1.0, "input_tokens": 1, "output_tokens": 2, "total_tokens": 3,
            "cache_hit": false, "success": true, "retry_count": 0, "memory_mb": 0.0, "cpu_percent": 0.0,
            "output_level": level}))
        .unwrap()
    }

    // From the origin's ToolMetrics and ConversationMetrics.
    #[test]
    fn conversations_know_their_tokens_and_tools_their_levels() {
        let (metrics, conversation) = (Metrics::default(), ConversationId::random());
        for level in ["brief", "full", "full"] {
            metrics.tool_finished(&conversation, &telemetry(level));
        }
        let usage = UsageInfo { input_tokens: 100, output_tokens: 7, cached_tokens: 0, cost: Some(0.5) };
        metrics.run_ended(&conversation, &usage);
        metrics.run_ended(&conversation, &usage);
        let found = metrics.conversation(&conversation).unwrap();
        assert_eq!((found.runs, found.input_tokens, found.output_tokens, found.cost), (2, 200, 14, 1.0));
        assert_eq!(found.calls.levels, Levels { brief: 1, standard: 0, full: 2 });
        let wire = serde_json::to_value(&found).unwrap();
        assert_eq!((&wire["calls"], &wire["input_tokens"]), (&3.into(), &200.into()));
        assert_eq!(metrics.snapshot().total.levels.full, 2);
    }
}
