//! Runs the calls of one round: validate, look up, run with timeout and retries, keep, format, measure.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ba_audit::Evidence;
use ba_protocol::{
    ConversationId, DataNote, OutputLevel, Said, ToolCall, ToolErrorType, ToolFailure, ToolResult,
    ToolTelemetry,
};
use ba_store::StoreError;
use futures::FutureExt;
use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::Counter;
use super::cache::IdempotencyCache;
use super::errors::{failed, unknown_tool};
use super::level::{LevelInputs, decide};
use super::observation::wrap;
use super::render::render;
use super::retry::RetryPolicy;
use super::told::Told;
use crate::drive::proof;
use crate::run::{Decision, PlannedCall};
use crate::tool::{Body, Effects, Registry, Tool, ToolContext, ToolError, ToolOutput};

/// Keeps large results (SPEC E4). The store implements it.
#[async_trait]
pub trait ToolData: Send + Sync {
    /// Returns the reference the model can read it by: `tool_data/…`.
    async fn keep(
        &self,
        conversation: &ConversationId,
        tool_call_id: &str,
        extension: &str,
        bytes: &[u8],
        summary: &str,
    ) -> Result<String, String>;
}

#[derive(Debug, Clone)]
pub struct ExecutorConfig {
    pub retry: RetryPolicy,
    /// Arguments larger than this are refused (SPEC E8).
    pub max_input_bytes: usize,
    /// Results at least this large are kept in a file (SPEC E4).
    pub large_result_bytes: usize,
    /// Tokens an observation may have.
    pub observation_tokens: usize,
    /// Bytes of evidence kept with a call (SPEC V); 0 keeps none.
    pub evidence_bytes: usize,
}

impl Default for ExecutorConfig {
    fn default() -> Self {
        Self {
            retry: RetryPolicy::default(),
            max_input_bytes: 10 * 1024 * 1024,
            large_result_bytes: 1024 * 1024,
            observation_tokens: 4_000,
            evidence_bytes: proof::evidence::CALL_BYTES,
        }
    }
}

pub struct Executor {
    pub config: ExecutorConfig,
    pub cache: IdempotencyCache,
    pub data: Arc<dyn ToolData>,
}

/// One call in its surroundings.
pub struct CallRequest<'a> {
    pub planned: &'a PlannedCall,
    pub registry: &'a Registry,
    pub context: ToolContext,
    pub global_level: OutputLevel,
    pub window_share: f64,
    /// Fingerprint of the conversation's files (SPEC E9).
    pub files: &'a str,
    pub counter: &'a Counter,
    /// Notes on data that the model has read in this run.
    pub told: &'a Told,
}

/// A call's result for the model, and its telemetry, which never goes there.
#[derive(Debug, Clone)]
pub struct Executed {
    pub result: ToolResult,
    pub telemetry: ToolTelemetry,
    /// One line for people.
    pub summary: String,
    pub said: Option<Said>,
    /// What figures may be proven by; absent for a failed call.
    pub evidence: Option<Evidence>,
}

struct Attempted {
    outcome: Result<Arc<ToolOutput>, ToolFailure>,
    latency: Duration,
    retries: u32,
    cache_hit: bool,
    cache_key: Option<String>,
}

impl Executor {
    /// Fails only where nobody but the operator can help ([`ToolError::Fatal`]); what a tool refuses is a result.
    pub async fn execute(&self, request: CallRequest<'_>) -> Result<Executed, StoreError> {
        let started = Instant::now();
        let timestamp = Timestamp::now();
        let call = &request.planned.call;
        let tool = request.registry.get(&call.tool_name);
        let level = decide(LevelInputs {
            explicit: call
                .arguments
                .get("response_format")
                .and_then(|v| serde_json::from_value(v.clone()).ok()),
            tool_default: tool.and_then(|t| t.spec().default_level),
            global: request.global_level,
            window_share: request.window_share,
        });
        let attempted = self.attempt(&request, tool, level).await?;
        let (result, summary) = match &attempted.outcome {
            Ok(output) => (self.succeeded(&request, output, level).await, output.summary.clone()),
            Err(failure) => {
                (failed(&call.tool_call_id, &call.tool_name, failure, level), failure.message.clone())
            }
        };
        let telemetry = telemetry(&request, &attempted, &result, tool, timestamp, started.elapsed());
        let output = attempted.outcome.as_ref().ok();
        let evidence =
            output.and_then(|o| proof::evidence::of(&call.tool_call_id, o, self.config.evidence_bytes));
        let said = output.and_then(|o| o.said.clone());
        Ok(Executed {
            result,
            telemetry,
            evidence,
            said,
            summary: ba_protocol::text::shorten(&ba_protocol::text::one_line(&summary), 200),
        })
    }

