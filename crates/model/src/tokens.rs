//! Counts tokens with the real byte-pair encodings (SPEC M1). An estimate where a model's own is not public.

use ba_protocol::Message;

use crate::vocabulary::{CL100K, O200K, Vocabulary};

/// Counts for one model. Cheap to clone: the tables are shared and loaded once.
#[derive(Clone, Copy)]
pub struct TokenCounter {
    table: Table,
    /// Per cent added to the count.
    margin: usize,
    /// Tokens around each message on the wire.
    per_message: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Table {
    Cl100k,
    O200k,
}

impl std::fmt::Debug for TokenCounter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenCounter({:?} +{} %)", self.table, self.margin)
    }
}

impl TokenCounter {
    /// By model name, with or without `provider:`.
    ///
    /// GPT-4 and GPT-3.5 count with `cl100k_base`, later OpenAI models with `o200k_base`, both exactly. Claude
    /// models count with `o200k_base` + 15 %, all others with `o200k_base` + 10 %: their own tables are not
    /// public or differ per version, and a count that is a little high never overflows a window.
    pub fn for_model(name: &str) -> Self {
        let name = name.to_lowercase();
        let starts = |part: &str| {
            name.starts_with(part) || name.contains(&format!(":{part}")) || name.contains(&format!("/{part}"))
        };
        let newer = ["gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-oss", "o1", "o3", "o4", "chatgpt"];
        let older = ["gpt-4", "gpt-3.5", "text-embedding"];
        if newer.iter().any(|p| starts(p)) {
            Self { table: Table::O200k, margin: 0, per_message: 4 }
        } else if older.iter().any(|p| starts(p)) {
            Self { table: Table::Cl100k, margin: 0, per_message: 4 }
        } else if name.contains("claude") || name.starts_with("anthropic:") {
            Self { table: Table::O200k, margin: 15, per_message: 6 }
        } else {
            Self { table: Table::O200k, margin: 10, per_message: 5 }
        }
    }

    pub fn count(&self, text: &str) -> usize {
        let exact = self.vocabulary().count(text);
        exact + (exact * self.margin).div_ceil(100)
    }

    /// A message as it goes over the wire, with what surrounds it.
    pub fn count_message(&self, message: &Message) -> usize {
        self.count(&message.wire_text()) + self.per_message
    }

    pub fn count_messages(&self, messages: &[Message]) -> usize {
        messages.iter().map(|m| self.count_message(m)).sum()
    }

    fn vocabulary(&self) -> &'static Vocabulary {
        match self.table {
            Table::Cl100k => &CL100K,
            Table::O200k => &O200K,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts published with the encodings: "hello world" is two tokens, "tiktoken is great!" six.
    #[test]
    fn counts_are_those_of_the_published_encodings() {
        for model in ["gpt-4", "gpt-4o"] {
            let counter = TokenCounter::for_model(model);
            assert_eq!(counter.count("hello world"), 2);
            assert_eq!(counter.count("tiktoken is great!"), 6);
            assert_eq!(counter.count(""), 0);
        }
    }

    #[test]
    fn the_table_follows_the_model_and_claude_gets_a_margin() {
        let chinese = "销售额同比增长百分之十二，主要来自华东地区。";
        let old = TokenCounter::for_model("openai:gpt-4").count(chinese);
        let new = TokenCounter::for_model("openai:gpt-4o").count(chinese);
        assert!(new < old, "o200k is denser for Chinese: {new} {old}");
        assert_eq!(
            TokenCounter::for_model("anthropic:claude-sonnet-4").count(chinese),
            new + (new * 15).div_ceil(100)
        );
        assert_eq!(TokenCounter::for_model("ollama:qwen3").count(chinese), new + (new * 10).div_ceil(100));
        assert_eq!(TokenCounter::for_model("solo1").margin, 10);
    }

    #[test]
    fn messages_cost_more_than_their_text() {
        let counter = TokenCounter::for_model("gpt-4o");
        assert_eq!(counter.count_message(&Message::user("hello world")), 6);
        assert_eq!(
            counter.count_messages(&[Message::user("hello world"), Message::assistant("hello world")]),
            12
        );
    }
}
