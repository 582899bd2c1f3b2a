//! The server under test: real store on disk, real agent, a model that answers at once, one SQLite tool.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ba_agent::log::ConversationLog;
use ba_agent::metrics::Metrics;
use ba_agent::pipeline::{Executor, ExecutorConfig, IdempotencyCache, ToolData};
use ba_agent::run::Limits;
use ba_agent::{
    Agent, AgentParts, CallPlan, Effects, Models, Registry, Skills, Tool, ToolContext, ToolError, ToolOutput,
    ToolSpec,
};
use ba_model::{Model, ModelError, ModelInfo, ModelReply, ModelRequest, OnDelta, StopReason};
use ba_protocol::{ConversationId, OutputLevel};
use ba_server::{AppState, Deps, EventBus, ServerConfig};
use ba_store::{Store, StoreConfig};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

pub async fn serve(address: &str) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(StoreConfig::local(folder.path())).await.unwrap();
    let bus = EventBus::new();
    let agent = agent(store.clone(), bus.clone()).await;
    let deps = Deps {
        store,
        agent,
        bus,
        ingest: None,
        reports: None,
        setup: None,
        checks: vec![],
        skills: None,
        samples: vec![],
        keepers: vec![],
        log_dir: None,
    };
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    let state = AppState::new(ServerConfig::default(), deps);
    ba_server::serve(listener, state, std::future::pending()).await.unwrap();
}

async fn agent(store: Store, bus: EventBus) -> Agent {
    let spec = ToolSpec {
        name: "query_database".into(),
        version: "1.0.0".into(),
        description: "Runs a query.".into(),
        schema: json!({"type": "object", "properties": {"query": {"type": "string"}}}),
        default_level: None,
    };
    let sales = rusqlite::Connection::open_in_memory().unwrap();
    sales.execute("create table sales (region text, amount integer)", []).unwrap();
    for i in 0..1000 {
        sales.execute("insert into sales values (?, ?)", (format!("r{}", i % 7), i)).unwrap();
    }
    let sales = Mutex::new(sales);
    let executor = Executor {
        config: ExecutorConfig::default(),
        cache: IdempotencyCache::default(),
        data: Arc::new(NoData),
    };
    Agent::new(AgentParts {
        store,
        models: Models::only(Arc::new(InstantModel::new())),
        registry: Registry::new(vec![Arc::new(QueryTool { spec, sales })]).unwrap(),
        executor,
        sink: Arc::new(bus),
        system_prompt: "You are BA-Agent.".into(),
        limits: Limits::default(),
        default_level: OutputLevel::Standard,
        counter: Arc::new(|text: &str| text.len() / 4),
        metrics: Metrics::default(),
        log: ConversationLog::off(),
        skills: Skills::none(),
        audit: Default::default(),
        witness: None,
    })
}

struct InstantModel {
    info: ModelInfo,
}

impl InstantModel {
    fn new() -> Self {
        Self {
            info: ModelInfo { name: "bench:instant".into(), window: 128_000, offline: false, prices: None },
        }
    }
}

#[async_trait]
impl Model for InstantModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn complete(&self, request: &ModelRequest, _: OnDelta<'_>) -> Result<ModelReply, ModelError> {
        let last = request.messages.last().map(ba_protocol::Message::wire_text).unwrap_or_default();
        let action = if last.contains("<tool_result") {
            json!({"type": "complete", "content": "The total is as found."})
        } else {
            let query = "select region, sum(amount) from sales group by region";
            json!({"type": "tool_call", "content": [
                {"tool_name": "query_database", "tool_call_id": "call_1", "arguments": {"query": query}}
            ]})
        };
        let text = json!({"task_analysis": "", "execution_plan": "", "current_round": 1, "action": action})
            .to_string();
        Ok(ModelReply { text, thinking: None, usage: None, stop: StopReason::End })
    }
}

struct QueryTool {
    spec: ToolSpec,
    sales: Mutex<rusqlite::Connection>,
}

#[async_trait]
impl Tool for QueryTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn plan(&self, _: &Map<String, Value>) -> CallPlan {
        CallPlan { effects: Effects::None, timeout: Duration::from_secs(60), retry_network: false }
    }

    async fn call(&self, _: &ToolContext, arguments: Map<String, Value>) -> Result<ToolOutput, ToolError> {
        let sales = self.sales.lock();
        let mut query = sales.prepare_cached(arguments["query"].as_str().unwrap_or_default()).unwrap();
        let line =
            |row: &rusqlite::Row<'_>| Ok(format!("{}: {}", row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
        let lines: Vec<String> = query.query_map([], line).unwrap().map(Result::unwrap).collect();
        Ok(ToolOutput::text(format!("Found {} items", lines.len()), lines.join("\n")))
    }
}

struct NoData;

#[async_trait]
impl ToolData for NoData {
    async fn keep(&self, _: &ConversationId, _: &str, _: &str, _: &[u8], _: &str) -> Result<String, String> {
        Err("not kept".into())
    }
}
