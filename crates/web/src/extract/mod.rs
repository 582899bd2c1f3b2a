//! Main text of a page as Markdown, with title, author, date and links. Pure: never fetches, never runs scripts.
//! Pages are hostile: time and memory are bounded for any input ([`bound`]).

mod bound;
mod clean;
mod inline;
mod markdown;
mod measure;
mod meta;
mod readable;
mod table;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};

use dom_query::Document;
use url::Url;

use self::markdown::Written;
use self::readable::Main;

/// What is worth reading of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    pub title: String,
    pub author: Option<String>,
    /// As `YYYY-MM-DD` where it could be told, else as the page says it.
    pub date: Option<String>,
    /// The main text: headings, lists, GFM tables, fenced code. The title is not repeated.
    pub markdown: String,
    /// Links of the main text in order, absolute, each address once.
    pub links: Vec<Link>,
    /// Set when something had to be left out to stay within the limits.
    pub cut: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub text: String,
    pub url: Url,
}

/// Reads a page. Always answers: at worst with the plain text of what could be understood.
pub fn page(html: &str, base: &Url) -> Page {
    let bounded = bound::bounded(html);
    let cut = bounded.cut.clone();
    // A defect of the parser on a hostile page must not take the server's request with it.
    let read = catch_unwind(AssertUnwindSafe(|| understood(&bounded, base)));
    let page = read.unwrap_or_else(|_| Page { markdown: bound::text_only(html), ..Page::default() });
    Page { cut, ..page }
}

fn understood(bounded: &bound::Bounded, base: &Url) -> Page {
    let document = Document::from(bounded.html.as_str());
    let base = document_base(&document, base);
    let meta = meta::read(&document);
    let written = match readable::main_part(&document, bounded.work, &base) {
        Main::Article(article) => markdown::write(&article.root(), &base, &meta.title),
        Main::Part(part) => markdown::write(&part, &base, &meta.title),
        Main::Nothing => Written::default(),
    };
    Page {
        title: meta.title,
        author: meta.author,
        date: meta.date,
        markdown: written.text,
        links: written.links,
        cut: None,
    }
}

/// `<base href>` moves relative links, within http and https.
fn document_base(document: &Document, base: &Url) -> Url {
    let given = document.base_uri().and_then(|href| base.join(&href).ok());
    given.filter(|u| matches!(u.scheme(), "http" | "https")).unwrap_or_else(|| base.clone())
}

/// All visible text of the body: the baseline of the benchmark.
pub fn body_text(html: &str) -> String {
    bound::text_only(html)
}

/// Entities of a piece of text.
pub(crate) fn decode_entities(text: &str) -> String {
    inline::decode(text)
}
