//! What helps a model to answer: the dossier of the first request, checks on results, and evidence of Python (SPEC W1–W3, V).

use std::sync::Arc;

use ba_agent::pipeline::Counter;
use ba_agent::tool::{Body, ToolOutput, TypedTool};
use ba_agent::{Briefing, BriefingRequest, Models, Registry, Skills, Typed};
use ba_data::{ConnectionConfig, Connections};
use ba_protocol::file::IngestStatus;
use ba_protocol::{Language, OutputLevel, ToolFailure, UserId};
use ba_tools::{Dossier, FileReader, Python, QueryDatabase, RunPython, ingest_upload};
use serde_json::{Value, json};

use crate::databases::{connection, execute};
use crate::skills_run::{agent_of, calls, complete, model};
use crate::tables::{Desk, run, sandbox, tables};

impl Desk {
    async fn python(&self, code: &str) -> Result<ToolOutput, ToolFailure> {
        let tool = RunPython { python: Python::Ready(sandbox()), store: self.store.clone() };
        tool.run(&self.context(), serde_json::from_value(json!({"code": code})).unwrap())
            .await
            .map_err(ba_agent::ToolError::told)
    }

    /// The list of files and the dossier, as the first request of a turn carries them.
    async fn first_request(&self) -> String {
        let files = self.store.files(&self.conversation).await.unwrap();
        let list = ba_store::file_list::unified_file_list(&files.codes, &files.uploads).unwrap();
        format!("{list}\n\n{}", self.brief("2024年华东的销售额是多少", Vec::new()).await)
    }

    async fn brief(&self, question: &str, connections: Vec<ConnectionConfig>) -> String {
        let files = self.store.files(&self.conversation).await.unwrap();
        let tokens = ba_model::TokenCounter::for_model("openai:gpt-4o");
        let counter: Counter = Arc::new(move |text| tokens.count(text));
        let connections = Connections::new(connections).unwrap();
        let dossier = Dossier { store: self.store.clone(), python: Python::Ready(sandbox()), connections };
        let wanted = BriefingRequest {
            conversation: &self.conversation,
            files: &files,
            question,
            tokens: 1_500,
            counter: &counter,
            language: Language::of(question),
        };
        let brief = dossier.brief(wanted).await.unwrap();
        assert!(counter(&brief) <= 1_500);
        brief
    }
}

fn codes(output: &ToolOutput) -> Vec<&str> {
    output.data_notes.iter().map(|n| n.note.code.as_str()).collect()
}

fn csv(header: &str, rows: impl Iterator<Item = String>) -> Vec<u8> {
    std::iter::once(header.to_owned()).chain(rows).collect::<Vec<_>>().join("\n").into_bytes()
}

async fn shop(desk: &Desk) {
    let orders = (0..300).map(|i| format!("D{i:04},{},2024-{:02}-05,{}", i % 40 + 1, i % 12 + 1, 100 + i));
    desk.upload("订单.csv", &csv("订单号,客户ID,日期,金额（元）", orders)).await;
    let regions = ["华东", "华南", "华北"];
    let customers = (1..=50).map(|i| format!("{i},客户{i},{}", regions[i % 3]));
    desk.upload("客户.csv", &csv("客户ID,姓名,地区", customers)).await;
    let items = (0..900).map(|i| format!("D{:04},P{:02},{}", i % 300, i % 20, i % 5 + 1));
    desk.upload("明细.csv", &csv("订单号,产品编号,数量", items)).await;
    let products = (0..20).map(|i| format!("P{i:02},产品{i},{}", if i % 2 == 0 { "A" } else { "B" }));
    desk.upload("产品.csv", &csv("产品编号,品名,类别", products)).await;
    let goals = regions.iter().map(|r| format!("{r},1000"));
    desk.upload("目标.csv", &csv("地区,目标（万元）", goals)).await;
}

#[test]
fn the_first_request_for_one_file() {
    run(async {
        let desk = Desk::new().await;
        let retail =
            std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/retail.csv")).unwrap();
        desk.upload("retail.csv", &retail).await;
        insta::assert_snapshot!(desk.first_request().await);
    });
}

