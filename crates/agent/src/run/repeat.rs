//! Notices a model that goes in circles: the same call with the same arguments, again and again.

use std::collections::BTreeMap;

use ba_protocol::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The third identical call is answered with a warning, the fourth ends the run.
const WARN_AT: u32 = 3;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeats(BTreeMap<String, u32>);

pub enum Verdict {
    Fine,
    Warn(u32),
    Stop,
}

impl Repeats {
    pub fn seen(&mut self, call: &ToolCall) -> Verdict {
        let times =
            self.0.entry(call_key(&call.tool_name, &Value::Object(call.arguments.clone()))).or_insert(0);
        *times += 1;
        match *times {
            n if n < WARN_AT => Verdict::Fine,
            n if n == WARN_AT => Verdict::Warn(n),
            _ => Verdict::Stop,
        }
    }
}

/// A hash of the tool and its arguments that does not depend on key order.
pub fn call_key(tool: &str, arguments: &Value) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(tool.as_bytes());
    hasher.update(&[0]);
    hash_value(&mut hasher, arguments);
    hasher.finalize().to_hex()[..32].to_owned()
}

fn hash_value(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            hasher.update(b"{");
            for key in keys {
                hasher.update(&(key.len() as u64).to_le_bytes()).update(key.as_bytes());
                hash_value(hasher, &map[key]);
            }
            hasher.update(b"}");
        }
        Value::Array(items) => {
            hasher.update(b"[");
            for item in items {
                hash_value(hasher, item);
            }
            hasher.update(b"]");
        }
        leaf => {
            let text = leaf.to_string();
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn key_order_does_not_matter_but_everything_else_does() {
        let key = |v: Value| call_key("t", &v);
        assert_eq!(key(json!({"a": 1, "b": {"c": 2, "d": 3}})), key(json!({"b": {"d": 3, "c": 2}, "a": 1})));
        assert_ne!(key(json!({"a": 1})), key(json!({"a": "1"})));
        assert_ne!(key(json!({"a": ["x", "y"]})), key(json!({"a": ["y", "x"]})));
        assert_ne!(call_key("t", &json!({})), call_key("u", &json!({})));
    }
}
