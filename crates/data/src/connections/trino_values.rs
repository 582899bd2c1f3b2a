//! Trino's values as the other engines give theirs: large integers and decimals exact, bytes in hexadecimal, moments with
//! their offset.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sqlx::types::chrono::NaiveDateTime;

use super::zone::Zone;
use crate::result::{bytes, integer};

pub(super) fn value(kind: &str, given: Value) -> Value {
    match given {
        Value::Number(number) => number.as_i64().map_or(Value::Number(number), integer),
        Value::String(text) if kind == "varbinary" => {
            STANDARD.decode(&text).map_or(Value::from(text), |raw| bytes(&raw))
        }
        Value::String(text) if kind.starts_with("timestamp") && kind.ends_with("with time zone") => {
            Value::from(moment(&text).unwrap_or(text))
        }
        Value::Array(items) => match inner(kind, "array") {
            Some(inner) => items.into_iter().map(|item| value(inner, item)).collect(),
            None => Value::Array(items),
        },
        other => other,
    }
}

/// `2024-01-02 03:04:05.000 Asia/Shanghai` → `2024-01-02 03:04:05.000+08`.
fn moment(text: &str) -> Option<String> {
    let (wall, zone) = text.rsplit_once(' ')?;
    let at = NaiveDateTime::parse_from_str(wall, "%Y-%m-%d %H:%M:%S%.f").ok()?;
    Some(format!("{wall}{}", Zone::named(zone).offset_at(&at)?))
}

/// `bigint` of `array(bigint)`.
fn inner<'a>(kind: &'a str, wrapper: &str) -> Option<&'a str> {
    kind.strip_prefix(wrapper)?.strip_prefix('(')?.strip_suffix(')')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_look_as_from_the_other_engines() {
        for (kind, given, want) in [
            ("bigint", json!(9_007_199_254_740_993_i64), json!("9007199254740993")),
            ("bigint", json!(5), json!(5)),
            ("decimal(20,4)", json!("1.5000"), json!("1.5000")),
            ("double", json!(1.5), json!(1.5)),
            ("double", json!("NaN"), json!("NaN")),
            ("varbinary", json!("AP8="), json!("\\x00ff")),
            (
                "timestamp(3) with time zone",
                json!("2024-01-02 03:04:05.678 Asia/Shanghai"),
                json!("2024-01-02 03:04:05.678+08"),
            ),
            (
                "timestamp(3) with time zone",
                json!("2024-01-02 03:04:05.000 UTC"),
                json!("2024-01-02 03:04:05.000+00"),
            ),
            ("timestamp(3)", json!("2024-01-02 03:04:05.678"), json!("2024-01-02 03:04:05.678")),
            ("array(bigint)", json!([1, 9_007_199_254_740_993_i64]), json!([1, "9007199254740993"])),
            ("varchar", Value::Null, Value::Null),
        ] {
            assert_eq!(value(kind, given), want, "{kind}");
        }
    }
}
