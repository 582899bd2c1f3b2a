//! When a failed call is tried again, how long to wait, and how much longer it may take (SPEC E7).

use std::time::Duration;

use ba_protocol::ToolErrorType;

use crate::tool::CallPlan;

#[derive(Debug, Clone, PartialEq)]
pub struct RetryPolicy {
    pub max_retries: u32,
    pub first_delay: Duration,
    pub multiplier: f64,
    pub max_delay: Duration,
    /// Each further attempt may take this much longer than the one before.
    pub timeout_growth: f64,
    pub max_timeout: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 3,
            first_delay: Duration::from_secs(1),
            multiplier: 1.5,
            max_delay: Duration::from_secs(10),
            timeout_growth: 1.5,
            max_timeout: Duration::from_secs(300),
        }
    }
}

impl RetryPolicy {
    /// `attempt` is the one that failed, from 0.
    pub fn should_retry(&self, plan: &CallPlan, error: ToolErrorType, attempt: u32) -> bool {
        let worth = match error {
            ToolErrorType::Timeout | ToolErrorType::NetworkError => plan.retry_network,
            other => other.is_retryable(),
        };
        plan.effects.is_harmless() && worth && attempt < self.max_retries
    }

    /// `jitter` in 0..1 spreads the delay between half and all of its nominal length.
    pub fn delay(&self, attempt: u32, jitter: f64) -> Duration {
        let exponent = i32::try_from(attempt).unwrap_or(i32::MAX);
        let nominal = self.first_delay.as_secs_f64() * self.multiplier.powi(exponent);
        let nominal = nominal.min(self.max_delay.as_secs_f64());
        Duration::from_secs_f64(nominal * (0.5 + jitter.clamp(0.0, 1.0) / 2.0))
    }

    pub fn timeout(&self, first: Duration, attempt: u32) -> Duration {
        let exponent = i32::try_from(attempt).unwrap_or(i32::MAX);
        let grown = first.as_secs_f64() * self.timeout_growth.powi(exponent);
        Duration::from_secs_f64(grown.min(self.max_timeout.as_secs_f64()).max(first.as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Effects;

    const PLAN: CallPlan =
        CallPlan { effects: Effects::None, timeout: Duration::from_secs(60), retry_network: false };

    #[test]
    fn only_harmless_transient_calls_are_retried() {
        let policy = RetryPolicy::default();
        let waiting = CallPlan { retry_network: true, ..PLAN };
        for error in [ToolErrorType::Timeout, ToolErrorType::NetworkError] {
            assert!(policy.should_retry(&waiting, error, 0));
            assert!(!policy.should_retry(&waiting, error, 3));
            // A computation that ran out of its time is not run again.
            assert!(!policy.should_retry(&PLAN, error, 0));
            assert!(!policy.should_retry(&CallPlan { effects: Effects::Changes, ..waiting }, error, 0));
        }
        for effects in [Effects::None, Effects::Live] {
            assert!(policy.should_retry(&CallPlan { effects, ..PLAN }, ToolErrorType::ResourceError, 0));
        }
    }

    #[test]
    fn delays_grow_to_their_limit() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.delay(0, 1.0), Duration::from_millis(1000));
        assert_eq!(policy.delay(1, 1.0), Duration::from_millis(1500));
        assert_eq!(policy.delay(30, 1.0), Duration::from_secs(10));
        assert_eq!(policy.delay(0, 0.0), Duration::from_millis(500));
        assert_eq!(policy.timeout(Duration::from_secs(60), 1), Duration::from_secs(90));
        assert_eq!(policy.timeout(Duration::from_secs(60), 9), Duration::from_secs(300));
    }
}
