//! What the server asks of the rest of the program. Given at wiring; the server knows no concrete tool or model.

use std::sync::Arc;

use async_trait::async_trait;
use ba_agent::{Agent, ToolSpec};
use ba_protocol::api::ErrorInfo;
use ba_protocol::{ConversationId, ReportFor, RunId, Upload, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::event_bus::EventBus;

/// A tool the model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolInfo {
    #[schema(example = "query_database")]
    pub name: String,
    pub version: String,
    pub description: String,
    /// JSON schema of its arguments.
    #[schema(value_type = Object)]
    pub schema: Value,
}

impl From<&ToolSpec> for ToolInfo {
    fn from(spec: &ToolSpec) -> Self {
        Self {
            name: spec.name.clone(),
            version: spec.version.clone(),
            description: spec.description.clone(),
            schema: spec.schema.clone(),
        }
    }
}

/// A skill the model may activate (SPEC S1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SkillInfo {
    pub name: String,
    pub description: String,
    /// Where it comes from, `shipped`, `installed` or `configured`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Reads uploaded files: profiles, converts, and records what it found in the store. It never fails the upload.
#[async_trait]
pub trait Ingest: Send + Sync {
    /// Progress is 0 to 1, with a line for people.
    async fn ingest(&self, upload: &Upload, progress: &(dyn for<'m> Fn(f64, &'m str) + Send + Sync));
}

/// A document that somebody wants (SPEC D1).
#[derive(Debug, Clone)]
pub struct ReportWanted {
    pub owner: UserId,
    pub conversation: ConversationId,
    /// One answer; without it the whole conversation.
    pub run: Option<RunId>,
    /// One of `routes::report::FORMATS`.
    pub format: String,
    /// `zh` or `en`.
    pub language: Option<String>,
    pub audience: ReportFor,
}

/// A finished document.
pub struct ReportFile {
    pub path: std::path::PathBuf,
    /// What a person's copy is called.
    pub name: String,
    pub bytes: u64,
    /// The file goes when this is dropped.
    pub keep: Box<dyn std::any::Any + Send + Sync>,
}

/// Why there is no document.
#[derive(Debug)]
pub enum ReportRefusal {
    NotFound(String),
    /// No complete answer.
    Empty(String),
    Unavailable(String),
    TooLarge(String),
    Internal(String),
}

/// Writes documents of stored answers.
#[async_trait]
pub trait Reports: Send + Sync {
    /// Progress is 0 to 1, with a word for people.
    async fn report(
        &self,
        wanted: ReportWanted,
        progress: &(dyn for<'m> Fn(f64, &'m str) + Send + Sync),
    ) -> Result<ReportFile, ReportRefusal>;
}

/// A database of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ConnectionInfo {
    #[schema(example = "erp")]
    pub name: String,
    pub description: String,
}

/// A model that somebody wants to use.
#[derive(Clone)]
pub struct ModelSetup {
    /// `provider:model`
    pub model: String,
    pub api_key: Option<String>,
    pub base_url: Option<String>,
}

/// Where a model was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedModel {
    pub file: String,
    /// The model that the environment names instead.
    pub overridden_by: Option<String>,
}

/// What can be tried and set up while the server runs. Words of errors are for people, without secrets.
#[async_trait]
pub trait Setup: Send + Sync {
    fn connections(&self) -> Vec<ConnectionInfo>;

    async fn test_connection(&self, name: &str) -> Result<String, ErrorInfo>;

    async fn test_model(&self, wanted: &ModelSetup) -> Result<String, ErrorInfo>;

    /// For the next start.
    async fn save_model(&self, wanted: &ModelSetup) -> Result<SavedModel, String>;
}

/// Keeps something of a conversation outside the store, e.g. Python's variables.
#[async_trait]
pub trait Keeper: Send + Sync {
    /// The conversation is being deleted. What is not there is no failure.
    async fn forget(&self, conversation: &ConversationId);
}

/// Something that must work before the server calls itself ready.
#[async_trait]
pub trait Check: Send + Sync {
    fn name(&self) -> &'static str;

    async fn check(&self) -> Result<String, String>;
}

/// A sample data set people can load with one click.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SampleInfo {
    #[schema(example = "retail")]
    pub name: String,
    #[schema(example = "零售销售数据")]
    pub title: String,
    #[serde(default)]
    pub description: String,
    /// `zh` or `en`, of its columns and questions; for everyone when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "zh")]
    pub language: Option<String>,
    /// Questions that make sense with it.
    #[serde(default)]
    pub questions: Vec<String>,
}

/// A sample with its files on disk.
#[derive(Debug, Clone)]
pub struct Sample {
    pub info: SampleInfo,
    pub files: Vec<std::path::PathBuf>,
}

/// Everything the server is given.
pub struct Deps {
    pub store: ba_store::Store,
    pub agent: Agent,
    /// The one the agent publishes to.
    pub bus: EventBus,
    pub ingest: Option<Arc<dyn Ingest>>,
    pub reports: Option<Arc<dyn Reports>>,
    pub setup: Option<Arc<dyn Setup>>,
    pub checks: Vec<Arc<dyn Check>>,
    pub skills: Option<Arc<ba_skills::SkillLibrary>>,
    pub samples: Vec<Sample>,
    /// Told when a conversation is deleted.
    pub keepers: Vec<Arc<dyn Keeper>>,
    /// JSONL logs of conversations, for exports; they go with their conversation.
    pub log_dir: Option<std::path::PathBuf>,
}
