//! Users, keys and sessions (SPEC A10), and the cache (SPEC X5).

use std::time::Duration;

use ba_store::{Limits, StoreError, UserRole};
use jiff::{SignedDuration, Timestamp};

use crate::harness::{Fresh, on_every_backend};

fn limits() -> Limits {
    Limits { cache_bytes: 100, ..Limits::default() }
}

on_every_backend!(users_keys_and_sessions, the_cache_expires_and_evicts);

async fn users_keys_and_sessions(f: Fresh) {
    let ann = f.store.create_user("Ann", "hash1", UserRole::Admin).await.unwrap();
    assert!(matches!(f.store.create_user("ann ", "h", UserRole::User).await, Err(StoreError::Conflict(_))));
    for bad in ["", "  ", "a\nb", &"x".repeat(65)] {
        assert!(matches!(f.store.create_user(bad, "h", UserRole::User).await, Err(StoreError::Invalid(_))));
    }
    assert_eq!(f.store.user_by_name("ANN").await.unwrap(), ann);
    assert_eq!(f.store.users().await.unwrap(), vec![ann.clone()]);

    let key = f.store.create_key(&ann.id, "keyhash", "laptop").await.unwrap();
    let (found, user) = f.store.key_by_hash("keyhash").await.unwrap();
    assert_eq!((found.id.clone(), user), (key.id.clone(), ann.clone()));
    assert!(f.store.keys(&ann.id).await.unwrap()[0].last_used_at.is_some());
    f.store.revoke_key(&key.id).await.unwrap();
    assert!(f.store.key_by_hash("keyhash").await.unwrap_err().is_not_found());
    assert!(f.store.keys(&ann.id).await.unwrap()[0].revoked);

    let hour = SignedDuration::from_hours(1);
    f.store.create_session(&ann.id, "s1", Timestamp::now() + hour).await.unwrap();
    f.store.create_session(&ann.id, "old", Timestamp::now() - hour).await.unwrap();
    assert_eq!(f.store.session_user("s1").await.unwrap(), ann);
    assert!(f.store.session_user("old").await.unwrap_err().is_not_found());
    f.store.end_session("s1").await.unwrap();
    assert!(f.store.session_user("s1").await.unwrap_err().is_not_found());

    f.store.create_session(&ann.id, "s2", Timestamp::now() + hour).await.unwrap();
    f.store.create_key(&ann.id, "key2", "").await.unwrap();
    f.store.disable_user(&ann.id).await.unwrap();
    assert!(f.store.session_user("s2").await.unwrap_err().is_not_found());
    assert!(f.store.key_by_hash("key2").await.unwrap_err().is_not_found());
    assert!(f.store.user(&ann.id).await.unwrap().disabled);
}

async fn the_cache_expires_and_evicts(f: Fresh) {
    let hour = Duration::from_secs(3600);
    f.store.cache_put("summary", "a", &"x".repeat(39), hour).await.unwrap();
    f.store.cache_put("summary", "b", &"y".repeat(39), hour).await.unwrap();
    f.store.cache_put("other", "a", "elsewhere", hour).await.unwrap();
    assert!(f.store.cache_get("summary", "a").await.unwrap().is_some());
    // 120 bytes do not fit 100: `b` was used least recently.
    f.store.cache_put("summary", "c", &"z".repeat(39), hour).await.unwrap();
    assert_eq!(f.store.cache_get("summary", "b").await.unwrap(), None);
    assert_eq!(f.store.cache_get("summary", "a").await.unwrap(), Some("x".repeat(39)));
    assert_eq!(f.store.cache_get("other", "a").await.unwrap().as_deref(), Some("elsewhere"));
    f.store.cache_put("summary", "a", "new", hour).await.unwrap();
    assert_eq!(f.store.cache_get("summary", "a").await.unwrap().as_deref(), Some("new"));
    f.store.cache_put("summary", "gone", "x", Duration::ZERO).await.unwrap();
    assert_eq!(f.store.cache_get("summary", "gone").await.unwrap(), None);
    let huge = f.store.cache_put("summary", "h", &"x".repeat(200), hour).await;
    assert!(matches!(huge, Err(StoreError::TooLarge { .. })));
}
