//! A whole server for tests: real store in a temporary folder, real agent, a model that follows simple rules,
//! one harmless tool. Each test has its own.

use std::net::SocketAddr;
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
use ba_server::{AppState, Deps, EventBus, ServerConfig, serve};
use ba_store::{Store, StoreConfig};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

/// Answers by the words in the question, so that any number of runs can go on at once.
pub struct RuleModel {
    info: ModelInfo,
}

/// Lets the one test that asks for "chatter on cue" begin when its reader listens.
pub static CUE: tokio::sync::Notify = tokio::sync::Notify::const_new();

impl RuleModel {
    pub fn new() -> Self {
        let info = ModelInfo { name: "test:rules".into(), window: 100_000, offline: false, prices: None };
        Self { info }
    }
}

fn complete(content: &str) -> String {
    json!({"task_analysis": "想一想", "execution_plan": "R1: 查询; R2: 报告(当前)", "current_round": 2,
        "action": {"type": "complete", "content": content, "recommended_questions": ["还有呢？"]}})
    .to_string()
}

#[async_trait]
impl Model for RuleModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        on_delta: OnDelta<'_>,
    ) -> Result<ModelReply, ModelError> {
        let last = request.messages.last().map(ba_protocol::Message::wire_text).unwrap_or_default();
        let text = if last.contains("<tool_result") {
            complete("完成：42")
        } else if last.contains("use the tool") || last.contains("slow tool") {
            let seconds = if last.contains("slow tool") { 60 } else { 0 };
            json!({"task_analysis": "需要工具", "execution_plan": "R1: 查询(当前); R2: 报告", "current_round": 1, "action": {"type": "tool_call",
                "content": [{"tool_name": "probe", "tool_call_id": "call_1", "arguments": {"seconds": seconds}}]}})
            .to_string()
        } else if last.contains("never answer") {
            std::future::pending::<()>().await;
            String::new()
        } else if last.contains("chatter") {
            if last.contains("on cue") {
                CUE.notified().await;
            }
            (0..3_000).for_each(|_| on_delta(&"x".repeat(10_000)));
            complete("说完了")
        } else if last.contains("fail") {
            return Err(ModelError::Unauthorized { status: 401 });
        } else if last.contains("write code") {
            complete("看：\n\n```python\nimport pandas as pd\nprint(1)\n```\n\n完")
        } else {
            complete(&format!("你问的是：{last}"))
        };
        for piece in text.as_bytes().chunks(40) {
            on_delta(&String::from_utf8_lossy(piece));
        }
        Ok(ModelReply { text, thinking: None, usage: None, stop: StopReason::End })
    }
}

struct Probe(ToolSpec);

#[async_trait]
impl Tool for Probe {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn plan(&self, _: &Map<String, Value>) -> CallPlan {
        CallPlan { effects: Effects::None, timeout: Duration::from_secs(120), retry_network: false }
    }

    async fn call(&self, ctx: &ToolContext, arguments: Map<String, Value>) -> Result<ToolOutput, ToolError> {
        ctx.progress.report(Some(0.5), "halfway");
        tokio::time::sleep(Duration::from_secs(arguments["seconds"].as_u64().unwrap_or(0))).await;
        Ok(ToolOutput::text("Found 1 item", "42"))
    }
}

struct NoData;

#[async_trait]
impl ToolData for NoData {
    async fn keep(&self, _: &ConversationId, _: &str, _: &str, _: &[u8], _: &str) -> Result<String, String> {
        Err("not kept".into())
    }
}

pub struct App {
    pub url: String,
    pub address: SocketAddr,
    pub client: reqwest::Client,
    pub store: Store,
    pub bus: EventBus,
    stop: Option<oneshot::Sender<()>>,
    served: tokio::task::JoinHandle<Result<(), ba_server::StartError>>,
    _dir: tempfile::TempDir,
}

