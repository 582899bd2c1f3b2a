//! `ba-agent mcp`: this program as a tool of an agent in an editor, over standard input and output (SPEC I1).

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use ba_config::Config;
use ba_server::{AppState, EventBus, Folders, ServerConfig};

use super::{WrongUse, serve};
use crate::args::McpArgs;
use crate::wire;

pub async fn run(config: Config, args: McpArgs) -> anyhow::Result<ExitCode> {
    let folders = if args.folders.is_empty() { vec![PathBuf::from(".")] } else { args.folders };
    if let Some(missing) = folders.iter().find(|folder| !folder.is_dir()) {
        return Err(WrongUse(format!("no folder {}", missing.display())).into());
    }
    let models = wire::models::models(&config, None).await?;
    let bus = EventBus::new();
    let app = wire::app(&config, models, Arc::new(bus.clone())).await?;
    let _claim = app.store.claim_server().map_err(|error| {
        WrongUse(format!(
            "{error}. Use that server's own address, http://HOST:PORT/mcp, or another --data-dir"
        ))
    })?;
    app.agent.resume_open_runs().await?;
    let server = ServerConfig { openai_footnotes: config.openai_footnotes, ..ServerConfig::default() };
    let state = AppState::new(server, serve::deps(&config, &app, bus));
    ba_server::serve_stdio(state, Folders::new(&folders)).await?;
    if let ba_tools::Python::Ready(sandbox) = app.python {
        sandbox.shutdown().await;
    }
    app.store.close().await;
    Ok(ExitCode::SUCCESS)
}
