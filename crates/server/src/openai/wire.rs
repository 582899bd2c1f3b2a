//! The bodies of chat completions, as far as BA-Agent uses them. Unknown fields are ignored: clients send many.

use ba_protocol::api::UsageInfo;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::files::Attached;
use super::options::ChatOptions;
use crate::error::{ApiError, Result};

/// With the default model.
pub const MODEL: &str = "ba-agent";

#[derive(Debug, Deserialize, ToSchema)]
pub struct ChatRequest {
    pub messages: Vec<ChatMessage>,
    #[serde(flatten)]
    pub options: ChatOptions,
    #[serde(default)]
    pub stream_options: Option<StreamOptions>,
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct StreamOptions {
    /// A last chunk without choices that counts the tokens.
    #[serde(default)]
    pub include_usage: bool,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct ChatMessage {
    /// `system`, `developer`, `user` or `assistant`.
    #[schema(example = "user")]
    pub role: String,
    #[serde(default)]
    pub content: Option<Content>,
}

/// Text, or parts of which the text ones count.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// `text`, or `file` with an id or bytes (`input_text` and `input_file` of the Responses API alike).
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct Part {
    #[serde(default, rename = "type")]
    #[schema(example = "text")]
    pub kind: String,
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub file: Option<Attached>,
    #[serde(flatten)]
    pub inline: Attached,
}

impl ChatMessage {
    pub fn text(&self) -> String {
        match &self.content {
            None => String::new(),
            Some(Content::Text(text)) => text.clone(),
            Some(Content::Parts(parts)) => {
                let texts: Vec<&str> = parts.iter().filter_map(|part| part.text.as_deref()).collect();
                texts.join("\n")
            }
        }
    }

    /// Its files; a part that nobody can read is refused by name.
    pub fn files(&self) -> Result<Vec<Attached>> {
        let Some(Content::Parts(parts)) = &self.content else { return Ok(Vec::new()) };
        let mut files = Vec::new();
        for part in parts {
            match part.kind.as_str() {
                "" | "text" | "input_text" | "output_text" | "refusal" => {}
                "file" => files.extend(part.file.clone()),
                "input_file" => files.push(part.inline.clone()),
                other => {
                    let message = format!(
                        "a part of type `{}` cannot be read; send `text` and `file`",
                        ba_protocol::text::shorten(other, 40)
                    );
                    return Err(ApiError::bad_request("unsupported_part", message));
                }
            }
        }
        Ok(files)
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ChatCompletion {
    pub id: String,
    #[schema(example = "chat.completion")]
    pub object: &'static str,
    pub created: i64,
    pub model: &'static str,
    pub choices: Vec<Choice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<ChatUsage>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Choice {
    pub index: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Delta>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    pub finish_reason: Option<&'static str>,
}

#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Delta {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What is being done: thoughts and tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ChatUsage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub total_tokens: u64,
}

impl From<&UsageInfo> for ChatUsage {
    fn from(usage: &UsageInfo) -> Self {
        Self {
            prompt_tokens: usage.input_tokens,
            completion_tokens: usage.output_tokens,
            total_tokens: usage.input_tokens + usage.output_tokens,
        }
    }
}
