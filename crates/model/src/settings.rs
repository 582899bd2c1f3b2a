//! Everything a wire client needs to know, already resolved: nothing here reads the environment.

use std::time::Duration;

pub use ba_protocol::Dialect;
use ba_protocol::Secret;
use url::Url;

use crate::model::{ModelInfo, Prices};
use crate::windows::{self, WindowSource};

/// One model at one endpoint.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    /// As configured, the first half of the model's name: `openai`, `deepseek`, …
    pub provider: String,
    pub dialect: Dialect,
    /// Sent exactly as given: names are never rewritten.
    pub model: String,
    pub base_url: Url,
    pub api_key: Option<Secret>,
    /// Context window in tokens; `None` is asked of the endpoint, else guessed from the model's name.
    pub window: Option<usize>,
    /// Used when a request asks for none.
    pub max_tokens: Option<u32>,
    pub temperature: Option<f32>,
    pub prices: Option<Prices>,
    /// `None` means no proxy at all, whatever the environment says.
    pub proxy: Option<Url>,
    pub timeouts: Timeouts,
    pub retries: Retries,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// Longest silence, before the first byte and between bytes. Keep-alive comments count as bytes.
    pub idle: Duration,
    /// For one answer with all its retries, however lively the stream.
    pub total: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// Tries after the first.
    pub max: u32,
    pub first_delay: Duration,
    pub longest_delay: Duration,
    /// A `Retry-After` beyond this is not waited for: the error goes to the user.
    pub longest_retry_after: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(300),
            total: Duration::from_secs(600),
        }
    }
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            max: 3,
            first_delay: Duration::from_millis(500),
            longest_delay: Duration::from_secs(20),
            longest_retry_after: Duration::from_secs(60),
        }
    }
}

impl ModelSettings {
    /// Settings with the usual limits.
    pub fn new(
        provider: impl Into<String>,
        dialect: Dialect,
        model: impl Into<String>,
        base_url: Url,
    ) -> Self {
        Self {
            provider: provider.into(),
            dialect,
            model: model.into(),
            base_url,
            api_key: None,
            window: None,
            max_tokens: None,
            temperature: None,
            prices: None,
            proxy: None,
            timeouts: Timeouts::default(),
            retries: Retries::default(),
        }
    }

    pub(crate) fn info(&self, window: usize) -> ModelInfo {
        ModelInfo {
            name: format!("{}:{}", self.provider, self.model),
            window,
            offline: false,
            prices: self.prices,
        }
    }

    /// What is known of the window without asking anyone.
    pub(crate) fn known_window(&self) -> (usize, WindowSource) {
        match self.window {
            Some(window) => (window, WindowSource::Configured),
            None => windows::guess(&self.model),
        }
    }

    /// Host and port, for messages: never the user part of an address.
    pub(crate) fn host(&self) -> String {
        match (self.base_url.host_str(), self.base_url.port_or_known_default()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (Some(host), None) => host.to_owned(),
            _ => "an address without a host".to_owned(),
        }
    }

    /// `base_url` with `path` behind it, whether or not the base already ends in it or in a slash.
    pub(crate) fn endpoint(&self, path: &str) -> String {
        let base = self.base_url.as_str().trim_end_matches('/');
        if base.ends_with(path) { base.to_owned() } else { format!("{base}{path}") }
    }
}

/// Settings that cannot make a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error("the model's address must start with http:// or https://, not {scheme}:")]
    Scheme { scheme: String },
    #[error("the proxy for the model cannot be used: {detail}")]
    Proxy { detail: String },
    #[error("the key for the model contains characters that cannot be sent")]
    Key,
    #[error("the HTTP client cannot be set up: {detail}")]
    Client { detail: String },
}
