//! A run as other programs hear of it, whatever protocol they speak: its progress in lines, its report as Markdown. Knows no
//! protocol.

pub mod base_url;
pub mod footnotes;
mod markdown;

use ba_protocol::api::AgentResponse;
use serde_json::Value;

use self::base_url::BaseUrl;
use crate::event_bus::Frame;
use crate::state::AppState;

/// The report as Markdown, with links for who sees this server at `base`.
pub async fn report(state: &AppState, answer: &AgentResponse, base: &BaseUrl) -> String {
    markdown::of(answer, &state.deps.store, state.config.openai_footnotes, base).await
}

/// What an event says about the work, for people who watch.
pub fn progress(frame: &Frame) -> Option<String> {
    let data: Value = serde_json::from_str(&frame.json).ok()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match frame.name {
        "round" => {
            let thought = text(&data["metadata"]["task_analysis"]);
            (!thought.is_empty()).then(|| format!("💡 {thought}\n"))
        }
        "tool.started" => Some(format!("⏳ {}\n", text(&data["tool_name"]))),
        "tool.finished" => {
            let mark = if data["success"] == true { "✓" } else { "✗" };
            Some(format!("{mark} {}: {}\n", text(&data["tool_name"]), text(&data["summary"])))
        }
        _ => None,
    }
}
