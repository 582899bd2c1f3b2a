//! The system prompt (SPEC P12, W7): a text block of `docs/prompts.md` for each language, with tool sections made from the
//! tools' schemas. Byte-identical from turn to turn, so that provider caches hit.

mod sections;

use crate::run::Language;
use crate::tool::Registry;
pub use sections::tool_sections;
use sections::{EnglishTools, english_sections};

const EMBEDDED: &str = include_str!("../../../docs/prompts.md");
const CHINESE: &str = "STRUCTURED_RESPONSE_SYSTEM_PROMPT";
const ENGLISH: &str = "STRUCTURED_RESPONSE_SYSTEM_PROMPT_EN";
const OPEN: &str = "<!-- tools -->";
const CLOSE: &str = "<!-- /tools -->";

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PromptError {
    #[error("no ```text block under the heading {0}")]
    NoBlock(&'static str),
    #[error("the prompt under {0} has no `{OPEN}` … `{CLOSE}` markers for the tool sections")]
    NoMarkers(&'static str),
}

/// The prompt of each language, rendered.
#[derive(Debug, Clone)]
pub struct SystemPrompt {
    chinese: String,
    english: String,
}

impl SystemPrompt {
    pub fn of(&self, language: Language) -> &str {
        match language {
            Language::Zh => &self.chinese,
            Language::En => &self.english,
        }
    }
}

/// The same for everyone, as tests want it.
impl From<&str> for SystemPrompt {
    fn from(prompt: &str) -> Self {
        Self { chinese: prompt.to_owned(), english: prompt.to_owned() }
    }
}

/// The prompts' templates, checked at start.
#[derive(Debug, Clone)]
pub struct PromptTemplate {
    chinese: Block,
    /// A document may have none: then everyone gets the Chinese one, which says to answer in the user's language.
    english: Option<Block>,
}

/// A prompt around the place where its tools go.
#[derive(Debug, Clone)]
struct Block {
    before: String,
    tools: String,
    after: String,
}

impl PromptTemplate {
    /// Takes the ```text blocks of a prompts document.
    pub fn parse(document: &str) -> Result<Self, PromptError> {
        let english = match Block::under(document, ENGLISH) {
            Err(PromptError::NoBlock(_)) => None,
            found => Some(found?),
        };
        Ok(Self { chinese: Block::under(document, CHINESE)?, english })
    }

    /// The copy inside the binary.
    pub fn embedded() -> Result<Self, PromptError> {
        Self::parse(EMBEDDED)
    }

    /// The prompts for these tools, followed by what else stays the same (such as connections, for English).
    pub fn render(&self, registry: &Registry, english_extras: &[String]) -> SystemPrompt {
        let chinese = self.chinese.with(&tool_sections(registry));
        let english = match &self.english {
            None => chinese.clone(),
            Some(block) => {
                let mut prompt = block.with(&english_sections(registry, &EnglishTools::read(&block.tools)));
                for extra in english_extras.iter().filter(|e| !e.trim().is_empty()) {
                    prompt.push_str("\n\n");
                    prompt.push_str(extra.trim_end());
                }
                prompt
            }
        };
        SystemPrompt { chinese, english }
    }

    /// What the document's English lacks or has too much for these tools, in words.
    pub fn english_faults(&self, registry: &Registry) -> Vec<String> {
        let Some(block) = &self.english else { return vec!["there is no English prompt".to_owned()] };
        EnglishTools::read(&block.tools).faults(registry)
    }
}

impl Block {
    fn under(document: &str, heading: &'static str) -> Result<Self, PromptError> {
        let mut at = 0;
        let mut section = None;
        for line in document.split_inclusive('\n') {
            if line.starts_with('#') && line.trim_start_matches('#').trim() == heading {
                section = document.get(at..);
                break;
            }
            at += line.len();
        }
        let section = section.ok_or(PromptError::NoBlock(heading))?;
        let (_, after) = section.split_once("```text\n").ok_or(PromptError::NoBlock(heading))?;
        let (block, _) = after.split_once("\n```").ok_or(PromptError::NoBlock(heading))?;
        let (before, rest) = block.split_once(OPEN).ok_or(PromptError::NoMarkers(heading))?;
        let (tools, after) = rest.split_once(CLOSE).ok_or(PromptError::NoMarkers(heading))?;
        Ok(Self { before: before.to_owned(), tools: tools.to_owned(), after: after.to_owned() })
    }

    fn with(&self, tools: &str) -> String {
        format!("{}{tools}{}", self.before, self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_prompts_are_whole_and_alike() {
        let template = PromptTemplate::embedded().unwrap();
        let prompt = template.render(&Registry::default(), &["# Connections\nerp".into()]);
        let (zh, en) = (prompt.of(Language::Zh), prompt.of(Language::En));
        assert!(zh.starts_with("你是 BA-Agent") && en.starts_with("You are BA-Agent"));
        assert!(en.ends_with("# Connections\nerp"));
        let parts = |text: &str| text.lines().filter(|l| l.starts_with("# ")).count();
        assert_eq!(parts(zh), parts(en) - 1, "the same parts, and the extra one");
        let rules = |text: &str| text.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit())).count();
        assert_eq!(rules(zh), rules(en));
        for tag in ["<chart data=", "needs_clarification", "answer_N", "ddof", "<code_ref>", "code_123"] {
            assert!(zh.contains(tag) && en.contains(tag), "{tag}");
        }
        assert!(!zh.contains(OPEN) && !en.contains(OPEN));
    }

    #[test]
    fn a_broken_document_says_what_is_missing() {
        assert_eq!(PromptTemplate::parse("# x").unwrap_err(), PromptError::NoBlock(CHINESE));
        let unmarked = format!("## {CHINESE}\n```text\nhi\n```\n");
        assert_eq!(PromptTemplate::parse(&unmarked).unwrap_err(), PromptError::NoMarkers(CHINESE));
        let only = format!("## {CHINESE}\n```text\nhi {OPEN}{CLOSE}\n```\n");
        let prompt = PromptTemplate::parse(&only).unwrap().render(&Registry::default(), &[]);
        assert_eq!(prompt.of(Language::En), "hi ");
    }
}
