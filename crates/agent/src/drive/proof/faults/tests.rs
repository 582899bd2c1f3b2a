//! Answers with one fault each, and answers without.

use ba_audit::{Options, audit};
use serde_json::json;

use super::*;

fn evidence() -> Evidence {
    let mut all = Evidence::new();
    let row = |region: &str, sum: i64| vec![json!(region), json!(sum)];
    all.table(
        "call_1",
        vec!["地区".into(), "销售额".into()],
        vec![row("华东", 150_600), row("华南", 87_300)],
    );
    all.table("call_2", vec!["地区".into()], vec![]);
    all.text("call_3", "mean: 4.5");
    all
}

fn steps(code: &str, level: &str) -> Vec<Round> {
    let result = json!({"tool_call_id": "call_1", "tool_name": "query_database", "observation": "",
        "output_level": "standard", "success": true, "data_notes": [{"file_id": "upload_001", "table": "orders",
            "code": code, "level": level, "text": "the join multiplied rows (100 → 240)"}]});
    let step = json!({"model_text": "", "thought": "", "tool_calls": [], "results": [result]});
    vec![serde_json::from_value(step).unwrap()]
}

fn found(question: &str, written: &str, steps: &[Round], files: &[&str]) -> Vec<Fault> {
    let evidence = evidence();
    let audited = audit(written, &evidence, Options::default());
    let files: Vec<String> = files.iter().map(|f| (*f).to_owned()).collect();
    find(&Delivered {
        question,
        written,
        text: written,
        warnings: &[],
        files: &files,
        pictures: false,
        evidence: &evidence,
        steps,
        audit: Some(&audited),
    })
}

fn lines(faults: &[Fault]) -> Vec<[String; 2]> {
    faults.iter().map(|f| [f.line(true), f.line(false)]).collect()
}

#[test]
fn a_chart_by_reference_must_name_a_call_and_its_columns() {
    let written = "图：\n<chart data=\"call_9\" kind=\"bar\" x=\"地区\" y=\"销售额\"/>\n<chart data=\"call_2\" kind=\"bar\" x=\"地区\" y=\"a\"/>\n\
        <chart data=\"call_1\" kind=\"bar\" x=\"地区\" y=\"销售额,利润\"/>\n<chart data='call_1'>{\"series\": [}</chart>\n\
        <chart data=\"call_1\" kind=\"bar\" x=\"地区\" y=\"销售额\" title=\"a > b\"/>";
    insta::assert_debug_snapshot!(lines(&found("q", written, &[], &[])));
    assert_eq!(found("q", "```html\n<chart data=\"call_9\"/>\n```", &[], &[]), [], "code is not drawn");
}

#[test]
fn a_linked_file_must_exist() {
    let written = "[下载](/api/v1/files/download/%E9%94%80%E5%94%AE.xlsx) [b](out.csv) [c](https://example.org/a.pdf) [d](sandbox:/mnt/data/x.png)";
    assert_eq!(
        found("q", written, &[], &["out.csv"]),
        [Fault::NoFile("x.png".into()), Fault::NoFile("销售.xlsx".into())]
    );
    assert_eq!(found("q", written, &[], &["out.csv", "x.png", "销售.xlsx"]), []);
}

#[test]
fn a_failed_check_on_a_used_result_must_be_said() {
    let written = "华东销售额 150,600 元。";
    let failed = steps("join_multiplied", "warn");
    assert_eq!(found("q", written, &failed, &[]).len(), 1);
    assert_eq!(found("q", "华东销售额 150,600 元（已去重）。", &failed, &[]), []);
    assert_eq!(found("q", "没有数字。", &failed, &[]), [], "the result is not used");
    assert_eq!(found("q", written, &steps("join_multiplied", "step"), &[]), [], "only warnings");
    assert_eq!(found("q", written, &steps("unit_mixed", "warn"), &[]), [], "the answer carries it by itself");
}

#[test]
fn warnings_of_the_response_name_files_that_are_not_there() {
    let warnings =
        ["下载文件不存在: a.xlsx".to_owned(), "引用的代码不存在: code_x".to_owned(), "other".to_owned()];
    let evidence = evidence();
    let delivered = Delivered {
        question: "q",
        written: "x",
        text: "x",
        warnings: &warnings,
        files: &[],
        pictures: false,
        evidence: &evidence,
        steps: &[],
        audit: None,
    };
    assert_eq!(find(&delivered), [Fault::NoFile("a.xlsx".into()), Fault::NoFile("code_x".into())]);
}
