//! The system prompt (SPEC P12): a text block of `docs/prompts.md`, with tool sections made from the tools' schemas.
//! Byte-identical from turn to turn, so that provider caches hit.

use serde_json::Value;

use crate::tool::{Registry, ToolSpec};

const EMBEDDED: &str = include_str!("../../../docs/prompts.md");
const HEADING: &str = "STRUCTURED_RESPONSE_SYSTEM_PROMPT";
const OPEN: &str = "<!-- tools -->";
const CLOSE: &str = "<!-- /tools -->";

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PromptError {
    #[error("no ```text block under the heading {HEADING}")]
    NoBlock,
    #[error("the prompt has no `{OPEN}` … `{CLOSE}` markers for the tool sections")]
    NoMarkers,
}

/// The prompt's template, checked at start.
#[derive(Debug, Clone)]
pub struct PromptTemplate(String);

impl PromptTemplate {
    /// Takes the ```text block of a prompts document.
    pub fn parse(document: &str) -> Result<Self, PromptError> {
        let heading = document
            .lines()
            .scan(0, |at, line| {
                let start = *at;
                *at += line.len() + 1;
                Some((start, line))
            })
            .find(|(_, line)| line.starts_with('#') && line.contains(HEADING));
        let (at, _) = heading.ok_or(PromptError::NoBlock)?;
        let section = document.get(at..).ok_or(PromptError::NoBlock)?;
        let (_, after) = section.split_once("```text\n").ok_or(PromptError::NoBlock)?;
        let (block, _) = after.split_once("\n```").ok_or(PromptError::NoBlock)?;
        if !block.contains(OPEN) || !block.contains(CLOSE) {
            return Err(PromptError::NoMarkers);
        }
        Ok(Self(block.to_owned()))
    }

    /// The copy inside the binary.
    pub fn embedded() -> Result<Self, PromptError> {
        Self::parse(EMBEDDED)
    }

    /// The prompt for these tools, followed by what else stays the same (connections, skills, business terms).
    pub fn render(&self, registry: &Registry, extras: &[String]) -> String {
        let (before, rest) = self.0.split_once(OPEN).unwrap_or((&self.0, ""));
        let after = rest.split_once(CLOSE).map_or("", |(_, after)| after);
        let mut prompt = format!("{before}{}{after}", tool_sections(registry));
        for extra in extras.iter().filter(|e| !e.trim().is_empty()) {
            prompt.push_str("\n\n");
            prompt.push_str(extra.trim_end());
        }
        prompt
    }
}

/// One section per tool, from its schema: `docs/prompts.md` holds exactly this between its markers.
pub fn tool_sections(registry: &Registry) -> String {
    let sections: Vec<String> = registry.iter().map(|t| tool_section(t.spec())).collect();
    sections.join("\n\n")
}

fn tool_section(spec: &ToolSpec) -> String {
    let required: Vec<&str> =
        spec.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut text = format!("## {}\n{}", spec.name, spec.description.trim());
    for (name, property) in spec.schema["properties"].as_object().into_iter().flatten() {
        let must = if required.contains(&name.as_str()) { "，必需" } else { "" };
        let description = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        text.push_str(&format!(
            "\n- {name}（{}{must}{}）：{description}",
            kind_of(property),
            default_of(property)
        ));
    }
    text
}

fn kind_of(property: &Value) -> String {
    match &property["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).filter(|k| *k != "null").collect();
            kinds.join("|")
        }
        _ => property["anyOf"]
            .as_array()
            .map(|any| {
                any.iter().map(kind_of).filter(|k| k != "null" && k != "any").collect::<Vec<_>>().join("|")
            })
            .filter(|k| !k.is_empty())
            .unwrap_or_else(|| "any".to_owned()),
    }
}

fn default_of(property: &Value) -> String {
    match &property["default"] {
        Value::Null => String::new(),
        Value::String(s) => format!("，默认 {s}"),
        other => format!("，默认 {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_prompt_is_whole() {
        let template = PromptTemplate::embedded().unwrap();
        let prompt = template.render(&Registry::default(), &["# 连接\nprimary".into()]);
        assert!(prompt.starts_with("你是 BA-Agent"));
        assert!(prompt.ends_with("# 连接\nprimary"));
        assert!(!prompt.contains(OPEN));
    }

    #[test]
    fn a_broken_document_says_what_is_missing() {
        assert_eq!(PromptTemplate::parse("# x").unwrap_err(), PromptError::NoBlock);
        let unmarked = format!("## {HEADING}\n```text\nhi\n```\n");
        assert_eq!(PromptTemplate::parse(&unmarked).unwrap_err(), PromptError::NoMarkers);
    }
}
