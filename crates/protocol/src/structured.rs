//! What the model returns each turn (SPEC P1–P10). The shape only; `parse` copes with what models really send.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// At most this many tool calls of one turn are run (SPEC P5).
pub const MAX_TOOL_CALLS: usize = 6;

/// One turn of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, ToSchema)]
pub struct StructuredResponse {
    /// Chain of thought: intent, risks, plan of action.
    #[serde(default)]
    pub task_analysis: String,
    /// `R1: …; R2: …; R3: …(当前)`
    #[serde(default)]
    pub execution_plan: String,
    /// From 1.
    #[serde(default = "first_round")]
    pub current_round: u32,
    pub action: Action,
}

fn first_round() -> u32 {
    1
}

/// What the model wants done: tools run, or the report delivered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Action {
    ToolCall { content: Vec<ToolCall> },
    Complete(Report),
}

/// A finished answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, ToSchema)]
pub struct Report {
    /// Markdown or HTML; may hold `<code_ref>` and `<file_ref>` tags.
    pub content: String,
    /// Questions the user may ask next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recommended_questions: Vec<String>,
    /// Names of files offered for download.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub download_links: Vec<String>,
    /// Code to keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub code_blocks: Vec<CodeBlock>,
    /// The content is a question back to the user (SPEC W9).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_clarification: Option<Clarification>,
}

/// What the user may choose from when the model asks back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
pub struct Clarification {
    /// Two to four answers, each a whole question or statement the user could have typed.
    #[schema(min_items = 2, max_items = 4)]
    pub choices: Vec<String>,
}

/// Fewer choices are none, more are not read.
pub const CHOICES: std::ops::RangeInclusive<usize> = 2..=4;

/// One call of one tool (SPEC P6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, ToSchema)]
pub struct ToolCall {
    pub tool_name: String,
    pub tool_call_id: String,
    #[serde(default)]
    #[schema(value_type = Object)]
    pub arguments: Map<String, Value>,
}

/// Code the model wants saved (SPEC P9).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, ToSchema)]
pub struct CodeBlock {
    pub code_id: String,
    pub code: String,
    #[serde(default)]
    pub language: String,
    #[serde(default)]
    pub description: String,
}

impl Action {
    /// `tool_call` or `complete`, as on the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Action::ToolCall { .. } => "tool_call",
            Action::Complete(_) => "complete",
        }
    }
}

impl StructuredResponse {
    /// The JSON schema sent as a structured-output constraint (SPEC P13).
    ///
    /// `arguments` stays open (`additionalProperties: true`): with a closed schema real servers return it empty.
    pub fn json_schema() -> Value {
        serde_json::json!({
            "type": "object",
            "properties": {
                "task_analysis": {"type": "string"},
                "execution_plan": {"type": "string"},
                "current_round": {"type": "integer"},
                "action": {"anyOf": [
                    {
                        "type": "object",
                        "properties": {
                            "type": {"type": "string", "const": "tool_call"},
                            "content": {"type": "array", "maxItems": MAX_TOOL_CALLS, "items": {
                                "type": "object",
                                "properties": {
                                    "tool_name": {"type": "string"},
                                    "tool_call_id": {"type": "string"},
                                    "arguments": {"type": "object", "additionalProperties": true}
                                },
                                "required": ["tool_name", "tool_call_id", "arguments"]
                            }}
                        },
                        "required": ["type", "content"]
                    },
                    {
                        "type": "object",
                        "properties": {
                            "type": {"type": "string", "const": "complete"},
                            "content": {"type": "string"},
                            "recommended_questions": {"type": "array", "items": {"type": "string"}},
                            "download_links": {"type": "array", "items": {"type": "string"}},
                            "code_blocks": {"type": "array", "items": {
                                "type": "object",
                                "properties": {
                                    "code_id": {"type": "string"},
                                    "code": {"type": "string"},
                                    "language": {"type": "string"},
                                    "description": {"type": "string"}
                                },
                                "required": ["code_id", "code", "language", "description"]
                            }},
                            "needs_clarification": {
                                "type": "object",
                                "properties": {"choices": {"type": "array", "minItems": CHOICES.start(), "maxItems": CHOICES.end(),
                                    "items": {"type": "string"}}},
                                "required": ["choices"]
                            }
                        },
                        "required": ["type", "content"]
                    }
                ]}
            },
            "required": ["task_analysis", "execution_plan", "current_round", "action"]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_actions_round_trip_on_the_documented_wire_shape() {
        let call = serde_json::json!({
            "task_analysis": "a", "execution_plan": "R1: x(当前)", "current_round": 1,
            "action": {"type": "tool_call", "content": [{"tool_name": "run_python", "tool_call_id": "call_1", "arguments": {"code": "1"}}]}
        });
        let complete = serde_json::json!({
            "task_analysis": "a", "execution_plan": "R1: x", "current_round": 2,
            "action": {"type": "complete", "content": "done", "download_links": ["a.xlsx"]}
        });
        for wire in [call, complete] {
            let typed: StructuredResponse = serde_json::from_value(wire.clone()).unwrap();
            assert_eq!(serde_json::to_value(&typed).unwrap(), wire);
        }
    }
}
