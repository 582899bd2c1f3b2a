//! Rounds as messages. File reads of earlier rounds become their synopsis (SPEC X2); calls and results stay paired.

use ba_protocol::round::RoundStep;
use ba_protocol::{ContentBlock, Message, Role, Round, ToolResult, synopsis};
use serde_json::Value;

/// How tool results are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The current turn: as the tools answered.
    Whole,
    /// Earlier turns: file reads as one line.
    Synopsis,
}

/// A finished round as history shows it.
pub fn round_messages(round: &Round) -> Vec<Message> {
    let mut messages = vec![Message::user(round.user_message.clone())];
    for step in &round.steps {
        messages.extend(step_messages(step, Keep::Synopsis));
    }
    if let Some(answer) = &round.final_answer {
        messages.push(Message::assistant(answer.clone()));
    }
    messages
}

/// One model turn with its calls, and the message that answers them all.
pub fn step_messages(step: &RoundStep, keep: Keep) -> [Message; 2] {
    let mut said = vec![ContentBlock::Text { text: step.model_text.clone() }];
    said.extend(step.tool_calls.iter().map(|call| ContentBlock::ToolUse {
        id: call.tool_call_id.clone(),
        name: call.tool_name.clone(),
        input: Value::Object(call.arguments.clone()),
    }));
    let answered = step
        .results
        .iter()
        .map(|result| ContentBlock::ToolResult {
            tool_use_id: result.tool_call_id.clone(),
            content: shown(result, keep),
            is_error: !result.success,
        })
        .collect();
    [Message::new(Role::Assistant, said), Message::new(Role::User, answered)]
}

fn shown(result: &ToolResult, keep: Keep) -> String {
    match (&result.file_facts, keep) {
        (Some(facts), Keep::Synopsis) if result.success => synopsis::line(facts),
        _ => result.observation.clone(),
    }
}
