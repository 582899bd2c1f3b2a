//! A run that activates a skill, a nested one and a resource, is narrowed by them, survives a restart inside them,
//! and leaves none behind (SPEC S2–S5, T6).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ba_agent::log::ConversationLog;
use ba_agent::metrics::Metrics;
use ba_agent::pipeline::{Counter, Executor, ExecutorConfig, IdempotencyCache};
use ba_agent::run::Limits;
use ba_agent::{
    Agent, AgentParts, Effects, Models, NoSink, Registry, Skills, ToolContext, ToolError, ToolOutput, Typed,
    TypedTool,
};
use ba_model::{ModelInfo, ModelRequest, ScriptedModel, ScriptedReply};
use ba_protocol::api::QueryRequest;
use ba_protocol::{OutputLevel, RunEvent, RunId, UserId};
use ba_skills::{LibraryConfig, SkillLibrary};
use ba_store::{EventScope, Store, StoreConfig};
use ba_tools::ActivateSkill;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Says which skill files it was given.
struct Echo<const PYTHON: bool>;

#[derive(Deserialize, JsonSchema)]
struct EchoArgs {
    text: String,
}

macro_rules! echo {
    ($python:literal, $name:literal) => {
        #[async_trait]
        impl TypedTool for Echo<$python> {
            type Args = EchoArgs;
            const NAME: &'static str = $name;
            fn description(&self) -> String {
                "echo".into()
            }
            fn effects(&self, _: &EchoArgs) -> Effects {
                Effects::Changes
            }
            async fn run(&self, ctx: &ToolContext, args: EchoArgs) -> Result<ToolOutput, ToolError> {
                let files: Vec<&str> = ctx.skill_files.iter().map(|(name, _)| name.as_str()).collect();
                Ok(ToolOutput::text(format!("{} {files:?}", args.text), ""))
            }
        }
    };
}
echo!(true, "run_python");
echo!(false, "web_search");

fn write_skill(dir: &Path, name: &str, front: &str, body: &str) {
    let folder = dir.join("shipped").join(name);
    std::fs::create_dir_all(folder.join("scripts")).unwrap();
    std::fs::create_dir_all(folder.join("references")).unwrap();
    let text = format!("---\nname: {name}\ndescription: About {name}\n{front}\n---\n{body}\n");
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
    std::fs::write(folder.join("scripts/go.py"), "x = 1\n").unwrap();
    std::fs::write(folder.join("references/more.md"), format!("more of {name}\n")).unwrap();
}

/// An agent with these tools, and the usual settings otherwise.
pub fn agent_of(
    store: &Store,
    models: Models,
    registry: Registry,
    skills: Skills,
    counter: Counter,
) -> Agent {
    Agent::new(AgentParts {
        store: store.clone(),
        models,
        registry,
        executor: Executor {
            config: ExecutorConfig::default(),
            cache: IdempotencyCache::default(),
            data: Arc::new(store.clone()),
        },
        sink: Arc::new(NoSink),
        system_prompt: "PROMPT".into(),
        limits: Limits::default(),
        default_level: OutputLevel::Standard,
        counter,
        metrics: Metrics::default(),
        log: ConversationLog::off(),
        skills,
        audit: Default::default(),
        witness: None,
    })
}

struct Place {
    dir: tempfile::TempDir,
    store: Store,
}

