//! One confined child: its wire, its pidfd, its mount namespace and its control group.
//! Dropping it kills the whole process tree and removes what it left outside.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use tokio::io::unix::AsyncFd;
use tokio_util::task::TaskTracker;

use crate::cgroup::{Cgroups, JobCgroup};
use crate::wire::Wire;
use crate::zygote::{Forked, Zygote};
use crate::{SandboxError, folder};

/// What a job may use beyond its limit for the worker's own pages.
const MEMORY_SLACK: u64 = 192 << 20;
const END_LIMIT: Duration = Duration::from_secs(10);
const READY_LIMIT: Duration = Duration::from_secs(30);

pub(crate) struct Child {
    pub(crate) wire: Wire,
    pub(crate) zygote: Arc<Zygote>,
    /// Process id of the job's pid 1 as the host sees it. The worker process is not its child, but what that leaves behind is.
    first: u32,
    worker: OwnedFd,
    pidfd: Option<Arc<AsyncFd<OwnedFd>>>,
    namespace: OwnedFd,
    cgroup: Option<JobCgroup>,
    /// The working folder, once mounted.
    pub(crate) folder: Option<PathBuf>,
    /// Inputs already mounted, by name.
    pub(crate) mounted: HashMap<String, PathBuf>,
    /// Empty files in the working folder that inputs are mounted on.
    placeholders: Vec<String>,
    tickets: u64,
    tracker: TaskTracker,
}

impl Child {
    pub(crate) async fn start(
        zygote: Arc<Zygote>,
        cgroups: Option<&Cgroups>,
        tracker: &TaskTracker,
    ) -> Result<Self, SandboxError> {
        let failed = |error: io::Error| SandboxError::internal("starting a child", error);
        let (mut wire, theirs) = Wire::pair().map_err(failed)?;
        let Forked { first, worker, namespace } = zygote.fork(theirs).await?;
        let pidfd = Arc::new(watchable(first).map_err(failed)?);
        let cgroup = match cgroups {
            Some(groups) => Some(groups.create(128).map_err(failed)?),
            None => None,
        };
        // From here on dropping `half` cleans up.
        let half = Cleanup {
            pidfd: Some(pidfd),
            cgroup,
            folder: None,
            placeholders: Vec::new(),
            tracker: tracker.clone(),
        };
        let pidfd = half.pidfd.as_deref().ok_or_else(|| SandboxError::Internal("no process".into()))?;
        let first = pid_of(pidfd.get_ref()).map_err(failed)?;
        // Pid 1 runs nothing of a job and stays outside; all that the worker process starts inherits the group.
        if let Some(cgroup) = &half.cgroup {
            cgroup.add(pid_of(&worker).map_err(failed)?).map_err(failed)?;
        }
        tokio::time::timeout(READY_LIMIT, wire.next_json())
            .await
            .map_err(|_| SandboxError::Internal("a child took too long to start".into()))?
            .map_err(failed)?
            .ok_or_else(|| SandboxError::Internal("a child ended while it started".into()))?;
        let (pidfd, cgroup) = half.into_parts();
        Ok(Self {
            wire,
            zygote,
            first,
            worker,
            pidfd,
            namespace,
            cgroup,
            folder: None,
            mounted: HashMap::new(),
            placeholders: Vec::new(),
            tickets: 0,
            tracker: tracker.clone(),
        })
    }

    /// The processes that all others of the job descend from. A worker process that handed over is gone, and its number may be another's.
    pub(crate) fn roots(&self) -> Vec<u32> {
        pid_of(&self.worker).into_iter().chain([self.first]).collect()
    }

    /// Lets a child that waits get the memory that a job writes to first.
    pub(crate) async fn warm(&mut self) {
        let _ = self.wire.send(&json!({"warm": true}), &[]).await;
    }

    pub(crate) fn next_ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    /// Kills everything and waits until it is gone.
    pub(crate) async fn end(self) -> Option<()> {
        let pidfd = self.pidfd.as_ref()?;
        rustix::process::pidfd_send_signal(pidfd.get_ref(), Signal::KILL).ok();
        drop(tokio::time::timeout(END_LIMIT, pidfd.readable()).await);
        Some(())
    }

    pub(crate) fn cgroup(&self) -> Option<&JobCgroup> {
        self.cgroup.as_ref()
    }

    pub(crate) fn limit_memory(&self, bytes: u64) -> Result<(), SandboxError> {
        if let Some(cgroup) = &self.cgroup {
            cgroup.set_memory(bytes + MEMORY_SLACK).map_err(|e| SandboxError::internal("memory limit", e))?;
            cgroup.reset_peak();
        }
        Ok(())
    }

    /// Becomes readable when pid 1, and with it every process of the job, is gone.
    pub(crate) fn exit_watch(&self) -> Option<Arc<AsyncFd<OwnedFd>>> {
        self.pidfd.clone()
    }

    pub(crate) fn remember_placeholders(&mut self, folder: &Path, names: Vec<String>) {
        self.folder = Some(folder.to_owned());
        self.placeholders.extend(names);
    }

    pub(crate) fn namespace(&self) -> &OwnedFd {
        &self.namespace
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        drop(Cleanup {
            pidfd: self.pidfd.take(),
            cgroup: self.cgroup.take(),
            folder: self.folder.take(),
            placeholders: std::mem::take(&mut self.placeholders),
            tracker: self.tracker.clone(),
        });
    }
}

/// Kills, waits, then removes; in the background when a runtime is there.
struct Cleanup {
    pidfd: Option<Arc<AsyncFd<OwnedFd>>>,
    cgroup: Option<JobCgroup>,
    folder: Option<PathBuf>,
    placeholders: Vec<String>,
    tracker: TaskTracker,
}

impl Cleanup {
    fn into_parts(mut self) -> (Option<Arc<AsyncFd<OwnedFd>>>, Option<JobCgroup>) {
        (self.pidfd.take(), self.cgroup.take())
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        let (pidfd, cgroup) = (self.pidfd.take(), self.cgroup.take());
        if let Some(folder) = self.folder.take() {
            folder::remove_placeholders(&folder, &std::mem::take(&mut self.placeholders));
        }
        let Some(pidfd) = pidfd else { return };
        let _ = rustix::process::pidfd_send_signal(pidfd.get_ref(), Signal::KILL);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            self.tracker.spawn_on(
                async move {
                    let _ = pidfd.readable().await;
                    remove_group(cgroup).await;
                },
                &runtime,
            );
        }
    }
}

async fn remove_group(cgroup: Option<JobCgroup>) {
    let Some(cgroup) = cgroup else { return };
    // The kernel lets go of the last task a moment after it is gone.
    for attempt in 0..200u64 {
        match cgroup.remove() {
            Ok(()) => return,
            Err(error) if attempt == 199 => tracing::warn!(%error, "a control group could not be removed"),
            Err(_) => tokio::time::sleep(Duration::from_millis(2 + attempt)).await,
        }
    }
}

#[expect(
    deprecated,
    reason = "sound for OwnedFd, which keeps its descriptor open; the successor is an unsafe fn"
)]
fn watchable(pidfd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::new(pidfd)
}

/// The host's process id behind a pidfd.
fn pid_of(pidfd: &OwnedFd) -> io::Result<u32> {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd()))?;
    text.lines()
        .find_map(|line| line.strip_prefix("Pid:").and_then(|pid| pid.trim().parse().ok()))
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the child is already gone"))
}
