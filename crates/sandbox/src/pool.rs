//! Keeps a few children forked, confined and warmed ahead of demand, and replaces the zygote when it is worn or dead.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use crate::cgroup::Cgroups;
use crate::child::Child;
use crate::zygote::Zygote;
use crate::{SandboxConfig, SandboxError};

/// How long a refill waits while a child is left: the job that just took one goes first.
const REFILL_PAUSE: Duration = Duration::from_millis(30);
/// When nobody took a child for so long, the waiting ones are warmed: that takes processor time and memory ahead of need.
const CALM: Duration = Duration::from_millis(300);
/// Children started at the same time when none is left.
const STARTS: usize = 2;

struct Waiting {
    child: Child,
    warm: bool,
}

pub(crate) struct Pool {
    config: SandboxConfig,
    sources: PathBuf,
    cgroups: Option<Cgroups>,
    ready: Mutex<VecDeque<Waiting>>,
    zygote: tokio::sync::Mutex<Arc<Zygote>>,
    wanted: Notify,
    closed: AtomicBool,
    tracker: TaskTracker,
    /// Why no child could be started the last time.
    trouble: Mutex<Option<String>>,
}

impl Pool {
    pub(crate) async fn start(config: SandboxConfig, sources: PathBuf) -> Result<Self, SandboxError> {
        let cgroups = if config.cgroups { Cgroups::detect() } else { None };
        let zygote = Arc::new(Zygote::start(&config, &sources).await?);
        Ok(Self {
            config,
            sources,
            cgroups,
            ready: Mutex::new(VecDeque::new()),
            zygote: tokio::sync::Mutex::new(zygote),
            wanted: Notify::new(),
            closed: AtomicBool::new(false),
            tracker: TaskTracker::new(),
            trouble: Mutex::new(None),
        })
    }

    pub(crate) fn config(&self) -> &SandboxConfig {
        &self.config
    }

    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.lock().clone()
    }

    /// Waits until every child that was let go is gone with its control group.
    pub(crate) async fn settled(&self) {
        self.tracker.close();
        drop(tokio::time::timeout(Duration::from_secs(10), self.tracker.wait()).await);
        self.zygote.lock().await.end();
    }

    pub(crate) fn limits_by(&self) -> &'static str {
        self.cgroups.as_ref().map_or("rlimits and the monitor", Cgroups::describe)
    }

    /// A child that never ran anything of anybody.
    pub(crate) async fn take(&self) -> Result<Child, SandboxError> {
        loop {
            let child = self.ready.lock().pop_front();
            self.wanted.notify_one();
            match child {
                Some(Waiting { child, .. }) if child.zygote.is_alive() => return Ok(child),
                Some(_) => {}
                None => return self.spawn().await,
            }
        }
    }

    /// A child made now, whatever waits.
    pub(crate) async fn spawn(&self) -> Result<Child, SandboxError> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(SandboxError::ShuttingDown);
        }
        let first = Child::start(self.current().await?, self.cgroups.as_ref(), &self.tracker).await;
        match first {
            Ok(child) => Ok(child),
            // The zygote may just have died: once more with a new one.
            Err(_) => Child::start(self.current().await?, self.cgroups.as_ref(), &self.tracker).await,
        }
    }

    /// The zygote to fork from. A worn one lives on until the last conversation on it ends.
    async fn current(&self) -> Result<Arc<Zygote>, SandboxError> {
        let mut zygote = self.zygote.lock().await;
        if !zygote.is_alive() || zygote.forks() >= self.config.recycle_after {
            *zygote = Arc::new(Zygote::start(&self.config, &self.sources).await?);
        }
        Ok(zygote.clone())
    }

    /// Refills until closed, and warms what waits when all is calm. Runs as its own task.
    pub(crate) async fn keep_filled(self: Arc<Self>) {
        let mut failures = 0u32;
        while !self.closed.load(Ordering::Relaxed) {
            let left = self.ready.lock().len();
            if left >= self.config.pool {
                if tokio::time::timeout(CALM, self.wanted.notified()).await.is_err() && !self.warm_one().await
                {
                    self.wanted.notified().await;
                }
                continue;
            }
            // One more that takes a child makes the refill more urgent.
            if left > 0 && tokio::time::timeout(REFILL_PAUSE, self.wanted.notified()).await.is_ok() {
                continue;
            }
            match self.add_some(if left == 0 { STARTS } else { 1 }).await {
                Ok(()) => {
                    failures = 0;
                    *self.trouble.lock() = None;
                }
                Err(error) => {
                    failures += 1;
                    *self.trouble.lock() = Some(error.to_string());
                    tracing::warn!(%error, failures, "a sandbox child could not be started");
                    tokio::time::sleep(Duration::from_millis(100 << failures.min(6))).await;
                }
            }
        }
    }

    async fn add_some(self: &Arc<Self>, count: usize) -> Result<(), SandboxError> {
        let mut starts = tokio::task::JoinSet::new();
        for _ in 0..count.min(self.config.pool) {
            let pool = self.clone();
            starts.spawn(async move { pool.spawn().await });
        }
        while let Some(started) = starts.join_next().await {
            let child = started.map_err(|error| SandboxError::internal("starting a child", error))??;
            if !self.closed.load(Ordering::Relaxed) {
                self.ready.lock().push_back(Waiting { child, warm: false });
            }
        }
        Ok(())
    }

    /// Warms one waiting child; whether there was one to warm.
    async fn warm_one(&self) -> bool {
        let cold = {
            let mut ready = self.ready.lock();
            let place = ready.iter().position(|waiting| !waiting.warm);
            place.and_then(|place| ready.remove(place))
        };
        let Some(mut cold) = cold else { return false };
        cold.child.warm().await;
        cold.warm = true;
        // The warm ones are taken first.
        self.ready.lock().push_front(cold);
        true
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.wanted.notify_one();
        self.ready.lock().clear();
    }
}
