//! Fenced code in a report: found, taken out, and left behind as a CODE_SAVED line (SPEC R6, R9).
//!
//! Knows only fences; it does not read the rest of Markdown.

use ba_protocol::{CodeId, text};
use ba_store::languages;

use super::{CodeToSave, MAX_CODE_BYTES};

/// Characters of the first line that describe found code (SPEC R9).
const DESCRIPTION_CHARS: usize = 50;

/// A report, cut where fences begin and end. Joined again, the pieces are the report.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Prose(&'a str),
    Fence {
        whole: &'a str,
        /// The first word after the opening marks.
        info: &'a str,
        code: String,
    },
}

struct Opening<'a> {
    mark: char,
    width: usize,
    indent: usize,
    info: &'a str,
}

fn opening(line: &str) -> Option<Opening<'_>> {
    let trimmed = line.trim_start_matches([' ', '\t']);
    let indent = line.len() - trimmed.len();
    let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let width = trimmed.chars().take_while(|c| *c == mark).count();
    let rest = trimmed[width..].trim();
    // "```x```" on one line is inline code, not the start of a block.
    if width < 3 || (mark == '`' && rest.contains('`')) {
        return None;
    }
    Some(Opening { mark, width, indent, info: rest.split_whitespace().next().unwrap_or("") })
}

fn closes(line: &str, open: &Opening<'_>) -> bool {
    let line = line.trim();
    line.len() >= open.width && line.chars().all(|c| c == open.mark)
}

/// Cuts a report at its fences. An unclosed fence runs to the end, as in Markdown.
pub(super) fn split(report: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut prose_from = 0;
    let mut open: Option<(usize, Opening<'_>)> = None;
    let mut code = String::new();
    let mut at = 0;
    for line in report.split_inclusive('\n') {
        let start = at;
        at += line.len();
        match &open {
            None => {
                if let Some(found) = opening(line.trim_end_matches(['\n', '\r'])) {
                    if prose_from < start {
                        pieces.push(Piece::Prose(&report[prose_from..start]));
                    }
                    open = Some((start, found));
                    code.clear();
                }
            }
            Some((from, mark)) if closes(line, mark) => {
                // The line break after the closing marks belongs to the prose that follows.
                let end = start + line.trim_end_matches(['\n', '\r']).len();
                pieces.push(fence(&report[*from..end], mark, &code));
                prose_from = end;
                open = None;
            }
            Some((_, mark)) => code.push_str(unindent(line, mark.indent)),
        }
    }
    match open {
        Some((from, mark)) => pieces.push(fence(&report[from..], &mark, &code)),
        None if prose_from < report.len() => pieces.push(Piece::Prose(&report[prose_from..])),
        None => {}
    }
    pieces
}

fn fence<'a>(whole: &'a str, mark: &Opening<'a>, code: &str) -> Piece<'a> {
    let code = code.strip_suffix('\n').unwrap_or(code);
    Piece::Fence { whole, info: mark.info, code: code.strip_suffix('\r').unwrap_or(code).to_owned() }
}

fn unindent(line: &str, indent: usize) -> &str {
    let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
    &line[indent.min(blank)..]
}

/// Puts the code of every supported language into `save` and a CODE_SAVED line into its place (SPEC R9).
pub(super) fn take_code(
    pieces: &[Piece<'_>],
    save: &mut Vec<CodeToSave>,
    new_code_id: &mut dyn FnMut() -> CodeId,
) -> String {
    let mut report = String::new();
    for piece in pieces {
        match piece {
            Piece::Prose(prose) => report.push_str(prose),
            Piece::Fence { whole, info, code } => match languages::find(info) {
                Some(language) if !code.trim().is_empty() && code.len() <= MAX_CODE_BYTES => {
                    let description = first_line(code);
                    let code_id = new_code_id();
                    report.push_str(&saved_line(&code_id, &description));
                    save.push(CodeToSave { code_id, language, description, code: code.clone() });
                }
                _ => report.push_str(whole),
            },
        }
    }
    report
}

/// Whether the text outside of fences holds HTML or a chart (SPEC R6).
pub(super) fn holds_html(pieces: &[Piece<'_>]) -> bool {
    pieces.iter().any(|piece| match piece {
        Piece::Prose(prose) => {
            let prose = prose.to_ascii_lowercase();
            ["<div", "<script", "echarts"].iter().any(|sign| prose.contains(sign))
        }
        Piece::Fence { .. } => false,
    })
}

/// The first non-blank line, at most 50 characters of it (SPEC R9).
pub(super) fn first_line(code: &str) -> String {
    let line = code.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("代码片段");
    text::one_line(line).chars().take(DESCRIPTION_CHARS).collect()
}

/// `<!-- CODE_SAVED: code_id | description -->`; a description cannot end the comment early.
pub(super) fn saved_line(code_id: &CodeId, description: &str) -> String {
    let description = description.replace("--!>", "→").replace("-->", "→");
    format!("<!-- CODE_SAVED: {code_id} | {description} -->")
}