    async fn attempt(
        &self,
        request: &CallRequest<'_>,
        tool: Option<&Arc<dyn Tool>>,
        level: OutputLevel,
    ) -> Result<Attempted, StoreError> {
        let call = &request.planned.call;
        let refused = |failure| {
            Ok(Attempted {
                outcome: Err(failure),
                latency: Duration::ZERO,
                retries: 0,
                cache_hit: false,
                cache_key: None,
            })
        };
        if let Decision::Refuse { code, reason } = &request.planned.decision {
            return refused(ToolFailure::validation(code, reason));
        }
        let Some(tool) = tool else { return refused(unknown_tool(&call.tool_name, request.registry)) };
        if let Err(failure) = self.check_input(call) {
            return refused(failure);
        }
        let mut arguments = call.arguments.clone();
        arguments.remove("response_format");
        let plan = tool.plan(&arguments);
        let cache_key = (plan.effects == Effects::None).then(|| {
            IdempotencyCache::key(&request.context.conversation_id, request.files, &tool.spec().version, call)
        });
        if let Some(output) = cache_key.as_ref().and_then(|key| self.cache.get(key)) {
            return Ok(Attempted {
                outcome: Ok(output),
                latency: Duration::ZERO,
                retries: 0,
                cache_hit: true,
                cache_key,
            });
        }
        let mut attempt = 0;
        loop {
            let began = Instant::now();
            let timeout = self.config.retry.timeout(plan.timeout, attempt);
            let context = ToolContext { level, timeout, ..request.context.clone() };
            let outcome = guarded(tool.as_ref(), &context, arguments.clone()).await;
            let latency = began.elapsed();
            let kind = match &outcome {
                Ok(_) => None,
                Err(ToolError::TellModel(failure)) => Some(failure.error_type),
                Err(ToolError::Fatal(_)) => Some(ToolErrorType::ResourceError),
            };
            if let Some(kind) = kind.filter(|kind| self.config.retry.should_retry(&plan, *kind, attempt)) {
                let delay = self.config.retry.delay(attempt, rand::random::<f64>());
                attempt += 1;
                request.context.progress.report(None, &format!("retry {attempt}: {kind}"));
                tokio::time::sleep(delay).await;
                continue;
            }
            let outcome = match outcome {
                Ok(output) => Ok(Arc::new(output)),
                Err(ToolError::TellModel(failure)) => Err(failure),
                Err(ToolError::Fatal(error)) => return Err(error),
            };
            if let (Ok(output), Some(key)) = (&outcome, &cache_key) {
                self.cache.put(key.clone(), output);
            }
            return Ok(Attempted { outcome, latency, retries: attempt, cache_hit: false, cache_key });
        }
    }

    fn check_input(&self, call: &ToolCall) -> Result<(), ToolFailure> {
        let size: usize = call.arguments.iter().map(|(k, v)| k.len() + approximate_size(v)).sum();
        if size > self.config.max_input_bytes {
            let limit = ba_protocol::text::human_size(self.config.max_input_bytes as u64);
            return Err(ToolFailure::validation(
                "INPUT_TOO_LARGE",
                format!("arguments larger than {limit} are refused"),
            )
            .with_hint("put the data into a file and pass its name"));
        }
        match call.arguments.get("response_format") {
            None | Some(Value::Null) => Ok(()),
            Some(given) if serde_json::from_value::<OutputLevel>(given.clone()).is_ok() => Ok(()),
            Some(given) => Err(ToolFailure::validation(
                "INVALID_ARGUMENTS",
                format!("response_format is {given}; allowed: brief, standard, full"),
            )),
        }
    }

