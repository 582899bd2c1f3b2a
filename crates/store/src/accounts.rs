//! Users, API keys and sessions (SPEC A10). Holds hashes only: no password and no key ever reaches the store.

use ba_protocol::UserId;
use ba_protocol::text::{one_line, shorten};
use jiff::{SignedDuration, Timestamp};

use crate::conversations::now;
use crate::db::{Row, params};
use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::types::{ApiKey, User, UserRole};

/// A key's last use is noted at most this often, so that a request costs no write.
const NOTE_USE_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// The form in which names are compared: every spelling of one account is one name.
pub fn fold_name(name: &str) -> String {
    name.trim().to_lowercase()
}

impl Store {
    /// The name is unique without regard to case; a taken one is a `Conflict`.
    pub async fn create_user(&self, name: &str, password_hash: &str, role: UserRole) -> Result<User> {
        let name = clean_name(name)?;
        let user = User {
            id: UserId::parse(&format!("user_{}", short_random()))?,
            name,
            password_hash: password_hash.to_owned(),
            role,
            created_at: now(),
            disabled: false,
        };
        let row = user.clone();
        let added = self
            .db()
            .write(move |s| {
                Box::pin(async move {
                    let folded = fold_name(&row.name);
                    s.execute(
                        "INSERT INTO users (id, name, folded_name, password_hash, role, created_at)
                         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (folded_name) DO NOTHING",
                        params![
                            &row.id,
                            row.name,
                            folded,
                            row.password_hash,
                            row.role.as_str(),
                            row.created_at
                        ],
                    )
                    .await
                })
            })
            .await?;
        if added == 0 {
            return Err(StoreError::Conflict(format!("a user named `{}` already exists", user.name)));
        }
        Ok(user)
    }

    /// Oldest first.
    pub async fn users(&self) -> Result<Vec<User>> {
        let rows = self
            .db()
            .read(
                "SELECT id, name, password_hash, role, created_at, disabled_at FROM users ORDER BY created_at, id",
                vec![],
            )
            .await?;
        rows.iter().map(|row| user_from_row(row, 0)).collect()
    }

    pub async fn user(&self, id: &UserId) -> Result<User> {
        let row = self
            .db()
            .read_one(
                "SELECT id, name, password_hash, role, created_at, disabled_at FROM users WHERE id = $1",
                params![id],
            )
            .await?;
        row.map_or_else(|| Err(StoreError::not_found("user")), |row| user_from_row(&row, 0))
    }

    pub async fn user_by_name(&self, name: &str) -> Result<User> {
        let row = self
            .db()
            .read_one(
                "SELECT id, name, password_hash, role, created_at, disabled_at FROM users WHERE folded_name = $1",
                params![fold_name(name)],
            )
            .await?;
        row.map_or_else(|| Err(StoreError::not_found("user")), |row| user_from_row(&row, 0))
    }

