//! The limits and manners of fetching.

use std::time::Duration;

use crate::guard::Guard;

/// What robots.txt files call us.
pub const PRODUCT: &str = "BA-Agent";

#[derive(Debug, Clone)]
pub struct WebConfig {
    pub guard: Guard,
    pub user_agent: String,
    /// Largest body in bytes, after decompression.
    pub max_body: usize,
    /// For everything: waiting for a turn, robots.txt, redirects and the body.
    pub timeout: Duration,
    pub connect_timeout: Duration,
    /// Longest silence while a body arrives.
    pub idle_timeout: Duration,
    pub max_redirects: usize,
    /// Time between the beginnings of two requests to one host.
    pub host_interval: Duration,
    pub robots: Robots,
    /// Certificates to trust beside the public ones, as DER.
    pub extra_roots: Vec<Vec<u8>>,
    /// Memory for pages that may be asked for again.
    pub cache_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Robots {
    Respect,
    Ignore,
}

impl Default for WebConfig {
    fn default() -> Self {
        Self {
            guard: Guard::default(),
            user_agent: default_user_agent(),
            max_body: 10 * 1024 * 1024,
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(10),
            max_redirects: 5,
            host_interval: Duration::from_millis(500),
            robots: Robots::Respect,
            extra_roots: Vec::new(),
            cache_bytes: 64 * 1024 * 1024,
        }
    }
}

fn default_user_agent() -> String {
    format!("{PRODUCT}/{} (+self-hosted business-analysis agent)", env!("CARGO_PKG_VERSION"))
}
