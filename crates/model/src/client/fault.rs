//! From what went wrong on the wire to a [`ModelError`] a user can read. Details are short, on one line,
//! and never hold the prompt or the key.

use std::time::{Duration, SystemTime};

use ba_protocol::Secret;
use ba_protocol::text::{one_line, shorten};
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::model::{ModelError, ModelRequest};

/// Longest detail, in characters.
const MAX_DETAIL: usize = 300;
/// Parts of the prompt of this many characters are cut out of a provider's message.
const ECHO: usize = 24;

/// What a provider said about a failure.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Complaint {
    pub(crate) message: String,
    /// Its own word for the failure.
    kind: String,
    /// A status it gave inside the body.
    status: Option<u16>,
}

impl Complaint {
    /// From an error body in any of the usual shapes, or from text that is none.
    pub(crate) fn from_body(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(Value::Array(items)) => items.first().map(Self::from_value).unwrap_or_default(),
            Ok(value) => Self::from_value(&value),
            Err(_) if body.trim_start().starts_with('<') => {
                Self { message: "a web page instead of an answer".to_owned(), ..Self::default() }
            }
            Err(_) => Self { message: body.trim().to_owned(), ..Self::default() },
        }
    }

    /// From an error object, possibly still inside its envelope.
    pub(crate) fn from_value(value: &Value) -> Self {
        let inner = match value.get("error") {
            Some(inner @ Value::Object(_)) => inner,
            Some(Value::String(message)) => return Self { message: message.clone(), ..Self::default() },
            _ => value,
        };
        if let Value::String(message) = inner {
            return Self { message: message.clone(), ..Self::default() };
        }
        let text = |key: &str| inner.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let message = [text("message"), text("detail"), text("msg"), text("error_msg")]
            .into_iter()
            .find(|m| !m.is_empty())
            .unwrap_or_default();
        let code = text("code");
        let status = ["code", "status", "status_code"]
            .iter()
            .find_map(|k| inner.get(*k)?.as_u64())
            .and_then(|s| u16::try_from(s).ok())
            .or_else(|| code.parse().ok())
            .filter(|s| (400..600).contains(s));
        Self { message, kind: format!("{} {code}", text("type")), status }
    }

    /// The status to act on when the answer itself said 200.
    pub(crate) fn implied_status(&self) -> u16 {
        if let Some(status) = self.status {
            return status;
        }
        let has = |word: &str| self.kind.contains(word);
        if has("overloaded") {
            529
        } else if has("rate_limit") {
            429
        } else if has("authentication") || has("invalid_api_key") || has("permission") {
            401
        } else if has("not_found") {
            404
        } else if has("invalid_request") || has("context_length") {
            400
        } else if has("insufficient_quota") || has("billing") {
            402
        } else {
            500
        }
    }

    /// The error for a status, with what the provider said.
    pub(crate) fn into_error(self, status: u16, retry_after: Option<Duration>) -> ModelError {
        let too_long = self.is_about_length();
        let out_of_credit = self.kind.contains("insufficient_quota");
        let detail = if self.message.is_empty() { "no reason given".to_owned() } else { self.message };
        match status {
            _ if out_of_credit => ModelError::Refused { status, detail },
            401 | 403 => ModelError::Unauthorized { status },
            404 => ModelError::NotFound { detail },
            413 => ModelError::TooLong { detail },
            400 | 422 if too_long => ModelError::TooLong { detail },
            429 => ModelError::RateLimited { retry_after },
            408 | 409 | 425 | 500..=599 => ModelError::Server { status, detail },
            _ => ModelError::Refused { status, detail },
        }
    }

    fn is_about_length(&self) -> bool {
        let said = format!("{} {}", self.kind, self.message).to_lowercase();
        [
            "context_length",
            "context length",
            "maximum context",
            "context window",
            "context size",
            "prompt is too long",
            "input is too long",
            "too many tokens",
            "range of input length",
        ]
        .iter()
        .any(|w| said.contains(w))
    }
}

