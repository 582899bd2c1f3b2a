//! Reports made to hurt: random bytes, mutated reports, endless tables, charts that are programs. Nothing may panic, and
//! nothing may take long.

use ba_audit::{Evidence, Options, audit};
use proptest::prelude::*;
use serde_json::json;

use crate::set;

fn evidence() -> Evidence {
    let mut evidence = Evidence::new();
    let names = ["地区", "月份", "销售额", "rate_pct"].map(str::to_owned).to_vec();
    let row = |i: usize| {
        vec![
            json!(format!("地区{i}")),
            json!(format!("2024-{:02}", i % 12 + 1)),
            json!(i * 37),
            json!(0.01 * i as f64),
        ]
    };
    evidence.table("q", names, (0..300).map(row).collect());
    evidence.text("py", "a: 1\n(((((\n%%% 5");
    evidence.given("user", "top 5 of 300 万");
    evidence
}

/// Ends soon only while work does not grow with the square of the input.
#[test]
fn hostile_reports_end_soon() {
    let evidence = evidence();
    for report in [
        "|".repeat(100_000),
        "| 地区1 | 37 ".repeat(12_000),
        "(".repeat(100_000),
        "1".repeat(150_000),
        "1,".repeat(80_000),
        "地区1 37 ".repeat(12_000),
        "- ".repeat(60_000),
        "#".repeat(100_000),
        "<div ".repeat(30_000),
        "<table><tr><td>37".repeat(9_000),
        format!("<table>{}", "<tr><td>地区1</td><td>37</td></tr>".repeat(4_000)),
        format!("<td>{}", "<<>>".repeat(40_000)),
        "`".repeat(100_000),
        "比地区1高 5.25% ".repeat(5_000),
        format!("<script>{}</script>", "function f(){ return {series: [".repeat(4_000)),
        format!("```echarts\n{{series: [{{data: [{}]}}]}}\n```", "37,".repeat(40_000)),
        format!("```echarts\n{}\n```", "[{(".repeat(30_000)),
        "2024年1月".repeat(12_000),
        "地区1、地区2和地区3分别为 37、74 和 111，".repeat(2_500),
    ] {
        let found = audit(&report, &evidence, Options::default());
        assert!(found.figures.len() <= 20_000);
    }
}

#[test]
fn hostile_labels_end_soon() {
    let mut evidence = Evidence::new();
    let labels: Vec<Vec<serde_json::Value>> =
        (0..20_000).map(|i| vec![json!("a".repeat(i % 61)), json!("\u{202e}|{}<>(**)"), json!(i)]).collect();
    evidence.table("q", vec!["a a a".to_owned(), String::new(), "(((".to_owned()], labels);
    let found = audit(&"a aa aaa 77 ".repeat(4_000), &evidence, Options::default());
    assert!(!found.figures.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_audited(text in "\\PC{0,400}") {
        check(&text, &evidence());
    }

    #[test]
    fn any_signs_are_audited(text in "[0-9.,%$()|`<>{}\\[\\]:'\"\\n #*地区1年月日Q比前万亿a-]{0,300}") {
        check(&text, &evidence());
    }

    #[test]
    fn mutated_reports_are_audited(which in 0usize..160, at in 0.0f64..1.0, cut in 0usize..60, put in "[0-9|`<{(年%，\\n-]{0,6}") {
        let cases = &*CASES;
        let case = &cases[which % cases.len()];
        let mut chars: Vec<char> = case.report.chars().collect();
        let from = (at * chars.len() as f64) as usize;
        let to = (from + cut).min(chars.len());
        chars.splice(from..to, put.chars());
        check(&chars.into_iter().collect::<String>(), &case.evidence);
    }
}

static CASES: std::sync::LazyLock<Vec<set::Case>> = std::sync::LazyLock::new(set::dev);

/// Places are characters of the report, in order, and say what is there.
fn check(text: &str, evidence: &Evidence) {
    let found = audit(text, evidence, Options::default());
    let chars: Vec<char> = text.chars().collect();
    let mut last = 0;
    for figure in &found.figures {
        assert!(figure.start >= last && figure.end <= chars.len());
        assert_eq!(chars[figure.start..figure.end].iter().collect::<String>(), figure.text);
        last = figure.start;
    }
    let sum = found.proven + found.derived + found.given + found.unproven + found.mismatch;
    assert_eq!(sum, found.figures.len());
}
