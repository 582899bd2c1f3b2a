//! Keeps a few children forked, confined and warmed ahead of demand, and replaces the zygote when it is worn or dead.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use crate::cgroup::Cgroups;
use crate::child::Child;
use crate::zygote::Zygote;
use crate::{SandboxConfig, SandboxError};

/// How long a refill waits while this many children are left: warming one takes a core from the job that just started.
const REFILL_PAUSES: [std::time::Duration; 3] =
    [std::time::Duration::ZERO, std::time::Duration::from_millis(120), std::time::Duration::from_millis(500)];

pub(crate) struct Pool {
    config: SandboxConfig,
    sources: PathBuf,
    cgroups: Option<Cgroups>,
    ready: Mutex<VecDeque<Child>>,
    zygote: tokio::sync::Mutex<Arc<Zygote>>,
    wanted: Notify,
    closed: AtomicBool,
    tracker: TaskTracker,
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
        })
    }

    pub(crate) fn config(&self) -> &SandboxConfig {
        &self.config
    }

    /// Waits until every child that was let go is gone with its control group.
    pub(crate) async fn settled(&self) {
        self.tracker.close();
        drop(tokio::time::timeout(std::time::Duration::from_secs(10), self.tracker.wait()).await);
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
                Some(child) if child.zygote.is_alive() => return Ok(child),
                Some(_) => {}
                None => return self.spawn().await,
            }
        }
    }

    async fn spawn(&self) -> Result<Child, SandboxError> {
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

    /// Refills until closed. Runs as its own task.
    pub(crate) async fn keep_filled(self: Arc<Self>) {
        let mut failures = 0u32;
        while !self.closed.load(Ordering::Relaxed) {
            let left = self.ready.lock().len();
            if left >= self.config.pool {
                self.wanted.notified().await;
                continue;
            }
            // The job that took a child goes first. One more that takes a child makes the refill more urgent.
            let pause = REFILL_PAUSES[left.min(REFILL_PAUSES.len() - 1)];
            if !pause.is_zero() && tokio::time::timeout(pause, self.wanted.notified()).await.is_ok() {
                continue;
            }
            match self.spawn().await {
                Ok(child) => {
                    failures = 0;
                    if !self.closed.load(Ordering::Relaxed) {
                        self.ready.lock().push_back(child);
                    }
                }
                Err(error) => {
                    failures += 1;
                    tracing::warn!(%error, failures, "a sandbox child could not be started");
                    tokio::time::sleep(std::time::Duration::from_millis(100 << failures.min(6))).await;
                }
            }
        }
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.wanted.notify_one();
        self.ready.lock().clear();
    }
}
