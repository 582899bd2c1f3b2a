//! The HTTP client, and reading one response into an [`Answer`]. Decides nothing about trying again.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Certificate, Client, Proxy, Response, redirect};
use tokio::time::{Instant, timeout, timeout_at};

use super::emitter::Emitter;
use super::fault::Complaint;
use crate::model::ModelError;
use crate::settings::{Dialect, ModelSettings, SettingsError};
use crate::sse::SseDecoder;
use crate::wire::{self, Answer, Bad, anthropic};

/// Largest answer, in bytes on the wire.
const MAX_BODY: usize = 64 * 1024 * 1024;
/// Largest answer, in bytes of text and thinking: no model writes more, and it is parsed in one go.
const MAX_TEXT: usize = 8 * 1024 * 1024;
/// Largest part of an error body that is read.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// How long usage and the closing event may take once the answer itself is complete.
const AFTER_FINISH: Duration = Duration::from_secs(5);

pub(super) fn client(settings: &ModelSettings) -> Result<Client, SettingsError> {
    let problem = |e: reqwest::Error| SettingsError::Client { detail: chain(&e) };
    let roots: Result<Vec<Certificate>, _> = webpki_root_certs::TLS_SERVER_ROOT_CERTS
        .iter()
        .map(|root| Certificate::from_der(root.as_ref()))
        .collect();
    let mut builder = Client::builder()
        // Bundled roots beside the system's: without any CA file the client could not even be built.
        .tls_certs_merge(roots.map_err(problem)?)
        // The environment's proxy would see keys meant for other hosts, loopback included.
        .no_proxy()
        // A redirect would carry the key to another origin.
        .redirect(redirect::Policy::none())
        .connect_timeout(settings.timeouts.connect)
        .pool_max_idle_per_host(64)
        .pool_idle_timeout(Duration::from_secs(90))
        .tcp_nodelay(true)
        .default_headers(headers(settings)?)
        .user_agent(concat!("ba-agent/", env!("CARGO_PKG_VERSION")))
        // Compression would hold small events back.
        .no_gzip()
        .no_brotli()
        .no_zstd();
    if let Some(proxy) = &settings.proxy {
        let proxy = Proxy::all(proxy.as_str())
            .map_err(|e| SettingsError::Proxy { detail: chain(&e.without_url()) })?;
        builder = builder.proxy(proxy);
    }
    builder.build().map_err(problem)
}

fn headers(settings: &ModelSettings) -> Result<HeaderMap, SettingsError> {
    let mut headers = HeaderMap::new();
    let key = settings.api_key.as_ref().map(ba_protocol::Secret::expose);
    match (settings.dialect, key) {
        (Dialect::OpenAi, Some(key)) => {
            headers.insert(AUTHORIZATION, hidden(&format!("Bearer {key}"))?);
        }
        (Dialect::Anthropic, Some(key)) => {
            headers.insert("x-api-key", hidden(key)?);
        }
        (_, None) => {}
    }
    if settings.dialect == Dialect::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static(anthropic::VERSION));
    }
    Ok(headers)
}

