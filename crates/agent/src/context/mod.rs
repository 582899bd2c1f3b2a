//! What goes to the model for one turn (SPEC X1): stable system prompt, history, file list, user message, this turn.
//!
//! Pure: turns and texts in, messages and a report out. Never calls the model; where an older span wants a summary
//! it says so, and uses it when it is there.

mod budget;
mod digest;
mod extract;
mod history;
mod names;
mod piece;
mod plan;
mod sizes;
mod skills;
mod summary;
#[cfg(test)]
mod tests;
mod tokens;

use std::collections::HashMap;

use ba_protocol::turn::Round;
use ba_protocol::{Message, Turn};

use crate::pipeline::neutralise;
use crate::run::{Correction, Gate};

pub use extract::{extract, importance};
pub use history::turn_messages;
use piece::Piece;
pub use piece::{ContextReport, Kind, PartReport};
pub use plan::{Budget, Plan, Span, plan};
pub use sizes::TurnSize;
pub use summary::{WantedSummary, checked_summary, summary_request};
pub use tokens::MemoCounter;

/// Earlier turns kept whole, whatever happens (SPEC X4).
pub const WHOLE_ROUNDS: usize = 5;
/// More messages than this start compression (SPEC X3).
pub const MAX_MESSAGES: usize = 20;
/// More code blocks than this start it too.
pub const MAX_CODE_BLOCKS: usize = 10;

pub struct ContextInput<'a> {
    pub system_prompt: &'a str,
    pub turns: &'a [Turn],
    pub file_list: Option<&'a str>,
    pub user_message: &'a str,
    /// What the current run has done so far: never cleaned (SPEC X2).
    pub steps: &'a [Round],
    pub correction: Option<&'a Correction>,
    /// The draft the audit sent back, shown where it was written.
    pub gate: Option<&'a Gate>,
    pub last_turn: bool,
    /// The model's context window in tokens.
    pub window: usize,
    pub strategy: Strategy,
    /// Summaries at hand, by the key of their segment.
    pub summaries: &'a HashMap<String, String>,
}

/// How turns older than the last five are compressed (SPEC X4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Strategy {
    /// The first words of each.
    Truncate,
    /// The lines that matter, by importance score.
    Extract,
    /// A small model's summary where there is one, extraction else.
    #[default]
    Summarize,
}

pub struct BuiltContext {
    pub messages: Vec<Message>,
    /// How many messages from the start are the same in the next request of this conversation.
    pub stable_prefix: usize,
    pub report: ContextReport,
    /// Spans that would be better summarised; the next build finds the summaries under these keys.
    pub wanted: Vec<WantedSummary>,
}

/// Packs one request.
pub fn build_context(input: &ContextInput<'_>, counter: &MemoCounter) -> BuiltContext {
    let mut wanted = Vec::new();
    let mut pieces = vec![Piece::new(Kind::System, None, Message::system(input.system_prompt))];
    let sizes: Vec<TurnSize> = input.turns.iter().map(|turn| counter.size(turn)).collect();
    let budget = Budget::of(input.window, counter.count_message(input.system_prompt));
    let Plan { spans, trimmed_from, whole_from } = plan(&sizes, budget);
    for span in &spans {
        let text = digest::message(span, input, budget.span, counter, &mut wanted);
        let mut piece = Piece::new(Kind::Summary, Some(span.from), Message::system(text));
        piece.original_tokens = sizes[span.from..span.to].iter().map(|s| s.raw).sum();
        pieces.push(piece);
    }
    for (index, turn) in input.turns.iter().enumerate().skip(trimmed_from) {
        if index < whole_from {
            pieces.extend(history::trimmed_pieces(index, turn, sizes[index].raw));
        } else {
            pieces.extend(history::turn_pieces(index, turn, counter));
        }
    }
    let stable_prefix = pieces.len();
    if let Some(list) = input.file_list {
        pieces.push(Piece::new(Kind::FileList, None, Message::system(list)));
    }
    pieces.push(Piece::new(Kind::User, None, Message::user(input.user_message)));
    let before = input.gate.map_or(input.steps.len(), |g| g.after_steps.min(input.steps.len()));
    let ended = skills::Ended::of(input.steps);
    for (at, step) in input.steps.iter().enumerate() {
        if at == before {
            pieces.extend(sent_back(input.gate));
        }
        pieces.extend(history::step_pieces(
            Kind::CurrentTurn,
            None,
            step,
            history::Keep::Whole { ended: &ended },
            counter,
        ));
    }
    if before == input.steps.len() {
        pieces.extend(sent_back(input.gate));
    }
    notices(&mut pieces, input);
    let over_budget = budget::fit(&mut pieces, input.window, counter);
    let report = ContextReport::of(&mut pieces, input.window, over_budget, counter);
    let messages = pieces.into_iter().map(|p| p.message).collect();
    BuiltContext { messages, stable_prefix, report, wanted }
}

/// The draft and what was asked about it. The request quotes labels of tables, so it has a user's voice, and no tags.
fn sent_back(gate: Option<&Gate>) -> Vec<Piece> {
    let Some(gate) = gate else { return Vec::new() };
    let request = neutralise(&gate.request).into_owned();
    [Message::assistant(gate.draft_text()), Message::user(request)]
        .map(|message| Piece::new(Kind::CurrentTurn, None, message))
        .into()
}

fn notices(pieces: &mut Vec<Piece>, input: &ContextInput<'_>) {
    if let Some(correction) = input.correction {
        let output = ba_protocol::text::shorten(&correction.output, 4_000);
        pieces.push(Piece::new(Kind::Notice, None, Message::assistant(output)));
        let text = format!(
            "上一条输出无法解析：{}。请只输出一个符合格式的 JSON 对象，不要添加其他文字。",
            correction.problem
        );
        pieces.push(Piece::new(Kind::Notice, None, Message::system(text)));
    }
    if input.last_turn {
        let text = format!(
            "{} 这是本次运行的最后一轮：不要再调用工具，用已有结果以 complete 作答，并说明尚未完成的部分。",
            ba_protocol::notice::LAST_TURN
        );
        pieces.push(Piece::new(Kind::Notice, None, Message::system(text)));
    }
}
