//! `robots.txt` by RFC 9309: groups, longest match, `*` and `$`. Pure; fetching and keeping is in `manners`.

use url::Url;

/// The part of a file that is read at all (RFC 9309 2.5).
pub(super) const MAX_BYTES: usize = 500 * 1024;

/// The rules of one file that are for us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rules(Vec<Rule>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    allow: bool,
    pattern: String,
}

impl Rules {
    /// The rules of every group named `product`, else those of `*`.
    pub(super) fn parse(text: &[u8], product: &str) -> Self {
        let text = String::from_utf8_lossy(text);
        let text = text.trim_start_matches('\u{feff}');
        let (mut own, mut general) = (Vec::new(), Vec::new());
        let mut any_own = false;
        let (mut for_us, mut for_all, mut in_rules) = (false, false, false);
        for line in text.lines().flat_map(|l| l.split('\r')) {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "user-agent" => {
                    if in_rules {
                        (for_us, for_all, in_rules) = (false, false, false);
                    }
                    let token: &str = value
                        .split(|c: char| !(c.is_ascii_alphabetic() || matches!(c, '-' | '_')))
                        .next()
                        .unwrap_or_default();
                    let named_us = token.eq_ignore_ascii_case(product);
                    any_own |= named_us;
                    for_us |= named_us;
                    for_all |= value == "*";
                }
                key @ ("allow" | "disallow") => {
                    in_rules = true;
                    if value.is_empty() {
                        continue;
                    }
                    let rule = Rule { allow: key == "allow", pattern: normal(value) };
                    if for_us {
                        own.push(rule.clone());
                    }
                    if for_all {
                        general.push(rule);
                    }
                }
                // Other records neither begin nor end a group.
                _ => {}
            }
        }
        Self(if any_own { own } else { general })
    }

    /// The longest pattern that matches decides; of equals, the one that allows.
    pub(super) fn allow(&self, url: &Url) -> bool {
        if url.path() == "/robots.txt" {
            return true;
        }
        let path = normal(&url[url::Position::BeforePath..url::Position::AfterQuery]);
        let matching = self.0.iter().filter(|rule| matches(&rule.pattern, &path));
        matching.max_by_key(|rule| (rule.pattern.len(), rule.allow)).is_none_or(|rule| rule.allow)
    }
}

/// `*` stands for anything, `$` at the end for the end.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, anchored) = match pattern.strip_suffix('$') {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| path.strip_prefix(first)) else { return false };
    let mut last = None;
    for piece in pieces {
        // The piece before is only placed once it is known not to be the last one.
        if let Some(piece) = last.replace(piece) {
            match rest.find(piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
    }
    match (last, anchored) {
        (None, anchored) => !anchored || rest.is_empty(),
        (Some(piece), true) => rest.ends_with(piece),
        (Some(piece), false) => rest.contains(piece),
    }
}

/// One spelling for equal paths: unreserved characters plain, everything else as given or percent-encoded upper case.
fn normal(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut out = String::with_capacity(path.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = (byte == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let escaped = escaped
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match escaped {
            Some(plain) if plain.is_ascii_alphanumeric() || b"-._~".contains(&plain) => {
                out.push(char::from(plain));
                at += 3;
            }
            Some(other) => {
                out.push_str(&format!("%{other:02X}"));
                at += 3;
            }
            None if byte.is_ascii() => {
                out.push(char::from(byte));
                at += 1;
            }
            None => {
                out.push_str(&format!("%{byte:02X}"));
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(robots: &str, path: &str) -> bool {
        let url = Url::parse(&format!("https://example.org{path}")).unwrap();
        Rules::parse(robots.as_bytes(), "BA-Agent").allow(&url)
    }

    #[test]
    fn our_own_group_wins_over_the_general_one() {
        let robots = "User-agent: *\nDisallow: /\n\nUser-Agent: ba-agent/2.0\nDisallow: /private\n";
        assert!(allows(robots, "/open"));
        assert!(!allows(robots, "/private/x"));
        assert!(!allows("User-agent: *\nDisallow: /\n", "/open"));
        assert!(allows("User-agent: other\nDisallow: /\n", "/open"));
        assert!(allows("User-agent: *\nDisallow: /\nUser-agent: BA-Agent\nDisallow:\n", "/open"));
    }

    #[test]
    fn groups_are_merged_and_agents_share_rules() {
        let robots = "User-agent: a\nUser-agent: BA-Agent\nDisallow: /one\n\nSitemap: /s\nUser-agent: b\nDisallow: /\n\
                      User-agent: BA-AGENT\nDisallow: /two\n";
        assert!(!allows(robots, "/one") && !allows(robots, "/two") && allows(robots, "/three"));
    }

    #[test]
    fn the_longest_match_decides_and_a_tie_allows() {
        let robots = "User-agent: *\nDisallow: /shop\nAllow: /shop/public\nDisallow: /page\nAllow: /page\n";
        assert!(!allows(robots, "/shop/x") && allows(robots, "/shop/public/y") && allows(robots, "/page"));
    }

    #[test]
    fn wildcards_and_the_end_mark() {
        let robots =
            "User-agent: *\nDisallow: /*.pdf$\nDisallow: /a*b*c\nDisallow: /exact$\nDisallow: *print=";
        assert!(!allows(robots, "/x/y.pdf") && allows(robots, "/x/y.pdf?z"));
        assert!(!allows(robots, "/a1b2c3") && allows(robots, "/acb"));
        assert!(!allows(robots, "/exact") && allows(robots, "/exactly"));
        assert!(!allows(robots, "/p?print=1"));
        // A `*` matches nothing too, and what an anchor needs is not used twice.
        assert!(
            !allows("User-agent: *\nDisallow: /ab*$", "/ab")
                && allows("User-agent: *\nDisallow: /aba*ba$", "/aba")
        );
    }

    #[test]
    fn escapes_are_compared_by_what_they_mean() {
        let robots = "User-agent: *\nDisallow: /新闻\nDisallow: /%7Ejoe\nDisallow: /a%3cd\n";
        assert!(
            !allows(robots, "/%e6%96%b0%E9%97%BB/1") && !allows(robots, "/~joe") && !allows(robots, "/a%3Cd")
        );
        assert!(allows("User-agent: *\nDisallow: /a%2Fb", "/a/b"));
    }

    #[test]
    fn garbage_and_other_line_ends_do_no_harm() {
        assert!(!allows("\u{feff}User-agent: *\rDisallow: /x # why\r\nnonsense\n:\n", "/x"));
        assert!(allows("\0\u{1}<html>Not found</html>%", "/x"));
        assert!(allows("User-agent: *\nDisallow: /", "/robots.txt"));
        let many = format!("User-agent: *\nDisallow: /{}b$\n", "*a".repeat(50_000));
        assert!(allows(&many, &format!("/{}", "a".repeat(4_000))));
    }

    /// The definition, letter by letter.
    fn model(pattern: &[u8], path: &[u8]) -> bool {
        match pattern {
            [] => true,
            b"$" => path.is_empty(),
            [b'*', rest @ ..] => (0..=path.len()).any(|at| model(rest, &path[at..])),
            [letter, rest @ ..] => path.first() == Some(letter) && model(rest, &path[1..]),
        }
    }

    proptest::proptest! {
        #[test]
        fn matching_is_as_defined(pattern in "/[ab*]{0,8}[$]?", path in "/[ab]{0,10}") {
            proptest::prop_assert_eq!(matches(&pattern, &path), model(pattern.as_bytes(), path.as_bytes()));
        }
    }
}
