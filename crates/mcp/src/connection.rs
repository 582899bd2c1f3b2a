//! The connection to one server: made when it is first needed, made again when it broke. One at a time.

use std::process::Stdio;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, Tool};
use rmcp::service::{Peer, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::sync::Mutex;

use crate::config::{Reach, ServerConfig};
use crate::program::Program;

/// A server has so long to begin, and to say what it offers.
const START: Duration = Duration::from_secs(20);
/// One message of a server; a longer one is dropped, and its call ends by time.
pub const MESSAGE_BYTES: usize = 8 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum McpError {
    #[error("it could not be started: {0}")]
    Start(String),
    #[error("it did not answer within {} s", .0.as_secs())]
    Slow(Duration),
    #[error("it answered with an error: {0}")]
    Said(String),
    #[error("the connection ended")]
    Gone,
}

type Running = RunningService<RoleClient, ()>;

pub struct Connection {
    pub config: ServerConfig,
    running: Mutex<Option<Running>>,
}

impl Connection {
    pub fn new(config: ServerConfig) -> Self {
        Self { config, running: Mutex::new(None) }
    }

    /// All that the server says it has.
    pub async fn offered(&self) -> Result<Vec<Tool>, McpError> {
        let peer = self.peer().await?;
        let listed = tokio::time::timeout(START, peer.list_all_tools()).await;
        let listed = listed.map_err(|_| McpError::Slow(START))?;
        listed.map_err(|error| McpError::Said(error.to_string()))
    }

    /// Calls a tool once. A connection that broke before is made anew; one that breaks during the call is not tried again, since
    /// the call may have had its effect.
    pub async fn call(
        &self,
        tool: &str,
        arguments: serde_json::Map<String, serde_json::Value>,
        timeout: Duration,
    ) -> Result<CallToolResult, McpError> {
        let peer = self.peer().await?;
        let mut request = CallToolRequestParams::new(tool.to_owned());
        request.arguments = Some(arguments);
        let answer = tokio::time::timeout(timeout, peer.call_tool_once(request)).await;
        match answer.map_err(|_| McpError::Slow(timeout))? {
            Ok(CallToolResponse::Complete(result)) => Ok(result),
            Ok(_) => Err(McpError::Said("it wants to ask a person, which is not offered".to_owned())),
            Err(_) if peer.is_transport_closed() => Err(McpError::Gone),
            Err(error) => Err(McpError::Said(error.to_string())),
        }
    }

    async fn peer(&self) -> Result<Peer<RoleClient>, McpError> {
        let mut running = self.running.lock().await;
        if let Some(open) = running.as_ref().filter(|open| !open.is_closed() && !open.is_transport_closed()) {
            return Ok(open.peer().clone());
        }
        let opened = tokio::time::timeout(START, self.open()).await.map_err(|_| McpError::Slow(START))??;
        let peer = opened.peer().clone();
        *running = Some(opened);
        Ok(peer)
    }

    async fn open(&self) -> Result<Running, McpError> {
        let started = |error: &dyn std::fmt::Display| McpError::Start(error.to_string());
        match &self.config.reach {
            Reach::Command { program, arguments, environment } => {
                let mut child = tokio::process::Command::new(program)
                    .args(arguments)
                    .env_clear()
                    .envs(environment.iter().map(|(name, value)| (name, value.expose())))
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .kill_on_drop(true)
                    .process_group(0)
                    .spawn()
                    .map_err(|error| started(&error))?;
                let (Some(output), Some(writes)) = (child.stdout.take(), child.stdin.take()) else {
                    return Err(McpError::Gone);
                };
                // The transport owns the program: where one ends, the other does.
                let reads = Program::new(output, child);
                let transport =
                    AsyncRwTransport::new_client(reads, writes).with_max_line_length(MESSAGE_BYTES);
                ().serve(transport).await.map_err(|error| started(&error))
            }
            Reach::Http { url, key } => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.clone());
                config.auth_header = key.as_ref().map(|key| key.expose().to_owned());
                config.max_sse_event_size = MESSAGE_BYTES;
                let transport = StreamableHttpClientTransport::from_config(config);
                ().serve(transport).await.map_err(|error| started(&error))
            }
        }
    }
}
