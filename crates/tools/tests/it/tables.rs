//! Uploads, `file_reader` and `query_database` from end to end: store, sandbox, tools (SPEC F1, T2, T3, T7, C6).

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ba_agent::Registry;
use ba_agent::pipeline::{CallRequest, Executed, Executor, Told};
use ba_agent::run::{Decision, PlannedCall};
use ba_agent::tool::{Body, ToolContext, ToolOutput, TypedTool};
use ba_data::{Connections, Tables};
use ba_protocol::file::{IngestOptions, IngestStatus};
use ba_protocol::{
    ConversationId, FileFacts, OutputLevel, RunId, ToolCall, ToolFailure, Upload, UserId, synopsis,
};
use ba_sandbox::{PrepareOptions, Sandbox, SandboxConfig, prepare_python};
use ba_store::{NewCode, Store, StoreConfig};
use ba_tools::{FileReader, Python, QueryDatabase, RunPython, ingest_upload};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap())
}

pub fn tables() -> Tables {
    shared().0.clone()
}

pub fn sandbox() -> Sandbox {
    shared().1.clone()
}

fn shared() -> &'static (Tables, Sandbox, TempDir) {
    static SHARED: OnceLock<(Tables, Sandbox, TempDir)> = OnceLock::new();
    SHARED.get_or_init(|| {
        let scratch = tempfile::tempdir().unwrap();
        let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
        let cache = std::env::var_os("XDG_CACHE_HOME")
            .map_or_else(|| home.join(".cache"), PathBuf::from)
            .join("ba-agent");
        let env_override = std::env::var_os("BA_PYTHON_ENV").map(PathBuf::from);
        let options = PrepareOptions { cache, env_override, python: None };
        let sandbox = runtime().block_on(async {
            let python = prepare_python(&options, &|_| {}).await.unwrap();
            let mut config = SandboxConfig::new(python, scratch.path().join("sandbox"));
            config.pool = 2;
            config.worker_dir = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python"));
            Sandbox::start(config).await.unwrap()
        });
        (Tables::new(sandbox.clone(), scratch.path().join("queries")), sandbox, scratch)
    })
}

/// The sandbox starts before the test is inside the runtime.
pub fn run(test: impl Future<Output = ()>) {
    tables();
    runtime().block_on(test);
}

pub struct Desk {
    pub store: Store,
    pub conversation: ConversationId,
    _dir: TempDir,
}

impl Desk {
    pub async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(StoreConfig::local(dir.path())).await.unwrap();
        let conversation = store.create(&UserId::local(), "t").await.unwrap().id;
        Self { store, conversation, _dir: dir }
    }

    pub async fn upload(&self, name: &str, bytes: &[u8]) -> Upload {
        let mut writer = self.store.begin_upload(&self.conversation, name, None).await.unwrap();
        writer.write(bytes).await.unwrap();
        let upload = writer.finish().await.unwrap();
        ingest_upload(&self.store, &tables(), &upload, &|_, _| {}).await.unwrap()
    }

    pub fn context(&self) -> ToolContext {
        ToolContext::new(UserId::local(), self.conversation.clone(), RunId::random(), "call_1")
    }

    /// One call through the pipeline, as a run makes it.
    pub async fn execute(
        &self,
        executor: &Executor,
        registry: &Registry,
        tool: &str,
        arguments: Value,
    ) -> Executed {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let call = ToolCall { tool_name: tool.into(), tool_call_id: "call_1".into(), arguments };
        let planned = PlannedCall { call, decision: Decision::Run };
        let request = CallRequest {
            planned: &planned,
            registry,
            context: self.context(),
            global_level: OutputLevel::Standard,
            window_share: 0.1,
            files: "same",
            counter: &(Arc::new(|text: &str| text.chars().count().div_ceil(2)) as _),
            told: &Told::default(),
        };
        executor.execute(request).await.expect("the storage answers")
    }

    pub async fn read(&self, args: Value) -> Result<ToolOutput, ToolFailure> {
        let tool = FileReader { tables: Some(tables()), store: self.store.clone() };
        tool.run(&self.context(), serde_json::from_value(args).unwrap())
            .await
            .map_err(ba_agent::ToolError::told)
    }

    pub async fn query(&self, args: Value) -> Result<ToolOutput, ToolFailure> {
        let connections = Connections::new(Vec::new()).unwrap();
        let tool = QueryDatabase { tables: Some(tables()), connections, store: self.store.clone() };
        tool.run(&self.context(), serde_json::from_value(args).unwrap())
            .await
            .map_err(ba_agent::ToolError::told)
    }
}

pub fn rows(output: &ToolOutput) -> &Vec<Vec<Value>> {
    match &output.body {
        Body::Table { rows, .. } => rows,
        other => panic!("{other:?}"),
    }
}