/// `Retry-After` in seconds or as a date, and OpenAI's `retry-after-ms`.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim);
    let seconds = |s: f64| Duration::try_from_secs_f64(s).ok();
    if let Some(milliseconds) = text("retry-after-ms").and_then(|v| v.parse::<f64>().ok()) {
        return seconds(milliseconds / 1000.0);
    }
    let value = text("retry-after")?;
    if let Ok(given) = value.parse::<f64>() {
        return seconds(given);
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// Makes an error's detail fit to be shown.
pub(crate) fn presentable(
    error: ModelError,
    request: Option<&ModelRequest>,
    key: Option<&Secret>,
) -> ModelError {
    let clean = |detail: String| {
        let mut detail = one_line(&detail);
        if let Some(key) = key.map(Secret::expose).filter(|k| !k.is_empty()) {
            detail = detail.replace(key, "[hidden]");
        }
        if let Some(request) = request {
            detail = without_echo(&detail, request);
        }
        shorten(detail.trim(), MAX_DETAIL)
    };
    match error {
        ModelError::NotFound { detail } => ModelError::NotFound { detail: clean(detail) },
        ModelError::Server { status, detail } => ModelError::Server { status, detail: clean(detail) },
        ModelError::Refused { status, detail } => ModelError::Refused { status, detail: clean(detail) },
        ModelError::TooLong { detail } => ModelError::TooLong { detail: clean(detail) },
        ModelError::Unreachable { host, detail } => ModelError::Unreachable { host, detail: clean(detail) },
        ModelError::Truncated { detail } => ModelError::Truncated { detail: clean(detail) },
        ModelError::Garbled { detail } => ModelError::Garbled { detail: clean(detail) },
        other => other,
    }
}

/// Cuts out what the provider repeats of the prompt.
fn without_echo(detail: &str, request: &ModelRequest) -> String {
    let detail: Vec<char> = detail.chars().take(2 * MAX_DETAIL).collect();
    let prompts: Vec<String> = request.messages.iter().map(|m| one_line(&m.wire_text())).collect();
    let mut echoed = vec![false; detail.len()];
    for (start, window) in detail.windows(ECHO).enumerate() {
        let window: String = window.iter().collect();
        if prompts.iter().any(|p| p.contains(&window)) {
            echoed[start..start + ECHO].fill(true);
        }
    }
    let mut out = String::new();
    for (index, c) in detail.iter().enumerate() {
        if !echoed[index] {
            out.push(*c);
        } else if index == 0 || !echoed[index - 1] {
            out.push_str("[…]");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ba_protocol::Message;

    #[test]
    fn error_bodies_of_every_usual_shape_are_read() {
        for (body, message) in [
            (r#"{"error":{"message":"m","type":"t"}}"#, "m"),
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#, "m"),
            (r#"{"error":"m"}"#, "m"),
            (r#"{"message":"m","code":"x"}"#, "m"),
            (r#"{"detail":"m"}"#, "m"),
            (r#"[{"error":{"message":"m"}}]"#, "m"),
            ("m", "m"),
            ("<html><body>x", "a web page instead of an answer"),
        ] {
            assert_eq!(Complaint::from_body(body).message, message, "{body}");
        }
    }

    #[test]
    fn an_error_inside_a_200_gets_the_status_it_means() {
        for (body, status) in [
            (r#"{"error":{"code":429,"message":"m"}}"#, 429),
            (r#"{"error":{"code":"503","message":"m"}}"#, 503),
            (r#"{"type":"error","error":{"type":"overloaded_error"}}"#, 529),
            (r#"{"error":{"type":"authentication_error"}}"#, 401),
            (r#"{"error":{"type":"invalid_request_error"}}"#, 400),
            (r#"{"error":{"message":"what"}}"#, 500),
        ] {
            assert_eq!(Complaint::from_body(body).implied_status(), status, "{body}");
        }
    }

    #[test]
    fn length_and_credit_are_told_apart_from_other_refusals() {
        let error = |body: &str, status| Complaint::from_body(body).into_error(status, None);
        let long = error(r#"{"error":{"message":"maximum context length is 8192"}}"#, 400);
        assert_eq!(long.code(), "model_context_too_long");
        let credit = error(r#"{"error":{"message":"no credit","type":"insufficient_quota"}}"#, 429);
        assert!(!credit.is_transient(), "{credit:?}");
        assert!(error("", 529).is_transient());
    }

    #[test]
    fn retry_after_reads_seconds_milliseconds_and_dates() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        for (name, value, expected) in [
            ("retry-after", "7", Some(7000)),
            ("retry-after", "0.5", Some(500)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT", Some(10_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("retry-after", "-1", None),
            ("retry-after", "soon", None),
            ("retry-after", "1e300", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            assert_eq!(retry_after(&headers, now), expected.map(Duration::from_millis), "{value}");
        }
    }

    #[test]
    fn neither_prompt_nor_key_is_shown() {
        let request = ModelRequest {
            messages: vec![Message::user("The secret merger with Contoso closes on Friday")],
            max_tokens: None,
            temperature: None,
            schema: None,
            stable_prefix: 0,
        };
        let key = Secret::new("sk-12345");
        let error = ModelError::Refused {
            status: 422,
            detail: "bad input: 'The secret merger with Contoso closes on Friday'\nkey sk-12345".to_owned(),
        };
        let shown = presentable(error, Some(&request), Some(&key)).to_string();
        assert_eq!(shown, "the model provider refused the request (422): bad input: '[…]' key [hidden]");
    }
}
