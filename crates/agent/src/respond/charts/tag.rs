//! Finds `<chart …/>` and `<chart …>…</chart>` in text and reads their attributes. Forgives quotes; knows nothing of data.

use std::sync::LazyLock;

use regex::Regex;

#[expect(clippy::expect_used, reason = "constant patterns, compiled by every test of this module")]
static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"([a-zA-Z_]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|“([^”]*)”|([^\s"'>/]+))"#)
        .expect("the pattern is valid")
});

#[expect(clippy::expect_used, reason = "constant patterns, compiled by every test of this module")]
static OPENING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"<chart\b((?:\s+[a-zA-Z_]+\s*=\s*(?:"[^"]*"|'[^']*'|“[^”]*”|[^\s"'>/]+))*)\s*(/?)>"#)
        .expect("the pattern is valid")
});

const CLOSING: &str = "</chart>";

#[derive(Debug)]
pub(super) struct Tag<'a> {
    pub whole: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    /// A full option, between the tags.
    pub body: Option<&'a str>,
}

impl<'a> Tag<'a> {
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// The measures: `y="a,b"`.
    pub fn y(&self) -> Vec<&'a str> {
        let given = self.get("y").unwrap_or("");
        given.split([',', '，']).map(str::trim).filter(|name| !name.is_empty()).collect()
    }

    /// Every column the tag names.
    pub fn columns(&self) -> Vec<&'a str> {
        let one = |name| self.get(name).filter(|value| !value.is_empty());
        [one("x"), one("series")].into_iter().flatten().chain(self.y()).collect()
    }
}

/// The first tag of a text, with what stands before and after it.
pub(super) fn next(text: &str) -> Option<(&str, Tag<'_>, &str)> {
    let opening = OPENING.captures(text)?;
    let (head, given) = (opening.get(0)?, opening.get(1)?.as_str());
    let attributes = ATTRIBUTE
        .captures_iter(given)
        .filter_map(|found| {
            let value = (2..=5).find_map(|group| found.get(group))?;
            Some((found.get(1)?.as_str(), value.as_str()))
        })
        .collect();
    let closed = &opening[2] == "/";
    let rest = &text[head.end()..];
    // `<chart …>` without an end is taken as closed, if another one begins first or none ends.
    let end = rest.find(CLOSING).filter(|at| !closed && !rest[..*at].contains("<chart"));
    let (after, body) = match end {
        Some(at) => {
            (head.end() + at + CLOSING.len(), Some(rest[..at].trim()).filter(|body| !body.is_empty()))
        }
        None => (head.end(), None),
    };
    Some((&text[..head.start()], Tag { whole: &text[head.start()..after], attributes, body }, &text[after..]))
}
