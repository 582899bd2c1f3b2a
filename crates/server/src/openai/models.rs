//! `GET /v1/models`: the one model there is.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::MODEL;
use crate::auth::Caller;

#[derive(Debug, Serialize, ToSchema)]
pub struct ModelList {
    #[schema(example = "list")]
    pub object: &'static str,
    pub data: Vec<ModelEntry>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ModelEntry {
    #[schema(example = "ba-agent")]
    pub id: &'static str,
    pub object: &'static str,
    pub created: i64,
    pub owned_by: &'static str,
}

/// Models, as OpenAI clients ask for them.
#[utoipa::path(get, path = "/v1/models", tag = "openai", operation_id = "openaiModels", responses((status = 200, body = ModelList)))]
pub async fn list(_: Caller) -> Json<ModelList> {
    let entry = ModelEntry { id: MODEL, object: "model", created: 1_735_689_600, owned_by: MODEL };
    Json(ModelList { object: "list", data: vec![entry] })
}
