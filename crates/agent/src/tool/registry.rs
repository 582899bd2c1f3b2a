//! The one list of tools. A duplicate name fails at start; the order is fixed, so the prompt's prefix is stable.

use std::sync::Arc;

use async_trait::async_trait;
use ba_protocol::{ConversationId, Language};
use ba_store::ConversationFiles;

use super::Tool;
use crate::pipeline::Counter;

#[derive(Clone, Default)]
pub struct Registry {
    tools: Vec<Arc<dyn Tool>>,
    briefing: Option<Arc<dyn Briefing>>,
}

/// What the tools know of a conversation's data before anything is asked (SPEC W1).
#[async_trait]
pub trait Briefing: Send + Sync {
    /// `None` when there is nothing to tell. Untrusted text.
    async fn brief(&self, wanted: BriefingRequest<'_>) -> Option<String>;
}

/// What is to be told, how much of it, and in which language.
#[derive(Clone, Copy)]
pub struct BriefingRequest<'a> {
    pub conversation: &'a ConversationId,
    pub files: &'a ConversationFiles,
    /// What is asked; empty where nothing is yet.
    pub question: &'a str,
    /// At most so many for the conversation's own data, and as many for the databases beside it.
    pub tokens: usize,
    pub counter: &'a Counter,
    pub language: Language,
}

#[derive(Debug, thiserror::Error)]
#[error("two tools are named `{0}`")]
pub struct DuplicateTool(pub String);

impl Registry {
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Result<Self, DuplicateTool> {
        for (i, tool) in tools.iter().enumerate() {
            let name = &tool.spec().name;
            if tools[..i].iter().any(|t| &t.spec().name == name) {
                return Err(DuplicateTool(name.clone()));
            }
        }
        Ok(Self { tools, briefing: None })
    }

    pub fn with_briefing(self, briefing: Arc<dyn Briefing>) -> Self {
        Self { briefing: Some(briefing), ..self }
    }

    pub fn briefing(&self) -> Option<&Arc<dyn Briefing>> {
        self.briefing.as_ref()
    }

    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|t| t.spec().name == name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }

    pub fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|t| t.spec().name.as_str()).collect()
    }

    /// A smaller registry: a skill may narrow what is allowed, never widen it (SPEC S4).
    pub fn narrowed(&self, allowed: &[String]) -> Self {
        let tools = self.tools.iter().filter(|t| allowed.contains(&t.spec().name)).cloned().collect();
        Self { tools, briefing: self.briefing.clone() }
    }
}
