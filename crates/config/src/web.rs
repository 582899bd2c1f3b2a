//! The `[web]` section: what the web tools may reach, and within which limits.

use std::net::IpAddr;

use serde::Deserialize;

use crate::build::Sources;
use crate::error::ConfigError;
use crate::search::{SearchProvider, search};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawWeb {
    pub enabled: Option<bool>,
    pub open: Option<bool>,
    pub allow_domains: Vec<String>,
    pub deny_domains: Vec<String>,
    pub private_addresses: Vec<String>,
    pub ports: Option<Vec<u16>>,
    pub body_mb: Option<u64>,
    pub timeout: Option<u64>,
    pub user_agent: Option<String>,
    pub robots: Option<bool>,
    pub search: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Web {
    /// Whether `web_reader` is offered to the model.
    pub enabled: bool,
    /// Whether any address may be read, also one that nobody gave, found or linked to.
    pub open: bool,
    /// When not empty, only these domains and what is below them may be read.
    pub allow_domains: Vec<String>,
    /// Never read, even when allowed above.
    pub deny_domains: Vec<String>,
    /// Addresses that may be read although they are not public, such as the intranet's.
    pub private_addresses: Vec<IpAddr>,
    pub ports: Vec<u16>,
    /// Largest body, after decompression.
    pub body_mb: u64,
    /// Seconds for one page, redirects included.
    pub timeout_seconds: u64,
    /// `None` is `BA-Agent/<version>`.
    pub user_agent: Option<String>,
    pub robots: bool,
    /// Providers of `web_search` in order of preference; none: it says so.
    pub search: Vec<SearchProvider>,
}

pub(crate) fn web(raw: RawWeb, sources: &Sources) -> Result<Web, ConfigError> {
    let ports = raw.ports.unwrap_or_else(|| vec![80, 443]);
    if ports.is_empty() || ports.contains(&0) {
        return Err(ConfigError::invalid("web.ports", "name at least one port, such as [80, 443]"));
    }
    let user_agent = raw.user_agent.map(|u| u.trim().to_owned()).filter(|u| !u.is_empty());
    if user_agent.as_ref().is_some_and(|u| !u.chars().all(|c| c == ' ' || c.is_ascii_graphic())) {
        return Err(ConfigError::invalid("web.user_agent", "use printable ASCII characters only"));
    }
    let address = |given: &String| {
        let message = format!("`{given}` is not an address such as 10.1.2.3");
        given.trim().parse().map_err(|_| ConfigError::invalid("web.private_addresses", message))
    };
    Ok(Web {
        enabled: raw.enabled.unwrap_or(true),
        open: raw.open.unwrap_or(false),
        allow_domains: domains("web.allow_domains", raw.allow_domains)?,
        deny_domains: domains("web.deny_domains", raw.deny_domains)?,
        private_addresses: raw.private_addresses.iter().map(address).collect::<Result<_, _>>()?,
        ports,
        body_mb: raw.body_mb.unwrap_or(10).clamp(1, 1024),
        timeout_seconds: raw.timeout.unwrap_or(30).clamp(1, 300),
        user_agent,
        robots: raw.robots.unwrap_or(true),
        search: search(raw.search, sources)?,
    })
}

/// Lower case, in ASCII form, without a leading `*.` or dots at the ends.
fn domains(key: &str, given: Vec<String>) -> Result<Vec<String>, ConfigError> {
    let plain = |given: &String| {
        let name = given.trim().trim_start_matches("*.").trim_matches('.');
        match url::Host::parse(name) {
            Ok(host) if !name.is_empty() => Ok(host.to_string()),
            _ => Err(ConfigError::invalid(key, format!("`{given}` is not a domain such as example.org"))),
        }
    };
    given.iter().map(plain).collect()
}
