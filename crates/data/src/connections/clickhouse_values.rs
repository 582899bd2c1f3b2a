//! ClickHouse's values as the other engines give theirs, and lists as it reads them.

use serde_json::Value;

use super::zone::Zone;
use crate::result::{Kind, typed};

/// `[1,2]`, `['a','b']` as ClickHouse reads an array.
pub(super) fn array(items: &[Value]) -> String {
    let item = |v: &Value| match v {
        Value::String(s) => format!("'{}'", s.replace('\\', "\\\\").replace('\'', "\\'")),
        other => other.to_string(),
    };
    format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(","))
}

/// A value as the other engines give it: safe integers as numbers, times as `2024-01-02 11:04:05+08` in the zone of their
/// column, or of the session.
pub(super) fn value(kind: &str, given: Value, session: &Zone) -> Value {
    let kind = inner(inner(kind, "LowCardinality"), "Nullable");
    match given {
        Value::String(text) if kind.starts_with("Int") || kind.starts_with("UInt") => {
            typed(&text, Kind::Integer)
        }
        Value::String(text) if kind.starts_with("DateTime") => {
            let own = kind.split('\'').nth(1).map(Zone::named);
            own.as_ref().unwrap_or(session).local(&text).map_or(Value::from(text), Value::from)
        }
        Value::String(text) if kind.starts_with("Float") && text == "nan" => Value::from("NaN"),
        Value::Array(items) if kind.starts_with("Array(") => {
            let kind = inner(kind, "Array");
            items.into_iter().map(|item| value(kind, item, session)).collect()
        }
        other => other,
    }
}

/// `Int64` of `Nullable(Int64)`.
fn inner<'a>(kind: &'a str, wrapper: &str) -> &'a str {
    let inside = kind.strip_prefix(wrapper).and_then(|rest| rest.strip_prefix('('));
    inside.and_then(|rest| rest.strip_suffix(')')).unwrap_or(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_look_as_from_the_other_engines() {
        let berlin = Zone::named("Europe/Berlin");
        for (kind, given, want) in [
            ("UInt64", json!("5"), json!(5)),
            ("Nullable(Int64)", json!("9007199254740993"), json!("9007199254740993")),
            (
                "Int256",
                json!("170141183460469231731687303715884105728"),
                json!("170141183460469231731687303715884105728"),
            ),
            ("LowCardinality(Nullable(UInt64))", Value::Null, Value::Null),
            (
                "DateTime64(3, 'Asia/Shanghai')",
                json!("2024-01-02T03:04:05.678Z"),
                json!("2024-01-02 11:04:05.678+08"),
            ),
            ("Nullable(DateTime)", json!("2024-07-02T03:04:05Z"), json!("2024-07-02 05:04:05+02")),
            ("Decimal(20, 4)", json!("1.5000"), json!("1.5000")),
            ("Float64", json!("nan"), json!("NaN")),
            ("Array(Nullable(UInt64))", json!(["1", null]), json!([1, null])),
            ("String", json!("2024-01-02T03:04:05Z"), json!("2024-01-02T03:04:05Z")),
        ] {
            assert_eq!(value(kind, given, &berlin), want, "{kind}");
        }
    }
}