#[test]
fn the_first_request_for_five_files_with_joins() {
    run(async {
        let desk = Desk::new().await;
        shop(&desk).await;
        desk.query(json!({"query": "SELECT 地区, count(*) AS n FROM 客户 GROUP BY 1", "keep_as": "各地区"}))
            .await
            .unwrap();
        desk.python("df = load('订单')\nopen('note.txt', 'w').write('x')\nlimit = 5").await.unwrap();
        let seen = desk.first_request().await;
        insta::assert_snapshot!(seen);
        let upload = desk.store.upload(&desk.conversation, "upload_005").await.unwrap();
        ingest_upload(&desk.store, &tables(), &upload, &|_, _| {}).await.unwrap();
        let again = desk.first_request().await;
        assert_eq!(again.matches("关联键").count(), 1);
        assert_eq!(again.lines().count(), seen.lines().count(), "a file read again is told of once: {again}");
    });
}

// SPEC W1, W7
#[test]
fn an_english_question_has_an_english_dossier() {
    run(async {
        let desk = Desk::new().await;
        let sales = csv(
            "order_id,region,amount",
            (0..40).map(|i| format!("A{i},{},{}", ["East", "West"][i % 2], i * 10)),
        );
        desk.upload("sales.csv", &sales).await;
        let told = desk.brief("total amount by region", Vec::new()).await;
        insta::assert_snapshot!(told);
    });
}

// SPEC W1
#[test]
fn the_first_request_for_a_connection_of_120_tables() {
    run(async {
        let desk = Desk::new().await;
        let dir = tempfile::tempdir().unwrap();
        let (many, few) = (dir.path().join("many.db"), dir.path().join("few.db"));
        let tables = |n: usize| -> String {
            let one = |i: usize| {
                format!(
                    "CREATE TABLE erp_{:03}_{}(id INTEGER PRIMARY KEY REFERENCES erp_000_orders(id), amount REAL);",
                    i,
                    ["orders", "items", "stock", "staff"][i % 4]
                )
            };
            (0..n).map(one).collect()
        };
        execute(&many, &tables(120));
        execute(
            &few,
            "CREATE TABLE shops(id INTEGER PRIMARY KEY, city TEXT); CREATE TABLE sales(shop_id INTEGER REFERENCES shops(id), day TEXT, amount REAL)",
        );
        let told = desk.brief("有多少订单？", vec![connection("erp", &many)]).await;
        assert_eq!(told.matches("erp_").count(), 120, "each of them is named: {told}");
        insta::assert_snapshot!(told);
        let away = connection("away", std::path::Path::new("/nowhere/at/all.db"));
        insta::assert_snapshot!(desk.brief("有多少订单？", vec![away, connection("shop", &few)]).await);
    });
}

#[test]
fn a_wrong_join_is_told_of_its_fan_out() {
    run(async {
        let desk = Desk::new().await;
        shop(&desk).await;
        let wrong = "SELECT sum(o.\"金额（元）\") AS s FROM 订单 o JOIN 明细 d ON o.订单号 = d.订单号";
        let columns = desk.query(json!({"query": "SELECT * FROM 订单 LIMIT 1"})).await.unwrap();
        let Body::Table { columns, .. } = &columns.body else { panic!("no table") };
        let wrong = wrong.replace("金额（元）", &columns[3].name);
        let told = desk.query(json!({"query": wrong})).await.unwrap();
        assert_eq!(codes(&told), ["join_multiplied"]);
        let line = told.data_notes[0].line();
        assert!(line.contains("300 of its rows → 900"), "{line}");
        assert!(told.resources.memory_mb > 0.0, "E11: {:?}", told.resources);
        let unknown = desk.query(json!({"query": "SELECT revenue FROM 订单"})).await.unwrap_err();
        let hint = unknown.hint.unwrap();
        assert!(hint.contains("\"订单号\", \"客户ID\", \"日期\""), "{hint}");
        assert!(hint.contains("nearest to 'revenue'"), "{hint}");
    });
}

