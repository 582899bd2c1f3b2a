//! The prompt's sections on tools, one per tool. Names, types and defaults come from the schemas in both languages; the
//! words too in Chinese, while the English ones stand in the prompts document.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::tool::{Registry, ToolSpec};

/// One section per tool that is listed, from its schema: `docs/prompts.md` holds exactly this between its markers.
pub fn tool_sections(registry: &Registry) -> String {
    let sections: Vec<String> = available(registry).map(tool_section).collect();
    sections.join("\n\n")
}

fn available(registry: &Registry) -> impl Iterator<Item = &ToolSpec> {
    registry.iter().filter(|t| t.available() && t.listed()).map(|t| t.spec())
}

fn tool_section(spec: &ToolSpec) -> String {
    let mut text = format!("## {}\n{}", spec.name, spec.description.trim());
    for (name, property) in properties(spec) {
        let must = if is_required(spec, name) { "，必需" } else { "" };
        let default = default_of(property).map(|d| format!("，默认 {d}")).unwrap_or_default();
        text.push_str(&format!("\n- {name}（{}{must}{default}）：{}", kind_of(property), words_of(property)));
    }
    text
}

/// The same in English; what the document does not word keeps its own words.
pub(super) fn english_sections(registry: &Registry, words: &EnglishTools) -> String {
    let sections: Vec<String> = available(registry).map(|spec| english_section(spec, words)).collect();
    sections.join("\n\n")
}

fn english_section(spec: &ToolSpec, words: &EnglishTools) -> String {
    let known = words.0.get(&spec.name);
    let description = known.map_or_else(|| spec.description.trim(), |k| k.description.trim());
    let mut text = format!("## {}\n{description}", spec.name);
    for (name, property) in properties(spec) {
        let must = if is_required(spec, name) { ", required" } else { "" };
        let default = default_of(property).map(|d| format!(", default {d}")).unwrap_or_default();
        let said = known.and_then(|k| k.arguments.get(name)).cloned().unwrap_or_else(|| words_of(property));
        text.push_str(&format!("\n- {name} ({}{must}{default}): {said}", kind_of(property)));
    }
    text
}

/// What the document says of tools in English.
pub(super) struct EnglishTools(BTreeMap<String, EnglishTool>);

#[derive(Default)]
struct EnglishTool {
    description: String,
    arguments: BTreeMap<String, String>,
}

impl EnglishTools {
    /// Reads `## tool`, its description, and `- argument: words` lines.
    pub(super) fn read(text: &str) -> Self {
        let mut tools: BTreeMap<String, EnglishTool> = BTreeMap::new();
        let mut name = String::new();
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
            if let Some(heading) = line.strip_prefix("## ") {
                name = heading.trim().to_owned();
                continue;
            }
            let tool = tools.entry(name.clone()).or_default();
            match line.strip_prefix("- ").and_then(|l| l.split_once(": ")) {
                Some((argument, words)) => {
                    tool.arguments.insert(argument.to_owned(), words.to_owned());
                }
                None => {
                    tool.description.push_str(if tool.description.is_empty() { "" } else { "\n" });
                    tool.description.push_str(line);
                }
            }
        }
        Self(tools)
    }

    /// Tools and arguments that are worded and do not exist, or exist and are not worded.
    pub(super) fn faults(&self, registry: &Registry) -> Vec<String> {
        let mut faults = Vec::new();
        for tool in registry.iter() {
            let spec = tool.spec();
            let Some(known) = self.0.get(&spec.name) else {
                faults.push(format!("{} is not worded in English", spec.name));
                continue;
            };
            let wanted: Vec<&String> = properties(spec).map(|(name, _)| name).collect();
            for name in wanted.iter().filter(|n| !known.arguments.contains_key(**n)) {
                faults.push(format!("{}: `{name}` is not worded in English", spec.name));
            }
            for name in known.arguments.keys().filter(|n| !wanted.contains(n)) {
                faults.push(format!("{}: there is no argument `{name}`", spec.name));
            }
        }
        let names = registry.names();
        faults.extend(
            self.0.keys().filter(|n| !names.contains(&n.as_str())).map(|n| format!("there is no tool {n}")),
        );
        faults
    }
}

fn properties(spec: &ToolSpec) -> impl Iterator<Item = (&String, &Value)> {
    spec.schema["properties"].as_object().into_iter().flatten()
}

fn is_required(spec: &ToolSpec, name: &str) -> bool {
    spec.schema["required"].as_array().into_iter().flatten().any(|r| r.as_str() == Some(name))
}

fn words_of(property: &Value) -> String {
    property["description"].as_str().unwrap_or_default().replace('\n', " ")
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

fn default_of(property: &Value) -> Option<String> {
    match &property["default"] {
        Value::Null => None,
        Value::String(s) => Some(s.clone()),
        other => Some(other.to_string()),
    }
}
