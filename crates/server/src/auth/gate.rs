//! The middleware every request passes: host, origin, address, caller, rate. Public routes are listed here.

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::rate::{Allowance, Who};
use super::{Caller, Via, address, origin, secret};
use crate::config::Access;
use crate::error::{ApiError, Result};
use crate::state::AppState;

pub const SESSION_COOKIE: &str = "ba_session";

/// Routes that answer without a caller. Everything else asks for one.
pub const PUBLIC: [&str; 15] = [
    "/",
    "/index.html",
    "/frame",
    "/assets/{*path}",
    "/favicon.svg",
    // The address itself is the secret.
    "/s/{token}",
    "/docs",
    "/docs/",
    "/docs/{*rest}",
    "/api/v1/openapi.json",
    "/openapi.json",
    "/api/v1/health",
    "/api/v1/ready",
    "/api/v1/status",
    "/api/v1/auth/login",
];

pub async fn gate(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    match admit(&state, &mut request).await {
        Ok(allowance) => {
            let mut response = next.run(request).await;
            if let Some(allowance) = allowance {
                allowance.write(response.headers_mut());
            }
            response
        }
        Err(refused) => refused.into_response(),
    }
}

/// Puts the caller and their address into the request, or refuses it.
async fn admit(state: &AppState, request: &mut Request) -> Result<Option<Allowance>> {
    let config = &state.config;
    origin::check_host(config, request.headers(), request.uri())?;
    origin::check_origin(request.method(), request.headers(), request.uri())?;
    let from = address::origin_of(request.extensions(), request.headers(), &config.trusted_proxies);
    request.extensions_mut().insert(from);

    if config.access == Access::LocalOnly {
        request.extensions_mut().insert(Caller::local());
        return Ok(None);
    }
    let mut allowance = state.rates.take(Who::address(from.address))?;
    // A route that does not exist is answered 404 to everyone.
    let path = request.extensions().get::<MatchedPath>();
    let public = path.is_none_or(|path| PUBLIC.contains(&path.as_str()));
    match identify(state, request.headers()).await? {
        Some(caller) => {
            allowance = state.rates.take(Who::User(caller.user.clone()))?;
            request.extensions_mut().insert(caller);
        }
        None if public => {}
        None => return Err(ApiError::unauthorized()),
    }
    Ok(Some(allowance))
}

/// Who the credentials belong to. Wrong ones are no one's.
async fn identify(state: &AppState, headers: &HeaderMap) -> Result<Option<Caller>> {
    let store = &state.deps.store;
    if let Some(key) = key_of(headers) {
        return match store.key_by_hash(&secret::hash_of(key)).await {
            Ok((_, user)) => {
                Ok(Some(Caller { user: user.id, name: user.name, role: user.role, via: Via::Key }))
            }
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        };
    }
    let Some(token) = cookie(headers, SESSION_COOKIE) else { return Ok(None) };
    let hash = secret::hash_of(token);
    match store.session_user(&hash).await {
        Ok(user) => {
            Ok(Some(Caller { user: user.id, name: user.name, role: user.role, via: Via::Session(hash) }))
        }
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn key_of(headers: &HeaderMap) -> Option<&str> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok()).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    bearer.or_else(|| headers.get("x-api-key").and_then(|v| v.to_str().ok()).map(str::trim))
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|v| v.to_str().ok());
    all.flat_map(|v| v.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(k, v)| (k == name).then_some(v))
}
