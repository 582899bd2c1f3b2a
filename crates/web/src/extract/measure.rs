//! How much text, how much of it in links, and how much of it running prose a part of a page holds. Pure.

use std::collections::HashMap;

use dom_query::{NodeId, NodeRef};

use super::table;

/// Text with fewer than this is a label and no prose.
const PROSE: usize = 40;

/// Widths: a Chinese character says about as much as two letters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Measure {
    pub text: usize,
    pub linked: usize,
    /// Text of blocks that read like sentences or hold data.
    pub prose: usize,
}

impl Measure {
    pub fn link_share(self) -> f64 {
        if self.text == 0 { 0.0 } else { self.linked as f64 / self.text as f64 }
    }
}

#[derive(Default)]
pub(super) struct Measures(HashMap<NodeId, Measure>);

impl Measures {
    /// One walk over the tree.
    pub fn of(root: &NodeRef<'_>) -> Self {
        let mut all = Self::default();
        all.node(root, false);
        all
    }

    pub fn get(&self, node: &NodeRef<'_>) -> Measure {
        self.0.get(&node.id).copied().unwrap_or_default()
    }

    fn node(&mut self, node: &NodeRef<'_>, in_link: bool) -> Measure {
        if node.is_text() {
            let width = width_of(&node.text());
            return Measure { text: width, linked: if in_link { width } else { 0 }, prose: 0 };
        }
        let name = node.node_name();
        let name = name.as_deref().unwrap_or_default();
        if matches!(name, "head" | "script" | "style" | "noscript" | "select" | "button" | "textarea") {
            return Measure::default();
        }
        let in_link = in_link || name == "a";
        let mut sum = Measure::default();
        // Loose text between blocks, as in pages that break lines with <br>.
        let mut loose = Measure::default();
        for child in node.children() {
            let part = self.node(&child, in_link);
            sum.text += part.text;
            sum.linked += part.linked;
            sum.prose += part.prose;
            if part.prose == 0 && !is_container(&child) {
                loose.text += part.text;
                loose.linked += part.linked;
            }
        }
        let block = is_container(node);
        if block && loose.text >= PROSE && loose.link_share() < 0.5 {
            sum.prose += loose.text;
        }
        let items = matches!(name, "ul" | "ol" | "dl") && node.element_children().len() >= 3;
        if items && sum.text >= PROSE && sum.link_share() < 0.2 {
            sum.prose = sum.text;
        }
        if name == "table" && sum.link_share() < 0.5 && table::is_data(node) {
            sum.prose = sum.text;
        }
        self.0.insert(node.id, sum);
        sum
    }
}

fn is_container(node: &NodeRef<'_>) -> bool {
    const NAMES: [&str; 28] = [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "div",
        "dl",
        "dt",
        "figcaption",
        "figure",
        "footer",
        "form",
        "header",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "tbody",
        "td",
        "tr",
        "th",
        "ul",
    ];
    node.node_name().is_some_and(|n| NAMES.contains(&&*n))
}

/// Spaces do not count.
fn width_of(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}
