//! Any sequence of markup is understood without a panic: `page` would hide one, so these call what it wraps.

use proptest::prelude::*;
use url::Url;

use super::bound::{bounded, text_only};
use super::understood;

/// Pieces that parsers trip over, in any order and nesting.
fn piece() -> impl Strategy<Value = String> {
    let tag = prop::sample::select(vec![
        "div",
        "p",
        "table",
        "tr",
        "td",
        "th",
        "tbody",
        "caption",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "pre",
        "code",
        "blockquote",
        "a",
        "b",
        "i",
        "font",
        "span",
        "h1",
        "h2",
        "article",
        "nav",
        "form",
        "select",
        "option",
        "svg",
        "math",
        "template",
        "script",
        "style",
        "noscript",
        "iframe",
        "frameset",
        "body",
        "html",
        "head",
        "title",
        "base",
        "textarea",
        "br",
        "hr",
        "img",
        "input",
        "button",
        "section",
        "center",
        "xmp",
        "plaintext",
    ]);
    let attribute = prop::sample::select(vec![
        "",
        " class='ad nav'",
        " id=content",
        " href='/x?a=1'",
        " href='javascript:1'",
        " colspan=9999 rowspan=0",
        " rowspan=3",
        " style='display:none'",
        " style='visibility:hidden'",
        " hidden",
        " role=navigation",
        " datetime=2025-01-02",
        " alt='a picture of things'",
        " href='http://['",
        " start=99999999999999999999",
    ]);
    prop_oneof![
        4 => (tag.clone(), attribute).prop_map(|(t, a)| format!("<{t}{a}>")),
        3 => tag.prop_map(|t| format!("</{t}>")),
        2 => "[ -~\u{4e00}-\u{4eff}\u{a0}\n]{0,60}",
        1 => prop::sample::select(vec![
            "<!--", "-->", "<![CDATA[", "]]>", "&amp;", "&#x0;", "&#999999999;", "<", ">", "</", "<!", "\"", "'", "\0",
            "\u{feff}", "2025年3月18日", "|", "```", "](", "<script type='application/ld+json'>{\"headline\":",
        ])
        .prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_markup_is_understood(pieces in prop::collection::vec(piece(), 0..120)) {
        let html = pieces.concat();
        let base = Url::parse("https://site.example/").unwrap();
        let page = understood(&bounded(&html), &base);
        for link in &page.links {
            prop_assert!(matches!(link.url.scheme(), "http" | "https" | "mailto"), "{}", link.url);
        }
        prop_assert!(page.date.is_none_or(|d| d.chars().count() <= 41));
        text_only(&html);
    }

    #[test]
    fn tables_are_rectangles(rows in prop::collection::vec(prop::collection::vec((0usize..4, 0usize..4, "[a-z|]{0,5}"), 1..6), 2..8)) {
        let mut html = String::from("<article><p>Enough words for a reader to take this for a text, and then a table.</p><table>");
        for row in &rows {
            html.push_str("<tr>");
            for (across, down, text) in row {
                html.push_str(&format!("<td colspan={across} rowspan={down}>{text}</td>"));
            }
            html.push_str("</tr>");
        }
        html.push_str("</table></article>");
        let page = understood(&bounded(&html), &Url::parse("https://site.example/").unwrap());
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        let widths: Vec<usize> = page.markdown.lines().filter(|l| l.starts_with("| ")).map(bars).collect();
        prop_assert!(widths.windows(2).all(|w| w[0] == w[1]), "{}", page.markdown);
    }
}
