//! Texts of skills leave the context when the skill ends: what stays is one line that it was used.

use std::collections::HashSet;

use ba_protocol::text::{one_line, shorten};
use ba_protocol::turn::Round;
use ba_protocol::{ToolCall, ToolResult};
use ba_skills::DONE;

use crate::skills::ACTIVATE_SKILL;

/// Calls of the current turn whose skill has ended since.
#[derive(Default)]
pub(super) struct Ended(HashSet<String>);

impl Ended {
    pub(super) fn of(steps: &[Round]) -> Self {
        let mut ended = HashSet::new();
        // Active skills, the newest last, each with the calls that brought its texts.
        let mut active: Vec<(&str, Vec<&str>)> = Vec::new();
        for (call, result) in steps.iter().flat_map(|s| s.tool_calls.iter().zip(&s.results)) {
            let Some(name) = asked_for(call).filter(|_| result.success) else { continue };
            if name == DONE {
                ended.extend(active.pop().into_iter().flat_map(|(_, calls)| calls).map(str::to_owned));
            } else if let Some((_, calls)) = active.iter_mut().find(|(n, _)| *n == name) {
                calls.push(&call.tool_call_id);
            } else if call.arguments.get("resource").is_none_or(serde_json::Value::is_null) {
                active.push((name, vec![&call.tool_call_id]));
            }
        }
        Self(ended)
    }

    pub(super) fn contains(&self, call: &ToolCall) -> bool {
        self.0.contains(&call.tool_call_id)
    }
}

fn asked_for(call: &ToolCall) -> Option<&str> {
    (call.tool_name == ACTIVATE_SKILL)
        .then(|| call.arguments.get("skill_name")?.as_str().map(str::trim))
        .flatten()
}

/// What stays of a skill's text.
pub(super) fn left_behind(call: &ToolCall, result: &ToolResult) -> Option<String> {
    let name = asked_for(call).filter(|name| result.success && *name != DONE)?;
    Some(format!("[技能已结束] {}（需要时可再次激活）", shorten(&one_line(name), 64)))
}
