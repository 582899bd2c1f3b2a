//! [`Web`]: one page, hop by hop; and one call to an endpoint of the operator. Every hop is checked before it is made.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, RequestBuilder, Response};
use tokio::sync::Semaphore;
use url::Url;

use crate::guard::Guard;

use super::body::{self, Limits, Overflow};
use super::cache::Pages;
use super::client::{client, retry_after, unsent};
use super::manners::{Turns, Verdict, Verdicts, verdicts};
use super::resolve::Checked;
use super::robots::{self, Rules};
use super::{
    ApiRequest, ApiResponse, Endpoint, FetchError, Method, Resolve, Robots, SystemResolver, WebConfig,
};

/// Requests of the whole process at one time.
const AT_ONCE: usize = 32;
const ACCEPTED_TYPES: &str = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.9,\
                              application/json;q=0.8,application/xml;q=0.8,*/*;q=0.1";

/// Cheap to clone; made once from its configuration.
#[derive(Clone)]
pub struct Web(Arc<Inner>);

struct Inner {
    config: WebConfig,
    resolver: Arc<dyn Resolve>,
    /// Connects only to addresses the guard let through. Made when first used: reading the certificates takes a while,
    /// and many a run never asks for the web.
    guarded: OnceLock<Client>,
    /// For the operator's endpoints only.
    trusted: OnceLock<Client>,
    turns: Turns,
    verdicts: Verdicts,
    pages: Pages,
    places: Semaphore,
}

/// A page as it came, unpacked.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// Where it was found in the end.
    pub url: Url,
    pub redirects: usize,
    /// The header as sent, `text/html; charset=gbk`.
    pub content_type: Option<String>,
    pub body: Bytes,
    /// Not transferred this time.
    pub cached: bool,
}

impl Web {
    pub fn new(config: WebConfig) -> Result<Self, FetchError> {
        Self::with_resolver(config, Arc::new(SystemResolver))
    }

    pub fn with_resolver(config: WebConfig, resolver: Arc<dyn Resolve>) -> Result<Self, FetchError> {
        if HeaderValue::from_str(&config.user_agent).is_err() {
            return Err(FetchError::Address {
                detail: "the user agent cannot be sent as a header".to_owned(),
            });
        }
        Ok(Self(Arc::new(Inner {
            resolver,
            guarded: OnceLock::new(),
            trusted: OnceLock::new(),
            turns: Turns::new(config.host_interval),
            verdicts: verdicts(),
            pages: Pages::new(config.cache_bytes),
            places: Semaphore::new(AT_ONCE),
            config,
        })))
    }

    /// Reads an address the model gave.
    pub async fn fetch(&self, url: &str) -> Result<Fetched, FetchError> {
        let url = self.0.config.guard.parse(url)?;
        self.0.within(self.0.page(url)).await
    }

    /// Sends a request to an address of the configuration. Redirects are refused; any status is an answer.
    pub async fn call(&self, endpoint: &Endpoint, request: ApiRequest) -> Result<ApiResponse, FetchError> {
        self.0.within(self.0.call(endpoint, request)).await
    }

    /// The time one call may take in all.
    pub fn timeout(&self) -> Duration {
        self.0.config.timeout
    }
}

/// An answer that is not a redirect.
struct Answer {
    url: Url,
    redirects: usize,
    response: Response,
}

enum Hop {
    There(Response),
    Elsewhere(Url),
}

impl Inner {
    fn guarded(&self) -> Result<&Client, FetchError> {
        self.made(&self.guarded, Some(self.config.guard.clone()))
    }

    fn trusted(&self) -> Result<&Client, FetchError> {
        self.made(&self.trusted, None)
    }

    fn made<'a>(&self, slot: &'a OnceLock<Client>, guard: Option<Guard>) -> Result<&'a Client, FetchError> {
        if let Some(ready) = slot.get() {
            return Ok(ready);
        }
        let made = client(&self.config, Checked { resolver: Arc::clone(&self.resolver), guard })?;
        Ok(slot.get_or_init(|| made))
    }

    async fn within<T>(&self, work: impl Future<Output = Result<T, FetchError>>) -> Result<T, FetchError> {
        let limit = self.config.timeout;
        let timed = tokio::time::timeout(limit, async {
            let _place = self.places.acquire().await;
            work.await
        });
        timed.await.unwrap_or(Err(FetchError::Timeout { phase: "complete answer", seconds: limit.as_secs() }))
    }

    async fn page(&self, start: Url) -> Result<Fetched, FetchError> {
        let mut url = start;
        for redirects in 0..=self.config.max_redirects {
            self.config.guard.url(&url)?;
            if let Some(page) = self.pages.fresh(url.as_str()) {
                return Ok(Fetched { redirects, ..page });
            }
            if self.config.robots == Robots::Respect {
                self.ask_robots(&url).await?;
            }
            match self.hop(&url, self.pages.validators(url.as_str())).await? {
                Hop::There(response) => {
                    return self.take(Answer { url, redirects, response }).await;
                }
                Hop::Elsewhere(next) => url = next,
            }
        }
        Err(FetchError::Redirects { limit: self.config.max_redirects })
    }

    async fn take(&self, answer: Answer) -> Result<Fetched, FetchError> {
        let Answer { url, redirects, response } = answer;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        if status == 304
            && let Some(page) = self.pages.renew(url.as_str(), &headers)
        {
            return Ok(Fetched { redirects, ..page });
        }
        if !(200..300).contains(&status) {
            return Err(FetchError::Status { status, retry_after: retry_after(&headers) });
        }
        let body = body::read(response, self.limits(self.config.max_body, Overflow::Refuse)).await?;
        let content_type = text_of(&headers, &CONTENT_TYPE);
        let page = Fetched { url, redirects, content_type, body: body.into(), cached: false };
        self.pages.keep(page.url.as_str(), &page, &headers);
        Ok(page)
    }

    /// One request to a checked URL, in its host's turn.
    async fn hop(&self, url: &Url, validators: Vec<(HeaderName, HeaderValue)>) -> Result<Hop, FetchError> {
        self.config.guard.url(url)?;
        let host = url.host_str().unwrap_or_default();
        self.turns.wait(host).await;
        let mut request = self.guarded()?.get(url.clone()).header(ACCEPT, ACCEPTED_TYPES);
        for (name, value) in validators {
            request = request.header(name, value);
        }
        let response = self.send(request, host).await?;
        let moved = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
        match response.headers().get(LOCATION).filter(|_| moved) {
            None => Ok(Hop::There(response)),
            Some(location) => {
                let garbled =
                    || FetchError::Garbled { detail: "it redirects to no valid address".to_owned() };
                // Locations are often UTF-8, whatever the standard says.
                let location = std::str::from_utf8(location.as_bytes()).map_err(|_| garbled())?;
                let mut next = url.join(location).map_err(|_| garbled())?;
                next.set_fragment(None);
                Ok(Hop::Elsewhere(next))
            }
        }
    }

    async fn send(&self, request: RequestBuilder, host: &str) -> Result<Response, FetchError> {
        let request = request.header(ACCEPT_ENCODING, body::ACCEPTED);
        request.send().await.map_err(|e| unsent(e, host, &self.config))
    }

    fn limits(&self, bytes: usize, overflow: Overflow) -> Limits {
        Limits { bytes, overflow, idle: self.config.idle_timeout }
    }

    /// Fails unless the origin's robots.txt lets us read this URL.
    async fn ask_robots(&self, url: &Url) -> Result<(), FetchError> {
        let origin = url.origin().ascii_serialization();
        let host = || url.host_str().unwrap_or_default().to_owned();
        let asked = self.verdicts.try_get_with(origin, self.read_robots(url)).await;
        match asked.map_err(|e| FetchError::clone(&e))? {
            Verdict::Rules(rules) if rules.allow(url) => Ok(()),
            Verdict::Rules(_) => {
                Err(FetchError::Robots { host: url.host_str().unwrap_or_default().to_owned() })
            }
            Verdict::Failed(status) => Err(FetchError::NoRobots { host: host(), status }),
        }
    }

    async fn read_robots(&self, page: &Url) -> Result<Verdict, FetchError> {
        let missing = || FetchError::Garbled { detail: "no origin".to_owned() };
        let mut url = page.join("/robots.txt").map_err(|_| missing())?;
        let nothing = Verdict::Rules(Arc::new(Rules::none()));
        for _ in 0..=self.config.max_redirects {
            let response = match self.hop(&url, Vec::new()).await? {
                Hop::Elsewhere(next) => {
                    url = next;
                    continue;
                }
                Hop::There(response) => response,
            };
            return match response.status().as_u16() {
                200..=299 => {
                    let text = body::read(response, self.limits(robots::MAX_BYTES, Overflow::Cut)).await?;
                    Ok(Verdict::Rules(Arc::new(Rules::parse(&text))))
                }
                status @ 500.. => Ok(Verdict::Failed(status)),
                // RFC 9309 2.3.1.3: unavailable, so there are no rules.
                _ => Ok(nothing),
            };
        }
        Ok(nothing)
    }

    async fn call(&self, endpoint: &Endpoint, request: ApiRequest) -> Result<ApiResponse, FetchError> {
        let mut url = endpoint.url().clone();
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let mut builder = match request.method {
            Method::Get => self.trusted()?.get(url),
            Method::Post => self.trusted()?.post(url),
        };
        for (name, value) in &request.headers {
            let mut value = HeaderValue::from_str(value.expose())
                .map_err(|_| FetchError::Address { detail: format!("the value for {name} is no header") })?;
            value.set_sensitive(true);
            builder = builder.header(*name, value);
        }
        if let Some(json) = &request.json {
            builder = builder.json(json);
        }
        let response = self.send(builder.header(ACCEPT, "application/json"), &host).await?;
        let status = response.status().as_u16();
        if (300..400).contains(&status) {
            let reason = "it redirects elsewhere, which is not followed".to_owned();
            return Err(FetchError::Refused { host, reason });
        }
        let headers = response.headers().clone();
        let body = body::read(response, self.limits(self.config.max_body, Overflow::Refuse)).await?;
        let content_type = text_of(&headers, &CONTENT_TYPE).unwrap_or_default();
        Ok(ApiResponse { status, content_type, retry_after: retry_after(&headers), body })
    }
}

fn text_of(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    Some(String::from_utf8_lossy(headers.get(name)?.as_bytes()).into_owned())
}
