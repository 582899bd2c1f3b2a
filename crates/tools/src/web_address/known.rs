//! Addresses in texts, in one form that compares. Finds what stands there; never guesses what is not.

use std::sync::LazyLock;

use regex::Regex;
use url::Url;

/// Up to a space, a quote, a bracket or a mark of Chinese text.
static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)https?://[^\s<>"'`\\^{}|\[\]，。；：、！？（）《》「」【】“”‘’＜＞]+"#).ok()
});

/// `example.org/report` as people write it.
static BARE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}(?:/[a-z0-9._~%/?&=#+-]*)?").ok()
});

/// The address as it is compared: without fragment, scheme and last slash, all of which ask for the same page.
pub(super) fn normal(text: &str) -> Option<String> {
    let mut url = Url::parse(text.trim()).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    url.set_fragment(None);
    let text = url.as_str().split_once("://").map(|(_, rest)| rest.to_owned())?;
    Some(text.trim_end_matches('/').to_owned())
}

/// Every address of a text, in comparable form; with the mark that may end its sentence, and without.
pub(super) fn addresses_in(text: &str) -> impl Iterator<Item = String> + '_ {
    let found = ADDRESS.as_ref().map(|r| r.find_iter(text)).into_iter().flatten();
    found.flat_map(|found| {
        let whole = found.as_str();
        let marks = ['.', ',', ';', ':', '!', '?', '*', '_'];
        let without = whole.trim_end_matches(marks);
        // `[title](http://host/a_(b))`: the last parenthesis may be of either.
        let inner = without.strip_suffix(')').map(|w| w.trim_end_matches(marks));
        let first = whole.split_once(')').map(|(head, _)| head);
        [Some(whole), Some(without), inner, first].into_iter().flatten().filter_map(normal)
    })
}

/// Addresses written without their scheme: only a person is trusted to mean one.
pub(super) fn bare_addresses_in(text: &str) -> impl Iterator<Item = String> + '_ {
    let found = BARE.as_ref().map(|r| r.find_iter(text)).into_iter().flatten();
    found.filter_map(|found| normal(&format!("https://{}", found.as_str().trim_end_matches('.'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_in_both_languages() {
        let text = "请看https://example.org/a?b=1。 and (http://example.org/x), [t](https://e.org/p_(q)) or HTTPS://EXAMPLE.ORG/";
        let found: Vec<String> = addresses_in(text).collect();
        for wanted in ["example.org/a?b=1", "example.org/x", "e.org/p_(q)", "example.org"] {
            assert!(found.iter().any(|f| f == wanted), "{wanted}: {found:?}");
        }
        assert_eq!(bare_addresses_in("看看 stats.gov.cn 的数据").collect::<Vec<_>>(), ["stats.gov.cn"]);
        assert_eq!(normal("http://h/a#b"), normal("https://h/a/"));
        assert_ne!(normal("https://h/a?x=1"), normal("https://h/a"));
        assert_eq!(normal("file:///etc/passwd"), None);
    }
}
