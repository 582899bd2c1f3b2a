//! What a run needs, wired once, and what is saved of it. Data only.

use std::sync::Arc;

use ba_model::Model;
use ba_protocol::audit::AuditMode;
use ba_protocol::{OutputLevel, UploadId};
use ba_store::Store;
use serde::{Deserialize, Serialize};

use crate::metrics::Metrics;
use crate::pipeline::{Counter, Executor};
use crate::prompt::SystemPrompt;
use crate::run::{Limits, Run};
use crate::sink::EventSink;
use crate::tool::Registry;

/// Everything a run needs, wired once.
pub struct AgentParts {
    pub store: Store,
    pub models: Models,
    pub registry: Registry,
    pub executor: Executor,
    pub sink: Arc<dyn EventSink>,
    /// The rendered system prompts; the same bytes for every turn.
    pub system_prompt: SystemPrompt,
    pub limits: Limits,
    pub default_level: OutputLevel,
    pub counter: Counter,
    pub metrics: Metrics,
    pub log: crate::log::ConversationLog,
    pub skills: crate::skills::Skills,
    /// What is done with figures that nothing proves.
    pub audit: AuditMode,
    /// Computes headline figures a second time (SPEC V6); off when absent.
    pub witness: Option<Arc<dyn crate::proof::Witness>>,
}

/// The models a run may use.
#[derive(Clone)]
pub struct Models {
    pub default: Arc<dyn Model>,
    /// Cheaper, for summaries (SPEC L2).
    pub summary: Option<Arc<dyn Model>>,
    /// Others that may be chosen, by the names they were given (SPEC W6).
    pub named: Vec<(String, Arc<dyn Model>)>,
}

impl Models {
    pub fn only(model: Arc<dyn Model>) -> Self {
        Self { default: model, summary: None, named: Vec::new() }
    }

    /// What a question may name: the default by `provider:model`, the others by their own names.
    pub fn choices(&self) -> Vec<(&str, &Arc<dyn Model>)> {
        let default = [(self.default.info().name.as_str(), &self.default)];
        default.into_iter().chain(self.named.iter().map(|(name, model)| (name.as_str(), model))).collect()
    }

    pub fn get(&self, name: Option<&str>) -> Option<Arc<dyn Model>> {
        match name {
            None => Some(self.default.clone()),
            Some(name) if name == self.default.info().name => Some(self.default.clone()),
            Some(name) => {
                let by_name = self.named.iter().find(|(given, _)| given == name);
                let found = by_name.or_else(|| self.named.iter().find(|(_, m)| m.info().name == name));
                found.map(|(_, model)| model.clone())
            }
        }
    }
}

/// What is saved of a run beside its machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunState {
    pub machine: Run,
    pub model: Option<String>,
    pub output_level: Option<OutputLevel>,
    /// The uploads that came with the question (SPEC X1).
    #[serde(default)]
    pub file_ids: Vec<UploadId>,
    /// The active skills, so that a run resumes inside them (SPEC S3).
    #[serde(default)]
    pub skills: ba_skills::SkillState,
    /// The turn this is another version of: it sees what was before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<ba_store::Replaced>,
}
