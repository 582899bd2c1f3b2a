//! What the audit says in the API's words, and what the gate asks of a model.

use ba_audit::{Audit, Evidence, Language, Options, audit, gate_request};
use serde_json::json;

fn evidence() -> Evidence {
    let mut evidence = Evidence::new();
    let names = ["地区", "销售额"].map(str::to_owned).to_vec();
    evidence.table(
        "call_2",
        names,
        vec![
            vec![json!("华东"), json!(14000)],
            vec![json!("华南"), json!(9100)],
            vec![json!("华北"), json!(6900)],
        ],
    );
    evidence.given("user", "目标是 5 万，看看完成情况");
    evidence
}

const REPORT: &str = "华东销售额 14,000 元，华南 9,100 元，合计 30,000 元，目标 5 万元。\n\n华北销售额 9,100 元，利润率 42.5%，华东销售额 14,500 元。\n";

#[test]
fn figures_are_told_in_characters_with_their_proofs() {
    insta::assert_json_snapshot!(audit(REPORT, &evidence(), Options::default()));
}

#[test]
fn the_gate_lists_what_nothing_proves() {
    let found = audit(REPORT, &evidence(), Options::default());
    insta::assert_snapshot!("gate_chinese", gate_request(&found, Language::Chinese).unwrap());
    insta::assert_snapshot!("gate_english", gate_request(&found, Language::English).unwrap());
}

#[test]
fn the_gate_is_silent_when_all_is_proven_and_lists_at_most_twenty() {
    let found = audit("华东销售额 14,000 元。", &evidence(), Options::default());
    assert_eq!((found.proven, gate_request(&found, Language::Chinese)), (1, None));
    let many: String = (0..50).map(|i| format!("- 某事 {}.37%\n", 31 + i)).collect();
    let request = gate_request(&audit(&many, &evidence(), Options::default()), Language::English).unwrap();
    assert!(
        request.contains("20. ") && !request.contains("21. ") && request.contains("30 more"),
        "{request}"
    );
}

#[test]
fn an_audit_is_read_back_as_it_was_written() {
    let found = audit("华东销售额 14,000 元，合计 30,000 元。", &evidence(), Options::default());
    let kept = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Audit>(&kept).unwrap(), found);
}

#[test]
fn what_lies_beyond_the_caps_is_said() {
    let long = "华东销售额 14,000 元。\n".repeat(30);
    let found = audit(&long, &evidence(), Options { max_bytes: 400, max_figures: 5 });
    let left = found.not_audited.unwrap();
    assert_eq!(found.figures.len(), 5);
    assert!(left.characters > 0 && left.figures > 0);
}
