//! What the model sees of every tool at every level, when it works and when it fails (SPEC E1, E6, E10). The web tools
//! have theirs beside their servers.

use std::path::Path;
use std::sync::Arc;

use ba_agent::pipeline::{Counter, Executor, ExecutorConfig, IdempotencyCache};
use ba_agent::{Registry, Typed};
use ba_data::Connections;
use ba_skills::{LibraryConfig, SkillLibrary};
use ba_tools::{ActivateSkill, FileReader, Python, QueryDatabase, RunPython};
use serde_json::{Value, json};

use crate::tables::{Desk, run, sandbox, tables};

struct Bench {
    desk: Desk,
    executor: Executor,
    registry: Registry,
}

impl Bench {
    async fn new() -> Self {
        let desk = Desk::new().await;
        let rows: String = (1..=120).map(|i| format!("2024-01-{:02},华东,{i}.5\n", i % 28 + 1)).collect();
        desk.upload("sales.csv", format!("日期,地区,金额\n{rows}").as_bytes()).await;
        let counter: Counter = Arc::new(|text: &str| text.chars().count().div_ceil(2));
        let library = SkillLibrary::open(LibraryConfig {
            shipped: Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills")),
            data_dir: desk.store.root().to_owned(),
            folders: vec![],
            limits: ba_skills::Limits::default(),
        });
        let (store, connections) = (desk.store.clone(), Connections::new(Vec::new()).unwrap());
        let registry = Registry::new(vec![
            Arc::new(Typed::new(FileReader { tables: Some(tables()), store: store.clone() })),
            Arc::new(Typed::new(QueryDatabase { tables: Some(tables()), connections, store: store.clone() })),
            Arc::new(Typed::new(RunPython { python: Python::Ready(sandbox()), store: store.clone() })),
            Arc::new(Typed::new(ActivateSkill::new(Arc::new(library.unwrap()), counter.clone()))),
        ]);
        let executor = Executor {
            config: ExecutorConfig::default(),
            cache: IdempotencyCache::default(),
            data: Arc::new(store),
        };
        Self { desk, executor, registry: registry.unwrap() }
    }

    /// The observation, with what differs from run to run made equal: the stored file's name, the time it took.
    async fn see(&self, tool: &str, level: &str, arguments: &Value) -> String {
        let mut arguments = arguments.clone();
        arguments["response_format"] = json!(level);
        let done = self.desk.execute(&self.executor, &self.registry, tool, arguments).await.result;
        let seen = match &done.data_file {
            Some(file) => done.observation.replace(file, "tool_data/FILE"),
            None => done.observation,
        };
        match seen.split_once("finished in ") {
            Some((before, rest)) => {
                let after = rest.split_once(" s").map_or("", |(_, after)| after);
                format!("{before}finished in N s{after}")
            }
            None => seen,
        }
    }
}

/// Tool, name of the case, arguments.
fn cases() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("file_reader", "ok", json!({"path": "upload_001"})),
        ("file_reader", "error", json!({"path": "upload_099"})),
        (
            "query_database",
            "ok",
            json!({"query": "SELECT 日期, sum(金额) AS s FROM sales GROUP BY 1 ORDER BY 1"}),
        ),
        ("query_database", "error", json!({"query": "SELECT sum(金鹅) FROM sales"})),
        (
            "run_python",
            "ok",
            json!({"code": "print('rows', 3)\nimport pandas as pd\npd.DataFrame({'a': [1, 2]})"}),
        ),
        ("run_python", "error", json!({"code": "x = 1\nx / 0"})),
        ("activate_skill", "ok", json!({"skill_name": "pareto-abc"})),
        ("activate_skill", "error", json!({"skill_name": "pareto"})),
    ]
}

#[test]
fn every_tool_at_every_level() {
    run(async {
        let bench = Bench::new().await;
        for (tool, name, arguments) in cases() {
            for level in ["brief", "standard", "full"] {
                let seen = bench.see(tool, level, &arguments).await;
                let failed = seen.contains("Operation failed.");
                // Instructions are no use when they are cut to a line: the call says so instead.
                let no_room = tool == "activate_skill" && level == "brief";
                assert_eq!(failed, name == "error" || no_room, "{tool} {level}: {seen}");
                insta::assert_snapshot!(format!("{tool}_{name}_{level}"), seen);
            }
        }
    });
}
