//! A model behind HTTP, in either dialect: asks, adapts to what the endpoint accepts, tries again when that may help.
//!
//! Trying again after text has already been passed on does not show it twice (see `emitter`).
//! Dropping the future closes the connection.

mod emitter;
mod fault;
mod transport;
mod window;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use ba_protocol::Message;
use rand::RngExt as _;
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use crate::model::{Model, ModelError, ModelInfo, ModelReply, ModelRequest, OnDelta};
use crate::retry::{self, Sleeper, TokioSleeper};
use crate::settings::{ModelSettings, SettingsError};
use crate::windows::WindowSource;
use crate::wire::{self, Quirks};
use emitter::Emitter;
use transport::{Failure, Retry};

pub struct HttpModel {
    settings: ModelSettings,
    info: ModelInfo,
    window_source: WindowSource,
    http: reqwest::Client,
    sleeper: Arc<dyn Sleeper>,
    /// What the endpoint is known to accept: learnt once, kept for its other answers.
    quirks: Mutex<Quirks>,
}

/// What a probe of an endpoint found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reachable {
    /// Whether the endpoint lists the configured model; `None` when it lists none.
    pub lists_model: Option<bool>,
    pub took: Duration,
}

/// The model these settings describe.
pub fn connect(settings: ModelSettings) -> Result<Arc<dyn Model>, SettingsError> {
    Ok(Arc::new(HttpModel::new(settings)?))
}

impl HttpModel {
    pub fn new(settings: ModelSettings) -> Result<Self, SettingsError> {
        Self::with_sleeper(settings, Arc::new(TokioSleeper))
    }

    /// With another way to wait between tries.
    pub fn with_sleeper(settings: ModelSettings, sleeper: Arc<dyn Sleeper>) -> Result<Self, SettingsError> {
        if !matches!(settings.base_url.scheme(), "http" | "https") {
            return Err(SettingsError::Scheme { scheme: settings.base_url.scheme().to_owned() });
        }
        let http = transport::client(&settings)?;
        let quirks = Mutex::new(Quirks::expected(&settings));
        let (window, window_source) = settings.known_window();
        Ok(Self { info: settings.info(window), window_source, http, sleeper, quirks, settings })
    }

    /// Asks the endpoint how large its window is, unless the settings say so. Whatever goes wrong, the guess stays.
    pub async fn learn_window(&mut self) {
        if self.window_source == WindowSource::Configured {
            return;
        }
        if let Some(window) = window::ask(&self.http, &self.settings).await {
            (self.info.window, self.window_source) = (window, WindowSource::Endpoint);
        }
    }

    /// Whether the endpoint answers and takes the key. Costs no tokens where it can list its models.
    pub async fn check(&self) -> Result<Reachable, ModelError> {
        let started = Instant::now();
        let deadline = started + self.settings.timeouts.total;
        let listed = timeout_at(deadline, self.list_models()).await.unwrap_or_else(|_| Err(self.too_late()));
        let lists_model = match listed {
            Ok(value) => value.get("data").and_then(Value::as_array).map(|models| {
                models.iter().any(|m| m.get("id").and_then(Value::as_str) == Some(&self.settings.model))
            }),
            // Not every server lists models; all of them answer.
            Err(ModelError::NotFound { .. } | ModelError::Refused { .. } | ModelError::Garbled { .. }) => {
                let request = ModelRequest {
                    messages: vec![Message::user("ping")],
                    max_tokens: Some(16),
                    temperature: None,
                    schema: None,
                    stable_prefix: 0,
                };
                self.complete(&request, &|_| {}).await?;
                None
            }
            Err(error) => return Err(self.presentable(error, None)),
        };
        Ok(Reachable { lists_model, took: started.elapsed() })
    }

    async fn list_models(&self) -> Result<Value, ModelError> {
        let request = self.http.get(wire::models_url(&self.settings));
        let response = self.send(request).await?;
        if !response.status().is_success() {
            let deadline = Instant::now() + self.settings.timeouts.idle;
            return Err(transport::refusal(response, &self.settings, deadline).await.error);
        }
        response
            .json()
            .await
            .map_err(|_| ModelError::Garbled { detail: "the list of models is not JSON".into() })
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<reqwest::Response, ModelError> {
        let idle = self.settings.timeouts.idle;
        match timeout(idle, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(transport::unsent(error, &self.settings)),
            Err(_) => Err(ModelError::Timeout { phase: "idle", seconds: idle.as_secs() }),
        }
    }

    async fn attempt(
        &self,
        request: &ModelRequest,
        quirks: Quirks,
        deadline: Instant,
        emitter: &mut Emitter<'_>,
    ) -> Result<ModelReply, Failure> {
        emitter.start_attempt();
        let body = wire::body(&self.settings, request, quirks);
        let response = self.send(self.http.post(wire::url(&self.settings)).json(&body)).await?;
        if !response.status().is_success() {
            return Err(transport::refusal(response, &self.settings, deadline).await);
        }
        let answer = transport::read(response, &self.settings, emitter).await?;
        Ok(answer.into_reply()?)
    }

    fn known_quirks(&self) -> Quirks {
        *self.quirks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, quirks: Quirks) {
        let mut known = self.quirks.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != quirks {
            tracing::info!(model = self.info.name, ?quirks, "the endpoint accepts less than expected");
            *known = quirks;
        }
    }

    fn too_late(&self) -> ModelError {
        ModelError::Timeout { phase: "total", seconds: self.settings.timeouts.total.as_secs() }
    }

    fn presentable(&self, error: ModelError, request: Option<&ModelRequest>) -> ModelError {
        fault::presentable(error, request, self.settings.api_key.as_ref())
    }
}

#[async_trait]
impl Model for HttpModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn window_source(&self) -> WindowSource {
        self.window_source
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        on_delta: OnDelta<'_>,
    ) -> Result<ModelReply, ModelError> {
        let deadline = Instant::now() + self.settings.timeouts.total;
        let mut emitter = Emitter::new(on_delta);
        let mut quirks = self.known_quirks();
        let mut tried = 0;
        loop {
            let attempt = self.attempt(request, quirks, deadline, &mut emitter);
            let failure = match timeout_at(deadline, attempt).await {
                Ok(Ok(reply)) => {
                    self.remember(quirks);
                    return Ok(reply);
                }
                Ok(Err(failure)) => failure,
                Err(_) => return Err(self.too_late()),
            };
            // Each change gives something up for good, so this ends.
            if !matches!(failure.error, ModelError::TooLong { .. })
                && let Some((status, words)) = &failure.refusal
                && let Some(changed) = quirks.after(*status, words, request, &self.settings)
            {
                quirks = changed;
                continue;
            }
            tried += 1;
            let left = deadline.saturating_duration_since(Instant::now());
            let jitter = rand::rng().random::<f64>();
            let pause = retry::pause(&self.settings.retries, &failure.error, tried, left, jitter);
            match pause.filter(|_| failure.retry == Retry::IfTransient) {
                Some(pause) => {
                    let code = failure.error.code();
                    tracing::debug!(model = self.info.name, code, ?pause, tried, "trying the model again");
                    self.sleeper.sleep(pause).await;
                }
                None => return Err(self.presentable(failure.error, Some(request))),
            }
        }
    }
}
