//! The MCP servers of the configuration, as tools. One that is away now is said and left out.

use std::sync::Arc;
use std::time::Duration;

use ba_agent::Tool;
use ba_config::{Config, McpReach};
use ba_mcp::{Reach, ServerConfig};
use ba_store::Store;

pub async fn tools(config: &Config, store: &Store) -> Vec<Arc<dyn Tool>> {
    let servers = config.mcp.iter().map(|server| ServerConfig {
        name: server.name.clone(),
        reach: match &server.reach {
            McpReach::Command { program, arguments, environment } => Reach::Command {
                program: program.clone(),
                arguments: arguments.clone(),
                environment: environment.clone(),
            },
            McpReach::Http { url, key } => Reach::Http { url: url.to_string(), key: key.clone() },
        },
        reads: server.tools.clone(),
        writes: server.writes.clone(),
        timeout: Duration::from_secs(server.timeout_seconds),
    });
    let (tools, warnings) = ba_mcp::tools(servers.collect(), store).await;
    for warning in warnings {
        crate::output::note(&warning);
    }
    tools
}
