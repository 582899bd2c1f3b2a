//! Setting up from the page, for administrators: try connections and a model's key, and save the model.

use axum::extract::State;
use ba_protocol::api::ErrorInfo;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::oversight::write_down;
use crate::auth::Caller;
use crate::envelope::{Body, Data, Path};
use crate::error::{ApiError, Result};
use crate::service::{ConnectionInfo, ModelSetup, Setup};
use crate::state::AppState;

#[derive(Debug, Serialize, ToSchema)]
pub struct ConnectionList {
    pub connections: Vec<ConnectionInfo>,
}

/// How a trial went.
#[derive(Debug, Serialize, ToSchema)]
pub struct Trial {
    pub works: bool,
    /// What was found, or what is wrong.
    pub message: String,
    /// What is wrong, as the code of an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "model_unauthorized")]
    pub code: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelWanted {
    /// `provider:model`
    #[schema(example = "deepseek:deepseek-chat")]
    model: String,
    #[serde(default)]
    #[schema(format = Password, example = "sk-…")]
    api_key: String,
    /// Only where the provider has none of its own.
    #[serde(default)]
    #[schema(example = "https://llm.example.com/v1")]
    base_url: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ModelSaved {
    /// The configuration file it was written to; read when the server starts again.
    pub file: String,
    /// Another model that the environment names goes before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overridden_by: Option<String>,
}

impl From<ModelWanted> for ModelSetup {
    fn from(wanted: ModelWanted) -> Self {
        let given = |text: String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        Self {
            model: wanted.model.trim().to_owned(),
            api_key: given(wanted.api_key),
            base_url: given(wanted.base_url),
        }
    }
}

fn setup<'s>(state: &'s AppState, caller: &Caller) -> Result<&'s dyn Setup> {
    caller.require_admin()?;
    state
        .deps
        .setup
        .as_deref()
        .ok_or_else(|| ApiError::unavailable("setup_off", "this server is set up elsewhere"))
}

/// The configured databases, without their addresses.
#[utoipa::path(get, path = "/admin/connections", tag = "admin", operation_id = "listConnections",
    responses((status = 200, body = Data<ConnectionList>)))]
pub async fn connections(State(state): State<AppState>, caller: Caller) -> Result<Data<ConnectionList>> {
    Ok(Data::of(ConnectionList { connections: setup(&state, &caller)?.connections() }))
}

/// Ask a database for its tables, as a question would.
#[utoipa::path(post, path = "/admin/connections/{name}/test", tag = "admin", operation_id = "testConnection",
    params(("name" = String, Path, example = "erp")), responses((status = 200, body = Data<Trial>)))]
pub async fn test_connection(
    State(state): State<AppState>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Data<Trial>> {
    let setup = setup(&state, &caller)?;
    if !setup.connections().iter().any(|known| known.name == name) {
        return Err(ApiError::not_found("connection"));
    }
    Ok(Data::of(trial(setup.test_connection(&name).await)))
}

/// Ask a model with this key whether it answers; nothing is kept.
#[utoipa::path(post, path = "/admin/model/test", tag = "admin", operation_id = "testModel", request_body = ModelWanted,
    responses((status = 200, body = Data<Trial>)))]
pub async fn test_model(
    State(state): State<AppState>,
    caller: Caller,
    Body(wanted): Body<ModelWanted>,
) -> Result<Data<Trial>> {
    Ok(Data::of(trial(setup(&state, &caller)?.test_model(&wanted.into()).await)))
}

/// Write the model and its key into the configuration file; the server uses it when it starts again.
#[utoipa::path(put, path = "/admin/model", tag = "admin", operation_id = "saveModel", request_body = ModelWanted,
    responses((status = 200, body = Data<ModelSaved>)))]
pub async fn save_model(
    State(state): State<AppState>,
    caller: Caller,
    Body(wanted): Body<ModelWanted>,
) -> Result<Data<ModelSaved>> {
    let wanted = ModelSetup::from(wanted);
    let saved = setup(&state, &caller)?.save_model(&wanted).await;
    let saved = saved.map_err(|why| ApiError::bad_request("model_not_saved", why))?;
    write_down(&state, &caller, "model.save", &wanted.model).await?;
    Ok(Data::of(ModelSaved { file: saved.file, overridden_by: saved.overridden_by }))
}

fn trial(outcome: Result<String, ErrorInfo>) -> Trial {
    match outcome {
        Ok(message) => Trial { works: true, message, code: None },
        Err(error) => Trial { works: false, message: error.message, code: Some(error.code) },
    }
}
