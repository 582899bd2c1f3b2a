//! What the store takes and gives back, beside the types of `ba-protocol`. Data only.

use ba_protocol::api::UsageInfo;
use ba_protocol::{ConversationId, RunEvent, RunId, ToolResult, ToolTelemetry, Turn, UploadId, UserId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    pub id: ConversationId,
    pub owner: UserId,
    pub title: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    Running,
    Complete,
    Failed,
    Cancelled,
}

impl RunStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn is_open(self) -> bool {
        self == Self::Running
    }
}

impl std::str::FromStr for RunStatus {
    type Err = crate::StoreError;
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        match s {
            "running" => Ok(Self::Running),
            "complete" => Ok(Self::Complete),
            "failed" => Ok(Self::Failed),
            "cancelled" => Ok(Self::Cancelled),
            other => Err(crate::StoreError::Corrupt(format!("unknown run status `{other}`"))),
        }
    }
}

/// The run machine's state as JSON: opaque here, and written only once on its way to the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedState(String);

impl SavedState {
    pub fn of(state: &impl Serialize) -> Self {
        Self(serde_json::to_string(state).unwrap_or_else(|_| "null".to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Value> for SavedState {
    fn from(state: Value) -> Self {
        Self(state.to_string())
    }
}

/// A message to be acknowledged: durable once `admit` returns.
#[derive(Debug, Clone)]
pub struct NewRun {
    pub run_id: RunId,
    pub conversation_id: ConversationId,
    pub owner: UserId,
    pub message: String,
    /// The uploads that came with it.
    pub file_ids: Vec<UploadId>,
    /// The run machine's first state.
    pub state: SavedState,
    pub created_at: Timestamp,
    /// Who drives it; nobody yet when absent.
    pub holder: Option<crate::Holder>,
    /// The turn it is another version of.
    pub replaces: Option<Replaced>,
    /// `provider:model` it is asked of.
    pub model: String,
}

/// A turn that is asked again: its first run, and its place in the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    pub turn: RunId,
    /// Rounds before this position are what the new version sees.
    pub base: u64,
}

/// A run of a turn that has several versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub run_id: RunId,
    /// The first run of the turn.
    pub turn_id: RunId,
    /// Another version counts instead.
    pub superseded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rating {
    Up,
    Down,
}

impl Rating {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

/// What somebody thought of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    pub run_id: RunId,
    pub rating: Rating,
    pub reason: String,
    pub at: Timestamp,
}

/// The same with what it was about, for reading through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedbackEntry {
    pub feedback: Feedback,
    pub conversation_id: ConversationId,
    pub owner: UserId,
    pub question: String,
    pub model: String,
}

/// What a list shows of a conversation beside its title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationMarks {
    pub id: ConversationId,
    pub pinned: bool,
    pub tags: Vec<String>,
    /// Being answered.
    pub running: bool,
}

/// A table or chart of an answer, to be kept in sight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBoardItem {
    pub run_id: RunId,
    /// `chart`, `table` or `answer`.
    pub kind: String,
    /// Which of its kind in the answer, from 0.
    pub item: u32,
    pub title: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardItem {
    pub id: String,
    pub conversation_id: ConversationId,
    pub run_id: RunId,
    pub kind: String,
    pub item: u32,
    pub title: String,
    pub created_at: Timestamp,
}

/// What somebody did, once or so many times in a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// The last time.
    pub at: Timestamp,
    pub first_at: Timestamp,
    pub times: u64,
    /// A name; empty where anybody may.
    pub actor: String,
    pub action: String,
    pub subject: String,
}

/// What one person's runs came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelUsage {
    pub model: String,
    pub runs: u64,
    pub usage: UsageInfo,
    /// Milliseconds, of runs that have ended.
    pub durations: Vec<f64>,
}

/// One step of the run machine: all of it is committed, or none.
#[derive(Debug, Clone)]
pub struct StepCommit {
    /// Under which it is driven (SPEC N1); 0 for one that is not fenced.
    pub epoch: u64,
    /// Which commit of the run it is, from 1: one that is sent again after a lost answer is kept once. 0 for one that
    /// is not counted.
    pub number: u64,
    /// As it was, when absent.
    pub state: Option<SavedState>,
    pub status: RunStatus,
    /// Durable events only; passing ones are refused.
    pub events: Vec<RunEvent>,
    /// The finished turn, appended to the conversation's history.
    pub turn: Option<Turn>,
    /// Usage of the run so far; replaces what was stored.
    pub usage: UsageInfo,
    /// Recorded in the same transaction, before the tools run.
    pub intents: Vec<ToolIntent>,
    /// Recorded in the same transaction.
    pub outcomes: Vec<ToolOutcome>,
}

impl StepCommit {
    /// A step that only moves the state on.
    pub fn new(state: impl Into<SavedState>, status: RunStatus) -> Self {
        Self { state: Some(state.into()), status, ..Self::going_on() }
    }

