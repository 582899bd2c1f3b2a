//! Takes out of a page what surrounds its main text: navigation, sharing, related links, comments, forms, consent.
//! Judges by element, role, the words of `class` and `id`, and by how much of the page would go. Never rewrites text.

use std::collections::HashSet;
use std::sync::LazyLock;

use dom_query::{Document, NodeRef};

use super::measure::{Measure, Measures};
use super::meta::day_in;

/// Words in `class` or `id` that sites use for what is not the main text.
static AROUND: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "ad ads advert advertisement adsense sponsor sponsored promo promotion promotions nav navbar navigation \
     topnav mainnav topbar menu menus submenu breadcrumb breadcrumbs crumb crumbs skip jump toolbar toolbox tools \
     sidebar aside side sider rightbar leftbar widget widgets footer foot bottom copyright colophon legal imprint \
     share sharing sharebar social sharedaddy follow subscribe subscription newsletter signup signin login \
     register cookie cookies consent gdpr privacy popup modal overlay paywall cta announcement chat related \
     relates relatedposts recommend recommended recommendation recommendations rec upsell crosssell carousel hot \
     rank ranking trending popular mostviewed more comment comments commentlist disqus respond commentform votes \
     votecell vote feedback helpful rating ratings reviews review pagination pager paging pages tags taglist tag \
     keywords keyword catlinks categories toc catalog editsection navbox reflist references reference hatnote \
     noprint sitenotice signature postprofile profile avatar qrcode qr appguide statement disclaimer copyrights \
     shortcut hotline serve teaser print"
        .split_whitespace()
        .collect()
});

/// Words of lines that say who wrote something and when; those facts are told apart from the text.
static BYLINE: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "meta info infos byline author autor authors date time source src ago posted signature publish published des"
        .split_whitespace()
        .collect()
});

/// Removes in place.
pub(super) fn around_the_text(document: &Document) {
    let Some(body) = document.body() else { return };
    unseen(&body);
    let measures = Measures::of(&body);
    let whole = measures.get(&body);
    named(&body, &measures, whole);
    let measures = Measures::of(&body);
    let whole = measures.get(&body);
    if whole.link_share() < 0.5 {
        link_lists(&body, &measures, whole);
    }
}

/// Removes what no reader sees or reads: scripts, controls, navigation by role, hidden parts.
fn unseen(body: &NodeRef<'_>) {
    let elements: Vec<NodeRef<'_>> = body.descendants_it().filter(NodeRef::is_element).collect();
    for node in elements {
        let name = node.node_name();
        let by_name = matches!(
            name.as_deref(),
            Some(
                "script"
                    | "style"
                    | "noscript"
                    | "template"
                    | "iframe"
                    | "nav"
                    | "button"
                    | "select"
                    | "textarea"
                    | "input"
                    | "dialog"
            )
        );
        if by_name || by_attributes(&node) {
            node.remove_from_parent();
        }
    }
}

fn by_attributes(node: &NodeRef<'_>) -> bool {
    let role = node.attr("role");
    let around = matches!(
        role.as_deref(),
        Some(
            "navigation"
                | "search"
                | "banner"
                | "contentinfo"
                | "complementary"
                | "dialog"
                | "menu"
                | "menubar"
                | "toolbar"
        )
    );
    let hidden = node.has_attr("hidden") || node.attr("aria-hidden").is_some_and(|v| &*v == "true");
    let Some(style) = node.attr("style") else { return around || hidden };
    let style: String =
        style.chars().take(500).filter(|c| !c.is_whitespace()).collect::<String>().to_lowercase();
    if style.contains("visibility:") || style.contains("opacity:") {
        // Pages that hide their text until a script shows it.
        node.remove_attr("style");
    }
    around || hidden || style.contains("display:none")
}

