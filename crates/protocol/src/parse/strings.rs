//! String literals as models write them: other quotes, raw newlines, quotes that were never escaped.
//!
//! Looks ahead only past blanks and one short key, so reading stays linear.

use super::repair::{Reader, Role};

/// Longest key for which a lookahead searches the closing quote, in bytes.
const KEY_LOOKAHEAD: usize = 80;

/// A literal, and whether its closing quote was there.
pub(super) struct Literal {
    pub(super) text: String,
    pub(super) closed: bool,
}

/// The quote that opens a string at the start of `rest`, and what may close it.
fn quotes(rest: &str) -> Option<(&'static str, &'static [&'static str])> {
    const TRIPLE_DOUBLE: &str = "\"\"\"";
    const TRIPLE_SINGLE: &str = "'''";
    if rest.starts_with(TRIPLE_DOUBLE) {
        return Some((TRIPLE_DOUBLE, &[TRIPLE_DOUBLE]));
    }
    if rest.starts_with(TRIPLE_SINGLE) {
        return Some((TRIPLE_SINGLE, &[TRIPLE_SINGLE]));
    }
    match rest.chars().next()? {
        '"' => Some(("\"", &["\""])),
        '\'' => Some(("'", &["'"])),
        // Three of them are a code fence, not a string.
        '`' if !rest.starts_with("```") => Some(("`", &["`"])),
        '“' | '”' => Some(("“", &["”", "“", "\""])),
        '‘' | '’' => Some(("‘", &["’", "‘", "'"])),
        _ => None,
    }
}

pub(super) fn starts_string(rest: &str) -> bool {
    quotes(rest).is_some()
}

impl Reader<'_> {
    /// Reads the literal at the current position, which `starts_string` has approved.
    pub(super) fn string(&mut self, role: Role) -> Literal {
        let Some((open, closers)) = quotes(self.rest()) else {
            return Literal { text: String::new(), closed: false };
        };
        if open != "\"" {
            self.repairs.note("changed quotes to double quotes");
        }
        let triple = open.len() == 3 && open.is_ascii();
        self.pos += open.len();
        let mut text = String::new();
        let mut copied = self.pos;
        while let Some(&byte) = self.bytes.get(self.pos) {
            match byte {
                b'\\' => {
                    text.push_str(&self.text[copied..self.pos]);
                    self.escape(&mut text);
                    copied = self.pos;
                }
                b'\n' | b'\r' | b'\t' => {
                    self.repairs.note("escaped raw line breaks inside a string");
                    self.pos += 1;
                }
                // Every closer starts with one of these bytes; 0xE2 opens the curly quotes.
                b'"' | b'\'' | b'`' | 0xE2 => {
                    let closer = closers.iter().find(|c| self.rest().starts_with(**c));
                    match closer {
                        Some(c) if triple || self.ends_string(self.pos + c.len(), role) => {
                            text.push_str(&self.text[copied..self.pos]);
                            self.pos += c.len();
                            return Literal { text, closed: true };
                        }
                        Some(_) => {
                            self.repairs.note("escaped quotes inside a string");
                            self.pos += self.char_len();
                        }
                        None => self.pos += self.char_len(),
                    }
                }
                _ => self.pos += 1,
            }
        }
        text.push_str(&self.text[copied..]);
        Literal { text, closed: false }
    }

    /// Whether a quote that ends at `after` closes the string, judged by what follows.
    fn ends_string(&self, after: usize, role: Role) -> bool {
        if role == Role::Key {
            return true;
        }
        let (at, next) = self.next_solid(after);
        let Some(next) = next else { return true };
        let (then_at, then) = self.next_solid(at + next.len_utf8());
        let in_object = role == Role::InObject;
        match next {
            ',' | '，' | ';' if in_object => {
                matches!(then, None | Some('}' | ']' | '/' | '#' | ',')) || self.is_key(then_at)
            }
            ',' | '，' | ';' => then.is_none_or(|c| self.is_entry(then_at, c)),
            // The string's own frame closes, or with a bracket missing the one around it.
            '}' | ']' | ')' => {
                let own = in_object == (next == '}');
                match then {
                    _ if own && self.depth() <= 1 => true,
                    None | Some('}' | ']' | ')') => true,
                    Some('/' | '#' | '`') => own,
                    Some(c @ (',' | '，' | ';')) => {
                        let (last_at, last) = self.next_solid(then_at + c.len_utf8());
                        self.is_key(last_at) || last.is_none_or(|c| own && self.is_entry(last_at, c))
                    }
                    _ => false,
                }
            }
            '"' | '\'' | '“' if in_object => self.is_key(at),
            // A comma is missing between two entries.
            '"' | '\'' | '“' => at > after,
            '`' => self.last_fence == Some(at),
            '/' => matches!(then, Some('/' | '*')),
            _ => false,
        }
    }

    /// Whether an entry of a list, or the list's end, may start at `at` with `first`.
    fn is_entry(&self, at: usize, first: char) -> bool {
        let rest = &self.text[at..];
        starts_string(rest)
            || matches!(first, '{' | '[' | '(' | ']' | ')' | '}' | '-' | '/' | '#' | ',')
            || first.is_ascii_digit()
            || ["true", "false", "null", "True", "False", "None"].iter().any(|w| rest.starts_with(w))
    }

    /// Whether a key and its colon stand at `at`.
    fn is_key(&self, at: usize) -> bool {
        let rest = crate::text::prefix(&self.text[at..], KEY_LOOKAHEAD);
        let body = match quotes(rest) {
            Some((open, closers)) => {
                let inner = &rest[rest.chars().next().map_or(0, char::len_utf8).min(open.len())..];
                let end = closers.iter().filter_map(|c| Some((inner.find(c)?, c.len()))).min();
                let Some((end, len)) = end else { return false };
                if inner[..end].contains('\n') {
                    return false;
                }
                &inner[end + len..]
            }
            None => rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_'),
        };
        body.len() < rest.len() && body.trim_start().starts_with([':', '：'])
    }

    /// The first character at or after `from` that is not blank.
    fn next_solid(&self, from: usize) -> (usize, Option<char>) {
        let rest = &self.text[from..];
        let trimmed = rest.trim_start();
        (from + rest.len() - trimmed.len(), trimmed.chars().next())
    }

    /// At a backslash: appends what the escape means and moves past it.
    fn escape(&mut self, out: &mut String) {
        let (plain, used) = decode_escape(&self.text[self.pos..]);
        match plain {
            Some(c) => out.push(c),
            None => {
                self.repairs.note("kept a backslash that escapes nothing");
                out.push('\\');
            }
        }
        self.pos += used;
    }
}