fn hidden(value: &str) -> Result<HeaderValue, SettingsError> {
    let mut value = HeaderValue::from_str(value).map_err(|_| SettingsError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Why an attempt failed, and whether another may go better.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: ModelError,
    pub(super) retry: Retry,
    /// A refusal, in the provider's words: what was sent may have to change.
    pub(super) refusal: Option<(u16, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Retry {
    IfTransient,
    Never,
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self { error, retry: Retry::IfTransient, refusal: None }
    }
}

/// Reads the answer of a response whose status is a success.
pub(super) async fn read(
    response: Response,
    settings: &ModelSettings,
    emitter: &mut Emitter<'_>,
) -> Result<Answer, Failure> {
    let kind = content_type(&response);
    if kind.contains("html") {
        return Err(web_page());
    }
    let mut body = Body::new(response, settings);
    if kind.contains("json") && !kind.contains("stream") {
        let bytes = body.rest(MAX_BODY).await?;
        return whole(&bytes, settings, emitter);
    }
    stream(body, settings, emitter).await
}

async fn stream(
    mut body: Body<'_>,
    settings: &ModelSettings,
    emitter: &mut Emitter<'_>,
) -> Result<Answer, Failure> {
    let mut decoder = SseDecoder::default();
    let mut answer = Answer::default();
    let mut events = 0usize;
    // Kept until the first event: the body may turn out to be no stream at all.
    let mut head: Vec<u8> = Vec::new();
    loop {
        let chunk = match body.next(answer.stop.is_some()).await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break,
            // The answer is complete; only its accounts are missing.
            Err(_) if answer.stop.is_some() => break,
            Err(error) => return Err(cut(error, &answer).into()),
        };
        let decoded = decoder.feed(&chunk).map_err(|e| ModelError::Garbled { detail: e.to_string() })?;
        if events == 0 && decoded.is_empty() {
            head.extend_from_slice(&chunk);
        }
        for event in decoded {
            events += 1;
            let taken = wire::event(settings.dialect, &event, &mut answer);
            emitter.update(answer.said());
            taken.map_err(bad)?;
        }
        if answer.text.len() + answer.thinking.len() > MAX_TEXT {
            return Err(too_large());
        }
        if answer.done {
            body.release();
            return Ok(answer);
        }
    }
    if let Some(event) = decoder.finish() {
        events += 1;
        // Half an event means that the stream was cut, not that it is garbled.
        match wire::event(settings.dialect, &event, &mut answer) {
            Err(Bad::Garbled(_)) | Ok(()) => {}
            Err(error) => return Err(bad(error)),
        }
        emitter.update(answer.said());
    }
    if events == 0 && !head.is_empty() {
        return whole(&head, settings, emitter);
    }
    Ok(answer)
}

/// An answer, or an error, that came as one JSON object.
fn whole(bytes: &[u8], settings: &ModelSettings, emitter: &mut Emitter<'_>) -> Result<Answer, Failure> {
    let text = String::from_utf8_lossy(bytes);
    if text.trim_start().starts_with('<') {
        return Err(web_page());
    }
    let value = serde_json::from_str(&text).map_err(|e| {
        tracing::debug!(bytes = bytes.len(), "an answer is neither events nor JSON");
        ModelError::Garbled { detail: format!("the answer is neither a stream nor JSON ({e})") }
    })?;
    let mut answer = Answer::default();
    wire::whole(settings.dialect, &value, &mut answer).map_err(bad)?;
    if answer.text.len() + answer.thinking.len() > MAX_TEXT {
        return Err(too_large());
    }
    emitter.update(answer.said());
    Ok(answer)
}

fn too_large() -> Failure {
    let detail = "the answer is larger than 8 MB".to_owned();
    Failure { error: ModelError::Garbled { detail }, retry: Retry::Never, refusal: None }
}

fn web_page() -> Failure {
    let detail = "the address answers with a web page, not with a model; check BA_BASE_URL".to_owned();
    Failure { error: ModelError::Garbled { detail }, retry: Retry::Never, refusal: None }
}

fn bad(bad: Bad) -> Failure {
    match bad {
        Bad::Garbled(detail) => ModelError::Garbled { detail }.into(),
        Bad::Provider(error) => {
            let complaint = Complaint::from_value(&error);
            let status = complaint.implied_status();
            let refusal = Some((status, complaint.message.clone()));
            Failure { error: complaint.into_error(status, None), retry: Retry::IfTransient, refusal }
        }
    }
}

/// A connection that broke while the answer was arriving is a cut answer; a timeout stays one.
fn cut(error: ModelError, answer: &Answer) -> ModelError {
    match error {
        ModelError::Unreachable { detail, .. } => {
            let arrived = answer.text.chars().count();
            ModelError::Truncated {
                detail: format!("the connection broke after {arrived} characters ({detail})"),
            }
        }
        other => other,
    }
}

/// Reads the refusal of a response whose status is none of success.
pub(super) async fn refusal(response: Response, settings: &ModelSettings, deadline: Instant) -> Failure {
    let status = response.status().as_u16();
    let retry_after = super::fault::retry_after(response.headers(), std::time::SystemTime::now());
    let mut body = Body::new(response, settings);
    let bytes = match timeout_at(deadline, body.rest(MAX_ERROR_BODY)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) | Err(_) => Vec::new(),
    };
    let mut complaint = Complaint::from_body(&String::from_utf8_lossy(&bytes));
    if (300..400).contains(&status) {
        complaint.message =
            "the address redirects elsewhere, which is not followed; check BA_BASE_URL".to_owned();
    }
    let refusal = Some((status, complaint.message.clone()));
    Failure { error: complaint.into_error(status, retry_after), retry: Retry::IfTransient, refusal }
}

/// The bytes of a response, with limits on silence and size.
struct Body<'a> {
    response: Response,
    settings: &'a ModelSettings,
    read: usize,
}

impl<'a> Body<'a> {
    fn new(response: Response, settings: &'a ModelSettings) -> Self {
        Self { response, settings, read: 0 }
    }

    async fn next(&mut self, finished: bool) -> Result<Option<Bytes>, ModelError> {
        let idle = self.settings.timeouts.idle;
        let patience = if finished { idle.min(AFTER_FINISH) } else { idle };
        let chunk = match timeout(patience, self.response.chunk()).await {
            Ok(Ok(chunk)) => chunk,
            Ok(Err(error)) => {
                let host = self.settings.host();
                return Err(ModelError::Unreachable { host, detail: chain(&error.without_url()) });
            }
            Err(_) => return Err(ModelError::Timeout { phase: "idle", seconds: idle.as_secs() }),
        };
        self.read += chunk.as_ref().map_or(0, Bytes::len);
        if self.read > MAX_BODY {
            return Err(ModelError::Garbled { detail: "the answer is larger than 64 MB".to_owned() });
        }
        Ok(chunk)
    }

    /// Reads the end of the body on the side, so that its connection can serve the next request.
    fn release(self) {
        let mut response = self.response;
        tokio::spawn(timeout(AFTER_FINISH, async move { while let Ok(Some(_)) = response.chunk().await {} }));
    }

    /// All that follows, up to `limit` bytes.
    async fn rest(&mut self, limit: usize) -> Result<Vec<u8>, ModelError> {
        let mut bytes = Vec::new();
        while bytes.len() < limit
            && let Some(chunk) = self.next(false).await.map_err(|e| cut(e, &Answer::default()))?
        {
            bytes.extend_from_slice(&chunk);
        }
        bytes.truncate(limit);
        Ok(bytes)
    }
}

fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
    value.unwrap_or_default().to_ascii_lowercase()
}

/// Why a request could not be sent.
pub(super) fn unsent(error: reqwest::Error, settings: &ModelSettings) -> ModelError {
    if error.is_connect() && error.is_timeout() {
        return ModelError::Timeout { phase: "connect", seconds: settings.timeouts.connect.as_secs() };
    }
    ModelError::Unreachable { host: settings.host(), detail: chain(&error.without_url()) }
}

/// An error with its causes: reqwest's own words alone say little.
fn chain(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !words.contains(&more) {
            words.push_str(": ");
            words.push_str(&more);
        }
        cause = error.source();
    }
    words
}
