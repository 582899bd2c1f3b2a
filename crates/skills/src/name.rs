//! Names of skills: safe in a path, a prompt and a URL. Nothing else makes one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Ends the innermost skill when given to `activate_skill`; no skill may be called so.
pub const DONE: &str = "done";

/// 1 to 64 of `a-z`, `0-9` and single inner hyphens: the public Agent Skills form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SkillName(String);

/// Not a name of the public form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a skill name; expected 1 to 64 of a-z, 0-9 and single hyphens, and not `done`")]
pub struct InvalidName(pub String);

impl SkillName {
    pub fn parse(given: &str) -> Result<Self, InvalidName> {
        let well_formed = (1..=64).contains(&given.len())
            && given.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !given.starts_with('-')
            && !given.ends_with('-')
            && !given.contains("--")
            && given != DONE;
        if well_formed {
            Ok(Self(given.to_owned()))
        } else {
            Err(InvalidName(given.chars().take(80).collect()))
        }
    }

    /// Makes a name of what published skills call themselves (`PDF Processing`, `web_search`), or none.
    pub fn slug(given: &str) -> Option<Self> {
        let mut slug = String::new();
        for c in given.trim().chars() {
            match c {
                'a'..='z' | '0'..='9' => slug.push(c),
                'A'..='Z' => slug.push(c.to_ascii_lowercase()),
                ' ' | '_' | '-' | '.' | ':' | '/' if !slug.is_empty() && !slug.ends_with('-') => {
                    slug.push('-')
                }
                _ => {}
            }
            if slug.len() == 64 {
                break;
            }
        }
        Self::parse(slug.trim_end_matches('-')).ok()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for SkillName {
    type Error = InvalidName;
    fn try_from(s: String) -> Result<Self, InvalidName> {
        Self::parse(&s)
    }
}

impl From<SkillName> for String {
    fn from(name: SkillName) -> String {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_form_is_a_name() {
        for good in ["rfm", "rfm-customer-value", "a1-2"] {
            assert!(SkillName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "RFM", "a--b", "-a", "a-", "a/b", "..", "a_b", "趋势", "done", "a\n", &"a".repeat(65)]
        {
            assert!(SkillName::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_of_published_skills_are_slugged() {
        for (given, slug) in [
            ("PDF Processing", Some("pdf-processing")),
            ("web_search", Some("web-search")),
            ("cap:prototype", Some("cap-prototype")),
            ("../../etc", Some("etc")),
            ("趋势", None),
            ("Done", None),
            ("", None),
        ] {
            assert_eq!(SkillName::slug(given).as_ref().map(SkillName::as_str), slug, "{given}");
        }
    }
}
