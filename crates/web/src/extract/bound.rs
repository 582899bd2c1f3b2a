//! Keeps a page within what the parser can digest in bounded time: one pass over the raw bytes that drops tags past
//! a depth and a number. Text is never dropped here. Knows HTML only as far as tags, comments and raw text go.

/// Elements open at once; real pages stay below 100. Parsers look through the open elements for each tag.
const MAX_DEPTH: usize = 120;
/// Formatting elements open at once: each paragraph makes copies of the ones left open.
const MAX_FORMATTING: usize = 8;
const MAX_TAGS: usize = 100_000;
/// A tag costs a reader as much as this many bytes of text.
const TAG_WORK: usize = 20;
/// Attribute text kept of one tag: inline images and state are no text.
const MAX_TAG_BYTES: usize = 8 * 1024;
/// HTML handed to the parser.
const MAX_BYTES: usize = 10 * 1024 * 1024;

const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];
/// Closed by their next sibling; they nest only inside elements that are counted.
const SELF_CLOSING: [&str; 12] =
    ["p", "li", "td", "th", "tr", "dt", "dd", "option", "optgroup", "tbody", "thead", "tfoot"];
const FORMATTING: [&str; 14] =
    ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];
/// Content that is no text for a reader.
const DROPPED: [&str; 12] = [
    "script", "style", "template", "svg", "iframe", "object", "canvas", "noembed", "noframes", "select",
    "datalist", "textarea",
];
/// Their content is no markup: without an end they take the rest of the page.
const RAW: [&str; 5] = ["script", "style", "iframe", "noembed", "noframes"];

pub(super) struct Bounded {
    pub html: String,
    pub cut: Option<String>,
    /// What a reader that looks at each element's whole text has to do: bytes and tags, times depth.
    pub work: usize,
}

#[derive(Default)]
struct Limits {
    open: Vec<String>,
    formatting: usize,
    tags: usize,
    dropped: usize,
    work: usize,
}

impl Limits {
    /// Whether this tag may stay.
    fn admits(&mut self, tag: &Tag<'_>) -> bool {
        let name = tag.name.to_ascii_lowercase();
        let name = name.as_str();
        self.tags += 1;
        self.work = self.work.saturating_add(TAG_WORK.saturating_mul(self.open.len()));
        if self.tags > MAX_TAGS {
            return false;
        }
        if VOID.contains(&name) {
            return true;
        }
        if SELF_CLOSING.contains(&name) {
            // Formatting left open is opened anew in each of these.
            self.tags += if tag.closing { 0 } else { self.formatting };
            return true;
        }
        let formatting = FORMATTING.contains(&name);
        if tag.closing {
            // The innermost few are looked through: a lost end tag costs depth, not time.
            if let Some(at) = self.open.iter().rev().take(16).position(|open| open == name) {
                let keep = self.open.len() - at - 1;
                for open in self.open.drain(keep..) {
                    self.formatting -= usize::from(FORMATTING.contains(&open.as_str()));
                }
            }
            return true;
        }
        if self.open.len() >= MAX_DEPTH || (formatting && self.formatting >= MAX_FORMATTING) {
            return false;
        }
        self.formatting += usize::from(formatting);
        self.open.push(name.to_owned());
        true
    }
}

