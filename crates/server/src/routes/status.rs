//! What the page needs to know before anything else.

use axum::extract::State;
use ba_agent::Models;
use serde::Serialize;
use utoipa::ToSchema;

use super::upload::FILE_TYPES;
use crate::auth::{MaybeCaller, Via};
use crate::config::Access;
use crate::envelope::Data;
use crate::service::SampleInfo;
use crate::state::AppState;

#[derive(Debug, Serialize, ToSchema)]
pub struct Status {
    pub version: &'static str,
    /// `provider:model`
    #[schema(example = "offline")]
    pub model: String,
    /// The built-in rule-based analyst answers.
    pub offline: bool,
    /// The models a question may name, the default first.
    pub models: Vec<ModelChoice>,
    pub auth_required: bool,
    /// Who is signed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "admin")]
    pub role: Option<&'static str>,
    pub samples: Vec<SampleInfo>,
    /// Endings of files that can be uploaded.
    pub file_types: Vec<&'static str>,
    /// Bytes of one upload.
    pub upload_limit: u64,
    /// How many days a share link may live; absent where the administrator allows none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_days: Option<u32>,
}

/// A model that `model` of a question may name (SPEC A1, W6).
#[derive(Debug, Serialize, ToSchema)]
pub struct ModelChoice {
    /// What to send.
    #[schema(example = "fast")]
    pub name: String,
    /// `provider:model`
    #[schema(example = "deepseek:deepseek-chat")]
    pub model: String,
    pub default: bool,
    pub offline: bool,
    /// Context window in tokens.
    pub window: usize,
    /// How that is known: `configured`, `endpoint`, `table` or `default`.
    #[schema(example = "endpoint")]
    pub window_source: &'static str,
}

fn choices(models: &Models) -> Vec<ModelChoice> {
    let choices = models.choices().into_iter().enumerate();
    choices
        .map(|(at, (name, model))| ModelChoice {
            name: name.to_owned(),
            model: model.info().name.clone(),
            default: at == 0,
            offline: model.info().offline,
            window: model.info().window,
            window_source: model.window_source().as_str(),
        })
        .collect()
}

/// Version, model, whether sign-in is needed, sample data.
#[utoipa::path(get, path = "/status", tag = "health", operation_id = "status", responses((status = 200, body = Data<Status>)))]
pub async fn status(State(state): State<AppState>, MaybeCaller(caller): MaybeCaller) -> Data<Status> {
    let known = caller.is_some();
    let model = state.deps.agent.model().info();
    let signed_in = caller.filter(|caller| caller.via != Via::Local);
    Data::of(Status {
        version: env!("CARGO_PKG_VERSION"),
        model: if known { model.name.clone() } else { String::new() },
        offline: model.offline,
        models: if known { choices(state.deps.agent.models()) } else { vec![] },
        auth_required: state.config.access == Access::SignIn,
        role: signed_in.as_ref().map(|caller| caller.role.as_str()),
        user: signed_in.map(|caller| caller.name),
        samples: if known {
            state.deps.samples.iter().map(|sample| sample.info.clone()).collect()
        } else {
            vec![]
        },
        file_types: FILE_TYPES.to_vec(),
        upload_limit: state.config.limits.upload_bytes,
        share_days: state.config.share_days.filter(|_| known),
    })
}
