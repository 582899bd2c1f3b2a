//! The list of tools, and which of them a call means.

use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject, Tool, ToolAnnotations};
use rmcp::service::{RequestContext, RoleServer};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Mcp;
use super::arguments::{Ask, DescribeTable, ListTables, Query, Report, RunPython, Upload};
use super::work::Work;
use crate::auth::Caller;
use crate::error::{ApiError, Result};

/// `here`: on this machine, where paths mean something.
pub fn all(here: bool) -> Vec<Tool> {
    let mut tools = vec![
        tool::<Upload>("upload", "Add a spreadsheet, table or document to a conversation", Changes::Adds),
        tool::<Ask>(
            "ask",
            "Ask a business question; answers with a report whose figures are proven",
            Changes::Adds,
        ),
        tool::<ListTables>(
            "list_tables",
            "Tables with columns, types, ranges, quality notes and tested join keys",
            Changes::Nothing,
        ),
        tool::<DescribeTable>("describe_table", "The columns of one table", Changes::Nothing),
        tool::<Query>(
            "query",
            "One read-only SQL statement over uploads or a configured database",
            Changes::Nothing,
        ),
        tool::<RunPython>(
            "run_python",
            "Python in a sandbox: pandas, numpy, scipy, statsmodels, matplotlib",
            Changes::Adds,
        ),
        tool::<Report>(
            "report",
            "An answer or conversation as PDF, Word, slides, workbook, notebook, HTML or Markdown",
            Changes::Adds,
        ),
    ];
    if !here {
        for tool in &mut tools {
            let mut schema = JsonObject::clone(&tool.input_schema);
            if let Some(Value::Object(properties)) = schema.get_mut("properties") {
                properties.remove("path");
            }
            tool.input_schema = std::sync::Arc::new(schema);
        }
    }
    tools
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Changes {
    Nothing,
    /// Files, answers; nothing that was there is touched.
    Adds,
}

fn tool<A: JsonSchema + 'static>(name: &'static str, description: &'static str, changes: Changes) -> Tool {
    let hints =
        ToolAnnotations::new().read_only(changes == Changes::Nothing).destructive(false).open_world(false);
    Tool::new(name, description, JsonObject::new()).with_input_schema::<A>().with_annotations(hints)
}

pub async fn call(
    mcp: &Mcp,
    caller: &Caller,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult> {
    let work = Work { state: &mcp.state, caller, folders: mcp.folders(), context };
    let given = request.arguments.unwrap_or_default();
    match request.name.as_ref() {
        "upload" => work.upload(read(given)?).await,
        "ask" => work.ask(read(given)?).await,
        "list_tables" => work.list_tables(read(given)?).await,
        "describe_table" => work.describe_table(read(given)?).await,
        "query" => work.query(read(given)?).await,
        "run_python" => work.run_python(read(given)?).await,
        "report" => work.report(read(given)?).await,
        other => {
            let known: Vec<String> = all(true).iter().map(|tool| tool.name.to_string()).collect();
            let message = format!("no tool `{other}`; there are: {}", known.join(", "));
            Err(ApiError::bad_request("unknown_tool", message))
        }
    }
}

fn read<A: DeserializeOwned>(given: JsonObject) -> Result<A> {
    serde_json::from_value(Value::Object(given))
        .map_err(|error| ApiError::bad_request("invalid_arguments", error.to_string()))
}
