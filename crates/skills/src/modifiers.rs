//! What a skill may change while it is active (SPEC S4). Tools are only ever narrowed; everything unwinds exactly,
//! because the effect is computed from the base and the frames, never stored.

use std::collections::BTreeSet;

use ba_protocol::OutputLevel;
use serde::{Deserialize, Serialize};

use crate::front_matter::FrontMatter;

/// Never taken away, or a skill could not read its own files nor end itself.
pub const ALWAYS_ALLOWED: &str = "activate_skill";

/// One skill's wishes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Modifiers {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<BTreeSet<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_level: Option<OutputLevel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
}

impl From<&FrontMatter> for Modifiers {
    fn from(front: &FrontMatter) -> Self {
        Self {
            allowed_tools: front.allowed_tools.as_ref().map(|tools| tools.iter().cloned().collect()),
            model: front.model.clone(),
            output_level: front.output_level,
            max_tokens: front.max_tokens,
        }
    }
}

/// What the user has without any skill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Base {
    pub tools: BTreeSet<String>,
    pub model: String,
    /// Models a skill may switch to; others are ignored.
    pub models: BTreeSet<String>,
    pub output_level: Option<OutputLevel>,
    pub max_tokens: Option<u32>,
    /// No skill goes above this.
    pub max_tokens_ceiling: Option<u32>,
}

/// What holds now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    pub tools: BTreeSet<String>,
    pub model: String,
    pub output_level: Option<OutputLevel>,
    pub max_tokens: Option<u32>,
    /// Tools the user has and a skill took away.
    pub narrowed: BTreeSet<String>,
    /// A model was asked for that this server does not offer.
    pub ignored_models: Vec<String>,
}

impl Effective {
    /// A tool nobody has is not ours to judge.
    pub fn allows(&self, tool: &str) -> bool {
        !self.narrowed.contains(tool)
    }
}

/// Applies the frames from the outermost to the innermost: tools intersect, the innermost wish wins for the rest.
pub fn effective<'a>(base: &Base, frames: impl IntoIterator<Item = &'a Modifiers>) -> Effective {
    let mut now = Effective {
        tools: base.tools.clone(),
        model: base.model.clone(),
        output_level: base.output_level,
        max_tokens: base.max_tokens,
        narrowed: BTreeSet::new(),
        ignored_models: Vec::new(),
    };
    for wish in frames {
        if let Some(allowed) = &wish.allowed_tools {
            now.tools.retain(|tool| tool == ALWAYS_ALLOWED || allowed.contains(tool));
        }
        match &wish.model {
            Some(model) if *model == base.model || base.models.contains(model) => now.model.clone_from(model),
            Some(model) => now.ignored_models.push(model.clone()),
            None => {}
        }
        now.output_level = wish.output_level.or(now.output_level);
        if let Some(tokens) = wish.max_tokens {
            now.max_tokens = Some(base.max_tokens_ceiling.map_or(tokens, |top| tokens.min(top)));
        }
    }
    now.narrowed = base.tools.difference(&now.tools).cloned().collect();
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(ToString::to_string).collect()
    }

    fn base() -> Base {
        Base {
            tools: set(&["run_python", "file_reader", "activate_skill"]),
            model: "a:big".into(),
            models: set(&["a:small"]),
            output_level: None,
            max_tokens: Some(2000),
            max_tokens_ceiling: Some(8000),
        }
    }

    #[test]
    fn nested_wishes_compose_and_never_widen() {
        let outer = Modifiers {
            allowed_tools: Some(set(&["run_python", "query_database"])),
            model: Some("a:small".into()),
            ..Modifiers::default()
        };
        let inner = Modifiers {
            allowed_tools: Some(set(&["file_reader"])),
            max_tokens: Some(99_999),
            output_level: Some(OutputLevel::Full),
            model: Some("evil:dear".into()),
        };
        let one = effective(&base(), [&outer]);
        assert_eq!(one.tools, set(&["run_python", "activate_skill"]));
        assert_eq!(one.model, "a:small");
        let two = effective(&base(), [&outer, &inner]);
        assert_eq!(two.tools, set(&["activate_skill"]));
        assert_eq!(
            (two.model.as_str(), two.max_tokens, two.output_level),
            ("a:small", Some(8000), Some(OutputLevel::Full))
        );
        assert_eq!(two.ignored_models, ["evil:dear"]);
        assert!(!two.allows("run_python") && two.allows("activate_skill"));
    }

    #[test]
    fn no_skill_changes_nothing() {
        let now = effective(&base(), []);
        assert_eq!((now.tools, now.model, now.max_tokens), (base().tools, base().model, base().max_tokens));
    }
}
