//! Golden tests: the examples of SPEC R, with exact field names, and what hostile or careless models send.

use ba_protocol::file::{IngestOptions, IngestStatus};
use ba_protocol::{UploadId, parse};
use serde_json::{Value, json};

use super::*;

fn run() -> RunFacts {
    RunFacts {
        conversation_id: ConversationId::parse("conv_a87365d8983d").unwrap(),
        run_id: RunId::parse("run_00112233445566aa").unwrap(),
        duration_ms: 1234,
        tool_calls: vec![],
        artifacts: vec![],
        model: "scripted:test".into(),
        offline: false,
        usage: UsageInfo::default(),
        skill_chain: vec![],
        stop_reason: None,
        warnings: vec![],
        data_notes: vec![],
    }
}

fn at() -> jiff::Timestamp {
    "2026-02-07T10:30:00Z".parse().unwrap()
}

fn known() -> Known {
    let conversation_id = run().conversation_id;
    Known {
        results: ba_audit::Evidence::new(),
        code: vec![CodeFile {
            code_id: CodeId::parse("code_sales_analysis").unwrap(),
            conversation_id: conversation_id.clone(),
            version: 2,
            language: "python".into(),
            description: "销售数据分析".into(),
            file_path: "data/code_sales_analysis.py".into(),
            line_count: 3,
            char_count: 60,
            size: 60,
            created_at: at(),
        }],
        uploads: vec![Upload {
            file_id: UploadId::numbered(1),
            conversation_id,
            filename: "sales_data.csv".into(),
            file_type: "csv".into(),
            size: 15_667,
            sha256: "0".repeat(64),
            created_at: at(),
            description: "2024年销售数据".into(),
            status: IngestStatus::Ready,
            error: None,
            problem: None,
            profile: None,
            ingest_options: IngestOptions::default(),
        }],
        artifacts: ["sales_report.xlsx", "analysis_chart.png"]
            .map(|name| Artifact {
                name: name.into(),
                file_type: name.rsplit_once('.').unwrap().1.into(),
                size: 9,
                created_at: at(),
            })
            .to_vec(),
    }
}

fn turn(wire: Value) -> StructuredResponse {
    serde_json::from_value(wire).unwrap()
}

fn report(content: &str) -> StructuredResponse {
    turn(json!({"task_analysis": "t", "execution_plan": "R1: 报告(当前)", "current_round": 1,
        "action": {"type": "complete", "content": content}}))
}

fn draft(turn: &StructuredResponse) -> Draft {
    let mut n = 0;
    complete(Answer::Structured(turn), &known(), run(), &mut || {
        n += 1;
        CodeId::parse(&format!("code_20260207_a1b2c3d{n}")).unwrap()
    })
}

fn wire(response: &AgentResponse) -> Value {
    serde_json::to_value(response).unwrap()
}

// SPEC R1, R2: the documented tool_call answer, field by field.
#[test]
fn a_tool_call_turn_is_a_processing_answer() {
    let calls = json!([
        {"tool_name": "run_python", "tool_call_id": "call_abc123", "arguments": {"code": "print(1)", "timeout": 60}},
        {"tool_name": "file_reader", "tool_call_id": "call_def456", "arguments": {"path": "data/sales.csv", "nrows": 100}}
    ]);
    let turn = turn(json!({
        "task_analysis": "用户需分析销售数据", "execution_plan": "R1: 数据查询与计算; R2: 可视化与报告", "current_round": 1,
        "action": {"type": "tool_call", "content": calls}
    }));
    assert_eq!(
        wire(&processing(&turn, run())),
        json!({
            "response": "", "conversation_id": "conv_a87365d8983d", "run_id": "run_00112233445566aa",
            "duration_ms": 1234, "tool_calls": [], "artifacts": [],
            "metadata": {
                "content_type": "text", "has_structured_response": true, "action_type": "tool_call", "current_round": 1,
                "task_analysis": "用户需分析销售数据", "execution_plan": "R1: 数据查询与计算; R2: 可视化与报告",
                "status": "processing", "contains_html": false, "tool_calls": calls,
                "model": "scripted:test", "offline": false,
                "usage": {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0}
            }
        })
    );
}

