//! Makes a context fit the window: older results are shortened first, then older texts. The system prompt and the
//! user's message are never touched, and a call never loses its result (only its length).

use ba_protocol::ContentBlock;
use ba_protocol::text::prefix;

use super::piece::{Kind, Piece};
use super::plan::RESERVE_PERCENT;
use super::tokens::MemoCounter;

/// How long a block may stay, in bytes, round by round of squeezing.
const STAGES: [usize; 4] = [4_000, 1_000, 300, 60];
const MARK: &str = "… [shortened]";

/// True when even the smallest form does not fit.
pub(super) fn fit(pieces: &mut [Piece], window: usize, counter: &MemoCounter) -> bool {
    let budget = window.saturating_sub(window * RESERVE_PERCENT / 100);
    let mut sizes: Vec<usize> =
        pieces.iter().map(|p| counter.count_message(&p.message.wire_text())).collect();
    let mut total: usize = sizes.iter().sum();
    // Finished turns go first, oldest first; what the current turn found goes last.
    for kinds in [&[Kind::History, Kind::Summary][..], &[Kind::FileList, Kind::Notice], &[Kind::CurrentTurn]]
    {
        for stage in STAGES {
            for (piece, size) in pieces.iter_mut().zip(&mut sizes) {
                if total <= budget {
                    return false;
                }
                if !kinds.contains(&piece.kind) || !shorten(piece, stage) {
                    continue;
                }
                if piece.original_tokens == 0 {
                    piece.original_tokens = *size;
                }
                let now = counter.count_message(&piece.message.wire_text());
                total = total + now - *size;
                *size = now;
                piece.shortened = true;
            }
        }
    }
    total > budget
}

fn shorten(piece: &mut Piece, max: usize) -> bool {
    let mut changed = false;
    for block in &mut piece.message.content {
        let text = match block {
            ContentBlock::Text { text } => text,
            ContentBlock::ToolResult { content, .. } => content,
            ContentBlock::Thinking { .. } | ContentBlock::ToolUse { .. } => continue,
        };
        if text.len() > max + MARK.len() {
            let closing = if text.ends_with("</tool_result>") { "\n</tool_result>" } else { "" };
            *text = format!("{}{MARK}{closing}", prefix(text, max));
            changed = true;
        }
    }
    changed
}
