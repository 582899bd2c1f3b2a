//! Text inside a block: white space, links, code and emphasis. Never writes more than the page says.

use dom_query::NodeRef;
use url::Url;

use super::Link;

/// Links written out; the rest stays as text.
const MAX_LINKS: usize = 2_000;
const MAX_URL: usize = 500;

pub(super) struct Links {
    base: Url,
    pub all: Vec<Link>,
}

impl Links {
    pub fn new(base: &Url) -> Self {
        Self { base: base.clone(), all: Vec::new() }
    }

    /// The absolute address, when it is one a reader could open.
    fn resolve(&self, href: &str) -> Option<Url> {
        let href = href.trim();
        if href.is_empty() || href.starts_with('#') {
            return None;
        }
        let url = self.base.join(href).ok()?;
        let web = matches!(url.scheme(), "http" | "https" | "mailto");
        let mut same_page = url.clone();
        same_page.set_fragment(None);
        (web && url.as_str().len() <= MAX_URL && same_page != self.base).then_some(url)
    }

    fn note(&mut self, text: &str, url: &Url) {
        if self.all.len() < MAX_LINKS && !self.all.iter().rev().take(200).any(|l| &l.url == url) {
            self.all.push(Link { text: text.to_owned(), url: url.clone() });
        }
    }
}

/// Appends the node's inline Markdown, white space collapsed, `<br>` as a newline.
pub(super) fn write(node: &NodeRef<'_>, links: &mut Links, out: &mut String) {
    if node.is_text() {
        push_text(out, &node.text());
        return;
    }
    let Some(name) = node.node_name() else { return };
    match &*name {
        "br" => {
            trim_spaces(out);
            out.push('\n');
        }
        "a" => link(node, links, out),
        "code" | "kbd" | "samp" | "tt" => code(node, out),
        "b" | "strong" => marked(node, "**", links, out),
        "img" => image(node, out),
        "sup" if node.text().trim().starts_with('[') => {}
        "input" | "select" | "option" | "textarea" | "button" | "audio" | "video" | "map" => {}
        "p" | "div" | "li" | "td" | "th" | "dd" | "dt" | "section" => {
            push_text(out, " ");
            children(node, links, out);
            push_text(out, " ");
        }
        _ => children(node, links, out),
    }
}

pub(super) fn children(node: &NodeRef<'_>, links: &mut Links, out: &mut String) {
    for child in node.children() {
        write(&child, links, out);
    }
}

fn link(node: &NodeRef<'_>, links: &mut Links, out: &mut String) {
    let mut text = String::new();
    children(node, links, &mut text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() || matches!(text.as_str(), "¶" | "#" | "§") {
        return;
    }
    match node.attr("href").and_then(|href| links.resolve(&href)) {
        Some(url) if !text.contains("](") => {
            links.note(&text, &url);
            let shown = text.replace('[', "\\[").replace(']', "\\]");
            out.push_str(&format!("[{shown}]({url})"));
        }
        _ => out.push_str(&text),
    }
}

fn code(node: &NodeRef<'_>, out: &mut String) {
    let text = node.text();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return;
    }
    let fence = if text.contains('`') { "``" } else { "`" };
    out.push_str(&format!("{fence}{text}{fence}"));
}

fn marked(node: &NodeRef<'_>, mark: &str, links: &mut Links, out: &mut String) {
    let mut text = String::new();
    children(node, links, &mut text);
    let inner = text.trim();
    if inner.is_empty() || inner.contains('\n') || inner.starts_with("**") {
        push_text(out, &text);
        return;
    }
    if text.starts_with(char::is_whitespace) {
        push_text(out, " ");
    }
    out.push_str(&format!("{mark}{inner}{mark}"));
    if text.ends_with(char::is_whitespace) {
        out.push(' ');
    }
}

/// A picture's description, when it says something.
fn image(node: &NodeRef<'_>, out: &mut String) {
    if let Some(alt) = node.attr("alt") {
        let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ");
        if alt.chars().count() >= 8 && alt.chars().count() <= 300 {
            out.push_str(&format!("![{}]", alt.replace(['[', ']'], "")));
        }
    }
}

/// Adds text with runs of white space as one space; none after a space or a line break.
pub(super) fn push_text(out: &mut String, text: &str) {
    for c in text.chars() {
        if c.is_whitespace() || c == '\u{feff}' || c == '\u{200b}' {
            if !out.is_empty() && !out.ends_with([' ', '\n']) {
                out.push(' ');
            }
        } else if !c.is_control() {
            out.push(c);
        }
    }
}

fn trim_spaces(out: &mut String) {
    while out.ends_with(' ') {
        out.pop();
    }
}

/// Entities of plain text, by the HTML parser itself.
pub(super) fn decode(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let escaped = text.replace('<', "&lt;");
    dom_query::Document::fragment(escaped).text().to_string()
}
