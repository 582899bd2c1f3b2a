//! Context windows guessed from model names. A guess on the safe side: `window` in the settings wins.

/// First match wins; names are compared in lower case, by what they contain.
const KNOWN: [(&str, usize); 30] = [
    ("gpt-5", 400_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4-32k", 32_768),
    ("gpt-4", 8_192),
    ("gpt-3.5", 16_385),
    ("gpt-oss", 131_072),
    ("o1-mini", 128_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
    ("claude", 200_000),
    ("deepseek", 64_000),
    ("qwen-long", 1_000_000),
    ("qwen-turbo", 131_072),
    ("qwen-plus", 131_072),
    ("qwen-max", 32_768),
    ("qwen3", 32_768),
    ("qwen", 32_768),
    ("glm-4.6", 200_000),
    ("glm", 128_000),
    ("kimi-k2", 128_000),
    ("moonshot-v1-8k", 8_192),
    ("moonshot-v1-32k", 32_768),
    ("moonshot", 128_000),
    ("kimi", 128_000),
    ("llama-3", 128_000),
    ("llama3", 8_192),
    ("mistral", 32_768),
];

/// For names nobody knows: what small local servers give by default.
const UNKNOWN: usize = 8_192;

pub fn guess(model: &str) -> usize {
    let name = model.to_lowercase();
    KNOWN.iter().find(|(part, _)| has_part(&name, part)).map_or(UNKNOWN, |(_, window)| *window)
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
        assert_eq!(guess("gpt-4o-mini"), 128_000);
        assert_eq!(guess("gpt-4"), 8_192);
        assert_eq!(guess("openai/gpt-4.1"), 1_047_576);
        assert_eq!(guess("Claude-Sonnet-4"), 200_000);
        assert_eq!(guess("foo1"), UNKNOWN);
        assert_eq!(guess("o1"), 200_000);
        assert_eq!(guess("my-own-model"), UNKNOWN);
    }
}
