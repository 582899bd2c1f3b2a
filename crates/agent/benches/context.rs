//! Tokens saved by context management, and the cost of building a context. Counted, not estimated.
//! `cargo bench -p ba-agent --bench context`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints")]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use ba_agent::context::{ContextInput, MemoCounter, Strategy, build_context};
use ba_model::TokenCounter;
use ba_protocol::turn::Round;
use ba_protocol::{FileFacts, RunId, ToolCall, ToolResult, Turn};
use jiff::Timestamp;

const WINDOW: usize = 128_000;

fn main() {
    let tokens = TokenCounter::for_model("gpt-4o");
    let counter = MemoCounter::new(Arc::new(move |text: &str| tokens.count(text)));
    println!("| conversation | tokens uncleaned | sent | saved | share of a 128k window |");
    println!("|---|---|---|---|---|");
    for (turns, files) in [(5, 3), (10, 5), (50, 20)] {
        report(turns, files, &counter);
    }
    for turns in [12, 25, 50, 100] {
        speed(turns, &counter);
    }
}

fn report(turns: usize, files: usize, counter: &MemoCounter) {
    let history = conversation(turns, files);
    let none = HashMap::new();
    let built = build_context(&input(&history, &none), counter);
    let (before, after) = (built.report.original_tokens, built.report.tokens);
    println!(
        "| {turns} turns, {files} files | {before} | {after} | {:.1} % | {:.1} % |",
        (before - after) as f64 / before as f64 * 100.0,
        after as f64 / WINDOW as f64 * 100.0
    );
    let texts: String = built.messages.iter().map(|m| m.wire_text()).collect();
    assert!(texts.contains("1000.5 万元"), "the figure of the first turn must still be findable");
}

/// Four messages a turn, about 3,000 tokens each, again and again: fifty turns are 200 messages and 150k tokens.
fn speed(turns: usize, counter: &MemoCounter) {
    let history: Vec<Turn> =
        (0..turns).map(|i| turn(i, vec![step(i, 0, "query_database", &rows(162), None)])).collect();
    let none = HashMap::new();
    let wide = ContextInput { window: 1_000_000, ..input(&history, &none) };
    let first = Instant::now();
    let built = build_context(&wide, counter);
    let first = first.elapsed();
    let mut times: Vec<_> = (0..50)
        .map(|_| {
            let began = Instant::now();
            std::hint::black_box(build_context(&wide, counter));
            began.elapsed()
        })
        .collect();
    times.sort();
    println!(
        "{} messages, {} tokens before: first build {:.1} ms, then p50 {:.2} ms, {:.1} ns per token",
        history.len() * 4,
        built.report.original_tokens,
        first.as_secs_f64() * 1e3,
        times[25].as_secs_f64() * 1e3,
        times[25].as_secs_f64() * 1e9 / built.report.original_tokens as f64
    );
}

fn input<'a>(turns: &'a [Turn], summaries: &'a HashMap<String, String>) -> ContextInput<'a> {
    ContextInput {
        system_prompt: "",
        turns,
        file_list: None,
        user_message: "第一轮的数字是多少？",
        steps: &[],
        correction: None,
        gate: None,
        last_turn: false,
        window: WINDOW,
        strategy: Strategy::Summarize,
        summaries,
    }
}

/// Each file is read once, in the first turns that come; every turn also runs a query with a small result.
fn conversation(turns: usize, files: usize) -> Vec<Turn> {
    (0..turns)
        .map(|i| {
            let reads = (0..files).filter(|f| f % turns == i);
            let mut steps: Vec<Round> =
                reads.map(|f| step(i, f, "file_reader", &rows(150), Some(facts(f)))).collect();
            steps.push(step(
                i,
                99,
                "query_database",
                &format!("region,amount\n华东,{i}00.5\n华南,{i}20"),
                None,
            ));
            turn(i, steps)
        })
        .collect()
}

fn rows(n: usize) -> String {
    (0..n)
        .map(|i| {
            format!(
                "2024-{:02}-{:02},产品{},{}.{:02},华东\n",
                i % 12 + 1,
                i % 28 + 1,
                i % 40,
                i * 37 % 9000,
                i % 100
            )
        })
        .collect()
}

fn facts(f: usize) -> FileFacts {
    let columns = ["date", "product", "amount", "region"].map(str::to_owned).to_vec();
    FileFacts::Table { name: format!("sales_{f}.csv"), format: "csv".into(), rows: 5000, columns }
}

fn step(i: usize, f: usize, tool: &str, content: &str, facts: Option<FileFacts>) -> Round {
    let id = format!("call_{i}_{f}");
    let mut arguments = serde_json::Map::new();
    arguments.insert("query".into(), "SELECT region, sum(amount) FROM sales GROUP BY 1".into());
    Round {
        model_text: format!(
            r#"{{"task_analysis":"先看数据","execution_plan":"R1: 查询(当前); R2: 报告","current_round":1,"action":{{"type":"tool_call","content":[{{"tool_name":"{tool}","tool_call_id":"{id}","arguments":{{"path":"sales_{f}.csv"}}}}]}}}}"#
        ),
        thought: "先看数据".into(),
        thinking: None,
        tool_calls: vec![ToolCall { tool_name: tool.into(), tool_call_id: id.clone(), arguments }],
        results: vec![ToolResult {
            file_facts: facts,
            ..ToolResult::success(
                id,
                tool,
                format!("<tool_result name=\"{tool}\">\n{content}\n</tool_result>"),
            )
        }],
    }
}

fn turn(i: usize, steps: Vec<Round>) -> Turn {
    Turn {
        run_id: RunId::parse(&format!("run_{i:016x}")).unwrap(),
        user_message: format!("第 {} 个问题：各地区销售额？", i + 1),
        created_at: Timestamp::UNIX_EPOCH,
        steps,
        final_answer: Some(format!("华东销售额 {}000.5 万元，同比 +{}%。\n\n谢谢。", i + 1, i + 3)),
        tokens_used: 0,
        audit: None,
        ending: Default::default(),
    }
}
