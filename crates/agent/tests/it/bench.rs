//! An agent on a real store in a temporary folder, with a scripted model and two small real tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ba_agent::log::{ConversationLog, Redactor};
use ba_agent::metrics::Metrics;
use ba_agent::pipeline::{Counter, Executor, ExecutorConfig, IdempotencyCache};
use ba_agent::prompt::PromptTemplate;
use ba_agent::run::Limits;
use ba_agent::{
    Agent, AgentParts, Body, Column, Effects, EventSink, Models, Registry, Skills, ToolContext, ToolError,
    ToolOutput, Typed, TypedTool, Witness,
};
use ba_model::{Model, ScriptedModel};
use ba_protocol::api::QueryRequest;
use ba_protocol::audit::AuditMode;
use ba_protocol::{ConversationId, DataNote, Event, OutputLevel, RunEvent, RunId, UserId};
use ba_store::{Store, StoreConfig};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// A question with this in it meets a panic while its context is built.
pub const BREAKS: &str = "💥";

/// Adds numbers: harmless.
pub struct Adder;

#[derive(Deserialize, JsonSchema)]
pub struct AdderArgs {
    /// 要相加的数。
    pub numbers: Vec<i64>,
}

#[async_trait]
impl TypedTool for Adder {
    type Args = AdderArgs;
    const NAME: &'static str = "add";

    fn description(&self) -> String {
        "求和。".to_owned()
    }

    fn effects(&self, _: &AdderArgs) -> Effects {
        Effects::None
    }

    async fn run(&self, _: &ToolContext, args: AdderArgs) -> Result<ToolOutput, ToolError> {
        let sum: i64 = args.numbers.iter().sum();
        let columns = vec![Column::new("sum", "BIGINT")];
        Ok(ToolOutput::new("1 row", Body::Table { columns, rows: vec![vec![json!(sum)]], total_rows: None }))
    }
}

/// A small table of sales.
pub struct Sales;

#[derive(Deserialize, JsonSchema)]
pub struct SalesArgs {}

#[async_trait]
impl TypedTool for Sales {
    type Args = SalesArgs;
    const NAME: &'static str = "sales";

    fn description(&self) -> String {
        "各地区销售额。".to_owned()
    }

    fn effects(&self, _: &SalesArgs) -> Effects {
        Effects::None
    }

    async fn run(&self, _: &ToolContext, _: SalesArgs) -> Result<ToolOutput, ToolError> {
        let columns = vec![Column::new("地区", "VARCHAR"), Column::new("销售额", "BIGINT")];
        let rows = [("华东", 150_600), ("华南", 87_300), ("华北", 64_250), ("西南", 41_870)];
        let rows = rows.map(|(region, sum)| vec![json!(region), json!(sum)]).to_vec();
        Ok(ToolOutput::new("4 rows × 2 columns", Body::Table { columns, rows, total_rows: None }))
    }
}

/// Counts how often it really ran, and can take its time.
pub struct Effect {
    pub ran: Arc<AtomicU32>,
    pub takes: Duration,
}

#[derive(Deserialize, JsonSchema)]
pub struct EffectArgs {}

#[async_trait]
impl TypedTool for Effect {
    type Args = EffectArgs;
    const NAME: &'static str = "effect";

    fn description(&self) -> String {
        "有副作用。".to_owned()
    }

    fn effects(&self, _: &EffectArgs) -> Effects {
        Effects::Changes
    }

    async fn run(&self, _: &ToolContext, _: EffectArgs) -> Result<ToolOutput, ToolError> {
        self.ran.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(self.takes).await;
        let mut output = ToolOutput::text("done", "done");
        output.data_notes = vec![doubt()];
        Ok(output)
    }
}

/// What the tool with effects says about its data.
pub fn doubt() -> DataNote {
    let note = json!({"file_id": "upload_001", "table": "sales", "code": "unit_mixed", "level": "warn",
        "text": "units are mixed", "column": "金额", "values": {"units": ["元", "万元"]}});
    serde_json::from_value(note).unwrap()
}

#[derive(Default)]
pub struct Heard(pub Mutex<Vec<RunEvent>>);

impl EventSink for Heard {
    fn publish(&self, event: &Event) {
        self.0.lock().push(event.event.clone());
    }

    fn passing(&self, _: &RunId, event: RunEvent) {
        self.0.lock().push(event);
    }
}

/// What a bench may have other than usual.
struct Setup {
    folder: Arc<tempfile::TempDir>,
    /// How long the tool with effects takes.
    takes: Duration,
    log: ConversationLog,
    audit: AuditMode,
    summary: Option<Arc<ScriptedModel>>,
    witness: Option<Arc<dyn Witness>>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            folder: Arc::new(tempfile::tempdir().unwrap()),
            takes: Duration::ZERO,
            log: ConversationLog::off(),
            audit: AuditMode::Gate,
            summary: None,
            witness: None,
        }
    }
}