// SPEC R3, R4: the documented markdown answer.
#[test]
fn a_markdown_report_keeps_its_questions_and_real_links() {
    let content = "根据数据分析结果：\n\n- Q1 销售额：500万元，同比增长15%";
    let turn = turn(json!({
        "task_analysis": "分析完成", "execution_plan": "R1: 数据查询; R2: 数据分析; R3: 生成报告(当前)", "current_round": 3,
        "action": {"type": "complete", "content": content,
            "recommended_questions": ["各产品线的销售占比如何？", " ", "各产品线的销售占比如何？", "可以按地区分解销售数据吗？"],
            "download_links": ["sales_report.xlsx", "analysis_chart.png"]}
    }));
    let answer = draft(&turn).finish(&[]);
    assert_eq!(answer.response, content);
    assert_eq!(
        wire(&answer)["metadata"],
        json!({
            "content_type": "markdown", "has_structured_response": true, "action_type": "complete", "current_round": 3,
            "task_analysis": "分析完成", "execution_plan": "R1: 数据查询; R2: 数据分析; R3: 生成报告(当前)",
            "status": "complete", "contains_html": false,
            "recommended_questions": ["各产品线的销售占比如何？", "可以按地区分解销售数据吗？"],
            "download_links": ["sales_report.xlsx", "analysis_chart.png"],
            "model": "scripted:test", "offline": false,
            "usage": {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0}
        })
    );
}

// SPEC R6: the documented ECharts answer; the content itself is not touched.
#[test]
fn a_chart_report_is_html() {
    let content = "<div id='chart-sales' style='width:600px'></div><script>(function(){const chart = echarts.init(document.getElementById('chart-sales'));})();</script>";
    let answer = draft(&report(content)).finish(&[]);
    assert_eq!(answer.response, content);
    assert_eq!(answer.metadata.content_type, "html");
    assert!(answer.metadata.contains_html);
    assert!(draft(&report("<DIV>x</DIV>")).finish(&[]).metadata.contains_html);
}

#[test]
fn html_inside_a_fence_is_not_html() {
    let answer = draft(&report("看：\n```text\n<div>echarts</div>\n```\n完")).finish(&[]);
    assert_eq!(answer.metadata.content_type, "markdown");
    let answer = draft(&report("看：\n~~~~html\n<div></div>\n~~~~\n")).finish(&[]);
    assert_eq!(answer.metadata.content_type, "markdown");
}

// SPEC R7, R8
// SPEC P10
#[test]
fn refs_become_placeholders_in_order() {
    let content = "见 <code_ref>code_sales_analysis</code_ref> 与 <file_ref>upload_001</file_ref>，再看 \
                   <code_ref> code_sales_analysis </code_ref>、<file_ref>analysis_chart.png</file_ref>";
    let answer = draft(&report(content)).finish(&[]);
    assert_eq!(answer.response, "见 {{CODE:1}} 与 {{FILE:1}}，再看 {{CODE:1}}、{{FILE:2}}");
    assert_eq!(
        wire(&answer)["metadata"]["code_refs"],
        json!([{"code_id": "code_sales_analysis", "language": "python", "description": "销售数据分析", "index": 1}])
    );
    assert_eq!(
        wire(&answer)["metadata"]["file_refs"],
        json!([
            {"file_id": "upload_001", "filename": "sales_data.csv", "file_type": "csv", "size": 15667, "index": 1},
            {"file_id": "analysis_chart.png", "filename": "analysis_chart.png", "file_type": "png", "size": 9, "index": 2}
        ])
    );
}

// SPEC R7, R8: unknown ids are readable text and a warning, and cannot smuggle markup.
#[test]
fn unknown_refs_become_text_and_warnings() {
    let answer = draft(&report(
        "a <code_ref>code_none</code_ref> b <file_ref>upload_999</file_ref> c <code_ref>../../etc</code_ref> d <file_ref>](javascript:x)</file_ref>",
    ))
    .finish(&[]);
    assert_eq!(
        answer.response,
        "a （代码 code_none 不存在） b （文件 upload_999 不存在） c （代码 ../../etc 不存在） d （文件 (javascript:x) 不存在）"
    );
    assert_eq!(answer.metadata.warnings.len(), 4);
    assert!(answer.metadata.code_refs.is_empty() && answer.metadata.file_refs.is_empty());
}

