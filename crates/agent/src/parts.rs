//! What a run needs, wired once, and what is saved of it. Data only.

use std::sync::Arc;

use ba_model::Model;
use ba_protocol::audit::AuditMode;
use ba_protocol::{OutputLevel, UploadId};
use ba_store::Store;
use serde::{Deserialize, Serialize};

use crate::metrics::Metrics;
use crate::pipeline::{Counter, Executor};
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
    /// The rendered system prompt; the same bytes for every turn.
    pub system_prompt: String,
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
    /// Makes another configured model of its `provider:model` name.
    pub by_name: Arc<FindModel>,
}

type FindModel = dyn Fn(&str) -> Option<Arc<dyn Model>> + Send + Sync;

impl Models {
    pub fn only(model: Arc<dyn Model>) -> Self {
        Self { default: model, summary: None, by_name: Arc::new(|_| None) }
    }

    pub fn get(&self, name: Option<&str>) -> Option<Arc<dyn Model>> {
        match name {
            None => Some(self.default.clone()),
            Some(name) if name == self.default.info().name => Some(self.default.clone()),
            Some(name) => (self.by_name)(name),
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
}