    /// A step that only adds to what is stored.
    pub fn going_on() -> Self {
        Self {
            epoch: 0,
            number: 0,
            state: None,
            status: RunStatus::Running,
            events: Vec::new(),
            turn: None,
            usage: UsageInfo::default(),
            intents: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// This step and the one after it as one: the later state holds, what each adds is kept in order.
    pub fn and_then(mut self, later: Self) -> Self {
        self.events.extend(later.events);
        self.intents.extend(later.intents);
        self.outcomes.extend(later.outcomes);
        let turn = later.turn.or(self.turn);
        let state = later.state.or(self.state);
        Self { state, turn, events: self.events, intents: self.intents, outcomes: self.outcomes, ..later }
    }
}

/// That a tool is about to run. `step` tells apart calls of different turns that share an id.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolIntent {
    pub step: u32,
    pub tool_call_id: String,
    pub tool_name: String,
    pub arguments: Map<String, Value>,
    /// Whether running it twice does no harm.
    pub idempotent: bool,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    pub step: u32,
    pub result: ToolResult,
    pub telemetry: Option<ToolTelemetry>,
    /// What figures may be proven by, as JSON; opaque here.
    pub evidence: Option<String>,
}

/// What a call of a run left as evidence, as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallEvidence {
    pub run_id: RunId,
    pub tool_call_id: String,
    pub evidence: String,
}

/// A call of a run. Without a result it was in flight when the process ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    pub intent: ToolIntent,
    pub started_at: Timestamp,
    pub result: Option<ToolResult>,
    pub telemetry: Option<ToolTelemetry>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    pub id: RunId,
    pub conversation_id: ConversationId,
    pub owner: UserId,
    pub message: String,
    pub state: Value,
    pub status: RunStatus,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub usage: UsageInfo,
    /// Raised whenever another takes it over.
    pub epoch: u64,
    /// Numbered commits so far.
    pub commits: u64,
}

impl RunRecord {
    pub fn summary(self) -> RunSummary {
        RunSummary {
            id: self.id,
            conversation_id: self.conversation_id,
            message: self.message,
            status: self.status,
            created_at: self.created_at,
            updated_at: self.updated_at,
            usage: self.usage,
        }
    }
}

/// A run as lists show it: without the machine's state, which can be large.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    pub id: RunId,
    pub conversation_id: ConversationId,
    pub message: String,
    pub status: RunStatus,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub usage: UsageInfo,
}

/// Whose events are read.
#[derive(Debug, Clone, Copy)]
pub enum EventScope<'a> {
    Conversation(&'a ConversationId),
    Run(&'a RunId),
}

/// Which telemetry is read.
#[derive(Debug, Clone, Copy)]
pub enum TelemetryScope<'a> {
    All,
    Since(Timestamp),
    Conversation(&'a ConversationId),
    /// Of one person's conversations.
    Owner(&'a UserId),
}

#[derive(Debug, Clone, PartialEq)]
pub struct TelemetryRow {
    pub conversation_id: ConversationId,
    pub run_id: RunId,
    pub tool_call_id: String,
    pub telemetry: ToolTelemetry,
}

/// Code to keep (SPEC C). `code_id` is whatever the model called it.
#[derive(Debug, Clone)]
pub struct NewCode {
    pub code_id: String,
    pub code: String,
    pub language: String,
    pub description: String,
}

/// Saved code, and what the user should hear about it (SPEC C3).
#[derive(Debug, Clone, PartialEq)]
pub struct SavedCodeFile {
    pub file: ba_protocol::CodeFile,
    pub warning: Option<String>,
}

/// Data a tool produced that does not fit an observation (SPEC E4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolData {
    /// `tool_data/…`, what the observation names.
    pub reference: String,
    pub conversation_id: ConversationId,
    pub tool_call_id: String,
    pub size: u64,
    pub summary: String,
    pub created_at: Timestamp,
    pub last_used_at: Timestamp,
}

/// Why cleanup chose a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CleanupReason {
    Age,
    TotalSize,
}

/// What cleanup removed, or would remove.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleanupReport {
    /// Reference, bytes, reason.
    pub removed: Vec<(String, u64, CleanupReason)>,
    /// Named by a live conversation, so kept although due.
    pub kept_live: Vec<String>,
    pub purged_conversations: Vec<ConversationId>,
    /// Files on disk that nothing refers to.
    pub orphans: u64,
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UserRole {
    Admin,
    User,
}

impl UserRole {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::User => "user",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    pub name: String,
    /// Whatever the authentication layer made; the store never sees a password.
    pub password_hash: String,
    pub role: UserRole,
    pub created_at: Timestamp,
    pub disabled: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// `key_<12 hex>`: names the key in lists; it is not the secret.
    pub id: String,
    pub user: UserId,
    pub label: String,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    pub revoked: bool,
}