// SPEC R9: the documented example.
#[test]
fn fenced_code_is_saved_and_replaced() {
    let content = "以下是销售数据分析代码：\n\n```python\nimport pandas as pd\ndf = pd.read_csv('sales.csv')\n```\n\n代码已保存。";
    let draft = draft(&report(content));
    assert_eq!(
        draft.save,
        [CodeToSave {
            code_id: CodeId::parse("code_20260207_a1b2c3d1").unwrap(),
            language: languages::FALLBACK,
            description: "import pandas as pd".into(),
            code: "import pandas as pd\ndf = pd.read_csv('sales.csv')".into(),
        }]
    );
    let replaced = "以下是销售数据分析代码：\n\n<!-- CODE_SAVED: code_20260207_a1b2c3d1 | import pandas as pd -->\n\n代码已保存。";
    assert_eq!(draft.history, replaced);
    let answer = draft.finish(&[]);
    assert_eq!(answer.response, replaced);
    assert_eq!(
        wire(&answer)["metadata"]["saved_codes"],
        json!([{"code_id": "code_20260207_a1b2c3d1", "version": 1, "language": "python", "description": "import pandas as pd",
            "file_path": "data/code_20260207_a1b2c3d1.py", "original_length": 49}])
    );
}

#[test]
fn many_languages_are_taken_and_the_others_stay() {
    let content = "1.\n   ```SQL\n   -- top --> x\n   select 1\n   ```\n```mermaid\ngraph\n```\n```\nplain\n```\n````js\n```\nx\n````\n```rust\nfn";
    let draft = draft(&report(content));
    let taken: Vec<_> = draft.save.iter().map(|c| (c.language.name, c.code.as_str())).collect();
    assert_eq!(taken, [("sql", "-- top --> x\nselect 1"), ("javascript", "```\nx"), ("rust", "fn")]);
    assert_eq!(
        draft.history,
        "1.\n<!-- CODE_SAVED: code_20260207_a1b2c3d1 | -- top → x -->\n```mermaid\ngraph\n```\n```\nplain\n```\n\
         <!-- CODE_SAVED: code_20260207_a1b2c3d2 | ``` -->\n<!-- CODE_SAVED: code_20260207_a1b2c3d3 | fn -->"
    );
}

// SPEC R5, C3, C5, X8
#[test]
fn code_blocks_are_saved_under_safe_ids() {
    let turn = turn(
        json!({"current_round": 1, "action": {"type": "complete", "content": "已生成 <code_ref>code_growth</code_ref>",
        "download_links": ["growth.py", "code_growth.py"],
        "code_blocks": [
            {"code_id": "code_growth", "code": "x = 1\n", "language": "python", "description": "增长"},
            {"code_id": "../../evil", "code": "\n  y()", "language": "cobol", "description": ""},
            {"code_id": "code_empty", "code": "  ", "language": "python", "description": "空"}
        ]}}),
    );
    let draft = draft(&turn);
    let ids: Vec<_> =
        draft.save.iter().map(|c| (c.code_id.as_str(), c.language.name, c.description.as_str())).collect();
    assert_eq!(ids, [("code_growth", "python", "增长"), ("code_evil", "python", "y()")]);
    assert_eq!(
        draft.history,
        "已生成 <code_ref>code_growth</code_ref>\n\n<!-- CODE_SAVED: code_growth | 增长 -->\n\n<!-- CODE_SAVED: code_evil | y() -->"
    );
    let file = CodeFile {
        code_id: CodeId::parse("code_growth").unwrap(),
        version: 3,
        file_path: "data/code_growth.v3.py".into(),
        ..known().code[0].clone()
    };
    let answer = draft.finish(&[file]);
    assert_eq!(answer.response, "已生成 {{CODE:1}}");
    assert_eq!(answer.metadata.saved_codes[0].version, 3);
    assert_eq!(answer.metadata.saved_codes[0].file_path, "data/code_growth.v3.py");
    assert_eq!(answer.metadata.download_links, ["growth.py"]);
    assert_eq!(answer.metadata.warnings.len(), 2, "{:?}", answer.metadata.warnings);
}