const SALES: &str = "日期,地区,金额\n2024-01-02,华东,1200.5\n2024-01-03,华北,800\n2024-02-01,华东,99.5\n";

// SPEC F4
#[test]
fn an_upload_is_read_and_queried_by_id_and_name() {
    run(async {
        let desk = Desk::new().await;
        let upload = desk.upload("销售数据.csv", SALES.as_bytes()).await;
        assert_eq!(upload.status, IngestStatus::Ready);
        let read = desk.read(json!({"path": "upload_001"})).await.unwrap();
        assert_eq!(read.summary, "销售数据.csv: 3 rows × 3 columns");
        let facts = read.file_facts.unwrap();
        assert_eq!(synopsis::line(&facts), "[文件已读取] 销售数据.csv (CSV, 3行, 列: 日期, 地区, 金额)");
        let by_name =
            desk.read(json!({"path": "销售数据.csv", "nrows": 1, "parse_metadata": true})).await.unwrap();
        assert!(matches!(&by_name.body, Body::Text(t) if t.contains("2 distinct")), "{:?}", by_name.body);
        for name in ["upload_001", "\"销售数据\"", "销售数据", "\"销售数据.csv\""] {
            let got =
                desk.query(json!({"query": format!("SELECT sum(金额) AS s FROM {name}")})).await.unwrap();
            assert_eq!(rows(&got), &[[json!(2100.0)]], "{name}");
            assert_eq!(got.summary, "1 value: s = 2100.0");
        }
        let shown = desk.query(json!({"query": "SHOW TABLES"})).await.unwrap();
        assert!(
            matches!(&shown.body, Body::Text(t) if t.contains("\"upload_001\"") && t.contains("\"金额\" DOUBLE"))
        );
    });
}

#[test]
fn a_result_is_kept_for_later_queries_and_for_python() {
    run(async {
        let desk = Desk::new().await;
        desk.upload("s.csv", SALES.as_bytes()).await;
        let args = json!({"query": "SELECT 地区, sum(金额) AS s FROM s WHERE 金额 > :least GROUP BY 1", "params": {"least": 100}, "keep_as": "汇总"});
        let kept = desk.query(args).await.unwrap();
        assert_eq!(kept.artifacts[0].name, "汇总.parquet");
        assert!(desk.store.work_dir(&desk.conversation).await.unwrap().join("汇总.parquet").is_file());
        let again = desk.query(json!({"query": "SELECT max(s) FROM 汇总"})).await.unwrap();
        assert_eq!(rows(&again), &[[json!(1200.5)]]);
        let read = desk.read(json!({"path": "汇总.parquet"})).await.unwrap();
        assert_eq!(read.summary, "汇总.parquet: 2 rows × 2 columns");
    });
}

