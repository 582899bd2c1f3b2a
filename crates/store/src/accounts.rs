//! Users, API keys and sessions (SPEC A10). Holds hashes only: no password and no key ever reaches the store.

use ba_protocol::UserId;
use jiff::Timestamp;

use crate::error::Result;
use crate::store::Store;
use crate::types::{ApiKey, User, UserRole};

impl Store {
    /// The name is unique without regard to case; a taken one is a `Conflict`.
    pub async fn create_user(&self, _name: &str, _password_hash: &str, _role: UserRole) -> Result<User> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn users(&self) -> Result<Vec<User>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn user(&self, _id: &UserId) -> Result<User> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn user_by_name(&self, _name: &str) -> Result<User> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn set_password(&self, _id: &UserId, _password_hash: &str) -> Result<()> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// Their sessions end, and their keys stop working.
    pub async fn disable_user(&self, _id: &UserId) -> Result<()> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn create_key(&self, _user: &UserId, _hash: &str, _label: &str) -> Result<ApiKey> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn keys(&self, _user: &UserId) -> Result<Vec<ApiKey>> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// The key and its user; `NotFound` for a revoked key or a disabled user. Notes the use.
    pub async fn key_by_hash(&self, _hash: &str) -> Result<(ApiKey, User)> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn revoke_key(&self, _id: &str) -> Result<()> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn create_session(&self, _user: &UserId, _hash: &str, _expires_at: Timestamp) -> Result<()> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    /// `NotFound` when expired or the user is disabled.
    pub async fn session_user(&self, _hash: &str) -> Result<User> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }

    pub async fn end_session(&self, _hash: &str) -> Result<()> {
        Err(crate::StoreError::Unavailable("not ready".to_owned()))
    }
}
