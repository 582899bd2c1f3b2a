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
    /// As a stopped run's notice names them.
    pub fn spelled(&self) -> String {
        let Self { max_rounds, max_tokens, max_wall_seconds, .. } = self;
        format!(
            "{max_rounds} 轮的上限; limit of {max_rounds} rounds\n{max_tokens} token 的预算; budget of {max_tokens} tokens\n\
             {max_wall_seconds} 秒的时间上限; time limit of {max_wall_seconds} s"
        )
    }

    pub fn max_wall(&self) -> Duration {
        Duration::from_secs(self.max_wall_seconds)
    }
}
