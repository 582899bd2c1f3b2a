//! Who is calling, and may they (SPEC A10). The one gate every request passes.
//!
//! Ownership of what is asked for is not decided here: the store answers only for the owner it is given.

pub mod address;
pub mod gate;
pub mod origin;
pub mod password;
pub mod rate;
pub mod secret;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use ba_protocol::UserId;
use ba_store::UserRole;

use crate::error::{ApiError, Result};

/// The user behind a request. Handlers take it as an argument; without one they are not reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub user: UserId,
    pub name: String,
    pub role: UserRole,
    pub via: Via,
}

/// How the caller proved who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// Loopback without sign-in.
    Local,
    /// The page's cookie; holds the session's hash.
    Session(String),
    Key,
}

impl Caller {
    pub fn local() -> Self {
        Self { user: UserId::local(), name: "local".to_owned(), role: UserRole::Admin, via: Via::Local }
    }

    pub fn require_admin(&self) -> Result<()> {
        match self.role {
            UserRole::Admin => Ok(()),
            UserRole::User => Err(ApiError::forbidden("forbidden", "only an administrator may do this")),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        parts.extensions.get::<Self>().cloned().ok_or_else(ApiError::unauthorized)
    }
}

/// For public routes, which may show more to someone who is signed in.
pub struct MaybeCaller(pub Option<Caller>);

impl<S: Send + Sync> FromRequestParts<S> for MaybeCaller {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(parts.extensions.get::<Caller>().cloned()))
    }
}
