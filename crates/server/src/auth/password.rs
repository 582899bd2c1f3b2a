//! Passwords: argon2id, salted. Slow on purpose, so callers run this off the async threads.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

const MIN_CHARS: usize = 8;
const MAX_BYTES: usize = 1024;

/// Compared against when the user does not exist, so that the time taken does not tell.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$3mGMhLLQ9mXM4Qo2WXyzYjM4Vq0yhGCnm0eXUmwbB1M";

#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    #[error("a password needs at least {MIN_CHARS} characters")]
    TooShort,
    #[error("a password has at most {MAX_BYTES} bytes")]
    TooLong,
    #[error("the password could not be hashed: {0}")]
    Hash(String),
}

pub fn hash(password: &str) -> Result<String, PasswordError> {
    if password.chars().count() < MIN_CHARS {
        return Err(PasswordError::TooShort);
    }
    if password.len() > MAX_BYTES {
        return Err(PasswordError::TooLong);
    }
    let salt: [u8; 16] = rand::random();
    let hashed: PasswordHash = Argon2::default()
        .hash_password_with_salt(password.as_bytes(), &salt)
        .map_err(|error| PasswordError::Hash(error.to_string()))?;
    Ok(hashed.to_string())
}

/// False for a wrong password, for a hash that cannot be read, and always when there is no user.
pub fn verify(password: &str, stored: Option<&str>) -> bool {
    if password.len() > MAX_BYTES {
        return false;
    }
    let right = PasswordHash::new(stored.unwrap_or(NOBODY))
        .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok());
    right && stored.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_password_verifies() {
        let stored = hash("correct horse 电池").unwrap();
        assert!(stored.starts_with("$argon2id$"));
        assert!(verify("correct horse 电池", Some(&stored)));
        assert!(!verify("correct horse", Some(&stored)));
        assert!(!verify("correct horse 电池", None));
        assert!(!verify("x", Some("not a hash")));
        assert!(PasswordHash::new(NOBODY).is_ok(), "the dummy must cost as much as a real one");
        assert_ne!(stored, hash("correct horse 电池").unwrap());
    }

    #[test]
    fn too_short_and_too_long_are_refused() {
        assert!(matches!(hash("1234567"), Err(PasswordError::TooShort)));
        assert!(matches!(hash(&"x".repeat(1025)), Err(PasswordError::TooLong)));
    }
}
