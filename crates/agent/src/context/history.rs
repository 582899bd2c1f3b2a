//! Turns as messages. File reads of earlier turns become their synopsis (SPEC X2). Every call has its result and
//! every result its call (SPEC X7), whatever was stored.

use ba_protocol::turn::Round;
use ba_protocol::{ContentBlock, FileFacts, Message, Role, ToolCall, ToolResult, Turn, TurnEnding, synopsis};
use serde_json::Value;

use super::extract::shortened_observations;
use super::piece::{Kind, Piece};
use super::skills::{self, Ended};
use super::tokens::MemoCounter;

/// How tool results are shown.
#[derive(Clone, Copy)]
pub(super) enum Keep<'a> {
    /// The current turn: as the tools answered, but for the texts of skills that have ended.
    Whole { ended: &'a Ended },
    /// Earlier turns: file reads as one line, and every skill has ended.
    Synopsis,
}

/// A finished turn as history shows it.
pub fn turn_messages(turn: &Turn) -> Vec<Message> {
    let mut messages = vec![Message::user(turn.user_message.clone())];
    for step in &turn.steps {
        let (said, answered, _) = step_messages(step, Keep::Synopsis);
        messages.extend([said, answered]);
    }
    messages.push(Message::assistant(final_answer(turn)));
    messages
}

/// A turn without its observations: what was asked and answered, and one line per call (SPEC X3).
pub(super) fn trimmed_messages(turn: &Turn) -> [Message; 2] {
    let calls = shortened_observations(turn);
    [Message::user(turn.user_message.clone()), Message::assistant(format!("{calls}{}", final_answer(turn)))]
}

/// A turn that failed still ends with an assistant's word, so that roles alternate.
fn final_answer(turn: &Turn) -> String {
    let unfinished = match turn.ending {
        TurnEnding::Complete | TurnEnding::Failed => "（这一轮没有完成。）",
        TurnEnding::Cancelled => "（用户停止了这一轮。）",
    };
    match (&turn.final_answer, turn.ending) {
        (Some(answer), TurnEnding::Complete) => answer.clone(),
        (Some(partial), _) => format!("{partial}\n\n{unfinished}"),
        (None, _) => unfinished.to_owned(),
    }
}

pub(super) fn trimmed_pieces(index: usize, turn: &Turn, original_tokens: usize) -> [Piece; 2] {
    let [asked, answered] = trimmed_messages(turn).map(|m| Piece::new(Kind::History, Some(index), m));
    [asked, Piece { original_tokens, shortened: !turn.steps.is_empty(), ..answered }]
}

pub(super) fn turn_pieces(index: usize, turn: &Turn, counter: &MemoCounter) -> Vec<Piece> {
    let mut pieces = vec![Piece::new(Kind::History, Some(index), Message::user(turn.user_message.clone()))];
    for step in &turn.steps {
        pieces.extend(step_pieces(Kind::History, Some(index), step, Keep::Synopsis, counter));
    }
    pieces.push(Piece::new(Kind::History, Some(index), Message::assistant(final_answer(turn))));
    pieces
}

pub(super) fn step_pieces(
    kind: Kind,
    turn: Option<usize>,
    step: &Round,
    keep: Keep<'_>,
    counter: &MemoCounter,
) -> [Piece; 2] {
    let (said, answered, synopses) = step_messages(step, keep);
    let mut answer = Piece::new(kind, turn, answered);
    answer.synopses = synopses;
    if synopses > 0 {
        answer.original_tokens = counter.count_message(&observations(step));
    }
    [Piece::new(kind, turn, said), answer]
}

/// One model turn with its calls, the message that answers them all, and how many reads became a synopsis.
fn step_messages(step: &Round, keep: Keep<'_>) -> (Message, Message, usize) {
    let thinking = step.thinking.iter().map(|t| ContentBlock::Thinking { thinking: t.clone() });
    let mut said: Vec<ContentBlock> = thinking.collect();
    said.push(ContentBlock::Text { text: step.model_text.clone() });
    let mut answered = Vec::new();
    let mut synopses = 0;
    let mut seen: Vec<&str> = Vec::new();
    for call in &step.tool_calls {
        if seen.contains(&call.tool_call_id.as_str()) {
            continue;
        }
        seen.push(&call.tool_call_id);
        said.push(ContentBlock::ToolUse {
            id: call.tool_call_id.clone(),
            name: call.tool_name.clone(),
            input: Value::Object(call.arguments.clone()),
        });
        let result = step.results.iter().find(|r| r.tool_call_id == call.tool_call_id);
        let (content, is_error) = match result {
            None => (crate::pipeline::wrap(&call.tool_name, "(no result was recorded)"), true),
            Some(result) => match short_form(call, result, keep) {
                Some(line) => {
                    synopses += 1;
                    (line, false)
                }
                None => (result.observation.clone(), !result.success),
            },
        };
        answered.push(ContentBlock::ToolResult { tool_use_id: call.tool_call_id.clone(), content, is_error });
    }
    if answered.is_empty() {
        answered.push(ContentBlock::Text { text: "(no tool was run)".to_owned() });
    }
    (Message::new(Role::Assistant, said), Message::new(Role::User, answered), synopses)
}

/// The one line a result has become.
fn short_form(call: &ToolCall, result: &ToolResult, keep: Keep<'_>) -> Option<String> {
    match keep {
        Keep::Synopsis => skills::left_behind(call, result)
            .or_else(|| read_facts(call, result).map(|facts| synopsis::line(&facts))),
        Keep::Whole { ended } => ended.contains(call).then(|| skills::left_behind(call, result)).flatten(),
    }
}

/// The facts of a file read; older records without facts are named by what they asked for.
fn read_facts(call: &ToolCall, result: &ToolResult) -> Option<FileFacts> {
    let is_read = call.tool_name == "file_reader" || call.tool_call_id.starts_with("call_read_file_");
    if !result.success || !(is_read || result.file_facts.is_some()) {
        return None;
    }
    result.file_facts.clone().or_else(|| {
        let name = call.arguments.get("path").and_then(Value::as_str).unwrap_or("file").to_owned();
        let file_type = name.rsplit_once('.').map_or("text", |(_, e)| e).to_owned();
        Some(FileFacts::Other { name, file_type, size: result.observation.len() as u64 })
    })
}

fn observations(step: &Round) -> String {
    let all: Vec<&str> = step.results.iter().map(|r| r.observation.as_str()).collect();
    all.join("\n\n")
}

/// Tokens a turn would take with nothing cleaned.
pub(super) fn raw_tokens(turn: &Turn, counter: &MemoCounter) -> usize {
    let steps: usize = turn
        .steps
        .iter()
        .map(|s| counter.count_message(&s.model_text) + counter.count_message(&observations(s)))
        .sum();
    counter.count_message(&turn.user_message) + steps + counter.count_message(&final_answer(turn))
}
