//! Failures in the one format (SPEC E6), with a hint the model can act on.

use ba_protocol::text::one_line;
use ba_protocol::{OutputLevel, ToolErrorType, ToolFailure, ToolResult};

use super::observation::{neutralise, wrap};
use crate::tool::Registry;

/// The longest message a failure may carry into the context.
const MAX_MESSAGE: usize = 4_000;

fn error_observation(tool: &str, call_id: &str, failure: &ToolFailure) -> String {
    let message = ba_protocol::text::shorten(&failure.message, MAX_MESSAGE);
    let mut content = format!(
        "Operation failed.\nError Type: {}\nError Code: {}\nError Message: {}\nTool Call ID: {}",
        failure.error_type,
        one_line(&failure.code),
        neutralise(&message),
        neutralise(&one_line(call_id)),
    );
    if let Some(hint) = &failure.hint {
        let hint = ba_protocol::text::shorten(hint, MAX_MESSAGE);
        content.push_str(&format!("\nHint: {}", neutralise(&hint)));
    }
    wrap(tool, &content)
}

/// What the model is told of a call that failed, and what is kept of it.
pub(crate) fn failed(call_id: &str, tool: &str, failure: &ToolFailure, level: OutputLevel) -> ToolResult {
    ToolResult {
        output_level: level,
        success: false,
        error_type: Some(failure.error_type),
        error_code: Some(failure.code.clone()),
        error_message: Some(failure.message.clone()),
        ..ToolResult::success(call_id, tool, error_observation(tool, call_id, failure))
    }
}

/// An unknown tool is an answer, not a skip.
pub fn unknown_tool(name: &str, registry: &Registry) -> ToolFailure {
    let names = registry.names();
    let closest =
        names.iter().max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
    let failure = ToolFailure::new(
        ToolErrorType::NotFound,
        "UNKNOWN_TOOL",
        format!(
            "no tool `{}`; available: {}",
            one_line(&ba_protocol::text::shorten(name, 80)),
            names.join(", ")
        ),
    );
    match closest {
        Some(close) if strsim::jaro_winkler(close, name) > 0.8 => {
            failure.with_hint(format!("did you mean `{close}`?"))
        }
        _ => failure,
    }
}
