//! Reads the YAML front matter of a `SKILL.md` (SPEC S1). Hostile input: capped, without anchors, tags or nesting
//! bombs. Never touches the file system; a mistake is named with its line.

use std::path::Path;

use ba_protocol::OutputLevel;
use ba_protocol::text::show_invisible;
use serde_json::{Map, Value};

use crate::error::LoadError;
use crate::limits::Limits;
use crate::tool_names;

/// What a skill says of itself, before its folder is known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FrontMatter {
    pub name: Option<String>,
    pub description: String,
    pub license: Option<String>,
    pub compatibility: Option<String>,
    /// Tools of ours the skill narrows itself to; `None` leaves them alone.
    pub allowed_tools: Option<Vec<String>>,
    pub model: Option<String>,
    pub output_level: Option<OutputLevel>,
    pub max_tokens: Option<u32>,
    /// The model may not activate it by itself.
    pub disable_model_invocation: bool,
    /// Words people use for it, in any language; they only help ranking.
    pub keywords: Vec<String>,
    /// Everything else, kept for display.
    pub metadata: Map<String, Value>,
    pub warnings: Vec<String>,
}

/// The two parts of a `SKILL.md`.
pub struct Parts<'a> {
    pub yaml: &'a str,
    pub body: &'a str,
    /// Line of the file on which the body starts, from 1.
    pub body_line: u64,
}

/// Splits at the `---` lines. A file without them is not a skill.
pub fn split<'a>(file: &Path, text: &'a str, limits: &Limits) -> Result<Parts<'a>, LoadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != "---" {
        return Err(LoadError::at(
            file,
            1,
            "expected `---` on the first line, then the front matter with name and description",
        ));
    }
    let start = first.len();
    let mut offset = start;
    for (line, number) in lines.zip(2u64..) {
        if matches!(line.trim_end(), "---" | "...") {
            return Ok(Parts {
                yaml: &text[start..offset],
                body: &text[offset + line.len()..],
                body_line: number + 1,
            });
        }
        offset += line.len();
        if offset - start > limits.front_matter_bytes {
            let cap = limits.front_matter_bytes;
            return Err(LoadError::at(
                file,
                number,
                format!("the front matter is longer than {cap} bytes, or its closing `---` is missing"),
            ));
        }
    }
    Err(LoadError::at(file, 1, "the closing `---` of the front matter is missing"))
}

/// Parses the front matter strictly, then once more with plain values quoted, as many published skills need.
pub fn parse(file: &Path, yaml: &str, limits: &Limits) -> Result<FrontMatter, LoadError> {
    let mut warnings = Vec::new();
    let fields = match parse_map(yaml) {
        Ok(fields) => fields,
        Err(strict) => {
            let quoted = quote_plain_values(yaml);
            let fields = parse_map(&quoted).map_err(|_| yaml_error(file, &strict))?;
            warnings.push(format!(
                "front matter is not valid YAML ({}); read with its plain values quoted",
                brief(&strict)
            ));
            fields
        }
    };
    let mut reader = Reader { file, yaml, fields, warnings };
    let front = reader.read(limits)?;
    Ok(FrontMatter { metadata: reader.fields, warnings: reader.warnings, ..front })
}

fn parse_map(yaml: &str) -> Result<Map<String, Value>, serde_saphyr::Error> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_anchors: 0,
            max_aliases: 0,
            max_depth: 8,
            max_documents: 1,
            max_nodes: 1000,
            max_events: 4000,
            max_merge_keys: 0,
        },
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(yaml, options)
}

fn yaml_error(file: &Path, error: &serde_saphyr::Error) -> LoadError {
    // The YAML starts on line 2 of the file.
    let line = error.location().map_or(1, |l| l.line()) + 1;
    LoadError::at(file, line, format!("front matter is not valid YAML: {}", brief(error)))
}

