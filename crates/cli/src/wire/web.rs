//! The one way to the web, from the configuration.

use std::time::Duration;

use ba_config::Config;
use ba_web::fetch::{Robots, Web, WebConfig};
use ba_web::guard::Guard;
use ba_web::search::{Search, Setup};

/// What every web tool fetches with: they share its cache and its manners.
pub fn web(config: &Config) -> anyhow::Result<Web> {
    let given = &config.web;
    let usual = WebConfig::default();
    let guard = Guard {
        allow_domains: given.allow_domains.clone(),
        deny_domains: given.deny_domains.clone(),
        ports: given.ports.clone(),
        private_addresses: given.private_addresses.clone(),
    };
    Ok(Web::new(WebConfig {
        guard,
        user_agent: given.user_agent.clone().unwrap_or(usual.user_agent),
        max_body: usize::try_from(given.body_mb)? * 1024 * 1024,
        timeout: Duration::from_secs(given.timeout_seconds),
        robots: if given.robots { Robots::Respect } else { Robots::Ignore },
        ..WebConfig::default()
    })?)
}

/// The search providers of the configuration, in order; asked through the same client as pages are.
pub fn search(config: &Config, web: &Web) -> anyhow::Result<Search> {
    let setups = config.web.search.iter().map(|p| Setup {
        name: p.name.to_owned(),
        url: p.url.clone(),
        key: p.key.clone(),
        key_setting: p.key_variable.to_owned(),
    });
    Ok(Search::new(web.clone(), setups.collect())?)
}
