//! How large a model's context window is, and how that is known (SPEC W5): said in the configuration, told by the
//! endpoint, from a table of families, or a stated default. Never a silent small one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a window's size comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowSource {
    Configured,
    Endpoint,
    /// The table of families, by the model's name.
    Table,
    /// Nobody knows this model.
    Default,
}

impl WindowSource {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Configured => "configured",
            Self::Endpoint => "endpoint",
            Self::Table => "table",
            Self::Default => "default",
        }
    }
}

impl fmt::Display for WindowSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Configured => "as configured",
            Self::Endpoint => "told by the endpoint",
            Self::Table => "from the table of known models",
            Self::Default => "a guess: set `window` if it is another",
        })
    }
}

const K128: usize = 131_072;
const M1: usize = 1_048_576;

/// First match wins; names are compared in lower case, by what they contain. Where hosts differ, the smaller one.
const KNOWN: &[(&str, usize)] = &[
    ("gpt-5", 400_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4.5", 128_000),
    ("gpt-4o", 128_000),
    ("chatgpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4", 8_192),
    ("gpt-3.5", 16_385),
    ("gpt-oss", K128),
    ("o1-mini", 128_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("codex", 200_000),
    ("claude-2.0", 100_000),
    ("claude-instant", 100_000),
    ("claude", 200_000),
    ("gemini-1.5-pro", 2_097_152),
    ("gemini-pro", 32_768),
    ("gemini-1.0", 32_768),
    ("gemini", M1),
    ("gemma-3", K128),
    ("gemma3", K128),
    ("gemma", 8_192),
    ("grok-4-fast", 2_000_000),
    ("grok-4.1", 2_000_000),
    ("grok-4", 256_000),
    ("grok-code", 256_000),
    ("grok", K128),
    ("llama-4", M1),
    ("llama4", M1),
    ("llama-3.1", K128),
    ("llama-3.2", K128),
    ("llama-3.3", K128),
    ("llama3.1", K128),
    ("llama3.2", K128),
    ("llama3.3", K128),
    ("llama-3", 8_192),
    ("llama3", 8_192),
    ("llama", 4_096),
    ("qwen-long", 1_000_000),
    ("qwen-flash", 1_000_000),
    ("qwen-turbo", K128),
    ("qwen-plus", K128),
    ("qwen-max", 32_768),
    ("qwen3-max", 262_144),
    ("qwen3-coder", 262_144),
    ("qwen3-next", 262_144),
    ("qwen3.5", 262_144),
    ("qwen3", 32_768),
    ("qwen2.5", 32_768),
    ("qwq", K128),
    ("qwen", 32_768),
    ("deepseek-coder-v2", K128),
    ("deepseek-coder", 16_384),
    ("deepseek", 128_000),
    ("glm-4-long", 1_000_000),
    ("glm-4.6", 200_000),
    ("glm-4.7", 200_000),
    ("glm-5", 200_000),
    ("glm", 128_000),
    ("chatglm", 32_768),
    ("kimi-k2-0711", K128),
    ("kimi-k2", 262_144),
    ("kimi", K128),
    ("moonshot", K128),
    ("doubao-seed", 262_144),
    ("doubao", 32_768),
    ("minimax-text-01", 1_000_000),
    ("minimax-m1", 1_000_000),
    ("minimax", 196_608),
    ("abab", 245_760),
    ("mistral-large", K128),
    ("mistral-medium", K128),
    ("mistral-small", 32_768),
    ("mistral-nemo", 128_000),
    ("ministral", K128),
    ("devstral", K128),
    ("magistral", 40_960),
    ("codestral", 32_768),
    ("pixtral", K128),
    ("mixtral", 32_768),
    ("mistral", 32_768),
    ("ernie-4.5", K128),
    ("ernie", 8_192),
    ("hunyuan", 32_768),
    ("command-r", 128_000),
    ("phi-4", 16_384),
    ("phi4", 16_384),
    ("phi-3", 4_096),
];

/// For names nobody knows.
const UNKNOWN: usize = 32_768;

/// From the model's name alone: a size it spells out (`…-32k`), its family, or the default.
pub fn guess(model: &str) -> (usize, WindowSource) {
    let name = model.to_lowercase();
    if let Some(spelled) = spelled(&name) {
        return (spelled, WindowSource::Table);
    }
    match KNOWN.iter().find(|(part, _)| has_part(&name, part)) {
        Some((_, window)) => (*window, WindowSource::Table),
        None => (UNKNOWN, WindowSource::Default),
    }
}

/// `moonshot-v1-32k`, `doubao-1.5-pro-256k`, `qwen2.5-7b-instruct-1m`.
fn spelled(name: &str) -> Option<usize> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).find_map(|part| {
        let (digits, unit) = part.split_at_checked(part.len().checked_sub(1)?)?;
        let number: usize = digits.parse().ok()?;
        match unit {
            "k" if (4..=2_048).contains(&number) => Some(number * 1_024),
            "m" if (1..=10).contains(&number) => Some(number * 1_000_000),
            _ => None,
        }
    })
}

/// `part` at the start of a word of the name, so that `o1` is not found in `foo1`.
fn has_part(name: &str, part: &str) -> bool {
    name.match_indices(part).any(|(at, _)| !name[..at].ends_with(|c: char| c.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_recognised_with_and_without_an_owner() {
        let window = |name: &str| guess(name).0;
        assert_eq!(window("gpt-4o-mini"), 128_000);
        assert_eq!(window("gpt-4"), 8_192);
        assert_eq!(window("openai/gpt-4.1"), 1_047_576);
        assert_eq!(window("Claude-Sonnet-4"), 200_000);
        assert_eq!(window("o1"), 200_000);
        assert_eq!(window("moonshot-v1-8k"), 8_192);
        assert_eq!(window("doubao-1.5-pro-256k"), 262_144);
        assert_eq!(window("qwen2.5-7b-instruct-1m"), 1_000_000);
    }

    // SPEC W5: every family of today has a window, and an unknown name gets 32k and says so.
    #[test]
    fn families_are_known_and_unknown_names_get_a_stated_default() {
        for family in [
            "gpt-5.1",
            "claude-opus-4-5",
            "gemini-2.5-pro",
            "grok-4",
            "llama-3.3-70b",
            "qwen3-max",
            "deepseek-chat",
            "glm-4.6",
            "kimi-k2-thinking",
            "doubao-seed-1-6",
            "MiniMax-M2",
            "mistral-large-latest",
        ] {
            let (window, from) = guess(family);
            assert!(window >= 128_000 && from == WindowSource::Table, "{family}: {window} {from}");
        }
        for unknown in ["foo1", "my-own-model"] {
            assert_eq!(guess(unknown), (32_768, WindowSource::Default), "{unknown}");
        }
    }
}