// SPEC W2, W3: what a model reads after a query that cannot be right.
#[test]
fn a_model_with_a_wrong_join_reads_of_it_before_it_answers() {
    run(async {
        let desk = Desk::new().await;
        shop(&desk).await;
        let connections = Connections::new(Vec::new()).unwrap();
        let query = QueryDatabase { tables: Some(tables()), connections, store: desk.store.clone() };
        let registry = Registry::new(vec![Arc::new(Typed::new(query))]).unwrap();
        let join = "FROM 订单 o JOIN 客户 c ON c.客户ID = o.客户ID";
        let wrong = format!(
            "SELECT 地区, sum(o.\"金额（元）\") AS s {join} JOIN 明细 d ON o.订单号 = d.订单号 GROUP BY 1"
        );
        let mended = format!("SELECT 地区, sum(o.\"金额（元）\") AS s {join} GROUP BY 1");
        let script = model(vec![
            calls(json!([["query_database", {"query": wrong}]])),
            calls(json!([["query_database", {"query": mended}]])),
            complete(),
        ]);
        let models = Models { default: script.clone(), summary: None, named: Default::default() };
        let counter: Counter = Arc::new(|text: &str| text.len() / 3);
        let agent = agent_of(&desk.store, models, registry, Skills::none(), counter);
        let asked = json!({"message": "各地区的金额？", "conversation_id": desk.conversation});
        let admitted = agent.admit(&UserId::local(), serde_json::from_value(asked).unwrap()).await.unwrap();
        agent.wait(&UserId::local(), &admitted.run_id).await.unwrap();
        let read = |request: usize| script.requests()[request].messages.last().unwrap().wire_text();
        assert!(read(1).contains("300 of its rows → 900"), "{}", read(1));
        assert!(!read(2).contains("rows →"), "{}", read(2));
    });
}

