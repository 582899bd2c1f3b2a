//! Which addresses a request of the model may go to (DESIGN 11). Decides purely; never resolves or connects.
//!
//! Two questions: may this URL be asked for ([`Guard::url`]), and may this resolved address be connected to
//! ([`Guard::address`])? The first is asked on every hop, the second for every address before connecting to it.

mod address;
#[cfg(test)]
mod tests;

use std::net::IpAddr;

use url::{Host, Url};

use crate::fetch::FetchError;

/// Names that never mean a host on the public web.
const PRIVATE_NAMES: &[&str] = &[
    "localhost",
    "local",
    "localdomain",
    "internal",
    "intranet",
    "lan",
    "home.arpa",
    "corp",
    "home",
    "onion",
];
const MAX_URL: usize = 8 * 1024;

#[derive(Debug, Clone)]
pub struct Guard {
    /// When not empty, only these domains and those below them.
    pub allow_domains: Vec<String>,
    /// Never these, nor those below them.
    pub deny_domains: Vec<String>,
    pub ports: Vec<u16>,
    /// Addresses the operator opened although they are not public.
    pub private_addresses: Vec<IpAddr>,
}

impl Default for Guard {
    fn default() -> Self {
        Self {
            allow_domains: Vec::new(),
            deny_domains: Vec::new(),
            ports: vec![80, 443],
            private_addresses: Vec::new(),
        }
    }
}

impl Guard {
    /// Reads and checks what the model wrote.
    pub fn parse(&self, given: &str) -> Result<Url, FetchError> {
        let given = given.trim();
        if given.len() > MAX_URL {
            let detail = format!("longer than {MAX_URL} characters");
            return Err(FetchError::Address { detail });
        }
        let mut url = Url::parse(given).map_err(|e| {
            let detail = format!("{e}; give a full address such as https://example.org/page");
            FetchError::Address { detail }
        })?;
        url.set_fragment(None);
        self.url(&url)?;
        Ok(url)
    }

    /// Whether this URL may be asked for, as far as can be said without resolving its name.
    pub fn url(&self, url: &Url) -> Result<(), FetchError> {
        if !matches!(url.scheme(), "http" | "https") {
            let detail = format!("`{}:` is not read; only http and https are", url.scheme());
            return Err(FetchError::Address { detail });
        }
        if !url.username().is_empty() || url.password().is_some() {
            let detail = "a user name or password in the address is not accepted".to_owned();
            return Err(FetchError::Address { detail });
        }
        let Some(host) = url.host() else {
            return Err(FetchError::Address { detail: "no host".to_owned() });
        };
        let name = host.to_string().trim_end_matches('.').to_owned();
        let refused = |reason: &str| FetchError::Refused { host: name.clone(), reason: reason.to_owned() };
        if self.deny_domains.iter().any(|d| is_below(&name, d)) {
            return Err(refused("the operator excluded this domain"));
        }
        if !self.allow_domains.is_empty() && !self.allow_domains.iter().any(|d| is_below(&name, d)) {
            return Err(refused("the operator allows other domains only"));
        }
        match host {
            Host::Ipv4(ip) => self.address(&name, IpAddr::V4(ip))?,
            Host::Ipv6(ip) => self.address(&name, IpAddr::V6(ip))?,
            Host::Domain(_) if !name.contains('.') || PRIVATE_NAMES.iter().any(|p| is_below(&name, p)) => {
                return Err(refused("the name is not one of the public web"));
            }
            Host::Domain(_) => {}
        }
        match url.port_or_known_default() {
            Some(port) if self.ports.contains(&port) => Ok(()),
            port => {
                let port = port.unwrap_or_default();
                Err(refused(&format!("port {port} is not among the ports that may be read")))
            }
        }
    }

    /// Whether a connection to this address may be made.
    pub fn address(&self, host: &str, ip: IpAddr) -> Result<(), FetchError> {
        if self.private_addresses.contains(&ip) {
            return Ok(());
        }
        match address::not_public(ip) {
            None => Ok(()),
            Some(kind) => Err(FetchError::Refused {
                host: host.to_owned(),
                reason: format!("its address is not on the public web ({kind})"),
            }),
        }
    }
}

fn is_below(name: &str, domain: &str) -> bool {
    name == domain || name.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}
