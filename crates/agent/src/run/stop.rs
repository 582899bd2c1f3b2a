//! How a run ended, as data, and what the user is told when a limit ended it.

use ba_protocol::api::ErrorInfo;
use ba_protocol::text::shorten;
use ba_protocol::turn::Round;
use ba_protocol::{Language, StructuredResponse};
use serde::{Deserialize, Serialize};

use super::Limits;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    Answer { response: StructuredResponse, structured: bool, stop: StopReason },
    Failed { error: ErrorInfo },
    Cancelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model said so.
    Complete,
    /// The model answered without the protocol's object.
    PlainText,
    MaxRounds,
    TokenBudget,
    WallTime,
    RepeatedCall,
}

impl StopReason {
    /// The name for the API, when the model did not choose to end.
    pub fn as_limit(self) -> Option<&'static str> {
        match self {
            StopReason::Complete | StopReason::PlainText => None,
            StopReason::MaxRounds => Some("max_rounds"),
            StopReason::TokenBudget => Some("token_budget"),
            StopReason::WallTime => Some("wall_time"),
            StopReason::RepeatedCall => Some("repeated_call"),
        }
    }
}

/// The final answer of a run that a limit ended: what happened, what was found, what to do.
pub(super) fn explain(
    reason: StopReason,
    limits: &Limits,
    planned: u32,
    language: Language,
    steps: &[Round],
) -> String {
    let rounds = limits.rounds(planned);
    let why = match (language, reason) {
        (Language::Zh, StopReason::MaxRounds) => format!("已达到 {rounds} 轮的上限"),
        (Language::Zh, StopReason::TokenBudget) => format!("已达到 {} token 的预算", limits.max_tokens),
        (Language::Zh, StopReason::WallTime) => format!("已达到 {} 秒的时间上限", limits.max_wall_seconds),
        (Language::Zh, _) => "模型反复发出同一个工具调用".to_owned(),
        (Language::En, StopReason::MaxRounds) => {
            format!("the limit of {rounds} rounds was reached")
        }
        (Language::En, StopReason::TokenBudget) => {
            format!("the budget of {} tokens was reached", limits.max_tokens)
        }
        (Language::En, StopReason::WallTime) => {
            format!("the time limit of {} s was reached", limits.max_wall_seconds)
        }
        (Language::En, _) => "the model kept making the same tool call".to_owned(),
    };
    let mut text = match language {
        Language::Zh => {
            format!("**分析在完成前停止：{why}。**\n\n以下是停止前的进展，其中的数字未经整理成最终结论。\n")
        }
        Language::En => format!(
            "**The analysis stopped before it was finished: {why}.**\n\nThis is how far it got; it is not a final conclusion.\n"
        ),
    };
    for step in steps.iter().rev().take(3).rev() {
        if !step.thought.is_empty() {
            text.push_str(&format!("\n- {}", shorten(&step.thought, 300).replace('\n', " ")));
        }
    }
    text.push_str(match language {
        Language::Zh => "\n\n可以把问题拆小后再问，或在配置中提高上限。",
        Language::En => "\n\nAsk a smaller question, or raise the limit in the configuration.",
    });
    text
}
