//! Takes passwords out of texts that a database tells about itself: comments, definitions, samples. Tables of other servers
//! (FEDERATED, Spider, foreign tables) carry them there. Leaves everything else as it is.

use std::sync::LazyLock;

use regex::Regex;

const HIDDEN: &str = "<secret>";

/// `mysql://user:password@host`: the password, up to the last @ before the path.
static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)([a-z][a-z0-9+.-]*://[^\s/:@'"]*):[^\s'"/]*@"#).ok());

/// `password "x"`, `PWD=x`, `"api_token": 'x'`: the value, quoted or up to a space or comma.
static ASSIGNMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = r#"(?:[a-z0-9_-]*(?:password|passwd|secret|token|api_?key)|pwd)"#;
    let value = r#"(?:\\?"[^"]*"?|\\?'[^']*'?|[^\s,;)'"]+)"#;
    Regex::new(&format!(r#"(?i)\b({name}["'`]?(?:\s*[=:]\s*|\s+(?:is\s+)?)){value}"#)).ok()
});

/// The same without a sign between: only where the value is quoted, or words about passwords would go too.
static QUOTED_ONLY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"["']"#).ok());

pub(super) fn secrets(text: &str) -> String {
    let (Some(address), Some(assignment)) = (ADDRESS.as_ref(), ASSIGNMENT.as_ref()) else {
        return HIDDEN.to_owned();
    };
    let clean = address.replace_all(text, format!("${{1}}:{HIDDEN}@"));
    let clean = assignment.replace_all(&clean, |found: &regex::Captures<'_>| {
        let (whole, head) = (&found[0], &found[1]);
        let signed = head.trim_end().ends_with(['=', ':']);
        let value = &whole[head.len()..];
        let quoted = QUOTED_ONLY.as_ref().is_none_or(|r| r.is_match(value));
        if signed || quoted { format!("{head}{HIDDEN}") } else { whole.to_owned() }
    });
    clean.into_owned()
}

/// A column whose values are secrets themselves: they are not sampled.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    ["password", "passwd", "pwd", "secret", "token", "密码"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_go_and_words_stay() {
        for (given, want) in [
            (
                "CONNECTION='mysql://root:s3cret@10.0.0.2:3306/shop/sales'",
                "CONNECTION='mysql://root:<secret>@10.0.0.2:3306/shop/sales'",
            ),
            ("mysql://u:p@ss:w/rd", "mysql://u:<secret>@ss:w/rd"),
            (
                r#"wrapper "mysql", host "n1", user "spider", password "s3cret", port "3306""#,
                r#"wrapper "mysql", host "n1", user "spider", password <secret>, port "3306""#,
            ),
            ("PASSWORD 's3cret word'", "PASSWORD <secret>"),
            ("pwd=s3cret;uid=x", "pwd=<secret>;uid=x"),
            ("api_token: s3cret, next", "api_token: <secret>, next"),
            (r#"{"client_secret": "s3cret"}"#, r#"{"client_secret": <secret>}"#),
            ("the user's password is stored hashed", "the user's password is stored hashed"),
            ("password_hash column; 密码摘要", "password_hash column; 密码摘要"),
            ("https://example.org/a:b@c", "https://example.org/a:b@c"),
            ("订单金额（元）", "订单金额（元）"),
        ] {
            assert_eq!(secrets(given), want);
        }
    }
}
