//! Opens a fresh store per case, on each backend. Never touches anything outside its temporary folder.

use std::path::PathBuf;

use ba_protocol::api::{AgentResponse, ResponseMetadata, Status, UsageInfo};
use ba_protocol::{ConversationId, RunEvent, RunId, ToolResult, Turn, UserId};
use ba_store::{
    Blobs, Conversation, Limits, Meta, NewRun, RunStatus, StepCommit, Store, StoreConfig, ToolIntent,
    ToolOutcome,
};
use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;

/// A store and the folder it lives in.
pub struct Fresh {
    pub store: Store,
    pub config: StoreConfig,
    pub dir: TempDir,
    /// Where the bytes of blobs end up.
    bytes: PathBuf,
}

impl Fresh {
    pub async fn open(meta: Option<Meta>, limits: Limits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bytes = dir.path().join("blobs");
        Self::with(dir, bytes, meta, None, limits).await
    }

    /// Blobs in a real S3-speaking server.
    pub async fn on_s3(meta: Option<Meta>, limits: Limits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bytes = dir.path().join("s3");
        let blobs = Blobs::S3(crate::s3::serve(&bytes).await);
        Self::with(dir, bytes, meta, Some(blobs), limits).await
    }

    async fn with(
        dir: TempDir,
        bytes: PathBuf,
        meta: Option<Meta>,
        blobs: Option<Blobs>,
        limits: Limits,
    ) -> Self {
        let mut config = StoreConfig::local(dir.path());
        config.limits = limits;
        config.meta = meta.unwrap_or(config.meta);
        config.blobs = blobs.unwrap_or(config.blobs);
        let store = Store::open(config.clone()).await.unwrap();
        Self { store, config, dir, bytes }
    }

    /// A second store on the same data, as another process would open it.
    pub async fn another(&self) -> Store {
        Store::open(self.config.clone()).await.unwrap()
    }

    pub async fn conversation(&self) -> Conversation {
        self.store.create(&alice(), "t").await.unwrap()
    }

    /// Every blob, wherever the backend keeps it.
    pub fn blob_files(&self) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), vec![self.bytes.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
                let name = entry.file_name().unwrap().to_str().unwrap();
                if entry.is_dir() {
                    folders.push(entry);
                } else if name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit()) {
                    found.push(entry);
                }
            }
        }
        found
    }

    /// Files on their way in.
    pub fn temp_files(&self) -> usize {
        let folder = match self.config.blobs {
            Blobs::Disk { .. } => "blobs/tmp",
            Blobs::S3(_) => "cache/tmp",
        };
        std::fs::read_dir(self.dir.path().join(folder)).unwrap().count()
    }
}

pub fn alice() -> UserId {
    UserId::parse("alice").unwrap()
}

pub fn bob() -> UserId {
    UserId::parse("bob").unwrap()
}

pub fn new_run(conversation: &Conversation, message: &str) -> NewRun {
    NewRun {
        run_id: RunId::random(),
        conversation_id: conversation.id.clone(),
        owner: conversation.owner.clone(),
        message: message.to_owned(),
        file_ids: vec![],
        state: json!({"step": 0}).into(),
        created_at: Timestamp::now(),
        holder: None,
        replaces: None,
        model: String::new(),
    }
}

pub fn intent(step: u32, id: &str) -> ToolIntent {
    ToolIntent {
        step,
        tool_call_id: id.to_owned(),
        tool_name: "run_python".to_owned(),
        arguments: json!({"code": "1"}).as_object().unwrap().clone(),
        idempotent: false,
    }
}

pub fn outcome(step: u32, id: &str, observation: &str) -> ToolOutcome {
    let result = ToolResult::success(id, "run_python", observation);
    ToolOutcome { step, result, telemetry: None, evidence: None }
}

pub fn report(conversation: &ConversationId, run: &RunId, text: &str) -> RunEvent {
    RunEvent::Report(Box::new(AgentResponse {
        response: text.to_owned(),
        conversation_id: conversation.clone(),
        run_id: run.clone(),
        duration_ms: 1,
        tool_calls: vec![],
        artifacts: vec![],
        metadata: ResponseMetadata {
            content_type: "markdown".into(),
            has_structured_response: true,
            action_type: "complete".into(),
            current_round: 1,
            task_analysis: String::new(),
            execution_plan: String::new(),
            status: Status::Complete,
            contains_html: false,
            tool_calls: vec![],
            recommended_questions: vec![],
            needs_clarification: None,
            download_links: vec![],
            code_refs: vec![],
            file_refs: vec![],
            saved_codes: vec![],
            warnings: vec![],
            data_notes: vec![],
            witness: None,
            charts: vec![],
            audit: None,
            skill_chain: vec![],
            stop_reason: None,
            model: "offline".into(),
            offline: true,
            usage: UsageInfo::default(),
        },
    }))
}

pub fn round(run: &RunId, message: &str, answer: &str) -> Turn {
    Turn {
        run_id: run.clone(),
        user_message: message.to_owned(),
        created_at: Timestamp::now(),
        steps: vec![],
        final_answer: Some(answer.to_owned()),
        tokens_used: 7,
        audit: None,
        ending: Default::default(),
    }
}

/// The last step of a run, with its report and its round.
pub fn last_step(conversation: &ConversationId, run: &RunId, message: &str, answer: &str) -> StepCommit {
    let mut step = StepCommit::new(json!({"step": "done"}), RunStatus::Complete);
    step.events.push(report(conversation, run, answer));
    step.turn = Some(round(run, message, answer));
    step
}

/// Runs cases about bytes with these in S3 as well.
macro_rules! on_s3 {
    ($($case:ident),* $(,)?) => {
        mod s3 {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let fresh = crate::harness::Fresh::on_s3(None, super::limits()).await;
                super::$case(fresh).await;
            })*
        }
    };
}
pub(crate) use on_s3;

/// Runs each case on every database.
macro_rules! on_every_backend {
    ($($case:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let fresh = crate::harness::Fresh::open(None, super::limits()).await;
                super::$case(fresh).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let meta = crate::postgres::fresh_database().await;
                let fresh = crate::harness::Fresh::open(Some(meta), super::limits()).await;
                super::$case(fresh).await;
            })*
        }
    };
}
pub(crate) use on_every_backend;