#[test]
fn code_text_and_broken_files_are_answered() {
    run(async {
        let desk = Desk::new().await;
        let new = NewCode {
            code_id: "code_sales".into(),
            language: "python".into(),
            code: "def load():\n    pass\nclass A: pass\n".into(),
            description: String::new(),
        };
        desk.store.save_code(&desk.conversation, new).await.unwrap();
        let code = desk.read(json!({"path": "code_sales"})).await.unwrap();
        let Some(FileFacts::Code { functions, classes, .. }) = &code.file_facts else {
            panic!("{:?}", code.file_facts)
        };
        assert_eq!((functions.join(","), classes.join(",")), ("load".into(), "A".into()));
        desk.upload("备注.txt", "第一行\n第二行\n".as_bytes()).await;
        let text = desk.read(json!({"path": "备注.txt"})).await.unwrap();
        assert!(matches!(&text.body, Body::Text(t) if t.contains("第二行")), "{:?}", text.body);
        desk.upload("c.json", br#"{"settings": {"a": 1}, "options": "x"}"#).await;
        let config = desk.read(json!({"path": "c.json"})).await.unwrap();
        assert!(
            matches!(&config.file_facts, Some(FileFacts::Json { keys, .. }) if keys == &["settings", "options"])
        );
        let failed = desk.upload("x.xlsx", b"\x00\x01\x02\x03\x04").await;
        assert_eq!(failed.status, IngestStatus::Failed);
        assert!(failed.error.unwrap().starts_with("x.xlsx is no Excel workbook; "));
        let problem = failed.problem.unwrap();
        assert_eq!((problem.code.as_str(), problem.step.as_deref()), ("not_of_its_kind", Some("own_format")));
        let missing = desk.read(json!({"path": "../../etc/passwd"})).await.unwrap_err();
        assert_eq!(missing.code, "FILE_NOT_FOUND");
        assert!(missing.hint.unwrap().contains("code_sales"));
    });
}

#[test]
fn an_upload_whose_bytes_are_lost_fails_instead_of_waiting_for_ever() {
    run(async {
        let desk = Desk::new().await;
        let mut writer = desk.store.begin_upload(&desk.conversation, "s.csv", None).await.unwrap();
        writer.write(SALES.as_bytes()).await.unwrap();
        let upload = writer.finish().await.unwrap();
        std::fs::remove_file(desk.store.upload_path(&upload).await.unwrap()).unwrap();
        let failed = ingest_upload(&desk.store, &tables(), &upload, &|_, _| {}).await.unwrap();
        assert_eq!(failed.status, IngestStatus::Failed);
        assert!(failed.error.unwrap().contains("could not store"));
        assert_eq!(desk.store.unfinished_uploads().await.unwrap(), vec![]);
    });
}

#[test]
fn python_does_not_go_on_with_a_file_that_is_gone_or_read_in_another_way() {
    run(async {
        let desk = Desk::new().await;
        let first = desk.upload("s.csv", SALES.as_bytes()).await;
        let python = RunPython { python: Python::Ready(sandbox()), store: desk.store.clone() };
        let py = async |code: &str| {
            let args = serde_json::from_value(json!({"code": code})).unwrap();
            python.run(&desk.context(), args).await.unwrap()
        };
        py("n = len(open('s.csv').read())").await;
        desk.upload("t.csv", SALES.as_bytes()).await;
        assert_eq!(py("print(n)").await.notes, Vec::<String>::new(), "one more file is no reason");

        let other = IngestOptions { header_row: Some(2), ..IngestOptions::default() };
        let again = desk.store.ingest_again(&desk.conversation, &first.file_id, &other).await.unwrap();
        ingest_upload(&desk.store, &tables(), &again, &|_, _| {}).await.unwrap();
        let notes = py("print('n' in globals())").await.notes;
        assert!(notes[0].contains("reset (upload_001 was read again in another way)"), "{notes:?}");

        desk.store.delete_upload(&desk.conversation, &first.file_id).await.unwrap();
        let seen = py(
            "import pathlib\nprint(sorted(p.name for p in pathlib.Path('.').glob('[!.]*')), list(tables))",
        )
        .await;
        assert!(seen.notes[0].contains("reset (upload_001 was removed)"), "{:?}", seen.notes);
        let Body::Parts(parts) = &seen.body else { panic!("{:?}", seen.body) };
        assert_eq!(parts[0].1, Body::Text("['t.csv', 'upload_002'] ['t', 't.csv', 'upload_002']".into()));
    });
}

// SPEC B10: a document is its text, and its tables are tables.
#[test]
fn a_document_is_read_as_text_and_queried_as_tables() {
    run(async {
        let desk = Desk::new().await;
        let text =
            "# 周报\n\n本周华东增长明显。\n\n| 地区 | 金额 |\n|---|---|\n| 华东 | 1,200 |\n| 华南 | 800 |\n";
        desk.upload("周报.md", text.as_bytes()).await;
        let read = desk.read(json!({"path": "周报.md"})).await.unwrap();
        assert!(matches!(&read.body, Body::Text(t) if t.contains("增长明显")), "{:?}", read.body);
        assert!(
            read.notes[0].contains("holds tables") && read.notes[0].contains("(2 rows)"),
            "{:?}",
            read.notes
        );
        let sheet = desk.read(json!({"path": "周报.md", "sheet_name": 0})).await.unwrap();
        assert!(sheet.summary.contains("2 rows × 2 columns"), "{}", sheet.summary);
        let sum = desk.query(json!({"query": "SELECT sum(金额) FROM upload_001"})).await.unwrap();
        assert_eq!(rows(&sum), &[[json!(2000)]]);
    });
}

// SPEC B6: Python and SQL see one table; the file itself lies beside it as it was uploaded.
#[test]
fn python_loads_the_table_that_sql_queries() {
    run(async {
        let desk = Desk::new().await;
        let messy = "某公司日报,,\n日期,地区,金额\n2024-01-02,华东,\"¥1,200.50\"\n2024-01-03,华南,¥800\n合计,,\"¥2,000.50\"\n";
        desk.upload("销售 表.csv", messy.as_bytes()).await;
        let kept =
            json!({"query": "SELECT 地区, sum(金额) AS s FROM \"销售_表\" GROUP BY 地区", "keep_as": "sums"});
        desk.query(kept).await.unwrap();
        let python = RunPython { python: Python::Ready(sandbox()), store: desk.store.clone() };
        let code = "t = load('upload_001')\n\
            print(t['金额'].sum(), len(t), t['日期'].dt.month.tolist(), tables['销售_表'].equals(t), load('销售 表.csv').equals(t))\n\
            print(tables['sums']['s'].sum(), open('销售 表.csv').read().count('合计'), '销售_表_with_totals' in tables)\n\
            try:\n    load('销售')\nexcept KeyError as e:\n    print(e)";
        let args = serde_json::from_value(json!({"code": code})).unwrap();
        let output = python.run(&desk.context(), args).await.unwrap();
        let Body::Parts(parts) = &output.body else { panic!("{:?}", output.body) };
        let Body::Text(text) = &parts[0].1 else { panic!("{parts:?}") };
        assert!(text.starts_with("2000.5 2 [1, 1] True True\n2000.5 1 True\n"), "{text}");
        assert!(text.contains("no table '销售'; there are: ") && text.contains("did you mean"), "{text}");
        assert_eq!(output.artifacts, [], "tables given are no files made");
    });
}

// SPEC B1, B2. The profile is written by hand, so that this does not depend on what ingest finds doubtful.
#[test]
fn every_tool_that_uses_a_table_brings_its_notes_and_totals_have_a_table_of_their_own() {
    run(async {
        let desk = Desk::new().await;
        let upload = desk.upload("s.csv", SALES.as_bytes()).await;
        let (c, id) = (&desk.conversation, &upload.file_id);
        let mut profile = upload.profile.unwrap();
        let parquet = desk.store.derived_path(c, id, &profile.tables[0].parquet).await.unwrap();
        desk.store.put_derived(c, id, "all.parquet", &parquet).await.unwrap();
        profile.tables[0].with_totals = "all.parquet".into();
        profile.tables[0].notes = serde_json::from_value(json!([
            {"code": "delimiter", "text": "delimiter ,"},
            {"code": "totals_left_out", "text": "1 total row left out"},
            {"code": "unit_mixed", "level": "warn", "text": "units are mixed", "column": "金额"},
        ]))
        .unwrap();
        desk.store.set_profile(c, id, IngestStatus::Ready, Some(&profile), None).await.unwrap();
        desk.upload("other.csv", SALES.as_bytes()).await;

        let codes = |output: &ToolOutput| -> Vec<String> {
            output
                .data_notes
                .iter()
                .map(|n| format!("{} {} {}", n.file_id.as_ref().unwrap(), n.table, n.note.code))
                .collect()
        };
        let both = ["upload_001 s totals_left_out", "upload_001 s unit_mixed"];
        assert_eq!(codes(&desk.query(json!({"query": "SELECT sum(金额) FROM s"})).await.unwrap()), both);
        assert_eq!(codes(&desk.read(json!({"path": "s.csv"})).await.unwrap()), both);
        let python = RunPython { python: Python::Ready(sandbox()), store: desk.store.clone() };
        let args = serde_json::from_value(json!({"code": "open('upload_001').read()"})).unwrap();
        assert_eq!(codes(&python.run(&desk.context(), args).await.unwrap()), both);
        assert_eq!(codes(&desk.query(json!({"query": "SELECT * FROM other"})).await.unwrap()), [""; 0]);

        let whole = desk.query(json!({"query": "SELECT count(*) FROM s_with_totals"})).await.unwrap();
        assert_eq!(rows(&whole), &[[json!(3)]]);
        assert_eq!(codes(&whole), ["upload_001 s unit_mixed"], "its totals are not left out");
        let shown = desk.query(json!({"query": "SHOW TABLES"})).await.unwrap();
        let named = "\"s_with_totals\" = \"upload_001_with_totals\" (with total rows, flagged in _is_total)";
        assert!(matches!(&shown.body, Body::Text(t) if t.contains(named)), "{:?}", shown.body);
    });
}

#[test]
fn refusals_and_unknown_connections_are_explained() {
    run(async {
        let desk = Desk::new().await;
        desk.upload("s.csv", SALES.as_bytes()).await;
        let refused = desk.query(json!({"query": "DELETE FROM s"})).await.unwrap_err();
        assert_eq!(refused.code, "READ_ONLY");
        let unknown = desk.query(json!({"query": "SELECT 1", "connection": "erp"})).await.unwrap_err();
        assert_eq!(unknown.code, "UNKNOWN_CONNECTION");
        let wrong = desk.query(json!({"query": "SELECT 价格 FROM s"})).await.unwrap_err();
        assert_eq!(wrong.code, "BAD_REFERENCE");
        let cut = desk.query(json!({"query": "SELECT * FROM range(50)", "max_rows": 0})).await.unwrap();
        assert_eq!(rows(&cut).len(), 1);
        assert!(cut.data_notes.iter().any(|n| n.note.code == "result_truncated"), "{:?}", cut.data_notes);
    });
}