pub struct Bench {
    pub agent: Agent,
    pub store: Store,
    pub model: Arc<ScriptedModel>,
    pub heard: Arc<Heard>,
    pub ran: Arc<AtomicU32>,
    pub owner: UserId,
    pub folder: Arc<tempfile::TempDir>,
}

impl Bench {
    pub async fn new(model: ScriptedModel) -> Self {
        Self::in_folder(Arc::new(tempfile::tempdir().unwrap()), model, Duration::ZERO).await
    }

    /// With a conversation log in `logs/`, these secrets masked.
    pub async fn with_log(model: ScriptedModel, secrets: &[&str]) -> Self {
        let setup = Setup::default();
        let redactor = Redactor::new(secrets.iter().map(|s| (*s).to_owned()));
        let log = ConversationLog::start(&setup.folder.path().join("logs"), 1 << 20, redactor);
        Self::build(model, Setup { log, ..setup }).await
    }

    /// With somebody who computes headline figures apart from the model.
    pub async fn with_witness(model: ScriptedModel, witness: impl Witness + 'static) -> Self {
        Self::build(model, Setup { witness: Some(Arc::new(witness)), ..Setup::default() }).await
    }

    pub async fn in_folder(folder: Arc<tempfile::TempDir>, model: ScriptedModel, takes: Duration) -> Self {
        Self::build(model, Setup { folder, takes, ..Setup::default() }).await
    }

    /// With another way to treat figures that nothing proves.
    pub async fn with_audit(model: ScriptedModel, audit: AuditMode) -> Self {
        Self::build(model, Setup { audit, ..Setup::default() }).await
    }

    /// With a model of its own for summaries.
    pub async fn with_summaries(model: ScriptedModel, summary: Arc<ScriptedModel>) -> Self {
        let setup = Setup { audit: AuditMode::Off, summary: Some(summary), ..Setup::default() };
        Self::build(model, setup).await
    }

    async fn build(model: ScriptedModel, setup: Setup) -> Self {
        let Setup { folder, takes, log, audit, summary, witness } = setup;
        let store = Store::open(StoreConfig::local(folder.path())).await.unwrap();
        let (model, heard, ran) = (Arc::new(model), Arc::new(Heard::default()), Arc::new(AtomicU32::new(0)));
        let registry = Registry::new(vec![
            Arc::new(Typed::new(Adder)),
            Arc::new(Typed::new(Effect { ran: ran.clone(), takes })),
            Arc::new(Typed::new(Sales)),
        ])
        .unwrap();
        let counter: Counter = Arc::new(|text: &str| {
            assert!(!text.contains(BREAKS), "a defect outside every tool");
            text.len().div_ceil(4)
        });
        let parts = AgentParts {
            system_prompt: PromptTemplate::embedded().unwrap().render(&registry, &[]),
            store: store.clone(),
            models: Models { summary: summary.map(|m| m as Arc<dyn Model>), ..Models::only(model.clone()) },
            registry,
            executor: Executor {
                config: ExecutorConfig::default(),
                cache: IdempotencyCache::default(),
                data: Arc::new(store.clone()),
            },
            sink: heard.clone(),
            limits: Limits { max_rounds: 6, ..Limits::default() },
            default_level: OutputLevel::Standard,
            counter,
            metrics: Metrics::default(),
            log,
            skills: Skills::none(),
            audit,
            witness,
        };
        let agent = Agent::new(parts);
        Self { agent, store, model, heard, ran, owner: UserId::local(), folder }
    }

    pub async fn ask(&self, message: &str, conversation: Option<&ConversationId>) -> ba_agent::Admitted {
        self.agent.admit(&self.owner, query(message, conversation)).await.unwrap()
    }
}

pub fn query(message: &str, conversation: Option<&ConversationId>) -> QueryRequest {
    QueryRequest {
        message: message.to_owned(),
        conversation_id: conversation.cloned(),
        file_ids: vec![],
        model: None,
        output_level: None,
        replaces: None,
    }
}

pub fn call(tool: &str, arguments: serde_json::Value) -> String {
    json!({"task_analysis": "先计算", "execution_plan": "R1: 计算(当前); R2: 回答", "current_round": 1,
           "action": {"type": "tool_call", "content": [
               {"tool_name": tool, "tool_call_id": "call_1", "arguments": arguments}]}})
    .to_string()
}

pub fn complete(content: &str) -> String {
    json!({"task_analysis": "完成", "execution_plan": "R1: 计算; R2: 回答(当前)", "current_round": 2,
           "action": {"type": "complete", "content": content, "recommended_questions": ["还有呢？"]}})
    .to_string()
}
