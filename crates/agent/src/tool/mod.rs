//! What a tool is to the agent: a schema, a call, and an output that the pipeline formats.
//! Tools never format observations themselves, and never see telemetry.

mod error;
mod output;
mod registry;
mod typed;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ba_protocol::{ConversationId, OutputLevel, RunId, UserId};
use ba_skills::SkillState;
use serde_json::{Map, Value};

pub use error::ToolError;
pub use output::{Body, Column, ResourceUse, StoredData, ToolOutput};
pub use registry::{Briefing, BriefingRequest, DuplicateTool, Registry};
pub use typed::{Typed, TypedTool};

/// A tool the model may call. Dropping the future of `call` must stop the work.
#[async_trait]
pub trait Tool: Send + Sync {
    fn spec(&self) -> &ToolSpec;

    /// False where it is known that it cannot work: it is not offered then.
    fn available(&self) -> bool {
        true
    }

    /// False where there are too many to tell of: it is found by a search, and may be called all the same.
    fn listed(&self) -> bool {
        true
    }

    /// How this very call may be treated: whether running it twice is harmless, and how long it may take.
    fn plan(&self, arguments: &Map<String, Value>) -> CallPlan;

    async fn call(&self, ctx: &ToolContext, arguments: Map<String, Value>) -> Result<ToolOutput, ToolError>;
}

/// What the model and the page are told about a tool.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    pub name: String,
    pub version: String,
    /// What the model reads; includes anything it must know before calling.
    pub description: String,
    /// JSON schema of the arguments, `response_format` included.
    pub schema: Value,
    /// Level used when a call does not say (SPEC E2).
    pub default_level: Option<OutputLevel>,
}

/// How one call may be treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPlan {
    pub effects: Effects,
    pub timeout: Duration,
    /// The web tools wait on a network: an error of it, or a timeout, is worth another try. A computation that ran out of
    /// its time would only do so again (SPEC E7).
    pub retry_network: bool,
}

/// Whether a call changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effects {
    /// Reads only: may be retried, and answered from cache.
    None,
    /// Reads what others change meanwhile, such as a database at work: may be retried, never answered from cache (SPEC E9).
    Live,
    /// Changes state or files: run exactly once, never cached.
    Changes,
}

impl Effects {
    /// Running it twice does no harm.
    pub fn is_harmless(self) -> bool {
        self != Effects::Changes
    }
}

/// Who calls, and where.
#[derive(Clone)]
pub struct ToolContext {
    pub owner: UserId,
    pub conversation_id: ConversationId,
    pub run_id: RunId,
    pub tool_call_id: String,
    pub level: OutputLevel,
    /// Time this attempt has; the pipeline ends it from outside as well.
    pub timeout: Duration,
    pub progress: Progress,
    /// The skills that are active when this call is made.
    pub skills: SkillState,
    /// Their files, for a tool that runs code: (name in the working folder, place on disk), read-only.
    pub skill_files: Arc<[(String, PathBuf)]>,
    /// What earlier calls of this run showed the model: (tool, observation), oldest first.
    pub shown: Arc<[(String, String)]>,
}

impl ToolContext {
    /// A call without skills or watchers, with the usual level and time.
    pub fn new(owner: UserId, conversation_id: ConversationId, run_id: RunId, tool_call_id: &str) -> Self {
        Self {
            owner,
            conversation_id,
            run_id,
            tool_call_id: tool_call_id.to_owned(),
            level: OutputLevel::default(),
            timeout: Duration::from_secs(60),
            progress: Progress::silent(),
            skills: SkillState::default(),
            skill_files: Arc::new([]),
            shown: Arc::new([]),
        }
    }
}

/// Reports progress of a long call to whoever watches the run.
#[derive(Clone)]
pub struct Progress(Arc<ReportFn>);

/// Fraction done when it is known, and words for people.
type ReportFn = dyn Fn(Option<f64>, &str) + Send + Sync;

impl Progress {
    pub fn new(report: impl Fn(Option<f64>, &str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }

    /// Nobody watches.
    pub fn silent() -> Self {
        Self::new(|_, _| {})
    }

    pub fn report(&self, fraction: Option<f64>, message: &str) {
        (self.0)(fraction, message);
    }
}