/// Removes elements by the words of their class and id, unless they hold much of the page.
fn named(body: &NodeRef<'_>, measures: &Measures, whole: Measure) {
    let mut stack: Vec<NodeRef<'_>> = body.children();
    while let Some(node) = stack.pop() {
        let Some(name) = node.node_name().filter(|_| node.is_element()) else { continue };
        if surrounds(&node, &name, measures.get(&node), whole) {
            node.remove_from_parent();
        } else {
            stack.extend(node.children());
        }
    }
}

fn surrounds(node: &NodeRef<'_>, name: &str, size: Measure, whole: Measure) -> bool {
    if matches!(
        name,
        "main" | "pre" | "code" | "table" | "tr" | "td" | "tbody" | "h1" | "b" | "strong" | "p" | "article"
    ) {
        return matches!(name, "p" | "table" | "b") && small(size, whole, 10) && has_word(node, &AROUND);
    }
    let little = small(size, whole, 3);
    match name {
        "footer" | "aside" if little => return true,
        "form" if little && size.prose * 2 < size.text => return true,
        _ => {}
    }
    if little && has_word(node, &AROUND) && !holds_heading(node) {
        return true;
    }
    if size.text <= 400 && is_fine_print(node) {
        return true;
    }
    size.text <= 240 && has_word(node, &BYLINE) && day_in(&node.text()).is_some() && !holds_heading(node)
}

/// At most one part in `parts` of the page's prose.
fn small(size: Measure, whole: Measure, parts: usize) -> bool {
    size.prose * parts <= whole.prose.max(1) || size.prose == 0
}

/// The page's own headline may sit in a box with a telling name.
fn holds_heading(node: &NodeRef<'_>) -> bool {
    node.descendants_it().any(|n| n.has_name("h1"))
}

/// Copyright lines, registrations and the way to a page: known by their words on sites whose names tell nothing.
fn is_fine_print(node: &NodeRef<'_>) -> bool {
    const WORDS: [&str; 9] = [
        "版权所有",
        "公网安备",
        "ICP备",
        "ICP证",
        "当前位置：",
        "您的位置：",
        "All rights reserved",
        "©",
        "Powered by ",
    ];
    let text = node.text();
    WORDS.iter().any(|w| text.contains(w)) && !holds_heading(node)
}

/// Whole words of `class` and `id`, as sites separate them: `post-related_box`, `shareBar`.
fn has_word(node: &NodeRef<'_>, words: &HashSet<&str>) -> bool {
    let names = [node.class(), node.id_attr()];
    names.iter().flatten().flat_map(|n| split_words(n)).any(|w| words.contains(w.as_str()))
}

fn split_words(name: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word = String::new();
    let mut lower_before = false;
    for c in name.chars().take(400) {
        let breaks = !c.is_alphanumeric() || (c.is_uppercase() && lower_before);
        if breaks && !word.is_empty() {
            all.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase();
    }
    if !word.is_empty() {
        all.push(word);
    }
    all
}

/// Blocks that are mostly links, on a page that is not.
fn link_lists(body: &NodeRef<'_>, measures: &Measures, whole: Measure) {
    let mut stack: Vec<NodeRef<'_>> = body.children();
    while let Some(node) = stack.pop() {
        let block = node.node_name().is_some_and(|n| {
            matches!(
                &*n,
                "div"
                    | "ul"
                    | "ol"
                    | "section"
                    | "dl"
                    | "p"
                    | "td"
                    | "tr"
                    | "table"
                    | "header"
                    | "center"
                    | "span"
            )
        });
        let size = measures.get(&node);
        let lines = node.element_children().len();
        let linked = size.link_share() >= 0.65 && (lines >= 2 || size.text <= 60) && size.text > 0;
        let title =
            || node.descendants_it().any(|n| matches!(n.node_name().as_deref(), Some("h1" | "h2" | "h3")));
        if block && linked && size.text * 4 < whole.text && !title() {
            node.remove_from_parent();
        } else {
            stack.extend(node.children());
        }
    }
}