    /// Ends the user's sessions as well, but for the one of the hash `kept`.
    pub async fn set_password(&self, id: &UserId, password_hash: &str, kept: Option<&str>) -> Result<()> {
        let (id, hash) = (id.clone(), password_hash.to_owned());
        let kept = kept.unwrap_or_default().to_owned();
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let n = s
                        .execute("UPDATE users SET password_hash = $2 WHERE id = $1", params![&id, hash])
                        .await?;
                    s.execute("DELETE FROM sessions WHERE user_id = $1 AND hash <> $2", params![&id, kept])
                        .await?;
                    if n == 0 { Err(StoreError::not_found("user")) } else { Ok(()) }
                })
            })
            .await
    }

    /// Their sessions end, and their keys stop working.
    pub async fn disable_user(&self, id: &UserId) -> Result<()> {
        let id = id.clone();
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let n = s
                        .execute(
                            "UPDATE users SET disabled_at = COALESCE(disabled_at, $2) WHERE id = $1",
                            params![&id, now()],
                        )
                        .await?;
                    s.execute("DELETE FROM sessions WHERE user_id = $1", params![&id]).await?;
                    if n == 0 { Err(StoreError::not_found("user")) } else { Ok(()) }
                })
            })
            .await
    }

    /// They may sign in again; their sessions and keys of before stay ended.
    pub async fn enable_user(&self, id: &UserId) -> Result<()> {
        let id = id.clone();
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let n =
                        s.execute("UPDATE users SET disabled_at = NULL WHERE id = $1", params![&id]).await?;
                    if n == 0 { Err(StoreError::not_found(format!("user {id}"))) } else { Ok(()) }
                })
            })
            .await
    }

    pub async fn create_key(&self, user: &UserId, hash: &str, label: &str) -> Result<ApiKey> {
        self.user(user).await?;
        let key = ApiKey {
            id: format!("key_{}", short_random()),
            user: user.clone(),
            label: shorten(one_line(label).trim(), 100),
            created_at: now(),
            last_used_at: None,
            revoked: false,
        };
        let (row, hash) = (key.clone(), hash.to_owned());
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    s.execute(
                        "INSERT INTO api_keys (id, user_id, hash, label, created_at) VALUES ($1, $2, $3, $4, $5)",
                        params![row.id, &row.user, hash, row.label, row.created_at],
                    )
                    .await
                })
            })
            .await?;
        Ok(key)
    }

    /// Oldest first, revoked ones included.
    pub async fn keys(&self, user: &UserId) -> Result<Vec<ApiKey>> {
        let rows = self
            .db()
            .read(
                "SELECT id, user_id, label, created_at, last_used_at, revoked_at FROM api_keys
                 WHERE user_id = $1 ORDER BY created_at, id",
                params![user],
            )
            .await?;
        rows.iter().map(key_from_row).collect()
    }

    /// The key and its user; `NotFound` for a revoked key or a disabled user. Notes the use.
    pub async fn key_by_hash(&self, hash: &str) -> Result<(ApiKey, User)> {
        let row = self
            .db()
            .read_one(
                "SELECT k.id, k.user_id, k.label, k.created_at, k.last_used_at, k.revoked_at,
                        u.id, u.name, u.password_hash, u.role, u.created_at, u.disabled_at
                 FROM api_keys k JOIN users u ON u.id = k.user_id
                 WHERE k.hash = $1 AND k.revoked_at IS NULL AND u.disabled_at IS NULL",
                params![hash],
            )
            .await?;
        let row = row.ok_or_else(|| StoreError::not_found("API key"))?;
        let (key, user) = (key_from_row(&row)?, user_from_row(&row, 6)?);
        let at = now();
        if key.last_used_at.is_none_or(|last| at.duration_since(last) > NOTE_USE_EVERY) {
            let id = key.id.clone();
            self.db()
                .write(move |s| {
                    Box::pin(async move {
                        s.execute("UPDATE api_keys SET last_used_at = $2 WHERE id = $1", params![id, at])
                            .await
                    })
                })
                .await?;
        }
        Ok((key, user))
    }

    pub async fn revoke_key(&self, id: &str) -> Result<()> {
        let id = id.to_owned();
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let n = s
                        .execute(
                            "UPDATE api_keys SET revoked_at = COALESCE(revoked_at, $2) WHERE id = $1",
                            params![id, now()],
                        )
                        .await?;
                    if n == 0 { Err(StoreError::not_found("API key")) } else { Ok(()) }
                })
            })
            .await
    }

    pub async fn create_session(&self, user: &UserId, hash: &str, expires_at: Timestamp) -> Result<()> {
        let (user, hash) = (user.clone(), hash.to_owned());
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    s.execute(
                        "INSERT INTO sessions (hash, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4)",
                        params![hash, &user, now(), expires_at],
                    )
                    .await
                    .map(|_| ())
                })
            })
            .await
    }

    /// `NotFound` when expired or the user is disabled.
    pub async fn session_user(&self, hash: &str) -> Result<User> {
        let row = self
            .db()
            .read_one(
                "SELECT u.id, u.name, u.password_hash, u.role, u.created_at, u.disabled_at
                 FROM sessions t JOIN users u ON u.id = t.user_id
                 WHERE t.hash = $1 AND t.expires_at > $2 AND u.disabled_at IS NULL",
                params![hash, now()],
            )
            .await?;
        row.map_or_else(|| Err(StoreError::not_found("session")), |row| user_from_row(&row, 0))
    }

    pub async fn end_session(&self, hash: &str) -> Result<()> {
        let hash = hash.to_owned();
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    s.execute("DELETE FROM sessions WHERE hash = $1", params![hash]).await.map(|_| ())
                })
            })
            .await
    }
}

fn clean_name(name: &str) -> Result<String> {
    let name = name.trim();
    let fine = (1..=64).contains(&name.chars().count()) && one_line(name) == name;
    if fine {
        Ok(name.to_owned())
    } else {
        Err(StoreError::Invalid("a user name has 1 to 64 visible characters".to_owned()))
    }
}

pub(crate) fn short_random() -> String {
    let mut hex = uuid::Uuid::new_v4().simple().to_string();
    hex.truncate(12);
    hex
}

fn user_from_row(row: &Row, at: usize) -> Result<User> {
    Ok(User {
        id: row.id(at)?,
        name: row.string(at + 1)?,
        password_hash: row.string(at + 2)?,
        role: match row.text(at + 3)? {
            "admin" => UserRole::Admin,
            "user" => UserRole::User,
            other => return Err(StoreError::Corrupt(format!("unknown role `{other}`"))),
        },
        created_at: row.time(at + 4)?,
        disabled: !row.is_null(at + 5),
    })
}

fn key_from_row(row: &Row) -> Result<ApiKey> {
    Ok(ApiKey {
        id: row.string(0)?,
        user: row.id(1)?,
        label: row.string(2)?,
        created_at: row.time(3)?,
        last_used_at: row.optional_time(4)?,
        revoked: !row.is_null(5),
    })
}
