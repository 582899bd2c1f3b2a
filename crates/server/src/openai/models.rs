//! `GET /v1/models` and `/v1/models/{id}`: BA-Agent, and the language models it may be asked to use.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::options::unknown_model;
use super::wire::MODEL;
use crate::auth::Caller;
use crate::envelope::Path;
use crate::error::Result;
use crate::state::AppState;

#[derive(Debug, Serialize, ToSchema)]
pub struct ModelList {
    #[schema(example = "list")]
    pub object: &'static str,
    pub data: Vec<ModelEntry>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ModelEntry {
    #[schema(example = "ba-agent")]
    pub id: String,
    pub object: &'static str,
    pub created: i64,
    pub owned_by: &'static str,
}

fn entry(name: &str) -> ModelEntry {
    ModelEntry { id: name.to_owned(), object: "model", created: 1_735_689_600, owned_by: MODEL }
}

fn known(state: &AppState) -> Vec<ModelEntry> {
    let choices = state.deps.agent.models().choices();
    std::iter::once(MODEL).chain(choices.into_iter().skip(1).map(|(name, _)| name)).map(entry).collect()
}

/// Models, as OpenAI clients ask for them.
#[utoipa::path(get, path = "/v1/models", tag = "openai", operation_id = "openaiModels",
    responses((status = 200, description = "`ba-agent` first: with the default model", body = ModelList)))]
pub async fn list(State(state): State<AppState>, _: Caller) -> Json<ModelList> {
    Json(ModelList { object: "list", data: known(&state) })
}

/// One of them.
#[utoipa::path(get, path = "/v1/models/{id}", tag = "openai", operation_id = "openaiModel",
    params(("id" = String, Path, example = "ba-agent")),
    responses((status = 200, description = "The model", body = ModelEntry)))]
pub async fn read(
    State(state): State<AppState>,
    _: Caller,
    Path(id): Path<String>,
) -> Result<Json<ModelEntry>> {
    let found = known(&state).into_iter().find(|model| model.id == id);
    found.map(Json).ok_or_else(|| unknown_model(&state, &id))
}