fn brief(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

/// `description: Use when: asked` is not YAML, yet common. Quotes the values of top-level keys.
fn quote_plain_values(yaml: &str) -> String {
    let mut out = String::with_capacity(yaml.len() + 64);
    for line in yaml.lines() {
        match line.split_once(": ") {
            Some((key, value)) if is_key(key) && is_plain(value.trim()) => {
                let value = value.trim().replace('\'', "''");
                out.push_str(&format!("{key}: '{value}'\n"));
            }
            _ => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

fn is_plain(value: &str) -> bool {
    !value.is_empty() && !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!', '%', '@', '#'])
}

struct Reader<'a> {
    file: &'a Path,
    yaml: &'a str,
    fields: Map<String, Value>,
    warnings: Vec<String>,
}

impl Reader<'_> {
    /// Takes the known fields out; what is left becomes `metadata`.
    fn read(&mut self, limits: &Limits) -> Result<FrontMatter, LoadError> {
        let name = self.text("name")?;
        let description = self.text("description")?.unwrap_or_default();
        if description.trim().is_empty() {
            return Err(self
                .error("description", "`description` is missing: it tells the model when to use the skill"));
        }
        let description = self.shorten(one_line(&show_invisible(&description)), limits.description_chars);
        let allowed_tools = self.tools()?;
        let (license, compatibility) = (self.text("license")?, self.text("compatibility")?);
        let model = self.text("model")?.filter(|m| m != "inherit");
        let disable_model_invocation = self.flag("disable-model-invocation")?;
        if let Some(Value::Object(nested)) = self.fields.remove("metadata") {
            for (key, value) in nested {
                self.fields.entry(key).or_insert(value);
            }
        }
        let output_level = self.output_level()?;
        let max_tokens = self.max_tokens()?;
        let keywords = self.fields.get("keywords").map(words).unwrap_or_default();
        let rest = FrontMatter::default();
        Ok(FrontMatter {
            name,
            description,
            license,
            compatibility,
            allowed_tools,
            model,
            output_level,
            max_tokens,
            disable_model_invocation,
            keywords,
            ..rest
        })
    }

    fn error(&self, key: &str, message: impl Into<String>) -> LoadError {
        let at = self.yaml.lines().position(|l| l.trim_start().starts_with(&format!("{key}:")));
        LoadError::at(self.file, at.map_or(1, |n| n as u64 + 2), message)
    }

    fn text(&mut self, key: &str) -> Result<Option<String>, LoadError> {
        match self.fields.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(s)) => Ok(Some(s.trim().to_owned()).filter(|s| !s.is_empty())),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(value.to_string())),
            Some(_) => Err(self.error(key, format!("`{key}` must be text"))),
        }
    }

    fn flag(&mut self, key: &str) -> Result<bool, LoadError> {
        match self.text(key)?.map(|s| s.to_ascii_lowercase()).as_deref() {
            None | Some("false" | "no" | "off") => Ok(false),
            Some("true" | "yes" | "on") => Ok(true),
            Some(_) => Err(self.error(key, format!("`{key}` must be true or false"))),
        }
    }

    fn shorten(&mut self, text: String, chars: usize) -> String {
        if text.chars().count() <= chars {
            return text;
        }
        self.warnings.push(format!("description is longer than {chars} characters; cut"));
        let mut cut: String = text.chars().take(chars - 1).collect();
        cut.push('…');
        cut
    }

    fn tools(&mut self) -> Result<Option<Vec<String>>, LoadError> {
        let given = match self.fields.remove("allowed-tools") {
            None | Some(Value::Null) => return Ok(None),
            Some(value @ (Value::String(_) | Value::Array(_))) => tool_names::listed(&value),
            Some(_) => return Err(self.error("allowed-tools", "`allowed-tools` must be a list or text")),
        };
        let ours = tool_names::translate(&given);
        if !ours.unknown.is_empty() {
            self.warnings.push(format!("allowed-tools names no tool here: {}", ours.unknown.join(", ")));
        }
        // Names of another program alone must not lock every tool: the skill would be useless, not safer.
        Ok(if ours.known.is_empty() && !ours.unknown.is_empty() { None } else { Some(ours.known) })
    }

    fn output_level(&mut self) -> Result<Option<OutputLevel>, LoadError> {
        let Some(given) = self.text("output-level")? else { return Ok(None) };
        serde_json::from_value(Value::String(given.to_ascii_lowercase()))
            .map(Some)
            .map_err(|_| self.error("output-level", "`output-level` must be brief, standard or full"))
    }

    fn max_tokens(&mut self) -> Result<Option<u32>, LoadError> {
        let Some(given) = self.text("max-tokens")? else { return Ok(None) };
        match given.parse::<u32>() {
            Ok(n) if (16..=1_000_000).contains(&n) => Ok(Some(n)),
            _ => Err(self.error("max-tokens", "`max-tokens` must be a number from 16 to 1000000")),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn words(value: &Value) -> Vec<String> {
    let texts: Vec<&str> = match value {
        Value::String(s) => vec![s],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    let split = |s: &'static [char], t: &str| t.split(s).map(one_line).collect::<Vec<_>>();
    texts.iter().flat_map(|t| split(&[',', '，', '、', ';'], t)).filter(|w| !w.is_empty()).take(100).collect()
}

#[cfg(test)]
mod tests;
