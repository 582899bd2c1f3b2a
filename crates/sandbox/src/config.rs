//! How a sandbox is set up. Values come in from the caller; the environment is never read here.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A prepared interpreter with the locked packages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PythonEnv {
    /// The virtual environment.
    pub prefix: PathBuf,
    /// The installation it was made from (its standard library).
    pub base_prefix: PathBuf,
    pub python: PathBuf,
    pub site_packages: PathBuf,
    pub version: String,
}

#[derive(Debug, Clone)]
pub struct SandboxConfig {
    pub python: PythonEnv,
    /// Worker sources; `None` unpacks the copy inside this binary.
    pub worker_dir: Option<PathBuf>,
    /// A folder of the sandbox's own, for unpacked sources.
    pub scratch: PathBuf,
    /// Children kept ready.
    pub pool: usize,
    /// Jobs that run at the same time; more wait in a queue that is fair between owners.
    pub max_jobs: usize,
    /// Bytes of memory of one job above the baseline; jobs may ask for less, never for more.
    pub memory_limit: u64,
    /// Live state of a conversation is dropped after this much idleness.
    pub idle_state: Duration,
    /// Conversations whose state is kept at the same time; the least recently used goes first.
    pub max_states: usize,
    /// Memory that all idle states together may hold before the least recently used is dropped.
    pub state_memory: u64,
    /// A new zygote takes over after this many forks.
    pub recycle_after: u64,
    /// User and group id of jobs when the server runs as root.
    pub job_uid: u32,
    /// Use control groups where the server may make them. Off, the rlimits and the monitor do the work.
    pub cgroups: bool,
}

impl SandboxConfig {
    pub fn new(python: PythonEnv, scratch: impl Into<PathBuf>) -> Self {
        Self {
            python,
            worker_dir: None,
            scratch: scratch.into(),
            pool: 3,
            max_jobs: 8,
            memory_limit: 2 << 30,
            idle_state: Duration::from_secs(15 * 60),
            max_states: 32,
            state_memory: 4 << 30,
            recycle_after: 5_000,
            // Outside every range that distributions, systemd and container engines hand out.
            job_uid: 1_879_113_000,
            cgroups: true,
        }
    }
}

/// One denial that was seen to happen when the sandbox started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    pub name: String,
    pub denied: bool,
    pub detail: String,
}
