//! Keys and session tokens: 256 random bits, shown once, kept only as a hash.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

const KEY_PREFIX: &str = "ba_";

/// A secret and what is stored of it.
pub struct Secret {
    /// Shown once, never stored.
    pub token: String,
    pub hash: String,
}

impl Secret {
    pub fn new_key() -> Self {
        Self::with_prefix(KEY_PREFIX)
    }

    pub fn new_session() -> Self {
        Self::with_prefix("")
    }

    fn with_prefix(prefix: &str) -> Self {
        let bytes: [u8; 32] = rand::random();
        let token = format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes));
        let hash = hash_of(&token);
        Self { token, hash }
    }
}

/// A fast hash is enough: the token itself is random.
pub fn hash_of(token: &str) -> String {
    hex::encode(Sha256::digest(token.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_long_random_and_hashed() {
        let (one, two) = (Secret::new_key(), Secret::new_key());
        assert!(one.token.starts_with("ba_") && one.token.len() == 3 + 43);
        assert_ne!(one.token, two.token);
        assert_eq!(one.hash, hash_of(&one.token));
        assert!(!one.hash.contains(&one.token[3..]));
    }
}
