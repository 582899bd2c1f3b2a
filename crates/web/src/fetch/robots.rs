//! `robots.txt` by RFC 9309: groups, longest match, `*` and `$`. Pure; fetching and keeping is in `manners`.

use robotxt::Robots;
use url::Url;

use super::PRODUCT;

/// The part of a file that is read at all (RFC 9309 2.5).
pub(super) const MAX_BYTES: usize = 500 * 1024;

/// The rules of one file that are for us.
#[derive(Debug, Clone)]
pub(super) struct Rules(Robots);

impl Rules {
    pub(super) fn parse(text: &[u8]) -> Self {
        Self(Robots::parse(text, PRODUCT))
    }

    /// There is no file, so there are no rules.
    pub(super) fn none() -> Self {
        Self(Robots::allow_all())
    }

    pub(super) fn allow(&self, url: &Url) -> bool {
        self.0.is_url_allowed(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(robots: &str, path: &str) -> bool {
        let url = Url::parse(&format!("https://example.org{path}")).unwrap();
        Rules::parse(robots.as_bytes()).allow(&url)
    }

    #[test]
    fn our_own_group_wins_over_the_general_one() {
        let robots = "User-agent: *\nDisallow: /\n\nUser-Agent: ba-agent\nDisallow: /private\n";
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
}
