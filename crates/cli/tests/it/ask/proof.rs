//! Proof-carrying answers in the terminal (SPEC V): a wrong figure is sent back and what stays is named, `verify` finds
//! changed files, and the offline analyst proves all it says.

use std::path::Path;

use ba_protocol::ConversationId;
use ba_store::{Store, StoreConfig};
use serde_json::{Value, json};

use super::ask;
use super::server::{Dialect, Server};

const WRONG: &str =
    "华东销售额 156,000 元，华南销售额 64,250 元，华北销售额 64,250 元，西南占 42.5%，合计 999,999 元。";
const MENDED: &str =
    "华东销售额 150,600 元，华南销售额 87,300 元，华北销售额 64,250 元，西南占 12.2%，合计 999,999 元。";

/// A query, a report with four wrong figures, then one in which three are corrected.
fn turn(request: &Value) -> String {
    let seen = request["messages"].to_string();
    let complete = |content: &str| json!({"type": "complete", "content": content});
    let action = if seen.contains("无法从工具结果中得到证实") {
        complete(MENDED)
    } else if seen.contains("<tool_result name=\\\"query_database\\\">") {
        complete(WRONG)
    } else {
        let query = "SELECT 地区, sum(销售额) AS 销售额 FROM upload_001 GROUP BY 1 ORDER BY 2 DESC";
        json!({"type": "tool_call", "content": [
            {"tool_name": "query_database", "tool_call_id": "call_1", "arguments": {"query": query}}]})
    };
    json!({"task_analysis": "", "execution_plan": "", "current_round": 1, "action": action}).to_string()
}

fn asked(folder: &Path, name: &str, rows: &str) -> (String, String, usize) {
    let file = folder.join(name);
    std::fs::write(&file, format!("地区,销售额\n{rows}")).unwrap();
    let server = Server::start_with(Dialect::OpenAi, turn);
    let environment = [
        ("BA_MODEL", "openai-compatible:test-model".to_owned()),
        ("BA_BASE_URL", server.url()),
        ("BA_API_KEY", "sk-test-0123456789abcdef".to_owned()),
    ];
    let output = ask(folder, &environment, &["ask", "各地区销售额？", "--file", file.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    (String::from_utf8_lossy(&output.stdout).into_owned(), said, server.requests().len())
}

fn conversation(said: &str) -> ConversationId {
    let line = said.lines().rev().find_map(|l| l.split_once("conversation: ")).unwrap();
    ConversationId::parse(line.1.trim()).unwrap()
}

/// The table that was made of a conversation's only upload.
async fn derived(store: &Store, id: &ConversationId) -> (ba_protocol::Upload, String, std::path::PathBuf) {
    let upload = store.uploads(id).await.unwrap().remove(0);
    let name = upload.profile.as_ref().unwrap().tables[0].parquet.clone();
    let path = store.derived_path(id, &upload.file_id, &name).await.unwrap();
    (upload, name, path)
}

#[tokio::test]
async fn the_terminal_names_the_figure_that_stays_and_verify_finds_a_changed_file() {
    let folder = tempfile::tempdir().unwrap();
    let (report, said, asked_times) =
        asked(folder.path(), "sales.csv", "华东,150600\n华南,87300\n华北,64250\n西南,41870\n");
    assert_eq!((report.trim(), asked_times), (MENDED, 3));
    assert!(said.contains("5 个数字：3 个来自结果，1 个由结果算得，1 个未证实"), "{said}");
    assert!(said.contains("? 999,999: 没有结果能证实"), "{said}");

    let id = conversation(&said);
    let verify = |id: &str| ask(folder.path(), &[], &["verify", id]);
    let output = verify(id.as_str());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 answers: 4 figures hold, 0 changed, 1 were never proven"), "{text}");

    let (_, other, _) =
        asked(folder.path(), "other.csv", "华东,150600\n华南,88000\n华北,64250\n西南,41870\n");
    let store = Store::open(StoreConfig::local(folder.path().join("ba-data"))).await.unwrap();
    let (_, _, changed) = derived(&store, &conversation(&other)).await;
    let (upload, name, _) = derived(&store, &id).await;
    store.put_derived(&id, &upload.file_id, &name, &changed).await.unwrap();
    drop(store);
    let output = verify(id.as_str());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("✗ 87,300 (call_1 row 2 销售额): now 88000"), "{text}");
    assert!(text.contains("✗ 12.2% (a / sum(b))"), "a share changes with its total: {text}");
    assert!(text.contains("2 figures hold, 2 changed"), "{text}");

    assert_eq!(verify("conv_000000000000").status.code(), Some(2), "no such conversation");
}

// SPEC V9
#[test]
fn the_offline_analyst_proves_every_figure() {
    let folder = tempfile::tempdir().unwrap();
    let set = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evals");
    let offline = [("BA_MODEL", "offline".to_owned())];
    let output =
        ask(folder.path(), &offline, &["eval", set.to_str().unwrap(), "--split", "samples", "--jobs", "4"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["proofs"]["unproven"], json!([]));
    assert!(report["proofs"]["figures"].as_u64().unwrap() > 1_000, "{}", report["proofs"]["figures"]);
    // Stopped and taken up again, nothing is asked twice.
    let again =
        ask(folder.path(), &offline, &["eval", set.to_str().unwrap(), "--split", "samples", "--resume"]);
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains("questions were answered before"), "{said}");
}
