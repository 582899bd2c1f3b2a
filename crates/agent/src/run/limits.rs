//! What a run may use up before it is stopped.

use std::time::Duration;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Model turns.
    pub max_rounds: u32,
    pub max_tool_calls: u32,
    /// Input and output tokens of all model turns together.
    pub max_tokens: u64,
    pub max_wall_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_rounds: 12, max_tool_calls: 48, max_tokens: 2_000_000, max_wall_seconds: 1_800 }
    }
}

impl Limits {
    pub fn max_wall(&self) -> Duration {
        Duration::from_secs(self.max_wall_seconds)
    }
}