#[test]
fn what_python_shows_is_evidence_as_tables() {
    run(async {
        let desk = Desk::new().await;
        let code = "import pandas as pd\nprint(pd.DataFrame({'地区': ['华东', '华南'], '销售额': [1.5, 2]}))\n\
                    print('words')\npd.Series([float(i) for i in range(300)], name='n')";
        let output = desk.python(code).await.unwrap();
        let shapes: Vec<(usize, usize, Option<u64>)> = output
            .evidence
            .iter()
            .map(|body| match body {
                Body::Table { columns, rows, total_rows } => (columns.len(), rows.len(), *total_rows),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(shapes, [(2, 2, None), (1, 300, None)]);
        let Body::Parts(parts) = &output.body else { panic!("{:?}", output.body) };
        assert!(matches!(&parts[1].1, Body::Table { rows, total_rows: Some(300), .. } if rows.len() == 50));
        assert!(!output.summary.contains("last line"), "{}", output.summary);
        let stored = String::from_utf8(output.data.unwrap().bytes).unwrap();
        assert!(stored.contains("words") && stored.contains("\n299"), "E4: {stored}");
        let merged = desk
            .python("a = pd.DataFrame({'k': [1, 1]})\nm = a.merge(a, on='k')\ncheck(a, unique=['k'])")
            .await
            .unwrap();
        assert_eq!(codes(&merged), ["join_multiplied", "duplicate_key"]);
    });
}

#[test]
fn a_reset_is_told_with_a_call_that_fails() {
    run(async {
        let desk = Desk::new().await;
        let upload = desk.upload("a.csv", b"n\n1\n2\n").await;
        desk.python("x = 1").await.unwrap();
        desk.store.delete_upload(&desk.conversation, &upload.file_id).await.unwrap();
        let failed = desk.python("x").await.unwrap_err();
        assert!(
            failed.message.contains("Python state was reset (upload_001 was removed)"),
            "{}",
            failed.message
        );
        assert!(desk.python("1").await.unwrap().notes.is_empty());
    });
}

#[test]
fn a_query_waits_for_a_file_that_is_being_read() {
    run(async {
        let desk = Desk::new().await;
        let mut writer = desk.store.begin_upload(&desk.conversation, "late.csv", None).await.unwrap();
        writer.write(b"n\n1\n2\n").await.unwrap();
        let upload = writer.finish().await.unwrap();
        assert_eq!(upload.status, IngestStatus::Processing);
        let reading = async {
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            ingest_upload(&desk.store, &tables(), &upload, &|_, _| {}).await.unwrap()
        };
        let (answer, _) = tokio::join!(desk.query(json!({"query": "SELECT sum(n) FROM late"})), reading);
        assert_eq!(crate::tables::rows(&answer.unwrap()), &[[json!(3)]]);
    });
}

#[test]
fn a_profile_takes_a_third_of_its_raw_form_and_says_more() {
    run(async {
        let tokens = ba_model::TokenCounter::for_model("openai:gpt-4o");
        for sample in ["retail.csv", "hr.csv", "web_funnel.csv"] {
            let desk = Desk::new().await;
            let path = format!("{}/../../examples/{sample}", env!("CARGO_MANIFEST_DIR"));
            desk.upload(sample, &std::fs::read(path).unwrap()).await;
            let text = async |level| {
                let tool = FileReader { tables: Some(tables()), store: desk.store.clone() };
                let args: Value = json!({"path": "upload_001", "parse_metadata": true});
                let context = ba_agent::tool::ToolContext { level, ..desk.context() };
                let output = tool.run(&context, serde_json::from_value(args).unwrap()).await.unwrap();
                let Body::Text(text) = output.body else { panic!("{:?}", output.body) };
                text
            };
            let (raw, compact) = (text(OutputLevel::Raw).await, text(OutputLevel::Standard).await);
            let (before, now) = (tokens.count(&raw), tokens.count(&compact));
            // A third was the goal; the widest sample takes 34 %.
            assert!(100 * now <= 35 * before, "{sample}: {now} of {before} tokens\n{compact}");
            assert!(compact.contains("q1 median q3") && compact.contains("std"), "{compact}");
            assert!(!compact.contains("null") && !compact.contains("\"\""), "{compact}");
        }
    });
}

#[test]
fn stored_rows_say_how_many_of_all_they_are() {
    run(async {
        let desk = Desk::new().await;
        let rows = (0..12_000).map(|i| i.to_string());
        desk.upload("many.csv", &csv("n", rows)).await;
        let tool = FileReader { tables: Some(tables()), store: desk.store.clone() };
        let context = ba_agent::tool::ToolContext { level: OutputLevel::Full, ..desk.context() };
        let args = serde_json::from_value(json!({"path": "upload_001"})).unwrap();
        let output = tool.run(&context, args).await.unwrap();
        assert_eq!(output.summary, "many.csv: 12000 rows × 1 columns; the first 10000 of them are here");
        let small = desk.read(json!({"path": "upload_001", "nrows": 3})).await.unwrap();
        assert!(small.summary.ends_with("the first 3 of them are here"));
    });
}

// SPEC W8
#[test]
fn an_earlier_answer_is_read_again() {
    run(async {
        let desk = Desk::new().await;
        let reader = FileReader { tables: Some(tables()), store: desk.store.clone() };
        let registry = Registry::new(vec![Arc::new(Typed::new(reader))]).unwrap();
        let script =
            model(vec![complete(), calls(json!([["file_reader", {"path": "answer_1"}]])), complete()]);
        let models = Models { default: script.clone(), summary: None, named: Default::default() };
        let counter: Counter = Arc::new(|text: &str| text.len() / 3);
        let agent = agent_of(&desk.store, models, registry, Skills::none(), counter);
        for message in ["你好，请问", "再看第一次的回答"] {
            let asked = json!({"message": message, "conversation_id": desk.conversation});
            let admitted =
                agent.admit(&UserId::local(), serde_json::from_value(asked).unwrap()).await.unwrap();
            agent.wait(&UserId::local(), &admitted.run_id).await.unwrap();
        }
        let observation = script.requests()[2].messages.last().unwrap().wire_text();
        assert!(observation.contains("问：你好，请问") && observation.contains("答：\n好"), "{observation}");
        let none = desk.read(json!({"path": "answer_9"})).await.unwrap_err();
        assert_eq!(none.code, "ANSWER_NOT_FOUND");
    });
}
