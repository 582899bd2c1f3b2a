//! What the tools do: the same as the API's routes, told as text with the ids that the next call needs.

use ba_agent::Progress;
use ba_protocol::api::QueryRequest;
use ba_protocol::file::IngestStatus;
use ba_protocol::{ConversationId, ReportFor, RunId, ToolCall};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use rmcp::model::{CallToolResult, ContentBlock, ProgressNotificationParam, Resource};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use super::arguments::{Ask, DescribeTable, ListTables, Query, Report, RunPython, Upload};
use super::{Folders, resources};
use crate::auth::Caller;
use crate::error::{ApiError, Result};
use crate::follow::{Item, follow};
use crate::ingest;
use crate::plain::{self, base_url::BaseUrl};
use crate::routes::report::{FORMATS, make};
use crate::routes::{query, upload};
use crate::service::ReportWanted;
use crate::state::AppState;

/// One call and its surroundings.
pub struct Work<'a> {
    pub state: &'a AppState,
    pub caller: &'a Caller,
    pub folders: Option<&'a Folders>,
    pub context: &'a RequestContext<RoleServer>,
}

impl Work<'_> {
    pub async fn upload(&self, given: Upload) -> Result<CallToolResult> {
        let files = self.given_files(&given).await?;
        let store = &self.state.deps.store;
        let conversation = match &given.conversation_id {
            Some(id) => self.own(id).await?,
            None => store.create(&self.caller.user, "").await?.id,
        };
        let mut taken = Vec::new();
        for (name, bytes) in files {
            taken.push(upload::keep(self.state, &conversation, &name, &bytes).await?);
        }
        let taken = ingest::start(self.state, taken).await;
        let mut text = format!("conversation_id: {conversation}\n");
        for file in &taken {
            let state = match file.status {
                IngestStatus::Ready => "read".to_owned(),
                IngestStatus::Processing => "still being read; tools wait for it".to_owned(),
                IngestStatus::Failed => {
                    format!("not read: {}", file.error.as_deref().unwrap_or("it cannot be used"))
                }
            };
            text.push_str(&format!("- {} {} ({state})\n", file.file_id, file.filename));
        }
        text.push_str(&self.tables(&conversation).await?);
        let ids: Vec<_> = taken.iter().map(|file| &file.file_id).collect();
        Ok(with_ids(text, json!({"conversation_id": conversation, "files": ids})))
    }

    async fn given_files(&self, given: &Upload) -> Result<Vec<(String, Vec<u8>)>> {
        if let Some(path) = &given.path {
            let folders = self.folders.ok_or_else(|| {
                ApiError::bad_request(
                    "no_paths",
                    "paths mean nothing across the network: send `text` or `base64`",
                )
            })?;
            let mut files = Vec::new();
            for file in folders.files(path)? {
                let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
                files.push((name, tokio::fs::read(&file).await.map_err(ApiError::internal)?));
            }
            return Ok(files);
        }
        let name = given.filename.clone().ok_or_else(|| {
            ApiError::bad_request(
                "filename_missing",
                "give `filename` with its ending, and `text` or `base64`",
            )
        })?;
        let bytes = match (&given.text, &given.base64) {
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(data)) => STANDARD
                .decode(data.trim())
                .map_err(|_| ApiError::bad_request("invalid_file", "`base64` is not base64"))?,
            _ => return Err(ApiError::bad_request("invalid_file", "give one of `text` and `base64`")),
        };
        Ok(vec![(name, bytes)])
    }

    /// The run ends with the call: who goes away has it cancelled.
    pub async fn ask(&self, given: Ask) -> Result<CallToolResult> {
        let conversation_id = match &given.conversation_id {
            Some(id) => Some(self.own(id).await?),
            None => None,
        };
        let asked = QueryRequest {
            message: given.question,
            conversation_id,
            file_ids: Vec::new(),
            model: given.model,
            output_level: None,
            replaces: None,
        };
        let reader = self.state.deps.bus.subscribe(&RunId::random());
        let run = reader.run().clone();
        let admitted = query::admit(self.state, self.caller, asked, run.clone()).await?;
        let mut cancel = CancelOnDrop { state: self.state.clone(), run: Some(run.clone()) };
        let events = follow(self.state.deps.store.clone(), reader, self.caller.user.clone(), None);
        let mut events = std::pin::pin!(events);
        let mut step = 0.0;
        loop {
            let item = tokio::select! {
                item = events.next() => item,
                () = self.context.ct.cancelled() => break,
            };
            let Some(item) = item else { break };
            if let Item::Frame(frame) = item
                && let Some(text) = plain::progress(&frame)
            {
                step += 1.0;
                self.progress(step, None, text.trim()).await;
            }
        }
        if self.context.ct.is_cancelled() {
            self.state.deps.agent.cancel(&run).await?;
        }
        let answer = self.state.deps.agent.wait(&self.caller.user, &run).await;
        cancel.run = None;
        let answer = answer?;
        let text = plain::report(self.state, &answer, &BaseUrl::default()).await;
        let mut ids = json!({"conversation_id": admitted.conversation_id, "run_id": run});
        if let Some(audit) = &answer.metadata.audit {
            ids["audit"] = serde_json::to_value(audit).unwrap_or_default();
        }
        let mut result = with_ids(text, ids);
        for name in &answer.metadata.download_links {
            result.content.push(file_link(&admitted.conversation_id, name));
        }
        Ok(result)
    }

    pub async fn list_tables(&self, given: ListTables) -> Result<CallToolResult> {
        let conversation = self.own(&given.conversation_id).await?;
        let text = self.tables(&conversation).await?;
        let none = "no table yet: `upload` one, or configure a database".to_owned();
        Ok(with_ids(if text.is_empty() { none } else { text }, json!({"conversation_id": conversation})))
    }

    pub async fn describe_table(&self, given: DescribeTable) -> Result<CallToolResult> {
        let name = given.table.replace('"', "\"\"");
        let arguments = json!({"query": format!("DESCRIBE \"{name}\"")});
        self.tool("query_database", &given.conversation_id, arguments, given.connection).await
    }

    pub async fn query(&self, given: Query) -> Result<CallToolResult> {
        let mut arguments = json!({"query": given.sql});
        if let Some(rows) = given.max_rows {
            arguments["max_rows"] = json!(rows);
        }
        self.tool("query_database", &given.conversation_id, arguments, given.connection).await
    }

    pub async fn run_python(&self, given: RunPython) -> Result<CallToolResult> {
        let mut arguments = json!({"code": given.code});
        if let Some(timeout) = given.timeout {
            arguments["timeout"] = json!(timeout);
        }
        self.tool("run_python", &given.conversation_id, arguments, None).await
    }

    pub async fn report(&self, given: Report) -> Result<CallToolResult> {
        let conversation = self.own(&given.conversation_id).await?;
        if !FORMATS.contains(&given.format.as_str()) {
            let message = format!("no format `{}`; there are: {}", given.format, FORMATS.join(", "));
            return Err(ApiError::bad_request("unknown_format", message));
        }
        let target = match (&given.path, self.folders) {
            (None, _) => None,
            (Some(path), Some(folders)) => Some(folders.target(path)?),
            (Some(_), None) => {
                return Err(ApiError::bad_request("no_paths", "paths mean nothing across the network"));
            }
        };
        let run = given.run_id.as_deref().map(RunId::parse).transpose()?;
        let wanted = ReportWanted {
            owner: self.caller.user.clone(),
            conversation: conversation.clone(),
            run,
            format: given.format,
            language: None,
            audience: ReportFor::Owner,
        };
        let made = make(self.state, wanted, &|_, _| {}).await?;
        let bytes = tokio::fs::read(&made.path).await.map_err(ApiError::internal)?;
        if let Some(target) = target {
            tokio::fs::write(&target, &bytes).await.map_err(ApiError::internal)?;
            return Ok(with_ids(format!("saved {}", target.display()), json!({"path": target})));
        }
        let kept = self.state.deps.store.put_artifact_bytes(&conversation, &made.name, &bytes).await?;
        let mut result = with_ids(
            format!("{} ({} bytes); read the resource to have it", kept.name, kept.size),
            json!({"conversation_id": conversation, "filename": kept.name}),
        );
        result.content.push(file_link(&conversation, &kept.name));
        Ok(result)
    }

    /// One of the agent's own tools, with its checks and limits.
    async fn tool(
        &self,
        name: &str,
        conversation: &str,
        mut arguments: Value,
        connection: Option<String>,
    ) -> Result<CallToolResult> {
        let conversation = self.own(conversation).await?;
        if let Some(connection) = connection {
            arguments["connection"] = json!(connection);
        }
        let Value::Object(arguments) = arguments else { return Err(ApiError::internal("no object")) };
        let call = ToolCall { tool_name: name.to_owned(), tool_call_id: "call_mcp".to_owned(), arguments };
        let agent = &self.state.deps.agent;
        let work = agent.call_tool(&self.caller.user, &conversation, call, Progress::silent());
        let result = tokio::select! {
            result = work => result?,
            () = self.context.ct.cancelled() => {
                return Err(ApiError::bad_request("cancelled", "the call was cancelled"));
            }
        };
        let mut told = with_ids(result.observation, json!({"conversation_id": conversation}));
        told.is_error = Some(!result.success);
        told.content.extend(result.artifacts.iter().map(|file| file_link(&conversation, &file.name)));
        Ok(told)
    }

    async fn tables(&self, conversation: &ConversationId) -> Result<String> {
        Ok(self.state.deps.agent.briefing(conversation).await?.unwrap_or_default())
    }

    async fn own(&self, id: &str) -> Result<ConversationId> {
        let id = ConversationId::parse(id.trim())?;
        self.state.own(&self.caller.user, &id).await?;
        Ok(id)
    }

    async fn progress(&self, step: f64, total: Option<f64>, message: &str) {
        let Some(token) = self.context.meta.get_progress_token() else { return };
        let mut told = ProgressNotificationParam::new(token, step).with_message(message);
        told.total = total;
        if let Err(error) = self.context.peer.notify_progress(told).await {
            tracing::debug!(%error, "progress was not heard");
        }
    }
}

/// A call that is given up takes its run along.
struct CancelOnDrop {
    state: AppState,
    run: Option<RunId>,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let (state, Some(run)) = (self.state.clone(), self.run.take()) else { return };
        tokio::spawn(async move { state.deps.agent.cancel(&run).await });
    }
}

fn with_ids(text: String, ids: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(ids);
    result
}

fn file_link(conversation: &ConversationId, name: &str) -> ContentBlock {
    ContentBlock::resource_link(Resource::new(resources::file_uri(conversation, name), name))
}
