//! `ba-agent context`: what a turn sent to the model, part by part.

use std::process::ExitCode;
use std::sync::Arc;

use ba_agent::NoSink;
use ba_config::Config;
use ba_protocol::text;

use super::{WrongUse, conversation_id, owner};
use crate::args::ContextArgs;
use crate::{output, wire};

pub async fn run(config: Config, args: &ContextArgs) -> anyhow::Result<ExitCode> {
    let id = conversation_id(&args.conversation)?;
    let models = wire::models::models(&config, None).await?;
    let app = wire::app_without_python(&config, models, Arc::new(NoSink)).await?;
    let owner = owner(&app.store, args.user.as_deref()).await?;
    let report = app.agent.context_report(&owner, &id, args.turn).await?;
    let Some(report) = report else {
        return Err(WrongUse(format!("{id} has no turn {}", args.turn.unwrap_or_default())).into());
    };
    if args.json {
        output::say(&serde_json::to_string_pretty(&report)?);
        return Ok(ExitCode::SUCCESS);
    }
    for part in &report.parts {
        let round = part.round.map(|r| format!("round {r}")).unwrap_or_default();
        let change = if part.original_tokens > part.tokens {
            format!("(was {}{})", part.original_tokens, if part.synopses > 0 { ", synopsis" } else { "" })
        } else {
            String::new()
        };
        let kind = serde_json::to_value(part.kind)?.as_str().unwrap_or_default().to_owned();
        output::say(&format!(
            "{:>7} tokens {change:<20} {kind:<13}{round:<9} {:<9} {}",
            part.tokens,
            part.role,
            text::shorten(&text::one_line(&part.preview), 70)
        ));
    }
    output::say(&format!(
        "{:>7} tokens of a window of {}; {} saved{}",
        report.tokens,
        report.window,
        report.saved_tokens,
        report.cost.map(|cost| format!("; costs {cost:.6} to send")).unwrap_or_default()
    ));
    Ok(ExitCode::SUCCESS)
}
