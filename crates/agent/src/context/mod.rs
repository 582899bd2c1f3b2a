//! What goes to the model for one turn (SPEC X1): stable system prompt, history, file list, user message, this turn.
//! Pure: rounds and texts in, messages out.

mod history;

use ba_protocol::round::RoundStep;
use ba_protocol::{Message, Round};

use crate::run::Correction;

pub use history::{round_messages, step_messages};

pub struct ContextInput<'a> {
    pub system_prompt: &'a str,
    pub rounds: &'a [Round],
    pub file_list: Option<&'a str>,
    pub user_message: &'a str,
    /// What the current run has done so far: never cleaned (SPEC X2).
    pub steps: &'a [RoundStep],
    pub correction: Option<&'a Correction>,
    pub last_turn: bool,
}

pub struct BuiltContext {
    pub messages: Vec<Message>,
    /// How many messages from the start are the same in the next request of this conversation.
    pub stable_prefix: usize,
}

/// Packs one request.
pub fn build_context(input: &ContextInput<'_>) -> BuiltContext {
    let mut messages = vec![Message::system(input.system_prompt)];
    for round in input.rounds {
        messages.extend(round_messages(round));
    }
    let stable_prefix = messages.len();
    if let Some(list) = input.file_list {
        messages.push(Message::system(list));
    }
    messages.push(Message::user(input.user_message));
    for step in input.steps {
        messages.extend(step_messages(step, history::Keep::Whole));
    }
    if let Some(correction) = input.correction {
        messages.push(Message::assistant(correction.output.clone()));
        messages.push(Message::system(format!(
            "上一条输出无法解析：{}。请只输出一个符合格式的 JSON 对象，不要添加其他文字。",
            correction.problem
        )));
    }
    if input.last_turn {
        messages.push(Message::system(
            "这是本次运行的最后一轮：不要再调用工具，用已有结果以 complete 作答，并说明尚未完成的部分。"
                .to_owned(),
        ));
    }
    BuiltContext { messages, stable_prefix }
}
