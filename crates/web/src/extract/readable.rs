//! Which part of a page is its main text: the article that readability finds, when that is most of what there is to
//! read; otherwise (forums, lists, tables, product pages) everything but the surroundings.

use dom_query::{Document, NodeRef};
use dom_smoothie::{Config, Readability};
use url::Url;

use super::measure::Measures;
use super::{clean, table};

/// Share of the page's prose an article must hold to stand for the page.
const ARTICLE_SHARE: f64 = 0.65;
/// An article without tables that hold one part in this many of the page's prose is not the whole of it.
const TABLE_PARTS: usize = 10;
/// Readability looks at each element's text many times: a page past this is read without it.
const MAX_WORK: usize = 60_000_000;
/// Share of the page's prose that one part must hold to stand for the whole.
const PART_SHARE: f64 = 0.92;

pub(super) enum Main<'a> {
    Article(Document),
    Part(NodeRef<'a>),
    Nothing,
}

/// Cleans the document, and finds its main part.
pub(super) fn main_part<'a>(document: &'a Document, work: usize, base: &Url) -> Main<'a> {
    clean::around_the_text(document);
    let Some(body) = document.body() else { return Main::Nothing };
    let measures = Measures::of(&body);
    let whole = measures.get(&body);
    let affordable = work <= MAX_WORK;
    if let Some(article) = affordable.then(|| article(document, base)).flatten() {
        let root = article.root();
        let inside = Measures::of(&root);
        let found = inside.get(&root);
        let most = found.prose > 0 && found.prose as f64 >= whole.prose as f64 * ARTICLE_SHARE;
        let lost = tabled(&body, &measures).saturating_sub(tabled(&root, &inside));
        if most && lost * TABLE_PARTS < whole.prose {
            return Main::Article(article);
        }
    }
    Main::Part(smallest(&body, &measures))
}

/// How much stands in tables of data.
fn tabled(root: &NodeRef<'_>, measures: &Measures) -> usize {
    let tables = root.descendants_it().filter(|n| n.has_name("table"));
    tables.filter(table::is_data).map(|t| measures.get(&t).text).sum()
}

fn article(document: &Document, base: &Url) -> Option<Document> {
    let config = Config { keep_classes: true, char_threshold: 200, ..Config::default() };
    let mut reader = Readability::with_document(document.clone(), Some(base.as_str()), Some(config)).ok()?;
    reader.parse().ok().map(|a| Document::fragment(a.content))
}

/// The deepest element that still holds nearly all prose.
fn smallest<'a>(body: &NodeRef<'a>, measures: &Measures) -> NodeRef<'a> {
    let whole = measures.get(body).prose as f64;
    let mut at = *body;
    loop {
        let next =
            at.element_children().into_iter().find(|c| measures.get(c).prose as f64 >= whole * PART_SHARE);
        match next {
            Some(child)
                if whole > 0.0
                    && !matches!(
                        child.node_name().as_deref(),
                        Some("p" | "tr" | "td" | "tbody" | "table" | "ul" | "pre")
                    ) =>
            {
                at = child
            }
            _ => return at,
        }
    }
}