    async fn succeeded(
        &self,
        request: &CallRequest<'_>,
        output: &ToolOutput,
        level: OutputLevel,
    ) -> ToolResult {
        let call = &request.planned.call;
        let stored = match &output.data {
            Some(data) if level.is_full() || data.bytes.len() >= self.config.large_result_bytes => {
                Some((data.extension, std::borrow::Cow::Borrowed(data.bytes.as_slice())))
            }
            Some(_) => None,
            None => whole_body(&output.body, level, self.config.large_result_bytes),
        };
        let mut data_file = None;
        let mut data_size_bytes = 0;
        let mut notes = Vec::new();
        if let Some((extension, bytes)) = stored {
            data_size_bytes = bytes.len() as u64;
            let conversation = &request.context.conversation_id;
            match self.data.keep(conversation, &call.tool_call_id, extension, &bytes, &output.summary).await {
                Ok(reference) => data_file = Some(reference),
                Err(error) => notes.push(format!("the full data could not be stored: {error}")),
            }
        }
        let cap = self.config.observation_tokens;
        // The brief level shows no notes, so that one would be taken for told.
        if level != OutputLevel::Brief {
            let fresh = request.told.fresh(&output.data_notes);
            let unsaid = |n: &&&DataNote| !output.notes.iter().any(|said| said.contains(&n.note.text));
            notes.extend(fresh.iter().filter(unsaid).map(|n| format!("data note: {}", n.line())));
        }
        let reference = data_file.as_deref();
        let rendered = render(&call.tool_call_id, output, &notes, level, reference, cap, request.counter);
        let observation = wrap(&call.tool_name, &rendered.text);
        ToolResult {
            output_level: level,
            data_summary: data_file.is_some().then(|| output.summary.clone()),
            data_file,
            data_size_bytes,
            artifacts: output.artifacts.clone(),
            file_facts: output.file_facts.clone(),
            data_notes: output.data_notes.clone(),
            ..ToolResult::success(&call.tool_call_id, &call.tool_name, observation)
        }
    }
}

/// Runs one attempt: never longer than its timeout, and a panic in a tool is a failed call.
async fn guarded(
    tool: &dyn Tool,
    context: &ToolContext,
    arguments: serde_json::Map<String, Value>,
) -> Result<ToolOutput, ToolError> {
    let call = AssertUnwindSafe(tool.call(context, arguments)).catch_unwind();
    // A tool that watches its own time gets to answer first, with more to say.
    match tokio::time::timeout(context.timeout + Duration::from_secs(2), call).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_panic)) => Err(ToolFailure::internal("the tool failed unexpectedly; this was logged").into()),
        Err(_) => Err(ToolFailure::new(
            ToolErrorType::Timeout,
            "TIMEOUT",
            format!("no result within {} s", context.timeout.as_secs()),
        )
        .with_hint("make the work smaller, or ask for a longer timeout where the tool has one")
        .into()),
    }
}

/// The body as bytes, when it is large or everything was asked for.
fn whole_body<'a>(
    body: &'a Body,
    level: OutputLevel,
    large: usize,
) -> Option<(&'static str, std::borrow::Cow<'a, [u8]>)> {
    let (extension, bytes) = match body {
        Body::Table { columns, rows, .. } => {
            if !level.is_full() && rows.len() * columns.len().max(1) < large / 64 {
                return None;
            }
            ("csv", std::borrow::Cow::Owned(ba_protocol::table::encode(columns, rows).into_bytes()))
        }
        Body::Text(text) => ("txt", std::borrow::Cow::Borrowed(text.as_bytes())),
        _ => return None,
    };
    (level.is_full() || bytes.len() >= large).then_some((extension, bytes))
}

fn telemetry(
    request: &CallRequest<'_>,
    attempted: &Attempted,
    result: &ToolResult,
    tool: Option<&Arc<dyn Tool>>,
    timestamp: Timestamp,
    duration: Duration,
) -> ToolTelemetry {
    let call = &request.planned.call;
    let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
    let input_tokens = (request.counter)(&arguments) as u64;
    let output_tokens = (request.counter)(&result.observation) as u64;
    let output = attempted.outcome.as_ref().ok();
    ToolTelemetry {
        tool_name: call.tool_name.clone(),
        tool_version: tool.map(|t| t.spec().version.clone()).unwrap_or_default(),
        execution_id: Uuid::new_v4(),
        timestamp,
        latency_ms: attempted.latency.as_secs_f64() * 1e3,
        duration_ms: duration.as_secs_f64() * 1e3,
        input_tokens,
        output_tokens,
        total_tokens: input_tokens + output_tokens,
        cache_hit: attempted.cache_hit,
        cache_key: attempted.cache_key.clone(),
        success: result.success,
        error_code: result.error_code.clone(),
        error_message: result.error_message.clone(),
        retry_count: attempted.retries,
        memory_mb: output.map_or(0.0, |o| o.resources.memory_mb),
        cpu_percent: output.map_or(0.0, |o| o.resources.cpu_percent),
        output_level: result.output_level,
        metrics: output.map(|o| o.metrics.clone()).unwrap_or_default(),
    }
}

fn approximate_size(value: &Value) -> usize {
    match value {
        Value::String(s) => s.len(),
        Value::Array(items) => items.iter().map(approximate_size).sum(),
        Value::Object(map) => map.iter().map(|(k, v)| k.len() + approximate_size(v)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}