impl Place {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        write_skill(
            dir.path(),
            "outer",
            "allowed-tools: run_python\nmodel: scripted:small\nmetadata:\n  max-tokens: 900",
            "# Outer\nActivate inner.",
        );
        write_skill(dir.path(), "inner", "metadata:\n  max-tokens: 500", "# Inner");
        std::fs::create_dir_all(dir.path().join("data")).unwrap();
        std::fs::write(dir.path().join("data/BUSINESS.md"), "财年从 4 月开始").unwrap();
        let store = Store::open(StoreConfig::local(dir.path().join("data"))).await.unwrap();
        Self { dir, store }
    }

    fn agent(&self, model: &Arc<ScriptedModel>, small: Option<&Arc<ScriptedModel>>) -> Agent {
        let library = Arc::new(
            SkillLibrary::open(LibraryConfig {
                shipped: Some(self.dir.path().join("shipped")),
                data_dir: self.dir.path().join("data"),
                folders: vec![],
                limits: ba_skills::Limits::default(),
            })
            .unwrap(),
        );
        let counter: Counter = Arc::new(|text: &str| text.chars().count() / 3);
        let registry = Registry::new(vec![
            Arc::new(Typed::new(Echo::<true>)),
            Arc::new(Typed::new(Echo::<false>)),
            Arc::new(Typed::new(ActivateSkill::new(library.clone(), counter.clone()))),
        ])
        .unwrap();
        let named = small.map(|m| ("small".to_owned(), m.clone() as Arc<dyn ba_model::Model>));
        let models = Models { default: model.clone(), summary: None, named: named.into_iter().collect() };
        agent_of(&self.store, models, registry, Skills::new(library, self.dir.path().join("data")), counter)
    }

    /// The skill chain each turn's answer names.
    async fn chains(&self, run: &RunId) -> Vec<Vec<String>> {
        let events = self.store.events_after(EventScope::Run(run), 0, 1000).await.unwrap();
        let answers = events.into_iter().filter_map(|event| match event.event {
            RunEvent::Turn(answer) | RunEvent::Report(answer) => Some(answer.metadata.skill_chain),
            _ => None,
        });
        answers.collect()
    }

    async fn state_of(&self, run: &RunId) -> Value {
        self.store.run(&UserId::local(), run).await.unwrap().state
    }
}

pub fn model(replies: Vec<ScriptedReply>) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new(replies))
}

pub fn calls(calls: Value) -> ScriptedReply {
    let calls: Vec<Value> = calls
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .map(|(n, c)| json!({"tool_name": c[0], "tool_call_id": format!("call_{n}"), "arguments": c[1]}))
        .collect();
    let turn = json!({"task_analysis": "t", "execution_plan": "R1: x", "current_round": 1, "action": {"type": "tool_call", "content": calls}});
    ScriptedReply::text(turn.to_string())
}

pub fn complete() -> ScriptedReply {
    let turn = json!({"task_analysis": "t", "execution_plan": "R1: x", "current_round": 1, "action": {"type": "complete", "content": "好"}});
    ScriptedReply::text(turn.to_string())
}

fn question() -> QueryRequest {
    serde_json::from_value(json!({"message": "看看"})).unwrap()
}

/// The last message of a request, with hashes made the same.
fn last(request: &ModelRequest) -> String {
    let text = request.messages.last().unwrap().wire_text();
    let mut out = String::new();
    for (n, part) in text.split("hash=\"blake3:").enumerate() {
        out.push_str(if n == 0 { part } else { part.split_once('"').map_or(part, |(_, rest)| rest) });
    }
    out
}

async fn finished(agent: &Agent) -> RunId {
    let admitted = agent.admit(&UserId::local(), question()).await.unwrap();
    agent.wait(&UserId::local(), &admitted.run_id).await.unwrap();
    admitted.run_id
}

#[tokio::test]
async fn a_skill_a_nested_one_and_a_resource() {
    let place = Place::new().await;
    let model = model(vec![
        calls(json!([["activate_skill", {"skill_name": "outer"}]])),
        calls(
            json!([["activate_skill", {"skill_name": "inner"}], ["activate_skill", {"skill_name": "inner", "resource": "references/more.md"}], ["web_search", {"text": "no"}]]),
        ),
        calls(json!([["activate_skill", {"skill_name": "outer"}], ["run_python", {"text": "inside"}]])),
        calls(
            json!([["activate_skill", {"skill_name": "done"}], ["activate_skill", {"skill_name": "done"}]]),
        ),
        calls(json!([["web_search", {"text": "free"}], ["run_python", {"text": "outside"}]])),
        complete(),
    ]);
    let run = finished(&place.agent(&model, None)).await;
    let first = model.request(0).unwrap();
    insta::assert_snapshot!("system_prompt", first.messages[0].wire_text());
    for n in 1..6 {
        insta::assert_snapshot!(format!("request_{n}"), last(&model.request(n).unwrap()));
    }
    let limits: Vec<Option<u32>> = model.requests().iter().map(|r| r.max_tokens).collect();
    assert_eq!(limits, [None, Some(900), Some(500), Some(500), None, None]);
    let prefix: Vec<String> = model.requests().iter().map(|r| r.messages[0].wire_text()).collect();
    assert!(prefix.iter().all(|p| *p == prefix[0]), "the cached prefix never changes");
    assert_eq!(place.state_of(&run).await["skills"]["frames"], json!([]));
    let none: &[&str] = &[];
    assert_eq!(
        place.chains(&run).await,
        [none, &["outer"], &["outer", "inner"], &["outer", "inner"], none, none]
    );
}

