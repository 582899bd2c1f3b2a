//! One tool of another program, as the agent knows tools.

use std::sync::Arc;

use async_trait::async_trait;
use ba_agent::{CallPlan, Effects, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use ba_protocol::{ToolErrorType, ToolFailure, text};
use ba_store::Store;
use rmcp::model::ContentBlock;
use serde_json::{Map, Value};

use crate::connection::{Connection, McpError};
use crate::described::Described;
use crate::output::output;

pub struct RemoteTool {
    connection: Arc<Connection>,
    tool: String,
    spec: ToolSpec,
    store: Store,
    listed: bool,
}

impl RemoteTool {
    pub fn new(connection: Arc<Connection>, described: Described, store: Store) -> Self {
        let spec = ToolSpec {
            name: format!("{}.{}", connection.config.name, described.tool),
            version: "1.0.0".to_owned(),
            description: described.description,
            schema: described.schema,
            default_level: None,
        };
        Self { connection, tool: described.tool, spec, store, listed: true }
    }

    /// Found by `search_tools` instead of being listed.
    pub fn unlisted(self) -> Self {
        Self { listed: false, ..self }
    }

    /// What a person must have allowed in this conversation.
    fn consent(&self) -> String {
        format!("tool:{}", self.spec.name)
    }

    async fn check_consent(&self, ctx: &ToolContext) -> Result<(), ToolError> {
        if !self.connection.config.is_write(&self.tool) {
            return Ok(());
        }
        if self.store.consents(&ctx.conversation_id).await?.contains(&self.consent()) {
            return Ok(());
        }
        let message = format!(
            "`{}` changes something outside this conversation; nobody has allowed it here",
            self.spec.name
        );
        let failure = ToolFailure::new(ToolErrorType::PermissionError, "CONSENT_NEEDED", message);
        Err(failure
            .with_hint("tell the user what you would do with it and why; they can allow it, then ask again")
            .into())
    }
}

#[async_trait]
impl Tool for RemoteTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn listed(&self) -> bool {
        self.listed
    }

    fn plan(&self, _: &Map<String, Value>) -> CallPlan {
        let is_write = self.connection.config.is_write(&self.tool);
        CallPlan {
            effects: if is_write { Effects::Changes } else { Effects::Live },
            timeout: self.connection.config.timeout,
            retry_network: false,
        }
    }

    async fn call(&self, ctx: &ToolContext, arguments: Map<String, Value>) -> Result<ToolOutput, ToolError> {
        self.check_consent(ctx).await?;
        let answer = self.connection.call(&self.tool, arguments, ctx.timeout).await;
        let result = answer.map_err(|error| failure(&self.spec.name, &error))?;
        if result.is_error == Some(true) {
            let said = result.content.iter().filter_map(|block| match block {
                ContentBlock::Text(block) => Some(block.text.as_str()),
                _ => None,
            });
            let said = text::shorten(&said.collect::<Vec<_>>().join("\n"), 4_000);
            return Err(ToolFailure::execution("TOOL_SAID_NO", said).into());
        }
        Ok(output(&self.spec.name, &result))
    }
}

fn failure(name: &str, error: &McpError) -> ToolFailure {
    let message = text::shorten(&format!("`{name}`: {error}"), 1_000);
    match error {
        McpError::Slow(_) => ToolFailure::new(ToolErrorType::Timeout, "TIMEOUT", message),
        McpError::Start(_) | McpError::Gone => {
            ToolFailure::new(ToolErrorType::NetworkError, "SERVER_GONE", message)
        }
        McpError::Said(_) => ToolFailure::execution("TOOL_FAILED", message),
    }
}
