//! `ba-agent logs`: a conversation's JSONL log, readably.

use std::process::ExitCode;

use anyhow::Context;
use ba_config::Config;
use ba_protocol::text;
use serde_json::Value;

use super::{WrongUse, conversation_id};
use crate::args::LogsArgs;
use crate::{output, wire};

pub async fn run(config: &Config, args: &LogsArgs) -> anyhow::Result<ExitCode> {
    let id = conversation_id(&args.conversation)?;
    let folder = wire::log_dir(config);
    let prefix = format!("conversation_{id}_");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .map(|entries| entries.flatten().map(|e| e.path()).collect())
        .unwrap_or_default();
    files.retain(|p: &std::path::PathBuf| {
        p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&prefix))
    });
    files.sort();
    if files.is_empty() {
        return Err(WrongUse(format!("no log of {id} in {}", folder.display())).into());
    }
    for file in files {
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        for line in text.lines() {
            if args.raw {
                output::say(line);
            } else if let Ok(value) = serde_json::from_str::<Value>(line) {
                output::say(&readable(&value));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn readable(line: &Value) -> String {
    let at = line["timestamp"].as_str().unwrap_or_default().get(11..23).unwrap_or_default().to_owned();
    let short = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text::shorten(&text::one_line(&text), 160)
    };
    let rest = match (line["type"].as_str().unwrap_or_default(), line["event"].as_str()) {
        ("round_start", _) => format!("── round {}", line["round"]),
        ("round_end", _) => format!("── round {} done in {} ms", line["round"], line["duration_ms"]),
        ("ModelInput", _) => {
            format!("→ {} ({} tokens) {}", short(&line["role"]), line["token_count"], short(&line["content"]))
        }
        ("ModelOutput", _) => {
            format!("← model ({} tokens) {}", line["token_count"], short(&line["raw_content"]))
        }
        (_, Some("tool_call")) => format!("⚙ {} {}", short(&line["tool_name"]), short(&line["arguments"])),
        (_, Some("tool_result")) => {
            let mark = if line["success"].as_bool() == Some(true) { "✓" } else { "✗" };
            format!("{mark} {} {}", short(&line["tool_name"]), short(&line["observation"]))
        }
        (_, Some(event)) => format!("· {event} {}", short(line)),
        (kind, None) => format!("{kind} {}", short(line)),
    };
    format!("{at} {rest}")
}