#[tokio::test]
async fn a_skill_may_change_the_model_while_it_is_active() {
    let place = Place::new().await;
    let big = model(vec![calls(json!([["activate_skill", {"skill_name": "outer"}]])), complete()]);
    let info = ModelInfo { name: "scripted:small".into(), window: 128_000, offline: false, prices: None };
    let script = vec![calls(json!([["activate_skill", {"skill_name": "done"}]]))];
    let small = Arc::new(ScriptedModel::new(script).with_info(info));
    finished(&place.agent(&big, Some(&small))).await;
    assert_eq!((big.requests().len(), small.requests().len()), (2, 1));
    assert!(last(&small.request(0).unwrap()).contains("# Outer"));
}

#[tokio::test]
async fn a_crash_inside_a_skill_resumes_inside_it() {
    let place = Place::new().await;
    let stuck = complete().after(Duration::from_secs(3600));
    let before = model(vec![calls(json!([["activate_skill", {"skill_name": "outer"}]])), stuck]);
    let agent = place.agent(&before, None);
    let admitted = agent.admit(&UserId::local(), question()).await.unwrap();
    while before.requests().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    agent.shutdown(Duration::ZERO).await;
    let saved = place.state_of(&admitted.run_id).await;
    assert_eq!(saved["skills"]["frames"][0]["skill_name"], "outer");

    let after = model(vec![
        calls(json!([["web_search", {"text": "no"}], ["run_python", {"text": "yes"}]])),
        complete(),
    ]);
    let agent = place.agent(&after, None);
    assert_eq!(agent.resume_open_runs().await.unwrap(), 1);
    agent.wait(&UserId::local(), &admitted.run_id).await.unwrap();
    assert!(last(&after.request(0).unwrap()).contains("# Outer"), "the instructions are still there");
    let answered = last(&after.request(1).unwrap());
    assert!(answered.contains("TOOL_NOT_ALLOWED"), "{answered}");
    assert!(answered.contains("yes [\"outer__go.py\"]"), "{answered}");
    assert_eq!(place.state_of(&admitted.run_id).await["skills"]["frames"], json!([]));
}

#[tokio::test]
async fn cancelling_and_failing_leave_no_skill_behind() {
    let place = Place::new().await;
    let stuck = complete().after(Duration::from_secs(3600));
    let slow = model(vec![calls(json!([["activate_skill", {"skill_name": "outer"}]])), stuck]);
    let agent = place.agent(&slow, None);
    let admitted = agent.admit(&UserId::local(), question()).await.unwrap();
    while slow.requests().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(agent.cancel(&admitted.run_id).await.unwrap());
    assert!(agent.wait(&UserId::local(), &admitted.run_id).await.is_err());
    assert_eq!(place.state_of(&admitted.run_id).await["skills"]["frames"], json!([]));

    // The script ends early, so the model fails inside the skill.
    let failing = model(vec![calls(json!([["activate_skill", {"skill_name": "outer"}]]))]);
    let agent = place.agent(&failing, None);
    let admitted = agent.admit(&UserId::local(), question()).await.unwrap();
    assert!(agent.wait(&UserId::local(), &admitted.run_id).await.is_err());
    assert_eq!(place.state_of(&admitted.run_id).await["skills"]["frames"], json!([]));
}
