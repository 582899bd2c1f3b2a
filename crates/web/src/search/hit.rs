//! One result, made presentable: markup out, lengths cut, dates alike, addresses comparable.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

const MAX_TITLE: usize = 200;
const MAX_SNIPPET: usize = 500;
const MAX_SOURCE: usize = 80;
const MAX_URL: usize = 2_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    pub title: String,
    pub url: String,
    pub snippet: String,
    /// `YYYY-MM-DD` where it could be told, else as the provider says it: `3 days ago`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The site or medium.
    pub source: String,
}

/// What a provider gives, before it is checked.
#[derive(Debug)]
pub(super) struct Raw<'a> {
    pub title: &'a Value,
    pub url: &'a Value,
    pub snippet: &'a Value,
    pub date: &'a Value,
    pub source: &'a Value,
}

impl Hit {
    /// `None` when there is no address that could be opened.
    pub(super) fn checked(raw: &Raw<'_>) -> Option<Self> {
        let address = raw.url.as_str()?.trim();
        let url = Url::parse(address).ok()?;
        let web = matches!(url.scheme(), "http" | "https") && url.host().is_some();
        if !web || url.as_str().len() > MAX_URL || !url.username().is_empty() || url.password().is_some() {
            return None;
        }
        let host = url.host_str().unwrap_or_default().trim_start_matches("www.").to_owned();
        let text = |value: &Value, most: usize| shorten(&plain(value.as_str().unwrap_or_default()), most);
        let title = text(raw.title, MAX_TITLE);
        let source = text(raw.source, MAX_SOURCE);
        let date = raw.date.as_str().map(|d| day(&plain(d))).filter(|d| !d.is_empty());
        Some(Self {
            title: if title.is_empty() { host.clone() } else { title },
            url: url.into(),
            snippet: text(raw.snippet, MAX_SNIPPET),
            date,
            source: if source.is_empty() { host } else { source },
        })
    }
}

/// Drops results whose address only differs in what does not change the page; the first one stays.
pub(super) fn deduplicated(hits: Vec<Hit>) -> Vec<Hit> {
    let mut seen = std::collections::HashSet::new();
    hits.into_iter().filter(|h| seen.insert(normalised(&h.url))).collect()
}

/// An address for comparing: without scheme, `www.`, fragment, trailing slash, tracking and the order of parameters.
pub fn normalised(address: &str) -> String {
    let Ok(url) = Url::parse(address) else { return address.to_owned() };
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host).trim_end_matches('.');
    let mut pairs: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| !is_tracking(name))
        .map(|(k, v)| (k.into_owned(), v.into_owned()))
        .collect();
    pairs.sort();
    let port = url.port().map(|p| format!(":{p}")).unwrap_or_default();
    let path = url.path().trim_end_matches('/');
    let path =
        ["/index.html", "/index.htm", "/index.php"].iter().find_map(|i| path.strip_suffix(i)).unwrap_or(path);
    let query: Vec<String> = pairs.iter().map(|(k, v)| format!("{k}={v}")).collect();
    format!("{host}{port}{path}?{}", query.join("&"))
}

fn is_tracking(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("utm_")
        || matches!(
            name.as_str(),
            "gclid"
                | "fbclid"
                | "msclkid"
                | "yclid"
                | "dclid"
                | "igshid"
                | "mc_cid"
                | "mc_eid"
                | "ref_src"
                | "spm"
                | "srsltid"
                | "_ga"
        )
}

/// Text without tags, entities and control characters, on one line. `<strong>` marks what was searched for.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let tag = &rest[at..];
        let is_tag = tag[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        match tag.find('>').filter(|end| is_tag && *end <= 200) {
            Some(end) => rest = &tag[end + 1..],
            None => {
                out.push('<');
                rest = &tag[1..];
            }
        }
    }
    out.push_str(rest);
    let decoded = crate::extract::decode_entities(&out);
    let visible: String = decoded.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `2024-07-22T00:00:00Z` becomes `2024-07-22`; words stay words.
fn day(text: &str) -> String {
    let date = text.get(..10).filter(|d| {
        d.bytes()
            .enumerate()
            .all(|(i, b)| if matches!(i, 4 | 7) { matches!(b, b'-' | b'/') } else { b.is_ascii_digit() })
    });
    date.map_or_else(|| shorten(text, 40), |d| d.replace('/', "-"))
}

fn shorten(text: &str, most: usize) -> String {
    ba_protocol::text::shorten(text, most)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn addresses_that_mean_the_same_page_are_equal() {
        let same = [
            "https://www.example.org/a/?utm_source=x&b=2&a=1#top",
            "http://example.org/a?a=1&b=2",
            "https://EXAMPLE.org:443/a/index.html?b=2&a=1&gclid=9",
        ];
        for other in &same[1..] {
            assert_eq!(normalised(same[0]), normalised(other), "{other}");
        }
        assert_ne!(normalised("https://example.org/a?id=1"), normalised("https://example.org/a?id=2"));
        assert_ne!(normalised("https://example.org/a"), normalised("https://example.org:8443/a"));
    }

    #[test]
    fn markup_and_control_characters_go() {
        assert_eq!(
            plain("a <strong>b</strong>&amp; c\u{1b}[0m\n d &lt;x&gt; 3 < 4"),
            "a b& c [0m d <x> 3 < 4"
        );
    }

    #[test]
    fn addresses_nobody_should_open_are_no_results() {
        let none = Value::Null;
        for bad in ["javascript:alert(1)", "file:///etc/passwd", "", "https://u:p@x.example/", "not a url"] {
            let (title, url) = (json!("t"), json!(bad));
            let raw = Raw { title: &title, url: &url, snippet: &none, date: &none, source: &none };
            assert_eq!(Hit::checked(&raw), None, "{bad}");
        }
    }

    #[test]
    fn dates_are_alike_and_never_cut_inside_a_character() {
        assert_eq!(day("2024-07-22T11:54:00Z"), "2024-07-22");
        assert_eq!(day("2024/07/22 10:00"), "2024-07-22");
        assert_eq!(day("3 days ago"), "3 days ago");
        assert_eq!(day("二〇二五年三月"), "二〇二五年三月");
    }
}
