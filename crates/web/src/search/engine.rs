//! Asks the configured providers in order until one answers. Remembers answers for a while, and who asked for a pause.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ba_protocol::Secret;
use url::Url;

use super::error::SearchError;
use super::hit::{Hit, deduplicated};
use super::providers::{Provider, Query, provider};
use crate::fetch::{ApiResponse, Endpoint, FetchError, Web};

const CACHE_TTL: Duration = Duration::from_secs(10 * 60);
const CACHE_ENTRIES: u64 = 500;
/// Longest answer of one provider: the next one is asked after that.
const PATIENCE: Duration = Duration::from_secs(12);
/// Longest pause a provider can ask for.
const MAX_PAUSE: Duration = Duration::from_secs(10 * 60);
const USUAL_PAUSE: Duration = Duration::from_secs(5);
const MAX_DETAIL: usize = 200;

/// One provider as configured.
#[derive(Debug, Clone)]
pub struct Setup {
    /// A name [`provider`] knows.
    pub name: String,
    pub url: Url,
    pub key: Option<Secret>,
    /// What to set when the key is refused.
    pub key_setting: String,
}

/// What was found, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub hits: Vec<Hit>,
    pub provider: &'static str,
    /// Providers that were asked before and why they did not answer.
    pub passed_over: Vec<SearchError>,
    pub cached: bool,
}

/// Cheap to clone.
#[derive(Clone)]
pub struct Search(Arc<Inner>);

struct Inner {
    web: Web,
    providers: Vec<Configured>,
    cache: moka::sync::Cache<(String, usize), Arc<Found>>,
    pauses: Mutex<HashMap<usize, Instant>>,
    patience: Duration,
}

struct Configured {
    provider: Box<dyn Provider>,
    endpoint: Endpoint,
    key: Option<Secret>,
    key_setting: String,
}

impl Search {
    /// Fails on a name nobody knows or an address that is none.
    pub fn new(web: Web, setups: Vec<Setup>) -> Result<Self, FetchError> {
        Self::with_patience(web, setups, PATIENCE)
    }

    pub fn with_patience(web: Web, setups: Vec<Setup>, patience: Duration) -> Result<Self, FetchError> {
        let mut providers = Vec::new();
        for setup in setups {
            let known = provider(&setup.name).ok_or_else(|| FetchError::Address {
                detail: format!("no search provider `{}`", setup.name),
            })?;
            providers.push(Configured {
                provider: known,
                endpoint: Endpoint::new(setup.url)?,
                key: setup.key,
                key_setting: setup.key_setting,
            });
        }
        let cache = moka::sync::Cache::builder().max_capacity(CACHE_ENTRIES).time_to_live(CACHE_TTL).build();
        Ok(Self(Arc::new(Inner { web, providers, cache, pauses: Mutex::default(), patience })))
    }

    /// Provider names in order of preference.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.providers.iter().map(|p| p.provider.name()).collect()
    }

    /// The longest a search may take: every provider slow.
    pub fn longest(&self) -> Duration {
        self.0.patience.saturating_mul(u32::try_from(self.0.providers.len()).unwrap_or(u32::MAX))
    }

    pub async fn search(&self, query: &str, count: usize) -> Result<Found, SearchError> {
        let inner = &*self.0;
        let text = query.split_whitespace().collect::<Vec<_>>().join(" ");
        let key = (text.to_lowercase(), count);
        if let Some(known) = inner.cache.get(&key) {
            return Ok(Found { cached: true, ..(*known).clone() });
        }
        let mut passed_over = Vec::new();
        for (index, configured) in inner.providers.iter().enumerate() {
            match inner.ask(index, configured, &text, count).await {
                Ok(hits) => {
                    let mut hits = deduplicated(hits);
                    hits.truncate(count);
                    let found =
                        Found { hits, provider: configured.provider.name(), passed_over, cached: false };
                    if !found.hits.is_empty() {
                        inner.cache.insert(key, Arc::new(found.clone()));
                    }
                    return Ok(found);
                }
                Err(error) => {
                    tracing::warn!(provider = configured.provider.name(), %error, "search provider did not answer");
                    passed_over.push(error);
                }
            }
        }
        match passed_over.pop() {
            None => Err(SearchError::NotConfigured),
            Some(only) if passed_over.is_empty() => Err(only),
            Some(last) => {
                passed_over.push(last);
                Err(SearchError::All(passed_over))
            }
        }
    }

    /// One tiny search with the preferred provider alone: for `doctor`.
    pub async fn check(&self, index: usize) -> Result<usize, SearchError> {
        let Some(configured) = self.0.providers.get(index) else { return Err(SearchError::NotConfigured) };
        self.0.ask(index, configured, "BA-Agent", 3).await.map(|hits| hits.len())
    }
}