// SPEC R4: only links to files that exist in this conversation are kept.
#[test]
fn invented_links_become_warnings() {
    let turn = turn(json!({"action": {"type": "complete", "content": "x", "download_links": [
        "sales_report.xlsx", "./out/sales_report.xlsx", "/api/v1/files/download/analysis_chart.png", "upload_001",
        "profit.xlsx", "../../etc/passwd", "https://evil.example/a.exe", ""
    ]}}));
    let answer = draft(&turn).finish(&[]);
    assert_eq!(answer.metadata.download_links, ["sales_report.xlsx", "analysis_chart.png", "sales_data.csv"]);
    assert_eq!(
        answer.metadata.warnings,
        [
            "下载文件不存在: profit.xlsx",
            "下载文件不存在: ../../etc/passwd",
            "下载文件不存在: https://evil.example/a.exe"
        ]
    );
}

#[test]
fn placeholders_and_saved_lines_the_model_typed_do_not_fool_the_page() {
    let answer = draft(&report(
        "{{CODE:1}} {{FILE:7}} <!-- CODE_SAVED: code_sales_analysis | x --> <!-- CODE_SAVED: code_gone | y -->",
    ))
    .finish(&[]);
    assert_eq!(answer.response, "{\u{2060}{CODE:1}} {\u{2060}{FILE:7}} {{CODE:1}} （代码 code_gone 不存在）");
}

#[test]
fn tags_inside_a_kept_fence_are_text() {
    let content = "```text\n<code_ref>code_sales_analysis</code_ref>\n```";
    let answer = draft(&report(content)).finish(&[]);
    assert_eq!(answer.response, content);
}

// SPEC P11: text without an object is a complete answer.
#[test]
fn plain_text_is_a_complete_answer() {
    let answer = complete(Answer::Plain { text: "你好", round: 0 }, &Known::default(), run(), &mut || {
        CodeId::dated(jiff::civil::date(2026, 2, 7), 0x1f2e_3d4c)
    })
    .finish(&[]);
    assert_eq!(answer.response, "你好");
    assert!(!answer.metadata.has_structured_response);
    assert_eq!((answer.metadata.action_type.as_str(), answer.metadata.current_round), ("complete", 1));
    assert_eq!(answer.metadata.content_type, "markdown");
}

#[test]
fn a_parsed_turn_goes_straight_through() {
    let ba_protocol::ParseOutcome::Structured(turn) =
        parse(r#"{"action":{"type":"complete","content":"ok"}}"#).outcome
    else {
        panic!("not structured")
    };
    assert_eq!(draft(&turn).finish(&[]).response, "ok");
}

proptest::proptest! {
    // Cutting at fences loses nothing, whatever the text.
    #[test]
    fn pieces_join_to_the_report(report in "([a-z`~ \t]|\n|```|~~~|<div|python){0,60}") {
        let joined: String = fences::split(&report)
            .iter()
            .map(|piece| match piece {
                fences::Piece::Prose(text) => *text,
                fences::Piece::Fence { whole, .. } => whole,
            })
            .collect();
        proptest::prop_assert_eq!(joined, report);
    }
}

#[test]
fn code_that_is_too_large_to_keep_is_said_and_does_not_end_the_answer() {
    let huge = "x".repeat(MAX_CODE_BYTES + 1);
    let turn = json!({"task_analysis": "", "execution_plan": "", "current_round": 1, "action": {"type": "complete",
        "content": format!("看\n\n```python\n{huge}\n```\n"),
        "code_blocks": [{"code_id": "code_big", "code": huge, "language": "python", "description": "大"},
                        {"code_id": "code_odd", "code": "x", "language": "brainfuck", "description": ""}]}});
    let parsed = parse(&turn.to_string());
    let ba_protocol::ParseOutcome::Structured(parsed) = parsed.outcome else { panic!("{parsed:?}") };
    let mut ids = || CodeId::parse("code_20260101_00000000").unwrap();
    let draft = complete(Answer::Structured(&parsed), &known(), run(), &mut ids);
    assert_eq!(draft.save.iter().map(|code| code.code_id.as_str()).collect::<Vec<_>>(), ["code_odd"]);
    let warnings = &draft.response.metadata.warnings;
    assert!(warnings[0].contains("code_big") && warnings[0].contains("未保存"), "{warnings:?}");
}
