//! Signing in and out, and one's own API keys (SPEC A10).

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::address::Origin;
use crate::auth::gate::SESSION_COOKIE;
use crate::auth::rate::Who;
use crate::auth::secret::Secret;
use crate::auth::{Caller, Via, password};
use crate::config::Access;
use crate::envelope::{Body, Data};
use crate::error::{ApiError, Result};
use crate::state::AppState;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    #[schema(example = "alice")]
    username: String,
    #[schema(format = Password, example = "correct horse battery")]
    password: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Me {
    #[schema(example = "alice")]
    pub user: String,
    /// `admin` or `user`.
    #[schema(example = "user")]
    pub role: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SignedOut {
    pub signed_out: bool,
}

/// Sign in with a password; the answer sets a cookie.
#[utoipa::path(post, path = "/auth/login", tag = "auth", operation_id = "login", request_body = Login,
    responses((status = 200, body = Data<Me>)))]
pub async fn login(
    State(state): State<AppState>,
    Extension(origin): Extension<Origin>,
    Body(login): Body<Login>,
) -> Result<Response> {
    if state.config.access == Access::LocalOnly {
        return Err(ApiError::bad_request("sign_in_off", "this server runs on loopback without sign-in"));
    }
    state.rates.take(Who::sign_in(origin.address))?;
    state.rates.take(Who::sign_in_name(&login.username))?;
    let user = match state.deps.store.user_by_name(&login.username).await {
        Ok(user) if !user.disabled => Some(user),
        Ok(_) => None,
        Err(error) if error.is_not_found() => None,
        Err(error) => return Err(error.into()),
    };
    let stored = user.as_ref().map(|user| user.password_hash.clone());
    let right = off_thread(&state, move || password::verify(&login.password, stored.as_deref())).await?;
    let Some(user) = user.filter(|_| right) else {
        return Err(ApiError::new(
            StatusCode::UNAUTHORIZED,
            "wrong_credentials",
            "wrong user name or password",
        ));
    };
    let session = Secret::new_session();
    let expires = Timestamp::now() + state.config.session_lifetime;
    state.deps.store.create_session(&user.id, &session.hash, expires).await?;
    let mut response = Data::of(Me { user: user.name, role: user.role.as_str() }).into_response();
    let age = state.config.session_lifetime.as_secs();
    set_cookie(&mut response, &session.token, age, origin.tls)?;
    Ok(response)
}

/// End this session.
#[utoipa::path(post, path = "/auth/logout", tag = "auth", operation_id = "logout", responses((status = 200, body = Data<SignedOut>)))]
pub async fn logout(
    State(state): State<AppState>,
    caller: Caller,
    Extension(origin): Extension<Origin>,
) -> Result<Response> {
    let mut signed_out = false;
    if let Via::Session(hash) = &caller.via {
        state.deps.store.end_session(hash).await?;
        signed_out = true;
    }
    let mut response = Data::of(SignedOut { signed_out }).into_response();
    set_cookie(&mut response, "", 0, origin.tls)?;
    Ok(response)
}

/// Who I am.
#[utoipa::path(get, path = "/auth/me", tag = "auth", operation_id = "me", responses((status = 200, body = Data<Me>)))]
pub async fn me(caller: Caller) -> Data<Me> {
    Data::of(Me { role: caller.role.as_str(), user: caller.name })
}

/// Runs slow hashing where it does not hold up others, a few at a time.
pub async fn off_thread<T: Send + 'static>(
    state: &AppState,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let _place = state.hashing.acquire().await.map_err(ApiError::internal)?;
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
}

fn set_cookie(response: &mut Response, value: &str, age: u64, tls: bool) -> Result<()> {
    let secure = if tls { "; Secure" } else { "" };
    let cookie =
        format!("{SESSION_COOKIE}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{secure}");
    let cookie = HeaderValue::from_str(&cookie).map_err(ApiError::internal)?;
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(())
}