impl Inner {
    async fn ask(
        &self,
        index: usize,
        to: &Configured,
        text: &str,
        count: usize,
    ) -> Result<Vec<Hit>, SearchError> {
        let provider = to.provider.name();
        if let Some(left) = self.pause_left(index) {
            return Err(SearchError::Busy { provider, retry_after: Some(left) });
        }
        let query = Query { text: prefix(text, to.provider.longest_query()), count };
        let request = to.provider.request(&query, to.key.as_ref());
        let seconds = self.patience.as_secs().max(1);
        let late = Err(FetchError::Timeout { phase: "answer", seconds });
        let answer =
            tokio::time::timeout(self.patience, self.web.call(&to.endpoint, request)).await.unwrap_or(late);
        let answer = answer.map_err(|source| SearchError::Unreachable { provider, source })?;
        self.understood(index, to, &answer)
    }

    fn understood(
        &self,
        index: usize,
        to: &Configured,
        answer: &ApiResponse,
    ) -> Result<Vec<Hit>, SearchError> {
        let provider = to.provider.name();
        let detail = |answer: &ApiResponse| to.hidden(&detail_of(answer));
        let status = to.provider.status(answer);
        match status {
            200..=299 => {
                let value = serde_json::from_slice(&answer.body).map_err(|e| SearchError::Garbled {
                    provider,
                    detail: format!("not JSON (line {}, column {})", e.line(), e.column()),
                })?;
                to.provider.parse(&value).map_err(|error| error.into_search_error(provider))
            }
            401..=403 => Err(SearchError::Key {
                provider,
                setting: to.provider.refused_setting(&to.key_setting),
                detail: detail(answer),
            }),
            429 => {
                let pause =
                    answer.retry_after.unwrap_or(USUAL_PAUSE).clamp(Duration::from_secs(1), MAX_PAUSE);
                self.lock().insert(index, Instant::now() + pause);
                Err(SearchError::Busy { provider, retry_after: Some(pause) })
            }
            500..=599 | 408 => Err(SearchError::Down { provider, detail: detail(answer) }),
            _ => Err(SearchError::Rejected { provider, detail: detail(answer) }),
        }
    }

    fn pause_left(&self, index: usize) -> Option<Duration> {
        let mut pauses = self.lock();
        let left = pauses.get(&index)?.checked_duration_since(Instant::now());
        if left.is_none() {
            pauses.remove(&index);
        }
        left
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<usize, Instant>> {
        self.pauses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Configured {
    /// Some providers repeat the key they refuse.
    fn hidden(&self, text: &str) -> String {
        match &self.key {
            Some(key) if key.expose().len() >= 4 => text.replace(key.expose(), "…"),
            _ => text.to_owned(),
        }
    }
}

/// The provider's own words about a failure: status, and a message in any of the usual places.
fn detail_of(answer: &ApiResponse) -> String {
    let places = [
        "/message",
        "/msg",
        "/error/message",
        "/error/detail",
        "/error/code",
        "/detail/error",
        "/detail",
        "/error",
        "/errors/0/message",
    ];
    let value: Option<serde_json::Value> = serde_json::from_slice(&answer.body).ok();
    let words = value.as_ref().and_then(|v| places.iter().find_map(|p| v.pointer(p)?.as_str()));
    let words = words.map(|w| ba_protocol::text::shorten(&super::hit::plain(w), MAX_DETAIL));
    match words.filter(|w| !w.is_empty()) {
        Some(words) => format!("status {}: {words}", answer.status),
        None => format!("status {}", answer.status),
    }
}

fn prefix(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
