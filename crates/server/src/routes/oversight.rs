//! What an administrator looks after beside users: what everyone's questions cost, what was done, what limits hold. And
//! everyone's own password.

use axum::extract::State;
use ba_protocol::UserId;
use ba_protocol::api::UsageInfo;
use ba_store::AuditEntry;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::admin::{Done, KeyList};
use super::session::off_thread;
use crate::auth::rate::Who;
use crate::auth::{Caller, Via, password};
use crate::envelope::{Body, Data, Path, Query};
use crate::error::{ApiError, Result};
use crate::state::AppState;

const LOG_LIMIT: u32 = 200;
const MOST_LINES: u32 = 1000;

#[derive(Debug, Serialize, ToSchema)]
pub struct UserUsage {
    pub user_id: UserId,
    /// The name, where there still is such a user.
    pub name: String,
    pub runs: u64,
    pub usage: UsageInfo,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct UsageList {
    pub users: Vec<UserUsage>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AuditLine {
    /// The last time.
    #[schema(value_type = String)]
    pub at: Timestamp,
    /// Earlier than `at` where a day's acts are counted, as views of a share link are.
    #[schema(value_type = String)]
    pub first_at: Timestamp,
    pub times: u64,
    /// A name; empty where anybody may.
    pub actor: String,
    #[schema(example = "user.add")]
    pub action: String,
    pub subject: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AuditLines {
    pub entries: Vec<AuditLine>,
}

/// What the server allows; set in the configuration file.
#[derive(Debug, Serialize, ToSchema)]
pub struct LimitsInfo {
    pub upload_bytes: u64,
    pub upload_files: usize,
    pub runs_per_person: usize,
    pub requests_per_minute: u32,
    /// Conversations untouched for so many days are deleted.
    pub retention_days: Option<u32>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangePassword {
    #[schema(format = Password, example = "correct horse battery")]
    old: String,
    #[schema(format = Password, min_length = 8, max_length = 1024, example = "staple battery horse")]
    new: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResetPassword {
    #[schema(format = Password, min_length = 8, max_length = 1024, example = "staple battery horse")]
    password: String,
}

/// Tokens and cost of everyone's questions.
#[utoipa::path(get, path = "/admin/usage", tag = "admin", operation_id = "usage", responses((status = 200, body = Data<UsageList>)))]
pub async fn usage(State(state): State<AppState>, caller: Caller) -> Result<Data<UsageList>> {
    caller.require_admin()?;
    let known = state.deps.store.users().await?;
    let name = |id: &UserId| known.iter().find(|user| &user.id == id).map(|user| user.name.clone());
    let users = state.deps.store.usage_by_owner().await?.into_iter();
    let users = users
        .map(|(user_id, runs, usage)| UserUsage {
            name: name(&user_id).unwrap_or_else(|| user_id.to_string()),
            user_id,
            runs,
            usage,
        })
        .collect();
    Ok(Data::of(UsageList { users }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct LogQuery {
    /// At most 1000; 200 unless told.
    #[param(example = 100)]
    limit: Option<u32>,
}

/// What administrators and accounts did, and what was done with share links; latest first.
#[utoipa::path(get, path = "/admin/audit", tag = "admin", operation_id = "auditLog", params(LogQuery),
    responses((status = 200, body = Data<AuditLines>)))]
pub async fn audit_log(
    State(state): State<AppState>,
    caller: Caller,
    Query(query): Query<LogQuery>,
) -> Result<Data<AuditLines>> {
    caller.require_admin()?;
    let entries = state.deps.store.audit_log(query.limit.unwrap_or(LOG_LIMIT).min(MOST_LINES)).await?;
    let told = |e: AuditEntry| AuditLine {
        at: e.at,
        first_at: e.first_at,
        times: e.times,
        actor: e.actor,
        action: e.action,
        subject: e.subject,
    };
    Ok(Data::of(AuditLines { entries: entries.into_iter().map(told).collect() }))
}

/// What the server allows.
#[utoipa::path(get, path = "/admin/limits", tag = "admin", operation_id = "limits", responses((status = 200, body = Data<LimitsInfo>)))]
pub async fn limits(State(state): State<AppState>, caller: Caller) -> Result<Data<LimitsInfo>> {
    caller.require_admin()?;
    let config = &state.config;
    Ok(Data::of(LimitsInfo {
        upload_bytes: config.limits.upload_bytes,
        upload_files: config.limits.upload_files,
        runs_per_person: config.limits.runs_per_person,
        requests_per_minute: config.rates.per_user,
        retention_days: config.retention_days,
    }))
}

/// Somebody's API keys, without their secrets.
#[utoipa::path(get, path = "/admin/users/{user_id}/keys", tag = "admin", operation_id = "listUserKeys",
    params(("user_id" = UserId, Path)), responses((status = 200, body = Data<KeyList>)))]
pub async fn user_keys(
    State(state): State<AppState>,
    caller: Caller,
    Path(user): Path<UserId>,
) -> Result<Data<KeyList>> {
    caller.require_admin()?;
    state.deps.store.user(&user).await?;
    let keys = state.deps.store.keys(&user).await?;
    Ok(Data::of(KeyList { keys: keys.into_iter().map(Into::into).collect() }))
}

/// Let a disabled user sign in again.
#[utoipa::path(post, path = "/admin/users/{user_id}/enable", tag = "admin", operation_id = "enableUser",
    params(("user_id" = UserId, Path)), responses((status = 200, body = Data<Done>)))]
pub async fn enable_user(
    State(state): State<AppState>,
    caller: Caller,
    Path(user): Path<UserId>,
) -> Result<Data<Done>> {
    caller.require_admin()?;
    let found = state.deps.store.user(&user).await?;
    state.deps.store.enable_user(&user).await?;
    write_down(&state, &caller, "user.enable", &found.name).await?;
    Ok(Data::of(Done { done: true }))
}

/// Give a user another password.
#[utoipa::path(put, path = "/admin/users/{user_id}/password", tag = "admin", operation_id = "resetPassword",
    params(("user_id" = UserId, Path)), request_body = ResetPassword, responses((status = 200, body = Data<Done>)))]
