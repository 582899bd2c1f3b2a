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
