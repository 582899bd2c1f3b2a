//! Token buckets per user and per address. Bounded memory: buckets that are full again are forgotten. Servers that share a
//! database tell each other what they counted a few times a second, so that one who asks all of them gets no more than
//! one who asks one (SPEC N2); a burst within that moment may pass on each.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Instant;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use ba_protocol::UserId;
use parking_lot::Mutex;

use crate::config::Rates;
use crate::error::ApiError;

/// Past this many buckets the idle ones are swept.
const SWEEP_AT: usize = 50_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Who {
    User(UserId),
    /// An IPv6 address counts with its /64.
    Address(IpAddr),
    SignIn(IpAddr),
    /// The name somebody signs in with, known or not: guesses from many addresses at one account.
    SignInName(String),
}

impl Who {
    pub fn address(address: IpAddr) -> Self {
        Self::Address(network_of(address))
    }

    pub fn sign_in(address: IpAddr) -> Self {
        Self::SignIn(network_of(address))
    }

    /// As the store looks names up, so that every spelling of one account counts as one. Long names are cut: they are
    /// no account's, and memory is bounded.
    pub fn sign_in_name(name: &str) -> Self {
        Self::SignInName(ba_store::fold_name(name).chars().take(64).collect())
    }
}

impl Who {
    /// As it is told to other servers.
    fn key(&self) -> String {
        match self {
            Self::User(user) => format!("u:{user}"),
            Self::Address(address) => format!("a:{address}"),
            Self::SignIn(address) => format!("s:{address}"),
            Self::SignInName(name) => format!("n:{name}"),
        }
    }

    fn of_key(key: &str) -> Option<Self> {
        let (kind, rest) = key.split_once(':')?;
        Some(match kind {
            "u" => Self::User(UserId::parse(rest).ok()?),
            "a" => Self::Address(rest.parse().ok()?),
            "s" => Self::SignIn(rest.parse().ok()?),
            "n" => Self::SignInName(rest.to_owned()),
            _ => return None,
        })
    }
}

pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & (u128::MAX << 64)).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

pub struct RateLimiter {
    rates: Rates,
    buckets: Mutex<HashMap<Who, Bucket>>,
    /// Counted since the others were told; absent for a server that is alone.
    untold: Option<Mutex<HashMap<Who, u32>>>,
}

struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Bucket {
    fn refill(&mut self, now: Instant, burst: f64, per_second: f64) {
        let waited = now.saturating_duration_since(self.at).as_secs_f64();
        self.tokens = (self.tokens + waited * per_second).min(burst);
        self.at = now;
    }
}

/// What is left after a request was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    pub limit: u32,
    pub remaining: u32,
    /// Seconds until the bucket is full again.
    pub reset: u64,
}

impl RateLimiter {
    pub fn new(rates: Rates) -> Self {
        Self { rates, buckets: Mutex::new(HashMap::new()), untold: None }
    }

    /// One of several servers, which share what each of them counts.
    pub fn shared(rates: Rates) -> Self {
        Self { untold: Some(Mutex::default()), ..Self::new(rates) }
    }

    pub fn take(&self, who: Who) -> Result<Allowance, ApiError> {
        let allowed = self.take_at(who.clone(), Instant::now())?;
        if let Some(untold) = &self.untold {
            *untold.lock().entry(who).or_default() += 1;
        }
        Ok(allowed)
    }

    /// What was counted here since this was last asked.
    pub fn taken(&self) -> Vec<(String, u32)> {
        let taken =
            self.untold.as_ref().map(|untold| std::mem::take(&mut *untold.lock())).unwrap_or_default();
        taken.into_iter().map(|(who, count)| (who.key(), count)).collect()
    }

    /// What another server counted. A bucket may owe as much as it holds, not more: nobody is shut out for long.
    pub fn taken_elsewhere(&self, counts: &[(String, u32)]) {
        let now = Instant::now();
        for (key, count) in counts {
            let Some(who) = Who::of_key(key) else { continue };
            let (burst, per_second) = shape(self.per_minute(&who));
            let mut buckets = self.buckets.lock();
            let bucket = buckets.entry(who).or_insert(Bucket { tokens: burst, at: now });
            bucket.refill(now, burst, per_second);
            bucket.tokens = (bucket.tokens - f64::from(*count)).max(-burst);
        }
    }

    fn per_minute(&self, who: &Who) -> u32 {
        match who {
            Who::User(_) => self.rates.per_user,
            Who::Address(_) => self.rates.per_address,
            Who::SignIn(_) => self.rates.sign_in,
            // More than one address may use, so that one stranger alone cannot keep the owner out.
            Who::SignInName(_) => self.rates.sign_in.saturating_mul(3),
        }
    }

    fn take_at(&self, who: Who, now: Instant) -> Result<Allowance, ApiError> {
        let per_minute = self.per_minute(&who);
        let (burst, per_second) = shape(per_minute);
        let mut buckets = self.buckets.lock();
        if buckets.len() >= SWEEP_AT {
            buckets.retain(|_, bucket| now.duration_since(bucket.at).as_secs() < 120);
        }
        let bucket = buckets.entry(who).or_insert(Bucket { tokens: burst, at: now });
        bucket.refill(now, burst, per_second);
        if bucket.tokens < 1.0 {
            return Err(refusal(per_minute, ((1.0 - bucket.tokens) / per_second).ceil()));
        }
        bucket.tokens -= 1.0;
        Ok(Allowance {
            limit: per_minute,
            remaining: whole(bucket.tokens),
            reset: u64::from(whole(((burst - bucket.tokens) / per_second).ceil())),
        })
    }
}

