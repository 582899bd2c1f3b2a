//! Pages kept in memory: fresh ones are not asked for again, stale ones only whether they changed. Bounded in bytes.

use std::time::{Duration, Instant};

use moka::sync::Cache;
use reqwest::header::{
    CACHE_CONTROL, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
};

use super::Fetched;

/// Fresh for so long when the server does not say.
const USUAL: Duration = Duration::from_secs(300);
const LONGEST: Duration = Duration::from_secs(3600);
/// Stale pages are kept this long, to ask whether they changed.
const KEPT: Duration = Duration::from_secs(6 * 3600);

#[derive(Clone)]
pub(super) struct Pages(Cache<String, Kept>);

#[derive(Clone)]
struct Kept {
    page: Fetched,
    fresh_until: Instant,
    validators: Vec<(HeaderName, HeaderValue)>,
}

impl Pages {
    pub(super) fn new(bytes: u64) -> Self {
        let weigh = |url: &String, kept: &Kept| {
            u32::try_from(url.len() + kept.page.body.len() + 512).unwrap_or(u32::MAX)
        };
        Self(Cache::builder().max_capacity(bytes).weigher(weigh).time_to_live(KEPT).build())
    }

    /// The page, when it need not be asked for.
    pub(super) fn fresh(&self, url: &str) -> Option<Fetched> {
        let kept = self.0.get(url)?;
        (Instant::now() < kept.fresh_until).then(|| Fetched { cached: true, ..kept.page })
    }

    /// What to send so that an unchanged page is answered with 304.
    pub(super) fn validators(&self, url: &str) -> Vec<(HeaderName, HeaderValue)> {
        self.0.get(url).map(|kept| kept.validators).unwrap_or_default()
    }

    /// After a 304: the page as it was, fresh again.
    pub(super) fn renew(&self, url: &str, headers: &HeaderMap) -> Option<Fetched> {
        let mut kept = self.0.get(url)?;
        kept.fresh_until = Instant::now() + freshness(headers).unwrap_or(Duration::ZERO);
        let page = Fetched { cached: true, ..kept.page.clone() };
        self.0.insert(url.to_owned(), kept);
        Some(page)
    }

    pub(super) fn keep(&self, url: &str, page: &Fetched, headers: &HeaderMap) {
        let Some(fresh) = freshness(headers) else { return self.0.invalidate(url) };
        let pairs = [(ETAG, IF_NONE_MATCH), (LAST_MODIFIED, IF_MODIFIED_SINCE)];
        let validators: Vec<_> = pairs
            .into_iter()
            .filter_map(|(given, asked)| Some((asked, headers.get(given)?.clone())))
            .collect();
        if fresh.is_zero() && validators.is_empty() {
            return self.0.invalidate(url);
        }
        self.0.insert(
            url.to_owned(),
            Kept { page: page.clone(), fresh_until: Instant::now() + fresh, validators },
        );
    }
}

/// How long an answer is fresh; `None` when it must not be kept.
fn freshness(headers: &HeaderMap) -> Option<Duration> {
    let mut fresh = USUAL;
    for value in headers.get_all(CACHE_CONTROL) {
        for directive in value.to_str().unwrap_or_default().split(',') {
            let directive = directive.trim().to_ascii_lowercase();
            match directive.split_once('=') {
                None if directive == "no-store" => return None,
                None if directive == "no-cache" => return Some(Duration::ZERO),
                Some(("max-age", seconds)) => {
                    fresh = Duration::from_secs(seconds.trim_matches('"').parse().unwrap_or(0));
                }
                _ => {}
            }
        }
    }
    Some(fresh.min(LONGEST))
}
