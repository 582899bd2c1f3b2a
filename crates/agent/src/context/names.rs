//! The names later questions use: variables of Python, tables, files. They outlive the turns that made them.

use std::sync::LazyLock;

use ba_protocol::Turn;
use ba_protocol::text::{one_line, shorten};
use regex::Regex;

use super::tokens::MemoCounter;

/// Names of one kind that are told before the rest is counted.
const MOST: usize = 12;

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    Some(Patterns {
        variable: Regex::new(r"(?m)^([A-Za-z_]\w{0,39})(?:\s*,\s*[A-Za-z_]\w*)*\s*=[^=]").ok()?,
        table: Regex::new(r#"(?i)\b(?:from|join)\s+("[^"]{1,60}"|`[^`]{1,60}`|[\w.\p{Han}]{1,60})"#).ok()?,
        saved: Regex::new(r"<!-- CODE_SAVED: (code_\w+)").ok()?,
    })
});

struct Patterns {
    variable: Regex,
    table: Regex,
    saved: Regex,
}

#[derive(Default)]
pub(super) struct Names {
    variables: Vec<String>,
    tables: Vec<String>,
    files: Vec<String>,
}

impl Names {
    /// Of these turns, the newest first.
    pub(super) fn of(turns: &[Turn]) -> Self {
        let mut all = Self::default();
        turns.iter().rev().for_each(|turn| all.take(turn));
        all
    }

    fn take(&mut self, turn: &Turn) {
        let Some(patterns) = PATTERNS.as_ref() else { return };
        for call in turn.tool_calls() {
            let given = |key: &str| call.arguments.get(key).and_then(|v| v.as_str()).unwrap_or_default();
            for found in patterns.variable.captures_iter(given("code")) {
                add(&mut self.variables, &found[1]);
            }
            for found in patterns.table.captures_iter(given("query")) {
                add(&mut self.tables, found[1].trim_matches(['"', '`']));
            }
            add(&mut self.tables, given("keep_as"));
            add(&mut self.files, given("path"));
        }
        let results = turn.steps.iter().flat_map(|s| &s.results);
        results.flat_map(|r| &r.artifacts).for_each(|a| add(&mut self.files, &a.name));
        let answer = turn.final_answer.as_deref().unwrap_or_default();
        patterns.saved.captures_iter(answer).for_each(|found| add(&mut self.files, &found[1]));
    }

    /// `变量 df, monthly；表 sales；文件 chart.png`, within `budget` tokens; empty when there is no name.
    pub(super) fn line(&self, budget: usize, counter: &MemoCounter) -> String {
        for most in [MOST, MOST / 2, 3, 1] {
            let parts: Vec<String> = [("变量", &self.variables), ("表", &self.tables), ("文件", &self.files)]
                .into_iter()
                .filter(|(_, names)| !names.is_empty())
                .map(|(kind, names)| format!("{kind} {}", list(names, most)))
                .collect();
            let line = parts.join("；");
            if line.is_empty() || counter.count(&line) <= budget {
                return line;
            }
        }
        String::new()
    }
}

fn add(names: &mut Vec<String>, name: &str) {
    let name = shorten(one_line(name).trim(), 60);
    if !name.is_empty() && !names.contains(&name) {
        names.push(name);
    }
}

fn list(names: &[String], most: usize) -> String {
    let shown = names.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > most { format!("{shown} 等{}个", names.len()) } else { shown }
}
