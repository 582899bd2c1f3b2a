//! Without a language model, a configured database is asked (SPEC L3, T3).

use std::process::Command;

use serde_json::Value;

use super::ask;

// SPEC K3
#[test]
fn a_configured_database_answers_without_a_model_and_without_files() {
    let folder = tempfile::tempdir().unwrap();
    let shop = folder.path().join("shop.db");
    let tables = "CREATE TABLE orders(order_date TEXT, region TEXT, amount REAL); INSERT INTO orders VALUES \
                  ('2024-01-05', '华东', 10.5), ('2024-01-09', '华北', 2), ('2024-02-01', '华东', 7);";
    let script = "import sqlite3,sys\nsqlite3.connect(sys.argv[1]).executescript(sys.argv[2])";
    assert!(Command::new("python3").args(["-c", script]).arg(&shop).arg(tables).status().unwrap().success());
    let config = format!("[connections.shop]\nurl = \"sqlite://{}\"\n", shop.display());
    std::fs::write(folder.path().join("ba-agent.toml"), config).unwrap();
    for (question, wanted) in
        [("按月统计销售额", "| 2024-01 | 12.5 |"), ("amount by region", "| 华东 | 17.5 |")]
    {
        let output = ask(folder.path(), &[], &["ask", question, "--json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let said = answer["data"]["response"].as_str().unwrap();
        assert!(said.contains(wanted), "{said}");
    }
}
