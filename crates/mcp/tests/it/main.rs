//! Servers that behave and servers that do not, as real programs over real pipes (SPEC I2).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use ba_agent::{Body, Tool, ToolContext, ToolError, ToolOutput};
use ba_mcp::{Reach, ServerConfig};
use ba_protocol::{ConversationId, RunId, Secret, ToolFailure, UserId};
use ba_store::{Store, StoreConfig};
use serde_json::{Value, json};

fn server(how: &str, seconds: u64) -> ServerConfig {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/server.py");
    ServerConfig {
        name: "crm".into(),
        reach: Reach::Command {
            program: "python3".into(),
            arguments: vec![script.into(), how.into()],
            environment: vec![("PATH".into(), Secret::new(env!("PATH")))],
        },
        reads: vec!["find".into(), "missing".into()],
        writes: vec!["create".into()],
        timeout: Duration::from_secs(seconds),
    }
}

struct Desk {
    _dir: tempfile::TempDir,
    store: Store,
    conversation: ConversationId,
}

impl Desk {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(StoreConfig::local(dir.path())).await.unwrap();
        let conversation = store.create(&UserId::local(), "").await.unwrap().id;
        Self { _dir: dir, store, conversation }
    }

    async fn call(&self, tool: &Arc<dyn Tool>, seconds: u64) -> Result<ToolOutput, ToolFailure> {
        let context = ToolContext::new(UserId::local(), self.conversation.clone(), RunId::random(), "call_1");
        let context = ToolContext { timeout: Duration::from_secs(seconds), ..context };
        let Value::Object(arguments) = json!({"q": "a"}) else { panic!() };
        tool.call(&context, arguments).await.map_err(ToolError::told)
    }
}

#[tokio::test]
async fn named_tools_are_offered_and_answer_with_text_and_rows() {
    let desk = Desk::new().await;
    let (tools, warnings) = ba_mcp::tools(vec![server("good", 10)], &desk.store).await;
    let names: Vec<&str> = tools.iter().map(|tool| tool.spec().name.as_str()).collect();
    assert_eq!(names, ["crm.find", "crm.create"], "none that is not named, none that shadows ours");
    assert_eq!(warnings, ["the MCP server `crm` offers no tool `missing`"]);
    let found = desk.call(&tools[0], 10).await.unwrap();
    let Body::Parts(parts) = &found.body else { panic!("{found:?}") };
    assert!(matches!(&parts[0].1, Body::Text(text) if text.contains("found {\"q\": \"a\"}")), "{parts:?}");
    assert!(
        matches!(&parts[1].1, Body::Table { rows, .. } if rows[1] == [json!("B"), json!(7)]),
        "{parts:?}"
    );
}

#[tokio::test]
async fn what_changes_something_waits_for_a_person() {
    let desk = Desk::new().await;
    let (tools, _) = ba_mcp::tools(vec![server("good", 10)], &desk.store).await;
    let refused = desk.call(&tools[1], 10).await.unwrap_err();
    assert_eq!(refused.code, "CONSENT_NEEDED");
    desk.store.add_consent(&UserId::local(), &desk.conversation, "tool:crm.create").await.unwrap();
    assert!(desk.call(&tools[1], 10).await.is_ok());
}

#[tokio::test]
async fn a_server_that_misbehaves_costs_its_own_calls_only() {
    let desk = Desk::new().await;
    for (how, code) in [("hangs", "TIMEOUT"), ("dies", "SERVER_GONE"), ("huge", "TIMEOUT")] {
        let began = Instant::now();
        let (tools, _) = ba_mcp::tools(vec![server(how, 2)], &desk.store).await;
        let failure = desk.call(&tools[0], 2).await.unwrap_err();
        assert_eq!(failure.code, code, "{how}: {failure:?}");
        assert!(began.elapsed() < Duration::from_secs(20), "{how}");
        // Its next call meets a server again.
        assert_eq!(desk.call(&tools[0], 2).await.unwrap_err().code, code, "{how}");
    }
    let (tools, _) = ba_mcp::tools(vec![server("floods", 20)], &desk.store).await;
    assert!(desk.call(&tools[0], 20).await.is_ok(), "a flood of notices is let pass");
    let absent = ServerConfig {
        reach: Reach::Command { program: "/no/such/program".into(), arguments: vec![], environment: vec![] },
        ..server("good", 2)
    };
    let (tools, warnings) = ba_mcp::tools(vec![absent, server("good", 5)], &desk.store).await;
    assert_eq!(tools.len(), 2, "the others are there");
    assert!(warnings[0].contains("not used: it could not be started"), "{warnings:?}");
}

/// What a server has started goes with it, at once and without being asked.
#[tokio::test]
async fn a_server_and_what_it_started_end_with_the_connection() {
    let desk = Desk::new().await;
    let dir = tempfile::tempdir().unwrap();
    let noted = dir.path().join("pids");
    let mut config = server("starts", 10);
    if let Reach::Command { arguments, .. } = &mut config.reach {
        arguments.push(noted.display().to_string());
    }
    let (tools, _) = ba_mcp::tools(vec![config], &desk.store).await;
    desk.call(&tools[0], 10).await.unwrap();
    let noted = std::fs::read_to_string(&noted).unwrap();
    let pids: Vec<&str> = noted.split_whitespace().collect();
    // A process that ended and waits for its parent does not run.
    let runs = |pid: &&str| {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    };
    assert_eq!((pids.len(), pids.iter().filter(|pid| runs(pid)).count()), (2, 2));
    drop(tools);
    for _ in 0..100 {
        if !pids.iter().any(&runs) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{pids:?} still run");
}

#[tokio::test]
async fn many_tools_are_searched_instead_of_listed_and_can_be_called() {
    let desk = Desk::new().await;
    let mut config = server("many", 10);
    config.reads.extend((0..80).map(|i| format!("tool_{i}")));
    let (tools, _) = ba_mcp::tools(vec![config], &desk.store).await;
    let listed: Vec<&str> = tools.iter().filter(|t| t.listed()).map(|t| t.spec().name.as_str()).collect();
    assert_eq!((listed, tools.len()), (vec!["search_tools"], 83));
    let find = tools.iter().find(|t| t.spec().name == "crm.find").unwrap();
    assert!(desk.call(find, 10).await.is_ok());
    let refused = desk.call(&tools[0], 10).await.unwrap_err();
    assert!(refused.to_string().contains("query must be a text"), "{refused}");
}
