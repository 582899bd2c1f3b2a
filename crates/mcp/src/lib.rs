//! Tools of other programs (SPEC I2): connects to the MCP servers of the configuration and offers the tools that it names,
//! as `server.tool`.
//!
//! Everything such a server says is hostile: names, descriptions, schemas and results are checked and cut here, at the one
//! boundary they pass. A server that hangs, dies, floods or lies costs its own calls and nothing else.

mod config;
mod connection;
mod described;
mod output;
mod program;
mod search;
mod tool;

use std::sync::Arc;

use ba_agent::Tool;
use ba_store::Store;

pub use config::{Reach, ServerConfig};
use connection::Connection;
use search::SearchTools;
use tool::RemoteTool;

/// The tools of all servers, in the order of the configuration. A server that cannot be reached now is said and left out.
/// Where they are more than a prompt should hold, they are not listed there, and `search_tools` finds them.
pub async fn tools(servers: Vec<ServerConfig>, store: &Store) -> (Vec<Arc<dyn Tool>>, Vec<String>) {
    let names: Vec<String> = servers.iter().map(|server| server.name.clone()).collect();
    let (found, warnings) = found(servers, store).await;
    if found.iter().map(|tool| search::size(tool.spec())).sum::<usize>() <= search::LISTED_BYTES {
        return (found.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect(), warnings);
    }
    let unlisted = found.into_iter().map(|tool| Arc::new(tool.unlisted()) as Arc<dyn Tool>);
    let mut tools: Vec<Arc<dyn Tool>> = unlisted.collect();
    tools.insert(0, Arc::new(SearchTools::new(&tools, &names)));
    (tools, warnings)
}

async fn found(servers: Vec<ServerConfig>, store: &Store) -> (Vec<RemoteTool>, Vec<String>) {
    let asked: Vec<_> = servers
        .into_iter()
        .map(|config| {
            tokio::spawn(async {
                let connection = Arc::new(Connection::new(config));
                let offered = connection.offered().await;
                (connection, offered)
            })
        })
        .collect();
    let (mut tools, mut warnings) = (Vec::new(), Vec::new());
    for task in asked {
        let Ok((connection, offered)) = task.await else { continue };
        let name = &connection.config.name;
        match offered {
            Ok(offered) => {
                let wanted = described::wanted(&connection.config, offered);
                warnings.extend(wanted.warnings);
                for described in wanted.tools {
                    tools.push(RemoteTool::new(connection.clone(), described, store.clone()));
                }
            }
            Err(error) => warnings.push(format!("the MCP server `{name}` is not used: {error}")),
        }
    }
    (tools, warnings)
}
