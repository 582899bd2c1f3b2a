//! Manners towards other people's servers: a turn per host, and what their robots.txt says, kept for a while.

use std::sync::Arc;
use std::time::{Duration, Instant};

use moka::Expiry;
use moka::future::Cache;
use tokio::sync::Mutex;
use tokio::time::Instant as Clock;

use super::robots::Rules;

const HOSTS: u64 = 10_000;
const ORIGINS: u64 = 2_000;

/// Spaces the requests to one host.
#[derive(Clone)]
pub(super) struct Turns {
    interval: Duration,
    next: Cache<String, Arc<Mutex<Clock>>>,
}

impl Turns {
    pub(super) fn new(interval: Duration) -> Self {
        let next = Cache::builder().max_capacity(HOSTS).time_to_idle(interval + Duration::from_secs(600));
        Self { interval, next: next.build() }
    }

    /// Waits until the next request to this host may begin; those who wait go in order.
    pub(super) async fn wait(&self, host: &str) {
        let slot = self.next.get_with_by_ref(host, async { Arc::new(Mutex::new(Clock::now())) }).await;
        let mut next = slot.lock().await;
        tokio::time::sleep_until(*next).await;
        *next = Clock::now() + self.interval;
    }
}

/// What an origin's robots.txt came to.
#[derive(Debug, Clone)]
pub(super) enum Verdict {
    Rules(Arc<Rules>),
    /// The server failed to say (5xx): nothing may be read for now.
    Failed(u16),
}

/// One verdict per origin.
pub(super) type Verdicts = Cache<String, Verdict>;

pub(super) fn verdicts() -> Verdicts {
    Cache::builder().max_capacity(ORIGINS).expire_after(Keep).build()
}

struct Keep;

impl Expiry<String, Verdict> for Keep {
    fn expire_after_create(&self, _origin: &String, verdict: &Verdict, _now: Instant) -> Option<Duration> {
        Some(match verdict {
            Verdict::Rules(_) => Duration::from_secs(3600),
            Verdict::Failed(_) => Duration::from_secs(60),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_to_one_host_are_spaced_and_other_hosts_do_not_wait() {
        let turns = Turns::new(Duration::from_millis(500));
        let began = Clock::now();
        turns.wait("a").await;
        turns.wait("b").await;
        assert_eq!(began.elapsed(), Duration::ZERO);
        futures::future::join_all((0..4).map(|_| turns.wait("a"))).await;
        let passed = began.elapsed();
        assert!(
            passed >= Duration::from_millis(2_000) && passed < Duration::from_millis(2_100),
            "{passed:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_waiting_holds_nobody_up() {
        let turns = Turns::new(Duration::from_secs(10));
        turns.wait("a").await;
        let gave_up = tokio::time::timeout(Duration::from_secs(1), turns.wait("a")).await;
        assert!(gave_up.is_err());
        let began = Clock::now();
        turns.wait("a").await;
        assert!(began.elapsed() <= Duration::from_secs(9));
    }
}
