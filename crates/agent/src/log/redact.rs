//! Takes secrets out of log lines: the configured ones by value, others by their shape.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

const MASK: &str = "[redacted]";

static SHAPES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}",
        r"()\b(?:sk|pk|rk|ba|ghp|gho|xox[abp])[-_][A-Za-z0-9_-]{12,}",
        r"()\bAKIA[0-9A-Z]{16}\b",
        r"()\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*",
        r#"(?i)((?:api[_-]?key|password|passwd|secret|access[_-]?token)["']?\s*[:=]\s*["']?)[^\s"',;&]{4,}"#,
        r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,64}:)[^\s@/]{1,256}(?:@)",
    ]
    .iter()
    .filter_map(|p| Regex::new(p).ok())
    .collect()
});

#[derive(Debug, Clone, Default)]
pub struct Redactor {
    secrets: Vec<String>,
}

impl Redactor {
    /// `secrets` are values that must never appear, such as the configured keys.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        Self { secrets: secrets.into_iter().filter(|s| s.len() >= 4).collect() }
    }

    /// Cleans every string of a line.
    pub fn clean(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.clean_text(text)),
            Value::Array(items) => items.into_iter().map(|v| self.clean(v)).collect(),
            Value::Object(map) => Value::Object(map.into_iter().map(|(k, v)| (k, self.clean(v))).collect()),
            other => other,
        }
    }

    fn clean_text(&self, mut text: String) -> String {
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), MASK);
            }
        }
        for shape in SHAPES.iter() {
            if shape.is_match(&text) {
                text = shape
                    .replace_all(&text, |c: &regex::Captures<'_>| {
                        let tail = if c[0].ends_with('@') { "@" } else { "" };
                        format!("{}{MASK}{tail}", &c[1])
                    })
                    .into_owned();
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_go_and_the_rest_stays() {
        let redactor = Redactor::new(["hunter2-value".to_owned()]);
        for (given, wanted) in [
            ("Authorization: Bearer abcdef0123456789", "Authorization: Bearer [redacted]"),
            ("key sk-abcdefghijklmnop1234", "key [redacted]"),
            ("postgres://me:pa%20ss@db/x", "postgres://me:[redacted]@db/x"),
            ("api_key=abcd1234 next", "api_key=[redacted] next"),
            ("x hunter2-value y", "x [redacted] y"),
            (
                "销售额 1,234.50 元 at https://example.org:8080/a",
                "销售额 1,234.50 元 at https://example.org:8080/a",
            ),
        ] {
            assert_eq!(redactor.clean(json!({"a": [given]})), json!({"a": [wanted]}), "{given}");
        }
    }
}
