//! Ids of calls, unique within a run: a model that numbers each round from `call_1` would otherwise overwrite its earlier calls.

use std::collections::HashSet;

use ba_protocol::turn::Round;
use ba_protocol::{Action, StructuredResponse, ToolCall};

/// Renames calls whose id an earlier round has used: `call_1` becomes `call_1_2`, and the model sees that name with its result.
pub(super) fn settle(response: &mut StructuredResponse, dropped: &mut [ToolCall], steps: &[Round]) {
    let Action::ToolCall { content } = &mut response.action else { return };
    let mut used: HashSet<String> =
        steps.iter().flat_map(|step| &step.tool_calls).map(|call| call.tool_call_id.clone()).collect();
    let fresh: Vec<String> =
        content.iter().chain(dropped.iter()).map(|call| call.tool_call_id.clone()).collect();
    for call in content.iter_mut().chain(dropped.iter_mut()) {
        if used.insert(call.tool_call_id.clone()) {
            continue;
        }
        let base = std::mem::take(&mut call.tool_call_id);
        let free = (2..).map(|n| format!("{base}_{n}")).find(|id| !used.contains(id) && !fresh.contains(id));
        call.tool_call_id = free.unwrap_or(base);
        used.insert(call.tool_call_id.clone());
    }
}
