//! What a fetched body is, and its text. Pure; PDF and packed formats are only named, never opened here.

mod charset;
mod feed;
mod kind;

pub use charset::{Decoded, decode};
pub use feed::{Entry, Feed, parse as parse_feed};
pub use kind::{Kind, kind_of};

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// Whatever a server sends, it becomes something.
        #[test]
        fn no_bytes_are_too_strange(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400),
            header in proptest::option::of("\\PC{0,40}"),
            xml in "(<|>|/|rss|item|title|feed|entry|link href='|!\\[CDATA\\[|&|amp;|#|x|;|'|\\]\\]|年){0,60}",
        ) {
            let kind = kind_of(header.as_deref(), "/a.b", &bytes);
            let text = decode(&bytes, header.as_deref()).text;
            proptest::prop_assert!(!kind_of(None, "/", text.as_bytes()).eq(&Kind::Pdf) || text.starts_with("%PDF-"));
            proptest::prop_assert!(kind != Kind::Pdf || bytes.starts_with(b"%PDF-"));
            let entries = parse_feed(&format!("<rss>{xml}")).map_or(0, |f| f.entries.len());
            proptest::prop_assert!(entries <= xml.matches("item").count() + xml.matches("entry").count());
        }
    }
}
