//! What a run may use up before it is stopped.

use std::time::Duration;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Rounds with the model, whatever its plan says.
    pub max_rounds: u32,
    /// Rounds without a plan that asks for more.
    #[serde(default = "usual_rounds")]
    pub usual_rounds: u32,
    pub max_tool_calls: u32,
    /// Input and output tokens of all model turns together.
    pub max_tokens: u64,
    pub max_wall_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_rounds: 30,
            usual_rounds: usual_rounds(),
            max_tool_calls: 48,
            max_tokens: 2_000_000,
            max_wall_seconds: 1_800,
        }
    }
}

fn usual_rounds() -> u32 {
    12
}

impl Limits {
    /// Rounds for a run whose plan has so many (0 without one).
    pub fn rounds(&self, planned: u32) -> u32 {
        self.max_rounds.min(self.usual_rounds.max(planned))
    }

    /// As a stopped run's notice names them.
    pub fn spelled(&self, planned: u32) -> String {
        let Self { max_tokens, max_wall_seconds, .. } = self;
        let rounds = self.rounds(planned);
        format!(
            "{rounds} 轮的上限; limit of {rounds} rounds\n{max_tokens} token 的预算; budget of {max_tokens} tokens\n\
             {max_wall_seconds} 秒的时间上限; time limit of {max_wall_seconds} s"
        )
    }

    pub fn max_wall(&self) -> Duration {
        Duration::from_secs(self.max_wall_seconds)
    }
}
