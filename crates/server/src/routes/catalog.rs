//! What the agent can do: its tools (SPEC A7).

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::Caller;
use crate::envelope::Data;
use crate::service::ToolInfo;
use crate::state::AppState;

#[derive(Debug, Serialize, ToSchema)]
pub struct ToolList {
    pub tools: Vec<ToolInfo>,
}

/// The tools the model may call, with the schemas of their arguments.
#[utoipa::path(get, path = "/tools", tag = "agent", operation_id = "listTools", responses((status = 200, body = Data<ToolList>)))]
pub async fn tools(State(state): State<AppState>, _: Caller) -> Data<ToolList> {
    Data::of(ToolList { tools: state.deps.agent.registry().iter().map(|tool| tool.spec().into()).collect() })
}
