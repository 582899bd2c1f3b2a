//! `[mcp.NAME]`: programs whose tools may be called, and which of them.

use ba_protocol::Secret;

use crate::build::{Sources, parse_url};
use crate::error::ConfigError;
use crate::raw::{RawConfig, RawMcp};
use crate::types::{McpReach, McpServer};

type Result<T> = std::result::Result<T, ConfigError>;

/// Of our own environment, what a program needs to be found and to find its files. No key of ours is among them.
pub(crate) const PASSED: [&str; 5] = ["PATH", "HOME", "LANG", "TMPDIR", "XDG_CACHE_HOME"];

pub(crate) fn servers(raw: &RawConfig, sources: &Sources) -> Result<Vec<McpServer>> {
    raw.mcp.iter().map(|(name, given)| server(name, given, sources)).collect()
}

fn server(name: &str, given: &RawMcp, sources: &Sources) -> Result<McpServer> {
    let at = format!("mcp.{name}");
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 32 || !name.chars().all(plain) {
        return Err(ConfigError::invalid(at, "use letters, digits, _ and - in a server's name"));
    }
    let reach = match (&given.command, &given.url) {
        (Some(program), None) => {
            let own = PASSED.iter().filter_map(|n| Some(((*n).to_owned(), sources.environment.get(*n)?)));
            let own = own.map(|(name, value)| (name, Secret::new(value)));
            let more = given.env.iter().map(|(name, value)| (name.clone(), Secret::new(value)));
            McpReach::Command {
                program: program.clone(),
                arguments: given.args.clone(),
                environment: own.chain(more).collect(),
            }
        }
        (None, Some(url)) => McpReach::Http {
            url: parse_url(&format!("{at}.url"), url)?,
            key: given.key.as_ref().map(Secret::new),
        },
        _ => return Err(ConfigError::invalid(at, "give one of `command` and `url`")),
    };
    if given.tools.is_empty() && given.writes.is_empty() {
        let message = "name the tools that may be called: tools = [\"…\"], and writes = [\"…\"] for those that change something";
        return Err(ConfigError::invalid(at, message));
    }
    Ok(McpServer {
        name: name.to_owned(),
        reach,
        tools: given.tools.clone(),
        writes: given.writes.clone(),
        timeout_seconds: given.timeout.unwrap_or(60).clamp(1, 600),
    })
}