/// Burst and refill per second.
fn shape(per_minute: u32) -> (f64, f64) {
    let rate = f64::from(per_minute.max(1));
    ((rate / 4.0).max(10.0).min(rate), rate / 60.0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small, never negative")]
fn whole(value: f64) -> u32 {
    value.max(0.0) as u32
}

fn refusal(limit: u32, seconds: f64) -> ApiError {
    let seconds = whole(seconds).max(1);
    ApiError::new(
        StatusCode::TOO_MANY_REQUESTS,
        "rate_limited",
        format!("too many requests; try again in {seconds} s"),
    )
    .with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
    .with_header(LIMIT, HeaderValue::from(limit))
    .with_header(REMAINING, HeaderValue::from(0))
    .with_header(RESET, HeaderValue::from(seconds))
}

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

impl Allowance {
    pub fn write(&self, headers: &mut HeaderMap) {
        headers.insert(LIMIT, HeaderValue::from(self.limit));
        headers.insert(REMAINING, HeaderValue::from(self.remaining));
        headers.insert(RESET, HeaderValue::from(self.reset));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn limiter() -> RateLimiter {
        RateLimiter::new(Rates { per_user: 60, per_address: 60, sign_in: 5 })
    }

    #[test]
    fn a_burst_passes_then_it_waits_and_recovers() {
        let (limiter, start) = (limiter(), Instant::now());
        let who = || Who::address("10.0.0.1".parse().unwrap());
        for left in (0..15).rev() {
            assert_eq!(limiter.take_at(who(), start).unwrap().remaining, left);
        }
        let refused = limiter.take_at(who(), start).unwrap_err();
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        assert!(limiter.take_at(who(), start + Duration::from_secs(1)).is_ok());
        assert!(limiter.take_at(who(), start + Duration::from_secs(1)).is_err());
        assert!(limiter.take_at(Who::address("10.0.0.2".parse().unwrap()), start).is_ok());
    }

    // SPEC N2
    #[test]
    fn what_one_server_counts_counts_on_the_others() {
        let rates = Rates { per_user: 60, per_address: 60, sign_in: 5 };
        let (one, two) = (RateLimiter::shared(rates), RateLimiter::shared(rates));
        let all = || {
            let address = "2001:db8::1".parse().unwrap();
            [
                Who::User(UserId::local()),
                Who::address(address),
                Who::sign_in(address),
                Who::sign_in_name("a:b"),
            ]
        };
        for _ in 0..5 {
            all().into_iter().for_each(|who| assert!(one.take(who).is_ok()));
        }
        two.taken_elsewhere(&one.taken());
        assert_eq!(one.taken(), vec![], "told once");
        let [user, address, sign_in, name] = all();
        assert!(two.take(sign_in).is_err(), "all five were used on the other server");
        assert_eq!(two.take(user).unwrap().remaining, 9);
        assert_eq!(two.take(address).unwrap().remaining, 9);
        assert_eq!(two.take(name).unwrap().remaining, 4);
        two.taken_elsewhere(&[("x:?".into(), 1), ("odd".into(), 1)]);
    }

    #[test]
    fn one_ipv6_network_is_one_address() {
        let (limiter, now) = (limiter(), Instant::now());
        for i in 0..15 {
            limiter.take_at(Who::address(format!("2001:db8::{i}").parse().unwrap()), now).unwrap();
        }
        assert!(limiter.take_at(Who::address("2001:db8::ffff".parse().unwrap()), now).is_err());
        assert!(limiter.take_at(Who::address("2001:db8:0:1::1".parse().unwrap()), now).is_ok());
    }

    #[test]
    fn sign_in_has_its_own_smaller_bucket() {
        let (limiter, now) = (limiter(), Instant::now());
        let passed =
            (0..20).filter(|_| limiter.take_at(Who::sign_in("10.0.0.1".parse().unwrap()), now).is_ok());
        assert_eq!(passed.count(), 5);
    }

    #[test]
    fn one_name_tried_from_many_addresses_is_slowed_but_not_by_one_of_them() {
        let (limiter, now) = (limiter(), Instant::now());
        let attempt = |address: u8, name: &str| {
            limiter.take_at(Who::sign_in([10, 0, 0, address].into()), now)?;
            limiter.take_at(Who::sign_in_name(name), now)
        };
        let from_one = (0..20).filter(|_| attempt(1, "alice").is_ok()).count();
        assert_eq!(from_one, 5);
        assert!(attempt(2, "alice").is_ok(), "the owner still gets in from elsewhere");
        let from_many = (3..100).filter(|address| attempt(*address, "alice").is_ok()).count();
        assert_eq!(from_one + 1 + from_many, 10);
        for spelling in [" alice", "ALICE ", "Alice"] {
            assert!(attempt(102, spelling).is_err(), "{spelling:?} is the same account");
        }
        assert!(attempt(101, "bob").is_ok());
    }
}
