//! How the server behaves. Filled by the program's configuration; never reads the environment.

use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct ServerConfig {
    pub access: Access,
    /// Host names the server answers to, beside the loopback ones. Empty: any, when sign-in is required.
    pub allowed_hosts: Vec<String>,
    /// Whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed.
    pub trusted_proxies: Vec<Network>,
    pub limits: Limits,
    pub rates: Rates,
    /// How long an upload's answer waits for ingest, so that small files come back with their profile.
    pub ingest_grace: Duration,
    /// How long runs and connections may take to end.
    pub shutdown_grace: Duration,
    pub session_lifetime: Duration,
    /// Conversations untouched for so many days are deleted; none when not set.
    pub retention_days: Option<u32>,
    pub heartbeat: Duration,
    /// How many days a share link may live; without it there are none (SPEC D4).
    pub share_days: Option<u32>,
    /// Whether OpenAI-compatible answers name figures that nothing proves (SPEC V).
    pub openai_footnotes: bool,
}

/// Who may use the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everyone on this machine, as one user. Only on loopback addresses.
    LocalOnly,
    /// People who signed in and programs with a key.
    SignIn,
}

#[derive(Debug, Clone)]
pub struct Limits {
    /// A JSON body.
    pub body_bytes: usize,
    /// One uploaded file.
    pub upload_bytes: u64,
    /// Files of one upload request.
    pub upload_files: usize,
    /// An imported archive.
    pub import_bytes: u64,
    /// Time for any answer that is neither a stream, a question nor a transfer.
    pub request_time: Duration,
    /// Open connections.
    pub connections: usize,
    /// Open connections of one address; trusted proxies are not counted.
    pub connections_per_address: usize,
    /// Questions of one person under way at once, where people sign in.
    pub runs_per_person: usize,
    /// How long the server waits for a few kilobytes of a request's body.
    pub body_span: Duration,
}

/// Requests per minute; the burst is a quarter of it, at least ten.
#[derive(Debug, Clone, Copy)]
pub struct Rates {
    pub per_user: u32,
    pub per_address: u32,
    pub sign_in: u32,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            access: Access::LocalOnly,
            allowed_hosts: Vec::new(),
            trusted_proxies: Vec::new(),
            limits: Limits::default(),
            rates: Rates { per_user: 600, per_address: 1200, sign_in: 20 },
            ingest_grace: Duration::from_millis(1500),
            shutdown_grace: Duration::from_secs(20),
            session_lifetime: Duration::from_secs(14 * 24 * 3600),
            retention_days: None,
            heartbeat: Duration::from_secs(15),
            share_days: None,
            openai_footnotes: true,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        const MB: usize = 1024 * 1024;
        Self {
            body_bytes: 4 * MB,
            upload_bytes: 512 * MB as u64,
            upload_files: 100,
            import_bytes: 2048 * MB as u64,
            request_time: Duration::from_secs(60),
            connections: 20_000,
            connections_per_address: 512,
            runs_per_person: 8,
            body_span: crate::paced_body::BODY_SPAN,
        }
    }
}

/// A range of addresses: `10.0.0.0/8`, `::1`, `192.168.1.7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    base: u128,
    mask: u128,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an address or a network such as 10.0.0.0/8")]
pub struct InvalidNetwork(String);

impl Network {
    pub fn contains(&self, address: IpAddr) -> bool {
        bits(address) & self.mask == self.base
    }
}

/// IPv4 addresses count as their IPv6-mapped form.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(given: &str) -> Result<Self, InvalidNetwork> {
        let wrong = || InvalidNetwork(given.to_owned());
        let (address, prefix) = match given.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix.parse::<u32>().map_err(|_| wrong())?)),
            None => (given, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.unwrap_or(width);
        if prefix > width {
            return Err(wrong());
        }
        let free = width - prefix;
        let mask = if free == 128 { 0 } else { u128::MAX << free };
        Ok(Self { base: bits(address) & mask, mask })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_hold_their_addresses_and_no_others() {
        let ten: Network = "10.0.0.0/8".parse().unwrap();
        assert!(ten.contains("10.255.1.2".parse().unwrap()));
        assert!(ten.contains("::ffff:10.0.0.1".parse().unwrap()));
        assert!(!ten.contains("11.0.0.1".parse().unwrap()));
        assert!(!ten.contains("::1".parse().unwrap()));
        let all: Network = "::/0".parse().unwrap();
        assert!(all.contains("1.2.3.4".parse().unwrap()));
        let one: Network = "192.168.1.7".parse().unwrap();
        assert!(
            one.contains("192.168.1.7".parse().unwrap()) && !one.contains("192.168.1.8".parse().unwrap())
        );
        for bad in ["", "10.0.0.0/33", "::/129", "host", "10.0.0.0/x"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }
}