/// The page without scripts and styles, within the limits.
pub(super) fn bounded(html: &str) -> Bounded {
    let mut limits = Limits::default();
    let mut out = String::with_capacity(html.len().min(MAX_BYTES));
    let mut full = false;
    walk(html, &mut |piece| {
        if out.len() > MAX_BYTES {
            full = true;
            return;
        }
        match piece {
            Piece::Text(text) => {
                // Writing HTML again looks through the rest of a text for each character to escape.
                let escapes = text.bytes().filter(|b| matches!(b, b'&' | 0xa0)).count();
                let times = limits.open.len() + escapes;
                limits.work = limits.work.saturating_add(text.len().saturating_mul(times));
                out.push_str(text);
            }
            Piece::Tag(tag) if limits.admits(&tag) => {
                if tag.raw.len() <= MAX_TAG_BYTES {
                    out.push_str(tag.raw);
                } else {
                    let slash = if tag.closing { "/" } else { "" };
                    out.push_str(&format!("<{slash}{}>", tag.name));
                }
            }
            Piece::Tag(_) => {
                limits.dropped += 1;
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
        }
    });
    let cut = match (full, limits.dropped) {
        (true, _) => Some(format!("only the first {} MB of the page were read", MAX_BYTES >> 20)),
        (false, 0) => None,
        (false, n) => Some(format!("{n} tags past the limits were ignored; the structure may be incomplete")),
    };
    Bounded { html: out, cut, work: limits.work }
}

/// Text without any structure but line breaks.
pub(super) fn text_only(html: &str) -> String {
    let mut out = String::new();
    let mut head = false;
    walk(html, &mut |piece| match piece {
        Piece::Text(text) if !head => out.push_str(text),
        Piece::Text(_) => {}
        Piece::Tag(tag) => {
            let name = tag.name.to_ascii_lowercase();
            if name == "head" || name == "title" {
                head = !tag.closing;
            } else if name == "body" {
                head = false;
            }
            out.push(if FORMATTING.contains(&name.as_str()) || name == "span" { ' ' } else { '\n' });
        }
    });
    let decoded = super::inline::decode(&out);
    let lines = decoded.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n")
}

enum Piece<'a> {
    Text(&'a str),
    Tag(Tag<'a>),
}

struct Tag<'a> {
    raw: &'a str,
    name: &'a str,
    closing: bool,
}

/// Calls `each` for every text and tag in order; comments, doctypes and dropped elements are skipped.
fn walk<'a>(html: &'a str, each: &mut dyn FnMut(Piece<'a>)) {
    let mut rest = html;
    let mut unended: Vec<String> = Vec::new();
    while let Some(at) = rest.find('<') {
        if at > 0 {
            each(Piece::Text(&rest[..at]));
        }
        rest = &rest[at..];
        if rest.starts_with("<!--") {
            let end = rest[4..].find("-->").map_or(rest.len(), |e| 4 + e + 3);
            rest = &rest[end..];
            continue;
        }
        let closing = rest.as_bytes().get(1) == Some(&b'/');
        let name_at = 1 + usize::from(closing);
        let name_length = rest.as_bytes()[name_at..]
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'-')
            .count();
        let begins_tag = rest.as_bytes().get(name_at).is_some_and(u8::is_ascii_alphabetic);
        if !begins_tag {
            if matches!(rest.as_bytes().get(1), Some(b'!' | b'?' | b'/')) {
                let end = rest.find('>').map_or(rest.len(), |e| e + 1);
                rest = &rest[end..];
            } else {
                each(Piece::Text("&lt;"));
                rest = rest.trim_start_matches('<');
            }
            continue;
        }
        let end = tag_end(rest);
        let tag = Tag { raw: &rest[..end], name: &rest[name_at..name_at + name_length], closing };
        let name = tag.name.to_ascii_lowercase();
        let empty = tag.raw.ends_with("/>");
        rest = &rest[end..];
        let keeps = name == "script" && !closing && tag.raw.contains("ld+json");
        if DROPPED.contains(&name.as_str()) && !keeps {
            let void = empty && name == "svg";
            if !(closing || void || unended.contains(&name)) {
                match after_element(rest, &name) {
                    Some(after) => rest = after,
                    None if RAW.contains(&name.as_str()) => rest = "",
                    // Looked for once: a page of a million open tags must not be searched a million times.
                    None => unended.push(name),
                }
            }
            continue;
        }
        if keeps {
            let body = rest.len() - after_element(rest, &name).unwrap_or_default().len();
            each(Piece::Tag(tag));
            each(Piece::Text(&rest[..body]));
            rest = &rest[body..];
            continue;
        }
        each(Piece::Tag(tag));
    }
    if !rest.is_empty() {
        each(Piece::Text(rest));
    }
}

/// The end of a tag, past quoted attributes. A tag that never ends takes all.
fn tag_end(text: &str) -> usize {
    let mut quote = None;
    for (i, b) in text.bytes().enumerate() {
        match (quote, b) {
            (None, b'"' | b'\'') if text.as_bytes().get(i.wrapping_sub(1)) == Some(&b'=') => quote = Some(b),
            (None, b'>') => return i + 1,
            (Some(q), b) if b == q => quote = None,
            _ => {}
        }
    }
    // An unclosed quote: end at the first `>` instead of losing the page.
    text.find('>').map_or(text.len(), |e| e + 1)
}

/// What follows `</name>`, when it comes.
fn after_element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut at = 0;
    while let Some(found) = text[at..].find("</") {
        let start = at + found + 2;
        let candidate = text.as_bytes().get(start..start + name.len());
        if candidate.is_some_and(|c| c.eq_ignore_ascii_case(name.as_bytes())) {
            let end = text[start..].find('>').map_or(text.len(), |e| start + e + 1);
            return Some(&text[end..]);
        }
        at = start;
    }
    None
}
