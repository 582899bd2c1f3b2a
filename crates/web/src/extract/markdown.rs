//! Blocks of the main text as Markdown. Depth was bounded before parsing, so walking may recurse.

use dom_query::NodeRef;
use url::Url;

use super::inline::{self, Links};
use super::{Link, table};

#[derive(Default)]
pub(super) struct Written {
    pub text: String,
    pub links: Vec<Link>,
}

pub(super) fn write(root: &NodeRef<'_>, base: &Url, title: &str) -> Written {
    let mut writer = Writer { links: Links::new(base), blocks: Vec::new(), line: String::new(), depth: 0 };
    match root.node_name() {
        Some(_) => writer.block(root),
        None => writer.blocks_of(root),
    }
    writer.flush();
    let mut blocks = writer.blocks;
    if blocks.first().is_some_and(|first| same_words(first.trim_start_matches('#'), title)) {
        blocks.remove(0);
    }
    // A heading at the end is the title of something that was taken out.
    while blocks.len() > 1 && blocks.last().is_some_and(|last| last.starts_with('#') && !last.contains('\n'))
    {
        blocks.pop();
    }
    Written { text: blocks.join("\n\n"), links: writer.links.all }
}

/// Whether a heading only repeats the title.
fn same_words(a: &str, b: &str) -> bool {
    let letters = |s: &str| s.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    !b.is_empty() && letters(a) == letters(b)
}

struct Writer {
    links: Links,
    blocks: Vec<String>,
    /// Inline text that waits for its block to end.
    line: String,
    /// Lists and quotes around this place.
    depth: usize,
}

/// Deeper lists and quotes are written flat: each level repeats its mark on every line.
const MAX_NESTED: usize = 8;

impl Writer {
    fn flush(&mut self) {
        let text = self.line.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n");
        self.line.clear();
        if !text.is_empty() {
            self.blocks.push(text);
        }
    }

    fn blocks_of(&mut self, node: &NodeRef<'_>) {
        for child in node.children() {
            self.block(&child);
        }
    }

