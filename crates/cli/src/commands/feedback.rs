//! `ba-agent feedback`: what people thought of answers, as JSON lines.

use std::collections::HashMap;
use std::process::ExitCode;

use ba_config::Config;
use ba_protocol::RunEvent;
use ba_store::{EventScope, Rating, Store};
use serde_json::json;

use crate::args::FeedbackArgs;
use crate::{output, wire};

pub async fn run(config: &Config, wanted: &FeedbackArgs) -> anyhow::Result<ExitCode> {
    let store = wire::open_store(config).await?;
    let names: HashMap<String, String> =
        store.users().await?.into_iter().map(|user| (user.id.to_string(), user.name)).collect();
    for entry in store.all_feedback().await? {
        if wanted.down && entry.feedback.rating != Rating::Down {
            continue;
        }
        let owner = entry.owner.to_string();
        let line = json!({
            "at": entry.feedback.at,
            "rating": entry.feedback.rating.as_str(),
            "reason": entry.feedback.reason,
            "user": names.get(&owner).unwrap_or(&owner),
            "model": entry.model,
            "conversation_id": entry.conversation_id,
            "run_id": entry.feedback.run_id,
            "question": entry.question,
            "answer": answer(&store, &entry.feedback.run_id).await?,
        });
        output::say(&line.to_string());
    }
    Ok(ExitCode::SUCCESS)
}

/// The text of it; nothing where the run did not come to one.
async fn answer(store: &Store, run: &ba_protocol::RunId) -> anyhow::Result<Option<String>> {
    let events = store.events_after(EventScope::Run(run), 0, 10_000).await?;
    Ok(events.into_iter().rev().find_map(|event| match event.event {
        RunEvent::Report(answer) => Some(answer.response),
        _ => None,
    }))
}
