//! The form of stored rounds (SPEC X9). Each row names the version it was written in; an older one is brought forward when it
//! is read, one step a version, and a newer one is refused rather than half understood.

use ba_protocol::Turn;
use serde_json::Value;

use crate::error::{Result, StoreError};

/// What this program writes.
pub(crate) const VERSION: u32 = 1;

/// Step `n` (from 0) makes version `n + 2` of version `n + 1`.
const STEPS: &[fn(Value) -> Value] = &[];

pub(crate) fn decode(version: u32, text: &str) -> Result<Turn> {
    if version == VERSION {
        return Ok(serde_json::from_str(text)?);
    }
    decode_value(version, serde_json::from_str(text)?)
}

pub(crate) fn decode_value(version: u32, round: Value) -> Result<Turn> {
    Ok(serde_json::from_value(migrate(round, version, STEPS)?)?)
}

fn migrate(mut round: Value, version: u32, steps: &[fn(Value) -> Value]) -> Result<Value> {
    let newest = steps.len() as u32 + 1;
    if version == 0 || version > newest {
        return Err(StoreError::NewerSchema { found: i64::from(version), known: i64::from(newest) });
    }
    for step in &steps[version as usize - 1..] {
        round = step(round);
    }
    Ok(round)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn renamed(mut round: Value) -> Value {
        round["final_answer"] = round["answer"].take();
        round
    }

    fn counted(mut round: Value) -> Value {
        round["tokens_used"] = json!(0);
        round
    }

    #[test]
    fn an_old_round_goes_through_each_later_step_and_a_newer_one_is_refused() {
        let steps: &[fn(Value) -> Value] = &[renamed, counted];
        let now = migrate(json!({"answer": "a"}), 1, steps).unwrap();
        assert_eq!((&now["final_answer"], &now["tokens_used"]), (&json!("a"), &json!(0)));
        let now = migrate(json!({"final_answer": "b"}), 2, steps).unwrap();
        assert_eq!((&now["final_answer"], &now["tokens_used"]), (&json!("b"), &json!(0)));
        assert_eq!(migrate(json!({"x": 1}), 3, steps).unwrap(), json!({"x": 1}));
        for unknown in [0, 4] {
            let refused = migrate(json!({}), unknown, steps).unwrap_err();
            assert!(matches!(refused, StoreError::NewerSchema { .. }), "{refused}");
        }
        assert_eq!(VERSION as usize, STEPS.len() + 1);
    }
}