    fn block(&mut self, node: &NodeRef<'_>) {
        let Some(name) = node.node_name() else {
            inline::write(node, &mut self.links, &mut self.line);
            return;
        };
        match &*name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(node, &name),
            "ul" | "ol" | "menu" | "dl" | "blockquote" if self.depth >= MAX_NESTED => {
                self.flush();
                self.blocks_of(node);
                self.flush();
            }
            "ul" | "ol" | "menu" => self.list(node, &name),
            "dl" => self.definitions(node),
            "pre" => self.code(node),
            "blockquote" => self.quote(node),
            "table" if table::is_data(node) => self.table(node),
            "hr" | "head" | "title" | "noscript" => self.flush(),
            _ if holds_blocks(node) || is_block(&name) => {
                self.flush();
                self.blocks_of(node);
                self.flush();
            }
            _ => inline::write(node, &mut self.links, &mut self.line),
        }
    }

    fn heading(&mut self, node: &NodeRef<'_>, name: &str) {
        self.flush();
        let mut text = String::new();
        inline::children(node, &mut self.links, &mut text);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("**", "");
        let level = name.as_bytes().get(1).map_or(1, |b| usize::from(b - b'0'));
        if !text.is_empty() {
            self.blocks.push(format!("{} {text}", "#".repeat(level)));
        }
    }

    /// What a node's children would be as blocks of their own.
    fn nested(&mut self, node: &NodeRef<'_>) -> Vec<String> {
        let outer = std::mem::take(&mut self.blocks);
        let line = std::mem::take(&mut self.line);
        self.depth += 1;
        self.blocks_of(node);
        self.flush();
        self.depth -= 1;
        self.line = line;
        std::mem::replace(&mut self.blocks, outer)
    }

    fn list(&mut self, node: &NodeRef<'_>, name: &str) {
        self.flush();
        let mut lines = Vec::new();
        let mut number = node.attr("start").and_then(|s| s.parse::<usize>().ok()).unwrap_or(1);
        for item in node.children() {
            let blocks = if item.has_name("li") {
                self.nested(&item)
            } else {
                let outer = std::mem::take(&mut self.blocks);
                self.block(&item);
                self.flush();
                std::mem::replace(&mut self.blocks, outer)
            };
            if blocks.is_empty() {
                continue;
            }
            let marker = if name == "ol" { format!("{number}. ") } else { "- ".to_owned() };
            number = number.saturating_add(1);
            let indent = " ".repeat(marker.len());
            let body = blocks.join("\n").replace('\n', &format!("\n{indent}"));
            lines.push(format!("{marker}{body}"));
        }
        if !lines.is_empty() {
            self.blocks.push(lines.join("\n"));
        }
    }

    fn definitions(&mut self, node: &NodeRef<'_>) {
        self.flush();
        let mut lines: Vec<String> = Vec::new();
        for part in node.descendants_it().filter(|n| n.has_name("dt") || n.has_name("dd")).collect::<Vec<_>>()
        {
            let text = self.nested(&part).join("\n  ");
            if text.is_empty() {
                continue;
            }
            if part.has_name("dt") {
                lines.push(format!("- {text}:"));
            } else if let Some(line) = lines.last_mut().filter(|l| l.ends_with(':')) {
                line.push(' ');
                line.push_str(&text);
            } else {
                lines.push(format!("  {text}"));
            }
        }
        if !lines.is_empty() {
            self.blocks.push(lines.join("\n"));
        }
    }

    fn code(&mut self, node: &NodeRef<'_>) {
        self.flush();
        for br in node.descendants_it().filter(|n| n.has_name("br")).collect::<Vec<_>>() {
            br.rename("span");
            br.set_text("\n");
        }
        let text = node.text();
        let text = text.trim_matches('\n').trim_end();
        if text.is_empty() {
            return;
        }
        let language = language_of(node).unwrap_or_default();
        let mut fence = "```".to_owned();
        while text.contains(&fence) {
            fence.push('`');
        }
        self.blocks.push(format!("{fence}{language}\n{text}\n{fence}"));
    }

    fn quote(&mut self, node: &NodeRef<'_>) {
        self.flush();
        let text = self.nested(node).join("\n\n");
        if !text.is_empty() {
            self.blocks.push(
                text.lines().map(|l| format!("> {l}").trim_end().to_owned()).collect::<Vec<_>>().join("\n"),
            );
        }
    }

    fn table(&mut self, node: &NodeRef<'_>) {
        self.flush();
        if let Some(caption) = node.children().into_iter().find(|c| c.has_name("caption")) {
            inline::children(&caption, &mut self.links, &mut self.line);
            self.flush();
        }
        let rows = table::rows(node, &mut self.links);
        let mut text = String::new();
        table::write(&rows, &mut text);
        if !rows.is_empty() {
            self.blocks.push(text.trim_end().to_owned());
        }
    }
}

/// `language-python`, `lang-sql`, `highlight-json` on the block or the code in it.
fn language_of(node: &NodeRef<'_>) -> Option<String> {
    let inner = node.children().into_iter().find(|c| c.has_name("code"));
    let classes = [inner, Some(*node), node.parent()].into_iter().flatten().filter_map(|n| n.class());
    for class in classes {
        for word in class.split_whitespace() {
            let named = ["language-", "lang-", "highlight-"].iter().find_map(|p| word.strip_prefix(p));
            let plain =
                |l: &&str| l.len() <= 20 && l.chars().all(|c| c.is_ascii_alphanumeric() || "+#-".contains(c));
            if let Some(language) = named.filter(plain) {
                return Some(language.to_owned());
            }
        }
    }
    None
}

const BLOCKS: [&str; 34] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "html",
    "li",
    "main",
    "nav",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "ul",
];

fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name)
}

/// Inline elements around blocks (`<a><div>…`, `<font><p>…`) are taken as blocks.
fn holds_blocks(node: &NodeRef<'_>) -> bool {
    let block = |n: &NodeRef<'_>| {
        n.node_name()
            .is_some_and(|name| is_block(&name) || matches!(&*name, "ol" | "h1" | "h2" | "h3" | "h4"))
    };
    node.is_element() && !node.has_name("a") && node.children_it(false).any(|c| block(&c))
}
