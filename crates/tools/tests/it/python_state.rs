//! Python's variables that are lost or on another server (SPEC N4): rebuilt from the journal, or named as gone.

use ba_agent::tool::{ToolOutput, TypedTool};
use ba_protocol::{RunId, ToolFailure, ToolResult};
use ba_sandbox::SessionKey;
use ba_store::{NewRun, ToolIntent, ToolOutcome};
use ba_tools::{Python, RunPython};
use serde_json::json;

use crate::tables::{Desk, run, sandbox};

impl Desk {
    async fn call(&self, code: &str) -> Result<ToolOutput, ToolFailure> {
        let tool = RunPython { python: Python::Ready(sandbox()), store: self.store.clone() };
        let args = serde_json::from_value(json!({"code": code})).unwrap();
        tool.run(&self.context(), args).await.map_err(ba_agent::ToolError::told)
    }

    /// A call that succeeds, and its place in the journal as a run leaves it there.
    async fn journaled(&self, code: &str) {
        self.call(code).await.unwrap();
        let run_id = RunId::random();
        let owner = self.context().owner;
        let new = NewRun {
            run_id: run_id.clone(),
            conversation_id: self.conversation.clone(),
            owner,
            message: "q".into(),
            file_ids: Vec::new(),
            state: json!({}).into(),
            created_at: jiff::Timestamp::now(),
            holder: None,
            replaces: None,
            model: String::new(),
        };
        self.store.admit(new).await.unwrap();
        let arguments = json!({"code": code}).as_object().unwrap().clone();
        let (id, name) = ("call".to_owned(), "run_python".to_owned());
        let intent = ToolIntent { step: 1, tool_call_id: id, tool_name: name, arguments, idempotent: false };
        self.store.record_intents(&run_id, vec![intent]).await.unwrap();
        let result = ToolResult::success("call", "run_python", "x");
        let outcome = ToolOutcome { step: 1, result, telemetry: None, evidence: None };
        self.store.record_results(&run_id, vec![outcome]).await.unwrap();
    }

    /// As on a server that never saw the conversation: no live state, an empty working folder.
    async fn elsewhere(&self) {
        sandbox().forget(&SessionKey::new(self.conversation.as_str())).await;
        let folder = self.store.work_dir(&self.conversation).await.unwrap();
        for entry in std::fs::read_dir(folder).unwrap().flatten().filter(|e| e.path().is_file()) {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
}

// SPEC N4
#[test]
fn variables_and_files_follow_a_conversation_to_another_server() {
    run(async {
        let desk = Desk::new().await;
        desk.journaled("x = 1\nopen('n.txt', 'w').write('one')").await;
        desk.journaled("y = x + 1\nopen('n.txt', 'w').write('two')").await;
        desk.elsewhere().await;
        let output = desk.call("print(x + y, open('n.txt').read())").await.unwrap();
        assert!(format!("{:?}", output.body).contains("3 two"), "{:?}", output.body);
        assert!(
            output.notes.iter().any(|n| n.contains("running the 2 earlier successful calls again")),
            "{output:?}"
        );
        assert!(desk.call("x").await.unwrap().notes.is_empty(), "it stands now");
    });
}

// SPEC N4: another server has run Python since: what this one has is old.
#[test]
fn an_older_state_is_not_used_and_what_is_gone_is_named() {
    run(async {
        let desk = Desk::new().await;
        desk.journaled("x = 1").await;
        let names = ["x".to_owned(), "made_elsewhere".to_owned()];
        desk.store.python_ran(&desk.conversation, &names).await.unwrap();
        let output = desk.call("print(x)").await.unwrap();
        let told = output.notes.join("\n");
        assert!(told.contains("these variables are gone: made_elsewhere ("), "{told}");
    });
}

// SPEC N4
#[test]
fn calls_that_cannot_be_repeated_are_told_once_with_the_names() {
    run(async {
        let desk = Desk::new().await;
        desk.journaled(
            "from pathlib import Path\nassert not Path('once.txt').exists()\nopen('once.txt', 'w').write('1')\nv = 1",
        )
        .await;
        desk.elsewhere().await;
        let failed = desk.call("v").await.unwrap_err();
        assert!(failed.message.contains("v (call 1 of 1 failed now"), "{}", failed.message);
        assert!(desk.call("1").await.unwrap().notes.is_empty(), "told once");
    });
}
