//! Every case of `tests/corpus/outputs.txt` (SPEC P11): `=== name`, the raw output, `>>> what it means`,
//! and `~ repair` for repairs that must be reported.

use std::fmt::Write as _;

use ba_protocol::{Action, ParseOutcome, Parsed, ToolCall, parse};

use crate::invariants;

pub struct Case {
    pub name: String,
    pub output: String,
    expected: String,
    repairs: Vec<String>,
}

pub fn cases() -> Vec<Case> {
    let text = include_str!("../corpus/outputs.txt");
    text.split("=== ")
        .filter(|block| !block.trim().is_empty())
        .map(|block| {
            let (name, rest) = block.split_once('\n').unwrap();
            let (output, verdict) = rest.split_once(">>> ").unwrap_or_else(|| panic!("{name}: no verdict"));
            let mut lines = verdict.lines();
            Case {
                name: name.to_owned(),
                output: output.strip_suffix('\n').unwrap_or(output).to_owned(),
                expected: lines.next().unwrap().to_owned(),
                repairs: lines.filter_map(|l| l.strip_prefix("~ ")).map(str::to_owned).collect(),
            }
        })
        .collect()
}

fn summary(parsed: &Parsed) -> String {
    match &parsed.outcome {
        ParseOutcome::PlainText(text) => format!("plain {text:?}"),
        ParseOutcome::Broken { problem, .. } => format!("broken {problem}"),
        ParseOutcome::Structured(response) => {
            let mut out = format!("r{} ", response.current_round);
            match &response.action {
                Action::ToolCall { content } => {
                    out.push_str("tools");
                    content.iter().for_each(|call| describe(&mut out, call));
                }
                Action::Complete(report) => {
                    write!(out, "complete {:?}", report.content).unwrap();
                    if !report.recommended_questions.is_empty() {
                        let json = serde_json::to_string(&report.recommended_questions).unwrap();
                        write!(out, " questions={json}").unwrap();
                    }
                    if !report.download_links.is_empty() {
                        let json = serde_json::to_string(&report.download_links).unwrap();
                        write!(out, " links={json}").unwrap();
                    }
                    let code: Vec<String> = report
                        .code_blocks
                        .iter()
                        .map(|b| format!("{}:{}:{:?}", b.code_id, b.language, b.code))
                        .collect();
                    if !code.is_empty() {
                        write!(out, " code=[{}]", code.join(",")).unwrap();
                    }
                }
            }
            if !parsed.dropped_calls.is_empty() {
                out.push_str(" dropped");
                for call in &parsed.dropped_calls {
                    write!(out, " {}#{}", call.tool_name, call.tool_call_id).unwrap();
                }
            }
            out
        }
    }
}

fn describe(out: &mut String, call: &ToolCall) {
    let arguments = serde_json::to_string(&call.arguments).unwrap();
    write!(out, " {}#{}{arguments}", call.tool_name, call.tool_call_id).unwrap();
}

// SPEC P1, P3, P4, P5, P6, P7, P8, P9
#[test]
fn every_output_of_the_corpus_is_understood_as_written() {
    let cases = cases();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    let mut wrong = String::new();
    for case in &cases {
        invariants::check(&case.output);
        let parsed = parse(&case.output);
        let got = summary(&parsed);
        let fits = match case.expected.strip_prefix("broken ") {
            Some(part) => got.starts_with("broken ") && got.contains(part),
            None => got == case.expected,
        };
        if !fits {
            writeln!(wrong, "{}\n  expected {}\n  got      {got}", case.name, case.expected).unwrap();
        }
        for repair in &case.repairs {
            if !parsed.repairs.contains(repair) {
                writeln!(wrong, "{}: no repair `{repair}` in {:?}", case.name, parsed.repairs).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn proper_output_needs_no_repair() {
    for case in cases().iter().filter(|c| c.name.starts_with("a proper")) {
        assert_eq!(parse(&case.output).repairs, Vec::<String>::new(), "{}", case.name);
    }
}

#[test]
fn thinking_fills_an_empty_analysis_and_never_replaces_one() {
    let ParseOutcome::Structured(r) =
        parse("<think>why</think>{\"action\":{\"type\":\"complete\",\"content\":\"x\"}}").outcome
    else {
        panic!()
    };
    assert_eq!(r.task_analysis, "why");
    let own =
        "<think>why</think>{\"task_analysis\":\"own\",\"action\":{\"type\":\"complete\",\"content\":\"x\"}}";
    let ParseOutcome::Structured(r) = parse(own).outcome else { panic!() };
    assert_eq!(r.task_analysis, "own");
}

#[test]
fn a_report_that_was_cut_keeps_what_arrived() {
    let cut = "{\"action\":{\"type\":\"complete\",\"content\":\"The total was 12, and";
    let ParseOutcome::Broken { text, .. } = parse(cut).outcome else { panic!() };
    assert_eq!(text, "The total was 12, and");
}

/// Sizes and shapes that would hurt a parser that recurses or backtracks.
#[test]
fn huge_and_deep_outputs_end_well() {
    let megabytes = 10 * 1024 * 1024;
    let report =
        format!("{{\"action\":{{\"type\":\"complete\",\"content\":\"{}\",}}}}", "销".repeat(megabytes / 3));
    let ParseOutcome::Structured(r) = parse(&report).outcome else { panic!() };
    let Action::Complete(report) = r.action else { panic!() };
    assert_eq!(report.content.len(), megabytes / 3 * 3);

    for hostile in [
        "{\"a\":".repeat(20_000),
        "[".repeat(megabytes),
        "{".repeat(megabytes / 10),
        "{'".repeat(60_000),
        "{\"a\":\"".repeat(40_000),
        "{\"task_analysis\":[".repeat(20_000),
        "\\\"{".repeat(50_000),
        "\" , ".repeat(60_000),
        "Action Input:{%".repeat(60_000),
        "<think>".repeat(40_000),
        "{/*".repeat(50_000),
        format!("{{\"a\":\"{}", "\"   ".repeat(60_000)),
    ] {
        let parsed = parse(&hostile);
        assert!(!matches!(parsed.outcome, ParseOutcome::Structured(_)), "{}", &hostile[..20]);
    }
}

#[test]
fn arguments_nested_too_deeply_are_refused_by_name() {
    let deep = format!("{}1{}", "[".repeat(80), "]".repeat(80));
    let output = format!(
        "{{\"action\":{{\"type\":\"tool_call\",\"content\":[{{\"tool_name\":\"t\",\"arguments\":{{\"a\":{deep}}}}}]}}}}"
    );
    let ParseOutcome::Broken { problem, .. } = parse(&output).outcome else { panic!() };
    assert_eq!(problem, "`action.content[0].arguments` is nested too deeply");
}

#[test]
fn many_calls_with_one_id_stay_unique() {
    let call = "{\"tool_name\":\"t\",\"tool_call_id\":\"x\",\"arguments\":{}},";
    let output = format!("{{\"action\":{{\"type\":\"tool_call\",\"content\":[{}]}}}}", call.repeat(5_000));
    let parsed = parse(&output);
    assert_eq!(parsed.dropped_calls.len(), 5_000 - 6);
    invariants::check(&output);
}
