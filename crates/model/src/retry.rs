//! When to try again, and how long to wait. Sleeping itself is injected, so tests do not wait.

use std::time::Duration;

use async_trait::async_trait;

use crate::model::ModelError;
use crate::settings::Retries;

/// Waits. Replaced in tests.
#[async_trait]
pub trait Sleeper: Send + Sync {
    async fn sleep(&self, pause: Duration);
}

/// Really waits.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokioSleeper;

#[async_trait]
impl Sleeper for TokioSleeper {
    async fn sleep(&self, pause: Duration) {
        tokio::time::sleep(pause).await;
    }
}

/// The pause before try number `tried + 1`, or `None` when the error should go to the caller.
///
/// `jitter` is from 0 to 1; the pause is between half and all of the doubled delay, so that clients spread out.
pub(crate) fn pause(
    policy: &Retries,
    error: &ModelError,
    tried: u32,
    left: Duration,
    jitter: f64,
) -> Option<Duration> {
    if tried > policy.max || !error.is_transient() {
        return None;
    }
    let doubled = policy.first_delay.saturating_mul(1 << (tried - 1).min(16)).min(policy.longest_delay);
    let backoff = doubled.mul_f64(0.5 + 0.5 * jitter.clamp(0.0, 1.0));
    let pause = match error {
        ModelError::RateLimited { retry_after: Some(asked) } => {
            if *asked > policy.longest_retry_after {
                return None;
            }
            (*asked).max(backoff)
        }
        _ => backoff,
    };
    (pause < left).then_some(pause)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    fn server() -> ModelError {
        ModelError::Server { status: 500, detail: String::new() }
    }

    #[test]
    fn delays_double_between_half_and_whole_up_to_the_longest() {
        let policy = Retries { max: 99, ..Retries::default() };
        assert_eq!(pause(&policy, &server(), 1, LONG, 1.0), Some(Duration::from_millis(500)));
        assert_eq!(pause(&policy, &server(), 1, LONG, 0.0), Some(Duration::from_millis(250)));
        assert_eq!(pause(&policy, &server(), 3, LONG, 1.0), Some(Duration::from_secs(2)));
        assert_eq!(pause(&policy, &server(), 50, LONG, 1.0), Some(Duration::from_secs(20)));
    }

    #[test]
    fn gives_up_after_the_last_try_on_permanent_errors_and_at_the_deadline() {
        let policy = Retries::default();
        assert_eq!(pause(&policy, &server(), 4, LONG, 1.0), None);
        assert_eq!(pause(&policy, &ModelError::Unauthorized { status: 401 }, 1, LONG, 1.0), None);
        assert_eq!(pause(&policy, &server(), 1, Duration::from_millis(100), 1.0), None);
    }

    #[test]
    fn retry_after_is_honoured_unless_it_is_too_long() {
        let policy = Retries::default();
        let asked = |s| ModelError::RateLimited { retry_after: Some(Duration::from_secs(s)) };
        assert_eq!(pause(&policy, &asked(7), 1, LONG, 1.0), Some(Duration::from_secs(7)));
        assert_eq!(pause(&policy, &asked(61), 1, LONG, 1.0), None);
    }
}