pub async fn reset_password(
    State(state): State<AppState>,
    caller: Caller,
    Path(user): Path<UserId>,
    Body(reset): Body<ResetPassword>,
) -> Result<Data<Done>> {
    caller.require_admin()?;
    let found = state.deps.store.user(&user).await?;
    set_password(&state, &user, reset.password, None).await?;
    write_down(&state, &caller, "password.reset", &found.name).await?;
    Ok(Data::of(Done { done: true }))
}

/// Change my own password; the old one is asked for.
#[utoipa::path(put, path = "/auth/password", tag = "auth", operation_id = "changePassword", request_body = ChangePassword,
    responses((status = 200, body = Data<Done>)))]
pub async fn change_password(
    State(state): State<AppState>,
    caller: Caller,
    Body(change): Body<ChangePassword>,
) -> Result<Data<Done>> {
    if caller.via == Via::Local {
        return Err(ApiError::bad_request("sign_in_off", "this server runs on loopback without sign-in"));
    }
    state.rates.take(Who::sign_in_name(&caller.name))?;
    let user = state.deps.store.user(&caller.user).await?;
    let right = off_thread(&state, move || password::verify(&change.old, Some(&user.password_hash))).await?;
    if !right {
        return Err(ApiError::bad_request("wrong_password", "the old password is not right"));
    }
    // Whoever proved that they know the old one stays signed in here, and nowhere else.
    let here = if let Via::Session(hash) = &caller.via { Some(hash.as_str()) } else { None };
    set_password(&state, &caller.user, change.new, here).await?;
    write_down(&state, &caller, "password.change", &caller.name).await?;
    Ok(Data::of(Done { done: true }))
}

async fn set_password(state: &AppState, user: &UserId, new: String, kept: Option<&str>) -> Result<()> {
    let hash = off_thread(state, move || password::hash(&new)).await?;
    let hash = hash.map_err(|error| ApiError::bad_request("invalid_password", error.to_string()))?;
    Ok(state.deps.store.set_password(user, &hash, kept).await?)
}

/// Into the audit log.
pub async fn write_down(state: &AppState, caller: &Caller, action: &str, subject: &str) -> Result<()> {
    Ok(state.deps.store.audit(&caller.name, action, subject).await?)
}
