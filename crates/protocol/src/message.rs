//! Messages to and from a model: a role and content blocks (SPEC P14).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Assistant,
    System,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    Text {
        text: String,
    },
    Thinking {
        thinking: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[schema(value_type = Object)]
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        content: String,
        #[serde(default)]
        is_error: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Message {
    pub role: Role,
    pub content: Vec<ContentBlock>,
}

impl Message {
    pub fn new(role: Role, content: Vec<ContentBlock>) -> Self {
        Self { role, content }
    }

    pub fn system(text: impl Into<String>) -> Self {
        Self::text_of(Role::System, text)
    }

    pub fn user(text: impl Into<String>) -> Self {
        Self::text_of(Role::User, text)
    }

    pub fn assistant(text: impl Into<String>) -> Self {
        Self::text_of(Role::Assistant, text)
    }

    fn text_of(role: Role, text: impl Into<String>) -> Self {
        Self { role, content: vec![ContentBlock::Text { text: text.into() }] }
    }

    /// All text blocks, joined.
    pub fn text(&self) -> String {
        let parts: Vec<&str> = self
            .content
            .iter()
            .filter_map(|b| match b {
                ContentBlock::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        parts.join("\n")
    }

    /// Ids of the tool calls made in this message.
    pub fn tool_uses(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|b| match b {
            ContentBlock::ToolUse { id, .. } => Some(id.as_str()),
            _ => None,
        })
    }

    /// Ids of the tool calls answered in this message.
    pub fn tool_results(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|b| match b {
            ContentBlock::ToolResult { tool_use_id, .. } => Some(tool_use_id.as_str()),
            _ => None,
        })
    }
}

impl Message {
    /// The text that goes over the wire: both dialects carry plain text, never native tool calls.
    ///
    /// An assistant's own text already spells out its calls, so `ToolUse` blocks beside a text add nothing;
    /// without one they are written in the protocol's shape. Tool results carry their tag already.
    pub fn wire_text(&self) -> String {
        let has_text = self.content.iter().any(|b| matches!(b, ContentBlock::Text { .. }));
        let mut parts = Vec::new();
        let mut calls = Vec::new();
        for block in &self.content {
            match block {
                ContentBlock::Text { text } => parts.push(text.clone()),
                ContentBlock::ToolResult { content, .. } => parts.push(content.clone()),
                ContentBlock::ToolUse { id, name, input } if !has_text => {
                    calls
                        .push(serde_json::json!({"tool_name": name, "tool_call_id": id, "arguments": input}));
                }
                ContentBlock::ToolUse { .. } | ContentBlock::Thinking { .. } => {}
            }
        }
        if !calls.is_empty() {
            parts.push(serde_json::json!({"action": {"type": "tool_call", "content": calls}}).to_string());
        }
        parts.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_text_shows_calls_once_and_results_whole() {
        let call =
            ContentBlock::ToolUse { id: "c1".into(), name: "t".into(), input: serde_json::json!({"a": 1}) };
        let spelled =
            Message::new(Role::Assistant, vec![ContentBlock::Text { text: "{json}".into() }, call.clone()]);
        assert_eq!(spelled.wire_text(), "{json}");
        let bare = Message::new(Role::Assistant, vec![call]);
        assert_eq!(
            bare.wire_text(),
            r#"{"action":{"type":"tool_call","content":[{"tool_name":"t","tool_call_id":"c1","arguments":{"a":1}}]}}"#
        );
        let result = ContentBlock::ToolResult {
            tool_use_id: "c1".into(),
            content: "<tool_result…>".into(),
            is_error: false,
        };
        assert_eq!(
            Message::new(Role::User, vec![result.clone(), result]).wire_text(),
            "<tool_result…>\n\n<tool_result…>"
        );
    }
}
