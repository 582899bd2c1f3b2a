//! Spans of a run for tracing (SPEC M3): run → round → model call and tool calls, named by OpenTelemetry's GenAI
//! conventions. They carry names, counts and outcomes; refuses to carry what was asked, said or read.

use ba_model::{ModelError, ModelInfo, StopReason, Usage};
use ba_protocol::ToolCall;
use ba_store::RunRecord;
use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::pipeline::Executed;
use crate::run::Outcome;

/// The target of every span made here, so that exporters take these and logs leave them out.
pub const TARGET: &str = "ba_agent::spans";

pub(crate) fn run(record: &RunRecord, resumed: bool) -> Span {
    info_span!(
        target: TARGET, parent: None, "invoke_agent",
        otel.name = "invoke_agent ba-agent",
        otel.status_code = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = "ba-agent",
        gen_ai.conversation.id = %record.conversation_id,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        ba.run.id = %record.id,
        ba.run.resumed = resumed,
        ba.run.outcome = Empty,
        "error.type" = Empty,
    )
}

pub(crate) fn round(run: &Span, number: u32) -> Span {
    info_span!(target: TARGET, parent: run, "round", otel.name = format!("round {number}"), ba.round = number)
}

/// `openai:gpt-5` is `gpt-5` of provider `openai`.
pub(crate) fn model(round: &Span, info: &ModelInfo) -> Span {
    let (provider, model) = info.name.split_once(':').unwrap_or(("ba-agent", &info.name));
    info_span!(
        target: TARGET, parent: round, "chat",
        otel.name = format!("chat {model}"),
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = provider,
        gen_ai.request.model = model,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.response.finish_reasons = Empty,
        "error.type" = Empty,
    )
}

pub(crate) fn model_answered(span: &Span, usage: &Usage, stop: StopReason) {
    span.record("gen_ai.usage.input_tokens", usage.input_tokens);
    span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    let reason = match stop {
        StopReason::End => "stop",
        StopReason::Length => "length",
        StopReason::ContentFilter => "content_filter",
    };
    span.record("gen_ai.response.finish_reasons", reason);
}

pub(crate) fn model_failed(span: &Span, error: &ModelError) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", error.code());
}

pub(crate) fn tool(round: &Span, call: &ToolCall) -> Span {
    info_span!(
        target: TARGET, parent: round, "execute_tool",
        otel.name = format!("execute_tool {}", call.tool_name),
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = call.tool_name,
        gen_ai.tool.call.id = call.tool_call_id,
        "gen_ai.tool.type" = "function",
        ba.tool.cache_hit = Empty,
        ba.tool.retries = Empty,
        ba.tool.output_tokens = Empty,
        "error.type" = Empty,
    )
}

pub(crate) fn tool_finished(span: &Span, executed: &Executed) {
    span.record("ba.tool.cache_hit", executed.telemetry.cache_hit);
    span.record("ba.tool.retries", executed.telemetry.retry_count);
    span.record("ba.tool.output_tokens", executed.telemetry.output_tokens);
    if !executed.result.success {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", executed.result.error_code.as_deref().unwrap_or("tool_error"));
    }
}

pub(crate) fn run_ended(span: &Span, outcome: &Outcome, usage: &ba_protocol::api::UsageInfo) {
    span.record("gen_ai.usage.input_tokens", usage.input_tokens);
    span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    let name = match outcome {
        Outcome::Answer { stop, .. } => stop.as_limit().unwrap_or("complete"),
        Outcome::Cancelled => "cancelled",
        Outcome::Failed { error } => {
            span.record("otel.status_code", "ERROR");
            span.record("error.type", error.code.as_str());
            "failed"
        }
    };
    span.record("ba.run.outcome", name);
}