pub fn agent(store: Store, bus: EventBus) -> Agent {
    let spec = ToolSpec {
        name: "probe".into(),
        version: "1.0.0".into(),
        description: "Answers 42.".into(),
        schema: json!({"type": "object", "properties": {"seconds": {"type": "integer"}}}),
        default_level: None,
    };
    Agent::new(AgentParts {
        store,
        models: Models::only(Arc::new(RuleModel::new())),
        registry: Registry::new(vec![Arc::new(Probe(spec))]).unwrap(),
        executor: Executor {
            config: ExecutorConfig::default(),
            cache: IdempotencyCache::default(),
            data: Arc::new(NoData),
        },
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

impl App {
    pub async fn start() -> Self {
        Self::start_with(ServerConfig::default(), |_| {}).await
    }

    /// `prepare` may change what the server is given.
    pub async fn start_with(config: ServerConfig, prepare: impl FnOnce(&mut Deps)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(StoreConfig::local(dir.path())).await.unwrap();
        Self::start_on(dir, store, config, prepare).await
    }

    pub async fn start_on(
        dir: tempfile::TempDir,
        store: Store,
        config: ServerConfig,
        prepare: impl FnOnce(&mut Deps),
    ) -> Self {
        let bus = EventBus::new();
        let agent = agent(store.clone(), bus.clone());
        let mut deps = Deps {
            store: store.clone(),
            agent,
            bus: bus.clone(),
            ingest: None,
            reports: None,
            setup: None,
            checks: vec![],
            skills: None,
            samples: vec![],
            keepers: vec![],
            log_dir: None,
        };
        prepare(&mut deps);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let state = AppState::new(config, deps);
        let served = tokio::spawn(serve(listener, state, async move {
            let _ = stopped.await;
        }));
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let url = format!("http://{address}");
        Self { url, address, client, store, bus, stop: Some(stop), served, _dir: dir }
    }

    /// Stops like the program does, and says how it went.
    pub async fn stop(mut self) -> Result<(), ba_server::StartError> {
        let _ = self.stop.take().unwrap().send(());
        (&mut self.served).await.unwrap()
    }

    pub fn api(&self, path: &str) -> String {
        format!("{}/api/v1{path}", self.url)
    }

    pub async fn get(&self, path: &str) -> Answer {
        Answer::of(self.client.get(self.api(path)).send().await.unwrap()).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        Answer::of(self.client.post(self.api(path)).json(&body).send().await.unwrap()).await
    }

    pub async fn ask(&self, message: &str) -> Value {
        let answer = self.post("/agent/query", json!({"message": message})).await;
        assert_eq!(answer.status, 200, "{:?}", answer.body);
        answer.body["data"].clone()
    }

    pub async fn upload(&self, files: &[(&str, &[u8])], conversation: Option<&str>) -> Answer {
        let (kind, body) = multipart(files, conversation);
        let request = self.client.post(self.api("/files/upload")).header("content-type", kind).body(body);
        Answer::of(request.send().await.unwrap()).await
    }
}

/// A multipart form as a browser sends it.
pub fn multipart(files: &[(&str, &[u8])], conversation: Option<&str>) -> (String, Vec<u8>) {
    let mut body = Vec::new();
    if let Some(id) = conversation {
        body.extend_from_slice(
            format!(
                "--XBOUNDARYX\r\ncontent-disposition: form-data; name=\"conversation_id\"\r\n\r\n{id}\r\n"
            )
            .as_bytes(),
        );
    }
    for (name, bytes) in files {
        body.extend_from_slice(
            format!("--XBOUNDARYX\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\ncontent-type: application/octet-stream\r\n\r\n").as_bytes(),
        );
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--XBOUNDARYX--\r\n");
    ("multipart/form-data; boundary=XBOUNDARYX".to_owned(), body)
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: Value,
}

impl Answer {
    pub async fn of(response: reqwest::Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Self { status, headers, body }
    }

    pub fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or("")
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct SseEvent {
    pub id: Option<u64>,
    pub name: String,
    pub data: Value,
}

/// Reads a stream event by event.
pub struct Reader {
    response: reqwest::Response,
    rest: String,
}

impl Reader {
    pub fn new(response: reqwest::Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, rest: String::new() }
    }

    pub async fn next(&mut self) -> Option<SseEvent> {
        loop {
            while let Some(end) = self.rest.find("\n\n") {
                let block: String = self.rest.drain(..end + 2).collect();
                if let Some(event) = parse(&block) {
                    return Some(event);
                }
            }
            let chunk = tokio::time::timeout(Duration::from_secs(20), self.response.chunk());
            let chunk = chunk.await.expect("the stream went silent").ok()??;
            self.rest.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// Until the stream ends.
    pub async fn all(mut self) -> Vec<SseEvent> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

fn parse(block: &str) -> Option<SseEvent> {
    let field = |name: &str| {
        let prefix = format!("{name}: ");
        block.lines().find_map(|line| line.strip_prefix(&prefix).map(str::to_owned))
    };
    let data = field("data")?;
    Some(SseEvent {
        id: field("id").map(|id| id.parse().unwrap()),
        name: field("event").unwrap_or_default(),
        data: serde_json::from_str(&data).unwrap_or(Value::String(data)),
    })
}

pub fn durable(events: &[SseEvent]) -> Vec<SseEvent> {
    events.iter().filter(|event| event.id.is_some()).cloned().collect()
}
