//! Requests to an endpoint the operator configured (a search provider): the model chooses neither host nor headers.

use std::time::Duration;

use ba_protocol::Secret;
use serde_json::Value;
use url::Url;

use super::FetchError;

/// An address from the configuration. Its origin, and only it, may be private.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    url: Url,
}

impl Endpoint {
    pub fn new(url: Url) -> Result<Self, FetchError> {
        let detail = match url.scheme() {
            "http" | "https" if url.host().is_some() => return Ok(Self { url }),
            "http" | "https" => "no host".to_owned(),
            other => format!("`{other}:` is not http or https"),
        };
        Err(FetchError::Address { detail })
    }

    pub fn url(&self) -> &Url {
        &self.url
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
}

/// What is sent: `query` is added to the endpoint's own; `headers` may hold keys and are never logged.
#[derive(Debug, Clone)]
pub struct ApiRequest {
    pub method: Method,
    pub query: Vec<(String, String)>,
    pub headers: Vec<(&'static str, Secret)>,
    pub json: Option<Value>,
}

impl ApiRequest {
    pub fn get() -> Self {
        Self { method: Method::Get, query: Vec::new(), headers: Vec::new(), json: None }
    }

    pub fn post(json: Value) -> Self {
        Self { method: Method::Post, json: Some(json), ..Self::get() }
    }

    pub fn query(mut self, name: &str, value: impl Into<String>) -> Self {
        self.query.push((name.to_owned(), value.into()));
        self
    }

    pub fn header(mut self, name: &'static str, value: Secret) -> Self {
        self.headers.push((name, value));
        self
    }
}

/// Any answer with a body within the limits, whatever its status: the provider knows what its errors mean.
#[derive(Debug, Clone)]
pub struct ApiResponse {
    pub status: u16,
    pub content_type: String,
    pub retry_after: Option<Duration>,
    pub body: Vec<u8>,
}

impl ApiResponse {
    /// The status as an error unless it is a success, and the body as JSON.
    pub fn json(&self) -> Result<Value, FetchError> {
        if !(200..300).contains(&self.status) {
            return Err(FetchError::Status { status: self.status, retry_after: self.retry_after });
        }
        serde_json::from_slice(&self.body).map_err(|e| FetchError::Garbled {
            detail: format!("not JSON (line {}, column {})", e.line(), e.column()),
        })
    }
}
