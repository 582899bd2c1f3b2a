//! Ids as newtypes. An id that came from outside is only made by `parse`, which refuses anything
//! that is not exactly of its form, so an id is always safe to use in a path or a query.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An id of another form than the one asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a valid {kind}; expected {form}")]
pub struct InvalidId {
    pub kind: &'static str,
    pub form: &'static str,
    pub given: String,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $form:literal, $pattern:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, ToSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schema(value_type = String, pattern = $pattern)]
        pub struct $name(String);

        impl $name {
            /// Accepts exactly the documented form.
            pub fn parse(given: &str) -> Result<Self, InvalidId> {
                let check: fn(&str) -> bool = $check;
                if check(given) {
                    Ok(Self(given.to_owned()))
                } else {
                    let given = given.chars().take(80).collect();
                    Err(InvalidId { kind: $kind, form: $form, given })
                }
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(s: &str) -> Result<Self, InvalidId> {
                Self::parse(s)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(s: String) -> Result<Self, InvalidId> {
                Self::parse(&s)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }
    };
}

id!(
    /// `conv_<12 hex>` (SPEC A1).
    ConversationId, "conversation id", "conv_ and 12 hex digits", "^conv_[0-9a-f]{12}$", |s| hex_after(s, "conv_", 12)
);
id!(
    /// One turn of the agent: `run_<16 hex>`.
    RunId, "run id", "run_ and 16 hex digits", "^run_[0-9a-f]{16}$", |s| hex_after(s, "run_", 16)
);
id!(
    /// `upload_NNN`, numbered per conversation (SPEC F1).
    UploadId, "upload id", "upload_ and 3 to 9 digits", "^upload_[0-9]{3,9}$",
    |s| s.strip_prefix("upload_").is_some_and(|n| (3..=9).contains(&n.len()) && n.bytes().all(|b| b.is_ascii_digit()))
);
id!(
    /// `code_[a-z0-9_]{1,64}` (SPEC C5).
    CodeId, "code id", "code_ and 1 to 64 of a-z, 0-9 and _", "^code_[a-z0-9_]{1,64}$",
    |s| s.strip_prefix("code_").is_some_and(|n| (1..=64).contains(&n.len()) && n.bytes().all(is_slug_byte))
);
id!(
    /// Who owns a conversation. `local` on loopback without sign-in.
    UserId, "user id", "1 to 64 of a-z, 0-9, _ and -", "^[a-z0-9_-]{1,64}$",
    |s| (1..=64).contains(&s.len()) && s.bytes().all(|b| is_slug_byte(b) || b == b'-')
);

fn hex_after(s: &str, prefix: &str, digits: usize) -> bool {
    s.strip_prefix(prefix).is_some_and(|n| {
        n.len() == digits && n.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}

fn is_slug_byte(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'
}

fn random_hex(digits: usize) -> String {
    let mut hex = uuid::Uuid::new_v4().simple().to_string();
    hex.truncate(digits);
    hex
}

impl ConversationId {
    pub fn random() -> Self {
        Self(format!("conv_{}", random_hex(12)))
    }
}

impl RunId {
    pub fn random() -> Self {
        Self(format!("run_{}", random_hex(16)))
    }
}

impl UploadId {
    pub fn numbered(n: u32) -> Self {
        Self(format!("upload_{n:03}"))
    }
}

impl UserId {
    /// The one user of a server that runs on loopback without sign-in.
    pub fn local() -> Self {
        Self("local".to_owned())
    }
}

impl CodeId {
    /// `code_YYYYMMDD_<8 hex>`, for code found in a report (SPEC R9).
    pub fn dated(date: jiff::civil::Date, number: u32) -> Self {
        Self(format!("code_{}_{number:08x}", date.strftime("%Y%m%d")))
    }

    /// Makes a valid id of whatever a model called its code (SPEC C5): never used as a path unslugged.
    pub fn slug(given: &str) -> Self {
        let body = given.strip_prefix("code_").unwrap_or(given);
        let mut slug = String::new();
        for c in body.chars().flat_map(char::to_lowercase) {
            match u8::try_from(c) {
                Ok(b) if is_slug_byte(b) => slug.push(c),
                _ if !slug.is_empty() && !slug.ends_with('_') => slug.push('_'),
                _ => {}
            }
            if slug.len() == 64 {
                break;
            }
        }
        let slug = slug.trim_end_matches('_');
        if slug.is_empty() { Self(format!("code_{}", random_hex(8))) } else { Self(format!("code_{slug}")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_accept_only_their_form() {
        assert!(ConversationId::parse("conv_a87365d8983d").is_ok());
        for bad in [
            "",
            "conv_",
            "conv_A87365D8983D",
            "conv_a87365d8983d0",
            "../conv_a87365d8983d",
            "conv_a87365d8983\n",
        ] {
            assert!(ConversationId::parse(bad).is_err(), "{bad}");
        }
        assert!(UploadId::parse("upload_001").is_ok());
        assert!(UploadId::parse("upload_1").is_err());
        assert!(CodeId::parse("code_../x").is_err());
        assert!(UserId::parse("alice-1").is_ok());
        assert!(UserId::parse("alice/1").is_err());
    }

    #[test]
    fn made_ids_are_valid() {
        assert!(ConversationId::parse(ConversationId::random().as_str()).is_ok());
        assert!(RunId::parse(RunId::random().as_str()).is_ok());
        assert!(UploadId::parse(UploadId::numbered(1234).as_str()).is_ok());
    }

    #[test]
    fn slug_never_leaves_the_form() {
        for given in [
            "code_sales",
            "Sales Analysis!",
            "../../etc/passwd",
            "销售",
            "",
            "code_",
            "a".repeat(500).as_str(),
        ] {
            assert!(CodeId::parse(CodeId::slug(given).as_str()).is_ok(), "{given}");
        }
        assert_eq!(CodeId::slug("Sales Analysis").as_str(), "code_sales_analysis");
    }

    #[test]
    fn serde_refuses_a_bad_id() {
        assert!(serde_json::from_str::<CodeId>("\"code_../x\"").is_err());
    }
}