/// What the escape at the start of `rest` stands for, and its length. `None`: a backslash that is just itself.
fn decode_escape(rest: &str) -> (Option<char>, usize) {
    let simple = match rest.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'"') => '"',
        Some(b'\'') => '\'',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'u') => return decode_unicode(rest),
        _ => return (None, 1),
    };
    (Some(simple), 2)
}

fn decode_unicode(rest: &str) -> (Option<char>, usize) {
    let Some(high) = hex4(rest) else { return (None, 1) };
    if let Some(c) = char::from_u32(high) {
        return (Some(c), 6);
    }
    if (0xD800..0xDC00).contains(&high)
        && let Some(low) = rest.get(6..).and_then(hex4)
        && (0xDC00..0xE000).contains(&low)
    {
        return (char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), 12);
    }
    (Some(char::REPLACEMENT_CHARACTER), 6)
}

/// The four hex digits of `\uXXXX`.
fn hex4(rest: &str) -> Option<u32> {
    let digits = rest.strip_prefix("\\u")?.get(..4)?;
    if digits.bytes().all(|b| b.is_ascii_hexdigit()) { u32::from_str_radix(digits, 16).ok() } else { None }
}

/// Undoes one level of escaping over a whole text.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (plain, used) = decode_escape(rest);
        out.push(plain.unwrap_or('\\'));
        rest = &rest[used..];
    }
    out.push_str(rest);
    out
}
