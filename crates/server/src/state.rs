//! What every handler shares. Cheap to clone.

use std::ops::Deref;
use std::sync::Arc;

use ba_protocol::{ConversationId, UserId};
use ba_store::Conversation;
use tokio_util::sync::CancellationToken;

use crate::auth::rate::RateLimiter;
use crate::config::ServerConfig;
use crate::error::Result;
use crate::file_events::FileEvents;
use crate::http_metrics::HttpMetrics;
use crate::service::Deps;

#[derive(Clone)]
pub struct AppState(Arc<Shared>);

pub struct Shared {
    pub deps: Deps,
    pub config: ServerConfig,
    pub rates: RateLimiter,
    pub file_events: FileEvents,
    pub http_metrics: HttpMetrics,
    /// Work was queued: the worker looks at once.
    pub wake_worker: tokio::sync::Notify,
    /// Password hashing is slow on purpose: only so many at once.
    pub hashing: tokio::sync::Semaphore,
    /// Cancelled when no new work is taken.
    pub draining: CancellationToken,
    /// Cancelled when the server stops: streams end, readers reconnect elsewhere.
    pub stopping: CancellationToken,
    pub started: std::time::Instant,
}

impl Deref for AppState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl AppState {
    pub fn new(config: ServerConfig, deps: Deps) -> Self {
        Self(Arc::new(Shared {
            rates: match deps.store.is_shared() {
                true => RateLimiter::shared(config.rates),
                false => RateLimiter::new(config.rates),
            },
            file_events: FileEvents::default(),
            http_metrics: HttpMetrics::default(),
            wake_worker: tokio::sync::Notify::new(),
            hashing: tokio::sync::Semaphore::new(2),
            draining: CancellationToken::new(),
            stopping: CancellationToken::new(),
            started: std::time::Instant::now(),
            deps,
            config,
        }))
    }

    /// The caller's conversation, or 404. Every route that names one asks here first.
    pub async fn own(&self, owner: &UserId, id: &ConversationId) -> Result<Conversation> {
        Ok(self.deps.store.conversation(owner, id).await?)
    }
}
