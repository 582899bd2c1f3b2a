//! Reads `allowed-tools` in every published spelling and translates the names other programs use into ours.

use serde_json::Value;

/// Tools of this program (SPEC T1–T6).
pub const OWN: [&str; 6] =
    ["run_python", "file_reader", "query_database", "web_search", "web_reader", "activate_skill"];

/// What a list of tool names means here.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Translated {
    /// Ours, without repeats, in order.
    pub known: Vec<String>,
    pub unknown: Vec<String>,
}

/// `[a, b]`, `a, b`, `a b` and `Bash(git add:*), Read` all list tools; the pattern in brackets is dropped.
pub fn listed(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).flat_map(split).collect(),
        Value::String(s) => split(s),
        _ => vec![],
    }
}

fn split(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut depth = 0usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            ',' | ' ' | '\t' | '\n' => names.extend((!name.is_empty()).then(|| std::mem::take(&mut name))),
            _ if name.chars().count() < 80 => name.push(c),
            _ => {}
        }
    }
    names.extend((!name.is_empty()).then_some(name));
    names
}

pub fn translate(given: &[String]) -> Translated {
    let mut out = Translated::default();
    for name in given {
        let target = match name.as_str() {
            own if OWN.contains(&own) => own,
            // Tools added at run time (MCP and others) keep their own names.
            mcp if mcp.starts_with("mcp__") => mcp,
            "Bash" | "Python" | "python" | "Write" | "Edit" | "NotebookEdit" | "code_execution"
            | "code_interpreter" => "run_python",
            "Read" | "Glob" | "Grep" | "LS" | "read_file" => "file_reader",
            "WebFetch" | "fetch" => "web_reader",
            "WebSearch" => "web_search",
            "Skill" => "activate_skill",
            "SQL" | "sql" => "query_database",
            other => {
                out.unknown.push(other.to_owned());
                continue;
            }
        };
        if !out.known.iter().any(|k| k == target) {
            out.known.push(target.to_owned());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_published_spelling_is_read() {
        for value in [
            json!(["Read", "Bash(git add:*)", "WebFetch"]),
            json!("Read, Bash(git add:*), WebFetch"),
            json!("Read Bash(npm:*, ddev exec npm:*) WebFetch"),
        ] {
            assert_eq!(listed(&value), ["Read", "Bash", "WebFetch"], "{value}");
        }
        assert_eq!(listed(&json!("a (b")), ["a"]);
    }

    #[test]
    fn foreign_names_become_ours_and_unknown_ones_are_told() {
        let given: Vec<String> =
            ["Read", "Grep", "run_python", "AskUserQuestion", "mcp__crm__find"].map(String::from).into();
        let out = translate(&given);
        assert_eq!(out.known, ["file_reader", "run_python", "mcp__crm__find"]);
        assert_eq!(out.unknown, ["AskUserQuestion"]);
    }
}
