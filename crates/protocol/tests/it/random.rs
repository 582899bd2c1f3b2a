//! The invariants over random text, text made of JSON's pieces, and mutations of the corpus.

use proptest::prelude::*;

use crate::{corpus, invariants};

/// Pieces that a parser stumbles over, joined in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        ":",
        "\"",
        "'",
        "“",
        "”",
        "`",
        "```",
        "```json\n",
        "\\",
        "\\\"",
        "\\u",
        "\\ud83d",
        "\n",
        " ",
        "//",
        "/*",
        "*/",
        "#",
        "-",
        "1",
        "2.5e9",
        "true",
        "None",
        "NaN",
        "word",
        "销售",
        "\u{feff}",
        "\0",
        "<think>",
        "</think>",
        "\"action\":",
        "\"type\":",
        "\"tool_call\"",
        "\"complete\"",
        "\"content\":",
        "\"tool_name\":",
        "\"arguments\":",
        "\"name\":",
        "\"tool_call_id\":",
        "\"current_round\":",
        "\"task_analysis\":",
        "\"response\":",
        "\"x\"",
        "{\"action\":{\"type\":\"complete\",\"content\":\"",
        "{\"action\":{\"type\":\"tool_call\",\"content\":[{\"tool_name\":\"t\",\"arguments\":{",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|p| p.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn holds_for_any_text(text in any::<String>()) {
        invariants::check(&text);
    }

    #[test]
    fn holds_for_any_pieces(text in pieces()) {
        invariants::check(&text);
    }

    #[test]
    fn a_proper_report_comes_back_whole_from_prose_and_fences(
        content in "[^\0]*[a-z销]",
        before in "[a-z,. \n]{0,40}",
        after in "[a-z,. \n]{0,40}",
    ) {
        let object = serde_json::json!({"current_round": 1, "action": {"type": "complete", "content": content}});
        let output = format!("{before}\n```json\n{object}\n```\n{after}");
        let ba_protocol::ParseOutcome::Structured(r) = ba_protocol::parse(&output).outcome else {
            return Err(TestCaseError::fail(output));
        };
        let ba_protocol::Action::Complete(report) = r.action else { return Err(TestCaseError::fail(output)) };
        prop_assert_eq!(report.content, content);
    }
}

/// The plain counterpart of the fuzz target: every corpus entry, changed in thousands of fixed ways.
#[test]
fn holds_for_mutations_of_the_corpus() {
    let cases = corpus::cases();
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below.max(1) as u64).unwrap()
    };
    for case in &cases {
        for _ in 0..40 {
            let mut bytes = case.output.clone().into_bytes();
            for _ in 0..=next(4) {
                let at = next(bytes.len() + 1);
                match next(5) {
                    0 => bytes.truncate(at),
                    1 if at < bytes.len() => {
                        bytes.remove(at);
                    }
                    2 => bytes.insert(at, b"{}[]\"',:\\\n"[next(10)]),
                    3 => {
                        let other = cases[next(cases.len())].output.as_bytes();
                        bytes.splice(at..at, other.iter().copied().take(200));
                    }
                    _ => {
                        let end = (at + next(20)).min(bytes.len());
                        let copy = bytes[at.min(end)..end].to_vec();
                        bytes.splice(at..at, copy);
                    }
                }
            }
            invariants::check(&String::from_utf8_lossy(&bytes));
        }
    }
}
