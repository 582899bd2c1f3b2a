//! What the pipeline itself costs per call: a tool that returns at once, results of three sizes, each level.
//! `cargo bench -p ba-agent --bench pipeline`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ba_agent::pipeline::{CallRequest, Counter, Executor, ExecutorConfig, IdempotencyCache, Told, ToolData};
use ba_agent::run::{Decision, PlannedCall};
use ba_agent::{
    Body, CallPlan, Column, Effects, Registry, Tool, ToolContext, ToolError, ToolOutput, ToolSpec,
};
use ba_model::TokenCounter;
use ba_protocol::{ConversationId, OutputLevel, RunId, ToolCall, UserId};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

struct Instantly {
    spec: ToolSpec,
    /// Made before the clock starts, one for each call.
    outputs: Mutex<Vec<ToolOutput>>,
}

#[async_trait]
impl Tool for Instantly {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn plan(&self, _: &Map<String, Value>) -> CallPlan {
        CallPlan { effects: Effects::Changes, timeout: Duration::from_secs(10), retry_network: false }
    }

    async fn call(&self, _: &ToolContext, _: Map<String, Value>) -> Result<ToolOutput, ToolError> {
        Ok(self.outputs.lock().pop().unwrap())
    }
}

struct Nowhere;

#[async_trait]
impl ToolData for Nowhere {
    async fn keep(
        &self,
        _: &ConversationId,
        _: &str,
        _: &str,
        bytes: &[u8],
        _: &str,
    ) -> Result<String, String> {
        std::hint::black_box(bytes);
        Ok("tool_data/x".to_owned())
    }
}

fn table(rows: usize) -> ToolOutput {
    let columns =
        vec![Column::new("region", "VARCHAR"), Column::new("month", "DATE"), Column::new("amount", "DOUBLE")];
    let rows = (0..rows).map(|i| vec![json!("华东"), json!("2024-01-01"), json!(i as f64 * 1.5)]).collect();
    ToolOutput::new("rows", Body::Table { columns, rows, total_rows: None })
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let tokens = TokenCounter::for_model("gpt-4o");
    let counter: Counter = Arc::new(move |text: &str| tokens.count(text));
    println!("| rows | level | µs per call | ns per row | observation bytes | as JSON alone, µs | ratio |");
    println!("|---|---|---|---|---|---|---|");
    for rows in [10, 1_000, 100_000] {
        let output = table(rows);
        let times = if rows > 10_000 { 10 } else { 300 };
        let plain = json_alone(&output, times);
        for level in ["brief", "standard", "full"] {
            let _warm = runtime.block_on(measure(&output, level, times, &counter));
            let (per_call, bytes) = runtime.block_on(measure(&output, level, times, &counter));
            let micros = per_call.as_secs_f64() * 1e6;
            let (per_row, ratio) = (micros * 1e3 / rows as f64, micros / plain);
            println!("| {rows} | {level} | {micros:.0} | {per_row:.0} | {bytes} | {plain:.0} | {ratio:.2} |");
        }
    }
    let text = "华东地区 2024 年销售额 1,234.50 万元，同比增长 18.2%。".repeat(20_000);
    let began = Instant::now();
    let counted = counter(&text);
    println!("\ntoken counting: {:.1} M tokens/s", counted as f64 / began.elapsed().as_secs_f64() / 1e6);
}

/// The least anyone must do with a result: write it down once.
fn json_alone(output: &ToolOutput, times: u32) -> f64 {
    let Body::Table { rows, .. } = &output.body else { return 0.0 };
    let began = Instant::now();
    for _ in 0..times {
        std::hint::black_box(serde_json::to_string(rows).unwrap());
    }
    began.elapsed().as_secs_f64() * 1e6 / f64::from(times)
}

async fn measure(output: &ToolOutput, level: &str, times: u32, counter: &Counter) -> (Duration, usize) {
    let spec = ToolSpec {
        name: "instant".into(),
        version: "1".into(),
        description: String::new(),
        schema: json!({}),
        default_level: None,
    };
    let outputs = Mutex::new((0..times).map(|_| output.clone()).collect());
    let registry = Registry::new(vec![Arc::new(Instantly { spec, outputs })]).unwrap();
    let executor = Executor {
        config: ExecutorConfig::default(),
        cache: IdempotencyCache::default(),
        data: Arc::new(Nowhere),
    };
    let Value::Object(arguments) = json!({"response_format": level}) else { return (Duration::ZERO, 0) };
    let call = ToolCall { tool_name: "instant".into(), tool_call_id: "call_1".into(), arguments };
    let planned = PlannedCall { call, decision: Decision::Run };
    let mut bytes = 0;
    let began = Instant::now();
    for _ in 0..times {
        let context = ToolContext::new(UserId::local(), ConversationId::random(), RunId::random(), "call_1");
        let executed = executor
            .execute(CallRequest {
                planned: &planned,
                registry: &registry,
                context,
                global_level: OutputLevel::Standard,
                window_share: 0.0,
                files: "v",
                counter,
                told: &Told::default(),
            })
            .await;
        bytes = executed.unwrap().result.observation.len();
    }
    (began.elapsed() / times, bytes)
}
