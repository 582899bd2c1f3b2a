//! What holds for every output whatever it contains. Shared with the fuzz target.

use std::collections::HashSet;

use ba_protocol::structured::MAX_TOOL_CALLS;
use ba_protocol::{Action, ParseOutcome, StructuredResponse, parse};

/// Panics when an invariant is broken.
pub fn check(output: &str) {
    let parsed = parse(output);
    match &parsed.outcome {
        ParseOutcome::Structured(response) => {
            let calls = well_formed(response);
            assert!(parsed.dropped_calls.is_empty() || calls == MAX_TOOL_CALLS);
            reads_back(response);
        }
        ParseOutcome::PlainText(text) => assert!(parsed.dropped_calls.is_empty() && !text.trim().is_empty()),
        ParseOutcome::Broken { problem, .. } => assert!(!problem.is_empty()),
    }
    let kinds: HashSet<&String> = parsed.repairs.iter().collect();
    assert_eq!(kinds.len(), parsed.repairs.len(), "each repair is named once");
}

fn well_formed(response: &StructuredResponse) -> usize {
    assert!(response.current_round >= 1);
    match &response.action {
        Action::ToolCall { content } => {
            assert!((1..=MAX_TOOL_CALLS).contains(&content.len()));
            let ids: HashSet<&str> = content.iter().map(|c| c.tool_call_id.as_str()).collect();
            assert_eq!(ids.len(), content.len(), "ids are unique");
            assert!(content.iter().all(|c| !c.tool_name.is_empty() && !c.tool_call_id.is_empty()));
            content.len()
        }
        Action::Complete(report) => {
            assert!(!report.content.trim().is_empty());
            0
        }
    }
}

/// What was understood, written properly, is understood the same, with nothing to repair.
fn reads_back(response: &StructuredResponse) {
    let written = serde_json::to_string(response).expect("a response is always JSON");
    let again = parse(&written);
    assert_eq!(again.repairs, Vec::<String>::new());
    let ParseOutcome::Structured(second) = again.outcome else { panic!("not understood again: {written}") };
    assert_eq!(without_arguments(&second), without_arguments(response));
}

/// Arguments may hold fractions, which need not survive writing to the last bit.
fn without_arguments(response: &StructuredResponse) -> StructuredResponse {
    let mut copy = response.clone();
    if let Action::ToolCall { content } = &mut copy.action {
        for call in content {
            for value in call.arguments.values_mut() {
                *value = serde_json::Value::Null;
            }
        }
    }
    copy
}
