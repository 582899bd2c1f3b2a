//! Users and keys, for administrators; everyone manages their own keys (SPEC A10).

use axum::extract::State;
use ba_protocol::UserId;
use ba_store::{ApiKey, User, UserRole};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::oversight::write_down;
use super::session::off_thread;
use crate::auth::secret::Secret;
use crate::auth::{Caller, password};
use crate::envelope::{Body, Data, Path};
use crate::error::{ApiError, Result};
use crate::state::AppState;

const MAX_NAME_CHARS: usize = 64;
const MAX_KEYS: usize = 100;

#[derive(Debug, Serialize, ToSchema)]
pub struct UserInfo {
    pub user_id: UserId,
    pub name: String,
    pub role: &'static str,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    pub disabled: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct UserList {
    pub users: Vec<UserInfo>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct KeyInfo {
    #[schema(example = "key_0123456789ab")]
    pub key_id: String,
    pub label: String,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    #[schema(value_type = Option<String>)]
    pub last_used_at: Option<Timestamp>,
    pub revoked: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct KeyList {
    pub keys: Vec<KeyInfo>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct NewKeyInfo {
    #[serde(flatten)]
    pub key: KeyInfo,
    /// Shown this once; only its hash is kept.
    #[schema(example = "ba_…")]
    pub secret: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUser {
    #[schema(min_length = 1, max_length = 64, example = "alice")]
    name: String,
    #[schema(format = Password, min_length = 8, max_length = 1024, example = "correct horse battery")]
    password: String,
    /// `admin` or `user`.
    #[serde(default)]
    #[schema(value_type = Option<String>, example = "user")]
    role: Option<UserRole>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKey {
    #[serde(default)]
    #[schema(example = "nightly report")]
    label: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Done {
    #[schema(example = true)]
    pub done: bool,
}

impl From<User> for UserInfo {
    fn from(user: User) -> Self {
        Self {
            user_id: user.id,
            name: user.name,
            role: user.role.as_str(),
            created_at: user.created_at,
            disabled: user.disabled,
        }
    }
}

impl From<ApiKey> for KeyInfo {
    fn from(key: ApiKey) -> Self {
        Self {
            key_id: key.id,
            label: key.label,
            created_at: key.created_at,
            last_used_at: key.last_used_at,
            revoked: key.revoked,
        }
    }
}

/// All users.
#[utoipa::path(get, path = "/admin/users", tag = "auth", operation_id = "listUsers", responses((status = 200, body = Data<UserList>)))]
pub async fn users(State(state): State<AppState>, caller: Caller) -> Result<Data<UserList>> {
    caller.require_admin()?;
    let users = state.deps.store.users().await?;
    Ok(Data::of(UserList { users: users.into_iter().map(Into::into).collect() }))
}

/// Add a user.
#[utoipa::path(post, path = "/admin/users", tag = "auth", operation_id = "addUser", request_body = NewUser,
    responses((status = 200, body = Data<UserInfo>)))]
pub async fn add_user(
    State(state): State<AppState>,
    caller: Caller,
    Body(new): Body<NewUser>,
) -> Result<Data<UserInfo>> {
    caller.require_admin()?;
    let name = ba_protocol::text::one_line(&new.name).trim().to_owned();
    if name.is_empty() || name.chars().count() > MAX_NAME_CHARS {
        return Err(ApiError::bad_request(
            "invalid_name",
            format!("a name has 1 to {MAX_NAME_CHARS} characters"),
        ));
    }
    let hash = off_thread(&state, move || password::hash(&new.password)).await?;
    let hash = hash.map_err(|error| ApiError::bad_request("invalid_password", error.to_string()))?;
    let user = state.deps.store.create_user(&name, &hash, new.role.unwrap_or(UserRole::User)).await?;
    write_down(&state, &caller, "user.add", &user.name).await?;
    Ok(Data::of(user.into()))
}

/// Lock a user out: sessions end, keys stop working.
#[utoipa::path(post, path = "/admin/users/{user_id}/disable", tag = "auth", operation_id = "disableUser",
    params(("user_id" = UserId, Path)), responses((status = 200, body = Data<Done>)))]
pub async fn disable_user(
    State(state): State<AppState>,
    caller: Caller,
    Path(user): Path<UserId>,
) -> Result<Data<Done>> {
    caller.require_admin()?;
    if user == caller.user {
        return Err(ApiError::bad_request("own_account", "you cannot disable yourself"));
    }
    let found = state.deps.store.user(&user).await?;
    state.deps.store.disable_user(&user).await?;
    write_down(&state, &caller, "user.disable", &found.name).await?;
    Ok(Data::of(Done { done: true }))
}

/// My API keys.
#[utoipa::path(get, path = "/auth/keys", tag = "auth", operation_id = "listKeys", responses((status = 200, body = Data<KeyList>)))]
pub async fn keys(State(state): State<AppState>, caller: Caller) -> Result<Data<KeyList>> {
    let keys = state.deps.store.keys(&caller.user).await?;
    Ok(Data::of(KeyList { keys: keys.into_iter().map(Into::into).collect() }))
}

/// A new API key for myself. Its secret is shown only now.
#[utoipa::path(post, path = "/auth/keys", tag = "auth", operation_id = "createKey", request_body = NewKey,
    responses((status = 200, body = Data<NewKeyInfo>)))]
pub async fn create_key(
    State(state): State<AppState>,
    caller: Caller,
    Body(new): Body<NewKey>,
) -> Result<Data<NewKeyInfo>> {
    let store = &state.deps.store;
    store.user(&caller.user).await.map_err(|error| match error.is_not_found() {
        true => {
            ApiError::bad_request("sign_in_off", "keys belong to users; this server runs without sign-in")
        }
        false => error.into(),
    })?;
    if store.keys(&caller.user).await?.iter().filter(|key| !key.revoked).count() >= MAX_KEYS {
        return Err(ApiError::bad_request(
            "too_many_keys",
            format!("at most {MAX_KEYS} keys; revoke one first"),
        ));
    }
    let secret = Secret::new_key();
    let label = ba_protocol::text::shorten(ba_protocol::text::one_line(&new.label).trim(), 100);
    let key = store.create_key(&caller.user, &secret.hash, &label).await?;
    write_down(&state, &caller, "key.create", &key.id).await?;
    Ok(Data::of(NewKeyInfo { key: key.into(), secret: secret.token }))
}

/// Revoke one of my keys; an administrator may revoke anyone's.
#[utoipa::path(delete, path = "/auth/keys/{key_id}", tag = "auth", operation_id = "revokeKey",
    params(("key_id" = String, Path, example = "key_0123456789ab")), responses((status = 200, body = Data<Done>)))]
pub async fn revoke_key(
    State(state): State<AppState>,
    caller: Caller,
    Path(key): Path<String>,
) -> Result<Data<Done>> {
    let own = state.deps.store.keys(&caller.user).await?.iter().any(|mine| mine.id == key);
    if !own && caller.role != UserRole::Admin {
        return Err(ApiError::not_found("key"));
    }
    state.deps.store.revoke_key(&key).await?;
    write_down(&state, &caller, "key.revoke", &key).await?;
    Ok(Data::of(Done { done: true }))
}
