//! From a fetched body to the text the model gets. Pure; PDF is not handled here.

use std::collections::BTreeMap;

use ba_protocol::text::{one_line, shorten};
use ba_web::content::{Feed, Kind, decode, parse_feed};
use ba_web::fetch::Fetched;
use serde::de::IgnoredAny;

/// Characters of a beginning.
const BRIEF: usize = 400;
/// Characters of a feed entry's summary.
const ENTRY: usize = 300;

pub(super) struct Reading {
    /// In our words: `a web page`.
    pub(super) what: &'static str,
    pub(super) extension: &'static str,
    pub(super) text: String,
    pub(super) brief: String,
    pub(super) notes: Vec<String>,
}

impl Reading {
    pub(super) fn plain(what: &'static str, extension: &'static str, text: String) -> Self {
        let brief = beginning(&text);
        Self { what, extension, text, brief, notes: Vec::new() }
    }
}

pub(super) fn read(kind: &Kind, fetched: &Fetched) -> Reading {
    let decoded = decode(&fetched.body, fetched.content_type.as_deref());
    let mut reading = match kind {
        Kind::Html => html(&decoded.text, fetched),
        Kind::Csv => Reading::plain("CSV", "webcsv", decoded.text),
        Kind::Json => json(decoded.text),
        Kind::Xml => match parse_feed(&decoded.text) {
            Some(feed) => feed_text(&feed),
            None => Reading::plain("XML", "webtxt", decoded.text),
        },
        Kind::Text | Kind::Pdf | Kind::Other(_) => Reading::plain("text", "webtxt", decoded.text),
    };
    if decoded.lossy {
        reading.notes.push(format!("some characters could not be decoded as {}", decoded.encoding));
    }
    reading
}

fn html(html: &str, fetched: &Fetched) -> Reading {
    let page = ba_web::extract::page(html, &fetched.url);
    let mut head = String::new();
    for (name, value) in [("Author", &page.author), ("Date", &page.date)] {
        if let Some(value) = value.as_deref().map(str::trim).filter(|v| !v.is_empty()) {
            head.push_str(&format!("{name}: {}\n", shorten(&one_line(value), 200)));
        }
    }
    let title = shorten(one_line(&page.title).trim(), 300);
    let body = page.markdown.trim();
    let mut text = String::new();
    // Most articles repeat their title as a heading.
    if !title.is_empty() && body.lines().next().map(|l| l.trim_start_matches('#').trim()) != Some(&title) {
        text.push_str(&format!("# {title}\n"));
    }
    text.push_str(&head);
    if !text.is_empty() && !body.is_empty() {
        text.push('\n');
    }
    text.push_str(body);
    let brief = [title, beginning(body)].into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join("\n");
    Reading { what: "a web page", extension: "webmd", text, brief, notes: page.cut.into_iter().collect() }
}

fn json(text: String) -> Reading {
    let keys = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(&text)
        .map(|object| format!("keys: {}", object.into_keys().take(40).collect::<Vec<_>>().join(", ")));
    let items =
        || serde_json::from_str::<Vec<IgnoredAny>>(&text).map(|items| format!("{} items", items.len()));
    let brief = keys.or_else(|_| items());
    let valid = brief.is_ok() || serde_json::from_str::<IgnoredAny>(&text).is_ok();
    let mut reading = Reading::plain("JSON", "webjson", text);
    if let Ok(brief) = brief {
        reading.brief = shorten(&one_line(&brief), BRIEF);
    }
    if !valid {
        reading.notes.push("it is announced as JSON but is not valid JSON".to_owned());
    }
    reading
}

fn feed_text(feed: &Feed) -> Reading {
    let mut text = format!("# {}\n", one_line(&feed.title).trim());
    for entry in &feed.entries {
        text.push_str(&format!("\n## {}\n", one_line(&entry.title).trim()));
        for line in [&entry.date, &entry.link].into_iter().filter(|l| !l.is_empty()) {
            text.push_str(&format!("{}\n", one_line(line)));
        }
        let summary = without_tags(&entry.summary);
        if !summary.is_empty() {
            text.push_str(&format!("{}\n", shorten(&summary, ENTRY)));
        }
    }
    let titles: Vec<&str> = feed.entries.iter().take(5).map(|e| e.title.as_str()).collect();
    let brief = format!("{}: {} entries: {}", feed.title, feed.entries.len(), titles.join("; "));
    let brief = shorten(&one_line(&brief), BRIEF);
    Reading { what: "a feed", extension: "webmd", text, brief, notes: Vec::new() }
}

/// A summary's words: it may be HTML, and is shown as text either way.
fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        text.push(' ');
        rest = rest[open..].find('>').map_or("", |close| &rest[open + close + 1..]);
    }
    text.push_str(rest);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first sentences: whole ones, where they end in time.
fn beginning(text: &str) -> String {
    let mut words = String::new();
    // A little more than is needed: text may be megabytes.
    for line in
        text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with(['#', '|', '!'])).take(20)
    {
        if !words.is_empty() {
            words.push(' ');
        }
        words.extend(line.chars().take(BRIEF + 1));
        if words.chars().count() > BRIEF {
            break;
        }
    }
    if words.chars().count() <= BRIEF {
        return words;
    }
    let cut: String = words.chars().take(BRIEF).collect();
    let end = cut.char_indices().rev().find(|(at, c)| {
        let next = cut[at + c.len_utf8()..].chars().next();
        matches!(c, '。' | '！' | '？')
            || (matches!(c, '.' | '!' | '?') && next.is_some_and(char::is_whitespace))
    });
    match end {
        Some((at, c)) if at >= cut.len() / 4 => cut[..at + c.len_utf8()].to_owned(),
        _ => format!("{cut}…"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_ends_with_a_sentence() {
        let text = format!("# Title\n\n{}\n", "营收增长百分之五。".repeat(60));
        let brief = beginning(&text);
        assert!(
            brief.ends_with('。') && brief.chars().count() <= BRIEF && brief.chars().count() > BRIEF - 20
        );
        assert_eq!(beginning("Short. Text"), "Short. Text");
        assert!(beginning(&"x".repeat(1_000_000)).ends_with('…'));
        assert_eq!(beginning(""), "");
    }

    #[test]
    fn summaries_lose_their_tags() {
        assert_eq!(without_tags("<p>增长 <b>5%</b></p>x<br"), "增长 5% x");
        assert_eq!(without_tags("a > b"), "a > b");
    }
}
