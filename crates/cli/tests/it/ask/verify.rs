//! `ba-agent verify` (SPEC V7) on answers made with Python and with a live database: what is run again, and the exit code.

use std::path::Path;
use std::process::Command;

use ba_protocol::ConversationId;
use ba_store::{Store, StoreConfig};
use serde_json::{Value, json};

use super::ask;
use super::server::{Dialect, Server};

const PYTHON: &str = "df = load('upload_001')\nprint('订单数:', len(df))\ndf.groupby('地区')['销售额'].sum()";
const SQL: &str = "SELECT region, sum(amount) AS amount FROM orders GROUP BY region ORDER BY 2 DESC";

fn turn(action: Value) -> String {
    json!({"task_analysis": "", "execution_plan": "", "current_round": 1, "action": action}).to_string()
}

/// One call, then the answer.
fn scripted(tool: &'static str, arguments: Value, report: &'static str) -> Server {
    Server::start_with(Dialect::OpenAi, move |request| {
        let answered = request["messages"].to_string().contains("[call_1]");
        turn(if answered {
            json!({"type": "complete", "content": report})
        } else {
            let call = json!({"tool_name": tool, "tool_call_id": "call_1", "arguments": arguments});
            json!({"type": "tool_call", "content": [call]})
        })
    })
}

fn asked(folder: &Path, server: &Server, arguments: &[&str]) -> (Value, ConversationId) {
    let environment = [
        ("BA_MODEL", "openai-compatible:test-model".to_owned()),
        ("BA_BASE_URL", server.url()),
        ("BA_API_KEY", "sk-test-0123456789abcdef".to_owned()),
    ];
    let output = ask(folder, &environment, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let id = ConversationId::parse(answer["data"]["conversation_id"].as_str().unwrap()).unwrap();
    (answer["data"].clone(), id)
}

fn verify(folder: &Path, id: &ConversationId, more: &[&str]) -> (Option<i32>, String) {
    let output = ask(folder, &[], &[&["verify", id.as_str()], more].concat());
    let said = [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
    (output.status.code(), said.concat())
}

/// Puts the table of one conversation's upload in the place of another's.
async fn swap(folder: &Path, from: &ConversationId, to: &ConversationId) {
    let store = Store::open(StoreConfig::local(folder.join("ba-data"))).await.unwrap();
    let mut places = Vec::new();
    for id in [from, to] {
        let upload = store.uploads(id).await.unwrap().remove(0);
        let name = upload.profile.as_ref().unwrap().tables[0].parquet.clone();
        places.push((upload, name));
    }
    let changed = store.derived_path(from, &places[0].0.file_id, &places[0].1).await.unwrap();
    store.put_derived(to, &places[1].0.file_id, &places[1].1, &changed).await.unwrap();
}

#[tokio::test]
async fn python_is_run_again_and_a_changed_upload_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let report = "共 4 个订单（订单数 4）。华东销售额 150,600 元，华南销售额 87,300 元。";
    let server = scripted("run_python", json!({"code": PYTHON}), report);
    let upload = |name: &str, south: u32| {
        let file = folder.path().join(name);
        std::fs::write(&file, format!("地区,销售额\n华东,100600\n华东,50000\n华南,{south}\n华北,64250\n"))
            .unwrap();
        asked(folder.path(), &server, &["ask", "各地区销售额？", "--json", "--file", file.to_str().unwrap()])
    };
    let (answer, id) = upload("sales.csv", 87_300);
    let audit = &answer["metadata"]["audit"];
    assert_eq!((&audit["unproven"], &audit["mismatch"]), (&json!(0), &json!(0)), "{audit}");
    let south = audit["figures"].as_array().unwrap().iter().find(|f| f["text"] == "87,300").unwrap();
    assert_eq!(south["proof"]["tool_call_id"], "call_1", "{south}");
    assert_eq!(audit["calls"][0]["code"], PYTHON);

    let (code, said) = verify(folder.path(), &id, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("0 changed"), "{said}");
    let (_, other) = upload("other.csv", 88_000);
    swap(folder.path(), &other, &id).await;
    let (code, said) = verify(folder.path(), &id, &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("✗ 87,300") && said.contains("1 changed"), "{said}");
}

#[test]
fn a_live_database_is_only_asked_again_when_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let shop = folder.path().join("shop.db");
    let change = |sql: &str| {
        let script = "import sqlite3,sys\nsqlite3.connect(sys.argv[1]).executescript(sys.argv[2])";
        assert!(Command::new("python3").args(["-c", script]).arg(&shop).arg(sql).status().unwrap().success());
    };
    change(
        "CREATE TABLE orders(region TEXT, amount REAL); INSERT INTO orders VALUES ('East', 15060), ('West', 8730);",
    );
    let config = format!("[connections.shop]\nurl = \"sqlite://{}\"\n", shop.display());
    std::fs::write(folder.path().join("ba-agent.toml"), config).unwrap();
    let arguments = json!({"query": SQL, "connection": "shop"});
    let server = scripted("query_database", arguments, "East has an amount of 15,060 and West one of 8,730.");
    let (_, id) = asked(folder.path(), &server, &["ask", "amount by region", "--json"]);

    change("UPDATE orders SET amount = 9000 WHERE region = 'West';");
    let (code, said) = verify(folder.path(), &id, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("2 not checked"), "{said}");
    let (code, said) = verify(folder.path(), &id, &["--live"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("✗ 8,730") && said.contains("now 9000"), "{said}");
    change("UPDATE orders SET amount = 8730 WHERE region = 'West';");
    assert_eq!(verify(folder.path(), &id, &["--live"]).0, Some(0));
    change("DROP TABLE orders;");
    let (code, said) = verify(folder.path(), &id, &["--live"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("fails now"), "{said}");
}
